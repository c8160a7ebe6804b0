// Where in a demo what somebody looks for happens.
#pragma once

#include "edit/cut.hpp"
#include "events/timeline.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// What is looked for.
class moment_pattern {
public:
    /// "chat:REGEX" is an extended regular expression, of POSIX, for lines of chat as `play` prints them; "join:NAME" is
    /// who joins; "kill", "finish" and "marker", of the header, are all there are. Throws usage_error.
    explicit moment_pattern(std::string const& text);

    [[nodiscard]] bool matches(timeline_event const& event) const;
    [[nodiscard]] bool matches_markers() const noexcept { return markers_; }

private:
    timeline_kind kind_ = timeline_kind::other;
    bool markers_ = false;
    std::shared_ptr<struct expression const> expression_; // chat
    std::string line_;                                    // join
};
inline constexpr char const* moment_forms = "chat:REGEX, kill, finish, marker or join:NAME";

/// So many ticks before and after each moment that one of the patterns matches, united where they overlap, and within
/// the recording.
[[nodiscard]] std::vector<tick_range> find_moments(timeline const& what, demo_header const& header,
                                                   std::span<moment_pattern const> patterns, std::int64_t before,
                                                   std::int64_t after);

} // namespace teewire::replay
