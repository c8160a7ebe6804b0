#include "map/drawing.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "base/text.hpp"
#include "map/canvas.hpp"
#include "map/document.hpp"
#include "map/mapres.hpp"

#include <teewire/scene/map_scene.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

namespace teewire::replay {
namespace {

constexpr double tile_units = 32;

// ---- what is drawn where -------------------------------------------------------------------------------------------

/// In tiles.
struct region {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t width = 0;
    std::int64_t height = 0;
};

struct frame {
    region seen;
    std::int64_t scale = 1; ///< pixels per tile

    [[nodiscard]] pixel_box cell(std::int64_t x, std::int64_t y) const noexcept {
        return {(x - seen.x) * scale, (y - seen.y) * scale, (x - seen.x + 1) * scale, (y - seen.y + 1) * scale};
    }
};

constexpr std::int64_t max_pixels = 100'000'000; // 400 MB

// `whole` is the map. Throws usage_error.
frame choose_frame(drawing_options const& options, region whole) {
    frame f{whole, 1};
    if (!options.region.empty()) {
        f.seen = {options.region[0], options.region[1], options.region[2], options.region[3]};
        constexpr std::int64_t farthest = 1'000'000;
        for (std::int64_t const n : options.region)
            if (std::abs(n) > farthest) throw usage_error{fmt::format("--region: {} is too far away", n)};
        if (f.seen.width < 1 || f.seen.height < 1)
            throw usage_error{"--region: width and height must be 1 or more"};
    }
    // A picture that fits a screen without losing what is on it.
    constexpr std::int64_t usual_scale = 32;
    f.scale = options.scale
                  ? *options.scale
                  : std::clamp<std::int64_t>(options.side / std::max(f.seen.width, f.seen.height), 1, usual_scale);
    if (f.seen.width * f.seen.height > max_pixels / (f.scale * f.scale))
        throw usage_error{
            fmt::format("{} x {} tiles at {} pixels each are more than {} million pixels; choose a smaller "
                        "--scale or a --region",
                        f.seen.width, f.seen.height, f.scale, max_pixels / 1'000'000)};
    return f;
}

// ---- tiles as colours ----------------------------------------------------------------------------------------------

constexpr color air_color{24, 27, 36};
constexpr color hookable_color{196, 158, 104};
constexpr color unhookable_color{122, 134, 152};
constexpr color death_color{222, 58, 58};
constexpr color freeze_color{58, 92, 214};
constexpr color unfreeze_color{134, 210, 250};
constexpr color other_color{160, 92, 164};

struct tile_color {
    std::uint8_t first;
    std::uint8_t last;
    color shown;
};

// Colours of the game and front layers. Entities are drawn as discs.
constexpr tile_color game_colors[] = {
    {1, 1, hookable_color},    {2, 2, death_color},
    {3, 3, unhookable_color},  {4, 4, {92, 66, 40}},      // no laser
    {5, 8, {94, 172, 154}},                               // hook-through, walls of DDNet's kinds
    {9, 9, freeze_color},      {10, 10, {240, 120, 220}}, // evil teleporter
    {11, 11, unfreeze_color},  {12, 12, {30, 44, 128}},   // deep freeze
    {13, 13, {190, 232, 255}},                            // deep unfreeze
    {16, 16, {232, 170, 60}},                             // wall jump
    {33, 33, {60, 196, 84}},                              // start
    {34, 34, {236, 214, 72}},                             // finish
    {35, 59, {150, 132, 226}},                            // time checkpoints
    {60, 65, {214, 126, 52}},                             // stoppers, old speed-ups
    {66, 67, {94, 172, 154}},                             // hook-through
};
constexpr std::pair<std::uint8_t, color> entity_colors[] = {
    {192, {250, 250, 250}}, // spawn
    {193, {255, 96, 96}},   // red spawn
    {194, {104, 150, 255}}, // blue spawn
    {195, {255, 40, 40}},   // red flag
    {196, {40, 90, 255}},   // blue flag
    {197, {190, 220, 140}}, // armor
    {198, {255, 130, 170}}, // health
    {199, {240, 190, 80}},  // shotgun
    {200, {230, 110, 40}},  // grenade
    {201, {170, 170, 190}}, // ninja
    {202, {110, 230, 250}}, // laser
};

color color_of(std::uint8_t index) {
    for (tile_color const& c : game_colors)
        if (index >= c.first && index <= c.last) return c.shown;
    return other_color;
}

void draw_entity(canvas& out, pixel_box box, std::uint8_t index) {
    color c = other_color;
    for (auto const& [entity, shown] : entity_colors)
        if (entity == index) c = shown;
    out.fill_disc(box, {0, 0, 0, 255});
    std::int64_t const rim = std::max<std::int64_t>((box.x1 - box.x0) / 10, 0);
    out.fill_disc({box.x0 + rim, box.y0 + rim, box.x1 - rim, box.y1 - rim}, c);
}

// The middle half of a cell.
pixel_box inner(pixel_box box) {
    std::int64_t const rim = (box.x1 - box.x0) / 4;
    return {box.x0 + rim, box.y0 + rim, box.x1 - rim, box.y1 - rim};
}

void draw_game_tile(canvas& out, pixel_box box, std::uint8_t index) {
    if (index == 0) return;
    if (index >= game_tile::first_entity) draw_entity(out, box, index);
    else out.fill(box, color_of(index));
}

template <class Draw>
void for_cells(tile_layer const& layer, frame const& f, Draw&& draw) {
    std::int64_t const x1 = std::min<std::int64_t>(layer.width, f.seen.x + f.seen.width);
    std::int64_t const y1 = std::min<std::int64_t>(layer.height, f.seen.y + f.seen.height);
    for (std::int64_t y = std::max<std::int64_t>(0, f.seen.y); y < y1; ++y)
        for (std::int64_t x = std::max<std::int64_t>(0, f.seen.x); x < x1; ++x)
            draw(f.cell(x, y), static_cast<std::size_t>(y * layer.width + x));
}

// Draws the physics of a map: one colour for each kind of tile. DDNet's further layers are drawn smaller, so that the
// game tile stays visible.
void draw_physics(canvas& out, game_map const& map, frame const& f) {
    physics_layers const layers = physics_of(map);
    if (layers.game == nullptr) return;
    for_cells(*layers.game, f,
              [&](pixel_box box, std::size_t i) { draw_game_tile(out, box, layers.game->tiles[i].index); });
    if (layers.front != nullptr)
        for_cells(*layers.front, f, [&](pixel_box box, std::size_t i) {
            std::uint8_t const index = layers.front->tiles[i].index;
            if (index >= game_tile::first_entity) draw_entity(out, box, index);
            else if (index != 0) out.fill(inner(box), color_of(index));
        });
    auto const marks = [&](tile_layer const* layer, auto const& used, color c) {
        if (layer == nullptr) return;
        for_cells(*layer, f, [&](pixel_box box, std::size_t i) {
            if (used(i)) out.fill_disc(inner(box), c);
        });
    };
    marks(layers.tele, [&](std::size_t i) { return layers.tele->tele[i].type != 0; }, {236, 92, 214});
    marks(layers.speedup, [&](std::size_t i) { return layers.speedup->speedup[i].force != 0; }, {255, 150, 40});
    marks(layers.switches, [&](std::size_t i) { return layers.switches->switches[i].type != 0; }, {120, 240, 120});
    marks(layers.tune, [&](std::size_t i) { return layers.tune->tune[i].type != 0; }, {90, 230, 220});
}

// ---- envelopes -----------------------------------------------------------------------------------------------------

/// Values at the beginning of a round; nothing if there is no such envelope.
std::optional<scene::envelope_values> evaluate(game_map const& map, std::int32_t envelope, std::int32_t offset) {
    if (envelope < 0 || static_cast<std::size_t>(envelope) >= map.envelopes.size()) return {};
    return scene::evaluate(map, envelope, map.envelopes[static_cast<std::size_t>(envelope)].channels, offset);
}

// ---- pictures of the map -------------------------------------------------------------------------------------------

/// The map's images as far as they can be had.
class image_set {
public:
    image_set(game_map const& map, std::string const& mapres, std::function<void(std::string const&)> const& say)
        : textures_(map.images.size()) {
        std::set<std::string> missing;
        for (std::size_t i = 0; i < textures_.size(); ++i) {
            map_image const& image = map.images[i];
            if (!image.external) {
                auto const pixels = rgba_pixels(image);
                if (!pixels.empty())
                    textures_[i].emplace(picture_of(static_cast<std::size_t>(image.width),
                                                    static_cast<std::size_t>(image.height), pixels));
                continue;
            }
            if (!mapres.empty()) load(i, image.name.text, mapres, say);
            if (!textures_[i]) missing.insert(printable(image.name.text));
        }
        if (missing.empty() || !say) return;
        say(fmt::format("without {}, which the map only {}", fmt::join(missing, ", "),
                        mapres.empty() ? "names; use --mapres FOLDER" : "names and the folder does not have"));
    }

