#include "tables/tabulator.hpp"

#include "base/text.hpp"
#include "game/message_fields.hpp"

#include <teewire/message.hpp>

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

// What snapshots are made of, and pieces of maps: they are in other tables, or in the map.
bool is_left_out(message_type type) {
    using enum message_type;
    return type == snap || type == snap_empty || type == snap_single || type == snap_small || type == map_data ||
           type == input_timing;
}

std::size_t table_named(std::string_view name) {
    auto const& all = item_tables();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](item_table const& t) { return t.name == name; }) - all.begin());
}

} // namespace

event_cells::event_cells(game_event const& e) {
    if (e.tick >= 0) tick = e.tick;
    if (e.client) {
        client = e.client->client_id;
        name = e.client->name;
    }
    if (e.target) {
        target = e.target->client_id;
        target_name = e.target->name;
    }
    if (e.weapon) weapon = weapon_text(*e.weapon);
    if (e.client_seen) killer_seen = static_cast<std::int32_t>(*e.client_seen);
    record = replay::name(e.record);
    if (e.where) {
        x = e.where->x;
        y = e.where->y;
    }
    text = valid_utf8(e.text);
}

void new_rows::clear() noexcept {
    ticks.clear();
    messages.clear();
    players.clear();
    events.clear();
    items.drop_complete();
}

void tabulator::put(stream_event const& event) {
    switch (event.kind) {
    case event_kind::begin: end(); return begin(*event.begun);
    case event_kind::snapshot: take_snapshot(event); break;
    case event_kind::message: take_message(event); break;
    case event_kind::lost: ++recording_.lost; break;
    case event_kind::tick: break;
    }
    if (happenings_) happenings_->put(event);
}

void tabulator::finish() { end(); }

void tabulator::begin(recording_info const& what) {
    begun_ = what;
    begun_.map_bytes = {};
    recording_ = {};
    recording_.version = what.version;
    recording_.map = what.map;
    recording_.began = what.began;
    recording_.part = parts_++;
    open_ = true;
    rows_.items.begin(recording_.version);
    player_info_ = table_named("player_info");
    client_info_ = table_named("client_info");
    names_ = {};
    players_begun_ = 0;
    player_items_ = 0;
    introduced_ = false;
    to_.begin(recording_);
    happenings_.emplace([this](game_event const& e) {
        rows_.events.push_back(e);
        text_bytes_ += sizeof e + e.text.size();
    });
    stream_event first;
    first.kind = event_kind::begin;
    first.begun = &begun_;
    happenings_->put(first);
}

void tabulator::end() {
    if (!std::exchange(open_, false)) return;
    happenings_->finish();
    rows_.items.close_all();
    for (auto& [id, row] : players_) {
        row.last_tick = recording_.last_tick;
        rows_.players.push_back(std::move(row));
    }
    players_.clear();
    hand_over();
    to_.end(recording_);
}

void tabulator::take_snapshot(stream_event const& event) {
    if (event.tick <= recording_.last_tick) {
        end();
        begin(recording_info{begun_});
    }
    if (recording_.first_tick < 0) recording_.first_tick = event.tick;
    ++recording_.snapshots;
    rows_.ticks.push_back({event.tick, event.keyframe});
    rows_.items.add(event.tick, event.state);
    read_players(event.state, event.tick);
    recording_.last_tick = event.tick;
    if (rows_.items.bytes() + rows_.ticks.size() * sizeof(tick_row) + text_bytes_ <= most_bytes_) return;
    rows_.items.close_gone();
    hand_over();
}

void tabulator::take_message(stream_event const& event) {
    auto const m = parse_message(event.message);
    if (!m) return;
    message_type const type = identify(*m, recording_.version);
    if (is_left_out(type)) return;
    ++recording_.messages;
    message_row& row = rows_.messages.emplace_back(
        message_row{event.tick, name_message(*m, type), fields_json(*m, type, recording_.version)});
    text_bytes_ += sizeof row + row.kind.size() + row.fields.size();
    if (m->system) return;
    if (auto const known = decode_game_message(*m, recording_.version))
        if (auto const who = read_introduction(*known)) {
            names_.add(*who);
            introduced_ = true;
        }
}

// Only when somebody can have come, gone or changed the name.
void tabulator::read_players(snapshot_view state, std::int32_t tick) {
    std::size_t const items = rows_.items.rows(player_info_).taken(tick);
    std::uint64_t const begun = rows_.items.rows(player_info_).begun() + rows_.items.rows(client_info_).begun();
    bool const same = begun == players_begun_ && items == player_items_ && !introduced_;
    players_begun_ = begun;
    player_items_ = items;
    introduced_ = false;
    if (same) return;

    names_.read(state, recording_.version);
    std::vector<std::int32_t> there = read_client_ids(state, recording_.version);
    std::sort(there.begin(), there.end());
    for (std::int32_t const id : there) {
        name_table::identity const* const who = names_.find(id);
        std::string const name = who != nullptr ? who->name : std::string{};
        std::string const clan = who != nullptr ? who->clan : std::string{};
        auto const [found, is_new] = players_.try_emplace(id);
        player_row& row = found->second;
        if (!is_new) {
            if (row.name == name && row.clan == clan) continue;
            row.last_tick = recording_.last_tick;
            rows_.players.push_back(row);
        }
        row = {id, tick, tick, name, clan};
    }
    for (auto entry = players_.begin(); entry != players_.end();) {
        if (std::binary_search(there.begin(), there.end(), entry->first)) {
            ++entry;
            continue;
        }
        entry->second.last_tick = recording_.last_tick;
        rows_.players.push_back(std::move(entry->second));
        entry = players_.erase(entry);
    }
}

void tabulator::hand_over() {
    to_.add(rows_);
    rows_.clear();
    text_bytes_ = 0;
}

} // namespace teewire::replay
