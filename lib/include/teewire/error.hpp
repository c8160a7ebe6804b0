/// @file
/// Errors, notes and the result type that every layer returns.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

/// All of the library but the functions for C.
namespace teewire {

/// Why an input was refused, or why an output could not be made. One byte; zero is success.
enum class errc : std::uint8_t {
    ok, ///< no error
    // the input breaks its format
    truncated,        ///< ends inside a number, an item, a chunk or a header
    bad_varint,       ///< over-long or with dirty padding bits (strict decoding only)
    bad_magic,        ///< not the file type that was expected
    bad_version,      ///< a version that is not supported
    bad_count,        ///< a count is negative or larger than the limit
    bad_length,       ///< the parts do not add up to the stated length
    bad_offset,       ///< an item offset is unaligned, outside the data or not increasing
    bad_type,         ///< item type outside 0..0x7fff
    bad_id,           ///< item id outside 0..0xffff
    bad_item_size,    ///< an item's size is negative or larger than anything that fits
    size_mismatch,    ///< the same key with two sizes, or a size that differs from the agreed one
    duplicate_key,    ///< the key is already in the snapshot
    bad_tick,         ///< a relative tick before any absolute one, or a tick out of range
    missing_snapshot, ///< a delta before the first full snapshot
    bad_text,         ///< text without a terminator
    bad_flags,        ///< the flags of a packet make no sense, or it is of another kind
    bad_token,        ///< a packet without the token of its connection
    bad_sequence,     ///< a packet acknowledges what was never sent
    bad_checksum,     ///< a snapshot does not have the checksum it was sent with
    // the caller's memory or limits do not suffice
    output_full,    ///< the output does not fit the memory given
    too_many_items, ///< more items than the limit
    too_large,      ///< more bytes than the limit
    too_many_types, ///< more than 64 extended types in one builder
    // the state does not allow it
    unknown_tick, ///< no snapshot of that tick is held
    closed,       ///< the connection is closed
};

/// A short English sentence for `code`, without position. Never null.
[[nodiscard]] std::string_view describe(errc code) noexcept;

/// An error and where it was found. The unit of `position` is that of the input the function took: bytes for byte
/// spans, ints for int spans.
struct failure {
    errc code = errc::ok;     ///< why
    std::size_t position = 0; ///< where

    friend constexpr bool operator==(failure const&, failure const&) = default;
};

/// A value or an error: a struct whose `code` is zero for success. Members are named as in std::expected. Reading the
/// wrong one is a bug of the caller and is asserted.
template <class T, class Error = failure>
class [[nodiscard]] result {
    static_assert(std::is_trivially_destructible_v<T>, "results never own memory");

public:
    /// Success.
    constexpr result(T const& value) noexcept : value_{value} {}
    /// Failure; its code is asserted not to be ok.
    constexpr result(Error const& error) noexcept : error_{error} { assert(!has_value()); }

    /// Whether it is a value.
    [[nodiscard]] constexpr bool has_value() const noexcept { return error_.code == decltype(error_.code){}; }
    /// The same.
    constexpr explicit operator bool() const noexcept { return has_value(); }

    /// Asserted to be there.
    [[nodiscard]] constexpr T const& value() const noexcept {
        assert(has_value());
        return value_;
    }
    /// The value.
    constexpr T const& operator*() const noexcept { return value(); }
    /// A member of the value.
    constexpr T const* operator->() const noexcept { return &value(); }

    /// Asserted to be there.
    [[nodiscard]] constexpr Error const& error() const noexcept {
        assert(!has_value());
        return error_;
    }

private:
    T value_{};
    Error error_{};
};

/// How to treat input that real programs produce but that a careful writer would not.
enum class decoding : std::uint8_t {
    strict,  ///< for packets from the network: refuse what DDNet refuses
    lenient, ///< for recordings: take what can be understood and leave a note
};

/// Quirks that do not stop decoding.
enum class note : std::uint8_t {
    overlong_varint,     ///< more bytes than the value needs
    dirty_varint,        ///< bits 4..7 of a fifth byte are set
    data_after_end,      ///< bytes after the Huffman end symbol beyond the known padding byte
    unused_header_int,   ///< the third int of a delta is not zero
    update_count,        ///< a delta's update count is negative or disagrees with what follows
    unknown_removed_key, ///< a delta removes a key that the base does not hold
    repeated_key,        ///< a key occurs twice in a snapshot or delta
    unsigned_key_half,   ///< a type or id that is only legal as an unsigned 16-bit number
    gap_before_items,    ///< the first item offset is not zero
    tick_order,          ///< a tick that is not larger than the one before
    early_message,       ///< a message before the first tick
    header_text,         ///< a text field of a header has no terminator
    unknown_chunk,       ///< a demo chunk of the unused type 0
    packet_flags,        ///< flags of a packet that make no sense together
};
inline constexpr std::size_t note_count = 14; ///< kinds of notes

/// A short English sentence for a note. Never null.
[[nodiscard]] std::string_view describe(note kind) noexcept;

/// Counts notes and remembers where each kind was seen first. A decoder takes a pointer to one, or null.
struct note_log {
    /// The notes of one kind.
    struct entry {
        std::uint32_t count = 0;  ///< so many, stops at the largest number
        std::size_t origin = 0;   ///< `origin` of the log when the first one was added
        std::size_t position = 0; ///< position inside the input of the function that added it
    };

    std::array<entry, note_count> entries{}; ///< by kind
    std::size_t origin = 0; ///< set by the owner of a stream before each part of it, for example to a file offset

    /// Adds one.
    constexpr void add(note kind, std::size_t position) noexcept {
        entry& e = entries[static_cast<std::size_t>(kind)];
        if (e.count == 0) {
            e.origin = origin;
            e.position = position;
        }
        e.count += e.count != UINT32_MAX;
    }
    /// Those of one kind.
    [[nodiscard]] constexpr entry const& operator[](note kind) const noexcept {
        return entries[static_cast<std::size_t>(kind)];
    }
    /// Whether there are none at all.
    [[nodiscard]] constexpr bool empty() const noexcept {
        for (entry const& e : entries)
            if (e.count != 0) return false;
        return true;
    }
};

} // namespace teewire
