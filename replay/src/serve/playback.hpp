// A demo as a server would have sent it: snapshots for viewers, with ticks that never go back, and messages.
#pragma once

#include "game/lasting_messages.hpp"
#include "recording/demo/demo_document.hpp"
#include "serve/show.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace teewire::replay {

/// Plays a demo against a clock of its own: server ticks, 50 a second, which only grow. The position in the demo
/// depends on pauses, speed and jumps. As long as these are unused, both ticks are the same and the snapshots are those
/// of the demo except for the viewers' own items, unless the demo begins so late that hardly any ticks are left.
/// Otherwise the ticks inside of items are moved along, so that everything they describe looks the same.
class playback final : public show {
public:
    /// Ticks: there is a snapshot of each multiple, whatever the demo has.
    static constexpr std::int32_t max_silence = ticks_per_second;

    /// Reads the whole demo once. `progress` gets the bytes done. Throws bad_input.
    playback(demo_document& demo, bool loop, std::function<void(std::uint64_t)> const& progress);
    /// Another map than the demo's, borrowed.
    void set_map(std::string name, std::span<std::uint8_t const> bytes) { map_ = {std::move(name), bytes}; }

    // ---- control

    void pause(bool paused) noexcept { paused_ = paused; }
    void set_speed(double speed) noexcept { speed_ = speed; }
    /// Ticks of the demo.
    void seek(std::int32_t tick);
    [[nodiscard]] bool paused() const noexcept { return paused_; }
    [[nodiscard]] double speed() const noexcept { return speed_; }
    [[nodiscard]] bool at_end() const noexcept { return position_ >= last_tick(); }
    [[nodiscard]] std::int32_t first_tick() const noexcept { return demo_.overview().first_tick; }
    /// The largest one that can be played.
    [[nodiscard]] std::int32_t last_tick() const noexcept { return last_tick_; }

    // ---- what is played

    /// The server tick to begin with; snapshots are of every second one from there.
    [[nodiscard]] std::int32_t begin_tick() const noexcept { return begin_tick_; }
    /// Ticks that were left out for lack of time.
    [[nodiscard]] std::uint64_t late_ticks() const noexcept { return late_ticks_; }
    [[nodiscard]] demo_document const& demo() const noexcept { return demo_; }
    /// Why playing stopped early, or empty.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }

    // ---- show

    /// Begins with the first viewer.
    void advance(std::int64_t now, bool anybody) override;
    [[nodiscard]] std::int64_t next(std::int64_t now) const noexcept override;
    [[nodiscard]] bool begun() const noexcept override { return true; }
    [[nodiscard]] bool may_change() const noexcept override { return false; }
    [[nodiscard]] protocol version() const noexcept override { return demo_.item_protocol(); }
    [[nodiscard]] shown_map const& map() const noexcept override { return map_; }
    [[nodiscard]] std::int32_t server_tick(std::int64_t) const noexcept override {
        return ticks_ < 0 ? -1 : server_tick();
    }
    [[nodiscard]] std::int32_t position() const noexcept override {
        return static_cast<std::int32_t>(std::min<double>(position_, last_tick_));
    }
    [[nodiscard]] snapshot_view watching(snapshot_view snapshot, std::int32_t watched,
                                         std::span<std::int32_t> out) const override {
        return viewed_.watching(snapshot, watched, out);
    }
    [[nodiscard]] std::int32_t viewer_id() const noexcept override { return viewer_id_; }
    [[nodiscard]] roster const& players() const noexcept override { return roster_; }
    [[nodiscard]] bool settling() const noexcept override { return position_ < settled_; }
    [[nodiscard]] std::vector<std::vector<std::uint8_t>> lasting() const override {
        return lasting_.at(state_tick_);
    }

private:
    struct logged_message {
        std::int32_t tick;
        std::vector<std::uint8_t> bytes;
    };

    [[nodiscard]] std::int32_t server_tick() const noexcept {
        return static_cast<std::int32_t>(begin_tick_ + 2 * ticks_);
    }
    void read_all(std::function<void(std::uint64_t)> const& progress);
    // Goes on by two ticks, to the server tick. Whether there is a snapshot for it: in a gap of the demo there is none.
    bool step();
    void play(std::int64_t now);
    void play_to(std::int32_t tick);
    void take_message(std::span<std::uint8_t const> bytes);

    demo_document& demo_;
    bool loop_;
    demo_player& player_;
    shown_map map_;
    std::vector<demo_keyframe> keyframes_; // with ascending ticks
    viewed_snapshots viewed_;
    std::vector<logged_message> roster_messages_;  // of 0.7 servers' demos, which have no items for it
    std::vector<logged_message> lasting_messages_; // those that change what is in force

    bool paused_ = false;
    double speed_ = 1;
    double position_ = 0; // up to one tick after the last one
    double settled_ = 0;  // position
    std::int32_t last_tick_ = 0;
    std::int32_t begin_tick_ = 0;
    std::int32_t shown_tick_ = -1;   // of the demo, in the snapshot built last
    std::int32_t state_tick_ = -1;   // of the player's state
    std::int32_t pending_tick_ = -1; // of the marker after the state, if it was read already
    bool ended_ = false;

    std::int64_t start_ = 0;  // when the first tick was due
    std::int64_t ticks_ = -1; // played, of two server ticks each; -1: no viewer yet
    std::uint64_t late_ticks_ = 0;

    snapshot_view view_;
    std::int32_t viewer_id_ = -1;
    roster roster_;
    lasting_messages lasting_;
    std::string error_;
};

} // namespace teewire::replay
