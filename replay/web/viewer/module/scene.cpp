// The scene for a browser. The host, scene_module.js, writes snapshots and the map into the memory of this module, and reads
// the draw list there.
#include "teewire/scene/scene.hpp"
#include "teewire/scene/map_scene.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace {

using namespace teewire;
using namespace teewire::scene;

// The host reads these structs at fixed offsets.
static_assert(sizeof(vertex) == 20);
static_assert(sizeof(draw_command) == 72 && offsetof(draw_command, repeats) == 1 &&
              offsetof(draw_command, from) == 4 && offsetof(draw_command, first) == 8 &&
              offsetof(draw_command, count) == 12 && offsetof(draw_command, view) == 16 &&
              offsetof(draw_command, clip) == 32 && offsetof(draw_command, tint) == 48 &&
              offsetof(draw_command, x) == 52 && offsetof(draw_command, text) == 64);
static_assert(sizeof(seen_tee) == 32 && offsetof(seen_tee, x) == 8);
// The host writes these as ints.
static_assert(sizeof(event) == 20 && std::is_trivially_copyable_v<event>);
static_assert(sizeof(emoticon) == 12);
static_assert(sizeof(envelope_point) == 22 * 4);
static_assert(sizeof(map_quad) == 38 * 4);
static_assert(sizeof(tile) == 4);

// Functions of the host. Each returns the number of a texture, or no_texture. The next number after a skin has it in greys.
extern "C" {
[[clang::import_module("host"), clang::import_name("skin")]] texture host_skin(char const* name, std::size_t size);
[[clang::import_module("host"), clang::import_name("part")]] texture host_part(std::size_t what, char const* name,
                                                                               std::size_t size);
}

class host_pictures final : public picture_source {
public:
    skin_textures skin(std::string_view name) noexcept override {
        texture const found = host_skin(name.data(), name.size());
        return found == no_texture ? skin_textures{} : skin_textures{found, found + 1};
    }
    texture part(skin_part what, std::string_view name) noexcept override {
        return host_part(static_cast<std::size_t>(what), name.data(), name.size());
    }
};

// Ints of the host, one after another; 0 where they end.
class int_reader {
public:
    explicit int_reader(std::span<std::int32_t const> ints) noexcept : left_{ints} {}

    std::int32_t next() noexcept {
        auto const found = some(1);
        return found.empty() ? 0 : found[0];
    }
    /// All of them, or none.
    std::span<std::int32_t const> some(std::size_t count) noexcept {
        if (count > left_.size()) {
            left_ = {};
            return {};
        }
        auto const found = left_.first(count);
        left_ = left_.subspan(count);
        return found;
    }
    /// A count of things that take at least one int each.
    std::size_t count() noexcept {
        std::int32_t const n = next();
        return n > 0 ? std::min(static_cast<std::size_t>(n), left_.size()) : 0;
    }
    template <class Struct>
    std::vector<Struct> structs() {
        auto const n = count();
        auto const ints = some(n * (sizeof(Struct) / sizeof(std::int32_t)));
        std::vector<Struct> made(ints.empty() ? 0 : n);
        if (!made.empty()) std::memcpy(static_cast<void*>(made.data()), ints.data(), ints.size_bytes());
        return made;
    }

private:
    std::span<std::int32_t const> left_;
};

quad_layer read_quads(int_reader& in) {
    quad_layer layer;
    layer.image = in.next();
    layer.quads = in.structs<map_quad>();
    return layer;
}

// The host has the tiles of all layers but those that the scene asks: one stands for them.
tile_layer read_tiles(int_reader& in) {
    tile_layer layer;
    layer.kind = static_cast<tile_kind>(in.next());
    layer.width = in.next();
    layer.height = in.next();
    for (std::int32_t& part : layer.color) part = in.next();
    layer.color_envelope = in.next();
    layer.color_envelope_offset = in.next();
    layer.image = in.next();
    layer.tiles = in.structs<tile>();
    if (layer.tiles.empty()) layer.tiles.resize(1);
    return layer;
}

