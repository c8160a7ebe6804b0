#include "video/drawn_demo.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"
#include "recording/demo/map_file_search.hpp"
#include "video/bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace teewire::replay {
namespace {

constexpr pixel background{26, 28, 33};

// The map of a demo that has none in it.
std::vector<std::uint8_t> find_map(demo_document const& demo, std::vector<std::string> const& games) {
    auto const folder = std::filesystem::path{demo.name()}.parent_path();
    auto const file = find_map_file(demo.header(), folder.empty() ? "." : folder.string(), games);
    return file ? file->read_all() : std::vector<std::uint8_t>{};
}

} // namespace

drawn_demo::drawn_demo(demo_document& demo, std::vector<std::uint8_t> map, std::vector<std::string> const& folders,
                       std::string const& font)
    : demo_{demo}, pictures_{folders}, texts_{folders, font} {
    if (map.empty()) map.assign(demo.map().begin(), demo.map().end());
    if (map.empty()) map = find_map(demo, folders);
    if (map.empty()) {
        lacks_ = fmt::format("the map {}, which is not in the demo; use --map FILE",
                             printable(text(demo.header().map_name)));
    } else {
        try {
            source_.emplace(demo.name(), std::move(map));
            if (source_->format() == map_format::datafile) map_ = read_document(*source_, {}, map_contents::layers);
        } catch (bad_input const& e) {
            lacks_ = fmt::format("the map: {}", e.reason());
        }
        if (map_ && !map_->map)
            lacks_ = fmt::format("the map: {}", map_->problems.empty() ? "it cannot be read"
                                                                       : problem_text(map_->problems.back()));
    }
    if (map_ && map_->map) {
        pictures_.take_map(*map_, demo.item_protocol() == protocol::teeworlds_07);
        if (tile_layer const* const game = scene::ground::layer_of(*map_->map)) ground_.emplace(*game);
    }
    if (!texts_.has_font()) lacks_ += lacks_.empty() ? "names, as there is no font; use --font FILE" : "";
    moments_ = std::make_unique<moment_reader>(demo, ground_ ? &*ground_ : nullptr);
    vertices_.resize(std::size_t{1} << 14);
    commands_.resize(std::size_t{1} << 10);
}

void drawn_demo::place_camera(view_choice const& view, scene::moment const& at, scene::seen_tees const& tees,
                              scene::camera& from, std::int32_t& selected) const {
    scene::world const& world = at.shown();
    auto const find = [&](auto const& is) -> scene::player const* {
        auto const* const found = std::find_if(world.players.begin(), world.players.end(), is);
        return found != world.players.end() ? found : nullptr;
    };
    scene::player const* followed = nullptr;
    char const* const option = !view.follow.empty() && view.follow == view.beside ? "--beside" : "--follow";
    if (!view.follow.empty()) {
        // "#3" is a client's number, as other commands write it for one without a name.
        followed = find([&](scene::player const& p) {
            return (p.known && p.name.view() == view.follow) || view.follow == fmt::format("#{}", p.id);
        });
        if (followed == nullptr)
            throw usage_error{fmt::format("{}: no player \"{}\" is there at tick {:.0f}", option,
                                          printable(view.follow), at.tick)};
    } else if (world.viewed >= 0) { // the player watches another one
        followed = find([&](scene::player const& p) { return p.id == world.viewed; });
    } else {
        followed = find([](scene::player const& p) { return p.local; });
    }
    auto const is_followed = [&](scene::seen_tee const& t) { return followed != nullptr && t.id == followed->id; };
    auto const* tee = std::find_if(tees.begin(), tees.end(), is_followed);
    bool const watches_a_place = view.follow.empty() && world.viewed == -1;
    if (followed == nullptr && !watches_a_place) tee = tees.begin();
    if (tee != tees.end() && (followed != nullptr || view.center.empty())) selected = tee->id;
    from.zoom = static_cast<float>(view.zoom);
    from.aspect = static_cast<float>(view.width) / static_cast<float>(view.height);
    if (view.center.size() == 2) {
        from.x = static_cast<float>(view.center[0]) * 32 + 16;
        from.y = static_cast<float>(view.center[1]) * 32 + 16;
    } else if (watches_a_place) {
        from.x = world.view_x;
        from.y = world.view_y;
    } else if (tee != tees.end()) {
        from.x = tee->x;
        from.y = tee->y;
    } else if (auto const* const last = followed != nullptr ? moments_->last_place(followed->id) : nullptr) {
        from.x = last->x; // dead, until the next life
        from.y = last->y;
    } else if (!view.follow.empty()) {
        throw usage_error{
            fmt::format("{}: \"{}\" has no tee at tick {:.0f}", option, printable(view.follow), at.tick)};
    }
}

