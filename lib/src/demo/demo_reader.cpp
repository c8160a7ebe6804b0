#include "teewire/demo_reader.hpp"

#include "teewire/huffman.hpp"
#include "teewire/varint.hpp"

#include "../codec/codec_functions.hpp"
#include "../codec/huffman_end.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace teewire {

// ---- chunks --------------------------------------------------------------------------------------------------------

result<demo_reader> demo_reader::open(std::span<std::uint8_t const> file, note_log* notes) noexcept {
    auto const header = parse_demo_header(file, notes);
    if (!header) return header.error();
    if (header->map_size > file.size() - header->size()) return failure{errc::truncated, file.size()};
    demo_reader reader;
    reader.file_ = file;
    reader.header_ = *header;
    reader.notes_ = notes;
    reader.at_ = header->size() + header->map_size;
    return reader;
}

void demo_reader::extend(std::span<std::uint8_t const> file) noexcept {
    assert(file.size() >= file_.size());
    file_ = file;
    if (error_.code == errc::truncated) error_ = {};
}

void demo_reader::seek(std::size_t position, std::int32_t tick) noexcept {
    assert(position <= file_.size());
    at_ = position;
    tick_ = tick;
    error_ = {};
}

bool demo_reader::read_head(std::size_t& at, demo_chunk& out) const noexcept {
    out.position = at;
    std::uint32_t const first = file_[at++];
    if ((first & 0x80) != 0) {
        out.kind = demo_chunk_kind::tick;
        out.keyframe = (first & 0x40) != 0;
        out.absolute = header_.version >= 5 ? (first & 0x20) == 0 : (first & 0x3f) == 0;
        out.payload = {};
        std::size_t const more = out.absolute ? 4 : 0;
        if (file_.size() - at < more) return false;
        at += more;
        return true;
    }
    out.kind = static_cast<demo_chunk_kind>(first >> 5);
    out.keyframe = out.absolute = false;
    std::size_t size = first & 0x1f;
    if (size >= 30) {
        std::size_t const more = size - 29;
        if (file_.size() - at < more) return false;
        size = file_[at];
        if (more == 2) size |= static_cast<std::size_t>(file_[at + 1]) << 8;
        at += more;
    }
    if (file_.size() - at < size) return false;
    out.payload = file_.subspan(at, size);
    at += size;
    return true;
}

bool demo_reader::next(demo_chunk& out) noexcept {
    if (error_.code != errc::ok || at_ == file_.size()) return false;
    std::size_t const start = at_;
    std::size_t at = at_;
    bool const whole = read_head(at, out);
    if (out.kind == demo_chunk_kind::tick) {
        if (!out.absolute && tick_ < 0) return fail(errc::bad_tick, start);
        if (!whole) return fail(errc::truncated, start);
        std::int64_t tick = 0;
        if (out.absolute) {
            for (std::size_t i = 1; i <= 4; ++i) tick = tick << 8 | file_[start + i];
        } else {
            tick = std::int64_t{tick_} + (file_[start] & (header_.version >= 5 ? 0x1f : 0x3f));
        }
        if (tick > INT32_MAX) return fail(errc::bad_tick, start); // negative, or an overflow
        if (notes_ != nullptr && tick <= tick_) notes_->add(note::tick_order, start);
        tick_ = static_cast<std::int32_t>(tick);
    } else {
        if (!whole) return fail(errc::truncated, start);
        if (notes_ != nullptr && out.kind == demo_chunk_kind::unused) notes_->add(note::unknown_chunk, start);
        if (notes_ != nullptr && out.kind == demo_chunk_kind::message && tick_ < 0)
            notes_->add(note::early_message, start);
    }
    at_ = at;
    out.tick = tick_;
    return true;
}

// ---- overview ------------------------------------------------------------------------------------------------------

