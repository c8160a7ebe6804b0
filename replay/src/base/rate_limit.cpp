#include "base/rate_limit.hpp"

namespace teewire::replay {
namespace {

constexpr std::size_t network_bytes_v6 = 8; // the rest is the host's own choice

std::uint64_t hash_of(boost::asio::ip::address const& host, keyed_hash const& hash) noexcept {
    if (host.is_v4()) return hash(host.to_v4().to_bytes());
    auto const bytes = host.to_v6().to_bytes();
    return hash(std::span{bytes}.first(host.to_v6().is_v4_mapped() ? bytes.size() : network_bytes_v6));
}

} // namespace

bool host_rate_limit::try_acquire(boost::asio::ip::address const& host, milliseconds now) noexcept {
    std::uint64_t const hash = hash_of(host, hash_);
    std::size_t const hosts = first_half_.size();
    return (first_half_[hash % hosts].try_acquire(now) || second_half_[(hash >> 32) % hosts].try_acquire(now)) &&
           of_all_.try_acquire(now);
}

} // namespace teewire::replay
