// Rate limits for requests from the network.
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

/// Limits of requests per second for one host, and for all together: one host cannot take the share of the others.
class host_rate_limit {
public:
    /// `of_one`: at least 2.
    host_rate_limit(double of_one, double of_all)
        : first_half_(1024, rate_limit{of_one / 2}), second_half_{first_half_}, of_all_{of_all} {}
    /// Two token buckets at half the rate per host, out of 1024 each, chosen by two halves of a keyed hash; either may
    /// pay. A collision in one bucket costs a host half its rate, and one in a million shares both. Hosts of
    /// one network_of() are one.
    bool try_acquire(boost::asio::ip::address const& host, milliseconds now);

private:
    keyed_hash hash_;
    std::vector<rate_limit> first_half_, second_half_;
    rate_limit of_all_;
};

} // namespace teewire::replay
