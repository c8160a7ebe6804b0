// Between the structs of teewire.h and the types of the layers below.
#pragma once

#include "teewire.h"

#include "teewire/huffman.hpp"
#include "teewire/snapshot_builder.hpp"
#include "teewire/snapshot_sender.hpp"

#include <array>
#include <cstring>
#include <new>
#include <span>

namespace teewire::c {

[[nodiscard]] std::int32_t code_of(errc code) noexcept;

/// Fills in `*out` unless it is null, and returns the code.
std::int32_t fail(failure const& what, teewire_failure* out, std::int32_t stage = TEEWIRE_STAGE_INPUT,
                  std::uint64_t chunk = 0) noexcept;
std::int32_t bad_argument(teewire_failure* out) noexcept;

/// Results are int32_t: a count must not exceed them, so neither does the memory that is used.
[[nodiscard]] constexpr std::size_t clip(std::uint32_t capacity) noexcept {
    return capacity < INT32_MAX ? capacity : INT32_MAX;
}
[[nodiscard]] constexpr std::int32_t count(std::size_t n) noexcept { return static_cast<std::int32_t>(n); }

// ---- state ---------------------------------------------------------------------------------------------------------
// The types that programs see have no definition, so that nothing can depend on what is in them.

struct scratch_state {
    snapshot_scratch deltas;
    std::array<std::uint16_t, TEEWIRE_MAX_ITEMS> order;
};

/// Whether a T can be made there, followed by `more` bytes.
template <class T>
[[nodiscard]] bool suits(void const* memory, std::uint64_t size, std::uint64_t more = 0) noexcept {
    static_assert(alignof(T) <= TEEWIRE_ALIGN);
    return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % alignof(T) == 0 &&
           size >= sizeof(T) + more;
}

[[nodiscard]] constexpr std::uint32_t size_or_zero(std::uint64_t bytes) noexcept {
    return bytes <= UINT32_MAX ? static_cast<std::uint32_t>(bytes) : 0;
}

/// Default-initialised: arrays keep what the memory held.
template <class T>
[[nodiscard]] std::span<T> make_array(void* memory, std::size_t count) noexcept {
    auto* const first = static_cast<T*>(memory);
    for (std::size_t i = 0; i < count; ++i) ::new (first + i) T;
    return {first, count};
}

/// The memory after a state: entries of a history, followed by the ints of its snapshots.
struct history_memory {
    std::span<history::entry> entries;
    std::span<std::int32_t> block;
};
[[nodiscard]] inline history_memory make_history(void* memory, std::size_t bytes, std::size_t snapshots) noexcept {
    auto const entries = make_array<history::entry>(memory, snapshots);
    return {entries, make_array<std::int32_t>(entries.data() + snapshots, (bytes - entries.size_bytes()) / 4)};
}
inline constexpr std::uint32_t max_history = 65535; // snapshots
static_assert(sizeof(history::entry) <= 32 && sizeof(history::entry) % 4 == 0);

[[nodiscard]] inline scratch_state& state_of(teewire_scratch* scratch) noexcept {
    assert(scratch != nullptr);
    return *reinterpret_cast<scratch_state*>(scratch);
}

struct builder_state : snapshot_builder_memory<> {
    builder_state() noexcept : builder{static_cast<snapshot_builder_memory<>&>(*this)} {}
    snapshot_builder builder;
};
[[nodiscard]] inline snapshot_builder& builder_of(teewire_builder* builder) noexcept {
    assert(builder != nullptr);
    return reinterpret_cast<builder_state*>(builder)->builder;
}

// ---- structs that begin with their size ----------------------------------------------------------------------------

/// Reads options of any version. False when they ask for something that this version does not know.
template <class T>
[[nodiscard]] bool read_options(T const* given, T& out) noexcept {
    out = {};
    if (given == nullptr) return true;
    std::size_t const size = given->size;
    if (size < sizeof(std::uint32_t)) return false;
    auto const* const bytes = reinterpret_cast<unsigned char const*>(given);
    for (std::size_t i = sizeof(T); i < size; ++i)
        if (bytes[i] != 0) return false;
    std::memcpy(&out, given, size < sizeof(T) ? size : sizeof(T));
    return true;
}

/// Fills in a struct of any version.
template <class T>
void write_struct(T value, T* out) noexcept {
    if (out == nullptr) return;
    std::uint32_t const size = value.size = out->size;
    std::memcpy(out, &value, size < sizeof(T) ? size : sizeof(T));
}

// ---- values --------------------------------------------------------------------------------------------------------

[[nodiscard]] inline uuid uuid_of(std::uint8_t const* bytes) noexcept {
    uuid made;
    std::memcpy(made.bytes.data(), bytes, made.bytes.size());
    return made;
}

[[nodiscard]] inline size_table const& table_of(teewire_sizes const* sizes) noexcept {
    return sizes != nullptr ? *reinterpret_cast<size_table const*>(sizes) : sizes_06;
}

[[nodiscard]] inline snapshot_view view_of(teewire_snapshot const* s) noexcept {
    if (s == nullptr || s->ints == nullptr) return {};
    auto const view = snapshot_view::trusted({s->ints, s->size}, (s->flags & TEEWIRE_DISTINCT_KEYS) != 0);
    if (s->keys == nullptr || s->starts == nullptr) return view;
    return view.with_outline({{s->keys, view.size()}, {s->starts, starts_words(view.data_size() / 4)}});
}

inline void set(teewire_snapshot* out, snapshot_view view) noexcept {
    if (out == nullptr) return;
    auto const [keys, starts] = view.outline();
    *out = {view.ints().data(), keys.data(), starts.data(), static_cast<std::uint32_t>(view.ints().size()),
            view.distinct_keys() ? std::uint32_t{TEEWIRE_DISTINCT_KEYS} : 0U};
}

/// Whether scratch memory is large enough for it; the functions below assert what is checked here.
[[nodiscard]] inline errc check_limits(snapshot_view s) noexcept {
    if (s.size() > TEEWIRE_MAX_ITEMS) return errc::too_many_items;
    return s.ints().size() > TEEWIRE_MAX_SNAPSHOT_INTS ? errc::too_large : errc::ok;
}

/// False for a number that means nothing.
[[nodiscard]] constexpr bool read_decoding(std::int32_t chosen, decoding by_default, decoding& out) noexcept {
    out = chosen == TEEWIRE_DECODING_DEFAULT ? by_default
          : chosen == TEEWIRE_STRICT         ? decoding::strict
                                             : decoding::lenient;
    return chosen >= TEEWIRE_DECODING_DEFAULT && chosen <= TEEWIRE_LENIENT;
}
[[nodiscard]] constexpr bool read_ending(std::int32_t chosen, huffman_end& out) noexcept {
    out = chosen == TEEWIRE_HUFFMAN_PADDED ? huffman_end::padded : huffman_end::exact;
    return chosen >= TEEWIRE_HUFFMAN_NONE && chosen <= TEEWIRE_HUFFMAN_PADDED;
}
[[nodiscard]] constexpr bool read_protocol(std::int32_t chosen, protocol& out) noexcept {
    out = chosen == TEEWIRE_PROTOCOL_DDNET ? protocol::ddnet
          : chosen == TEEWIRE_PROTOCOL_06  ? protocol::teeworlds_06
                                           : protocol::teeworlds_07;
    return chosen >= TEEWIRE_PROTOCOL_DDNET && chosen <= TEEWIRE_PROTOCOL_07;
}
/// The table given, or the protocol's own.
[[nodiscard]] inline size_table const& table_of(teewire_sizes const* sizes, protocol version) noexcept {
    if (sizes == nullptr && version == protocol::teeworlds_07) return sizes_07;
    return table_of(sizes);
}

} // namespace teewire::c
