#include "edit/join.hpp"

#include "base/interrupts.hpp"
#include "base/text.hpp"
#include "game/retime.hpp"
#include "game/spacing.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/stream/tick_reader.hpp"

#include <teewire/sha256.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

constexpr std::int32_t usual_step = 2; // ticks, of every server with the default settings

std::int32_t step_of(joinable const& part) { return part.step > 0 ? part.step : usual_step; }

// Whether `part` seems to continue the recording of `before`, with no gap between them that is worth closing.
bool may_continue(joinable const& before, joinable const& part) {
    constexpr std::int64_t smallest_gap = ticks_per_second; // that is closed
    auto const same = [](auto const& a, auto const& b) { return text(a) == text(b); };
    demo_header const &a = before.header, &b = part.header;
    return same(a.timestamp, b.timestamp) && !text(a.timestamp).empty() && same(a.type, b.type) &&
           same(a.net_version, b.net_version) && same(a.map_name, b.map_name) &&
           part.first_tick > before.first_tick && part.last_tick > before.last_tick &&
           std::int64_t{part.first_tick} - before.last_tick <= smallest_gap;
}

// How far a part is moved if the one before, which was moved so far, ends there.
std::int64_t shift_behind(joinable const& before, joinable const& part, std::int64_t shift, std::int64_t end) {
    return part.continues ? shift : end + step_of(before) - part.first_tick;
}

// Goes to the end of the next tick with a state.
bool next_tick(tick_reader& reader) {
    while (!interrupted() && reader.next())
        if (reader.has_state() && !reader.begins() && reader.peek() != reader.tick()) return true;
    return false;
}

// The order of the items does not matter, as keyframes may have another one.
bool same_items(snapshot_view a, snapshot_view b) {
    auto const equal = [](auto const& x, auto const& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end());
    };
    if (equal(a.ints(), b.ints())) return true;
    if (a.size() != b.size()) return false;
    auto const sorted = [](snapshot_view view) {
        std::vector<item> items{view.begin(), view.end()};
        std::stable_sort(items.begin(), items.end(), [](item const& x, item const& y) { return x.key < y.key; });
        return items;
    };
    auto const all_a = sorted(a), all_b = sorted(b);
    return std::equal(all_a.begin(), all_a.end(), all_b.begin(),
                      [&](item const& x, item const& y) { return x.key == y.key && equal(x.data, y.data); });
}

} // namespace

continuation find_continuation(joinable const& before, input const& before_file, joinable const& part,
                               input const& part_file) {
    if (!may_continue(before, part)) return continuation::none;
    if (part.first_tick > before.last_tick) return continuation::same;
    demo_document before_demo{before_file}, part_demo{part_file};
    demo_stream before_stream{before_demo}, part_stream{part_demo};
    tick_reader a{before_stream}, b{part_stream};
    bool common = false;
    for (bool more = next_tick(a) && next_tick(b); more && b.tick() <= before.last_tick;) {
        if (a.tick() == b.tick()) {
            if (!same_items(a.state(), b.state())) return continuation::differs;
            common = true;
        }
        more = next_tick(a.tick() < b.tick() ? a : b);
    }
    return common ? continuation::same : continuation::differs;
}

joinable examine(demo_document const& demo) {
    joinable part;
    part.name = demo.name();
    part.header = demo.header();
    part.sizes = &demo.sizes();
    part.version = demo.item_protocol();
    part.map = map_of(demo.header());
    part.has_map = !demo.map().empty() && is_map(part.map, demo.map());
    if (part.has_map && !part.map.sha256) part.map.sha256 = sha256(demo.map());

    distance_counts distances;
    demo_reader reader = demo.reader(demo.first_chunk(), demo.file_size());
    for (demo_chunk chunk; !interrupted() && reader.next(chunk);) {
        if (chunk.kind == demo_chunk_kind::snapshot && part.first_tick < 0 && chunk.tick >= 0)
            part.first_tick = part.last_tick = chunk.tick;
        if (chunk.kind != demo_chunk_kind::tick || part.first_tick < 0 || chunk.tick == part.last_tick) continue;
        if (chunk.tick < part.last_tick) break;
        ++distances[chunk.tick - part.last_tick];
        part.last_tick = chunk.tick;
    }
    if (part.first_tick < 0 && !interrupted()) throw bad_input{demo.name() + ": it has no full snapshot"};
    part.step = measure_spacing(distances).usual;
    return part;
}

void expect_joinable(joinable const& first, joinable const& other) {
    if (first.sizes != other.sizes)
        throw usage_error{fmt::format("{}: has items of {}, but {} those of {}", other.name, other.sizes->name,
                                      first.name, first.sizes->name)};
    if (!is_same_map(first.map, other.map))
        throw usage_error{fmt::format("{}: was recorded on {}, but {} on {}{}", other.name, describe(other.map),
                                      first.name, describe(first.map),
                                      first.map.crc == other.map.crc ? " and another SHA-256" : "")};
}

