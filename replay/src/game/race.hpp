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

/// Knows whether the scores of a snapshot are points, or times of the best finish as DDNet's client shows them.
class score_reader {
public:
    score_reader(snapshot_view snapshot, protocol p);

    /// Scores are times. Servers say so by a flag of game_info_ex, those of 0.7 by one of game_info.
    [[nodiscard]] bool times() const noexcept { return times_; }
    /// Milliseconds; none before the first finish, and where scores are not times.
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

/// The client id that the recording client watches, or its own if it watches no one; -1 if unknown.
[[nodiscard]] std::int32_t followed_client(snapshot_view snapshot, protocol p);

/// A race that is being run.
struct running_race {
    std::int32_t client_id = -1;
    std::int32_t start_tick = 0;
};
/// Reads the races whose clocks the snapshot shows; in 0.6 only that of the client for which it was made.
[[nodiscard]] std::vector<running_race> read_races(snapshot_view snapshot, protocol p);

/// The bit of game_state_flags in 0.6 that marks a running race.
inline constexpr std::int32_t racetime_flag = 1 << 3;
/// The offset in an item's data at which the start of a race stands as a negative tick, as in 0.6's game_info. None if
/// the item has none.
[[nodiscard]] std::optional<std::size_t> race_start_offset(std::span<std::int32_t const> data,
                                                           object const& described);

/// A message about a race.
struct race_news {
    enum class kind : std::uint8_t { finish, checkpoint, records } what;
    std::optional<std::int32_t> client_id;  ///< none: the client that it was sent to, or the one it watches
    std::optional<std::int64_t> time;       ///< milliseconds, as all below
    std::optional<std::int64_t> difference; ///< to the own best
    bool personal_record = false;           ///< a finish that is one
    bool server_record = false;
    std::optional<std::int64_t> server_best; ///< records
    std::optional<std::int64_t> own_best;
};
/// None for messages about anything else, and for those that only set the clock.
[[nodiscard]] std::optional<race_news> read_race_news(message const& m, protocol p);

/// Returns whether a broadcast is the clock of a race ("00:06"), which servers send to clients that have none.
[[nodiscard]] bool is_race_clock(std::string_view broadcast);

} // namespace teewire::replay
