// Finds moments in a demo: kills, finishes, joins, lines of chat, markers.
#pragma once

#include "base/os/expression.hpp"
#include "edit/cut.hpp"
#include "events/timeline.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// A kind of moment to look for.
class moment_pattern {
public:
    /// Reads one of moment_forms. REGEX is a POSIX extended regular expression for lines of chat as `play` prints them, and
    /// a marker is one in the demo's header. Throws usage_error.
    explicit moment_pattern(std::string const& text);

    [[nodiscard]] bool matches(timeline_event const& event) const;
    [[nodiscard]] bool matches_markers() const noexcept { return kind_ == game_event_kind::marker; }

private:
    game_event_kind kind_ = game_event_kind::marker;
    std::shared_ptr<os::expression const> expression_; // chat
    std::optional<std::string> name_;                  // whoever joins, kills or finishes
};
inline constexpr char const* moment_forms = "chat:REGEX, kill, kill:NAME, finish, finish:NAME, marker or join:NAME";

/// The ranges from `before` ticks before to `after` ticks after each moment that a pattern matches. Overlapping ranges are
/// united, and cut off at the recording's ends.
[[nodiscard]] std::vector<tick_range> find_moments(timeline const& all, demo_header const& header,
                                                   std::span<moment_pattern const> patterns, std::int64_t before,
                                                   std::int64_t after);

/// The same in a demo, with seconds. `damage`: set if the demo ends early, so that nothing after it was searched. Throws
/// usage_error if nothing matches in a demo that is whole.
[[nodiscard]] std::vector<tick_range> search_moments(demo_document& demo, std::span<moment_pattern const> patterns,
                                                     double before, double after, std::string& damage);

} // namespace teewire::replay
