#include "events/timeline.hpp"

#include "base/interrupts.hpp"
#include "events/game_event_reader.hpp"
#include "recording/demo/demo_stream.hpp"

#include <set>

namespace teewire::replay {
namespace {

bool is_worth_a_line(game_event const& event) {
    using enum game_event_kind;
    switch (event.kind) {
    case join:
    case leave:
    case checkpoint:
    case best_times:
    case broadcast:
    case motd:
    case chat:
    case team_chat:
    case whisper:
    case server_message:
    case kill:
    case finish: return true;
    default: return false;
    }
}

// Adds each line once per tick.
class timeline_lines {
public:
    explicit timeline_lines(timeline& out) : out_{out} {}

    void add(game_event const& event) {
        if (!is_worth_a_line(event)) return;
        if (tick_ != event.tick) lines_.clear();
        tick_ = event.tick;
        if (is_announced(event)) return;
        std::string text = to_text(event);
        if (lines_.insert(text).second) out_.events.push_back({event.tick, std::move(text), event});
    }

private:
    // A finish that the server announces has the line of the announcement.
    bool is_announced(game_event const& event) {
        if (event.kind != game_event_kind::finish || event.text.empty()) return false;
        for (auto line = out_.events.rbegin(); line != out_.events.rend() && line->tick == event.tick; ++line) {
            if (line->event.kind != game_event_kind::server_message || line->event.text != event.text) continue;
            line->event = event;
            return true;
        }
        return false;
    }

    timeline& out_;
    std::set<std::string> lines_; // at tick_
    std::int32_t tick_ = -1;
};

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
        case event_kind::message:
            if (auto const& i = events.introduced()) out.introductions.push_back(*i);
            break;
        case event_kind::begin:
        case event_kind::lost: break;
        }
    }
    events.finish();
    out.error = demo.error_text(demo.player().error());
    return out;
}

} // namespace teewire::replay
