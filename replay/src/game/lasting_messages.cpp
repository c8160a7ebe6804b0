#include "game/lasting_messages.hpp"

#include "game/ticks.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace teewire::replay {

// The earlier messages that a message replaces.
enum class lasting_messages::scope : std::uint8_t {
    one,        // the last of its kind
    per_client, // the last of its kind about the same client
    per_name,   // the last of its kind with the same name
    list,       // nothing: each adds to a list
};

struct lasting_messages::rule {
    message_type type;
    message_type kind; // messages of one kind replace each other
    scope replaces = scope::one;
};
constexpr lasting_messages::rule lasting_messages::lasting[] = {
    {motd, motd},
    {server_settings, server_settings},
    {game_info, game_info},
    {tune_params, tune_params},
    {teams_state, teams_state},
    {teams_state_legacy, teams_state},
    {record, record},
    {record_legacy, record},
    {map_info, map_info},
    {vote_set, vote_set},
    {vote_status, vote_status},
    {your_vote, your_vote},
    {vote_option_add, vote_option_add, scope::list},
    {vote_option_list_add, vote_option_add, scope::list},
    {vote_option_remove, vote_option_add, scope::list},
    {command_info, command_info, scope::per_name},
    {command_info_07, command_info, scope::per_name},
    {client_info, client_info, scope::per_client},
    {team, team, scope::per_client},
    {skin_change, skin_change, scope::per_client},
};

// The kinds of messages that another message ends.
struct lasting_messages::ending {
    message_type type;
    message_type kind;
    scope ends = scope::one;
};
constexpr lasting_messages::ending lasting_messages::endings[] = {
    {vote_clear_options, vote_option_add, scope::list},
    {command_info_remove, command_info, scope::per_name},
    {command_info_remove_07, command_info, scope::per_name},
    // A client that comes has no team and skin but those it says.
    {client_info, team, scope::per_client},
    {client_info, skin_change, scope::per_client},
    {client_drop, client_info, scope::per_client},
    {client_drop, team, scope::per_client},
    {client_drop, skin_change, scope::per_client},
    // A vote begins or ends.
    {vote_set, vote_status},
    {vote_set, your_vote},
};

namespace {

// The integer field of that name, and where it is in the fields.
struct found_int {
    std::int32_t value;
    std::size_t begin;
    std::size_t end;
};
std::optional<found_int> find_int(message const& m, message_layout const& layout, std::string_view name) {
    unpacker in{m.fields};
    for (message_field const& f : layout.fields) {
        std::size_t const begin = in.position();
        if (f.name == name) {
            std::int32_t const value = in.read_int();
            return in.ok() ? std::optional{found_int{value, begin, in.position()}} : std::nullopt;
        }
        for (std::size_t i = 0; i < f.count; ++i) skip(f, in);
    }
    return {};
}

std::size_t size_of_fields(message const& m, message_layout const& layout) {
    unpacker in{m.fields};
    for (message_field const& f : layout.fields)
        for (std::size_t i = 0; i < f.count; ++i) skip(f, in);
    return in.ok() ? in.position() : m.fields.size();
}

// Messages of demos are filled up with zeros to a multiple of four bytes.
bool equal_but_for_padding(std::span<std::uint8_t const> a, std::span<std::uint8_t const> b) {
    if (a.size() > b.size()) std::swap(a, b);
    auto const rest = b.subspan(a.size());
    return rest.size() < 4 && std::equal(a.begin(), a.end(), b.begin()) &&
           std::all_of(rest.begin(), rest.end(), [](std::uint8_t x) { return x == 0; });
}

std::string first_text(message const& m) { return std::string{unpacker{m.fields}.read_string()}; }

} // namespace

struct lasting_messages::effect {
    std::optional<rule> begins;
    std::vector<ending> ends;
    std::int32_t client = -1;
    std::string name;
};

lasting_messages::effect lasting_messages::effect_of(std::span<std::uint8_t const> message) const {
    effect e;
    auto const m = parse_message(message);
    if (!m || m->system) return e;
    message_type const type = identify(*m, protocol_);
    auto const layout = find_layout(type, protocol_);
    if (!layout) return e;
    auto const same_type = [&](auto const& r) { return r.type == type; };
    if (auto const* const found = std::find_if(std::begin(lasting), std::end(lasting), same_type);
        found != std::end(lasting)) {
        // A vote without time is the end of one.
        auto const time = type == vote_set ? find_int(*m, *layout, "timeout") : std::nullopt;
        if (type == vote_set && (!time || time->value <= 0)) e.ends.push_back({vote_set, vote_set});
        else e.begins = *found;
    }
    std::copy_if(std::begin(endings), std::end(endings), std::back_inserter(e.ends), same_type);
    if (auto const client = find_int(*m, *layout, "client_id")) e.client = client->value;
    if (!layout->fields.empty() && layout->fields.front().name == "name") e.name = first_text(*m);
    return e;
}

