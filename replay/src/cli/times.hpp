// Times as users type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teewire::replay {

/// A position in a recording: a tick, or a number of ticks from its beginning or its end.
struct time_position {
    enum class origin : std::uint8_t { tick, beginning, end };

    origin from = origin::tick;
    std::int64_t ticks = 0; ///< from there; backwards from the end

    /// The tick in a recording from `first` to `last`. A position before the beginning gives `first`. One past the
    /// end, or a tick, is not changed, except that ticks end at INT32_MAX.
    [[nodiscard]] std::int32_t tick(std::int32_t first, std::int32_t last) const noexcept;
};

/// "4711": a tick. "12.5s", "1:23.4", "1:02:03": from the beginning. The same with "-" in front: from the end.
[[nodiscard]] std::optional<time_position> parse_position(std::string_view text);
inline constexpr char const* position_forms =
    "a tick (4711), seconds (12.5s), a time (1:23.4), or one of these last two "
    "from the end (-0:10)";

/// "60", "60s", "1:30", "1:00:00": seconds, more than 0.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);
inline constexpr char const* duration_forms = "seconds (60 or 60s) or a time (1:30)";

/// For --help.
inline constexpr char const* position_note = "TIME is a tick (4711), seconds (12.5s), or minutes and seconds "
                                             "(1:23.4). With a minus sign, seconds and minutes "
                                             "count from the end (-0:10).";
inline constexpr char const* duration_note = "DURATION is in seconds (60 or 60s), or minutes and seconds (1:30).";

} // namespace teewire::replay
