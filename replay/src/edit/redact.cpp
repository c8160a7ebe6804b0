#include "edit/redact.hpp"

#include "base/interrupts.hpp"
#include "game/item_text.hpp"
#include "game/message_texts.hpp"

#include <algorithm>
#include <array>

namespace teewire::replay {
namespace {

std::string text_of(std::span<std::int32_t const> ints) {
    std::array<char, 4 * UINT8_MAX> out;
    return std::string{decode_text(ints, out)};
}

// A text of an item; empty if it has none.
std::string text_of(std::span<std::int32_t const> data, object const& known, field_content content) {
    for (field const& f : known.fields)
        if (f.content == content && f.offset + std::size_t{f.ints} <= data.size())
            return text_of(data.subspan(f.offset, f.ints));
    return {};
}

bool holds(message_layout const& layout, field_content content) {
    return std::any_of(layout.fields.begin(), layout.fields.end(),
                       [&](message_field const& f) { return f.content == content; });
}

std::optional<std::int32_t> client_of(message_layout const& layout, message const& m) {
    unpacker in{m.fields};
    for (message_field const& f : layout.fields) {
        if (f.name == "client_id") {
            std::int32_t const id = in.read_int();
            return in.ok() ? std::optional{id} : std::nullopt;
        }
        for (std::size_t i = 0; i < f.count; ++i) skip(f, in);
    }
    return {};
}

// Whether a message is worth keeping without its texts.
bool says_more_than_words(message_type type) {
    switch (type) {
    case message_type::server_info:
    case message_type::map_details:
    case message_type::vote_set:
    case message_type::client_drop:
    case message_type::demo_client_leave: return true;
    default: return false;
    }
}

} // namespace

std::string_view name(redaction_reason reason) noexcept {
    constexpr std::string_view names[] = {"chat",    "server",     "secret",    "snapshot",
                                          "unknown", "unreadable", "unstorable"};
    return names[static_cast<std::size_t>(reason)];
}

std::uint64_t redacted::count(redaction_reason reason) const noexcept {
    std::uint64_t n = 0;
    for (auto const& [why, count] : left_out) n += why.first == reason ? count : 0;
    return n;
}

redactor::redactor(demo_document& demo, redaction const& what) : demo_{demo}, what_{what}, people_{what} {}

void redactor::learn(snapshot_view state) {
    for (item const i : state) {
        object const* const known = i.type() < first_alias ? find_object(demo_.item_protocol(), i.type()) : nullptr;
        if (known == nullptr || known->name != "client_info") continue;
        std::string name = text_of(i.data, *known, field_content::player);
        people_.learn(name, text_of(i.data, *known, field_content::clan));
        present_[i.id()] = std::move(name);
    }
}

// 0.7's servers name players in messages, and so do its demos when one comes or leaves.
void redactor::meet(message_type type, message_layout const& layout, message const& m) {
    if (type != message_type::client_info && type != message_type::demo_client_enter &&
        type != message_type::demo_client_leave)
        return;
    auto const known = decode_game_message(m, messages_of(demo_.item_protocol()));
    if (auto const id = client_of(layout, m); id && known && !known->name.empty()) present_[*id] = known->name;
}

void redactor::learn(std::span<std::uint8_t const> message) {
    protocol const p = messages_of(demo_.item_protocol());
    auto const m = parse_message(message);
    if (!m) return;
    message_type const type = identify(*m, p);
    auto const layout = find_layout(type, p);
    if (!layout || !holds(*layout, field_content::player)) return;
    meet(type, *layout, *m);
    std::string name;
    std::string clan;
    static_cast<void>(rewrite_texts(message, p, [&](message_field const& f, std::string_view text) {
        if (f.content == field_content::player) name = text;
        if (f.content == field_content::clan) clan = text;
        return std::string{};
    }));
    people_.learn(name, clan);
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
            learn(state);
            if (first < 0) first = tick;
            last = tick;
            progress(player.position());
        },
        [&](std::span<std::uint8_t const> message) { learn(message); });
    length_ = static_cast<std::int32_t>((std::int64_t{last} - first) / ticks_per_second);
    error_ = demo_.error_text(player.error());
    people_.finish();
    present_.clear();
}

// Null if the tables do not have it.
object const* redactor::find_known(snapshot_view state, std::uint16_t type) {
    if (type < first_alias) return find_object(demo_.item_protocol(), type);
    auto const found =
        std::find_if(aliases_.begin(), aliases_.end(), [&](auto const& a) { return a.first == type; });
    if (found != aliases_.end()) return found->second;
    auto const id = type <= last_alias ? find_extended_type(state, type) : std::nullopt;
    return aliases_.emplace_back(type, id ? find_object(*id) : nullptr).second;
}

void redactor::change(std::span<std::int32_t> data, object const& known) {
    std::string const owner = text_of(data, known, field_content::player);
    for (field const& f : known.fields) {
        if (f.kind != field_kind::text) continue;
        for (std::size_t n = 0; n < f.count; ++n) {
            std::size_t const begin = f.offset + n * f.ints;
            if (begin >= data.size()) return;
            auto const ints = data.subspan(begin, std::min<std::size_t>(f.ints, data.size() - begin));
            std::string const text = text_of(ints);
            std::string const changed = f.content == field_content::player ? people_.name(text)
                                        : f.content == field_content::clan ? people_.clan(text, owner)
                                        : f.content == field_content::skin ? people_.skin(text, owner, f.count > 1)
                                                                           : std::string{};
            if (f.content == field_content::skin && changed != text) skins_.insert(text);
            // This clears the ints after the end of the text as well.
            if (changed != text || people_.concerns(owner)) encode_text(changed, ints);
        }
    }
}

