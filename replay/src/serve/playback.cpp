#include "serve/playback.hpp"

#include "base/interrupts.hpp"

#include <teewire/message_types.hpp>

#include <algorithm>
#include <bitset>
#include <utility>

namespace teewire::replay {
namespace {

constexpr std::int64_t step_interval = 40;                      // milliseconds
constexpr std::int64_t max_late_ticks = 10'000 / step_interval; // after which all connections have ended

} // namespace

playback::playback(demo_document& demo, bool loop, std::function<void(std::uint64_t)> const& progress)
    : demo_{demo}, loop_{loop}, player_{demo.player()}, map_{std::string{text(demo.header().map_name)}, demo.map()},
      viewed_{demo.item_protocol()}, lasting_{demo.item_protocol()} {
    for (demo_keyframe const& k : demo.keyframes())
        if (keyframes_.empty() || k.tick > keyframes_.back().tick) keyframes_.push_back(k);
    if (keyframes_.empty()) throw bad_input{demo.name() + ": there is no snapshot in it"};
    read_all(progress);
    begin_tick_ = first_tick() <= latest_begin ? first_tick() + (first_tick() & 1) : other_begin;
    seek(first_tick());
}

// Finds out when players are present, and a client id that no player has.
void playback::read_all(std::function<void(std::uint64_t)> const& progress) {
    std::bitset<max_viewed_clients> used;
    lasting_messages in_force{version()};
    last_tick_ = first_tick();
    for (demo_event e; !interrupted() && player_.next(e);) {
        if (e.kind == demo_event_kind::tick) last_tick_ = std::max(last_tick_, e.tick);
        if (e.kind == demo_event_kind::snapshot) {
            used |= clients_in(player_.state(), version());
            if (progress) progress(player_.position());
        } else if (e.kind == demo_event_kind::message) {
            auto const m = parse_message(e.message);
            if (is_07() && m && !m->system && roster{}.receive(*m))
                roster_messages_.push_back({e.tick, {e.message.begin(), e.message.end()}});
            if (in_force.receive(e.tick, e.message))
                lasting_messages_.push_back({e.tick, {e.message.begin(), e.message.end()}});
        }
    }
    error_ = demo_.error_text(player_.error());
    for (std::size_t i = max_viewed_clients; i-- > 0;)
        if (!used[i]) viewer_id_ = static_cast<std::int32_t>(i);
}

void playback::seek(std::int32_t tick) {
    tick = std::clamp(tick, first_tick(), last_tick());
    position_ = tick;
    static_cast<void>(player_.seek(tick, keyframes_)); // errors were found by read_all(); what is before them stays
    state_tick_ = player_.tick();
    pending_tick_ = -1;
    ended_ = false;
    shown_tick_ = -1;
    settled_ = position_ + ticks_per_second;
    roster_ = {};
    for (logged_message const& m : roster_messages_)
        if (m.tick <= tick) roster_.receive(*parse_message(m.bytes));
    roster_.read(player_.state());
    lasting_messages const before = std::exchange(lasting_, lasting_messages{version()});
    for (logged_message const& m : lasting_messages_)
        if (m.tick <= tick) lasting_.receive(m.tick, m.bytes);
    if (listener() == nullptr) return;
    for (auto const& m : lasting())
        if (!before.holds(m) && is_for_viewers(*parse_message(m), version())) listener()->on_message(m);
}

void playback::take_message(std::span<std::uint8_t const> bytes) {
    auto const m = parse_message(bytes);
    if (!m || m->system) return;
    if (is_07()) roster_.receive(*m);
    lasting_.receive(state_tick_, bytes);
    if (is_for_viewers(*m, version())) listener()->on_message(bytes);
}

// Plays up to the last marker that is not above `tick`.
void playback::play_to(std::int32_t tick) {
    if (pending_tick_ > tick) return;
    if (pending_tick_ >= 0) state_tick_ = std::exchange(pending_tick_, -1);
    for (demo_event e; !ended_;) {
        if (!player_.next(e)) {
            ended_ = true;
            return;
        }
        switch (e.kind) {
        case demo_event_kind::tick:
            if (e.tick > tick) {
                pending_tick_ = e.tick;
                return;
            }
            state_tick_ = e.tick;
            break;
        case demo_event_kind::snapshot:
            if (is_07()) roster_.read(player_.state());
            break;
        case demo_event_kind::message: take_message(e.message); break;
        }
    }
}

bool playback::step() {
    std::int32_t const tick = server_tick();
    if (tick > begin_tick_) {
        if (!paused_) position_ += 2 * speed_;
        if (position_ > last_tick() + 1.0) {
            if (loop_) seek(first_tick());
            else position_ = last_tick();
        }
    }
    play_to(position());

    // A gap in the demo is one for viewers too, unless it gets so long that they would think the server is gone.
    bool const again = state_tick_ == shown_tick_;
    bool const moving = !paused_ && speed_ == 1 && !at_end();
    if (again && moving && tick % max_silence != 0) return false;
    shown_tick_ = state_tick_;
    view_ = viewed_.build(player_.state(), tick - state_tick_, again, viewer_id_);
    return true;
}

void playback::play(std::int64_t now) {
    bool const shown = step();
    listener()->on_snapshot(server_tick(), shown ? &view_ : nullptr, now);
}

void playback::advance(std::int64_t now, bool anybody) {
    if (listener() == nullptr) return;
    if (ticks_ < 0) {
        if (!anybody) return;
        start_ = now;
        ticks_ = 0;
        return play(now);
    }
    std::int64_t const due = (now - start_) / step_interval;
    if (begin_tick_ + 2 * due > last_server_tick) {
        // After months: who still watches has to come again.
        ticks_ = -1;
        return listener()->on_end("The server's clock restarts", now);
    }
    if (due <= ticks_) return;
    late_ticks_ += static_cast<std::uint64_t>(due - ticks_ - 1);
    ticks_ = std::max(ticks_, due - max_late_ticks);
    while (++ticks_ < due) step();
    play(now);
}

std::int64_t playback::next(std::int64_t now) const noexcept {
    return ticks_ < 0 ? now + step_interval : start_ + (ticks_ + 1) * step_interval;
}

} // namespace teewire::replay
