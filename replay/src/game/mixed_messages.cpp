#include "game/mixed_messages.hpp"

#include "game/message_fields.hpp"

#include <teewire/packer.hpp>

namespace teewire::replay {
namespace {

using protocol::teeworlds_07;

// 0.6 has the mode, the client and the text; 0.7 has the client that is meant before the text, which is -1 for all and in
// 0.6 looks like an '@'.
bool is_chat_07(unpacker in) noexcept {
    constexpr std::int32_t all = 1, team = 2, whisper = 3;
    constexpr std::uint8_t none = 0x40, first_printable = 0x20;
    std::int32_t const mode = in.read_int();
    static_cast<void>(in.read_int());
    if (!in.ok() || in.rest().empty()) return false;
    std::uint8_t const next = in.rest().front();
    if (mode == all || mode == team) return next == none;
    return mode == whisper && next < first_printable;
}

// 0.6: a killer, a victim, a weapon and what was special, which is at most 3. 0.7: a client, its team, whether that is
// silent, and the tick until which it may not change again.
bool is_team_07(unpacker in) noexcept {
    constexpr std::int32_t most_special = 3;
    for (int i = 0; i < 3; ++i) static_cast<void>(in.read_int());
    std::int32_t const last = in.read_int();
    return in.ok() && last > most_special;
}

// 0.6 has one int, the sound.
bool is_kill_07(unpacker in) noexcept {
    for (int i = 0; i < 4; ++i) static_cast<void>(in.read_int());
    return in.ok();
}

// 0.6: the seconds, what is voted on, and why. 0.7 has the client and the type before these.
bool is_vote_07(unpacker in) noexcept {
    unpacker as_06 = in;
    bool const no_time = as_06.read_int() < 0;
    std::string_view const subject = as_06.read_string();
    bool const has_int = !subject.empty() && static_cast<unsigned char>(subject.front()) < 0x20;
    std::int32_t const client = in.read_int(), type = in.read_int(), seconds = in.read_int();
    static_cast<void>(in.read_string());
    static_cast<void>(in.read_string());
    constexpr std::int32_t most_types = 7;
    return in.ok() && (no_time || has_int || subject.empty()) && client >= -1 && type >= 0 && type < most_types &&
           seconds >= 0 && (no_time || has_int || seconds > 0);
}

} // namespace

// The number of 0.7's server_info says in 0.6 that the client is ready, without a field; that of its snap_single is nothing
// that 0.6 sends.
void mixed_messages::see(message const& system) noexcept {
    if (items_ == teeworlds_07 || has_07_) return;
    constexpr std::size_t padding = 3;
    message_type const type = identify(system, teeworlds_07);
    has_07_ = (type == message_type::server_info && !system.fields.empty() && system.fields.front() != 0) ||
              (type == message_type::snap_single && system.fields.size() > padding);
}

protocol mixed_messages::protocol_of(message const& m) const noexcept {
    if (!has_07_ || m.id == 0) return items_; // extended ones are the same in both
    auto const is_of_server = [&](protocol p) {
        auto const layout = find_layout(identify(m, p), p);
        return layout && layout->sender != message_sender::client;
    };
    unpacker const in{m.fields};
    bool is_07 = false;
    switch (identify(m, teeworlds_07)) {
    case message_type::chat: is_07 = is_chat_07(in); break;
    case message_type::team: is_07 = is_team_07(in); break;
    case message_type::kill: is_07 = is_kill_07(in); break;
    case message_type::vote_set: is_07 = is_vote_07(in); break;
    default: is_07 = is_of_server(teeworlds_07) && !is_of_server(messages_of(items_));
    }
    return is_07 ? teeworlds_07 : items_;
}

} // namespace teewire::replay
