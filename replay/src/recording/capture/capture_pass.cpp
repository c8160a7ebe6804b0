#include "recording/capture/capture_pass.hpp"

#include "base/interrupts.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <charconv>

namespace teewire::replay {

capture_pass::capture_pass(std::span<capture_source const> files, capture_listener& listener)
    : reader_{files}, watcher_{listener} {}

bool capture_pass::next() {
    captured_frame frame;
    if (!reader_.next(frame)) {
        frames_.untimed = reader_.untimed();
        watcher_.finish();
        return false;
    }
    if (frames_.all++ == 0) frames_.first_time = frame.time;
    frames_.last_time = frame.time;
    if (!frame.link) {
        ++frames_.unreadable;
        return true;
    }
    udp_datagram datagram;
    ip_fragment part;
    frame_kind kind = read_frame(*frame.link, frame.bytes, datagram, part);
    if (kind == frame_kind::fragment) {
        auto const whole = fragments_.add(frame.time, part);
        frames_.fragments = fragments_.left_out();
        if (!whole) return true;
        datagram.from = part.from;
        datagram.to = part.to;
        kind = read_udp(*whole, datagram);
    }
    switch (kind) {
    case frame_kind::udp: watcher_.receive(frame.number, frame.time, datagram); break;
    case frame_kind::other: ++frames_.other; break;
    case frame_kind::fragment: break;
    case frame_kind::cut:
        if (frames_.cut++ == 0)
            frames_.first_cut =
                fmt::format("frame {} has {} of {} bytes", frame.number, frame.bytes.size(), frame.original_size);
        break;
    }
    return true;
}

void capture_pass::read_all(std::function<void(std::uint64_t)> const& look) {
    constexpr std::uint64_t interval = 256;
    while (!interrupted() && next())
        if (frames_.all % interval == 0) look(done_bytes());
}

namespace {

std::string list(std::vector<connection_stats const*> const& all) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
        text += fmt::format("{}{} {} {} {}", i == 0 ? " " : ", ", i + 1, address_text(all[i]->client()),
                            protocol_text(*all[i]), counted(all[i]->snapshots, "snapshot"));
    if (all.size() > most) text += fmt::format(", and {} more", all.size() - most);
    return text;
}

} // namespace

std::size_t choose_connection(std::vector<connection_stats const*> const& all, std::string const& wanted,
                              std::string const& file) {
    if (wanted.empty()) {
        auto const most = std::max_element(
            all.begin(), all.end(), [](auto const* a, auto const* b) { return a->snapshots < b->snapshots; });
        if (most == all.end() || (*most)->max_items == 0)
            throw usage_error{file, "there is no connection with snapshots in it"};
        return static_cast<std::size_t>(most - all.begin());
    }
    std::size_t number = 0;
    auto const [end, failed] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (failed == std::errc{} && end == wanted.data() + wanted.size()) {
        if (number >= 1 && number <= all.size()) return number - 1;
    } else {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (address_text(all[i]->client()) == wanted) return i;
    }
    throw usage_error{file, fmt::format("--connection: there is no connection {}; {}{}", wanted,
                                        all.empty() ? "there are none" : "expected one of:", list(all))};
}

} // namespace teewire::replay
