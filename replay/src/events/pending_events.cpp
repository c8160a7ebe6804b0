#include "events/pending_events.hpp"

#include <fmt/format.h>

#include <utility>

namespace teewire::replay {

pending_events::iterator pending_events::add(game_event e) {
    e.seconds = game_.seconds(e.tick);
    auto behind = waiting_.end();
    while (behind != waiting_.begin() && std::prev(behind)->tick > e.tick) --behind;
    return waiting_.insert(behind, std::move(e));
}

void pending_events::add_once(game_event e) {
    auto const id = [](std::optional<participant> const& p) { return p ? p->client_id : -2; };
    std::string line =
        fmt::format("{} {} {} {} {} {} {}", name(e.kind), id(e.client), id(e.target), e.time.value_or(-1),
                    e.difference.value_or(0), e.server_time.value_or(-1), e.text);
    if (game_.one_receiver || told_.insert(std::move(line)).second) add(std::move(e));
}

void pending_events::add_speech(game_event e) {
    if (game_.one_receiver) {
        add(std::move(e));
        return;
    }
    auto& copies = speeches_[{game_.tick, e.kind, e.text}];
    constexpr std::size_t most = 1024; // clients that anybody can be
    for (iterator const other : copies)
        if (other->client->name == e.client->name) return;
    if (copies.size() == most) return;
    copies.push_back(add(std::move(e)));
    if (copies.size() > 1) copies.front()->copied = copies.back()->copied = true;
}

void pending_events::release(std::int64_t tick) {
    using enum game_event_kind;
    while (!waiting_.empty() && (finished_ || waiting_.front().tick < tick)) {
        game_event& first = waiting_.front();
        if (first.copied && game_.ids_differ) unite_copies();
        else if (first.copied && !finished_ && !game_.one_receiver) return;
        tell_(first);
        if (first.kind == chat || first.kind == team_chat || first.kind == whisper || first.kind == emoticon)
            speeches_.erase({first.tick, first.kind, std::move(first.text)});
        waiting_.pop_front();
    }
}

void pending_events::finish() {
    finished_ = true;
    release(INT64_MAX);
}

// The same words were sent under different ids: which client said them cannot be known.
void pending_events::unite_copies() {
    game_event& first = waiting_.front();
    auto const all = speeches_.find({first.tick, first.kind, first.text});
    if (all == speeches_.end()) return; // the first of them was given before
    std::string names = first.client->name;
    for (iterator const copy : all->second) {
        if (copy == waiting_.begin()) continue;
        names += " or " + copy->client->name;
        waiting_.erase(copy);
    }
    speeches_.erase(all);
    first.client = participant{-1, std::move(names)};
}

} // namespace teewire::replay