demo_joiner::demo_joiner(output_file& out, std::span<joinable const> parts, std::span<std::uint8_t const> map)
    : parts_{parts},
      moved_(max_demo_chunk_ints), in_force_{parts.front().version}, start_{parts.front().first_tick} {
    // How far the ticks of a part would be moved back if the first one kept its own.
    std::int64_t back = 0;
    std::int64_t shift = 0;
    std::int64_t end = parts_.front().last_tick;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
        shift = shift_behind(parts_[i - 1], parts_[i], shift, end);
        back = std::max(back, -shift);
        end = parts_[i].last_tick + shift;
    }
    // The whole range of ticks may be needed.
    std::int64_t const length = end - start_;
    if (length > INT32_MAX)
        throw usage_error{fmt::format("together they have {} ticks, more than a demo can count", length)};
    start_ = static_cast<std::int32_t>(std::min<std::int64_t>(start_ + back, INT32_MAX - length));

    demo_header header = parts_.front().header;
    header.map_size = static_cast<std::uint32_t>(map.size());
    header.map_crc = parts_.front().map.crc;
    for (joinable const& part : parts_)
        if (header.version >= max_demo_version && part.map.sha256) {
            header.has_sha256 = true;
            header.sha256 = *part.map.sha256;
        }
    header.length = static_cast<std::int32_t>(length / ticks_per_second);
    header.marker_count = 0;
    header.marker_ticks = {};
    joined_.first_tick = start_;
    joined_.last_tick = start_;
    out_.emplace(out, header, map, *parts_.front().sizes->sizes);
}

void demo_joiner::add(demo_document& demo, std::function<void(std::string const&)> const& damaged,
                      std::function<void(std::uint64_t bytes)> const& progress) {
    joinable const& part = parts_[next_];
    joinable const* const before = next_ > 0 ? &parts_[next_ - 1] : nullptr;
    ++next_;
    shift_ = before == nullptr ? std::int64_t{start_} - part.first_tick
                               : shift_behind(*before, part, shift_, joined_.last_tick);
    auto const shift = static_cast<std::int32_t>(shift_);
    // The demo before already has everything up to this tick.
    std::int64_t const known_until =
        before != nullptr && part.continues ? std::int64_t{joined_.last_tick} - shift : INT64_MIN;
    tick_mover mover{part.version};

    demo_player& player = demo.player();
    std::int32_t tick = -1;                          // of the last marker
    bool complete = true;                            // its snapshot is written
    snapshot_view shown;                             // the last one
    std::vector<std::vector<std::uint8_t>> messages; // that wait for it
    auto const say = [&](std::span<std::uint8_t const> bytes) {
        in_force_.receive(tick + shift, bytes);
        if (!out_->write_message(bytes)) ++joined_.left_out;
    };
    auto const show = [&] {
        complete = true;
        if (tick <= known_until) return;
        if (out_->write_snapshot(tick + shift, shown)) joined_.last_tick = tick + shift;
        else ++joined_.left_out;
        // A piece begins with the lasting messages from before it, which are in the demo already.
        bool const begins = before != nullptr && tick == part.first_tick;
        for (auto const& m : std::exchange(messages, {}))
            if (!begins || !in_force_.repeats(tick + shift, m)) say(m);
    };
    bool more = true;
    for (demo_event event; !interrupted() && (more = player.next(event));) {
        switch (event.kind) {
        case demo_event_kind::tick:
            if (event.tick == tick) break;
            if (!complete && player.has_state()) show(); // it changed nothing
            if (event.tick < tick && player.has_state()) {
                damaged(fmt::format("{}: tick {}, byte {}: ticks go back to {}; everything before it is kept",
                                    part.name, tick, event.position, event.tick));
                more = false;
                break;
            }
            complete = false;
            tick = event.tick;
            progress(player.position());
            break;
        case demo_event_kind::snapshot:
            if (tick < 0 || complete) {
                ++joined_.left_out;
                break;
            }
            shown = mover.move(player.state(), shift, moved_);
            show();
            break;
        case demo_event_kind::message:
            if (tick <= known_until) break;
            if (complete && (before == nullptr || tick >= 0)) say(event.message);
            else messages.emplace_back(event.message.begin(), event.message.end());
            break;
        }
        if (!more) break;
    }
    // A packed file can also be damaged where a chunk ends.
    if (std::string const text = demo.error_text(player.error()); !text.empty() && !interrupted())
        damaged(text + "; everything before it is kept");
    else if (!complete && player.has_state()) show();

    for (std::int32_t const marker : part.header.markers()) {
        std::int32_t const last = joined_.last_tick - shift;
        if (marker >= part.first_tick && marker > known_until && marker <= last) markers_.push_back(marker + shift);
    }
}

joined demo_joiner::finish() {
    joined_.lost_markers = markers_.size() - out_->finish(markers_);
    return joined_;
}

} // namespace teewire::replay
