// A player of another demo, who runs the same race.
#pragma once

#include "base/input.hpp"
#include "video/moments.hpp"

#include <optional>
#include <string>

namespace teewire::replay {

/// A race as far as its clock is shown.
struct race_run {
    std::int32_t client = -1;
    std::int32_t first = 0; ///< tick of the start line
    std::int32_t last = 0;
};
/// The longest one in a demo, of the player of this name if that player runs one. None: no clock is shown.
[[nodiscard]] std::optional<race_run> longest_run(demo_document& demo, std::string const& player);

class ghost {
public:
    /// Throws bad_input if one of the demos has no race.
    ghost(std::string const& file, demo_document& beside, std::string const& followed);

    /// The ghost at a tick of the other demo, which is not before that of the last call. Null if there is none then; valid
    /// until the next call.
    [[nodiscard]] scene::ghosts const* at(double tick, scene::ground const* on);

    /// Where the two races begin, for messages.
    [[nodiscard]] std::string const& found() const noexcept { return found_; }
    [[nodiscard]] std::string const& name() const noexcept { return demo_.name(); }
    /// Why there is nothing after what is shown; empty if it is the end of the demo, or has not been reached.
    [[nodiscard]] std::string damage() const { return moments_ ? moments_->damage() : std::string{}; }

private:
    input source_;
    demo_document demo_;
    race_run run_;
    std::int32_t shift_ = 0; // of its ticks against those of the other demo
    std::string found_;
    std::unique_ptr<moment_reader> moments_;
    scene::seen_tees all_;
    scene::seen_tees own_;
    std::optional<scene::ghosts> shown_;
};

} // namespace teewire::replay
