#include "events/timeline.hpp"

#include "base/interrupts.hpp"
#include "events/game_event_reader.hpp"
#include "recording/demo/demo_stream.hpp"

#include <set>

namespace teewire::replay {
namespace {

// What of the events is worth a line, and which.
class timeline_lines {
public:
    explicit timeline_lines(timeline& out) : out_{out} {}

    void add(game_event const& event) {
        auto const kind = kind_of(event);
        if (!kind) return;
        if (tick_ != event.tick) lines_.clear();
        tick_ = event.tick;
        std::string text = to_text(event);
        if (lines_.insert(text).second) out_.events.push_back({event.tick, std::move(text), *kind});
    }

private:
    static std::optional<timeline_kind> kind_of(game_event const& event) {
        using enum game_event_kind;
        switch (event.kind) {
        case join: return timeline_kind::join;
        case leave:
        case checkpoint:
        case best_times:
        case broadcast:
        case motd: return timeline_kind::other;
        case chat:
        case team_chat:
        case whisper:
        case server_message: return timeline_kind::chat;
        case kill: {
            bool const by_another = event.target && event.weapon && *event.weapon >= 0 &&
                                    (!event.client || (event.client->client_id >= 0 &&
                                                       event.client->client_id != event.target->client_id));
            return by_another ? timeline_kind::kill : timeline_kind::other;
        }
        case finish:
            if (!event.text.empty()) return {}; // the server's words are a line already
            return timeline_kind::finish;
        default: return {};
        }
    }

    timeline& out_;
    std::set<std::string> lines_; // at tick_
    std::int32_t tick_ = -1;
};

// Who gets which name, and when.
void read_introduction(stream_event const& event, protocol p, timeline& out) {
    auto const raw = parse_message(event.message);
    if (!raw || raw->system) return;
    auto const m = decode_game_message(*raw, p);
    if (!m) return;
    auto i = replay::read_introduction(*m);
    if (!i) return;
    i->tick = out.last_tick;
    out.introductions.push_back(std::move(*i));
}

} // namespace

std::size_t timeline::count_until(std::int32_t tick) const {
    auto const end = std::upper_bound(events.begin(), events.end(), tick,
                                      [](std::int32_t t, timeline_event const& h) { return t < h.tick; });
    return static_cast<std::size_t>(end - events.begin());
}

name_table timeline::names(std::int32_t tick) const {
    name_table names;
    for (introduction const& i : introductions)
        if (i.tick <= tick) names.add(i);
    return names;
}

timeline read_timeline(demo_document& demo) {
    timeline out;
    timeline_lines lines{out};
    game_event_reader events{[&](game_event const& e) { lines.add(e); }};
    demo_stream source{demo};
    for (stream_event event; source.next(event);) {
        events.put(event);
        switch (event.kind) {
        case event_kind::tick:
            if (out.first_tick < 0) out.first_tick = event.tick;
            out.last_tick = std::max(out.last_tick, event.tick);
            break;
        case event_kind::snapshot:
            if (out.snapshots.empty() || out.last_tick > out.snapshots.back())
                out.snapshots.push_back(out.last_tick);
            break;
        case event_kind::message: read_introduction(event, demo.item_protocol(), out); break;
        case event_kind::begin:
        case event_kind::lost: break;
        }
    }
    events.finish();
    out.error = source.error();
    return out;
}

} // namespace teewire::replay