    [[nodiscard]] texture const* operator[](std::int32_t i) const {
        if (i < 0 || static_cast<std::size_t>(i) >= textures_.size()) return nullptr;
        auto const& found = textures_[static_cast<std::size_t>(i)];
        return found ? &*found : nullptr;
    }

private:
    void load(std::size_t i, std::string const& name, std::string const& mapres,
              std::function<void(std::string const&)> const& say) {
        try {
            if (auto found = load_mapres(mapres, name)) textures_[i].emplace(*std::move(found));
        } catch (std::runtime_error const& e) {
            if (say) say(e.what());
        }
    }

    std::vector<std::optional<texture>> textures_;
};

/// Where units of a group are in the picture. The camera is in the middle of the region, as far away as it takes to see
/// all of it. As in DDNet, what has less parallax is zoomed less, so that a sky fills the picture whatever its size.
struct projection {
    double pixels_per_unit_x;
    double pixels_per_unit_y;
    double left; ///< units at the left border of the picture
    double top;

    [[nodiscard]] double x(double units) const noexcept { return (units - left) * pixels_per_unit_x; }
    [[nodiscard]] double y(double units) const noexcept { return (units - top) * pixels_per_unit_y; }
};

projection project(map_group const& group, frame const& f) {
    double const width = static_cast<double>(f.seen.width) * tile_units;
    double const height = static_cast<double>(f.seen.height) * tile_units;
    double const middle_x = static_cast<double>(f.seen.x) * tile_units + width / 2;
    double const middle_y = static_cast<double>(f.seen.y) * tile_units + height / 2;
    // The area that clients see, in the picture's proportions, with these longest sides.
    double const aspect = width / height;
    double const see_width = std::min(std::sqrt(1150.0 * 1000 * aspect), 1500.0);
    double const see_height = std::min(std::sqrt(1150.0 * 1000 / aspect), 1050.0);
    double const normal =
        std::min(std::min(see_width, see_height * aspect) / width, 1.0); // no closer than the region
    double const share = std::clamp(std::max(group.parallax_x, group.parallax_y), 0, 100) / 100.0;
    double const zoom = normal + (1 - normal) * share;
    double const seen_width = width * zoom;
    double const seen_height = height * zoom;
    auto const scale = static_cast<double>(f.scale) / tile_units;
    return {scale / zoom, scale / zoom, middle_x * group.parallax_x / 100.0 + group.offset_x - seen_width / 2,
            middle_y * group.parallax_y / 100.0 + group.offset_y - seen_height / 2};
}

pixel_box clip_of(map_group const& group, frame const& f) {
    double const scale = static_cast<double>(f.scale) / tile_units;
    auto const x = [&](double units) {
        return std::llround((units - static_cast<double>(f.seen.x) * tile_units) * scale);
    };
    auto const y = [&](double units) {
        return std::llround((units - static_cast<double>(f.seen.y) * tile_units) * scale);
    };
    return {x(group.clip_x), y(group.clip_y), x(double{1} * group.clip_x + group.clip_width),
            y(double{1} * group.clip_y + group.clip_height)};
}

class map_painter {
public:
    map_painter(canvas& out, game_map const& map, frame const& f, image_set const& images,
                std::function<void(std::size_t, std::size_t)> const& done)
        : out_{out}, map_{map}, frame_{f}, images_{images}, done_{done}, game_{map.find(tile_kind::game)} {}