scene::draw_list drawn_demo::list(scene::moment const& at, scene::camera const& from,
                                  scene::scene_options const& options, scene::hud const& hud, frame const& to) {
    class measure final : public scene::text_measure {
    public:
        measure(text_layout& texts, frame const& to) : texts_{texts}, scale_{to.height / scene::hud_height} {}
        float width(std::string_view text, float size) noexcept override {
            return static_cast<float>(texts_.measure(text, static_cast<std::int32_t>(std::lround(size * scale_)))) /
                   scale_;
        }

    private:
        text_layout& texts_;
        float scale_;
    } measured{texts_, to};
    constexpr std::size_t most = std::size_t{1} << 24;
    for (;;) {
        scene::draw_list out{vertices_, commands_};
        scene::map_choice const map{map_ && map_->map ? &*map_->map : nullptr, pictures_.images()};
        scene::draw_picture(at, tees_, from, options, map, seen_through_, pictures_, out);
        scene::draw_hud(at, tees_, hud, from.aspect, pictures_, measured, hud_texts_, out);
        if (out.complete() || vertices_.size() > most) return out;
        vertices_.resize(vertices_.size() * 2);
        commands_.resize(commands_.size() * 2);
    }
}

void drawn_demo::draw(double tick, view_choice const& view, workers& team, frame& to) {
    if (!moments_->move_to(tick))
        throw usage_error{damage().empty() ? fmt::format("nothing is to be seen at tick {:.0f}", tick) : damage()};
    scene::find_tees(moments_->now(), tees_);
    seen_through_ = ghost_ ? ghost_->at(tick, ground_ ? &*ground_ : nullptr) : nullptr;
    if (view.beside.empty()) {
        middle_ = draw_one(view, team, to);
        return;
    }
    view_choice half = view;
    half.width = view.width / 2;
    frame left{half.width, half.height};
    middle_ = draw_one(half, team, left);
    half.width = view.width - half.width;
    half.follow = view.beside;
    frame right{half.width, half.height};
    draw_one(half, team, right);
    for (std::int32_t y = 0; y < view.height; ++y) {
        auto const row = [&](frame const& f) { return f.pixels.begin() + std::ptrdiff_t{y} * f.width; };
        auto const at = std::copy_n(row(left), left.width, to.pixels.begin() + std::ptrdiff_t{y} * to.width);
        std::copy_n(row(right), right.width, at);
    }
}

std::span<scene::event const> drawn_demo::happened_since(double tick) {
    happened_.clear();
    for (scene::event const& e : moments_->now().events)
        if (e.tick > tick && e.tick <= moments_->now().tick) happened_.push_back(e);
    return happened_;
}

scene::camera drawn_demo::draw_one(view_choice const& view, workers& team, frame& to) {
    scene::moment const& at = moments_->now();
    scene::camera from;
    scene::scene_options options;
    options.names = view.names;
    place_camera(view, at, tees_, from, options.selected);
    scene::hud const hud{view.hud, options.selected, moments_->said(), moments_->kills()};
    scene::draw_list out = list(at, from, options, hud, to);
    while (!pictures_.load(out, team)) out = list(at, from, options, hud, to);
    texts_.place(out, to);
    for_bands(to.height, team, [&](std::int32_t first, std::int32_t end) {
        auto const width = static_cast<std::size_t>(to.width);
        std::fill(to.pixels.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first) * width),
                  to.pixels.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(end) * width),
                  background);
        draw_rows(out, pictures_.loaded(), texts_, to, first, end);
    });
    return from;
}

} // namespace teewire::replay
