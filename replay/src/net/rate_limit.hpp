// Limits of what strangers may ask for.
#pragma once

#include <teewire/connection.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace teewire::replay {

/// So many a second, and as many at once.
class rate_limit {
public:
    explicit rate_limit(double per_second) noexcept : rate_{per_second}, left_{per_second} {}
    bool take(milliseconds now) noexcept {
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

/// So many a second of one address, and so many of all together: one address alone cannot take everybody's share.
class address_rate_limit {
public:
    address_rate_limit(double of_one, double of_all) : of_each_(1024, rate_limit{of_one}), of_all_{of_all} {}
    /// `hash`: of the address. A few strangers share the same rate.
    bool take(std::uint64_t hash, milliseconds now) noexcept {
        return of_each_[hash % of_each_.size()].take(now) && of_all_.take(now);
    }

private:
    std::vector<rate_limit> of_each_;
    rate_limit of_all_;
};

} // namespace teewire::replay
