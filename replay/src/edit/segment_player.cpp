#include "edit/segment_player.hpp"

#include "base/interrupts.hpp"
#include "recording/demo/demo_document.hpp"

#include <teewire/huffman.hpp>
#include <teewire/varint.hpp>

#include <fmt/format.h>

#include <utility>

namespace teewire::replay {
namespace {

// Kinds of quirks: those of notes, by their number, and what recorders never write.
constexpr std::uint32_t odd_marker = 1U << note_count;       // in another form, or a tick that does not increase
constexpr std::uint32_t odd_head = 1U << (note_count + 1);   // of a chunk: longer than it has to be
constexpr std::uint32_t odd_order = 1U << (note_count + 2);  // of chunks
constexpr std::uint32_t odd_unused = 1U << (note_count + 3); // a chunk of type 0
static_assert(quirk_count == note_count + 4);

std::string describe_quirk(std::uint32_t kinds) {
    for (unsigned i = 0; i < note_count; ++i)
        if ((kinds >> i & 1) != 0) return std::string{describe(static_cast<note>(i))};
    if ((kinds & odd_marker) != 0) return "a tick marker that no recorder writes";
    if ((kinds & odd_head) != 0) return "a chunk with a longer header than it needs";
    if ((kinds & odd_order) != 0) return "a snapshot in an impossible place";
    return "a chunk of the unused type 0";
}

} // namespace

segment_player::segment_player(std::span<std::uint8_t const> file, segment_memory& memory, size_table const& sizes,
                               std::uint32_t refused)
    : reader_{*demo_reader::open(file)}, memory_{memory}, sizes_{sizes}, refused_{refused}, state_{memory.state},
      max_step_{reader_.header().version >= 5 ? 31 : 63} {}

segment segment_player::play(std::size_t begin, sink const& give, bool keep_open_tick) {
    out_ = {};
    out_.begin = begin;
    reader_.seek(begin, -1);
    has_state_ = false;
    place_ = place::elsewhere;
    std::int32_t tick = -1;
    for (demo_chunk chunk; !interrupted() && reader_.next(chunk);) {
        bool const next_stretch =
            chunk.kind == demo_chunk_kind::tick && chunk.keyframe && chunk.absolute && tick >= 0;
        bool const accepted = next_stretch || accept(chunk, tick);
        // A marker is the end of the tick before it.
        if (chunk.kind == demo_chunk_kind::tick && place_ == place::behind_marker && accepted)
            add_snapshot(tick, give);
        if (next_stretch || !accepted || !play_chunk(chunk, give)) {
            out_.end = chunk.position;
            return std::move(out_);
        }
        tick = chunk.tick;
    }
    out_.end = reader_.position();
    if (reader_.error().code != errc::ok) {
        out_.end = reader_.error().position;
        fail(reader_.error(), demo_stage::chunk, tick, out_.end);
    } else if (place_ == place::behind_marker) {
        if (keep_open_tick) add_snapshot(tick, give);
        else out_.open_tick = tick;
    }
    return std::move(out_);
}

bool segment_player::is_keyframe(std::size_t at, std::uint64_t& cost) {
    out_ = {};
    reader_.seek(at, -1);
    place_ = place::elsewhere;
    demo_chunk marker, chunk;
    if (!reader_.next(marker) || !reader_.next(chunk) || chunk.kind != demo_chunk_kind::snapshot) return false;
    cost += chunk.payload.size();
    place_ = place::behind_keyframe;
    if (!accept(chunk, marker.tick) || !play_chunk(chunk, {})) return false;
    if (sizes_fit(state_.view(), sizes_)) return true;
    // Modifications have sizes of their own; then what comes next has to be in order.
    constexpr int further_chunks = 6;
    std::int32_t tick = marker.tick;
    for (int i = 0; i < further_chunks; ++i) {
        if (!reader_.next(chunk)) return false;
        cost += chunk.payload.size();
        if (!accept(chunk, tick) || !play_chunk(chunk, {})) return false;
        tick = chunk.tick;
    }
    return true;
}

void segment_player::fail(failure what, demo_stage stage, std::int32_t tick, std::size_t position) {
    out_.damage = explain({what, stage, tick, position});
}

// Whether the form is one that recorders choose. `tick`: that of the marker before.
bool segment_player::accept(demo_chunk const& chunk, std::int32_t tick) {
    std::uint32_t odd = 0;
    if (chunk.kind == demo_chunk_kind::tick) {
        bool const small_step = tick >= 0 && chunk.tick - tick <= max_step_;
        if (chunk.tick <= tick || (!chunk.absolute && chunk.keyframe) ||
            (chunk.absolute && !chunk.keyframe && small_step))
            odd = odd_marker;
    } else {
        std::size_t const size = chunk.payload.size();
        std::size_t const head = size < 30 ? 1 : size < 256 ? 2 : 3;
        if (reader_.position() - chunk.position != head + size) odd |= odd_head;
        if (chunk.kind == demo_chunk_kind::unused) odd |= odd_unused;
        bool const right = chunk.kind == demo_chunk_kind::snapshot ? place_ == place::behind_keyframe
                           : chunk.kind == demo_chunk_kind::delta  ? place_ == place::behind_marker
                                                                   : true;
        if (!right) odd |= odd_order;
    }
    return tolerate(odd, chunk);
}

bool segment_player::tolerate(std::uint32_t odd, demo_chunk const& chunk) {
    out_.quirks |= odd;
    if ((odd & refused_) == 0) return true;
    out_.damage = fmt::format("tick {}, byte {}: {}", chunk.tick, chunk.position, describe_quirk(odd & refused_));
    return false;
}

void segment_player::add_snapshot(std::int32_t tick, sink const& give) {
    place_ = place::elsewhere;
    if (!has_state_ || tick < 0) return;
    if (out_.first_tick < 0) out_.first_tick = tick;
    out_.last_tick = tick;
    ++out_.snapshots;
    if (give.snapshot) give.snapshot(tick, state_.view());
}

bool segment_player::play_chunk(demo_chunk const& chunk, sink const& give) {
    auto const refuse = [&](failure what, demo_stage stage) {
        fail(what, stage, chunk.tick, chunk.position);
        return false;
    };
    if (chunk.kind == demo_chunk_kind::tick) {
        place_ = chunk.keyframe ? place::behind_keyframe : place::behind_marker;
        return true;
    }
    if (chunk.kind == demo_chunk_kind::unused) return true;
    note_log notes;
    auto const packed = huffman_decode(chunk.payload, memory_.packed, &notes);
    if (!packed) return refuse(packed.error(), demo_stage::huffman);
    auto const count =
        decode_varints(std::span{memory_.packed}.first(*packed), memory_.ints, decoding::lenient, &notes);
    if (!count) return refuse(count.error(), demo_stage::varint);
    auto const ints = std::span{memory_.ints}.first(*count);
    if (chunk.kind == demo_chunk_kind::snapshot) {
        auto const view = snapshot_view::parse(ints, decoding::lenient, {}, &notes);
        if (!view) return refuse(view.error(), demo_stage::snapshot);
        if (failure const failed = state_.assign(*view); failed.code != errc::ok)
            return refuse(failed, demo_stage::snapshot);
    } else if (chunk.kind == demo_chunk_kind::delta) {
        if (!has_state_) return refuse({errc::missing_snapshot, 0}, demo_stage::delta);
        failure const failed = state_.apply(ints, sizes_, {decoding::lenient, {}, &notes});
        if (failed.code != errc::ok) return refuse(failed, demo_stage::delta);
    }
    std::uint32_t odd = 0;
    for (unsigned i = 0; i < note_count; ++i) odd |= static_cast<std::uint32_t>(notes.entries[i].count != 0) << i;
    out_.repeated_keys += notes[note::repeated_key].count != 0;
    if (!tolerate(odd, chunk)) return false;
    if (chunk.kind == demo_chunk_kind::message) {
        if (place_ == place::behind_marker) add_snapshot(chunk.tick, give); // nothing else comes for it
        if (give.message) give.message(chunk.tick, message_bytes(ints, memory_.message));
        return true;
    }
    has_state_ = true;
    add_snapshot(chunk.tick, give);
    return true;
}

} // namespace teewire::replay
