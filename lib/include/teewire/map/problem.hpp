/// @file
/// What can be wrong with a map: codes, how bad it is, and where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace teewire {

/// Codes of problems. Zero is success.
enum class map_errc : std::uint8_t {
    ok, ///< nothing
    // the container: the whole file
    truncated_header,     ///< fewer than 36 bytes
    bad_magic,            ///< neither DATA nor ATAD
    unsupported_version,  ///< not version 3 or 4
    bad_header_count,     ///< a count is negative, too large or not a multiple of 4
    file_size_mismatch,   ///< the file is shorter or longer than its header says
    header_size_mismatch, ///< the field `size`
    swaplen_mismatch,     ///< the field `swaplen`
    bad_item_type_table,  ///< types repeat, are out of range, or do not cover the items
    bad_item_offset,      ///< items overlap, leave gaps or lie outside
    bad_item_size,        ///< an item's size is not what its neighbours leave
    item_type_mismatch,   ///< an item's own type is not that of the table
    duplicate_item_id,    ///< DDNet refuses the file, Teeworlds does not
    bad_data_offset,      ///< blocks overlap, are empty or lie outside
    bad_data_size,        ///< a negative size
    // the container: one block
    decompress_failed,          ///< no valid zlib stream, or one that is longer than stated
    decompressed_size_mismatch, ///< the stream is shorter than stated, or could never give that much
    bad_data_index,             ///< no such block
    too_large,                  ///< above the limits given
    // the container: quirks
    old_header_sizes,         ///< size and swaplen without the size table, as before September 2010
    item_types_not_ascending, ///< item types in another order
    data_size_zero,           ///< a block that holds nothing
    data_after_stream,        ///< bytes between the end of a zlib stream and the next block
    // maps
    missing_version,           ///< no version item: not a map, or one from before 2008
    unsupported_map_version,   ///< not version 1
    item_too_short,            ///< fewer ints than its version needs
    bad_group_range,           ///< a group's layers do not exist
    unsupported_group_version, ///< not version 1 to 3
    layer_used_twice,          ///< by two groups
    unsupported_layer_version, ///< not 2 to 4 for tiles, 1 or 2 for quads and sounds
    bad_tilemap_flags,         ///< more than one kind, or an unknown one
    bad_dimensions,            ///< below 2 by 2, or more than anything holds
    bad_color,                 ///< outside 0..255
    bad_name_encoding,         ///< a name that is not UTF-8
    data_used_twice,           ///< a block that is the tiles of two layers
    missing_game_layer,        ///< no layer to stand on
    physics_layer_too_small,   ///< fewer tiles than the game layer
    tile_data_too_small,       ///< fewer bytes than width and height need
    nonzero_skip,              ///< in tiles that are not packed
    nonzero_reserved,          ///< the last byte of a tile
    packed_tiles_too_short,    ///< the runs end before the last tile
    packed_tiles_too_long,     ///< runs after the last tile
    packed_physics_layer,      ///< version 4 for anything but ordinary tiles and the game layer
    quad_data_too_small,       ///< fewer bytes than its quads need
    sound_data_too_small,      ///< fewer bytes than its sources need
    bad_envelope_points,       ///< not whole points, or fewer than the envelopes use
    unsupported_image_variant, ///< pixels that are neither RGBA nor RGB
    image_data_too_small,      ///< fewer bytes than width and height need
    bad_text,                  ///< without terminator, with a zero inside, or not UTF-8
    unsafe_image_name,         ///< a name that is part of a path and holds a slash
    // maps: quirks
    packed_run_overshoots,   ///< the last run goes beyond the last tile
    packed_tiles_unaligned,  ///< the block is not a multiple of 4 bytes
    settings_not_terminated, ///< the last setting has no terminator
    text_too_long,           ///< longer than the editors hold
    unknown_item_type,       ///< kept unchanged
    unknown_layer_type,      ///< kept unchanged
    duplicate_physics_layer, ///< the last one counts, for Teeworlds the first
    physics_layer_place,     ///< a physics layer outside the game layer's group
    game_group_fields,       ///< offset, parallax or clipping, which games overwrite
    missing_zero_block,      ///< a physics layer without the empty tiles that other programs see
    bad_image_index,         ///< no such image; taken as none
    bad_sound_index,         ///< no such sound; taken as none
    bad_envelope_channels,   ///< not 1, 3 or 4
    bad_curve_type,          ///< taken as linear
    point_order,             ///< an envelope's times go backwards
    bezier_count,            ///< the bezier item does not fit the points and is ignored
    tile_image_size,         ///< a tile layer's image that is not a multiple of 16
    missing_image_name,      ///< an external image without a name
    bad_auto_mapper,         ///< points at no ordinary tile layer, or has another version
    short_uuid_index,        ///< an index item with less than four ints
    duplicate_uuid_index,    ///< an item type whose UUID is given twice
    unknown_uuid,            ///< kept unchanged
    // xVector maps
    truncated,            ///< ends inside the header or a tile
    bad_player_depth,     ///< players are drawn in a layer that the map does not have
    missing_end_of_tiles, ///< ends where the end of the tiles should be marked
    trailing_data,        ///< continues past the end of the tiles
    tile_out_of_bounds,   ///< left out
    duplicate_tile,       ///< for the same cell; the last one counts
    other_layout,         ///< not the documented one but that of the original program
    newer_version,        ///< a later version that says that readers of this one will do
    unknown_flag_bits,    ///< flags without a meaning are set
    // the map, also
    bad_envelope_index, ///< no such envelope; taken as none
    too_many_images,    ///< the games load 64
};
/// Codes, ok included.
inline constexpr std::size_t map_errc_count = static_cast<std::size_t>(map_errc::too_many_images) + 1;

