// Races: times in place of scores, the race clock, and what servers say about finishes.
#pragma once

#include <teewire/message_types.hpp>
#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// The score that servers of races send for a player without a time; 0.7 has its own.
inline constexpr std::int32_t no_time = -9999;

/// "6:29.00", "1:06:29.00", "-0:01.50".
[[nodiscard]] std::string time_text(std::int64_t milliseconds);

/// What the scores of a snapshot mean: points, or the time of the best finish, which DDNet's client calls time.
class score_reader {
public:
    score_reader(snapshot_view snapshot, protocol p);

    /// Scores are times. Servers say so by a flag of game_info_ex, those of 0.7 by one of game_info.
    [[nodiscard]] bool times() const noexcept { return times_; }
    /// Milliseconds; none for who has not finished yet, and where scores are no times.
    [[nodiscard]] std::optional<std::int64_t> time(std::int32_t client_id, std::int32_t score) const;

private:
    struct finish {
        std::uint16_t client_id;
        std::optional<std::int64_t> time;
    };

    bool times_ = false;
    bool milliseconds_ = false;
    std::vector<finish> exact_; // newer servers send more than whole seconds
};

/// Whom the client looks at that the snapshot was made for: the one that it watches, or itself. -1 if that is not
/// known.
[[nodiscard]] std::int32_t followed_client(snapshot_view snapshot, protocol p);

/// A race that is being run.
struct running_race {
    std::int32_t client_id = -1;
    std::int32_t start_tick = 0;
};
/// Those whose clocks the snapshot shows: in 0.6 that of the client alone for which it was made.
[[nodiscard]] std::vector<running_race> read_races(snapshot_view snapshot, protocol p);

/// The bit of game_state_flags in 0.6 that says so.
inline constexpr std::int32_t racetime_flag = 1 << 3;
/// Where in an item's data the start of a race is as a negative tick, as in 0.6's game_info.
[[nodiscard]] std::optional<std::size_t> race_start_place(std::span<std::int32_t const> data, object const& what);

/// What a message says about a race.
struct race_news {
    enum class kind : std::uint8_t { finish, checkpoint, records } what;
    std::optional<std::int32_t> client_id;  ///< who; none: the client that it was sent to, or the one it watches
    std::optional<std::int64_t> time;       ///< milliseconds, as all below
    std::optional<std::int64_t> difference; ///< to the own best
    bool personal_record = false;           ///< a finish that is one
    bool server_record = false;
    std::optional<std::int64_t> server_best; ///< records
    std::optional<std::int64_t> own_best;
};
/// None for messages about anything else, and for those that only set the clock.
[[nodiscard]] std::optional<race_news> read_race_news(message const& m, protocol p);

/// Whether a broadcast is the clock of a race, which servers send to clients that have none: "00:06".
[[nodiscard]] bool is_race_clock(std::string_view broadcast);

} // namespace teewire::replay