map_group read_group(int_reader& in, game_map& map) {
    map_group group;
    group.offset_x = in.next();
    group.offset_y = in.next();
    group.parallax_x = in.next();
    group.parallax_y = in.next();
    group.clipping = in.next() != 0;
    group.clip_x = in.next();
    group.clip_y = in.next();
    group.clip_width = in.next();
    group.clip_height = in.next();
    group.first_layer = static_cast<std::int32_t>(map.layers.size());
    for (std::size_t n = in.count(); n > 0; --n) {
        map_layer& made = map.layers.emplace_back();
        if (in.next() == map_layer_type::quads) made.content = read_quads(in);
        else made.content = read_tiles(in);
    }
    group.layer_count = static_cast<std::int32_t>(map.layers.size()) - group.first_layer;
    return group;
}

game_map read_map(int_reader in) {
    game_map map;
    map.points = in.structs<envelope_point>();
    for (std::size_t n = in.count(); n > 0; --n) {
        map_envelope& e = map.envelopes.emplace_back();
        e.channels = in.next();
        e.first_point = in.next();
        e.point_count = in.next();
        e.synchronized = in.next() != 0;
    }
    for (std::size_t n = in.count(); n > 0; --n) map.groups.push_back(read_group(in, map));
    return map;
}

struct viewer {
    std::vector<std::int32_t> given;
    world_reader reader{protocol::ddnet};
    world_reader ghost_reader{protocol::ddnet};
    game_map map;
    bool has_map = false;
    std::optional<ground> on;
    std::vector<texture> images;
    // Two that are shown, one that is only read for its events, and two of the ghost.
    std::array<world, 5> worlds;
    std::vector<event> events;
    std::vector<emoticon> emoticons;
    std::vector<std::uint8_t> teams;
    moment now;
    seen_tees tees;
    moment ghost_now;
    seen_tees ghost_tees;
    bool has_ghost = false;
    host_pictures pictures;
    std::vector<vertex> vertices = std::vector<vertex>(1 << 14);
    std::vector<draw_command> commands = std::vector<draw_command>(1 << 10);
    std::size_t vertex_count = 0;
};
viewer* v = nullptr;
constexpr std::size_t first_of_ghost = 3;

template <class Struct>
std::vector<Struct> given_structs() {
    std::vector<Struct> made(v->given.size() * sizeof(std::int32_t) / sizeof(Struct));
    std::memcpy(static_cast<void*>(made.data()), v->given.data(), made.size() * sizeof(Struct));
    return made;
}

void see(moment& out, std::size_t before, std::int32_t after, double tick) {
    out.before = &v->worlds[before];
    out.after = after < 0 ? nullptr : &v->worlds[static_cast<std::size_t>(after)];
    out.tick = tick;
    out.on = v->on ? &*v->on : nullptr;
}

} // namespace

