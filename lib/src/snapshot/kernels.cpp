#include "kernels.hpp"

#include "key_filter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace teewire::kernels {

namespace {

detail::live_slot* find_slot(item_changes const& c, std::int32_t key) noexcept {
    for (std::size_t at = detail::hash_key(key, c.multiplier, c.shift);; at = (at + 1) & (c.table.size() - 1)) {
        if (c.table[at] == 0) return nullptr;
        if (c.items[c.table[at] - 1U].key == key) return c.items + c.table[at] - 1;
    }
}

} // namespace

bool plain_change_items(item_changes& c, delta_reader& reader, delta_reader::update& update) noexcept {
    while (reader.next(update)) {
        detail::live_slot* const slot = find_slot(c, update.key);
        if (slot == nullptr || slot->now != detail::live_slot::alive || slot->size != update.data.size() ||
            slot->delta == c.delta_number)
            return true;
        slot->delta = c.delta_number;
        slot->position = static_cast<std::uint32_t>(update.data.data() - c.delta);
        std::int32_t* data = c.pool + slot->begin + 1;
        for (std::int32_t const difference : update.data) {
            *data = static_cast<std::int32_t>(static_cast<std::uint32_t>(*data) +
                                              static_cast<std::uint32_t>(difference));
            ++data;
            c.sum += static_cast<std::uint32_t>(difference);
        }
    }
    return false;
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
#else
        {"portable", cpu::any, portable::holds_key},
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
#else
        {"portable", cpu::any, portable::change_items},
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
