// A stream tick by tick: the state at the end of each, and the messages that came with it.
#pragma once

#include "game/owned_snapshot.hpp"
#include "recording/stream/event.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace teewire::replay {

/// A message in a tick.
struct tick_message {
    std::span<std::uint8_t const> bytes;
    bool vital = true;
};

/// Each step is the beginning of a recording, or a tick. Memory: one snapshot, and the messages of a step, of which there
/// are not more than 1024 with together 1 MiB and one more.
class tick_reader {
public:
    /// Borrowed arguments must outlive it.
    explicit tick_reader(event_source& source) : source_{source} { pull(); }

    /// Goes to the next step. Two snapshots of one tick are two steps, and so are too many messages. False at the end,
    /// and at a tick in which damage hides the snapshot. Throws the source's exceptions.
    bool next();
    /// The tick of the next step, if that is none at which a recording begins, and there is one.
    [[nodiscard]] std::optional<std::int32_t> peek();

    [[nodiscard]] bool begins() const noexcept { return begins_; }
    /// The recording that began last. Borrowed data in it is valid during the step in which it began.
    [[nodiscard]] recording_info const& begun() const noexcept { return recording_; }
    [[nodiscard]] std::int32_t tick() const noexcept { return tick_; }
    /// Empty before the first snapshot.
    [[nodiscard]] snapshot_view state() const noexcept { return state_.view(); }
    [[nodiscard]] bool has_state() const noexcept { return state_.has_value(); }
    /// Whether there has been another snapshot since the last call.
    [[nodiscard]] bool take_change() noexcept { return std::exchange(changed_, false); }
    /// The messages in order. Those before the first tick of a recording come with it, because writers of demos put
    /// them after it.
    [[nodiscard]] std::span<tick_message const> messages() const noexcept { return messages_; }
    /// Whether the tick is damaged after its snapshot: messages may be missing, and nothing follows.
    [[nodiscard]] bool cut_short() const { return !more_ && !source_.error().empty(); }
    /// The source's error, once everything before it was given.
    [[nodiscard]] std::string error() const { return more_ ? std::string{} : source_.error(); }

private:
    void pull() { more_ = source_.next(pending_); }
    void keep(snapshot_view snapshot);
    bool keep_message();
    void keep_early();
    void list_messages();

    event_source& source_;
    stream_event pending_;
    bool more_ = false;

    bool begins_ = false;
    recording_info recording_;
    std::int32_t tick_ = -1;
    owned_snapshot state_;
    bool changed_ = false;
    struct kept_message {
        std::size_t end;
        bool vital;
    };
    std::vector<std::uint8_t> bytes_; // of the messages
    std::vector<kept_message> kept_;
    bool kept_for_next_ = false; // what is kept belongs to the step to come
    std::vector<tick_message> messages_;
};

} // namespace teewire::replay
