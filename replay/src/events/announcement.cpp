#include "events/announcement.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <charconv>

namespace teewire::replay {
namespace {

std::optional<std::int64_t> read_number(std::string_view& text) {
    std::int64_t value = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || value < 0 || value > 1'000'000) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool read_word(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

// "1 minute(s)  2.34 second(s)", "62.345 second(s)", in milliseconds. Nothing may follow: it would be about another time.
std::optional<std::int64_t> read_duration(std::string_view text) {
    auto const skip_spaces = [&] {
        while (text.starts_with(' ')) text.remove_prefix(1);
    };
    skip_spaces();
    std::int64_t minutes = 0;
    auto seconds = read_number(text);
    if (seconds && read_word(text, " minute(s) ")) {
        minutes = *seconds;
        skip_spaces();
        seconds = read_number(text);
    }
    if (!seconds || !read_word(text, ".")) return {};
    constexpr std::size_t most_digits = 3;
    std::size_t const digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > most_digits) return {};
    std::int64_t milliseconds = *read_number(text);
    for (std::size_t n = digits; n < most_digits; ++n) milliseconds *= 10;
    if (text != " second(s)") return {};
    return (minutes * 60 + *seconds) * 1000 + milliseconds;
}

} // namespace

std::optional<announcement> read_announcement(std::string_view text) {
    using enum game_event_kind;
    if (auto const at = text.rfind(" finished in: "); at != std::string_view::npos) {
        std::string_view const name = text.substr(0, at);
        auto const time = read_duration(text.substr(at + 14));
        // DDNet writes "### NAME ..." for a player's /me, and the other in practice mode.
        if (!time || name.empty() || name.starts_with("### ") || name == "Your team would've") return {};
        return announcement{finish, printable(name), {}, time};
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