extern "C" {

// Before anything else.
void viewer_start() { v = new viewer; }

// Memory for ints that the next function takes.
std::int32_t* viewer_give(std::size_t ints) {
    v->given.resize(ints);
    return v->given.data();
}

// Numbers of textures.
void viewer_set_pictures(texture game, texture emoticons, texture particles, texture own_skin) {
    v->pictures.game = game;
    v->pictures.emoticons = emoticons;
    v->pictures.particles = particles;
    v->pictures.own_skin = {own_skin, own_skin + 1};
}

// A new recording, and its map, if one is given.
void viewer_begin(std::int32_t its_protocol) {
    v->reader = world_reader{static_cast<protocol>(its_protocol)};
    v->has_ghost = false;
    v->on.reset();
    v->has_map = !v->given.empty();
    v->map = v->has_map ? read_map(int_reader{v->given}) : game_map{};
    std::vector<std::int32_t>{}.swap(v->given);
    if (tile_layer const* const game = ground::layer_of(v->map);
        game != nullptr && game->tiles.size() == game->cell_count())
        v->on.emplace(*game);
}

// Another recording, of the ghost.
void viewer_begin_ghost(std::int32_t its_protocol) {
    v->ghost_reader = world_reader{static_cast<protocol>(its_protocol)};
    v->has_ghost = false;
}

// A texture for each image of the map.
void viewer_take_images() { v->images.assign(v->given.begin(), v->given.end()); }

// Reads a snapshot that the library has made as world `place`. Returns the number of its events.
std::size_t viewer_read(std::size_t place, std::int32_t tick) {
    auto const& reader = place < first_of_ghost ? v->reader : v->ghost_reader;
    reader.read(tick, snapshot_view::trusted(v->given, false), v->on ? &*v->on : nullptr, v->worlds[place]);
    return v->worlds[place].events.size();
}
event const* viewer_events_of(std::size_t place) { return v->worlds[place].events.begin(); }

// A moment between the worlds of these places; without `after` if that is negative. Returns the number of tees.
std::size_t viewer_see(std::size_t before, std::int32_t after, double tick) {
    see(v->now, before, after, tick);
    find_tees(v->now, v->tees);
    return v->tees.size();
}
seen_tee const* viewer_tees() { return v->tees.begin(); }

// The ghost is this client in a moment of its recording. There is none if `client` is negative.
void viewer_see_ghost(std::size_t before, std::int32_t after, double tick, std::int32_t client) {
    v->has_ghost = client >= 0;
    if (!v->has_ghost) return;
    see(v->ghost_now, before, after, tick);
    seen_tees all;
    find_tees(v->ghost_now, all);
    v->ghost_tees.clear();
    for (seen_tee const& t : all)
        if (t.id == client)
            if (seen_tee* const made = v->ghost_tees.add()) *made = t;
}

void viewer_take_events() { v->now.events = v->events = given_structs<event>(); }
void viewer_take_emoticons() { v->now.emoticons = v->emoticons = given_structs<emoticon>(); }
// The ints of a tune_params message; none for the usual ones.
void viewer_take_tuning() { v->now.tuning = tuning_of(v->given); }
// By client.
void viewer_take_teams() {
    v->teams.clear();
    for (std::int32_t const team : v->given) v->teams.push_back(static_cast<std::uint8_t>(team));
    v->now.teams = v->teams;
}

// Returns the number of commands.
std::size_t viewer_draw(float x, float y, float zoom, float aspect, std::int32_t names, std::int32_t selected) {
    constexpr std::size_t most = 1 << 22;
    for (;;) {
        draw_list out{v->vertices, v->commands};
        map_choice const map{v->has_map ? &v->map : nullptr, v->images};
        ghosts const of{v->ghost_now, v->ghost_tees};
        draw_picture(v->now, v->tees, {x, y, zoom, aspect}, {names != 0, selected}, map,
                     v->has_ghost ? &of : nullptr, v->pictures, out);
        v->vertex_count = out.vertices().size();
        if (out.complete() || v->vertices.size() >= most) return out.commands().size();
        v->vertices.resize(2 * v->vertices.size());
        v->commands.resize(2 * v->commands.size());
    }
}
draw_command const* viewer_commands() { return v->commands.data(); }
vertex const* viewer_vertices() { return v->vertices.data(); }
std::size_t viewer_vertex_count() { return v->vertex_count; }

// Turns the given pixels of a skin of 0.6 into greys.
void viewer_make_grey(std::size_t width, std::size_t height) {
    if (v->given.size() != width * height) return;
    make_grey({reinterpret_cast<std::uint8_t*>(v->given.data()), 4 * v->given.size()}, width, height);
}
// The pixels of particles, twice as wide as the height, which is returned.
std::size_t viewer_draw_particles() {
    v->given.resize(2 * particle_side * particle_side);
    draw_particles({reinterpret_cast<std::uint8_t*>(v->given.data()), 4 * v->given.size()});
    return particle_side;
}

} // extern "C"
