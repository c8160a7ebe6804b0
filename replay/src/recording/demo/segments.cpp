#include "recording/demo/segments.hpp"

#include "base/interrupts.hpp"
#include "recording/demo/demo_stream.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace teewire::replay {
namespace {

// Segments of less than this are not worth their overhead.
constexpr std::size_t min_segment_bytes = 16 << 10;
static_assert(min_segment_bytes >= max_demo_header_bytes, "session::reader() needs the header");
// What waits for delivery is looked after whenever it has grown by so much.
constexpr std::size_t piece_bytes = 64 << 10;
// A worker may be ahead of what has been delivered by so much.
constexpr std::size_t segments_per_worker = 4;
constexpr std::size_t waiting_bytes_per_worker = 16 << 20;

struct segment {
    std::size_t begin = 0;
    std::size_t end = 0;
    demo_keyframe const* keyframe = nullptr; // none if it begins with the file's first chunk
    std::optional<std::int32_t> after;       // the tick to go to in it
};

// A segment on its way, and what has been made of it.
struct slot {
    segment where;
    std::unique_ptr<segment_sink> part;
    decoded outcome;
    std::int32_t last_tick = -1;
    std::size_t waiting_bytes = 0;
    bool complete = false;
};

// The joint work of several threads on one demo. Helpers that come too late find nothing to do, and touch nothing
// that is gone by then.
class joint_work : public std::enable_shared_from_this<joint_work> {
public:
    joint_work(demo_document const& demo, workers& team, decode_options const& options)
        : demo_{demo}, team_{team}, options_{options}, next_{demo.first_chunk(), 0, nullptr, {}} {
        auto const keyframes = demo.keyframes();
        bool split = team.count() > 1;
        if (options.after && !keyframes.empty()) {
            for (demo_keyframe const& k : keyframes)
                if (k.tick <= *options.after) next_.keyframe = &k;
            // A player goes to the first one then, and on to ticks after it, in whatever segment they are.
            split = split && next_.keyframe != nullptr;
            if (next_.keyframe == nullptr) next_.keyframe = &keyframes.front();
            next_.begin = next_.keyframe->position;
            next_.after = options.after;
            later_ = keyframes.subspan(static_cast<std::size_t>(next_.keyframe - keyframes.data()) + 1);
        } else {
            later_ = keyframes;
        }
        if (!split) later_ = {};
        slots_.resize(std::min(later_.size() + 1, segments_per_worker * team.count()));
        if (options.make_part)
            for (slot& s : slots_) s.part = options.make_part();
        total_.notes = demo.header_notes();
    }

    decoded run() {
        help();
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return active_ == 0; });
        slots_.clear(); // late helpers keep the rest
        if (thrown_) std::rethrow_exception(thrown_);
        if (options_.done_bytes != nullptr) *options_.done_bytes += demo_.file_size() - counted_bytes_;
        return total_;
    }