    void draw() {
        std::size_t done = 0;
        for (map_group const& group : map_.groups) {
            out_.set_clip(out_.all());
            bool const holds_game = in(group);
            if (group.clipping && !holds_game) out_.set_clip(clip_of(group, frame_));
            map_group const usual; // games overwrite what the group of the game layer says
            projection const p = project(holds_game ? usual : group, frame_);
            for (map_layer const& layer : map_.layers_of(group)) {
                if (done_) done_(done++, map_.layers.size());
                if (interrupted()) return;
                if (tile_layer const* const tiles = layer.tiles()) draw(*tiles, p, holds_game);
                else if (quad_layer const* const quads = layer.quads()) draw(*quads, p);
            }
        }
        out_.set_clip(out_.all());
    }

private:
    [[nodiscard]] bool in(map_group const& group) const {
        auto const layers = map_.layers_of(group);
        return std::any_of(layers.begin(), layers.end(),
                           [&](map_layer const& l) { return l.tiles() != nullptr && l.tiles() == game_; });
    }

    [[nodiscard]] color tint_of(tile_layer const& layer) const {
        auto const envelope = evaluate(map_, layer.color_envelope, layer.color_envelope_offset);
        std::array<std::uint8_t, 4> c{};
        for (std::size_t i = 0; i < 4; ++i)
            c[i] = static_cast<std::uint8_t>(
                std::clamp(std::clamp(layer.color[i], 0, 255) * (envelope ? (*envelope)[i] : 1.0), 0.0, 255.0));
        return {c[0], c[1], c[2], c[3]};
    }

