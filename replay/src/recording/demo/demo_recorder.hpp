// Records the data that a client receives as a demo: header, map, snapshots and messages, as the games' clients write
// them.
#pragma once

#include "game/roster.hpp"
#include "recording/demo/demo_output.hpp"
#include "recording/stream/early_messages.hpp"
#include "recording/stream/event.hpp"

#include <teewire/snapshot_builder.hpp>

#include <memory>
#include <vector>

namespace teewire::replay {

class demo_recorder {
public:
    /// What `what` borrows is not kept; `to` must outlive it. `what.began`: by default now. Throws output_error, as the
    /// others do.
    demo_recorder(byte_sink& to, recording_info const& what);
    demo_recorder(demo_recorder const&) = delete;
    demo_recorder& operator=(demo_recorder const&) = delete;

    /// Snapshots and messages as a client would record them; other events are not its business. False for a snapshot that
    /// was refused.
    bool put(stream_event const& event);

    /// False if it was refused, which happens to snapshots that no demo can hold; the demo goes on without it.
    bool write_snapshot(std::int32_t tick, snapshot_view snapshot);
    /// A message. One from before the first snapshot is written after it. Those that 0.7's clients do not record change
    /// what is added to its snapshots.
    void write_message(std::span<std::uint8_t const> bytes, bool vital);
    /// The next snapshot is written whole.
    void request_keyframe() noexcept { out_->request_keyframe(); }
    /// Completes the header, where that is possible.
    void finish() { static_cast<void>(out_->finish(markers_)); }

    /// The server's announcements; only 0.7.
    [[nodiscard]] roster const& players() const noexcept { return roster_; }
    [[nodiscard]] protocol version() const noexcept { return protocol_; }

    [[nodiscard]] std::uint64_t size() const noexcept { return out_->size(); }
    /// Snapshots taken. If one equals the one before, it is not stored: readers find only a tick.
    [[nodiscard]] std::uint64_t snapshots() const noexcept { return out_->snapshots(); }
    [[nodiscard]] std::uint64_t unchanged() const noexcept { return out_->unchanged(); }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::int32_t first_tick() const noexcept { return first_tick_; }
    [[nodiscard]] std::int32_t last_tick() const noexcept { return last_tick_; }

private:
    struct memory {
        snapshot_builder_memory<> builder;
        std::array<std::int32_t, snapshot_limits{}.ints()> sorted;
    };

    void write_known(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital);
    void write_join(message const& m, bool enters);
    snapshot_view add_roster(snapshot_view snapshot);

    protocol protocol_;
    std::unique_ptr<memory> memory_;
    std::optional<demo_output> out_; // from the beginning
    snapshot_builder builder_;
    roster roster_;                  // 0.7
    bool players_are_items_ = false; // were in a snapshot: those without have none
    early_messages early_;
    std::vector<std::int32_t> markers_;
    std::uint64_t messages_ = 0;
    std::uint64_t refused_ = 0;
    std::int32_t first_tick_ = -1;
    std::int32_t last_tick_ = -1;
};

} // namespace teewire::replay
