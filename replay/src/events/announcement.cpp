#include "events/announcement.hpp"

#include "base/text.hpp"

#include <charconv>

namespace teewire::replay {
namespace {

// "1 minute(s) 2.34 second(s)", in milliseconds.
std::optional<std::int64_t> read_duration(std::string_view text) {
    std::int64_t minutes = 0, seconds = 0, hundredths = 0;
    auto const number = [&](std::int64_t& value, std::string_view unit) {
        while (text.starts_with(' ')) text.remove_prefix(1);
        auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (failed != std::errc{} || value < 0 || value > 1'000'000) return false;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (!text.starts_with(unit)) return false;
        text.remove_prefix(unit.size());
        return true;
    };
    if (!number(minutes, " minute(s) ") || !number(seconds, ".") || !number(hundredths, " second(s)")) return {};
    return (minutes * 60 + seconds) * 1000 + hundredths * 10;
}

} // namespace

std::optional<announcement> read_announcement(std::string_view text) {
    using enum game_event_kind;
    if (auto const at = text.rfind(" finished in: "); at != std::string_view::npos) {
        auto const time = read_duration(text.substr(at + 14));
        if (!time) return {};
        return announcement{finish, printable(text.substr(0, at)), {}, time};
    }
    if (!text.starts_with('\'')) return {};
    if (auto const at = text.rfind("' entered and joined the "); at != std::string_view::npos && at > 0)
        return announcement{join, printable(text.substr(1, at - 1)), {}, {}};
    constexpr std::string_view left = "' has left the game";
    if (auto const at = text.rfind(left); at != std::string_view::npos && at > 0) {
        std::string_view reason = text.substr(at + left.size());
        if (reason.starts_with(" (") && reason.ends_with(')')) reason = reason.substr(2, reason.size() - 3);
        else reason = {};
        return announcement{leave, printable(text.substr(1, at - 1)), std::string{reason}, {}};
    }
    return {};
}

} // namespace teewire::replay
