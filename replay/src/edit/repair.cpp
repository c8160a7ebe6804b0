#include "edit/repair.hpp"

#include "base/interrupts.hpp"
#include "base/lent.hpp"
#include "edit/segment_choice.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/demo/demo_output.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/message_types.hpp>
#include <teewire/sha256.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace teewire::replay {
namespace {

// Whether the bytes after the header are the map that it names.
bool names_map(demo_header const& header, std::span<std::uint8_t const> map) {
    return map_crc32(map) == header.map_crc || (header.has_sha256 && sha256(map) == header.sha256);
}

// Whether all of a map can be read.
bool is_sound(std::span<std::uint8_t const> map) {
    auto const file = datafile::open(map);
    if (!file) return false;
    auto const memory = std::make_unique<inflate_memory>();
    for (std::size_t i = 0; i < file->block_count() && !interrupted(); ++i)
        if (!file->check_block(static_cast<std::int32_t>(i), *memory)) return false;
    return true;
}

// The size in the map's own header; 0 if it has none.
std::size_t stated_map_bytes(std::span<std::uint8_t const> map) {
    constexpr std::size_t head = 16; // before the part that it counts
    if (map.size() < head || !std::equal(map.begin(), map.begin() + 4, "DATA")) return 0;
    std::uint64_t size = head;
    for (std::size_t i = 0; i < 4; ++i) size += std::uint64_t{map[8 + i]} << 8 * i;
    return size <= map.size() ? static_cast<std::size_t>(size) : 0;
}

} // namespace

demo_repair::~demo_repair() = default;

demo_repair::demo_repair(std::span<std::uint8_t const> file, std::function<void(std::uint64_t)> progress)
    : file_{file}, progress_{std::move(progress)}, memory_{std::make_unique<segment_memory>()} {
    bool const has_header = file.size() >= demo_header{.version = min_demo_version}.size();
    if (has_header) read_header();
    if (!has_header || !demo_reader::open(file_)) {
        remarks_.emplace_back("the file is too short for a demo");
        return;
    }
    auto const detect = [&] {
        demo_reader reader = *demo_reader::open(file_);
        reader.seek(std::min(begin_, file_.size()), -1);
        lent<demo_player_memory> memory;
        sizes_ = detect_size_table(reader, *memory).sizes;
    };
    detect();
    std::size_t const stated = begin_;
    find_begin();
    if (begin_ != stated) detect();
    choose(scan_versions());
    if (!has_snapshots() || interrupted()) return;
    read_map();
    mend_texts();
}

// ---- header --------------------------------------------------------------------------------------------------------

void demo_repair::read_header() {
    auto const map_of = [&](demo_header const& h) {
        std::size_t const size = h.size();
        bool const fits = size <= file_.size() && h.map_size <= file_.size() - size;
        return fits ? std::optional{file_.subspan(size, h.map_size)} : std::nullopt;
    };
    auto const stated = parse_demo_header(file_);
    auto const matches = [&](demo_header const& h) {
        auto const map = map_of(h);
        return map && !map->empty() && names_map(h, *map);
    };
    map_matches_ = stated && matches(*stated);
    // Only version 6 has the marker of a SHA-256.
    bool const marked = file_.size() >= max_demo_header_bytes &&
                        std::equal(demo_sha256_marker.begin(), demo_sha256_marker.end(),
                                   file_.begin() + static_cast<std::ptrdiff_t>(demo_sha256_marker_offset));
    if (map_matches_ || (stated && stated->map_size == 0 && (stated->version >= 6 || !marked))) {
        header_ = *stated;
        begin_ = header_.size() + header_.map_size;
        return;
    }
    // With another version, the map may be where it is named.
    std::vector<std::uint8_t> head{
        file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(std::min(file_.size(), max_demo_header_bytes))};
    std::copy(demo_magic.begin(), demo_magic.end(), head.begin());
    std::uint8_t const version = stated ? stated->version : max_demo_version;
    std::uint8_t found = stated ? std::min(stated->version, max_demo_version) : std::uint8_t{0};
    for (std::uint8_t const other : {version, std::uint8_t{6}, std::uint8_t{5}, std::uint8_t{4}, std::uint8_t{3}}) {
        std::vector<std::uint8_t> trial = head;
        trial[demo_version_offset] = other;
        if (other >= 6 && trial.size() == max_demo_header_bytes)
            std::copy(demo_sha256_marker.begin(), demo_sha256_marker.end(),
                      trial.begin() + static_cast<std::ptrdiff_t>(demo_sha256_marker_offset));
        auto const parsed = parse_demo_header(trial);
        if (!parsed || !matches(*parsed)) continue;
        map_matches_ = true;
        found = other;
        head = std::move(trial);
        break;
    }
    if (!map_matches_) {
        if (found == 0 || marked) found = max_demo_version;
        head[demo_version_offset] = found;
    }
    auto const parsed = parse_demo_header(head);
    header_ = parsed ? *parsed : demo_header{};
    bool const fits = map_of(header_).has_value();
    begin_ = fits ? header_.size() + header_.map_size : header_.size();
    bool const mended = !std::equal(head.begin(), head.end(), file_.begin());
    if (mended) remarks_.push_back(fmt::format("header: damaged; read as version {}", header_.version));
    if (!mended && fits) return;
    // Readers want a header that is in order.
    mended_.assign(file_.begin(), file_.end());
    std::copy(head.begin(), head.end(), mended_.begin());
    if (!fits) std::fill_n(mended_.begin() + demo_map_size_offset, 4, std::uint8_t{0});
    file_ = mended_;
}

