#include "base/rate_limit.hpp"

#include "base/network_of.hpp"

namespace teewire::replay {
namespace {

std::uint64_t hash_of(boost::asio::ip::address const& network, keyed_hash const& hash) {
    return network.is_v4() ? hash(network.to_v4().to_bytes()) : hash(network.to_v6().to_bytes());
}

} // namespace

bool host_rate_limit::try_acquire(boost::asio::ip::address const& host, milliseconds now) {
    std::uint64_t const hash = hash_of(network_of(host), hash_);
    std::size_t const hosts = first_half_.size();
    return (first_half_[hash % hosts].try_acquire(now) || second_half_[(hash >> 32) % hosts].try_acquire(now)) &&
           of_all_.try_acquire(now);
}

} // namespace teewire::replay
