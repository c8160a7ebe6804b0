// Events that wait for their time.
#pragma once

#include "game/owned_snapshot.hpp"
#include "recording/stream/event.hpp"

#include <teewire/connection.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace teewire::replay {

/// A recording that keeps what it has.
struct owned_recording_info {
    recording_info what; ///< borrows from below
    std::shared_ptr<std::vector<std::uint8_t> const> map;

    explicit owned_recording_info(recording_info const& from);
};

/// Keeps copies of events, each until its time has come. If a source sends more than can be kept, snapshots and
/// messages are lost, with one event to report it until something fits again, and recordings begin without their maps.
class event_queue {
public:
    static constexpr std::size_t max_bytes = std::size_t{512} << 20;

    explicit event_queue(std::size_t most_bytes = max_bytes) noexcept : most_bytes_{most_bytes} {}

    /// `due` must not be less than that of the event before.
    void add(stream_event const& event, milliseconds due);
    /// Hands on what is due.
    void release(milliseconds now, event_sink& to);
    /// When the next one is due.
    [[nodiscard]] std::optional<milliseconds> next() const;
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    struct waiting {
        milliseconds due;
        event_kind kind;
        bool keyframe;
        bool vital;
        std::int32_t tick;
        std::shared_ptr<owned_recording_info const> begun;
        owned_snapshot state;              // for snapshots only
        std::vector<std::uint8_t> message; // with three zeros after it

        [[nodiscard]] std::size_t bytes() const noexcept;
    };

    std::size_t most_bytes_;
    std::deque<waiting> waiting_;
    std::size_t bytes_ = 0;
    waiting last_; // snapshot handed on, which later events refer to
    std::shared_ptr<owned_recording_info const> begun_;
};

} // namespace teewire::replay
