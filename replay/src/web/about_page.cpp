#include "web/about_page.hpp"

#include "base/text.hpp"
#include "http/web_request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace teewire::replay {
namespace {

constexpr std::size_t most_players = 16; // that are named

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    return out;
}

std::string description(shown_demo const& demo, std::string_view query) {
    bool const known = demo.index == shown_demo::progress::known;
    std::string out = clock_text(known ? std::int64_t{demo.facts.last_tick} - demo.facts.first_tick
                                       : std::int64_t{std::max(demo.header.length, 0)} * ticks_per_second);
    if (std::string const t = query_value(query, "t"); !t.empty()) out = fmt::format("at {} of {}", t, out);
    if (known && !demo.facts.players.empty()) {
        auto const& players = demo.facts.players;
        std::size_t const named = std::min(players.size(), most_players);
        out += ", with ";
        for (std::size_t n = 0; n < named; ++n) out += (n == 0 ? "" : ", ") + valid_utf8(players[n]);
        if (named < players.size()) out += fmt::format(" and {} more", players.size() - named);
    }
    // "2026-11-22_06-06-57"
    if (std::string_view const date = text(demo.header.timestamp); date.size() == 19 && date[10] == '_')
        out += fmt::format(", recorded {} {}:{}", valid_utf8(date.substr(0, 10)), valid_utf8(date.substr(11, 2)),
                           valid_utf8(date.substr(14, 2)));
    return out;
}

} // namespace

std::string query_value(std::string_view query, std::string_view name) {
    while (!query.empty()) {
        std::string_view const field = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(field.size() + 1, query.size()));
        if (field.size() <= name.size() || !field.starts_with(name) || field[name.size()] != '=') continue;
        std::string value{field.substr(name.size() + 1)};
        std::replace(value.begin(), value.end(), '+', ' ');
        return valid_utf8(decode_path(value).value_or(""));
    }
    return {};
}

std::string page_about(std::string_view page, shown_demo const& demo, std::string_view address,
                       std::string_view picture, std::string_view query) {
    std::string head;
    auto const add = [&](char const* property, std::string_view content) {
        head += fmt::format("\n<meta property=\"{}\" content=\"{}\">", property, escaped(content));
    };
    std::string const map = valid_utf8(text(demo.header.map_name));
    std::string const player = query_value(query, "player");
    add("og:type", "video.other");
    add("og:site_name", "teewire");
    add("og:title", player.empty() ? map : fmt::format("{} on {}", player, map));
    add("og:description", description(demo, query));
    if (!picture.empty()) {
        add("og:image", fmt::format("{}{}", address, picture));
        add("og:image:width", "1200");
        add("og:image:height", "630");
        head += "\n<meta name=\"twitter:card\" content=\"summary_large_image\">";
    }
    constexpr std::string_view before = "</title>";
    std::size_t const at = page.find(before);
    std::string out{page};
    if (at != std::string_view::npos) out.insert(at + before.size(), head);
    return out;
}

} // namespace teewire::replay