// Where the chunks begin, if the header does not say it for certain.
void demo_repair::find_begin() {
    if (map_matches_ || header_.map_size == 0) return;
    segment_player trial{file_, *memory_, *sizes_, 0};
    search_left_ = 64 * std::uint64_t{file_.size()};
    std::size_t const header_end = std::min(header_.size(), file_.size());
    for (std::size_t const at : {header_end + stated_map_bytes(file_.subspan(header_end)), begin_})
        if (at > header_end && trial.play(at, {}, false).snapshots != 0) {
            begin_ = at;
            return;
        }
    begin_ = find_keyframe(header_end, 0).value_or(file_.size());
}

void demo_repair::read_map() {
    std::size_t const begin = header_.size();
    if (header_.map_size == 0) return;
    std::size_t const most = kept_.empty() ? 0 : std::min(begin_, file_.size()) - std::min(begin, begin_);
    auto const all = file_.subspan(std::min(begin, file_.size()), most);
    if (map_matches_) {
        map_ = all.first(header_.map_size);
    } else {
        for (std::size_t const size : {stated_map_bytes(all), std::size_t{header_.map_size}, all.size()})
            if (map_.empty() && size != 0 && size <= all.size() && names_map(header_, all.first(size)))
                map_ = all.first(size);
        auto const stated = all.first(stated_map_bytes(all));
        if (!map_.empty())
            remarks_.emplace_back("map: the size in the header was wrong; the bytes match the header's checksum");
        else if (!stated.empty() && is_sound(stated)) {
            map_ = stated;
            remarks_.emplace_back("map: it is another map than the header names, and in order; both are kept");
        } else {
            remarks_.emplace_back(
                "map: its bytes are not those that the header names, and damaged; it is left out, and "
                "the header still names it");
        }
    }
    header_.map_size = static_cast<std::uint32_t>(map_.size());
    if (map_.empty() || !names_map(header_, map_)) return;
    std::uint32_t const crc = map_crc32(map_);
    auto const digest = sha256(map_);
    if (map_matches_ && crc != header_.map_crc) remarks_.emplace_back("header: the CRC of the map was wrong");
    if (map_matches_ && header_.has_sha256 && digest != header_.sha256)
        remarks_.emplace_back("header: the SHA-256 of the map was wrong");
    header_.map_crc = crc;
    header_.has_sha256 = true;
    header_.sha256 = digest;
}

