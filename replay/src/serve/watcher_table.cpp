#include "serve/watcher_table.hpp"

#include "base/network_of.hpp"

#include <algorithm>
#include <cassert>

namespace teewire::replay {

address_bytes bytes_of(endpoint const& e) noexcept {
    address_bytes out{};
    auto const put = [&](auto const& bytes) { std::copy(bytes.begin(), bytes.end(), out.begin()); };
    if (e.address().is_v6()) put(e.address().to_v6().to_bytes());
    else put(e.address().to_v4().to_bytes());
    out[16] = static_cast<std::uint8_t>(e.port() >> 8);
    out[17] = static_cast<std::uint8_t>(e.port());
    return out;
}

watcher_table::watcher_table(std::size_t places) : places_{std::make_unique<watcher[]>(places)} {
    for (std::size_t i = places; i-- > 0;) free_.push_back(&places_[i]);
    used_.reserve(places);
    by_address_.reserve(places);
}

watcher* watcher_table::find(endpoint const& address) const noexcept {
    auto const found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : found->second;
}

std::size_t watcher_table::count_in(boost::asio::ip::address const& network) const {
    return static_cast<std::size_t>(std::count_if(
        used_.begin(), used_.end(), [&](watcher const* v) { return network_of(v->address.address()) == network; }));
}

watcher& watcher_table::add(endpoint const& address, milliseconds now) {
    assert(!full() && find(address) == nullptr);
    watcher& v = *free_.back();
    by_address_.emplace(address, &v);
    free_.pop_back();
    v.address = address;
    v.packets = rate_limit{watcher::packets_per_second};
    v.at = join_step::joining;
    v.since = now;
    v.index = used_.size();
    v.maps_told = v.readies = 0;
    v.name = {};
    used_.push_back(&v);
    return v;
}

void watcher_table::remove(watcher& gone) noexcept {
    by_address_.erase(gone.address);
    gone.link.reset();
    gone.welcome.clear();
    used_.back()->index = gone.index;
    used_[gone.index] = used_.back();
    used_.pop_back();
    free_.push_back(&gone);
}

} // namespace teewire::replay
