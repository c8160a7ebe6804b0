#include "demo/demo_stream.hpp"

#include "io/interrupts.hpp"

namespace teewire::replay {

served_map map_of(demo_header const& header) {
    served_map map;
    map.name = text(header.map_name);
    map.crc = header.map_crc;
    map.size = header.map_size;
    if (header.has_sha256) map.sha256 = header.sha256;
    return map;
}

demo_stream::demo_stream(session& demo, std::optional<std::int32_t> from)
    : demo_{demo}, player_{demo.player()}, begun_{demo.spoken(), map_of(demo.header()), demo.map()} {
    // If it cannot be reached, next() gives nothing and error() says why.
    if (from) static_cast<void>(player_.seek(*from - 1, demo.keyframes()));
}

bool demo_stream::next(stream_event& out) {
    out = {};
    if (begins_) {
        begins_ = false;
        out.kind = event_kind::begin;
        out.begun = &begun_;
        return true;
    }
    demo_event found;
    if (interrupted() || !player_.next(found)) return false;
    switch (found.kind) {
    case demo_event_kind::tick: out.kind = event_kind::tick; break;
    case demo_event_kind::snapshot: out.kind = event_kind::snapshot; break;
    case demo_event_kind::message:
        out.kind = event_kind::message;
        out.message = found.message;
        break;
    }
    out.tick = found.tick;
    out.position = found.position;
    out.keyframe = found.keyframe && found.kind == demo_event_kind::snapshot;
    out.state = player_.state();
    return true;
}

std::string demo_stream::error() const {
    return player_.error().what.code == errc::ok ? std::string{} : demo_.error_text(player_.error());
}

} // namespace teewire::replay
