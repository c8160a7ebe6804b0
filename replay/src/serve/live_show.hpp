// Shows a live game to viewers as it happens.
#pragma once

#include "game/lasting_messages.hpp"
#include "game/owned_snapshot.hpp"
#include "recording/stream/event.hpp"
#include "serve/show.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace teewire::replay {

/// A show of a live source. While the source's ticks keep pace with the time, viewers get the same ticks. When they
/// restart, jump or go backwards, the viewers' ticks simply continue, and ticks inside items are shifted to match. While
/// the source is silent, viewers get its last snapshot once a second; when it returns with the same map, the show goes on.
class live_show final : public show, public event_sink {
public:
    struct counters {
        std::uint64_t begun = 0;     // recordings of the source
        std::uint64_t changed = 0;   // recordings with another map or protocol than before
        std::uint64_t snapshots = 0; // of the source
        std::uint64_t moved = 0;     // shown with other ticks than the source's
        std::uint64_t repeated = 0;  // in a silence
        std::uint64_t late = 0;      // already past, and left out
        std::uint64_t too_many = 0;  // left out because of their rate
    };

    /// `clock`: milliseconds, which never go back.
    explicit live_show(std::function<std::int64_t()> clock) : clock_{std::move(clock)} {}

    /// Shows the event before it returns, if the event is due.
    void put(stream_event const& event) override;
    [[nodiscard]] counters const& count() const noexcept { return count_; }

    // ---- show

    void advance(std::int64_t now, bool anybody) override;
    [[nodiscard]] std::int64_t next(std::int64_t now) const noexcept override { return now + idle_interval; }
    [[nodiscard]] bool begun() const noexcept override { return viewed_.has_value(); }
    [[nodiscard]] bool may_change() const noexcept override { return true; }
    [[nodiscard]] protocol version() const noexcept override { return version_; }
    [[nodiscard]] shown_map const& map() const noexcept override { return map_; }
    [[nodiscard]] std::int32_t server_tick(std::int64_t now) const noexcept override;
    [[nodiscard]] std::int32_t position() const noexcept override { return tick_; }
    [[nodiscard]] snapshot_view watching(snapshot_view snapshot, std::int32_t watched,
                                         std::span<std::int32_t> out) const override {
        return viewed_->watching(snapshot, watched, out);
    }
    [[nodiscard]] std::int32_t viewer_id() const noexcept override { return viewer_id_; }
    [[nodiscard]] roster const& players() const noexcept override { return roster_; }
    [[nodiscard]] bool settling() const noexcept override { return clock_() < settled_; }
    [[nodiscard]] std::vector<std::vector<std::uint8_t>> lasting() const override { return lasting_.at(tick_); }

private:
    // Longer than between snapshots, so that it is rarely needed.
    static constexpr std::int64_t idle_interval = 60;

    void begin(recording_info const& what, std::int64_t now);
    void begin_anew(std::int64_t now);
    void take_snapshot(std::int32_t tick, snapshot_view state, std::int64_t now);
    void take_message(std::span<std::uint8_t const> bytes);
    // Sets the shift for the state. False if it comes too late to be shown.
    [[nodiscard]] bool place(bool goes_on, std::int64_t now);
    void choose_viewer_id(std::int64_t now);
    void show_state(std::int32_t server_tick, bool again, std::int64_t now);
    [[nodiscard]] snapshot_view state() const noexcept { return state_.view(); }
    // The server tick to begin with.
    [[nodiscard]] std::int32_t first_tick() const noexcept { return tick_ <= latest_begin ? tick_ : other_begin; }
    [[nodiscard]] std::int64_t ticks_since_shown(std::int64_t now) const noexcept;
    [[nodiscard]] bool take_rate(std::int64_t now) noexcept;

    std::function<std::int64_t()> clock_;
    counters count_;

    protocol version_ = protocol::ddnet;
    shown_map map_;
    std::vector<std::uint8_t> map_bytes_;
    std::optional<viewed_snapshots> viewed_; // none before the first on_begin()
    std::int32_t viewer_id_ = -1;
    roster roster_;
    std::int64_t settled_ = 0; // time
    lasting_messages lasting_{protocol::ddnet};

    std::int32_t tick_ = -1;                 // the source's latest
    owned_snapshot state_;                   // its snapshot
    bool restarts_ = false;                  // a recording has begun, and its ticks with it
    std::int64_t shift_ = 0;                 // from the source's ticks to the server's
    std::int32_t shown_tick_ = -1;           // the server's latest; -1: none since begin_anew()
    std::int64_t shown_at_ = 0;              // time
    std::optional<std::int64_t> late_since_; // time
    std::int64_t allowed_ = 0;               // snapshots, as their rate counts them
    std::int64_t allowed_at_ = 0;            // time
};

} // namespace teewire::replay