demo_overview scan_demo(demo_reader reader, std::span<demo_keyframe> keyframes) noexcept {
    demo_overview overview;
    demo_chunk marker;
    bool open_keyframe = false;
    for (demo_chunk chunk; reader.next(chunk);) {
        auto& kind = overview.kinds[static_cast<std::size_t>(chunk.kind)];
        ++kind.chunks;
        kind.bytes += reader.position() - chunk.position;
        if (chunk.kind == demo_chunk_kind::tick) {
            if (overview.ticks++ == 0) overview.first_tick = chunk.tick;
            else if (chunk.tick <= overview.last_tick) ++overview.restarts;
            overview.last_tick = chunk.tick;
            open_keyframe = chunk.keyframe && chunk.absolute;
            marker = chunk;
        } else if (chunk.kind == demo_chunk_kind::snapshot && open_keyframe) {
            open_keyframe = false;
            if (overview.keyframes < keyframes.size())
                keyframes[overview.keyframes] = {marker.tick, marker.position};
            ++overview.keyframes;
        } else if (chunk.kind == demo_chunk_kind::delta) {
            open_keyframe = false; // needs what came before
        }
    }
    overview.error = reader.error();
    return overview;
}

// ---- player --------------------------------------------------------------------------------------------------------

std::string_view name(demo_stage stage) noexcept {
    switch (stage) {
    case demo_stage::chunk: return "chunk";
    case demo_stage::huffman: return "huffman";
    case demo_stage::varint: return "varint";
    case demo_stage::snapshot: return "snapshot";
    case demo_stage::delta: return "delta";
    }
    return "unknown";
}

std::span<std::uint8_t const> message_bytes(std::span<std::int32_t const> ints,
                                            std::span<std::uint8_t> out) noexcept {
    assert(out.size() >= ints.size() * 4);
    if constexpr (std::endian::native == std::endian::little) {
        if (!ints.empty()) std::memcpy(out.data(), ints.data(), ints.size() * 4);
    } else {
        for (std::size_t i = 0; i < ints.size() * 4; ++i)
            out[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(ints[i / 4]) >> 8 * (i % 4));
    }
    return out.first(ints.size() * 4);
}

demo_player::demo_player(demo_reader const& reader, demo_player_memory& memory, options const& chosen) noexcept
    : reader_{reader}, memory_{memory}, options_{chosen}, state_{memory.state} {
    reader_.set_notes(options_.notes);
}

bool demo_player::fail(failure what, demo_stage stage, demo_chunk const& chunk) noexcept {
    error_ = {what, stage, chunk.tick, chunk.position};
    return false;
}

result<std::span<std::uint8_t const>> demo_player::decompress(demo_chunk const& chunk) noexcept {
    if (chunk.payload.size() > kernels::huffman_piece::max_bytes) {
        auto const size = huffman_decode(chunk.payload, memory_.packed, options_.notes);
        if (!size) return size.error();
        return std::span<std::uint8_t const>{memory_.packed}.first(*size);
    }
    auto const of_chunk = [&](chunk_ahead const& a) { return a.position == chunk.position; };
    auto found = std::find_if(ahead_.begin(), ahead_.end(), of_chunk);
    if (found == ahead_.end()) {
        decompress_ahead(chunk);
        found = ahead_.begin();
    }
    if (found->used == 0) return failure{errc::truncated, chunk.payload.size()};
    huffman::note_rest(chunk.payload, found->used, options_.notes);
    return std::span<std::uint8_t const>{memory_.ahead[static_cast<std::size_t>(found - ahead_.begin())]}.first(
        found->size);
}

// This one, and the next short ones.
void demo_player::decompress_ahead(demo_chunk const& chunk) noexcept {
    constexpr int looks = 16;
    static_assert(demo_player_memory::bytes_ahead == kernels::huffman_piece::out_bytes);
    std::array<kernels::huffman_piece, demo_player_memory::chunks_ahead> pieces;
    std::size_t n = 0;
    auto const add = [&](demo_chunk const& c) {
        auto const end = static_cast<std::size_t>(c.payload.data() + c.payload.size() - reader_.file_.data());
        pieces[n] = {c.payload, reader_.file_.size() - end, memory_.ahead[n].data()};
        ahead_[n++].position = c.position;
    };
    add(chunk);
    demo_chunk next;
    std::size_t at = reader_.position();
    for (int look = 0;
         look < looks && n < pieces.size() && at < reader_.file_.size() && reader_.read_head(at, next); ++look) {
        bool const wanted = next.kind == demo_chunk_kind::message
                                ? messages_wanted_
                                : next.kind == demo_chunk_kind::snapshot || next.kind == demo_chunk_kind::delta;
        if (wanted && next.payload.size() <= kernels::huffman_piece::max_bytes) add(next);
    }
    kernels::codec.huffman_decode_short(std::span{pieces}.first(n));
    for (std::size_t i = 0; i < n; ++i) {
        ahead_[i].size = static_cast<std::uint16_t>(pieces[i].size);
        ahead_[i].used = static_cast<std::uint16_t>(pieces[i].used);
    }
    std::fill(ahead_.begin() + static_cast<std::ptrdiff_t>(n), ahead_.end(), chunk_ahead{});
}

