// A demo as a server would have sent it: snapshots for viewers, with ticks that never go back, and messages.
#pragma once

#include "demo/session.hpp"
#include "game/retime.hpp"
#include "game/roster.hpp"

#include <teewire/snapshot_builder.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace teewire::replay {

/// Whom a viewer watches.
inline constexpr std::int32_t watch_nobody = -1; ///< looks around freely
inline constexpr std::int32_t watch_chosen = -2; ///< whom the recording watches, or else anybody

/// Plays a demo against a clock of its own: server ticks, 50 a second, which only grow. Where in the demo that is depends
/// on pauses, speed and jumps. As long as nobody touches it, both ticks are the same and the snapshots are those of the
/// demo but for the viewers' own items, unless the demo begins so late that hardly any ticks are left. Otherwise the ticks inside of items are moved along, so that what they describe
/// looks the same.
class playback {
public:
    /// Ticks: there is a snapshot of each multiple, whatever the demo has.
    static constexpr std::int32_t max_silence = ticks_per_second;

    /// Reads the whole demo once. `progress` gets the bytes done. Throws bad_input.
    playback(session& demo, bool loop, std::function<void(std::uint64_t)> const& progress);

    // ---- control

    void pause(bool paused) noexcept { paused_ = paused; }
    void set_speed(double speed) noexcept { speed_ = speed; }
    /// Ticks of the demo.
    void seek(std::int32_t tick);
    [[nodiscard]] bool paused() const noexcept { return paused_; }
    [[nodiscard]] double speed() const noexcept { return speed_; }
    [[nodiscard]] bool at_end() const noexcept { return position_ >= last_tick(); }
    [[nodiscard]] std::int32_t position() const noexcept {
        return static_cast<std::int32_t>(std::min<double>(position_, last_tick_));
    }
    [[nodiscard]] std::int32_t first_tick() const noexcept { return demo_.overview().first_tick; }
    /// The largest one that can be played.
    [[nodiscard]] std::int32_t last_tick() const noexcept { return last_tick_; }

    // ---- what is played

    /// The server tick to begin with; snapshots are of every second one from there.
    [[nodiscard]] std::int32_t begin_tick() const noexcept { return begin_tick_; }
    /// Goes on by two ticks, to the server tick given. Messages that came up go to `say`.
    void advance(std::int32_t server_tick, std::function<void(std::span<std::uint8_t const>)> const& say);
    /// Whether there is a snapshot for the tick that advance() reached: in a gap of the demo there is none.
    [[nodiscard]] bool has_snapshot() const noexcept { return has_snapshot_; }
    /// The snapshot for viewers that watch `watch_chosen`; its last item says whom. Until the next advance().
    [[nodiscard]] snapshot_view snapshot() const noexcept { return view_; }
    /// The same snapshot, or another that this gave, for viewers that watch somebody else, in `out`.
    [[nodiscard]] snapshot_view watching(snapshot_view snapshot, std::int32_t watched,
                                         std::span<std::int32_t> out) const;

    [[nodiscard]] session const& demo() const noexcept { return demo_; }
    [[nodiscard]] protocol version() const noexcept { return demo_.spoken(); }
    [[nodiscard]] bool is_07() const noexcept { return demo_.spoken() == protocol::teeworlds_07; }
    /// A free client id for viewers, or -1: then they have no items of their own.
    [[nodiscard]] std::int32_t viewer_id() const noexcept { return viewer_id_; }
    /// What 0.7's clients have to know now.
    [[nodiscard]] roster const& players() const noexcept { return roster_; }
    /// Changes of the roster are not those of a moment: after a jump, and while a recording that has just begun hears
    /// who is there.
    [[nodiscard]] bool settling() const noexcept { return position_ < settled_; }
    /// The tune params of 0.6 that came last, as a message.
    [[nodiscard]] std::span<std::uint8_t const> tuning() const noexcept { return tuning_; }
    /// Why playing stopped early, or empty.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }

private:
    struct roster_message {
        std::int32_t tick;
        std::vector<std::uint8_t> bytes;
    };
    struct memory {
        snapshot_builder_memory<> builder;
    };

    void read_all(std::function<void(std::uint64_t)> const& progress);
    void play_to(std::int32_t tick, std::function<void(std::span<std::uint8_t const>)> const& say);
    void take_message(std::span<std::uint8_t const> bytes,
                      std::function<void(std::span<std::uint8_t const>)> const& say);
    void build(std::int32_t shift, bool again);
    void choose_watched(snapshot_view snapshot);
    void add_viewer();
    [[nodiscard]] bool is_event(item const& i) const noexcept;

    session& demo_;
    bool loop_;
    demo_player& player_;
    tick_mover mover_;
    std::vector<demo_keyframe> keyframes_; // with ascending ticks
    std::unique_ptr<memory> memory_;
    snapshot_builder builder_;
    std::vector<roster_message> roster_messages_; // of 0.7 servers' demos, which have no items for it

    bool paused_ = false;
    double speed_ = 1;
    double position_ = 0; // up to one tick behind the last one
    double settled_ = 0;  // position
    std::int32_t last_tick_ = 0;
    std::int32_t begin_tick_ = 0;
    std::int32_t shown_tick_ = -1;   // of the demo, in the snapshot built last
    std::int32_t state_tick_ = -1;   // of the player's state
    std::int32_t pending_tick_ = -1; // of the marker behind the state, if it was read already
    bool ended_ = false;

    snapshot_view view_;
    bool has_snapshot_ = false;
    std::int32_t viewer_id_ = -1;
    std::int32_t chosen_ = watch_nobody;
    roster roster_;
    std::vector<std::uint8_t> tuning_;
    std::string error_;
};

} // namespace teewire::replay