void demo_repair::mend_texts() {
    std::string_view const net_version = text(header_.net_version);
    bool const is_07 = sizes_ != &sizes_06;
    if (!net_version.starts_with("0.6") && !net_version.starts_with("0.7")) {
        remarks_.emplace_back("header: the net version was damaged");
        set_text(header_.net_version, is_07 ? net_version_07 : net_version_06);
    }
    if (text(header_.type) != "client" && text(header_.type) != "server") {
        remarks_.emplace_back("header: the type (client or server) was damaged");
        set_text(header_.type, "client");
    }
    std::int32_t const first = kept_.front().first_tick, last = kept_.back().last_tick;
    demo_header const before = header_;
    header_.marker_count = 0;
    header_.marker_ticks = {};
    std::int32_t previous = -1;
    for (std::int32_t const marker : before.markers()) {
        if (marker < first || marker > last || marker <= previous) continue;
        header_.marker_ticks[static_cast<std::size_t>(header_.marker_count++)] = previous = marker;
    }
    if (before.version >= 4 && header_.marker_count != before.marker_count)
        remarks_.push_back(
            fmt::format("header: kept {} of {} timeline markers", header_.marker_count, before.marker_count));
}

// ---- segments -----------------------------------------------------------------------------------------------------

std::optional<std::size_t> demo_repair::find_keyframe(std::size_t from, std::uint32_t refused) {
    constexpr std::uint8_t absolute_keyframe = 0xc0;
    segment_player probe{file_, *memory_, *sizes_, refused};
    for (std::size_t at = from; at < file_.size() && !interrupted(); ++at) {
        auto const rest = file_.subspan(at);
        at += static_cast<std::size_t>(std::find(rest.begin(), rest.end(), absolute_keyframe) - rest.begin());
        std::uint64_t cost = 0;
        if (at < file_.size() && probe.is_keyframe(at, cost)) return at;
        // Untrusted bytes may look like one again and again, each as long as a chunk can be.
        if (cost > search_left_) return {};
        search_left_ -= cost;
    }
    return {};
}

std::vector<segment> demo_repair::scan(std::uint32_t refused) {
    search_left_ = 64 * std::uint64_t{file_.size()};
    segment_player probe{file_, *memory_, *sizes_, refused};
    std::vector<segment> all;
    bool follows = true;
    for (std::size_t at = begin_; at < file_.size() && !interrupted();) {
        segment s = probe.play(at, {}, false);
        s.follows = std::exchange(follows, s.damage.empty());
        std::size_t const next =
            s.damage.empty() ? s.end : find_keyframe(std::max(s.end, s.begin) + 1, refused).value_or(file_.size());
        if (progress_) progress_(next);
        at = next;
        all.push_back(std::move(s));
    }
    return all;
}

// Quirks that a recorder leaves all over its demo are not damage; others are, although they could be decoded.
std::vector<segment> demo_repair::scan_twice() {
    refused_ = 0;
    auto all = scan(0);
    std::array<std::size_t, quirk_count> counts{};
    std::size_t with_snapshots = 0;
    std::uint64_t snapshots = 0, repeated_keys = 0;
    for (segment const& s : all) {
        with_snapshots += s.snapshots != 0;
        snapshots += s.snapshots;
        repeated_keys += s.repeated_keys;
        for (unsigned i = 0; i < quirk_count; ++i) counts[i] += (s.quirks >> i & 1) != 0;
    }
    std::uint32_t seen = 0;
    for (unsigned i = 0; i < quirk_count; ++i) {
        // Types above 0x7fff are those of modifications.
        bool const habit = i == static_cast<unsigned>(note::unsigned_key_half) ||
                           (counts[i] > 2 && 4 * counts[i] >= with_snapshots) ||
                           (i == static_cast<unsigned>(note::repeated_key) && 2 * repeated_keys >= snapshots);
        if (!habit) refused_ |= 1U << i;
        if (!habit && counts[i] != 0) seen |= 1U << i;
    }
    return seen == 0 ? all : scan(refused_);
}

// By the header's length, which is in whole seconds.
std::int64_t demo_repair::last_by_header(segment const& first) const {
    return first.first_tick + (std::int64_t{header_.length} + 2) * ticks_per_second;
}

