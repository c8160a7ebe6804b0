// Whether a key is among others, for builders.
#pragma once

#include "simd/level.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::kernels::TEEWIRE_LEVEL {
namespace {

inline bool holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept {
    std::size_t const whole = keys.size() / width * width;
    bool hit = any_equal(keys.data(), whole, all(key));
    for (std::int32_t const other : keys.subspan(whole)) hit |= other == key;
    return hit;
}

} // namespace
} // namespace teewire::kernels::TEEWIRE_LEVEL
