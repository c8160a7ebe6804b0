#include "events/vote_events.hpp"

#include <teewire/packer.hpp>

#include <fmt/format.h>

#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

// 0.6 announces the result in the chat.
constexpr std::string_view begin_of_result = "Vote ";
// Only 0.7 has the caller in the message itself. Elsewhere the server says: "'bob' called for vote to kick 'carl' (rude)".
std::string_view read_caller(std::string_view text) {
    if (!text.starts_with('\'')) return {};
    for (std::string_view const words : {"' called vote to ", "' called for vote to "})
        if (auto const end = text.find(words, 1); end != std::string_view::npos) return text.substr(1, end - 1);
    return {};
}
bool is_result(std::string_view text) { return text == "Vote passed" || text == "Vote failed"; }

} // namespace

void vote_events::receive(message const& m, protocol version) {
    unpacker in{m.fields};
    std::int32_t caller = -1, type = 0;
    bool const is_07 = version == protocol::teeworlds_07;
    if (is_07) {
        caller = in.read_int();
        type = in.read_int();
    }
    std::int32_t const timeout = in.read_int();
    std::string_view const description = in.read_string();
    std::string_view const reason = in.read_string();
    if (!in.ok()) return;
    if (timeout > 0) {
        std::string text{description};
        if (!reason.empty()) text += fmt::format(" ({})", reason);
        if (std::exchange(running_, text) ==
            text) { // repeated for each client, and for those who join while it runs
            game_event* const begun = pending_.find(std::int64_t{game_.tick} - lateness, [&](game_event const& e) {
                return e.kind == vote && e.text == text && !e.client;
            });
            if (begun != nullptr && caller >= 0) begun->client = game_.who(caller); // which only 0.7 says
            return;
        }
        game_event e = game_.make(vote, evidence::observed);
        if (caller >= 0) e.client = game_.who(caller);
        else if (called_ == game_.tick) e.client = game_.named(caller_);
        e.text = std::move(text);
        pending_.add_once(std::move(e));
    } else if (!std::exchange(running_, {}).empty()) {
        constexpr std::int32_t aborted = 4, passed = 5, failed = 6;
        game_event e = game_.make(vote_end, evidence::observed);
        e.text = type == aborted ? "aborted" : type == passed ? "passed" : type == failed ? "failed" : "";
        // 0.6 announces the result in the chat, before or after this message.
        if (!is_07)
            if (auto const* const said = pending_.find(game_.tick, [](game_event const& other) {
                    return other.kind == server_message && is_result(other.text);
                }))
                e.text = said->text.substr(begin_of_result.size());
        pending_.add_once(std::move(e));
    }
}

void vote_events::receive(std::string_view text) {
    if (auto const caller = read_caller(text); !caller.empty()) {
        caller_ = caller;
        called_ = game_.tick;
        game_event* const begun =
            pending_.find(game_.tick, [](game_event const& e) { return e.kind == vote && !e.client; });
        if (begun != nullptr) begun->client = game_.named(caller);
    }
    if (!is_result(text)) return;
    game_event* const ended =
        pending_.find(std::int64_t{game_.tick} - lateness, [](auto const& e) { return e.kind == vote_end; });
    if (ended != nullptr) ended->text = text.substr(begin_of_result.size());
}

} // namespace teewire::replay
