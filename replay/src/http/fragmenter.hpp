// A stream as fragments of a demo: lib/doc/format/broadcast.md.
#pragma once

#include "game/lasting_messages.hpp"
#include "recording/demo/demo_recorder.hpp"
#include "recording/stream/early_messages.hpp"
#include "recording/stream/event.hpp"

#include <teewire/connection.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

using shared_bytes = std::shared_ptr<std::vector<std::uint8_t> const>;

/// One recording in a broadcast: what all of its fragments have in common.
struct broadcast_info {
    std::string id; ///< 16 hexadecimal digits that no other recording has
    protocol version = protocol::ddnet;
    served_map map;       ///< with the SHA-256 of its bytes, if they are there
    shared_bytes bytes;   ///< the map; null if it is not there
    std::string map_path; ///< "map/SHA256.map", or empty
    shared_bytes start;   ///< a demo's header without its map
};

struct fragment {
    std::uint64_t number = 0; ///< from 0 in each recording
    std::int32_t first_tick = -1;
    std::int32_t last_tick = -1;
    shared_bytes bytes; ///< chunks of a demo, with a keyframe first
    shared_bytes state; ///< chunks of the lasting messages from before it; null if there are none
};

class fragment_sink {
public:
    virtual void begin(broadcast_info const& what) = 0;
    virtual void put(fragment const& f) = 0;
    /// The recording ends: there are no more fragments.
    virtual void end() = 0;

protected:
    ~fragment_sink() = default;
};

/// Makes fragments of a second of ticks. One that waits for its end longer than that ends by settle().
class fragmenter final : public event_sink {
public:
    static constexpr std::int32_t fragment_ticks = ticks_per_second;
    static constexpr milliseconds longest = 1250;

    /// `to` must outlive it.
    explicit fragmenter(fragment_sink& to);
    ~fragmenter();

    void put(stream_event const& event) override;
    /// Ends the fragment that has been open for too long, as nothing comes. To be called a few times a second.
    void settle(milliseconds now);
    /// Ends the recording.
    void finish();

private:
    class memory_sink;

    void begin(recording_info const& what);
    void take_snapshot(stream_event const& event);
    void take_message(stream_event const& event);
    void cut();
    [[nodiscard]] shared_bytes state_at(std::int32_t tick);

    fragment_sink& to_;
    std::unique_ptr<memory_sink> memory_;
    std::unique_ptr<demo_recorder> recorder_;
    std::optional<broadcast_info> announced_; // with the first snapshot
    std::string map_path_;                    // of the last map
    shared_bytes map_;
    bool begun_ = false;
    std::uint64_t number_ = 0;
    std::int32_t first_tick_ = -1; // of the open fragment; -1: none is open
    std::int32_t last_tick_ = -1;
    std::optional<milliseconds> open_since_; // as settle() saw it
    early_messages early_;                   // vital ones while no fragment is open
    std::optional<lasting_messages> in_force_;
    std::vector<std::vector<std::uint8_t>> stated_; // in state_
    shared_bytes state_;                            // of the open fragment
};

} // namespace teewire::replay