/// As the formats' reports spell it, such as "bad_item_offset". Never null.
[[nodiscard]] std::string_view name(map_errc code) noexcept;
/// A short English sentence, without place. Never null.
[[nodiscard]] std::string_view describe(map_errc code) noexcept;

/// How bad it is.
enum class map_severity : std::uint8_t {
    note,   ///< real clients and servers accept it
    damage, ///< a part cannot be used; the rest works
    error,  ///< a real program refuses the file for it
};
/// "note", "damage" or "error".
[[nodiscard]] std::string_view name(map_severity severity) noexcept;
/// The usual severity of `code`. In the game layer, problems that are damage elsewhere are errors.
[[nodiscard]] map_severity severity_of(map_errc code) noexcept;

/// Something found in a file. Fields that do not apply are -1.
struct map_problem {
    map_errc code = map_errc::ok;                ///< what was found
    map_severity severity = map_severity::error; ///< how bad it is here
    std::size_t position = 0;                    ///< byte of the file
    std::int32_t item_type = -1;                 ///< type id
    std::int32_t item = -1;                      ///< number among the items of the type
    std::int32_t group = -1;                     ///< number of the group
    std::int32_t layer = -1;                     ///< number among all layers
    std::int32_t block = -1;                     ///< data block
    std::int64_t value = 0;                      ///< what was found, if it is a number
    std::int64_t expected = 0;                   ///< and what would have been right

    friend constexpr bool operator==(map_problem const&, map_problem const&) = default;
};

/// Borrows a callable that takes these arguments, or nothing.
template <class... Arguments>
class borrowed_callable {
public:
    /// Nothing.
    constexpr borrowed_callable() noexcept = default;
    /// Borrows `target`, which has to live as long as this.
    template <class Callable,
              class = std::enable_if_t<!std::is_same_v<std::remove_cv_t<Callable>, borrowed_callable>>>
    constexpr borrowed_callable(Callable& target) noexcept
        : target_{const_cast<void*>(static_cast<void const*>(&target))}, call_{&forward<Callable>} {}

    /// Calls it, if there is one.
    constexpr void operator()(Arguments... arguments) const noexcept {
        if (call_ != nullptr) call_(target_, arguments...);
    }

private:
    template <class Callable>
    static void forward(void* target, Arguments... arguments) {
        (*static_cast<Callable*>(target))(arguments...);
    }

    void* target_ = nullptr;
    void (*call_)(void*, Arguments...) = nullptr;
};

/// Where problems go.
using map_report = borrowed_callable<map_problem const&>;

} // namespace teewire
