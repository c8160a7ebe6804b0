#include "edit/around.hpp"

#include "base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <regex.h>

namespace teewire::replay {
namespace {

bool is_speech(game_event const& e) {
    using enum game_event_kind;
    return e.kind == chat || e.kind == team_chat || e.kind == whisper || e.kind == server_message ||
           (e.kind == finish && !e.text.empty()); // announced in the chat
}

} // namespace

// Uses the C library's expressions, because their stack does not grow with the text.
struct expression {
    explicit expression(std::string const& text) {
        int const error = ::regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
        if (error == 0) return;
        std::array<char, 128> reason{};
        ::regerror(error, &compiled, reason.data(), reason.size());
        throw usage_error{fmt::format("--around: chat:{}: {}", text, reason.data())};
    }
    expression(expression const&) = delete;
    expression& operator=(expression const&) = delete;
    ~expression() { ::regfree(&compiled); }

    regex_t compiled{};
};

moment_pattern::moment_pattern(std::string const& text) {
    constexpr std::string_view chat = "chat:", join = "join:";
    if (text.starts_with(chat)) {
        kind_ = game_event_kind::chat;
        expression_ = std::make_shared<expression const>(text.substr(chat.size()));
    } else if (text.starts_with(join)) {
        kind_ = game_event_kind::join;
        name_ = text.substr(join.size());
    } else if (text == "kill") {
        kind_ = game_event_kind::kill;
    } else if (text == "finish") {
        kind_ = game_event_kind::finish;
    } else if (text != "marker") {
        throw usage_error{fmt::format("--around: {} is not {}", text, moment_forms)};
    }
}

bool moment_pattern::matches(timeline_event const& event) const {
    using enum game_event_kind;
    switch (kind_) {
    case chat:
        return is_speech(event.event) && ::regexec(&expression_->compiled, event.text.c_str(), 0, nullptr, 0) == 0;
    case join: return event.event.kind == join && event.event.client && event.event.client->name == name_;
    case kill: return is_kill_by_another(event.event);
    case finish: return event.event.kind == finish;
    default: return false;
    }
}

std::vector<tick_range> find_moments(timeline const& all, demo_header const& header,
                                     std::span<moment_pattern const> patterns, std::int64_t before,
                                     std::int64_t after) {
    std::vector<tick_range> found;
    auto const add = [&](std::int32_t tick) {
        found.push_back({static_cast<std::int32_t>(std::max<std::int64_t>(tick - before, 0)),
                         static_cast<std::int32_t>(std::min<std::int64_t>(tick + after, INT32_MAX))});
    };
    auto const any = [&](auto const& matches) { return std::any_of(patterns.begin(), patterns.end(), matches); };
    for (timeline_event const& event : all.events)
        if (any([&](moment_pattern const& p) { return p.matches(event); })) add(event.tick);
    if (any([](moment_pattern const& p) { return p.matches_markers(); }))
        for (std::int32_t const tick : header.markers())
            if (tick >= all.first_tick && tick <= all.last_tick) add(tick);
    return unite(std::move(found));
}

} // namespace teewire::replay
