/// @file
/// Maps of Teeworlds 0.5 to 0.7 and DDNet, as structs that own what they hold: read, change, write.
///
/// See doc/format/map.md.
///
/// Numbers that name other things (image, envelope, sound, layer) are positions in the lists here, -1 for none. Numbers
/// called `..._block` are data blocks of the file that was read, -1 for none; new content may leave them at -1. Unknown
/// content is kept and written again: unknown items and layers, ints after the known ones, blocks that nothing refers
/// to. So a map that is read and written is read back equal, except for DDNet's bezier item, which is added where a
/// curve lacks it, and for ids and blocks of tiles that the file holds twice.
#pragma once

#include "teewire/map/datafile.hpp"
#include "teewire/map/tiles.hpp"

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace teewire {

// ---- item types ----------------------------------------------------------------------------------------------------

/// Types of items in a map.
namespace map_item_type {
inline constexpr std::uint16_t version = 0;         ///< one item, that of the format
inline constexpr std::uint16_t info = 1;            ///< author and so on
inline constexpr std::uint16_t image = 2;           ///< images of layers
inline constexpr std::uint16_t envelope = 3;        ///< curves over time
inline constexpr std::uint16_t group = 4;           ///< groups of layers
inline constexpr std::uint16_t layer = 5;           ///< layers of groups
inline constexpr std::uint16_t envelope_points = 6; ///< one item, the points of all envelopes
inline constexpr std::uint16_t sound = 7;           ///< of DDNet
} // namespace map_item_type

/// Of DDNet's item types.
inline constexpr uuid auto_mapper_uuid{
    {0x3e, 0x1b, 0x27, 0x16, 0x17, 0x8c, 0x39, 0x78, 0x9b, 0xd9, 0xb1, 0x1a, 0xe0, 0x41, 0x0d, 0xd8}};
/// Curves of envelopes, apart from their points.
inline constexpr uuid bezier_uuid{
    {0x3a, 0xb4, 0xf8, 0x4d, 0xd9, 0xcc, 0x3c, 0x78, 0xb5, 0x85, 0x0d, 0x6c, 0xcd, 0xb2, 0xe2, 0x5c}};
/// Removed from DDNet in 2023; such items are kept unchanged.
inline constexpr uuid group_extension_uuid{
    {0x4a, 0x26, 0xca, 0x1f, 0x64, 0xbd, 0x30, 0xe3, 0x90, 0x7a, 0x70, 0x7e, 0xac, 0xd1, 0xf0, 0x80}};
/// Of DDNet's own tests.
inline constexpr uuid test_uuid{
    {0xb1, 0xab, 0x21, 0x86, 0x5a, 0xc3, 0x39, 0xd9, 0x9f, 0xbc, 0x47, 0xcf, 0x03, 0xef, 0xdf, 0x1e}};
/// Such as "mapitemtype-automapper-config@ddnet.tw"; empty for a UUID that is not one of these.
[[nodiscard]] std::string_view name(uuid const& type) noexcept;

// ---- parts ---------------------------------------------------------------------------------------------------------

/// The ints of an item as they were read; empty for a new one. Writing uses only those that the typed fields do not
/// cover: unused ints, and those after the known ones.
using raw_ints = std::vector<std::int32_t>;

/// A string in a data block of its own.
struct map_text {
    std::string text{};      ///< UTF-8, without zero bytes. Empty also if what the file holds is malformed
    std::int32_t block = -1; ///< where it is
    friend bool operator==(map_text const&, map_text const&) = default;
};

/// doc/format/map.md#version-and-info. Editors hold 31, 15, 127 and 31 bytes.
struct map_info {
    std::int32_t version = 1;            ///< 1
    map_text author{};                   ///< who made it
    map_text map_version{};              ///< of the map
    map_text credits{};                  ///< whose work it uses
    map_text license{};                  ///< of the map
    std::vector<std::string> settings{}; ///< of DDNet: one server command each
    std::int32_t settings_block = -1;    ///< where they are
    raw_ints raw{};                      ///< as it was read
    friend bool operator==(map_info const&, map_info const&) = default;
};

/// doc/format/map.md#images. Version 2 is Teeworlds 0.7's.
struct map_image {
    std::int32_t version = 1;           ///< 1, or 2 of Teeworlds 0.7
    std::int32_t width = 0;             ///< pixels
    std::int32_t height = 0;            ///< pixels
    bool external = false;              ///< mapres/NAME.png
    map_text name{};                    ///< without path and ending
    std::vector<std::uint8_t> pixels{}; ///< the block: rows from the top, R G B A. Empty if external or unreadable
    std::int32_t pixels_block = -1;     ///< where they are
    std::int32_t variant = 1;           ///< 1 is RGBA, 0 is RGB; of version 2
    raw_ints raw{};                     ///< as it was read
    friend bool operator==(map_image const&, map_image const&) = default;
};

/// How an envelope goes from one point to the next: envelope_point::curve.
namespace envelope_curve {
inline constexpr std::int32_t step = 0;   ///< keeps the value of the point before
inline constexpr std::int32_t linear = 1; ///< a straight line
inline constexpr std::int32_t slow = 2;   ///< begins slowly
inline constexpr std::int32_t fast = 3;   ///< begins fast
inline constexpr std::int32_t smooth = 4; ///< slow at both ends
inline constexpr std::int32_t bezier = 5; ///< with tangents; Teeworlds 0.7 and newer DDNet
} // namespace envelope_curve

/// Values are 22.10: x, y in units, degrees; or r, g, b, a; or volume. Times are milliseconds.
struct envelope_point {
    std::int32_t time = 0;                       ///< milliseconds
    std::int32_t curve = envelope_curve::linear; ///< of the stretch that begins here
    std::array<std::int32_t, 4> values{};        ///< by channel
    std::array<std::int32_t, 4> in_dx{};         ///< tangents per channel, for bezier curves
    std::array<std::int32_t, 4> in_dy{};         ///< values
    std::array<std::int32_t, 4> out_dx{};        ///< milliseconds
    std::array<std::int32_t, 4> out_dy{};        ///< values
    friend bool operator==(envelope_point const&, envelope_point const&) = default;
};

/// doc/format/map.md#envelopes.
struct map_envelope {
    std::int32_t version = 2;     ///< 1 to 3; 3 has its tangents in the points
    std::int32_t channels = 4;    ///< 1 sound, 3 position, 4 colour
    std::int32_t first_point = 0; ///< in game_map::points
    std::int32_t point_count = 0; ///< in game_map::points
    std::string name{};           ///< at most 31 bytes
    bool synchronized = true;     ///< follows the server's time; always in version 1
    raw_ints raw{};               ///< as it was read
    friend bool operator==(map_envelope const&, map_envelope const&) = default;
};

/// doc/format/map.md#groups. Sizes are units, 32 to a tile.
struct map_group {
    std::int32_t version = 3;      ///< 1 to 3
    std::int32_t offset_x = 0;     ///< units
    std::int32_t offset_y = 0;     ///< units
    std::int32_t parallax_x = 100; ///< percent
    std::int32_t parallax_y = 100; ///< percent
    std::int32_t first_layer = 0;  ///< in game_map::layers
    std::int32_t layer_count = 0;  ///< in game_map::layers
    bool clipping = false;         ///< whether only what is in the rectangle is drawn
    std::int32_t clip_x = 0;       ///< units
    std::int32_t clip_y = 0;       ///< units
    std::int32_t clip_width = 0;   ///< units
    std::int32_t clip_height = 0;  ///< units
    std::string name{};            ///< at most 11 bytes; of version 3
    raw_ints raw{};                ///< as it was read
    friend bool operator==(map_group const&, map_group const&) = default;
};

// ---- layers --------------------------------------------------------------------------------------------------------

/// The kind of a layer's cells. One bit each, as in the file.
enum class tile_kind : std::uint8_t {
    tiles = 0,     ///< only visible
    game = 1,      ///< what tees stand on, and where they begin
    tele = 2,      ///< of DDNet: teleporters
    speedup = 4,   ///< of DDNet: what accelerates
    front = 8,     ///< of DDNet: a second game layer
    switches = 16, ///< of DDNet: switches and doors
    tune = 32,     ///< of DDNet: zones with other physics
};
/// "tiles", "game", "tele", "speedup", "front", "switch" or "tune".
[[nodiscard]] std::string_view name(tile_kind kind) noexcept;

/// doc/format/map.md#tile-layers. Rows from the top. Cells are in the list of the layer's kind: width times height of
/// them, or none if the file's are unreadable. Versions 2 and 3 store them unpacked, version 4 packed.
struct tile_layer {
    std::int32_t version = 3;                              ///< 2 to 4
    std::int32_t width = 0;                                ///< cells
    std::int32_t height = 0;                               ///< cells
    tile_kind kind = tile_kind::tiles;                     ///< which of the lists has the cells
    std::array<std::int32_t, 4> color{255, 255, 255, 255}; ///< r, g, b, a
    std::int32_t color_envelope = -1;                      ///< in game_map::envelopes
    std::int32_t color_envelope_offset = 0;                ///< milliseconds
    std::int32_t image = -1;                               ///< in game_map::images
    std::vector<tile> tiles{};           ///< of ordinary tiles, game and front. Never packed here: skip is 0
    std::vector<tele_tile> tele{};       ///< of DDNet
    std::vector<speedup_tile> speedup{}; ///< of DDNet
    std::vector<switch_tile> switches{}; ///< of DDNet
    std::vector<tune_tile> tune{};       ///< of DDNet
    std::vector<std::uint8_t> surplus{}; ///< bytes of the block after the cells
    std::int32_t tiles_block = -1;       ///< where the cells are
    std::int32_t zero_block = -1;        ///< of tele to tune: empty tiles for programs that do not know the kind
    bool has_zeros = true; ///< false if the block holds something else, or neither it nor the cells could be read

    /// Width times height.
    [[nodiscard]] std::size_t cell_count() const noexcept {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    friend bool operator==(tile_layer const&, tile_layer const&) = default;
};

/// A place.
struct map_point {
    std::int32_t x = 0; ///< 22.10 units: 32768 to a tile; in textures 1024 to the whole image
    std::int32_t y = 0; ///< the same
    friend bool operator==(map_point const&, map_point const&) = default;
};

/// Corners: top left, top right, bottom left, bottom right.
struct map_quad {
    std::array<map_point, 4> corners{};                  ///< places in the world
    map_point pivot{};                                   ///< what envelopes turn it around
    std::array<std::array<std::int32_t, 4>, 4> colors{}; ///< r, g, b, a, 0 to 255
    std::array<map_point, 4> texture{};                  ///< places in the image, by corner
    std::int32_t position_envelope = -1;       ///< none if there is no such envelope, as with -2 in real files
    std::int32_t position_envelope_offset = 0; ///< milliseconds
    std::int32_t color_envelope = -1;          ///< in game_map::envelopes
    std::int32_t color_envelope_offset = 0;    ///< milliseconds
    friend bool operator==(map_quad const&, map_quad const&) = default;
};

/// doc/format/map.md#quads-layers.
struct quad_layer {
    std::int32_t version = 2;            ///< 1 or 2
    std::int32_t image = -1;             ///< in game_map::images
    std::vector<map_quad> quads{};       ///< from the back to the front
    std::vector<std::uint8_t> surplus{}; ///< bytes of the block after the quads
    std::int32_t quads_block = -1;       ///< where they are
    friend bool operator==(quad_layer const&, quad_layer const&) = default;
};

/// Something that sounds at a place.
struct sound_source {
    static constexpr std::int32_t rectangle = 0; ///< a shape
    static constexpr std::int32_t circle = 1;    ///< a shape

    map_point position{};                      ///< its middle
    std::int32_t loop = 1;                     ///< 0 or 1, as pan
    std::int32_t pan = 1;                      ///< whether it sounds from its side
    std::int32_t delay = 0;                    ///< seconds
    std::int32_t falloff = 0;                  ///< 0 to 255
    std::int32_t position_envelope = -1;       ///< in game_map::envelopes
    std::int32_t position_envelope_offset = 0; ///< milliseconds
    std::int32_t sound_envelope = -1;          ///< in game_map::envelopes
    std::int32_t sound_envelope_offset = 0;    ///< milliseconds
    std::int32_t shape = circle;               ///< rectangle or circle
    std::int32_t width = 0;                    ///< of a rectangle, 22.10; or the radius of a circle, in plain units
    std::int32_t height = 0;                   ///< of a rectangle, 22.10
    friend bool operator==(sound_source const&, sound_source const&) = default;
};

/// doc/format/map.md#sounds-layers, and the deprecated form, whose sources DDNet's editor reads as circles with pan and
/// without falloff; so do they appear here.
struct sound_layer {
    std::int32_t version = 2;            ///< 1 or 2
    std::int32_t sound = -1;             ///< in game_map::sounds
    bool deprecated = false;             ///< is written in the old form, which holds no other shapes
    std::vector<sound_source> sources{}; ///< where it sounds
    std::vector<std::uint8_t> surplus{}; ///< bytes of the block after the sources
    std::int32_t sources_block = -1;     ///< where they are
    friend bool operator==(sound_layer const&, sound_layer const&) = default;
};

/// A layer of an unknown type, or with senseless attributes: kept unchanged.
struct unknown_layer {
    friend bool operator==(unknown_layer const&, unknown_layer const&) = default;
};

/// Types of layers: int 1 of their items.
namespace map_layer_type {
inline constexpr std::int32_t tiles = 2;             ///< tile_layer
inline constexpr std::int32_t quads = 3;             ///< quad_layer
inline constexpr std::int32_t deprecated_sounds = 9; ///< sound_layer, in the old form
inline constexpr std::int32_t sounds = 10;           ///< sound_layer
} // namespace map_layer_type

/// doc/format/map.md#layers.
struct map_layer {
    std::int32_t flags = 0; ///< bit 0: detail, shown only with high detail
    std::string name{};     ///< at most 11 bytes
    std::variant<unknown_layer, tile_layer, quad_layer, sound_layer> content{}; ///< what it shows
    raw_ints raw{}; ///< int 1 is the type, also of unknown layers

    /// The content if it is tiles, or null.
    [[nodiscard]] tile_layer* tiles() noexcept { return std::get_if<tile_layer>(&content); }
    /// The content if it is tiles, or null.
    [[nodiscard]] tile_layer const* tiles() const noexcept { return std::get_if<tile_layer>(&content); }
    /// The content if it is quads, or null.
    [[nodiscard]] quad_layer* quads() noexcept { return std::get_if<quad_layer>(&content); }
    /// The content if it is quads, or null.
    [[nodiscard]] quad_layer const* quads() const noexcept { return std::get_if<quad_layer>(&content); }
    /// The content if it is sounds, or null.
    [[nodiscard]] sound_layer* sounds() noexcept { return std::get_if<sound_layer>(&content); }
    /// The content if it is sounds, or null.
    [[nodiscard]] sound_layer const* sounds() const noexcept { return std::get_if<sound_layer>(&content); }
    friend bool operator==(map_layer const&, map_layer const&) = default;
};

// ---- DDNet's further items -----------------------------------------------------------------------------------------

/// doc/format/map.md#sounds.
struct map_sound {
    std::int32_t version = 1;         ///< 1
    bool external = false;            ///< mapres/NAME.opus
    map_text name{};                  ///< without path and ending
    std::vector<std::uint8_t> data{}; ///< an Opus file
    std::int32_t data_block = -1;     ///< where it is
    raw_ints raw{};                   ///< as it was read
    friend bool operator==(map_sound const&, map_sound const&) = default;
};

/// doc/format/map.md#automappers. Editors look only at those of version 1.
struct auto_mapper {
    std::int32_t version = 1;        ///< 1 is understood
    std::int32_t group = 0;          ///< in game_map::groups
    std::int32_t layer = 0;          ///< number inside the group
    std::int32_t configuration = -1; ///< rule set of the image, -1 for none
    std::int32_t seed = 0;           ///< 0: random
    std::int32_t flags = 0;          ///< bit 0: runs by itself
    raw_ints raw{};                  ///< as it was read
    friend bool operator==(auto_mapper const&, auto_mapper const&) = default;
};

/// An item that is kept unchanged.
struct unknown_item {
    std::uint16_t type = 0; ///< of the item
    std::uint16_t id = 0;   ///< of the item
    raw_ints ints{};        ///< all of its data
    friend bool operator==(unknown_item const&, unknown_item const&) = default;
};

/// A type number that stands for a UUID.
struct uuid_type {
    std::uint16_t type = 0; ///< above 0x8000
    uuid name{};            ///< what it stands for
    friend bool operator==(uuid_type const&, uuid_type const&) = default;
};

/// A block that nothing known refers to, or that could not be understood.
struct kept_block {
    std::int32_t block = 0;            ///< its number
    std::vector<std::uint8_t> bytes{}; ///< its content, decompressed unless `stored`
    bool stored = false;               ///< `bytes` is a zlib stream that could not be read
    std::uint32_t stated_size = 0;     ///< of such a stream
    friend bool operator==(kept_block const&, kept_block const&) = default;
};

// ---- map -----------------------------------------------------------------------------------------------------------

/// A whole map.
struct game_map {
    std::optional<map_info> info{};             ///< author and so on, if the map has it
    std::vector<map_image> images{};            ///< of tile and quad layers
    std::vector<map_envelope> envelopes{};      ///< of positions, colours and sounds
    std::vector<envelope_point> points{};       ///< of all envelopes
    std::vector<std::int32_t> surplus_points{}; ///< ints after the last whole point
    bool bezier_item = false;                   ///< DDNet's item with tangents, unless an envelope is of version 3
    std::vector<map_group> groups{};            ///< from the back to the front
    std::vector<map_layer> layers{};            ///< of all groups
    std::vector<map_sound> sounds{};            ///< of DDNet
    std::vector<auto_mapper> auto_mappers{};    ///< of DDNet
    std::vector<uuid_type> uuid_types{};        ///< as in the file, without repetition
    std::vector<unknown_item> unknown_items{};  ///< in the order of the file
    std::vector<kept_block> kept_blocks{};      ///< by number
    std::int32_t block_count = 0;               ///< of the file that was read

    friend bool operator==(game_map const&, game_map const&) = default;

    /// The layers of a group, as far as they exist.
    [[nodiscard]] std::span<map_layer const> layers_of(map_group const& group) const noexcept;
    /// The same, to be changed.
    [[nodiscard]] std::span<map_layer> layers_of(map_group const& group) noexcept;
    /// The points of an envelope, as far as they exist.
    [[nodiscard]] std::span<envelope_point const> points_of(map_envelope const& envelope) const noexcept;
    /// The last layer of that kind, as in DDNet, or null.
    [[nodiscard]] tile_layer const* find(tile_kind kind) const noexcept;
    /// The same, to be changed.
    [[nodiscard]] tile_layer* find(tile_kind kind) noexcept;
};

// ---- read ----------------------------------------------------------------------------------------------------------

/// The parts of a map to read.
enum class map_contents : std::uint8_t {
    all,     ///< everything
    layers,  ///< without pixels and sounds, which can be read from their blocks later. Not to be written
    physics, ///< without quads and ordinary tiles too, for servers. Not to be written
};

/// Called with the number and the decompressed bytes of a block each time the block is read.
using map_block_listener = borrowed_callable<std::int32_t, std::span<std::uint8_t const>>;

/// How to read a map.
struct map_read_options {
    /// strict: the first error refuses the map, as in DDNet. lenient: what is senseless is left out and reported.
    decoding mode = decoding::lenient;
    map_contents contents = map_contents::all; ///< what to read
    /// Limit for all blocks, as stored or decompressed, whichever is more, and unpacked tiles together: of memory, and
    /// so of time. A block counts each time it is named. Content beyond the limit is kept unread, with too_large.
    std::size_t max_bytes = std::size_t{1} << 30;
    map_report report = {};           ///< where everything goes that is found
    map_block_listener on_block = {}; ///< hears what is decompressed
};

/// Reads a map into `out`, which is empty afterwards if that fails. Returns the problem that made it fail:
/// missing_version, unsupported_map_version, item_too_short (of the version item), and in strict mode any error.
/// Everything found goes to options.report. Allocates for the content of the file, never for a mere claim; as
/// everywhere in this library, the program ends if there is no memory. Costs mostly zlib's time.
map_problem read_map(datafile const& file, game_map& out, map_read_options const& options = {});

/// Reads only the game layer: the last one, as in DDNet. False if there is none with readable tiles; problems of that
/// layer go to `report`. Costs little more than zlib's time for its block.
bool read_game_layer(datafile const& file, tile_layer& out, map_report report = {});

// ---- write ---------------------------------------------------------------------------------------------------------

/// Writes a map as DDNet and Teeworlds read it, into `out`. Blocks keep their numbers; a block that is no longer used
/// is replaced by one zero byte. Errors: tile_data_too_small (a layer whose cells are not width times height),
/// decompress_failed (only version 3, a kept block), too_large (2 GiB).
map_problem write_map(game_map const& map, std::vector<std::uint8_t>& out,
                      datafile_write_options const& options = {});

// ---- convenience ---------------------------------------------------------------------------------------------------

/// The physics layers at one position; zero where a layer is missing.
struct physics_cell {
    tile game{};            ///< of the game layer
    tile front{};           ///< of the front layer
    tele_tile tele{};       ///< of the tele layer
    speedup_tile speedup{}; ///< of the speedup layer
    switch_tile switches{}; ///< of the switch layer
    tune_tile tune{};       ///< of the tune layer
};

/// The physics layers of a map, borrowed: the last of each kind, as in DDNet. Null where there is none or its cells are
/// unreadable or fewer than the game layer's.
struct physics_layers {
    tile_layer const* game = nullptr;     ///< the game layer
    tile_layer const* front = nullptr;    ///< the front layer
    tile_layer const* tele = nullptr;     ///< the tele layer
    tile_layer const* speedup = nullptr;  ///< the speedup layer
    tile_layer const* switches = nullptr; ///< the switch layer
    tile_layer const* tune = nullptr;     ///< the tune layer

    /// Cells of the game layer.
    [[nodiscard]] std::int32_t width() const noexcept { return game != nullptr ? game->width : 0; }
    /// Cells of the game layer.
    [[nodiscard]] std::int32_t height() const noexcept { return game != nullptr ? game->height : 0; }
    /// Places outside get what is at the border, as in the games. There must be a game layer.
    [[nodiscard]] physics_cell at(std::int32_t x, std::int32_t y) const noexcept;
};
/// Finds them. O(layers).
[[nodiscard]] physics_layers physics_of(game_map const& map) noexcept;

/// Width times height times four bytes, or nothing if the image has no readable pixels.
[[nodiscard]] std::vector<std::uint8_t> rgba_pixels(map_image const& image);

/// Makes an ordinary sounds layer of a deprecated one.
void convert_deprecated_sounds(sound_layer& layer) noexcept;

/// Names packed four bytes to an int: 3 ints for layers and groups, 8 for envelopes. Nothing if it is not UTF-8.
[[nodiscard]] std::optional<std::string> unpack_name(std::span<std::int32_t const> ints);
/// Cut to 4 * out.size() - 1 bytes, at a whole character.
void pack_name(std::string_view text, std::span<std::int32_t> out) noexcept;

/// Makes a DDNet and 0.6 map suitable for Teeworlds 0.7, and back. To 0.7: images of version 2, ordinary tiles and the
/// game layer packed and without surplus bytes after their cells, bezier curves inside the points. To 0.6: the reverse,
/// without items of DDNet's curves next to points of 0.7. DDNet's layers are kept, and 0.7 ignores them; one whose
/// empty tiles were those of a layer whose form changes gets some of its own.
void convert_to_07(game_map& map);
/// The reverse of convert_to_07.
void convert_to_06(game_map& map);

} // namespace teewire