    void draw(tile_layer const& layer, projection const& p, bool with_game) {
        if (layer.kind != tile_kind::tiles || layer.tiles.empty()) return;
        color const tint = tint_of(layer);
        texture const* const sheet = images_[layer.image];
        double const size_x = tile_units * p.pixels_per_unit_x;
        double const size_y = tile_units * p.pixels_per_unit_y;
        auto const part_size = static_cast<std::size_t>(std::clamp(std::ceil(size_x), 1.0, 256.0));
        // Beyond its borders a layer goes on with what is at them.
        auto const first = [](double pixels, double size) {
            return static_cast<std::int64_t>(std::floor(pixels / size));
        };
        double const origin_x = p.x(0);
        double const origin_y = p.y(0);
        pixel_box const all = out_.all();
        std::int64_t const x1 = first(static_cast<double>(all.x1) - origin_x, size_x);
        std::int64_t const y1 = first(static_cast<double>(all.y1) - origin_y, size_y);
        auto const edge = [](double at) { return static_cast<std::int64_t>(std::floor(at + 0.5)); };
        for (std::int64_t y = first(-origin_y, size_y); y <= y1 && !interrupted(); ++y)
            for (std::int64_t x = first(-origin_x, size_x); x <= x1; ++x) {
                std::int64_t const column = std::clamp<std::int64_t>(x, 0, layer.width - 1);
                std::int64_t const row = std::clamp<std::int64_t>(y, 0, layer.height - 1);
                tile const& t = layer.tiles[static_cast<std::size_t>(row * layer.width + column)];
                if (t.index == 0) continue;
                auto const dx = static_cast<double>(x);
                auto const dy = static_cast<double>(y);
                pixel_box const box{edge(origin_x + dx * size_x), edge(origin_y + dy * size_y),
                                    edge(origin_x + (dx + 1) * size_x), edge(origin_y + (dy + 1) * size_y)};
                if (box.empty()) continue;
                if (sheet != nullptr) out_.draw_tile(box, sheet->part(t.index, part_size), t.flags, tint);
                else out_.fill(box, multiply(plain(t.index, x, y, layer.image, with_game), tint));
            }
    }

    // The colour of a tile whose image is missing: that of the game layer at that position.
    [[nodiscard]] color plain(std::uint8_t index, std::int64_t x, std::int64_t y, std::int32_t image,
                              bool with_game) const {
        if (image < 0) return {255, 255, 255, 255}; // no image is wanted: only the layer's colour
        if (with_game && game_ != nullptr && x >= 0 && y >= 0 && x < game_->width && y < game_->height &&
            !game_->tiles.empty()) {
            std::uint8_t const what = game_->tiles[static_cast<std::size_t>(y * game_->width + x)].index;
            if (what != 0 && what < game_tile::first_entity) return color_of(what);
        }
        auto const shade = static_cast<std::uint8_t>(90 + index % 16 * 5);
        return {shade, shade, static_cast<std::uint8_t>(shade + 20), 110};
    }

    void draw(quad_layer const& layer, projection const& p) {
        texture const* const paint = images_[layer.image];
        bool const wants_image = layer.image >= 0 && static_cast<std::size_t>(layer.image) < map_.images.size();
        if (wants_image && paint == nullptr) return; // plain colours would hide everything
        for (map_quad const& quad : layer.quads) {
            if (interrupted()) return;
            draw(quad, p, paint);
        }
    }

