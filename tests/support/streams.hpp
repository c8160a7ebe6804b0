// Streams whose every event is chosen.
#pragma once

#include "snapshots.hpp"

#include "recording/stream/event.hpp"

#include <string>
#include <utility>
#include <vector>

namespace test {

/// The events of a source.
struct step {
    teewire::replay::event_kind kind = teewire::replay::event_kind::tick;
    std::int32_t tick = -1;
    plain_items items;
    bytes message;
    bool vital = true;
    teewire::replay::recording_info begun; // for begin
};

inline step begin(std::string map = "m", teewire::protocol version = teewire::protocol::ddnet) {
    step s;
    s.kind = teewire::replay::event_kind::begin;
    s.begun.map.name = std::move(map);
    s.begun.version = version;
    return s;
}
inline step marker(std::int32_t tick) {
    step s;
    s.tick = tick;
    return s;
}
inline step snapshot(std::int32_t tick, plain_items items) {
    step s = marker(tick);
    s.kind = teewire::replay::event_kind::snapshot;
    s.items = std::move(items);
    return s;
}
inline step said(std::int32_t tick, std::string_view hex, bool vital = true) {
    step s = marker(tick);
    s.kind = teewire::replay::event_kind::message;
    s.message = from_hex(hex);
    s.vital = vital;
    return s;
}
/// A message of the game, encoded.
template <class T>
step said(std::int32_t tick, T const& what, teewire::protocol version) {
    step s = said(tick, "");
    s.message.resize(512);
    auto const bytes = encode(what, version, s.message);
    REQUIRE(bytes);
    s.message.resize(bytes->size());
    return s;
}

/// Gives what it was given.
class stream_script final : public teewire::replay::event_source {
public:
    explicit stream_script(std::vector<step> steps, std::string error = {})
        : steps_{std::move(steps)}, error_{std::move(error)} {}

    bool next(teewire::replay::stream_event& out) override {
        if (at_ == steps_.size()) return false;
        step const& s = steps_[at_++];
        out = {};
        out.kind = s.kind;
        out.tick = s.tick;
        begun_ = s.begun;
        if (s.kind == teewire::replay::event_kind::begin) out.begun = &begun_;
        if (s.kind == teewire::replay::event_kind::snapshot) {
            ints_ = layout(s.items);
            state_ = view_of(ints_);
        }
        message_ = s.message; // whoever keeps what was borrowed sees something else
        out.state = state_;
        out.message = message_;
        out.vital = s.vital;
        return true;
    }
    [[nodiscard]] std::string error() const override { return error_; }
    [[nodiscard]] std::uint64_t done_bytes() const override { return 0; }

private:
    std::vector<step> steps_;
    std::string error_;
    std::size_t at_ = 0;
    teewire::replay::recording_info begun_;
    ints ints_;
    teewire::snapshot_view state_;
    bytes message_;
};

} // namespace test
