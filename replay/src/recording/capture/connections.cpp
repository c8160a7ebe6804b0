#include "recording/capture/connections.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace teewire::replay {

std::size_t connection_watcher::pair_hash::operator()(address_pair const& pair) const noexcept {
    std::array<std::uint8_t, 36> bytes;
    auto to = bytes.begin();
    for (auto const& address : pair) {
        to = std::copy(address.ip.begin(), address.ip.end(), to);
        *to++ = static_cast<std::uint8_t>(address.port >> 8);
        *to++ = static_cast<std::uint8_t>(address.port);
    }
    return static_cast<std::size_t>(hash(bytes));
}

connection_watcher::address_pair connection_watcher::key_of(udp_address const& a, udp_address const& b) {
    return a < b ? address_pair{a, b} : address_pair{b, a};
}

connection_watcher::connection_list::iterator connection_watcher::add(address_pair const& key, std::uint64_t frame,
                                                                      std::int64_t time,
                                                                      udp_datagram const& datagram) {
    if (pairs_.size() >= max_pairs) {
        auto const& ends = pairs_.back().stats().ends;
        by_pair_.erase(key_of(ends[0], ends[1]));
        pairs_.pop_back();
    }
    connection_host& host = *this;
    pairs_.emplace_front(host, datagram, frame, time);
    return by_pair_[key] = pairs_.begin();
}

followed_connection& connection_watcher::find(std::uint64_t frame, std::int64_t time,
                                              udp_datagram const& datagram) {
    address_pair const key = key_of(datagram.from, datagram.to);
    auto const found = by_pair_.find(key);
    auto known = found != by_pair_.end() ? found->second : add(key, frame, time, datagram);
    if (known->ends_with(datagram.payload)) known = add(key, frame, time, datagram);
    if (!known->is_connection()) pairs_.splice(pairs_.begin(), pairs_, known);
    return *known;
}

void connection_watcher::receive(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram) {
    drop_idle(time);
    packet_guess const guess = guess_packet(datagram.payload);
    ++datagrams_;
    connless_ += guess == packet_guess::connless_06 || guess == packet_guess::connless_07;
    find(frame, time, datagram).receive(frame, time, datagram, guess);
}

bool connection_watcher::promote([[maybe_unused]] followed_connection& which, bool to_game) {
    if (!to_game && connections_.size() >= max_refused) return false;
    if (connections_.size() >= max_connections) {
        ++left_out_;
        return false;
    }
    assert(&which == &pairs_.front()); // as it was seen last
    connections_.splice(connections_.end(), pairs_, pairs_.begin());
    return true;
}

void connection_watcher::make_room(followed_connection& which) {
    if (live_.size() >= max_live) {
        auto const oldest = std::min_element(live_.begin(), live_.end(), [](auto const* a, auto const* b) {
            return a->stats().last_time < b->stats().last_time;
        });
        ++dropped_;
        release(**oldest);
    }
    live_.push_back(&which);
}

void connection_watcher::release(followed_connection& which) {
    which.release();
    std::erase(live_, &which);
}

void connection_watcher::drop_idle(std::int64_t now) {
    constexpr std::int64_t second = 1'000'000'000;
    if (now < next_sweep_ && now > next_sweep_ - 10 * second) return; // a clock may be set back
    next_sweep_ = now + second;
    for (std::size_t i = live_.size(); i-- > 0;)
        if (now - live_[i]->stats().last_time > idle_time) release(*live_[i]);
}

void connection_watcher::finish() {
    while (!live_.empty()) release(*live_.back());
}

std::vector<connection_stats const*> connection_watcher::connections() const {
    std::vector<connection_stats const*> all;
    for (auto const& each : connections_) all.push_back(&each.stats());
    // Connections without snapshots come after the others.
    std::stable_sort(all.begin(), all.end(), [](auto const* a, auto const* b) {
        return std::pair{!a->has_snapshots(), a->first_frame} < std::pair{!b->has_snapshots(), b->first_frame};
    });
    return all;
}

std::uint64_t connection_watcher::foreign() const {
    std::uint64_t count = datagrams_;
    for (auto const& each : connections_) count -= each.stats().from[0].packets + each.stats().from[1].packets;
    return count;
}

std::uint64_t connection_watcher::foreign_connless() const {
    std::uint64_t count = connless_;
    for (auto const& each : connections_) count -= each.stats().from[0].connless + each.stats().from[1].connless;
    return count;
}

} // namespace teewire::replay
