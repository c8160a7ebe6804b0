#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace teewire::kernels {

std::uint32_t plain_change_items(item_changes const& c) noexcept {
    std::uint32_t sum = 0;
    for (std::uint16_t const slot : c.slots)
        for (std::size_t i = 0; i < c.sizes[slot]; ++i) {
            auto const change = static_cast<std::uint32_t>(c.delta[c.positions[slot] + i]);
            std::int32_t& value = c.pool[c.begins[slot] + 1 + i];
            value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) + change);
            sum += change;
        }
    return sum;
}

#if defined(__x86_64__)
namespace sse2 {
namespace {
#define TEEWIRE_VECTOR 4
#include "kernels.inc"
#undef TEEWIRE_VECTOR
} // namespace
} // namespace sse2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt")
#endif
namespace avx2 {
namespace {
#define TEEWIRE_VECTOR 8
#include "kernels.inc"
#undef TEEWIRE_VECTOR
} // namespace
} // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt"))),    \
                             apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt")
#endif
namespace avx512 {
namespace {
#define TEEWIRE_VECTOR 16
#include "kernels.inc"
#undef TEEWIRE_VECTOR
} // namespace
} // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
namespace portable {
namespace {
#define TEEWIRE_VECTOR 1
#include "kernels.inc"
#undef TEEWIRE_VECTOR
} // namespace
} // namespace portable
#endif

std::span<variant<checksum_fn> const> checksum_variants() noexcept {
    static constexpr variant<checksum_fn> variants[] = {
        {"plain", cpu::any, plain::checksum},
#if defined(__x86_64__)
        {"sse2", cpu::any, sse2::checksum},
        {"avx2", cpu::avx2, avx2::checksum},
        {"avx512", cpu::avx512, avx512::checksum},
#else
        {"portable", cpu::any, portable::checksum},
#endif
    };
    return variants;
}

bool plain_holds_key(std::span<std::int32_t const> keys, std::int32_t key) noexcept {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::span<variant<holds_key_fn> const> holds_key_variants() noexcept {
    static constexpr variant<holds_key_fn> variants[] = {
        {"plain", cpu::any, plain_holds_key},
#if defined(__x86_64__)
        {"sse2", cpu::any, sse2::holds_key},
        {"avx2", cpu::avx2, avx2::holds_key},
        {"avx512", cpu::avx512, avx512::holds_key},
#endif
    };
    return variants;
}

std::span<variant<change_items_fn> const> change_items_variants() noexcept {
    static constexpr variant<change_items_fn> variants[] = {
        {"plain", cpu::any, plain_change_items},
#if defined(__x86_64__)
        {"sse2", cpu::any, sse2::change_items},
        {"avx2", cpu::avx2, avx2::change_items},
        {"avx512", cpu::avx512, avx512::change_items},
#endif
    };
    return variants;
}

std::span<variant<create_delta_fn> const> create_delta_variants() noexcept {
    static constexpr variant<create_delta_fn> variants[] = {
        {"plain", cpu::any, plain::create_delta},
#if defined(__x86_64__)
        {"sse2", cpu::any, sse2::create_delta},
        {"avx2", cpu::avx2, avx2::create_delta},
        {"avx512", cpu::avx512, avx512::create_delta},
#else
        {"portable", cpu::any, portable::create_delta},
#endif
    };
    return variants;
}

std::span<variant<apply_delta_fn> const> apply_delta_variants() noexcept {
    static constexpr variant<apply_delta_fn> variants[] = {
        {"plain", cpu::any, plain::apply_delta},
#if defined(__x86_64__)
        {"sse2", cpu::any, sse2::apply_delta},
        {"avx2", cpu::avx2, avx2::apply_delta},
        {"avx512", cpu::avx512, avx512::apply_delta},
#else
        {"portable", cpu::any, portable::apply_delta},
#endif
    };
    return variants;
}

} // namespace teewire::kernels