bool lasting_messages::is_about(entry const& e, message_type kind, scope s, effect const& about) {
    return e.type == kind && (s != scope::per_client || e.client == about.client) &&
           (s != scope::per_name || e.name == about.name);
}

void lasting_messages::remove(effect const& ended) {
    bool const replaces = ended.begins && ended.begins->replaces != scope::list;
    if (!replaces && ended.ends.empty()) return; // a list only grows
    auto const goes = [&](entry const& e) {
        bool const gone = (replaces && is_about(e, ended.begins->kind, ended.begins->replaces, ended)) ||
                          std::any_of(ended.ends.begin(), ended.ends.end(),
                                      [&](ending const& x) { return is_about(e, x.kind, x.ends, ended); });
        if (gone) bytes_ -= e.bytes.size();
        return gone;
    };
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), goes), entries_.end());
}

bool lasting_messages::receive(std::int32_t tick, std::span<std::uint8_t const> message) {
    effect e = effect_of(message);
    if (!e.begins && e.ends.empty()) return false;
    // Some servers repeat the tuning each tick. A vote begins again, even with the same words.
    if (e.begins && e.begins->replaces != scope::list && e.begins->kind != vote_set && e.ends.empty()) {
        auto const same = std::find_if(entries_.begin(), entries_.end(), [&](entry const& x) {
            return is_about(x, e.begins->kind, e.begins->replaces, e);
        });
        if (same != entries_.end() &&
            std::equal(message.begin(), message.end(), same->bytes.begin(), same->bytes.end()))
            return false;
    }
    remove(e);
    if (!e.begins || entries_.size() == max_entries || bytes_ + message.size() > max_bytes) return true;
    bytes_ += message.size();
    entries_.push_back({e.begins->kind, e.client, std::move(e.name), tick, {message.begin(), message.end()}});
    return true;
}

void lasting_messages::leave_to(std::span<std::uint8_t const> message) { remove(effect_of(message)); }

bool lasting_messages::holds(std::span<std::uint8_t const> message) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [&](entry const& e) {
        return std::equal(message.begin(), message.end(), e.bytes.begin(), e.bytes.end());
    });
}

bool lasting_messages::repeats(std::int32_t tick, std::span<std::uint8_t const> message) const {
    auto const all = at(tick);
    return std::any_of(all.begin(), all.end(),
                       [&](auto const& in_force) { return equal_but_for_padding(in_force, message); });
}

void lasting_messages::clear() noexcept {
    entries_.clear();
    bytes_ = 0;
}

std::vector<std::vector<std::uint8_t>> lasting_messages::at(std::int32_t tick) const {
    std::vector<std::vector<std::uint8_t>> sent;
    bool voting = false;
    for (entry const& e : entries_) {
        if (e.type == vote_set) {
            auto const m = parse_message(e.bytes);
            auto const layout = find_layout(vote_set, protocol_);
            auto const time = find_int(*m, *layout, "timeout");
            constexpr std::int64_t second = 1000 / tick_time;
            std::int64_t const left = time->value - (std::int64_t{tick} - e.tick + second - 1) / second;
            voting = left > 0;
            if (!voting) continue;
            std::array<std::uint8_t, 5> number{};
            auto const packed = packer{number}.add_int(static_cast<std::int32_t>(left)).finish();
            std::size_t const head = e.bytes.size() - m->fields.size();
            auto const begin = e.bytes.begin() + static_cast<std::ptrdiff_t>(head);
            std::vector<std::uint8_t> changed{e.bytes.begin(), begin + static_cast<std::ptrdiff_t>(time->begin)};
            changed.insert(changed.end(), packed->begin(), packed->end());
            // Without the zeros that fill up messages of demos: others will.
            changed.insert(changed.end(), begin + static_cast<std::ptrdiff_t>(time->end),
                           begin + static_cast<std::ptrdiff_t>(size_of_fields(*m, *layout)));
            sent.push_back(std::move(changed));
        } else if ((e.type != vote_status && e.type != your_vote) || voting) {
            sent.push_back(e.bytes);
        }
    }
    return sent;
}

} // namespace teewire::replay