bool demo_player::decode(demo_chunk const& chunk, std::span<std::int32_t const>& ints) noexcept {
    auto const packed = decompress(chunk);
    if (!packed) return fail(packed.error(), demo_stage::huffman, chunk);
    auto const count = decode_varints(*packed, memory_.ints, options_.mode, options_.notes);
    if (!count) return fail(count.error(), demo_stage::varint, chunk);
    ints = std::span{memory_.ints}.first(*count);
    return true;
}

void demo_player::extend(std::span<std::uint8_t const> file) noexcept {
    reader_.extend(file);
    if (error_.stage == demo_stage::chunk && error_.what.code == errc::truncated) error_ = {};
}

// Decodes a snapshot or delta into state_.
bool demo_player::play(demo_chunk const& chunk) noexcept {
    if (options_.notes != nullptr) options_.notes->origin = chunk.position;
    std::span<std::int32_t const> ints;
    if (!decode(chunk, ints)) return false;
    if (chunk.kind == demo_chunk_kind::snapshot) {
        auto const view = snapshot_view::parse(ints, options_.mode, {}, options_.notes);
        if (!view) return fail(view.error(), demo_stage::snapshot, chunk);
        [[maybe_unused]] failure const refused = state_.assign(*view);
        assert(refused.code == errc::ok);
    } else {
        if (!has_state_) return fail({errc::missing_snapshot, 0}, demo_stage::delta, chunk);
        failure const refused = state_.apply(ints, *options_.sizes, {options_.mode, {}, options_.notes});
        if (refused.code != errc::ok) return fail(refused, demo_stage::delta, chunk);
    }
    has_state_ = true;
    return true;
}

bool demo_player::next(demo_event& out) noexcept {
    if (error_.what.code != errc::ok) return false;
    messages_wanted_ = true;
    for (demo_chunk chunk; reader_.next(chunk);) {
        out = {};
        out.tick = chunk.tick;
        out.position = chunk.position;
        switch (chunk.kind) {
        case demo_chunk_kind::tick: out.keyframe = chunk.keyframe; return true;
        case demo_chunk_kind::snapshot:
        case demo_chunk_kind::delta:
            out.kind = demo_event_kind::snapshot;
            out.keyframe = chunk.kind == demo_chunk_kind::snapshot;
            return play(chunk);
        case demo_chunk_kind::message: {
            if (options_.notes != nullptr) options_.notes->origin = chunk.position;
            std::span<std::int32_t const> ints;
            if (!decode(chunk, ints)) return false;
            out.kind = demo_event_kind::message;
            out.message = message_bytes(ints, memory_.message);
            return true;
        }
        case demo_chunk_kind::unused: break;
        }
    }
    if (reader_.error().code != errc::ok) {
        demo_chunk damaged;
        damaged.tick = reader_.tick();
        damaged.position = reader_.error().position;
        return fail(reader_.error(), demo_stage::chunk, damaged);
    }
    return false;
}

bool demo_player::seek(std::int32_t tick, std::span<demo_keyframe const> keyframes) noexcept {
    messages_wanted_ = false;
    demo_keyframe const* start = nullptr;
    for (demo_keyframe const& k : keyframes)
        if (k.tick <= tick) start = &k;
    if (start == nullptr && !keyframes.empty()) {
        start = &keyframes.front();
        tick = std::max(tick, start->tick);
    }
    if (start != nullptr) {
        // Going on from here is right if the target lies ahead and this is the stretch that begins with `start`.
        bool const last = start == &keyframes.back();
        bool const same_stretch =
            start->position < reader_.position() && (last || reader_.position() <= start[1].position);
        if (!has_state_ || error_.what.code != errc::ok || !same_stretch || reader_.tick() > tick) {
            reader_.seek(start->position, -1);
            error_ = {};
        }
    }
    for (;;) {
        std::int32_t const tick_before = reader_.tick();
        demo_chunk chunk;
        if (!reader_.next(chunk)) break;
        if (chunk.kind == demo_chunk_kind::tick) {
            if (chunk.tick > tick && has_state_) {
                reader_.seek(chunk.position, tick_before);
                return true;
            }
        } else if (chunk.kind == demo_chunk_kind::snapshot || chunk.kind == demo_chunk_kind::delta) {
            if (!play(chunk)) return false;
        }
    }
    if (reader_.error().code == errc::ok) return true;
    demo_chunk damaged;
    damaged.tick = reader_.tick();
    damaged.position = reader_.error().position;
    return fail(reader_.error(), demo_stage::chunk, damaged);
}

