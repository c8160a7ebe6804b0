// Recordings one after the other as one demo.
#pragma once

#include "base/output_file.hpp"
#include "game/lasting_messages.hpp"
#include "game/served_map.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/demo/demo_output.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Facts about a recording that are needed before writing.
struct joinable {
    std::string name;
    demo_header header;
    named_size_table const* sizes = nullptr;
    protocol version = protocol::ddnet;
    std::int32_t first_tick = -1; ///< of the first full snapshot
    std::int32_t last_tick = -1;  ///< before ticks go back, or damage
    std::int32_t step = 0;        ///< the usual distance of its snapshots; 0 if it has only one
    served_map map;               ///< that its header names
    bool has_map = false;         ///< it holds that map
    bool continues = false;       ///< the recording of the part before it
};
/// Throws bad_input if there is no snapshot in it. O(chunks).
[[nodiscard]] joinable examine(demo_document const& demo);
/// Two parts are one recording if the headers agree, the second part begins before the end of the first or less than a
/// second after it, and every snapshot of a tick that both have is the same. Two clients that began in the same second
/// agree in all but the last. If they overlap, decodes the first part, and what both have of the second.
enum class continuation : std::uint8_t { none, differs, same };
[[nodiscard]] continuation find_continuation(joinable const& before, input const& before_file, joinable const& part,
                                             input const& part_file);
/// Throws usage_error if the second one cannot follow the first.
void expect_joinable(joinable const& first, joinable const& other);

/// The result of writing.
struct joined {
    std::int32_t first_tick = -1;
    std::int32_t last_tick = -1;
    std::uint64_t left_out = 0; ///< snapshots that the form of a demo cannot hold
    std::size_t lost_markers = 0;
};

/// Writes the demo. Each recording begins one step after the end of the one before: its ticks are moved, including
/// those in items. The first one begins so that none has to be moved back. A part that continues the recording of the one
/// before keeps its ticks, and ticks that both have are written once: cut and joined again, a recording is equal to the
/// original.
class demo_joiner {
public:
    /// `parts` are joinable; none is empty. `map` goes into the file. Throws usage_error if there are not enough ticks.
    demo_joiner(output_file& out, std::span<joinable const> parts, std::span<std::uint8_t const> map);

    /// The next part, which is the one that was examined. `damaged` hears of damage: what comes before it is kept. Ends
    /// early when interrupted. Throws output_error.
    void add(demo_document& demo, std::function<void(std::string const&)> const& damaged,
             std::function<void(std::uint64_t bytes)> const& progress);
    /// Completes the header.
    joined finish();

private:
    std::span<joinable const> parts_;
    std::size_t next_ = 0;            // part
    std::optional<demo_output> out_;  // from the beginning
    std::vector<std::int32_t> moved_; // a snapshot
    lasting_messages in_force_;
    std::vector<std::int32_t> markers_;
    std::int32_t start_;     // of the first part
    std::int64_t shift_ = 0; // ticks by which the last part was moved
    joined joined_;
};

} // namespace teewire::replay
