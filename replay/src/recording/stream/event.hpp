// An event in a recording or a connection, passed from readers to code that prints, writes, compares or counts.
#pragma once

#include "game/served_map.hpp"

#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace teewire::replay {

enum class event_kind : std::uint8_t {
    begin,    ///< of a recording: another map; ticks restart
    tick,     ///< nothing but another tick: what was sent for it is not there, or has changed nothing
    snapshot, ///< another state
    message,  ///< of the server or the game
    lost,     ///< a snapshot that cannot be given: undecodable, or too late
};

/// Facts from one event of the kind `begin` to the next.
struct recording_info {
    protocol version = protocol::ddnet;      ///< that of the items
    served_map map;                          ///< without a name if it is unknown
    std::span<std::uint8_t const> map_bytes; ///< empty if they are not there
    std::int64_t began = 0;                  ///< seconds since 1970; 0 if unknown
    std::int32_t first_tick = -1;            ///< -1 if that is not known before the end
    std::int32_t last_tick = -1;             ///< the same
    bool one_receiver = true;                ///< holds what one client received, not what a server sent to all
    std::span<std::int32_t const> markers{}; ///< ticks that a user has marked, in any order
};

/// Everything borrowed holds until the next one.
struct stream_event {
    event_kind kind = event_kind::tick;
    std::int32_t tick = -1;                ///< -1 before the first
    recording_info const* begun = nullptr; ///< only for `begin`
    snapshot_view state;                   ///< the last snapshot, also of other events
    bool keyframe = false;                 ///< a snapshot that needs no other
    std::span<std::uint8_t const> message; ///< from a demo with up to three zero bytes after it
    bool vital = true;                     ///< a message that is sent again when it is lost
};

/// Takes the events of a stream.
class event_sink {
public:
    virtual void put(stream_event const& event) = 0;
    /// No other event is there yet: those before should be shown.
    virtual void flush() {}
    /// It wants no more events.
    [[nodiscard]] virtual bool over() const { return false; }

protected:
    ~event_sink() = default;
};

/// Takes the events of a stream that goes on.
class live_sink : public event_sink {
public:
    /// The last event has come.
    virtual void finish() { flush(); }

protected:
    ~live_sink() = default;
};

/// Gives what happens when it is asked: files.
class event_source {
public:
    virtual ~event_source() = default;
    /// False at the end, at damage that it cannot be read over, and when the program is interrupted. Throws io_error.
    virtual bool next(stream_event& out) = 0;
    /// The damage: "tick 1234, byte 5678: REASON", or empty. Everything before it is valid.
    [[nodiscard]] virtual std::string error() const = 0;
    /// Bytes of all that have been read.
    [[nodiscard]] virtual std::uint64_t done_bytes() const = 0;
};

} // namespace teewire::replay
