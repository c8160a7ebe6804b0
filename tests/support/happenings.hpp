// Snapshots and messages made from events.
#pragma once

#include "scene.hpp"

#include "events/game_event_reader.hpp"

namespace test {

class happenings {
public:
    enum class receivers : bool { one, all };

    explicit happenings(protocol p, receivers who = receivers::one, std::vector<std::int32_t> markers = {})
        : markers_{std::move(markers)} {
        begun_.version = p;
        begun_.one_receiver = who == receivers::one;
        begun_.markers = markers_;
        begun_.map.name = "dm1";
        begin();
    }
    happenings(happenings const&) = delete;
    happenings& operator=(happenings const&) = delete;

    void begin() {
        replay::stream_event e;
        e.kind = replay::event_kind::begin;
        e.begun = &begun_;
        reader_.put(e);
        tick_ = -1;
    }
    void tick(std::int32_t t) {
        replay::stream_event e;
        e.tick = tick_ = t;
        reader_.put(e);
    }
    void snapshot(std::int32_t t, scene& s) {
        tick(t);
        replay::stream_event e;
        e.kind = replay::event_kind::snapshot;
        e.tick = t;
        e.state = s.finish();
        reader_.put(e);
    }
    void message(std::vector<std::uint8_t> const& bytes) {
        replay::stream_event e;
        e.kind = replay::event_kind::message;
        e.tick = tick_;
        e.message = bytes;
        reader_.put(e);
    }
    void finish() { reader_.finish(); }

    /// Given so far.
    [[nodiscard]] std::vector<replay::game_event> const& told() const { return told_; }
    /// "TICK observed TEXT" for each. The recording is over then.
    [[nodiscard]] std::string lines() {
        finish();
        std::string all;
        for (replay::game_event const& e : told_)
            all += fmt::format("{} {} {}\n", e.tick, name(e.known), to_text(e));
        return all;
    }

private:
    std::vector<std::int32_t> markers_;
    replay::recording_info begun_;
    std::vector<replay::game_event> told_;
    replay::game_event_reader reader_{[this](replay::game_event const& e) { told_.push_back(e); }};
    std::int32_t tick_ = -1;
};

/// A message of these ints, followed by texts.
inline std::vector<std::uint8_t> say(message_type type, protocol p, std::vector<std::int32_t> const& fields,
                                     std::vector<std::string> const& texts = {}) {
    std::vector<std::uint8_t> memory(2000);
    packer out{memory};
    message_description const& known = describe(type);
    std::int32_t const id = p == protocol::teeworlds_07 ? known.id_07 : known.id_06;
    out.add_int(id << 1);
    if (id == 0) out.add_raw(known.extended.bytes);
    for (std::int32_t const field : fields) out.add_int(field);
    for (std::string const& text : texts) out.add_string(text);
    auto const bytes = *out.finish();
    return {bytes.begin(), bytes.end()};
}

} // namespace test
