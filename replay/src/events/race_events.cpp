#include "events/race_events.hpp"

#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

// Some messages have hundredths of a second, others thousandths.
bool same_time(game_event const& a, game_event const& b) {
    return a.time && b.time && *a.time / 10 == *b.time / 10;
}

} // namespace

void race_events::receive(race_news const& news) {
    using kind = race_news::kind;
    game_event e = game_.make(news.what == kind::finish       ? finish
                              : news.what == kind::checkpoint ? checkpoint
                                                              : best_times,
                              evidence::observed);
    if (std::int32_t const id = news.client_id.value_or(game_.racer); id >= 0) e.client = game_.who(id);
    e.time = news.time;
    e.difference = news.difference;
    e.record = news.server_record     ? race_record::server
               : news.personal_record ? race_record::personal
                                      : race_record::none;
    if (e.kind == best_times) {
        e.time = news.own_best;
        e.server_time = news.server_best;
    }
    if (!e.client && e.kind == best_times)
        if (auto const* const finished = pending_.find(
                game_.tick, [&](game_event const& f) { return f.kind == finish && f.client && same_time(f, e); }))
            e.client = finished->client;
    if (e.client) e.where = game_.last_position(e.client->client_id);
    if (e.kind == finish) add_finish(std::move(e));
    else pending_.add_once(std::move(e));
}

void race_events::receive(announcement const& announced, std::string_view words) {
    game_event e = game_.make(finish, evidence::observed);
    e.client = game_.named(announced.name);
    e.time = announced.time;
    e.text = words;
    add_finish(std::move(e));
}

// Servers say it in up to three ways in the same tick: to the client itself, to all, and in the chat.
void race_events::add_finish(game_event e) {
    game_event* const known = pending_.find(game_.tick, [&](game_event const& other) {
        if (other.kind != finish) return false;
        if (!other.client || !e.client) return same_time(other, e);
        return other.client->name == e.client->name;
    });
    if (known == nullptr) {
        name_best_times(e);
        pending_.add(std::move(e));
        return;
    }
    if (!known->client) known->client = e.client;
    if (!known->where) known->where = e.where;
    if (!known->difference) known->difference = e.difference;
    if (!known->time || *known->time % 10 == 0) known->time = e.time;
    known->record = std::max(known->record, e.record);
    if (e.text.empty()) known->text.clear();
    name_best_times(*known);
}

// A server's recording holds them without the client that they were sent to. After a record, its time is theirs.
void race_events::name_best_times(game_event const& of) {
    if (!of.client) return;
    game_event* const best = pending_.find(game_.tick, [&](game_event const& other) {
        return other.kind == best_times && !other.client && same_time(other, of);
    });
    if (best == nullptr) return;
    best->client = of.client;
    best->where = of.where;
}

} // namespace teewire::replay
