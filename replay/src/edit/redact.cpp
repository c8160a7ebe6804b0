#include "edit/redact.hpp"

#include "base/interrupts.hpp"
#include "game/item_text.hpp"
#include "game/message_texts.hpp"
#include "game/owned_snapshot.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace teewire::replay {
namespace {

// Shorter names are found only as whole words; otherwise every text would be full of them.
constexpr std::size_t shortest_within_words = 3;

std::string text_of(item const& i, field const& f) {
    std::array<char, 4 * 16> out;
    if (f.offset + f.ints > i.data.size() || f.ints * std::size_t{4} > out.size()) return {};
    return std::string{decode_text(i.data.subspan(f.offset, f.ints), out)};
}

field const* find_field(object const& o, std::string_view name) {
    auto const found =
        std::find_if(o.fields.begin(), o.fields.end(), [&](field const& f) { return f.name == name; });
    return found == o.fields.end() ? nullptr : &*found;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }

// Lines that a server writes itself; of chat only those without a sender.
bool is_server_line(message_type type) {
    switch (type) {
    case message_type::motd:
    case message_type::broadcast:
    case message_type::rcon_line:
    case message_type::server_alert:
    case message_type::moderator_alert: return true;
    default: return false;
    }
}

} // namespace

redactor::redactor(demo_document& demo, redaction const& what)
    : demo_{demo}, what_{what}, client_info_{*find_object(demo.item_protocol(), "client_info")},
      name_field_{find_field(client_info_, "name")}, clan_field_{find_field(client_info_, "clan")} {}

bool redactor::concerns(std::string const& name) const {
    return !name.empty() && !what_.keep.contains(name) && (!what_.players || what_.players->contains(name));
}

void redactor::meet(std::int32_t client_id, std::string_view name, std::string_view clan) {
    person& who = present_[client_id];
    if (who.name == name && who.clan == clan) return;
    who = {std::string{name}, std::string{clan}};
    bool const goes = concerns(who.name);
    if (!who.name.empty()) {
        bool const changes = goes && what_.names;
        auto const [place, is_new] = names_.try_emplace(who.name, who.name);
        if (is_new && changes) place->second = fmt::format("player {}", names_.size());
    }
    // A clan goes with any of its members.
    if (!who.clan.empty() && goes && what_.clans && !clans_.contains(who.clan))
        clans_.emplace(who.clan, fmt::format("clan {}", clans_.size() + 1));
}

void redactor::meet_all(snapshot_view state) {
    for (item const i : state)
        if (i.type() == client_info_.type && !client_info_.is_extended())
            meet(i.id(), text_of(i, *name_field_), text_of(i, *clan_field_));
}

// 0.7's servers say it in messages, and so do its demos of who comes and goes.
void redactor::meet_of(std::span<std::uint8_t const> message) {
    auto const m = parse_message(message);
    if (!m || m->system) return;
    auto const known = decode_game_message(*m, demo_.item_protocol());
    if (!known || known->name.empty()) return;
    if (known->kind == message_kind::client_info || known->kind == message_kind::client_enter ||
        known->kind == message_kind::client_leave)
        meet(known->client_id, known->name, known->clan.empty() ? present_[known->client_id].clan : known->clan);
}

demo_player redactor::make_player(demo_player_memory& memory) const {
    return {demo_.reader(demo_.first_chunk(), demo_.file_size()),
            memory,
            {demo_.sizes().sizes, decoding::lenient, nullptr}};
}

// Plays a demo: `state` gets the tick and the snapshot at each, which may be that of the tick before, and `message` what
// was said then.
template <class State, class Message>
void redactor::play(demo_player& player, State&& state, Message&& message) const {
    std::int32_t tick = -1;
    bool complete = true; // the tick's snapshot was there
    auto const show = [&] {
        complete = true;
        state(tick, player.state());
    };
    for (demo_event event; !interrupted() && player.next(event);) {
        // A tick without a snapshot has that of the one before, and its messages come after it.
        if (event.kind != demo_event_kind::snapshot && !complete && player.has_state()) show();
        switch (event.kind) {
        case demo_event_kind::tick:
            tick = event.tick;
            complete = false;
            break;
        case demo_event_kind::snapshot: show(); break;
        case demo_event_kind::message: message(event.message); break;
        }
    }
    if (!complete && player.has_state() && player.error().what.code == errc::ok) show();
}

