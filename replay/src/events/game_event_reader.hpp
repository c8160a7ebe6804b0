// Reads what happens in a game from snapshots and messages.
#pragma once

#include "events/game_event.hpp"
#include "events/world_state.hpp"
#include "game/players.hpp"
#include "recording/stream/event.hpp"

#include <functional>
#include <memory>

namespace teewire::replay {

/// Reads any number of recordings, one after the other, and gives their events, with ticks that ascend in each.
///
/// Recordings of clients hold the data of one client, and each message is an event. Those of servers hold the data of
/// all clients: deaths are read from the items there, and every other event is given once. Events that the client could
/// not see are not given, and conclusions from two snapshots are not drawn for the first one.
class game_event_reader final : public event_sink {
public:
    using receiver = std::function<void(game_event const&)>;

    explicit game_event_reader(receiver tell);
    ~game_event_reader();

    /// Gives the events that are certain by now: with one receiver everything that is a second old.
    void put(stream_event const& event) override;
    /// Ends the recording and gives the remaining events.
    void finish();

    // The state between events. Only valid after an event was put.

    /// Returns whether the recording holds what one client received.
    [[nodiscard]] bool one_receiver() const noexcept;
    /// At the last snapshot with anything in it; tick -1 before the first one.
    [[nodiscard]] world_state const& now() const noexcept;
    /// At the one before that; of the first snapshot the same.
    [[nodiscard]] world_state const& before() const noexcept;
    /// Another number whenever a player has got another name or team.
    [[nodiscard]] std::uint64_t names_version() const noexcept;
    /// The names of all clients so far.
    [[nodiscard]] name_table const& names() const noexcept;
    /// The last message, if it introduced a player.
    [[nodiscard]] std::optional<introduction> const& introduced() const noexcept;
    /// -1 for spectators; none if it is not known.
    [[nodiscard]] std::optional<std::int32_t> team(present_player const& p) const;

private:
    class state;
    receiver tell_;
    std::unique_ptr<state> state_;
};

} // namespace teewire::replay
