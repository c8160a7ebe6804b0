// The show that a server gives its viewers, recorded or live.
#pragma once

#include "game/roster.hpp"
#include "game/ticks.hpp"
#include "serve/viewed.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// The map that viewers load.
struct shown_map {
    std::string name;
    std::span<std::uint8_t const> bytes; ///< empty if there is none
};

/// Receives the events of a show. Times are milliseconds of the clock that advances it.
class show_listener {
public:
    /// The show begins again with another map or protocol, or has ended. All that came before, ticks too, is void.
    virtual void on_begin(std::int64_t now) = 0;
    /// A message for all. The next on_snapshot() sends it.
    virtual void on_message(std::span<std::uint8_t const> message) = 0;
    /// A server tick has come, larger than all since on_begin(). `snapshot`: that of show::snapshot(), or null if there is
    /// none for it.
    virtual void on_snapshot(std::int32_t tick, snapshot_view const* snapshot, std::int64_t now) = 0;
    /// Server ticks are used up, and restart for clients that join then.
    virtual void on_end(std::string_view why, std::int64_t now) = 0;

protected:
    ~show_listener() = default;
};

/// Snapshots with server ticks, 50 a second, which only grow; messages; and the messages that a joining client needs.
class show {
public:
    show() = default;
    show(show const&) = delete;
    show& operator=(show const&) = delete;

    /// Sets the listener; null: none. It must live until another one comes.
    void open(show_listener* watching) noexcept { listener_ = watching; }

    /// Advances to `now`, showing everything that is due. `anybody`: whether there are viewers.
    virtual void advance(std::int64_t now, bool anybody) = 0;
    /// When advance() is due again, having been called at `now`.
    [[nodiscard]] virtual std::int64_t next(std::int64_t now) const noexcept = 0;

    /// Whether there is something to show: false before the first on_begin() of those that happen now.
    [[nodiscard]] virtual bool begun() const noexcept = 0;
    /// Whether on_begin() may come.
    [[nodiscard]] virtual bool may_change() const noexcept = 0;
    /// The protocol of the items.
    [[nodiscard]] virtual protocol version() const noexcept = 0;
    [[nodiscard]] bool is_07() const noexcept { return version() == protocol::teeworlds_07; }
    [[nodiscard]] virtual shown_map const& map() const noexcept = 0;
    /// The server tick of that time; -1 before the first one.
    [[nodiscard]] virtual std::int32_t server_tick(std::int64_t now) const noexcept = 0;
    /// The tick of what is shown.
    [[nodiscard]] virtual std::int32_t position() const noexcept = 0;
    /// A shown snapshot in the form for viewers that watch another player than `watch_chosen`, in `out`.
    [[nodiscard]] virtual snapshot_view watching(snapshot_view snapshot, std::int32_t watched,
                                                 std::span<std::int32_t> out) const = 0;
    /// A client id for viewers that no player has, or -1: then they have no items of their own.
    [[nodiscard]] virtual std::int32_t viewer_id() const noexcept = 0;
    /// What 0.7's clients have to know now.
    [[nodiscard]] virtual roster const& players() const noexcept = 0;
    /// Changes of the roster are not those of a moment: after a jump, and while a recording that has just begun hears
    /// who is there.
    [[nodiscard]] virtual bool settling() const noexcept = 0;
    /// The lasting messages in force now, for a client that joins.
    [[nodiscard]] virtual std::vector<std::vector<std::uint8_t>> lasting() const = 0;

protected:
    ~show() = default;
    [[nodiscard]] show_listener* listener() const noexcept { return listener_; }

    /// The largest server tick.
    static constexpr std::int32_t last_server_tick = INT32_MAX - 1;
    /// First server ticks for shows that cannot begin with those of the items: ticks from `latest_begin` on last for
    /// 248 days at least, and `other_begin` leaves an hour for times before the first item. Both are even.
    static constexpr std::int32_t latest_begin = INT32_MAX / 2;
    static constexpr std::int32_t other_begin = 3600 * 1000 / tick_time;

private:
    show_listener* listener_ = nullptr;
};

} // namespace teewire::replay
