#include "tables/tabulator.hpp"

#include "base/text.hpp"
#include "game/message_fields.hpp"

#include <teewire/message.hpp>

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

// The parts of snapshots and maps: they are in other tables, or in the map.
bool is_left_out(message_type type) {
    using enum message_type;
    return type == snap || type == snap_empty || type == snap_single || type == snap_small || type == map_data ||
           type == input_timing;
}

} // namespace

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
    case event_kind::snapshot:
        if (event.tick <= recording_.last_tick) {
            end();
            begin(recording_info{begun_});
        }
        happenings_->put(event);
        return take_snapshot(event);
    case event_kind::message: take_message(event); break;
    case event_kind::lost: ++recording_.lost; break;
    case event_kind::tick: break;
    }
    if (happenings_) happenings_->put(event);
}

void tabulator::finish() { end(); }

void tabulator::begin(recording_info const& info) {
    begun_ = info;
    begun_.map_bytes = {};
    recording_ = {};
    recording_.version = info.version;
    recording_.map = info.map;
    recording_.began = info.began;
    recording_.part = parts_++;
    open_ = true;
    rows_.items.begin(recording_.version);
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
    if (recording_.first_tick < 0) recording_.first_tick = event.tick;
    ++recording_.snapshots;
    rows_.ticks.push_back({event.tick, event.keyframe});
    rows_.items.add(event.tick, event.state);
    bool const empty = event.state.empty(); // the client is not in the game yet
    update_players(event.tick, empty ? std::span<present_player const>{} : happenings_->now().players);
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
}

// Does something only when a player came, left or changed the name.
void tabulator::update_players(std::int32_t tick, std::span<present_player const> present) {
    std::uint64_t const version = std::exchange(names_version_, happenings_->names_version());
    bool const same = version == names_version_ &&
                      std::equal(present.begin(), present.end(), players_.begin(), players_.end(),
                                 [](present_player const& p, auto const& row) { return p.client_id == row.first; });
    if (same) return;

    for (present_player const& p : present) {
        name_table::identity const* const known = happenings_->names().find(p.client_id);
        std::string const name = known != nullptr ? known->name : std::string{};
        std::string const clan = known != nullptr ? known->clan : std::string{};
        auto const [found, is_new] = players_.try_emplace(p.client_id);
        player_row& row = found->second;
        if (!is_new) {
            if (row.name == name && row.clan == clan) continue;
            row.last_tick = recording_.last_tick;
            rows_.players.push_back(row);
        }
        row = {p.client_id, tick, tick, name, clan};
    }
    for (auto entry = players_.begin(); entry != players_.end();) {
        auto const is_it = [&](present_player const& p) { return p.client_id == entry->first; };
        if (std::any_of(present.begin(), present.end(), is_it)) {
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
