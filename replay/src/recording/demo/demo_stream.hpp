// A demo as a stream.
#pragma once

#include "recording/demo/demo_document.hpp"
#include "recording/stream/event.hpp"

#include <optional>

namespace teewire::replay {

class demo_stream final : public event_source {
public:
    /// From the file's beginning, or from the keyframe that playing `from` needs: what comes before that tick is left
    /// out. Uses the document's player, and the document must outlive it.
    explicit demo_stream(demo_document& demo, std::optional<std::int32_t> from = {});

    bool next(stream_event& out) override;
    [[nodiscard]] std::string error() const override;
    [[nodiscard]] std::uint64_t done_bytes() const override { return player_.position(); }

private:
    demo_document& demo_;
    demo_player& player_;
    recording_info begun_;
    bool begins_ = true;
};

/// The event that a player has reached; `state` is the player's.
[[nodiscard]] stream_event to_stream_event(demo_event const& event, snapshot_view state) noexcept;
/// The map that a demo's header names.
[[nodiscard]] served_map map_of(demo_header const& header);
/// Facts about the whole demo.
[[nodiscard]] recording_info recording_info_of(demo_document const& demo);

} // namespace teewire::replay