    void draw(map_quad const& quad, projection const& p, texture const* paint) {
        auto const tint = evaluate(map_, quad.color_envelope, quad.color_envelope_offset);
        auto const move = evaluate(map_, quad.position_envelope, quad.position_envelope_offset);
        constexpr double fixed = 1024;
        double const angle = move ? (*move)[2] * std::numbers::pi / 180 : 0;
        std::array<vertex, 4> corners;
        for (std::size_t i = 0; i < 4; ++i) {
            double const dx = (double{1} * quad.corners[i].x - quad.pivot.x) / fixed;
            double const dy = (double{1} * quad.corners[i].y - quad.pivot.y) / fixed;
            double const x =
                quad.pivot.x / fixed + dx * std::cos(angle) - dy * std::sin(angle) + (move ? (*move)[0] : 0);
            double const y =
                quad.pivot.y / fixed + dx * std::sin(angle) + dy * std::cos(angle) + (move ? (*move)[1] : 0);
            vertex& v = corners[i];
            v.x = p.x(x);
            v.y = p.y(y);
            v.u = quad.texture[i].x / fixed;
            v.v = quad.texture[i].y / fixed;
            for (std::size_t k = 0; k < 4; ++k)
                v.tint[k] =
                    std::clamp(std::clamp(quad.colors[i][k], 0, 255) * (tint ? (*tint)[k] : 1.0), 0.0, 255.0);
        }
        out_.draw_triangle({corners[0], corners[1], corners[3]}, paint);
        out_.draw_triangle({corners[0], corners[3], corners[2]}, paint);
    }

    canvas& out_;
    game_map const& map_;
    frame const& frame_;
    image_set const& images_;
    std::function<void(std::size_t, std::size_t)> const& done_;
    tile_layer const* game_;
};

picture draw_game_map(map_source const& source, drawing_options const& options) {
    map_document const document = read_document(source);
    if (!document.map)
        throw bad_input{fmt::format("{}: {}", source.name(), problem_text(document.problems.back()))};
    game_map const& map = *document.map;
    tile_layer const* const game = map.find(tile_kind::game);
    if (game == nullptr || game->tiles.empty())
        throw bad_input{fmt::format("{}: the game layer is missing or cannot be read", source.name())};
    frame const f = choose_frame(options, {0, 0, game->width, game->height});
    canvas out{static_cast<std::size_t>(f.seen.width * f.scale), static_cast<std::size_t>(f.seen.height * f.scale),
               air_color};
    if (options.layer == "game") {
        draw_physics(out, map, f);
    } else {
        image_set const images{map, options.mapres, options.say};
        map_painter{out, map, f, images, options.done}.draw();
    }
    return out.result();
}

// ---- xVector -------------------------------------------------------------------------------------------------------

// A map does not say what sprites look like: a colour for each number.
color sprite_color(std::uint32_t sprite) {
    std::uint32_t const mixed = sprite * 2654435761U;
    auto const channel = [&](unsigned shift) {
        return static_cast<std::uint8_t>(64 + (mixed >> shift & 0xff) * 5 / 8);
    };
    return {channel(24), channel(16), channel(8)};
}

picture draw_xvector(map_source const& source, drawing_options const& options) {
    xvector_document const document = read_xvector(source);
    if (!document.header)
        throw bad_input{fmt::format("{}: {}", source.name(), problem_text(document.problems.back()))};
    xvector_header const& h = *document.header;
    frame const f = choose_frame(options, {0, 0, h.width, h.height});
    canvas out{static_cast<std::size_t>(f.seen.width * f.scale), static_cast<std::size_t>(f.seen.height * f.scale),
               air_color};
    std::vector<xvector_tile> tiles = document.tiles;
    std::stable_sort(tiles.begin(), tiles.end(), [](auto const& a, auto const& b) { return a.z < b.z; });
    for (xvector_tile const& t : tiles) {
        if (t.sprite == 0 || (options.layer == "game" && t.z != h.player_depth)) continue;
        out.fill(f.cell(t.x, t.y), sprite_color(t.sprite));
    }
    return out.result();
}

} // namespace

picture draw_map(map_source const& source, drawing_options const& options) {
    return source.format() == map_format::xvector ? draw_xvector(source, options) : draw_game_map(source, options);
}

} // namespace teewire::replay
