#include "serve/live_show.hpp"

#include "game/ticks.hpp"

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

// The source's own ticks may grow by so many more than the time.
constexpr std::int64_t tick_slack = 3000 / tick_time;
constexpr std::int64_t max_silence = 1000; // then the last snapshot is shown again
// A source that stood still, and not its game, may catch up in this time with the ticks that were shown meanwhile.
constexpr std::int64_t catch_up_time = 1000;
constexpr std::int64_t settling_time = 1000;
// Viewers get no more snapshots, in hundredths of one a millisecond, and so many at once.
constexpr std::int64_t snapshot_rate = 10; // 100 a second
constexpr std::int64_t snapshot_cost = 100;
constexpr std::int64_t max_allowed = 50 * snapshot_cost;

bool is_same_map(shown_map const& a, recording_info const& b) {
    return a.name == b.map.name &&
           std::equal(a.bytes.begin(), a.bytes.end(), b.map_bytes.begin(), b.map_bytes.end());
}

} // namespace

void live_show::put(stream_event const& event) {
    switch (event.kind) {
    case event_kind::begin: return begin(*event.begun, clock_());
    case event_kind::snapshot: return take_snapshot(event.tick, event.state, clock_());
    case event_kind::message: return take_message(event.message);
    case event_kind::tick:
    case event_kind::lost: return;
    }
}

void live_show::begin(recording_info const& what, std::int64_t now) {
    ++count_.begun;
    settled_ = now + settling_time;
    roster_ = {};
    lasting_ = lasting_messages{what.version};
    restarts_ = true;
    late_since_.reset();
    if (viewed_ && version_ == what.version && is_same_map(map_, what)) return;
    ++count_.changed;
    version_ = what.version;
    map_bytes_.assign(what.map_bytes.begin(), what.map_bytes.end());
    map_ = {what.map.name, map_bytes_};
    viewed_.emplace(version_);
    state_.clear();
    // Clients of 0.7 get their id before there is a snapshot; few games have a player with the largest one.
    viewer_id_ = is_07() ? static_cast<std::int32_t>(max_viewed_clients - 1) : -1;
    begin_anew(now);
}

void live_show::begin_anew(std::int64_t now) {
    shift_ = 0;
    shown_tick_ = -1;
    if (listener() != nullptr) listener()->on_begin(now);
}

void live_show::take_message(std::span<std::uint8_t const> bytes) {
    auto const m = parse_message(bytes);
    if (!viewed_ || !m || m->system) return;
    if (is_07()) roster_.receive(*m);
    bool const changes = lasting_.receive(tick_, bytes);
    // Some servers repeat the tuning each tick.
    if (!changes && identify(*m, messages_of(version_)) == message_type::tune_params) return;
    if (listener() != nullptr && is_for_viewers(*m, version_)) listener()->on_message(bytes);
}

void live_show::take_snapshot(std::int32_t tick, snapshot_view state, std::int64_t now) {
    if (!viewed_ || map_.bytes.empty() || tick < 0) return;
    ++count_.snapshots;
    if (is_07()) roster_.read(state);
    bool const goes_on = tick > tick_ && !std::exchange(restarts_, false);
    tick_ = tick;
    state_.assign(state);
    if (!take_rate(now)) {
        ++count_.too_many;
        return;
    }
    choose_viewer_id(now);
    if (!place(goes_on, now)) {
        ++count_.late;
        return;
    }
    count_.moved += shift_ != 0;
    show_state(static_cast<std::int32_t>(tick + shift_), false, now);
}

bool live_show::take_rate(std::int64_t now) noexcept {
    allowed_ = std::min(max_allowed, allowed_ + (now - allowed_at_) * snapshot_rate);
    allowed_at_ = now;
    if (allowed_ < snapshot_cost) return false;
    allowed_ -= snapshot_cost;
    return true;
}

std::int64_t live_show::ticks_since_shown(std::int64_t now) const noexcept {
    return std::clamp<std::int64_t>((now - shown_at_) / tick_time, 0, INT32_MAX);
}

bool live_show::place(bool goes_on, std::int64_t now) {
    std::int64_t const passed = ticks_since_shown(now);
    auto const fits = [&](std::int64_t shift) {
        std::int64_t const server_tick = tick_ + shift;
        return server_tick > shown_tick_ && server_tick <= shown_tick_ + passed + tick_slack;
    };
    if (shown_tick_ >= 0) {
        if (fits(0)) shift_ = 0;
        if (!fits(shift_)) {
            if (goes_on && tick_ + shift_ <= shown_tick_) {
                if (!late_since_) late_since_ = now;
                if (now - *late_since_ < catch_up_time) return false;
            }
            shift_ = shown_tick_ + std::max<std::int64_t>(passed, 1) - tick_;
        }
        if (tick_ + shift_ > last_server_tick) begin_anew(now);
    }
    if (shown_tick_ < 0) shift_ = first_tick() - tick_;
    late_since_.reset();
    return true;
}

// In 0.6 each snapshot has the id, and clients of plain 0.6 know 16 ids. In 0.7 a client gets it once per map.
void live_show::choose_viewer_id(std::int64_t now) {
    auto used = clients_in(state(), version_);
    for (std::size_t i = 0; is_07() && i < max_clients_07; ++i)
        if (roster_.clients[i]) used.set(i);
    auto const find = [&](std::size_t first, std::size_t last) {
        while (last > first)
            if (!used[--last]) return static_cast<std::int32_t>(last);
        return -1;
    };
    bool const taken = viewer_id_ >= 0 && used[static_cast<std::size_t>(viewer_id_)];
    if (is_07()) {
        if (!taken) return;
        viewer_id_ = find(0, max_viewed_clients);
        begin_anew(now);
    } else if (taken || viewer_id_ < 0) {
        constexpr std::size_t plain_clients = 16;
        viewer_id_ = find(0, plain_clients);
        if (viewer_id_ < 0) viewer_id_ = find(plain_clients, max_viewed_clients);
    }
}

void live_show::show_state(std::int32_t server_tick, bool again, std::int64_t now) {
    shown_tick_ = server_tick;
    shown_at_ = now;
    if (listener() == nullptr) return;
    snapshot_view const view = viewed_->build(state(), server_tick - tick_, again, viewer_id_);
    listener()->on_snapshot(server_tick, &view, now);
}

void live_show::advance(std::int64_t now, bool anybody) {
    if (!anybody || !state_.has_value()) return;
    if (shown_tick_ < 0) return show_state(first_tick(), true, now);
    if (now - shown_at_ < max_silence) return;
    std::int64_t const server_tick = shown_tick_ + ticks_since_shown(now);
    if (server_tick > last_server_tick) return begin_anew(now);
    ++count_.repeated;
    show_state(static_cast<std::int32_t>(server_tick), true, now);
}

std::int32_t live_show::server_tick(std::int64_t now) const noexcept {
    if (shown_tick_ < 0) return -1;
    std::int64_t const passed = std::min(ticks_since_shown(now), max_silence / tick_time);
    return static_cast<std::int32_t>(std::min<std::int64_t>(shown_tick_ + passed, last_server_tick));
}

} // namespace teewire::replay