// Counts the segments that reach their ends and that the following ticks agree with; and whether the first one can be
// read.
demo_repair::intactness demo_repair::measure_intactness(std::vector<segment> const& found) const {
    auto const first = std::find_if(found.begin(), found.end(), [](segment const& s) { return s.snapshots != 0; });
    std::int64_t const last = header_.length > 0 && first != found.end() ? last_by_header(*first) : INT32_MAX;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        segment const& s = found[i];
        bool const agrees = i + 1 < found.size() ? s.last_tick < found[i + 1].first_tick : s.last_tick <= last;
        sum += s.snapshots != 0 && s.damage.empty() && agrees;
    }
    return {sum, first != found.end() && first == found.begin()};
}

// Ticks add up to something else than the next keyframe has where a demo is read as one of another version, and its
// beginning cannot be read where the header is longer or shorter.
std::vector<segment> demo_repair::scan_versions() {
    auto all = scan_twice();
    auto most = measure_intactness(all);
    if (header_.has_sha256 || ((most.begins_well || map_matches_) && 2 * most.segments > all.size())) return all;
    struct reading {
        std::vector<std::uint8_t> bytes;
        demo_header header;
        std::size_t begin;
        std::uint32_t refused;
        std::vector<segment> found;
    };
    std::optional<reading> best;
    auto const file_before = file_;
    auto const header_before = header_;
    auto const begin_before = begin_;
    auto const refused_before = refused_;
    // Version 6 is read like 5, but has a marker for its SHA-256.
    for (std::uint8_t const version : {std::uint8_t{5}, std::uint8_t{4}, std::uint8_t{3}}) {
        if (version == std::min(header_before.version, std::uint8_t{5})) continue;
        std::vector<std::uint8_t> bytes{file_before.begin(), file_before.end()};
        bytes[demo_version_offset] = version;
        auto const parsed = parse_demo_header(bytes);
        bool const is_one = parsed && parsed->marker_count >= 0 &&
                            parsed->marker_count <= static_cast<std::int32_t>(max_demo_markers) &&
                            (!map_matches_ || parsed->size() == header_before.size());
        if (!is_one) continue;
        if (!map_matches_) std::fill_n(bytes.begin() + demo_map_size_offset, 4, std::uint8_t{0});
        file_ = bytes;
        header_ = *parsed;
        begin_ = map_matches_ ? begin_before : std::min(header_.size(), file_.size());
        refused_ = 0;
        find_begin();
        auto found = scan_twice();
        auto const intact = measure_intactness(found);
        if (intact <= most) continue;
        most = intact;
        best.emplace(reading{std::move(bytes), header_, begin_, refused_, std::move(found)});
    }
    file_ = file_before;
    header_ = header_before;
    begin_ = begin_before;
    refused_ = refused_before;
    if (!best) return all;
    mended_ = std::move(best->bytes);
    file_ = mended_;
    header_ = best->header;
    begin_ = best->begin;
    refused_ = best->refused;
    remarks_.push_back(fmt::format("header: the version was damaged; read as version {}", header_.version));
    return std::move(best->found);
}

// Leaves out what is of that tick or later.
void demo_repair::end_before(segment& s, std::int32_t limit) {
    segment_player source{file_, *memory_, *sizes_, refused_};
    std::int32_t last = -1;
    std::uint64_t snapshots = 0;
    source.play(s.begin,
                {[&](std::int32_t tick, snapshot_view) {
                     if (tick >= limit) return;
                     last = tick;
                     ++snapshots;
                 },
                 {}},
                false);
    s.damage = fmt::format(
        "tick {}, byte {}: ticks before this keyframe are as late as {}: those from here on are left out", limit,
        s.end, s.last_tick);
    s.until = limit;
    s.last_tick = last;
    s.snapshots = snapshots;
}

// Where a marker has changed, or chunks are there twice, ticks run past the next keyframe, which has its own. Where they
// went wrong is not known, but from that keyframe on they are wrong.
void demo_repair::clip_overruns(std::span<segment> found, segment_gaps const& gaps) {
    for (std::size_t i = 0; i + 1 < found.size(); ++i) {
        std::int32_t const limit = found[i + 1].first_tick;
        bool const begins_well = i == 0 || gaps.fits_previous(i);
        bool const goes_on_well = i + 2 == found.size() || found[i + 2].snapshots == 0 || gaps.fits_next(i + 1);
        if (found[i + 1].follows && found[i].first_tick < limit && limit <= found[i].last_tick && begins_well &&
            goes_on_well)
            end_before(found[i], limit);
    }
}

