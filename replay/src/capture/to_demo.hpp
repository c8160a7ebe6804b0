// Writes a captured connection as demos: one for each stay on a map.
#pragma once

#include "capture/connections.hpp"
#include "demo/demo_file.hpp"

namespace teewire::replay {

/// Maps that were downloaded in a capture, by any connection.
class map_collector : public capture_listener {
public:
    void map_complete(connection_stats const&, map_stay const& stay, std::vector<std::uint8_t>&& bytes) override;
    /// Adds one that is known from elsewhere.
    void add(std::uint32_t crc, std::vector<std::uint8_t> bytes) { maps_[crc] = std::move(bytes); }
    /// Empty if there is none.
    [[nodiscard]] std::span<std::uint8_t const> find(served_map const& map) const;

private:
    std::map<std::uint32_t, std::vector<std::uint8_t>> maps_; // by CRC-32
};

struct written_demo {
    std::string path;
    std::uint64_t snapshots = 0;
    std::uint64_t unchanged = 0; ///< of these, and not stored
    std::uint64_t messages = 0;
    std::uint64_t left_out = 0; ///< snapshots that came too late, or that no demo can hold
    served_map map;
    bool has_map = false;
};

/// Writes what a connection receives in the second reading of a capture. The first one found what to expect.
class demo_recorder : public capture_listener {
public:
    /// `first_frame` names the connection, `stays` are all of its. What is borrowed must outlive the recorder.
    demo_recorder(demo_target& target, std::uint64_t first_frame, std::vector<map_stay> const& stays,
                  map_collector const& maps);

    void stay_begins(connection_stats const& stats, map_stay const& stay) override;
    void snapshot(connection_stats const& stats, std::int32_t tick, snapshot_view snapshot) override;
    void game_message(connection_stats const& stats, message const& m, message_type type,
                      std::span<std::uint8_t const> bytes, bool vital) override;

    /// Ends the last one. What was not finished leaves no file. Throws output_error, as the others do.
    std::vector<written_demo> finish();

private:
    struct pending_message {
        std::vector<std::uint8_t> bytes;
        message_type type;
        bool vital;
    };
    struct pending_tick {
        std::vector<std::int32_t> snapshot; // ints; none if it was not received
        bool distinct_keys = false;
        std::vector<pending_message> messages;
    };

    [[nodiscard]] bool records(connection_stats const& stats) const noexcept {
        return stats.first_frame == first_frame_ && stay_ != 0 && stays_[stay_ - 1].max_items != 0;
    }
    void open(connection_stats const& stats);
    void write(std::int32_t tick, pending_tick const& what);
    void write(pending_message const& m);
    void end_demo();

    demo_target& target_;
    std::uint64_t first_frame_;
    std::vector<map_stay> const& stays_;
    map_collector const& maps_;
    std::size_t stay_ = 0; // number of the one that is written, from 1
    protocol protocol_ = protocol::ddnet;
    std::unique_ptr<demo_file> file_;
    std::vector<std::unique_ptr<demo_file>> complete_; // but for their names
    std::vector<written_demo> written_;
    std::vector<pending_message> early_; // before the first snapshot
    std::map<std::int32_t, pending_tick> pending_;
    std::int32_t newest_ = -1;
    std::int32_t written_tick_ = -1;
};

} // namespace teewire::replay
