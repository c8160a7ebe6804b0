#include "events/race_events.hpp"

#include <utility>

namespace teewire::replay {
namespace {

using enum game_event_kind;

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
    if (e.client) e.where = game_.last_position(e.client->client_id);
    if (e.kind == finish) add_finish(std::move(e));
    else pending_.add_once(std::move(e));
}

void race_events::receive(announcement const& announced, std::string_view words) {
    game_event e = game_.make(finish, evidence::observed);
    e.client = participant{-1, announced.name};
    for (present_player const& p : game_.now.players)
        if (game_.names.name(p.client_id) == announced.name) e.client = game_.who(p.client_id);
    e.time = announced.time;
    e.text = words;
    add_finish(std::move(e));
}

// Servers say it in up to three ways in the same tick: to the client itself, to all, and in the chat.
void race_events::add_finish(game_event e) {
    auto const hundredths = [](game_event const& f) { return f.time.value_or(0) / 10; };
    game_event* const known = pending_.find(game_.tick, [&](game_event const& other) {
        if (other.kind != finish) return false;
        if (!other.client || !e.client) return hundredths(other) == hundredths(e);
        return other.client->name == e.client->name;
    });
    if (known == nullptr) {
        pending_.add(std::move(e));
        return;
    }
    if (!known->client) known->client = e.client;
    if (!known->where) known->where = e.where;
    if (!known->difference) known->difference = e.difference;
    if (!known->time || *known->time % 10 == 0) known->time = e.time;
    known->record = std::max(known->record, e.record);
    if (e.text.empty()) known->text.clear();
}

} // namespace teewire::replay
