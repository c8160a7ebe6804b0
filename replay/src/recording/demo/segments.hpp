// Decodes a demo on several threads: in segments that begin with keyframes, handed over in the order of the file.
#pragma once

#include "base/workers.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/stream/event.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace teewire::replay {

/// A command's consumer of segments: gets their snapshots and messages, on any thread, one segment after the other.
class segment_sink : public event_sink {
public:
    virtual ~segment_sink() = default;
    /// Another segment begins, which may lie anywhere after the last one. Nothing waits for delivery.
    virtual void begin() {}
    /// Bytes that wait for delivery.
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    /// Delivers what waits: in the order of the file, on any thread, but never two at the same time.
    virtual void deliver() = 0;
};

struct decode_options {
    /// Called for as many parts as are needed at the same time. Without it, things are only counted.
    std::function<std::unique_ptr<segment_sink>()> make_part;
    /// Begin as a player does after demo_player::seek to this tick.
    std::optional<std::int32_t> after;
    /// The size of the file is added to it bit by bit.
    std::atomic<std::uint64_t>* done_bytes = nullptr;
    /// Everything after the first keyframe past this tick may be left out: it is if ticks never restart, and nothing is
    /// damaged.
    std::int32_t until = INT32_MAX;
};

/// The result that one player would have had up to the end or the first damage, whatever the number of workers.
struct decoded {
    std::size_t snapshots = 0;
    std::size_t messages = 0;
    note_log notes; ///< those of the header too
    demo_failure error{};
    bool keyframes_fit = true; ///< known if the document's sizes are assumed: those of all full snapshots

    [[nodiscard]] bool failed() const noexcept { return error.what.code != errc::ok; }
};

/// Decodes the demo on this thread, which is one of the team, and on others of it that have nothing else to do.
/// Holds a few segments for each of them at most. Ends early when interrupted.
decoded decode(demo_document const& demo, workers& team, decode_options const& options);

/// Judges assumed sizes by what came out when everything was decoded with them. False if others are right: what
/// came out is wrong then, and the document now has the right ones.
[[nodiscard]] bool verify_size_table(demo_document& demo, decoded const& outcome);

} // namespace teewire::replay