// ---- size table ----------------------------------------------------------------------------------------------------

bool sizes_fit(snapshot_view snapshot, size_table const& sizes) noexcept {
    return std::all_of(snapshot.begin(), snapshot.end(), [&](item const& i) {
        std::size_t const agreed = sizes[i.type()];
        return agreed == 0 || agreed == i.data.size();
    });
}

std::uint64_t signs_of_wrong_sizes(note_log const& notes) noexcept {
    std::uint64_t count = 0;
    for (note const n :
         {note::unknown_removed_key, note::repeated_key, note::update_count, note::unsigned_key_half})
        count += notes[n].count;
    return count;
}

namespace {

struct trial {
    std::size_t reached = 0; // byte of the file
    std::uint64_t signs = 0; // of wrong sizes
    bool keyframes_fit = true;
};

trial try_sizes(demo_reader const& reader, demo_player_memory& memory, size_table const& sizes,
                std::size_t max_snapshots) noexcept {
    note_log notes;
    demo_player player{reader, memory, {&sizes, decoding::lenient, &notes}};
    trial t;
    demo_event event;
    for (std::size_t snapshots = 0; snapshots < max_snapshots && player.next(event);) {
        if (event.kind != demo_event_kind::snapshot) continue;
        ++snapshots;
        if (event.keyframe) t.keyframes_fit = t.keyframes_fit && sizes_fit(player.state(), sizes);
    }
    t.reached = player.error().what.code == errc::ok ? SIZE_MAX : player.error().position;
    t.signs = signs_of_wrong_sizes(notes);
    return t;
}

bool better(trial const& a, trial const& b) noexcept {
    if (a.keyframes_fit != b.keyframes_fit) return a.keyframes_fit;
    if (a.reached != b.reached) return a.reached > b.reached;
    return a.signs < b.signs;
}

} // namespace

named_size_table const& detect_size_table(demo_reader const& reader, demo_player_memory& memory) noexcept {
    // The table for 0.6 leaves nothing open, so that a look at the start is enough. Those for 0.7 differ in items that
    // may come late.
    named_size_table const& table_06 = size_tables[0];
    if (!reader.header().says_07()) {
        trial const start = try_sizes(reader, memory, *table_06.sizes, 64);
        if (start.reached == SIZE_MAX && start.keyframes_fit) return table_06;
    }
    std::size_t const first = reader.header().says_07() ? 1 : 0;
    named_size_table const* best = &size_tables[first];
    trial best_trial;
    for (std::size_t i = 0; i < size_tables.size(); ++i) {
        named_size_table const& candidate = size_tables[(first + i) % size_tables.size()];
        trial const t = try_sizes(reader, memory, *candidate.sizes, SIZE_MAX);
        if (i == 0 || better(t, best_trial)) {
            best = &candidate;
            best_trial = t;
        }
        if (t.reached == SIZE_MAX && t.keyframes_fit && t.signs == 0) break;
    }
    return *best;
}

protocol detect_protocol(demo_reader const& reader, demo_player_memory& memory, size_table const& sizes) noexcept {
    if (sizes != sizes_06) return protocol::teeworlds_07;
    demo_player player{reader, memory, {&sizes, decoding::lenient, nullptr}};
    demo_event event;
    for (int snapshots = 0; snapshots < 64 && player.next(event);) {
        if (event.kind != demo_event_kind::snapshot) continue;
        ++snapshots;
        for (item const i : player.state())
            if (i.type() == type_ex && i.id() >= first_alias) return protocol::ddnet;
    }
    return protocol::teeworlds_06;
}

} // namespace teewire
