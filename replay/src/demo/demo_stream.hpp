// A demo as a stream.
#pragma once

#include "demo/session.hpp"
#include "stream/event.hpp"

#include <optional>

namespace teewire::replay {

class demo_stream final : public event_source {
public:
    /// From the file's beginning, or from the keyframe that playing `from` needs: what comes before that tick is left
    /// out. Uses the session's player, and the session must outlive it.
    explicit demo_stream(session& demo, std::optional<std::int32_t> from = {});

    bool next(stream_event& out) override;
    [[nodiscard]] std::string error() const override;
    [[nodiscard]] std::uint64_t done_bytes() const override { return player_.position(); }

private:
    session& demo_;
    demo_player& player_;
    recording begun_;
    bool begins_ = true;
};

/// What a player has come to; `state` is its own.
[[nodiscard]] stream_event to_stream_event(demo_event const& event, snapshot_view state) noexcept;
/// What a demo's header says of its map.
[[nodiscard]] served_map map_of(demo_header const& header);
/// What holds for the whole demo.
[[nodiscard]] recording recording_of(session const& demo);

} // namespace teewire::replay
