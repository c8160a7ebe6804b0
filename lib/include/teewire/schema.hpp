/// @file
/// What the protocols agree on: item sizes, and the objects with their fields. See doc/format/item.md.
///
/// The codec itself needs only the sizes. The descriptions are for tools that print or analyse items.
#pragma once

#include "teewire/error.hpp"
#include "teewire/uuid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire {

// ---- sizes ---------------------------------------------------------------------------------------------------------

/// Types below this can have a size that both sides know, so that deltas leave it out.
inline constexpr std::size_t sized_types = 64;

/// Item sizes in ints by type. Zero: not agreed, a delta carries the size.
class size_table {
public:
    /// No sizes are agreed.
    constexpr size_table() noexcept = default;
    /// `sizes` starts with type 0. Asserts that there are at most 64.
    constexpr explicit size_table(std::span<std::uint16_t const> sizes) noexcept {
        assert(sizes.size() <= sized_types);
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes_[i] = sizes[i];
    }

    /// The agreed size of `type` in ints, or 0.
    [[nodiscard]] constexpr std::size_t operator[](std::uint32_t type) const noexcept {
        return type < sized_types ? sizes_[type] : 0;
    }
    /// Registers a modification's own type. Both sides must do the same. Asserts that `type` is below 64.
    constexpr void set(std::uint32_t type, std::uint16_t ints) noexcept {
        assert(type < sized_types);
        sizes_[type] = ints;
    }

    friend constexpr bool operator==(size_table const&, size_table const&) = default;

private:
    std::array<std::uint16_t, sized_types> sizes_{};
};

namespace detail {
inline constexpr std::uint16_t sizes_06[] = {0, 10, 6, 5, 4, 3, 8, 4, 15, 22, 5, 17, 3, 2, 2, 2, 2, 3, 3, 3, 3};
inline constexpr std::uint16_t sizes_07[] = {0, 10, 6, 5,  3, 3, 3, 2, 4, 15, 22, 3,
                                             4, 58, 5, 32, 2, 2, 2, 2, 3, 3,  7};

constexpr size_table with_event_damage(std::uint16_t ints) noexcept {
    size_table sizes{sizes_07};
    sizes.set(22, ints);
    return sizes;
}
} // namespace detail

/// Teeworlds 0.6 and DDNet: types 1 to 20. DDNet's extended types always carry their size.
inline constexpr size_table sizes_06{detail::sizes_06};
/// Teeworlds 0.7.1 and later, and the 0.7 side of DDNet: types 1 to 22, with event_damage of 7 ints. Types 23 and 24
/// carry their size.
inline constexpr size_table sizes_07{detail::sizes_07};
/// Teeworlds 0.7.0, where type 22 is a damage indicator of 3 ints.
inline constexpr size_table sizes_07_0 = detail::with_event_damage(3);
/// As an old description of the format prints it, with event_damage of 5 ints. No known program uses it.
inline constexpr size_table sizes_07_documented = detail::with_event_damage(5);
/// Recordings of 0.7 sessions made by DDNet servers of 2022, which agreed on no more than types 1 to 20.
inline constexpr size_table sizes_07_recorded{std::span<std::uint16_t const>{detail::sizes_07}.first(21)};

/// A size table and what it is called.
struct named_size_table {
    std::string_view name;   ///< as find_size_table takes it
    size_table const* sizes; ///< never null
};
/// All that are known.
inline constexpr std::array<named_size_table, 5> size_tables = {{
    {"0.6", &sizes_06},
    {"0.7", &sizes_07},
    {"0.7.0", &sizes_07_0},
    {"0.7-documented", &sizes_07_documented},
    {"0.7-recorded", &sizes_07_recorded},
}};

/// The table of that name, or null.
[[nodiscard]] inline size_table const* find_size_table(std::string_view name) noexcept {
    for (named_size_table const& table : size_tables)
        if (table.name == name) return table.sizes;
    return nullptr;
}

// ---- extended types ------------------------------------------------------------------------------------------------

/// Type of the items that describe extended types: doc/format/snapshot.md#extended-types.
inline constexpr std::uint16_t type_ex = 0;
/// First and last type number that stands for an extended type.
inline constexpr std::uint16_t first_alias = 0x4000;
inline constexpr std::uint16_t last_alias = 0x7fff; ///< last type number that stands for an extended type

