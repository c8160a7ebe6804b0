// A stream as demos: one for each recording in it.
#pragma once

#include "recording/demo/demo_file.hpp"
#include "recording/stream/event.hpp"

#include <memory>
#include <string>
#include <vector>

namespace teewire::replay {

struct written_demo {
    std::string path;
    std::uint64_t snapshots = 0;
    std::uint64_t unchanged = 0; ///< of these, and not stored
    std::uint64_t messages = 0;
    std::uint64_t left_out = 0; ///< snapshots that were lost, or that no demo can hold
    served_map map;
    bool has_map = false;
    std::size_t lost_markers = 0; ///< for which the header has no room
};

/// Borrowed arguments must outlive it. Throws output_error.
class demo_sink final : public event_sink {
public:
    explicit demo_sink(demo_target& target) : target_{target} {}

    void put(stream_event const& event) override;
    /// Names those that have ended, and forgets them: for streams that go on. Those of which nothing was kept are left out.
    std::vector<written_demo> finish_ended();
    /// Ends the last one. Only now they get their names; those that were not finished leave no file.
    std::vector<written_demo> finish();

    /// All demos so far together.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return ended_bytes_ + (file_ ? file_->size() : 0); }

private:
    void begin(recording_info const& what);
    void end_demo();

    demo_target& target_;
    std::unique_ptr<demo_file> file_;
    std::vector<std::unique_ptr<demo_file>> complete_; // but for their names
    std::vector<written_demo> written_;
    std::uint64_t ended_bytes_ = 0;
};

} // namespace teewire::replay