snapshot_view redactor::change(snapshot_view state, redacted& counts) {
    aliases_.clear();
    offsets_.clear();
    items_.clear();
    for (item const i : state) {
        bool const describes = i.type() == type_ex;
        object const* const known = !describes              ? find_known(state, i.type())
                                    : i.id() >= first_alias ? find_known(state, i.id())
                                                            : nullptr;
        if (known == nullptr && !what_.keep_unknown) {
            // The item that describes an unknown type is not counted beside the items of that type.
            if (!describes) ++counts.left_out[{unknown, name_type(state, i.type(), demo_.item_protocol()).text}];
            continue;
        }
        offsets_.push_back(static_cast<std::int32_t>(4 * items_.size()));
        items_.push_back(i.key);
        std::size_t const begin = items_.size();
        items_.insert(items_.end(), i.data.begin(), i.data.end());
        if (known == nullptr) continue;
        if (describes) {
            items_.resize(begin + std::min<std::size_t>(i.data.size(), 4)); // the UUID
            continue;
        }
        std::span const data = std::span{items_}.subspan(begin);
        change(data, *known);
        // Newer programs append ints to items of extended types, and receivers take those of any size.
        if (what_.keep_unknown || data.size() <= known->ints) continue;
        ++counts.emptied[{unknown, std::string{known->name}}];
        if (i.type() >= first_alias) items_.resize(begin + known->ints);
        else std::fill(data.begin() + known->ints, data.end(), 0);
    }
    whole_ = {static_cast<std::int32_t>(4 * items_.size()), static_cast<std::int32_t>(offsets_.size())};
    whole_.insert(whole_.end(), offsets_.begin(), offsets_.end());
    whole_.insert(whole_.end(), items_.begin(), items_.end());
    return snapshot_view::trusted(whole_, state.distinct_keys());
}

// Whether a text is left out.
bool redactor::goes(field_content content, std::optional<std::int32_t> author, std::string_view text) const {
    if (content == field_content::server)
        return what_.server && (!what_.players || people_.without_names(text) != text);
    if (content != field_content::words || !what_.chat) return false;
    auto const who = author ? present_.find(*author) : present_.end();
    // Text of an unknown author is left out.
    return who == present_.end() || people_.concerns(who->second);
}

std::optional<redactor::message_bytes> redactor::change(std::span<std::uint8_t const> message, redacted& counts) {
    protocol const p = messages_of(demo_.item_protocol());
    auto const m = parse_message(message);
    message_type const type = m ? identify(*m, p) : message_type::unknown;
    auto const layout = m ? find_layout(type, p) : std::nullopt;
    auto const leave_out = [&](redaction_reason reason) {
        ++counts.left_out[{reason, m ? name_message(*m, type) : "message"}];
        return std::nullopt;
    };
    if (!m) return leave_out(unreadable);
    if (!layout) {
        if (what_.keep_unknown) return message_bytes{message.begin(), message.end()};
        return leave_out(unknown);
    }
    meet(type, *layout, *m);
    if (holds(*layout, field_content::secret)) return leave_out(secret);
    if (holds(*layout, field_content::snapshot)) return leave_out(snapshot);

    auto const client = client_of(*layout, *m);
    std::string owner = client && present_.contains(*client) ? present_[*client] : std::string{};
    std::optional<redaction_reason> gone;
    std::uint64_t emptied[2] = {};
    auto changed = rewrite_texts(message, p, [&](message_field const& f, std::string_view text) -> std::string {
        switch (f.content) {
        case field_content::none:
        case field_content::map:
        case field_content::fixed: return std::string{text};
        case field_content::player: owner = text; return people_.name(text);
        case field_content::clan: return people_.clan(text, owner);
        case field_content::skin: {
            std::string skin = people_.skin(text, owner, f.count > 1);
            if (skin != text) skins_.emplace(text);
            return skin;
        }
        case field_content::words:
        case field_content::server: {
            // Chat of no player is the server's.
            bool const by_server =
                f.content == field_content::server || (type == message_type::chat && client && *client < 0);
            if (text.empty() || !goes(by_server ? field_content::server : field_content::words, client, text))
                return people_.without_names(text);
            ++emptied[by_server];
            if (!says_more_than_words(type)) gone = by_server ? server : chat;
            return {};
        }
        case field_content::secret:
        case field_content::snapshot: break;
        }
        return {};
    });
    if (!changed) return leave_out(unreadable);
    if (gone) return leave_out(*gone);
    for (bool const by_server : {false, true})
        if (emptied[by_server] > 0)
            counts.emptied[{by_server ? server : chat, name_message(*m, type)}] += emptied[by_server];
    return changed;
}

redacted redactor::write(output_file& out, std::function<void(std::uint64_t)> const& progress) {
    redacted counts;
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player = make_player(*memory);
    demo_header header = demo_.header();
    header.length = length_; // a stream cannot be corrected later
    demo_output to{out, header, demo_.map(), *demo_.sizes().sizes};
    play(
        player,
        [&](std::int32_t tick, snapshot_view state) {
            learn(state);
            if (!to.write_snapshot(tick, change(state, counts))) ++counts.left_out[{unstorable, "snapshot"}];
            progress(player.position());
        },
        [&](std::span<std::uint8_t const> message) {
            auto const changed = change(message, counts);
            if (changed && !to.write_message(*changed)) ++counts.left_out[{unstorable, "message"}];
        });
    static_cast<void>(to.finish(demo_.header().markers()));
    counts.names = people_.replaced_names();
    counts.clans = people_.replaced_clans();
    counts.skins = skins_.size();
    return counts;
}

} // namespace teewire::replay
