#include "teewire/map/problem.hpp"

#include <array>

namespace teewire {

namespace {

struct entry {
    map_errc code;
    map_severity severity;
    std::string_view name;
    std::string_view text;
};

using enum map_severity;

// In the order of the enum.
constexpr std::array<entry, map_errc_count> entries = {{
    {map_errc::ok, note, "ok", "no problem"},
    {map_errc::truncated_header, error, "truncated_header", "the file ends inside its header"},
    {map_errc::bad_magic, error, "bad_magic", "not a file of this type"},
    {map_errc::unsupported_version, error, "unsupported_version", "unsupported version"},
    {map_errc::bad_header_count, error, "bad_header_count", "a count in the header is impossible"},
    {map_errc::file_size_mismatch, error, "file_size_mismatch", "the file is not as long as its header says"},
    {map_errc::header_size_mismatch, error, "header_size_mismatch", "the header's size field is wrong"},
    {map_errc::swaplen_mismatch, error, "swaplen_mismatch", "the header's swaplen field is wrong"},
    {map_errc::bad_item_type_table, error, "bad_item_type_table", "the table of item types does not fit the items"},
    {map_errc::bad_item_offset, error, "bad_item_offset", "an item does not begin where the one before ends"},
    {map_errc::bad_item_size, error, "bad_item_size", "an item's size does not fit its place"},
    {map_errc::item_type_mismatch, error, "item_type_mismatch", "an item is listed under another type"},
    {map_errc::duplicate_item_id, error, "duplicate_item_id", "two items of one type have the same id"},
    {map_errc::bad_data_offset, error, "bad_data_offset", "a data block is empty or outside the file"},
    {map_errc::bad_data_size, error, "bad_data_size", "a data block has a negative size"},
    {map_errc::decompress_failed, damage, "decompress_failed", "a data block cannot be decompressed"},
    {map_errc::decompressed_size_mismatch, damage, "decompressed_size_mismatch",
     "a data block does not hold as much as stated"},
    {map_errc::bad_data_index, damage, "bad_data_index", "there is no such data block"},
    {map_errc::too_large, damage, "too_large", "larger than the limit"},
    {map_errc::old_header_sizes, note, "old_header_sizes", "the header's sizes are those of files before 2010"},
    {map_errc::item_types_not_ascending, note, "item_types_not_ascending", "item types are not sorted"},
    {map_errc::data_size_zero, note, "data_size_zero", "a data block holds nothing"},
    {map_errc::data_after_stream, note, "data_after_stream", "spare bytes at the end of a data block"},
    {map_errc::missing_version, error, "missing_version", "no map version: not a map, or from before 2008"},
    {map_errc::unsupported_map_version, error, "unsupported_map_version", "the map version is not 1"},
    {map_errc::item_too_short, error, "item_too_short", "an item is too short for its version"},
    {map_errc::bad_group_range, error, "bad_group_range", "a group has layers that do not exist"},
    {map_errc::unsupported_group_version, damage, "unsupported_group_version", "the group version is not 1 to 3"},
    {map_errc::layer_used_twice, error, "layer_used_twice", "a layer belongs to two groups"},
    {map_errc::unsupported_layer_version, error, "unsupported_layer_version", "unsupported layer version"},
    {map_errc::bad_tilemap_flags, error, "bad_tilemap_flags", "a tile layer is not of exactly one kind"},
    {map_errc::bad_dimensions, error, "bad_dimensions", "impossible width or height"},
    {map_errc::bad_color, error, "bad_color", "a colour is outside 0..255"},
    {map_errc::bad_name_encoding, error, "bad_name_encoding", "a name is not UTF-8"},
    {map_errc::data_used_twice, error, "data_used_twice", "two layers share their tiles"},
    {map_errc::missing_game_layer, error, "missing_game_layer", "there is no game layer"},
    {map_errc::physics_layer_too_small, error, "physics_layer_too_small",
     "a physics layer is smaller than the game layer"},
    {map_errc::tile_data_too_small, damage, "tile_data_too_small", "a layer has fewer tiles than its size needs"},
    {map_errc::nonzero_skip, damage, "nonzero_skip", "tiles that are not packed have skip values"},
    {map_errc::nonzero_reserved, damage, "nonzero_reserved", "the reserved byte of a tile is not zero"},
    {map_errc::packed_tiles_too_short, damage, "packed_tiles_too_short", "packed tiles end too early"},
    {map_errc::packed_tiles_too_long, damage, "packed_tiles_too_long", "packed tiles go on after the last tile"},
    {map_errc::packed_physics_layer, damage, "packed_physics_layer", "a layer of this kind cannot be packed"},
    {map_errc::quad_data_too_small, damage, "quad_data_too_small", "a layer has fewer quads than stated"},
    {map_errc::sound_data_too_small, damage, "sound_data_too_small", "a layer has fewer sound sources than stated"},
    {map_errc::bad_envelope_points, damage, "bad_envelope_points", "the envelope points do not fit the envelopes"},
    {map_errc::unsupported_image_variant, damage, "unsupported_image_variant", "the pixels are of an unknown kind"},
    {map_errc::image_data_too_small, damage, "image_data_too_small",
     "an image has fewer pixels than its size needs"},
    {map_errc::bad_text, damage, "bad_text", "a text is not terminated, holds a zero or is not UTF-8"},
    {map_errc::unsafe_image_name, damage, "unsafe_image_name", "an image name with a slash"},
    {map_errc::packed_run_overshoots, note, "packed_run_overshoots", "the last run of packed tiles is too long"},
    {map_errc::packed_tiles_unaligned, note, "packed_tiles_unaligned", "spare bytes behind packed tiles"},
    {map_errc::settings_not_terminated, note, "settings_not_terminated", "the last setting is not terminated"},
    {map_errc::text_too_long, note, "text_too_long", "a text is longer than editors show"},
    {map_errc::unknown_item_type, note, "unknown_item_type", "items of an unknown type"},
    {map_errc::unknown_layer_type, note, "unknown_layer_type", "a layer of an unknown type"},
    {map_errc::duplicate_physics_layer, note, "duplicate_physics_layer", "a second physics layer of one kind"},
    {map_errc::physics_layer_place, note, "physics_layer_place", "a physics layer outside the game group"},
    {map_errc::game_group_fields, note, "game_group_fields", "the game group is moved or clipped"},
    {map_errc::missing_zero_block, note, "missing_zero_block", "a physics layer without empty tiles for others"},
    {map_errc::bad_image_index, note, "bad_image_index", "there is no such image"},
    {map_errc::bad_sound_index, note, "bad_sound_index", "there is no such sound"},
    {map_errc::bad_envelope_channels, note, "bad_envelope_channels", "an envelope has not 1, 3 or 4 channels"},
    {map_errc::bad_curve_type, note, "bad_curve_type", "unknown curve types"},
    {map_errc::point_order, note, "point_order", "the times of an envelope go backwards"},
    {map_errc::bezier_count, note, "bezier_count", "bezier data that does not fit the envelope points"},
    {map_errc::tile_image_size, note, "tile_image_size", "a tile layer's image is not 16 by 16 whole tiles"},
    {map_errc::missing_image_name, note, "missing_image_name", "an external image has no name"},
    {map_errc::bad_auto_mapper, note, "bad_auto_mapper", "an auto mapper that programs ignore"},
    {map_errc::short_uuid_index, note, "short_uuid_index", "an item type's UUID is too short"},
    {map_errc::duplicate_uuid_index, note, "duplicate_uuid_index", "an item type's UUID is given twice"},
    {map_errc::unknown_uuid, note, "unknown_uuid", "items of an unknown UUID type"},
    {map_errc::truncated, error, "truncated", "the file ends too early"},
    {map_errc::bad_player_depth, error, "bad_player_depth", "players are drawn in a layer that does not exist"},
    {map_errc::missing_end_of_tiles, error, "missing_end_of_tiles", "the end of the tiles is not marked"},
    {map_errc::trailing_data, error, "trailing_data", "data behind the end of the tiles"},
    {map_errc::tile_out_of_bounds, damage, "tile_out_of_bounds", "a tile outside the map"},
    {map_errc::duplicate_tile, note, "duplicate_tile", "a second tile for the same cell"},
    {map_errc::other_layout, note, "other_layout", "not the documented layout but the original program's"},
    {map_errc::newer_version, note, "newer_version", "a later version, readable as this one"},
    {map_errc::unknown_flag_bits, note, "unknown_flag_bits", "flags without a meaning are set"},
    {map_errc::bad_envelope_index, note, "bad_envelope_index", "there is no such envelope"},
    {map_errc::too_many_images, note, "too_many_images", "more images than the games load"},
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i].code != static_cast<map_errc>(i)) return false;
    return true;
}
static_assert(in_order());

entry const& entry_of(map_errc code) noexcept { return entries[static_cast<std::size_t>(code)]; }

} // namespace

std::string_view name(map_errc code) noexcept { return entry_of(code).name; }
std::string_view describe(map_errc code) noexcept { return entry_of(code).text; }
map_severity severity_of(map_errc code) noexcept { return entry_of(code).severity; }

std::string_view name(map_severity severity) noexcept {
    switch (severity) {
    case map_severity::note: return "note";
    case map_severity::damage: return "damage";
    case map_severity::error: return "error";
    }
    return "error";
}

} // namespace teewire
