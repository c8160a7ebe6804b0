#include "recording/demo/segments.hpp"

#include "base/interrupts.hpp"
#include "base/lent.hpp"
#include "base/parallel_ordered.hpp"
#include "recording/demo/demo_stream.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

namespace teewire::replay {
namespace {

// Segments of less than this are not worth their overhead.
constexpr std::size_t min_segment_bytes = 16 << 10;
static_assert(min_segment_bytes >= max_demo_header_bytes, "session::reader() needs the header");
// Results that wait for delivery are checked each time they have grown by this much.
constexpr std::size_t segment_piece = 64 << 10;
// A worker may be ahead of what has been delivered by so much.
constexpr std::size_t segments_per_worker = 4;
constexpr std::size_t waiting_bytes_per_worker = 16 << 20;

struct segment {
    std::size_t begin = 0;
    std::size_t end = 0;
    demo_keyframe const* keyframe = nullptr; // none if it begins with the file's first chunk
    std::optional<std::int32_t> after;       // the tick to go to in it
};

// The segments, one after the other from the one where `after` is.
std::vector<segment> divide(demo_document const& demo, decode_options const& options, bool split) {
    std::optional<std::int32_t> const after = options.after;
    auto later = demo.keyframes(); // where segments after the next one may begin
    std::size_t end = demo.file_size();
    if (demo.overview().restarts == 0 && demo.overview().error.code == errc::ok) {
        auto const past = std::find_if(later.begin(), later.end(),
                                       [&](demo_keyframe const& k) { return k.tick > options.until; });
        if (past != later.end() && past != later.begin()) {
            end = past->position;
            later = later.first(static_cast<std::size_t>(past - later.begin()));
        }
    }
    segment next{demo.first_chunk(), 0, nullptr, {}};
    if (after && !later.empty()) {
        for (demo_keyframe const& k : later)
            if (k.tick <= *after) next.keyframe = &k;
        // A player goes to the first one then, and on to ticks after it, in whatever segment they are.
        split = split && next.keyframe != nullptr;
        if (next.keyframe == nullptr) next.keyframe = &later.front();
        next.begin = next.keyframe->position;
        next.after = after;
        later = later.subspan(static_cast<std::size_t>(next.keyframe - later.data()) + 1);
    }
    std::vector<segment> all;
    for (demo_keyframe const& k : later) {
        if (!split || k.position - next.begin < min_segment_bytes) continue;
        next.end = k.position;
        all.push_back(std::exchange(next, {k.position, 0, &k, {}}));
    }
    next.end = end;
    all.push_back(next);
    return all;
}

// The result of a segment. The next segment in this slot uses the same sink.
struct slot {
    std::unique_ptr<segment_sink> part;
    decoded outcome;
    std::int32_t last_tick = -1;
};

class demo_decoding final : public ordered_work {
public:
    demo_decoding(demo_document const& demo, workers& team, decode_options const& options)
        : demo_{demo}, options_{options}, segments_{divide(demo, options, team.count() > 1)},
          slots_(std::min(segments_.size(), segments_per_worker * team.count())) {
        if (options.make_part)
            for (slot& s : slots_) s.part = options.make_part();
        total_.notes = demo.header_notes();
    }

    decoded run(workers& team) {
        parallel_ordered(team, {segments_.size(), slots_.size(), waiting_bytes_per_worker}, *this);
        if (options_.done_bytes != nullptr) *options_.done_bytes += demo_.file_size() - counted_bytes_;
        return total_;
    }

private:
    outcome make(std::size_t number, ordered_turn& turn) override {
        slot& s = slots_[number % slots_.size()];
        segment const& where = segments_[number];
        s.outcome = {};
        decoded& found = s.outcome;
        size_table const& sizes = *demo_.sizes().sizes;
        lent<demo_player_memory> memory;
        demo_player player{
            demo_.reader(where.begin, where.end), *memory, {&sizes, decoding::lenient, &found.notes}};
        if (s.part) s.part->begin();
        std::size_t counted = where.begin;
        std::size_t next_piece = segment_piece;
        bool good = !where.after || player.seek(*where.after, {where.keyframe, 1});
        for (demo_event event; good && player.next(event);) {
            if (event.kind == demo_event_kind::tick) continue;
            if (turn.stopped() || interrupted()) return outcome::stopped;
            if (event.kind == demo_event_kind::message) ++found.messages;
            else ++found.snapshots;
            if (event.keyframe && demo_.sizes_assumed())
                found.keyframes_fit = found.keyframes_fit && sizes_fit(player.state(), sizes);
            if (event.position - counted >= segment_piece)
                count(event.position - std::exchange(counted, event.position));
            if (!s.part) continue;
            s.part->put(to_stream_event(event, player.state()));
            if (s.part->size() < next_piece) continue;
            if (!turn.offer(s.part->size())) return outcome::stopped;
            next_piece = s.part->size() + segment_piece;
        }
        count(player.position() - counted);
        found.error = player.error();
        s.last_tick = player.tick();
        return found.failed() ? outcome::last : outcome::more;
    }

    void deliver(std::size_t number, bool complete) override {
        slot& s = slots_[number % slots_.size()];
        if (s.part) s.part->deliver();
        if (complete) add_outcome(segments_[number], s);
    }

    void count(std::size_t bytes) {
        counted_bytes_ += bytes;
        if (options_.done_bytes != nullptr) *options_.done_bytes += bytes;
    }

    // Adds up what one player would have found.
    void add_outcome(segment const& where, slot const& s) {
        decoded const& found = s.outcome;
        total_.snapshots += found.snapshots;
        total_.messages += found.messages;
        total_.error = found.error;
        total_.keyframes_fit = total_.keyframes_fit && found.keyframes_fit;
        // Two things that one player knows and that of the segment did not: the tick before its first marker, and
        // the origin of notes before its first chunk of data.
        if (where.keyframe != nullptr && where.keyframe->tick <= last_tick_)
            total_.notes.add(note::tick_order, where.begin);
        for (std::size_t i = 0; i < note_count; ++i) {
            auto const& entry = found.notes.entries[i];
            auto& sum = total_.notes.entries[i];
            if (entry.count == 0) continue;
            if (sum.count == 0) {
                sum.origin = entry.origin != 0 ? entry.origin : total_.notes.origin;
                sum.position = entry.position;
            }
            sum.count += std::min(entry.count, UINT32_MAX - sum.count);
        }
        if (found.notes.origin != 0) total_.notes.origin = found.notes.origin;
        last_tick_ = s.last_tick;
    }

    demo_document const& demo_;
    decode_options const& options_;
    std::vector<segment> const segments_;
    std::vector<slot> slots_; // each belongs to the thread that makes its segment, then to the one that delivers it
    std::atomic<std::size_t> counted_bytes_ = 0;
    decoded total_; // of what has been delivered
    std::int32_t last_tick_ = -1;
};

} // namespace

decoded decode(demo_document const& demo, workers& team, decode_options const& options) {
    return demo_decoding{demo, team, options}.run(team);
}

bool verify_size_table(demo_document& demo, decoded const& outcome) {
    if (!demo.sizes_assumed() || interrupted()) return true;
    // As detect_size_table judges a trial.
    if (!outcome.failed() && outcome.keyframes_fit && signs_of_wrong_sizes(outcome.notes) == 0) {
        demo.accept_sizes();
        return true;
    }
    auto const* const assumed = demo.sizes().sizes;
    demo.detect_sizes();
    return demo.sizes().sizes == assumed;
}

} // namespace teewire::replay
