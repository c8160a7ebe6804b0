// Limits of what strangers may ask for.
#pragma once

#include "base/keyed_hash.hpp"

#include <teewire/connection.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <vector>

namespace teewire::replay {

/// So many a second, and as many at once.
class rate_limit {
public:
    explicit rate_limit(double per_second) noexcept : rate_{per_second}, left_{per_second} {}
    bool try_acquire(milliseconds now) noexcept {
        left_ = std::min(rate_, left_ + static_cast<double>(now - last_) * rate_ / 1000);
        last_ = now;
        if (left_ < 1) return false;
        left_ -= 1;
        return true;
    }

private:
    double rate_;
    double left_;
    milliseconds last_ = 0;
};

/// So many a second of one host, and so many of all together: one host alone cannot take everybody's share.
class host_rate_limit {
public:
    /// `of_one`: at least 2.
    host_rate_limit(double of_one, double of_all)
        : first_half_(1024, rate_limit{of_one / 2}), second_half_{first_half_}, of_all_{of_all} {}
    /// A few hosts share half of their rate; nobody can know which, and one in a million shares all of it with the same
    /// host. Of IPv6, what everybody may choose makes no other host.
    bool try_acquire(boost::asio::ip::address const& host, milliseconds now) noexcept;

private:
    keyed_hash hash_;
    std::vector<rate_limit> first_half_, second_half_;
    rate_limit of_all_;
};

} // namespace teewire::replay
