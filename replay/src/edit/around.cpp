#include "edit/around.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace teewire::replay {
namespace {

bool is_speech(game_event const& e) {
    using enum game_event_kind;
    return e.kind == chat || e.kind == team_chat || e.kind == whisper || e.kind == server_message ||
           (e.kind == finish && !e.text.empty()); // announced in the chat
}

} // namespace

moment_pattern::moment_pattern(std::string const& text) {
    enum class detail : std::uint8_t { none, optional, required };
    struct form {
        std::string_view word;
        game_event_kind kind;
        detail after;
    };
    static constexpr form forms[] = {{"chat", game_event_kind::chat, detail::required},
                                     {"join", game_event_kind::join, detail::required},
                                     {"kill", game_event_kind::kill, detail::optional},
                                     {"finish", game_event_kind::finish, detail::optional},
                                     {"marker", game_event_kind::marker, detail::none}};
    auto const colon = text.find(':');
    bool const has_detail = colon != std::string::npos;
    auto const* const found = std::find_if(std::begin(forms), std::end(forms), [&](form const& f) {
        return f.word == std::string_view{text}.substr(0, colon) &&
               f.after != (has_detail ? detail::none : detail::required);
    });
    if (found == std::end(forms)) throw usage_error{fmt::format("--around: {} is not {}", text, moment_forms)};
    kind_ = found->kind;
    if (!has_detail) return;
    if (kind_ != game_event_kind::chat) {
        name_ = text.substr(colon + 1);
        return;
    }
    try {
        expression_ = std::make_shared<os::expression const>(text.substr(colon + 1));
    } catch (std::invalid_argument const& e) {
        throw usage_error{fmt::format("--around: {}: {}", text, e.what())};
    }
}

bool moment_pattern::matches(timeline_event const& event) const {
    using enum game_event_kind;
    auto const& client = event.event.client;
    bool const is_named = !name_ || (client && client->name == *name_);
    switch (kind_) {
    case chat: return is_speech(event.event) && expression_->is_in(event.text);
    case join: return event.event.kind == join && is_named;
    case kill: return is_kill_by_another(event.event) && is_named;
    case finish: return event.event.kind == finish && is_named;
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

std::vector<tick_range> search_moments(demo_document& demo, std::span<moment_pattern const> patterns, double before,
                                       double after, std::string& damage) {
    timeline const all = read_timeline(demo);
    damage = all.error;
    auto const ticks = [](double seconds) { return std::llround(seconds * ticks_per_second); };
    auto found = find_moments(all, demo.header(), patterns, ticks(before), ticks(after));
    if (found.empty() && damage.empty() && !interrupted())
        throw usage_error{fmt::format("{}: nothing matches --around", demo.name())};
    return found;
}

} // namespace teewire::replay