void redactor::find_names(std::function<void(std::uint64_t)> const& progress) {
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player = make_player(*memory);
    std::int32_t first = -1;
    std::int32_t last = -1;
    play(
        player,
        [&](std::int32_t tick, snapshot_view state) {
            meet_all(state);
            if (first < 0) first = tick;
            last = tick;
            progress(player.position());
        },
        [&](std::span<std::uint8_t const> message) { meet_of(message); });
    length_ = static_cast<std::int32_t>((std::int64_t{last} - first) / ticks_per_second);
    error_ = demo_.error_text(player.error());
    for (auto const& [name, instead] : names_)
        if (name != instead) longest_first_.push_back(name);
    std::stable_sort(longest_first_.begin(), longest_first_.end(),
                     [](auto a, auto b) { return a.size() > b.size(); });
    present_.clear();
}

std::string redactor::without_names(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        auto const stands_here = [&](std::string_view name) {
            if (!text.substr(at).starts_with(name)) return false;
            if (name.size() >= shortest_within_words) return true;
            std::size_t const end = at + name.size();
            return (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
        };
        auto const found = std::find_if(longest_first_.begin(), longest_first_.end(), stands_here);
        if (found == longest_first_.end()) {
            out += text[at++];
            continue;
        }
        out += names_.find(*found)->second;
        at += found->size();
    }
    return out;
}

snapshot_view redactor::change(snapshot_view state, std::span<std::int32_t> out) const {
    auto const ints = state.ints();
    bool changed = false;
    for (item const i : state) {
        if (i.type() != client_info_.type) continue;
        auto const put = [&](field const& f, auto const& table) {
            std::string const text = text_of(i, f);
            auto const found = table.find(text);
            if (text.empty() || found == table.end() || found->second == text) return;
            if (!changed) std::copy(ints.begin(), ints.end(), out.begin());
            changed = true;
            auto const place = static_cast<std::size_t>(i.data.data() - ints.data()) + f.offset;
            encode_text(found->second, out.subspan(place, f.ints));
        };
        put(*name_field_, names_);
        // A clan stays with those who stay.
        if (concerns(text_of(i, *name_field_))) put(*clan_field_, clans_);
    }
    return changed ? with_data(state, out.first(ints.size())) : state;
}

std::optional<std::vector<std::uint8_t>> redactor::change(std::span<std::uint8_t const> message, redacted& counts) {
    meet_of(message);
    auto const m = parse_message(message);
    if (!m) {
        ++counts.unreadable;
        return {};
    }
    message_type const type = identify(*m, demo_.item_protocol());
    if (auto const chat = type == message_type::chat ? decode<messages::chat>(*m, demo_.item_protocol())
                                                     : result<messages::chat>{failure{errc::truncated, 0}}) {
        bool const by_server = chat->client_id < 0;
        auto const who = present_.find(chat->client_id);
        // The speaker is unknown: better left out than kept.
        bool const goes = by_server || who == present_.end() ? !what_.players : concerns(who->second.name);
        bool const mentions = by_server && without_names(chat->text) != chat->text;
        if ((by_server ? what_.server : what_.chat) && (goes || mentions)) {
            ++(by_server ? counts.server : counts.chat);
            return {};
        }
    } else if (is_server_line(type) && what_.server && !what_.players) {
        ++counts.server;
        return {};
    }
    auto changed =
        rewrite_texts(message, demo_.item_protocol(), [&](std::string_view field, std::string_view text) {
            auto const& exact = field == "clan" ? clans_ : names_;
            if (field == "name" || field == "clan")
                if (auto const found = exact.find(text); found != exact.end()) return found->second;
            return without_names(text);
        });
    if (!changed) ++counts.unreadable;
    return changed;
}

redacted redactor::write(output_file& out, std::function<void(std::uint64_t)> const& progress) {
    redacted counts;
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player = make_player(*memory);
    demo_header header = demo_.header();
    header.length = length_; // a stream cannot be corrected later
    demo_output to{out, header, demo_.map(), *demo_.sizes().sizes};
    std::vector<std::int32_t> ints(max_demo_chunk_ints);
    play(
        player,
        [&](std::int32_t tick, snapshot_view state) {
            meet_all(state);
            counts.refused += !to.write_snapshot(tick, change(state, ints));
            progress(player.position());
        },
        [&](std::span<std::uint8_t const> message) {
            if (auto const changed = change(message, counts)) counts.refused += !to.write_message(*changed);
        });
    static_cast<void>(to.finish(demo_.header().markers()));
    for (auto const& [name, instead] : names_) counts.names += name != instead;
    counts.clans = clans_.size();
    auto const expect = [&](std::set<std::string> const& named) {
        for (std::string const& name : named)
            if (!names_.contains(name)) counts.unknown.insert(name);
    };
    expect(what_.keep);
    if (what_.players) expect(*what_.players);
    return counts;
}

} // namespace teewire::replay
