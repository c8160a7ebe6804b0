#include "recording/demo/demo_stream.hpp"

#include "base/interrupts.hpp"

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <sstream>

namespace teewire::replay {

served_map map_of(demo_header const& header) {
    served_map map;
    map.name = text(header.map_name);
    map.crc = header.map_crc;
    map.size = header.map_size;
    if (header.has_sha256) map.sha256 = header.sha256;
    return map;
}

namespace {

// "2026-11-20_19-54-26", in the time of the place where it was recorded, which is taken for ours.
std::int64_t parse_timestamp(std::string const& text) {
    std::tm local{};
    local.tm_isdst = -1;
    std::istringstream in{text};
    in >> std::get_time(&local, "%Y-%m-%d_%H-%M-%S");
    if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) return 0;
    return std::max<std::int64_t>(std::mktime(&local), 0);
}

} // namespace

recording_info recording_info_of(demo_document const& demo) {
    recording_info r;
    r.version = demo.item_protocol();
    r.map = map_of(demo.header());
    r.map_bytes = demo.map();
    r.began = parse_timestamp(std::string{text(demo.header().timestamp)});
    r.first_tick = demo.overview().first_tick;
    r.last_tick = demo.overview().last_tick;
    r.one_receiver = text(demo.header().type) == "client";
    r.markers = demo.header().markers();
    return r;
}

stream_event to_stream_event(demo_event const& event, snapshot_view state) noexcept {
    stream_event e;
    switch (event.kind) {
    case demo_event_kind::tick: e.kind = event_kind::tick; break;
    case demo_event_kind::snapshot: e.kind = event_kind::snapshot; break;
    case demo_event_kind::message: e.kind = event_kind::message; break;
    }
    e.tick = event.tick;
    e.state = state;
    e.keyframe = event.keyframe && e.kind == event_kind::snapshot;
    e.message = event.message;
    return e;
}

demo_stream::demo_stream(demo_document& demo, std::optional<std::int32_t> from)
    : demo_{demo}, player_{demo.player()}, begun_{recording_info_of(demo)} {
    // If it cannot be reached, next() gives nothing and error() says why.
    if (from) static_cast<void>(player_.seek(*from - 1, demo.keyframes()));
}

bool demo_stream::next(stream_event& out) {
    if (begins_) {
        begins_ = false;
        out = {};
        out.kind = event_kind::begin;
        out.begun = &begun_;
        return true;
    }
    demo_event found;
    if (interrupted() || !player_.next(found)) return false;
    out = to_stream_event(found, player_.state());
    return true;
}

std::string demo_stream::error() const { return demo_.end_text(player_.error()); }

} // namespace teewire::replay
