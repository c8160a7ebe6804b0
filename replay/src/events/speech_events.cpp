#include "events/speech_events.hpp"

#include "base/text.hpp"

#include <utility>

namespace teewire::replay {
namespace {

// As long as clients show a broadcast.
constexpr std::int32_t broadcast_ticks = 10 * ticks_per_second;

bool is_blank(std::string_view text) { return printable(text).find_first_not_of(' ') == std::string::npos; }

} // namespace

void speech_events::chat(game_message const& m, protocol version) {
    using enum game_event_kind;
    if (is_blank(m.text)) return;
    bool const is_07 = version == protocol::teeworlds_07;
    std::int32_t const to_team = is_07 ? 2 : 1;
    game_event e = game_.make(m.team < to_team    ? game_event_kind::chat
                              : m.team == to_team ? team_chat
                                                  : whisper,
                              evidence::observed);
    e.client = game_.who(m.client_id);
    e.text = m.text;
    if (e.kind != whisper) return pending_.add_speech(std::move(e));
    if (is_07) {
        if (m.target >= 0) e.target = game_.who(m.target);
        return add_whisper(std::move(e));
    }
    // 2 comes back to the speaker and names the receiver; 3 is to the receiver.
    constexpr std::int32_t to_speaker = 2;
    if (game_.one_receiver && game_.local >= 0) e.target = game_.who(game_.local);
    if (m.team == to_speaker) std::swap(e.client, e.target);
    add_whisper(std::move(e));
}

// A server's recording holds it once for the speaker and once for the receiver, and each may name the other one only.
void speech_events::add_whisper(game_event e) {
    auto const fits = [](std::optional<participant> const& a, std::optional<participant> const& b) {
        return !a || !b || a->client_id == b->client_id;
    };
    game_event* const same = pending_.find(game_.tick, [&](game_event const& other) {
        return !game_.one_receiver && other.kind == e.kind && other.text == e.text &&
               fits(other.client, e.client) && fits(other.target, e.target);
    });
    if (same == nullptr) {
        pending_.add(std::move(e));
        return;
    }
    if (!same->client) same->client = std::move(e.client);
    if (!same->target) same->target = std::move(e.target);
}

void speech_events::server_message(std::string_view text) { add(game_event_kind::server_message, text); }

void speech_events::broadcast(std::string_view text) {
    if (game_.one_receiver || !is_on_screen(text)) add(game_event_kind::broadcast, text);
}

void speech_events::motd(std::string_view text) {
    if (std::exchange(day_, text) != text) add(game_event_kind::motd, text);
}

void speech_events::add(game_event_kind kind, std::string_view text) {
    if (is_blank(text)) return; // takes the last broadcast away
    game_event e = game_.make(kind, evidence::observed);
    e.text = text;
    pending_.add_once(std::move(e));
}

// Servers send a broadcast to every client by itself, and again to those who come later.
bool speech_events::is_on_screen(std::string_view text) {
    std::erase_if(broadcasts_,
                  [&](auto const& b) { return std::int64_t{game_.tick} - b.second >= broadcast_ticks; });
    auto const [entry, is_new] = broadcasts_.try_emplace(std::string{text}, game_.tick);
    entry->second = game_.tick;
    return !is_new;
}

} // namespace teewire::replay