void demo_repair::choose(std::vector<segment> found) {
    segment_gaps const gaps{found};
    clip_overruns(found, gaps);
    auto chain = heaviest_chain(found, gaps);
    if (chain.empty()) {
        if (!found.empty() && !found.front().damage.empty()) remarks_.push_back(found.front().damage);
        return;
    }
    // Nothing after the last one could contradict its ticks, but the header may, unless it follows soon after the one
    // before, without damage in between.
    if (header_.length > 0 && chain.size() > 1) {
        std::int64_t const end = last_by_header(found[chain.front()]);
        segment const &last = found[chain.back()], &previous = found[chain.end()[-2]];
        constexpr std::int64_t soon = 10 * ticks_per_second;
        bool const continues = last.follows && last.first_tick - std::int64_t{previous.last_tick} <= soon;
        if (last.last_tick > end && previous.last_tick <= end && !continues) chain.pop_back();
    }
    std::vector<bool> kept(found.size());
    for (std::size_t const i : chain) kept[i] = true;
    keep_longer_copies(found, kept);
    keep(found, kept);
    settle_open_tick();
    // Where the demo goes on after each loss.
    for (demo_loss& l : losses_) {
        auto const next = std::lower_bound(kept_.begin(), kept_.end(), l.end,
                                           [](segment const& s, std::size_t place) { return s.begin < place; });
        if (next != kept_.end()) l.before = next->first_tick;
    }
}

void demo_repair::keep(std::span<segment const> found, std::vector<bool> const& kept) {
    std::int32_t last = -1;
    for (std::size_t i = 0; i < found.size(); ++i) {
        segment const& s = found[i];
        std::size_t const next = i + 1 == found.size() ? file_.size() : found[i + 1].begin;
        if (kept[i]) {
            last = s.last_tick;
            snapshots_ += s.snapshots;
            kept_.push_back(s);
        } else if (s.snapshots != 0) {
            losses_.push_back({s.begin, next, last, -1,
                               fmt::format("tick {}, byte {}: these ticks do not fit the rest of the demo",
                                           s.first_tick, s.begin)});
            continue;
        }
        if (!s.damage.empty()) losses_.push_back({s.end, next, last, -1, s.damage});
    }
}

// A tick marker at the end is a tick without changes, or one whose snapshot was cut off. A header that was completed
// says which.
void demo_repair::settle_open_tick() {
    segment& end = kept_.back();
    if (end.open_tick < 0) return;
    bool const complete =
        header_.length > 0 && (end.open_tick - kept_.front().first_tick) / ticks_per_second == header_.length;
    if (complete) {
        end.last_tick = end.open_tick;
        ++snapshots_;
    } else {
        losses_.push_back(
            {end.end, end.end, end.last_tick, -1,
             fmt::format("tick {}, byte {}: the file ends after the tick marker", end.open_tick, end.end)});
        end.open_tick = -1;
    }
}

demo_repair::counts demo_repair::write(output_file& out, std::uint8_t version) const {
    demo_header header = header_;
    header.version = version;
    if (version < 6) header.has_sha256 = false;
    if (version < 4) header.marker_count = 0;
    demo_output to{out, header, map_, *sizes_};
    counts written;
    segment_player source{file_, *memory_, *sizes_, refused_};
    for (segment const& s : kept_) {
        if (interrupted()) break;
        source.play(s.begin,
                    {[&](std::int32_t tick, snapshot_view state) {
                         if (tick > s.after && tick < s.until)
                             ++(to.write_snapshot(tick, state) ? written.snapshots : written.refused);
                     },
                     [&](std::int32_t tick, std::span<std::uint8_t const> bytes) {
                         if ((tick > s.after || s.after < 0) && tick < s.until)
                             ++(to.write_message(bytes) ? written.messages : written.refused);
                     }},
                    s.open_tick >= 0);
    }
    static_cast<void>(to.finish(header.markers()));
    return written;
}

} // namespace teewire::replay
