// Recordings as rows of tables, for databases and files of columns.
#pragma once

#include "events/game_event_reader.hpp"
#include "game/players.hpp"
#include "recording/stream/event.hpp"
#include "tables/item_tables.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// A file: what identifies it, and what is known of it.
struct file_row {
    std::array<std::uint8_t, 32> sha256{}; ///< of its bytes
    std::string connection;                ///< of a capture, if one was chosen
    std::string name;
    std::uint64_t bytes = 0;
    std::string timestamp; ///< of a demo, as its header has it: local time
};

/// A recording, of which a file may hold several.
struct recording_row {
    std::uint32_t part = 0; ///< its number in the file, from 0
    protocol version = protocol::ddnet;
    served_map map;
    std::int64_t began = 0; ///< seconds since 1970; 0 if unknown
    std::int32_t first_tick = -1;
    std::int32_t last_tick = -1; ///< of snapshots, as the one above; -1 if there is none
    std::uint64_t snapshots = 0;
    std::uint64_t messages = 0;
    std::uint64_t lost = 0; ///< snapshots that cannot be given
};

struct tick_row {
    std::int32_t tick;
    bool keyframe;
};
struct message_row {
    std::int32_t tick;  ///< -1 before the first
    std::string kind;   ///< "chat"
    std::string fields; ///< a JSON object
};
/// A player who was there in all snapshots from one tick to the other, under this name.
struct player_row {
    std::int32_t client_id;
    std::int32_t first_tick;
    std::int32_t last_tick;
    std::string name;
    std::string clan;
};

/// Rows that wait to be passed on.
struct new_rows {
    std::vector<tick_row> ticks;
    std::vector<message_row> messages;
    std::vector<player_row> players;
    std::vector<game_event> events;
    item_rows items;

    void clear() noexcept;
};

/// Receives the rows, one recording after the other.
class table_sink {
public:
    virtual void begin(recording_row const& recording) = 0;
    /// More rows of the recording. Each table is in the order of ticks, items in the order of ids and then ticks.
    virtual void add(new_rows const& rows) = 0;
    /// The recording is complete.
    virtual void end(recording_row const& recording) = 0;

protected:
    ~table_sink() = default;
};

/// Makes the rows for a file's recordings. Holds about `most_bytes` of rows before it passes them on. A new recording
/// begins where the ticks of snapshots do not grow.
class tabulator final : public event_sink {
public:
    /// `memory`: room for rows, which can be reused from a tabulator that is done.
    tabulator(table_sink& to, new_rows& memory, std::size_t most_bytes = std::size_t{128} << 20)
        : to_{to}, most_bytes_{most_bytes}, rows_{memory} {
        rows_.clear();
    }
    void put(stream_event const& event) override;
    /// Ends the last recording.
    void finish();
    [[nodiscard]] recording_row const& current() const noexcept { return recording_; }

private:
    void begin(recording_info const& info);
    void end();
    void take_snapshot(stream_event const& event);
    void take_message(stream_event const& event);
    void update_players(std::int32_t tick, std::span<present_player const> present);
    void hand_over();

    table_sink& to_;
    std::size_t most_bytes_;
    recording_row recording_;
    recording_info begun_; // without the map's bytes
    bool open_ = false;
    std::uint32_t parts_ = 0;
    new_rows& rows_;
    std::size_t text_bytes_ = 0; // of messages and events, approximately
    std::optional<game_event_reader> happenings_;
    std::map<std::int32_t, player_row> players_; // present in the last snapshot
    std::uint64_t names_version_ = 0;            // at the last snapshot
};

} // namespace teewire::replay
