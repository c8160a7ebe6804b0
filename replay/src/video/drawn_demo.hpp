// A demo that is drawn: its map, its pictures, and its moments.
#pragma once

#include "base/workers.hpp"
#include "map/document.hpp"
#include "map/source.hpp"
#include "video/ghost.hpp"
#include "video/moments.hpp"
#include "video/sheets.hpp"
#include "video/text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// The part of the world to show, and how large.
struct view_choice {
    std::int32_t width = 1280;
    std::int32_t height = 720;
    std::string follow;               ///< a player; empty: the one who recorded
    std::string beside;               ///< another player, in the right half of the picture; may be empty
    std::vector<std::int64_t> center; ///< x and y in tiles instead; or empty
    double zoom = 1;                  ///< 2 shows twice as much in each direction
    bool names = true;
    scene::hud_parts hud;
};

class drawn_demo {
public:
    /// `map`: bytes of a map file instead of the one in the demo; may be empty. The document must outlive this. `folders`:
    /// of games.
    /// `font`: a font file before all others; may be empty.
    drawn_demo(demo_document& demo, std::vector<std::uint8_t> map, std::vector<std::string> const& folders,
               std::string const& font);

    /// From now on, a player of another demo is shown too, and seen through.
    void add(std::unique_ptr<ghost> other) noexcept { ghost_ = std::move(other); }

    /// Draws the picture at a tick, which is not before that of the last one. Throws usage_error if nothing is to be seen
    /// then, or if the player is not there.
    void draw(double tick, view_choice const& view, workers& team, frame& to);

    /// The events after a tick, up to that of draw(). Valid until the next call.
    [[nodiscard]] std::span<scene::event const> happened_since(double tick);
    /// The place in the middle of what draw() has drawn; of the left half, if there are two.
    [[nodiscard]] scene::camera const& middle() const noexcept { return middle_; }

    /// Reads on to a tick without drawing, so that damage before it is found.
    void read_to(double tick) { static_cast<void>(moments_->move_to(tick)); }

    /// The parts that are missing in the picture, for messages; empty if there are none.
    [[nodiscard]] std::string const& lacks() const noexcept { return lacks_; }
    [[nodiscard]] std::string const& damage() const noexcept { return moments_->damage(); }
    /// The other demo; null if there is none.
    [[nodiscard]] ghost const* other() const noexcept { return ghost_.get(); }

private:
    scene::camera draw_one(view_choice const& view, workers& team, frame& to);
    void place_camera(view_choice const& view, scene::moment const& at, scene::seen_tees const& tees,
                      scene::camera& from, std::int32_t& selected) const;
    [[nodiscard]] scene::draw_list list(scene::moment const& at, scene::camera const& from,
                                        scene::scene_options const& options, scene::hud const& hud,
                                        frame const& to);

    demo_document& demo_;
    std::string lacks_;
    std::optional<map_source> source_;
    std::optional<map_document> map_;
    std::optional<scene::ground> ground_;
    picture_sheets pictures_;
    text_layout texts_;
    std::unique_ptr<moment_reader> moments_;
    scene::seen_tees tees_;
    std::unique_ptr<ghost> ghost_;
    scene::ghosts const* seen_through_ = nullptr; // the ghost at the tick that is drawn
    std::vector<scene::vertex> vertices_;
    std::vector<scene::draw_command> commands_;
    scene::hud_texts hud_texts_;
    scene::camera middle_;
    std::vector<scene::event> happened_;
};

} // namespace teewire::replay
