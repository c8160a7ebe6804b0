#include "edit/around.hpp"

#include "base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <regex.h>

namespace teewire::replay {

// The system's, whose matching needs no stack that grows with the text.
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
        kind_ = timeline_kind::chat;
        expression_ = std::make_shared<expression const>(text.substr(chat.size()));
    } else if (text.starts_with(join)) {
        kind_ = timeline_kind::join;
        line_ = text.substr(join.size()) + " joined";
    } else if (text == "kill") {
        kind_ = timeline_kind::kill;
    } else if (text == "finish") {
        kind_ = timeline_kind::finish;
    } else if (text == "marker") {
        markers_ = true;
    } else {
        throw usage_error{fmt::format("--around: {} is not {}", text, moment_forms)};
    }
}

bool moment_pattern::matches(timeline_event const& event) const {
    if (markers_ || event.kind != kind_) return false;
    if (expression_) return ::regexec(&expression_->compiled, event.text.c_str(), 0, nullptr, 0) == 0;
    return kind_ != timeline_kind::join || event.text == line_;
}

std::vector<tick_range> find_moments(timeline const& what, demo_header const& header,
                                     std::span<moment_pattern const> patterns, std::int64_t before,
                                     std::int64_t after) {
    std::vector<tick_range> found;
    auto const add = [&](std::int32_t tick) {
        found.push_back({static_cast<std::int32_t>(std::max<std::int64_t>(tick - before, 0)),
                         static_cast<std::int32_t>(std::min<std::int64_t>(tick + after, INT32_MAX))});
    };
    auto const any = [&](auto const& matches) { return std::any_of(patterns.begin(), patterns.end(), matches); };
    for (timeline_event const& event : what.events)
        if (any([&](moment_pattern const& p) { return p.matches(event); })) add(event.tick);
    if (any([](moment_pattern const& p) { return p.matches_markers(); }))
        for (std::int32_t const tick : header.markers())
            if (tick >= what.first_tick && tick <= what.last_tick) add(tick);
    return unite(std::move(found));
}

} // namespace teewire::replay