// ---- objects -------------------------------------------------------------------------------------------------------

/// Whose tables of items and messages.
enum class protocol : std::uint8_t {
    teeworlds_06, ///< only 0.6
    ddnet,        ///< 0.6 and what DDNet adds
    teeworlds_07, ///< 0.7, and what DDNet adds there
};

/// "0.6", "ddnet", "0.7".
[[nodiscard]] std::string_view name(protocol p) noexcept;

/// The meaning of a field's ints.
enum class field_kind : std::uint8_t {
    integer,     ///< a number
    tick,        ///< 50 per second
    boolean,     ///< 0 or 1
    enumeration, ///< one of `values`
    flags,       ///< a bit per name in `values`, lowest first
    text,        ///< four bytes per int, each plus 128, padded with zeros
};

/// The private data that a text can hold. A program that removes private data keeps only none, map and fixed.
enum class field_content : std::uint8_t {
    none,     ///< numbers
    player,   ///< a player's name
    clan,     ///< a player's clan
    skin,     ///< a player's skin: a file's name, or any text the player chose
    words,    ///< what a player wrote
    server,   ///< what a server's owner wrote, or a server put together: a greeting, a vote, its address
    map,      ///< a map's name or bytes
    fixed,    ///< a word of programs: a version, a command, the kind of a vote
    secret,   ///< a password, or what works like one
    snapshot, ///< a snapshot within a message, with all that may be in it
};

/// The names of an enumeration or of flag bits.
struct value_set {
    std::string_view name;                   ///< of the set
    std::int32_t first;                      ///< value of the first name; 0 for flags
    std::span<std::string_view const> names; ///< from `first` on

    /// The name of `value`, or an empty one.
    [[nodiscard]] constexpr std::string_view operator[](std::int32_t value) const noexcept {
        std::int64_t const i = std::int64_t{value} - first;
        return i >= 0 && i < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(i)]
                                                                     : std::string_view{};
    }
};

/// A field of an item.
struct field {
    std::string_view name;                       ///< "hook_state"
    field_kind kind = field_kind::integer;       ///< what its ints mean
    std::uint8_t offset = 0;                     ///< first int in the item's data
    std::uint8_t ints = 1;                       ///< width of one element; more than 1 only for text
    std::uint8_t count = 1;                      ///< elements; more than 1 for arrays
    value_set const* values = nullptr;           ///< for enumeration and flags
    field_content content = field_content::none; ///< for text
};

/// One kind of item.
struct object {
    std::string_view name; ///< "character", "event_death"
    std::uint16_t type;    ///< 0 for extended types
    uuid extended;         ///< all zero for plain types
    std::uint8_t ints;     ///< size of the current form
    std::uint8_t min_ints; ///< shortest form that receivers accept; older programs send shorter extended items
    std::span<field const> fields; ///< in the order of the ints

    /// Whether it is known by UUID.
    [[nodiscard]] constexpr bool is_extended() const noexcept { return type == 0; }
};

/// The objects with a type number of their own, by that number.
[[nodiscard]] std::span<object const> plain_objects(protocol p) noexcept;
/// The objects known by UUID. They occur in sessions of every protocol, as DDNet servers speak all of them.
[[nodiscard]] std::span<object const> extended_objects() noexcept;

/// Null when there is none.
[[nodiscard]] object const* find_object(protocol p, std::uint16_t type) noexcept;
/// The same for an extended type.
[[nodiscard]] object const* find_object(uuid const& extended) noexcept;
/// The same by name, extended ones included.
[[nodiscard]] object const* find_object(protocol p, std::string_view name) noexcept;

/// Decodes the text of a field's ints into `out`, which must have 4 bytes per int. Stops at the first zero; the last
/// byte is a terminator whatever its value. Returns the bytes, which may be invalid UTF-8.
std::string_view decode_text(std::span<std::int32_t const> ints, std::span<char> out) noexcept;
/// The reverse. Text that does not fit is cut at 4 * ints - 1 bytes.
void encode_text(std::string_view text, std::span<std::int32_t> ints) noexcept;

} // namespace teewire
