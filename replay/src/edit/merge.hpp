// Recordings of one game by several of its clients as one that shows what any of them saw.
//
// Each tick that one of them has gets the items of those that have this tick. Recordings between two snapshots that are
// close together contribute lasting items from the earlier of the two, except where a client that has the tick could
// see them; lost items are not made up. Items are united by type, extended ones by UUID, and id: a server numbers
// players and things alike for all of its clients. Where two have the same item with different contents, one of them
// has authority, in this order: the client whose player it is about, the one that watches this player, a server's own
// recording, the one whose view is nearest, and the first that was given.
//
// The result is as a server would have recorded it: items that exist only for one client, such as its camera, are left
// out, and no player is local. Game messages that several clients got are written once.
#pragma once

#include "recording/stream/tick_reader.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// One of the recordings.
struct merge_input {
    std::string name;
    event_source* source = nullptr;
};

/// The result for one of them.
struct merged_part {
    std::string name;
    std::uint64_t ticks = 0;
    std::uint64_t only_here = 0; ///< items that no other recording had at that tick
    std::string damage;          ///< "NAME: ...": why it ends; what came before is in the result
};

/// A field in which recordings differed at one tick.
struct merge_conflict {
    std::uint64_t count = 0; ///< items of a tick
    std::int32_t first_tick = -1;
};

struct merge_result {
    std::vector<merged_part> parts;
    std::uint64_t ticks = 0;
    std::uint64_t common_ticks = 0; ///< that more than one had
    std::uint64_t items = 0;
    std::uint64_t held = 0;      ///< of these, from the snapshot before, as their recording has none of this tick
    std::uint64_t conflicts = 0; ///< items with different contents in those that have the tick
    std::uint64_t refused = 0;   ///< items that found no room, or whose key was there twice or is none
    std::uint64_t undescribed =
        0;                        ///< items left out whose type nothing has described, and whose number another has
    std::uint64_t united = 0;     ///< messages that were in another recording already
    std::uint64_t unreadable = 0; ///< messages left out
    std::map<std::string, merge_conflict, std::less<>> fields; ///< by "character.health"
};

/// Memory: a few snapshots for each recording; messages of the last two seconds.
class merged_stream final : public event_source {
public:
    /// How far apart two snapshots of a recording may be for its things to be shown at the ticks between them: what a
    /// server leaves out in the first seconds of a client is more.
    static constexpr std::int32_t max_gap = 10;
    /// So long after the first recording the others may still have a message.
    static constexpr std::int32_t message_window = 2 * 50;

    /// Borrowed arguments must outlive it. There is at least one.
    explicit merged_stream(std::span<merge_input const> inputs);
    merged_stream(merged_stream const&) = delete;
    merged_stream& operator=(merged_stream const&) = delete;
    ~merged_stream() override;

    /// Throws usage_error if they are of different protocols or maps, one holds several recordings, or the same client ids
    /// are different players most of the time; and what the sources throw.
    bool next(stream_event& out) override;
    /// Always empty: where a recording is damaged, the others go on. See result().
    [[nodiscard]] std::string error() const override { return {}; }
    [[nodiscard]] std::uint64_t done_bytes() const override;

    [[nodiscard]] merge_result const& result() const noexcept;

private:
    class work;
    std::unique_ptr<work> work_;
};

} // namespace teewire::replay
