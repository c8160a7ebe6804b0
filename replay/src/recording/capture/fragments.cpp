#include "recording/capture/fragments.hpp"

#include <algorithm>

namespace teewire::replay {

std::list<fragment_buffer::datagram>::iterator fragment_buffer::find(std::int64_t time, ip_fragment const& part) {
    std::erase_if(open_, [&](datagram const& d) {
        return time - d.begun > max_wait || d.begun - time > max_wait; // a clock may be set back
    });
    auto const known = std::find_if(open_.begin(), open_.end(), [&](datagram const& d) {
        return d.id == part.id && d.from == part.from && d.to == part.to;
    });
    if (known != open_.end()) return known;
    if (open_.size() == max_datagrams) open_.pop_front();
    datagram& made = open_.emplace_back();
    made.from = part.from;
    made.to = part.to;
    made.id = part.id;
    made.begun = time;
    return std::prev(open_.end());
}

std::optional<std::span<std::uint8_t const>> fragment_buffer::add(std::int64_t time, ip_fragment const& part) {
    ++parts_;
    std::size_t const begin = part.offset, end = part.offset + part.bytes.size();
    bool const uneven = !part.last && part.bytes.size() % 8 != 0;
    if (begin == end || end > max_bytes || uneven) return {};
    auto const known = find(time, part);
    datagram& whole = *known;
    ++whole.taken;
    auto const after = std::lower_bound(whole.parts.begin(), whole.parts.end(), std::pair{begin, end});
    if (after != whole.parts.end() && *after == std::pair{begin, end}) return {}; // came twice
    bool const overlaps = (after != whole.parts.end() && after->first < end) ||
                          (after != whole.parts.begin() && std::prev(after)->second > begin);
    bool const beyond = (whole.size && end > *whole.size) || (part.last && whole.bytes.size() > end);
    if (overlaps || beyond || whole.parts.size() == max_parts) {
        open_.erase(known);
        return {};
    }
    whole.parts.insert(after, {begin, end});
    if (whole.bytes.size() < end) whole.bytes.resize(end);
    std::copy(part.bytes.begin(), part.bytes.end(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    if (part.last) whole.size = end;
    std::size_t have = 0;
    for (auto const& [from, to] : whole.parts) have += to - from;
    if (!whole.size || have != *whole.size) return {};
    used_ += whole.taken;
    whole_ = std::move(whole.bytes);
    open_.erase(known);
    return whole_;
}

} // namespace teewire::replay
