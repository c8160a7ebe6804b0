#include "cli/times.hpp"

#include <teewire/demo_format.hpp>

#include <boost/lexical_cast/try_lexical_convert.hpp>

#include <algorithm>
#include <cmath>

namespace teewire::replay {
namespace {

constexpr double max_seconds = 1e8; // three years, of which the ticks are still far from any limit

bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "12", "12.5". Not every std::from_chars knows fractions, and lexical_cast takes "1e5" and "inf" too.
std::optional<double> parse_number(std::string_view text) {
    std::size_t const point = text.find('.');
    bool const plain = all_digits(text.substr(0, point)) &&
                       (point == std::string_view::npos || all_digits(text.substr(point + 1)));
    double value = 0;
    if (!plain || !boost::conversion::try_lexical_convert(text.data(), text.size(), value)) return {};
    return value;
}

// "m:ss", "h:mm:ss", the seconds with a fraction or without.
std::optional<double> parse_clock(std::string_view text) {
    double seconds = 0;
    for (int parts = 0;; ++parts) {
        std::size_t const colon = text.find(':');
        if (colon == std::string_view::npos) {
            auto const last = parse_number(text);
            if (parts == 0 || !last || *last >= 60) return {};
            return seconds * 60 + *last;
        }
        auto const part = all_digits(text.substr(0, colon)) ? parse_number(text.substr(0, colon)) : std::nullopt;
        if (parts == 2 || !part || (parts == 1 && *part >= 60)) return {};
        seconds = seconds * 60 + *part;
        text.remove_prefix(colon + 1);
    }
}

// "12.5s" or a clock.
std::optional<double> parse_seconds(std::string_view text) {
    auto const seconds = text.ends_with('s') ? parse_number(text.substr(0, text.size() - 1)) : parse_clock(text);
    return seconds && *seconds <= max_seconds ? seconds : std::nullopt;
}

} // namespace

std::int32_t time_position::tick(std::int32_t first, std::int32_t last) const noexcept {
    std::int64_t const at = from == origin::tick        ? ticks
                            : from == origin::beginning ? first + ticks
                                                        : std::max<std::int64_t>(first, last - ticks);
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(at, 0, INT32_MAX));
}

std::optional<time_position> parse_position(std::string_view text) {
    using enum time_position::origin;
    if (all_digits(text)) {
        std::int32_t number = 0;
        if (!boost::conversion::try_lexical_convert(text.data(), text.size(), number)) return {};
        return time_position{tick, number};
    }
    bool const backwards = text.starts_with('-');
    auto const seconds = parse_seconds(text.substr(backwards ? 1 : 0));
    if (!seconds) return {};
    return time_position{backwards ? end : beginning, std::llround(*seconds * ticks_per_second)};
}

std::optional<double> parse_duration(std::string_view text) {
    auto const plain = parse_number(text);
    auto const seconds = plain ? plain : parse_seconds(text);
    return seconds && *seconds > 0 && *seconds <= max_seconds ? seconds : std::nullopt;
}

} // namespace teewire::replay