private:
    // Takes segments until there are no more.
    void help() {
        std::unique_lock lock{mutex_};
        while (claim(lock)) {
            std::size_t const number = claimed_++;
            slot& s = at(number);
            start(s);
            ++active_;
            call_helper();
            lock.unlock();
            try {
                bool const played = play(number, s);
                lock.lock();
                if (played) finish(number, lock);
                else stop();
            } catch (...) {
                if (!lock.owns_lock()) lock.lock();
                if (!thrown_) thrown_ = std::current_exception();
                stop();
            }
            --active_;
            changed_.notify_all();
        }
    }

    // Each helper calls the next one: busy teams do not get heaps of calls that come to nothing.
    void call_helper() {
        if (exhausted_ || helpers_ + 1 >= team_.count()) return;
        ++helpers_;
        team_.post([self = shared_from_this()] { self->help(); });
    }

    // Waits until a slot is free. The first segment that has not been delivered is always being worked on.
    bool claim(std::unique_lock<std::mutex>& lock) {
        changed_.wait(lock, [&] { return stopped_ || exhausted_ || claimed_ < delivered_ + slots_.size(); });
        return !stopped_ && !exhausted_;
    }

    void start(slot& s) {
        while (!later_.empty() && later_.front().position - next_.begin < min_segment_bytes)
            later_ = later_.subspan(1);
        s.where = next_;
        s.where.end = later_.empty() ? demo_.file_size() : later_.front().position;
        exhausted_ = later_.empty();
        if (!exhausted_) next_ = {s.where.end, 0, &later_.front(), {}};
        s.outcome = {};
        s.complete = false;
    }

    // False if the work was stopped.
    bool play(std::size_t number, slot& s) {
        segment const& where = s.where;
        decoded& found = s.outcome;
        size_table const& sizes = *demo_.sizes().sizes;
        demo_player player{
            demo_.reader(where.begin, where.end), thread_memory(), {&sizes, decoding::lenient, &found.notes}};
        if (s.part) s.part->begin();
        std::size_t counted = where.begin;
        std::size_t next_piece = piece_bytes;
        bool good = !where.after || player.seek(*where.after, {where.keyframe, 1});
        for (demo_event event; good && player.next(event);) {
            if (event.kind == demo_event_kind::tick) continue;
            if (stopped_ || interrupted()) return false;
            if (event.kind == demo_event_kind::message) ++found.messages;
            else ++found.snapshots;
            if (event.keyframe && demo_.sizes_assumed())
                found.keyframes_fit = found.keyframes_fit && sizes_fit(player.state(), sizes);
            if (event.position - counted >= piece_bytes)
                count(event.position - std::exchange(counted, event.position));
            if (!s.part) continue;
            s.part->put(to_stream_event(event, player.state()));
            if (s.part->size() < next_piece) continue;
            if (!hand_over(number, s)) return false;
            next_piece = s.part->size() + piece_bytes;
        }
        count(player.position() - counted);
        found.error = player.error();
        s.last_tick = player.tick();
        return true;
    }

    void count(std::size_t bytes) {
        counted_bytes_ += bytes;
        if (options_.done_bytes != nullptr) *options_.done_bytes += bytes;
    }

    // In the middle of a segment: what comes first in the file goes out at once, the others wait when too much has
    // gathered. False if the work was stopped.
    bool hand_over(std::size_t number, slot& s) {
        std::unique_lock lock{mutex_};
        waiting_bytes_ += s.part->size() - s.waiting_bytes;
        s.waiting_bytes = s.part->size();
        changed_.wait(lock, [&] {
            return stopped_ || number == delivered_ || waiting_bytes_ <= waiting_bytes_per_worker * team_.count();
        });
        if (stopped_) return false;
        if (number == delivered_) deliver_part(s, lock);
        return true;
    }

    void deliver_part(slot& s, std::unique_lock<std::mutex>& lock) {
        waiting_bytes_ -= std::exchange(s.waiting_bytes, 0);
        lock.unlock();
        if (s.part) s.part->deliver();
        lock.lock();
    }

    // Delivers a complete segment and those behind it, unless others come before it.
    void finish(std::size_t number, std::unique_lock<std::mutex>& lock) {
        at(number).complete = true;
        if (at(number).outcome.failed()) exhausted_ = true; // whatever comes later, nobody will see it
        for (; number == delivered_ && number < claimed_ && at(number).complete && !stopped_; ++number) {
            slot& s = at(number);
            deliver_part(s, lock);
            add_outcome(s);
            if (total_.failed()) stop();
            ++delivered_;
            changed_.notify_all();
        }
    }

    // Adds up what one player would have found.
    void add_outcome(slot const& s) {
        decoded const& found = s.outcome;
        total_.snapshots += found.snapshots;
        total_.messages += found.messages;
        total_.error = found.error;
        total_.keyframes_fit = total_.keyframes_fit && found.keyframes_fit;
        // Two things that one player knows and that of the segment did not: the tick before its first marker, and
        // the origin of notes before its first chunk of data.
        if (s.where.keyframe != nullptr && s.where.keyframe->tick <= last_tick_)
            total_.notes.add(note::tick_order, s.where.begin);
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

    void stop() {
        stopped_ = true;
        changed_.notify_all();
    }

    [[nodiscard]] slot& at(std::size_t number) { return slots_[number % slots_.size()]; }

    demo_document const& demo_;
    workers& team_;
    decode_options const& options_;

    std::mutex mutex_; // for everything below
    std::condition_variable changed_;
    std::vector<slot> slots_; // that of a segment belongs to its worker until it is complete
    segment next_;
    std::span<demo_keyframe const> later_; // where segments after the next one may begin
    std::size_t claimed_ = 0;
    std::size_t delivered_ = 0;
    std::size_t active_ = 0;  // threads that work on a segment
    std::size_t helpers_ = 0; // called so far
    std::size_t waiting_bytes_ = 0;
    decoded total_;
    std::int32_t last_tick_ = -1;
    bool exhausted_ = false;
    std::exception_ptr thrown_;
    std::atomic<bool> stopped_ = false; // these two are read or changed without the lock too
    std::atomic<std::size_t> counted_bytes_ = 0;
};

} // namespace

decoded decode(demo_document const& demo, workers& team, decode_options const& options) {
    return std::make_shared<joint_work>(demo, team, options)->run();
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
