// The data that one connection of a capture received, as a stream.
#pragma once

#include "game/owned_snapshot.hpp"
#include "recording/capture/capture_pass.hpp"
#include "recording/stream/early_messages.hpp"
#include "recording/stream/event.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// Maps that were downloaded in a capture, by any connection.
class map_collector final : public capture_listener {
public:
    void map_complete(connection_stats const&, map_stay const& stay, std::vector<std::uint8_t>&& bytes) override;
    /// Adds one that is known from elsewhere.
    void add(std::uint32_t crc, std::vector<std::uint8_t> bytes) { maps_[crc] = std::move(bytes); }
    /// Empty if there is none.
    [[nodiscard]] std::span<std::uint8_t const> find(served_map const& map) const;

private:
    std::map<std::uint32_t, std::vector<std::uint8_t>> maps_; // by CRC-32
};

/// The second reading of a capture: snapshots in the order of their ticks, with the messages that came with them. Each
/// stay on a map with snapshots is a recording. A snapshot that comes later than any base would be is lost.
class capture_stream final : public event_source, private capture_listener {
public:
    /// Takes the results of the first reading for the connection to follow: its first frame, and all of its stays.
    /// Borrowed arguments must outlive it. Throws as capture_sequence does.
    capture_stream(std::span<capture_source const> files, std::uint64_t first_frame, std::vector<map_stay> stays,
                   map_collector const& maps);

    bool next(stream_event& out) override;
    /// The damage of the file, which the first reading has found too.
    [[nodiscard]] std::string error() const override { return pass_.error(); }
    [[nodiscard]] std::uint64_t done_bytes() const override { return pass_.done_bytes(); }

private:
    struct owned_event {
        owned_event() = default;
        owned_event(event_kind kind, std::int32_t tick) {
            event.kind = kind;
            event.tick = tick;
        }
        stream_event event; // without what it borrows
        std::vector<std::uint8_t> message;
        owned_snapshot snapshot;
        std::shared_ptr<recording_info> begun;
    };
    struct pending_tick {
        std::optional<owned_event> snapshot; // none if it was not received
        std::vector<owned_event> messages;
    };

    void stay_begins(connection_stats const& stats, map_stay const& stay) override;
    void snapshot(connection_stats const& stats, snapshot_event const& event) override;
    void game_message(connection_stats const& stats, message const& m, message_type type,
                      std::span<std::uint8_t const> bytes, bool vital) override;
    [[nodiscard]] bool follows(connection_stats const& stats) const noexcept {
        return stats.first_frame == first_frame_ && stay_ != 0 && stays_[stay_ - 1].max_items != 0;
    }
    void begin(connection_stats const& stats);
    static owned_event owned_message(std::span<std::uint8_t const> bytes, std::int32_t tick, bool vital);
    void give(std::int32_t tick, pending_tick&& what);
    void end_stay();

    std::uint64_t first_frame_;
    std::vector<map_stay> stays_;
    map_collector const& maps_;
    std::size_t stay_ = 0; // number of the one that is read, from 1
    protocol protocol_ = protocol::ddnet;
    bool begun_ = false; // the stay's first snapshot was there
    early_messages early_;
    std::map<std::int32_t, pending_tick> pending_;
    std::int32_t newest_ = -1;
    std::int32_t given_ = -1; // the last tick
    std::deque<owned_event> ready_;
    owned_event current_;
    owned_event state_; // the last snapshot
    bool over_ = false;
    capture_pass pass_;
};

} // namespace teewire::replay
