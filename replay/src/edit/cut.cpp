#include "edit/cut.hpp"

#include "base/interrupts.hpp"

#include <teewire/huffman.hpp>
#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>
#include <teewire/varint.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

constexpr std::size_t block_bytes = 1 << 20; // signals come in between

// Whether a message chunk can have a lasting effect, by its first bytes: messages of the connection have none. Recordings of
// servers consist of them for the most part.
bool may_last(std::span<std::uint8_t const> payload) {
    constexpr std::size_t enough = 16; // for more bytes than `begin` has
    std::array<std::uint8_t, max_varint_bytes> begin{};
    auto const size = huffman_decode(payload.first(std::min(payload.size(), enough)), begin);
    if (!size && size.error().code != errc::output_full) return true;
    auto const first = decode_varint(std::span{begin}.first(size ? *size : begin.size()));
    return !first || (first->value & 1) == 0;
}

// Goes through the chunks once and puts a piece together for each range that it comes upon.
class piece_finder {
public:
    piece_finder(demo_document const& demo, std::span<tick_range const> ranges,
                 std::function<void(std::string const&)> const& damaged)
        : demo_{demo}, ranges_{ranges}, damaged_{damaged}, reader_{
                                                               demo.reader(demo.first_chunk(), demo.file_size())} {}

    std::vector<demo_piece> find() {
        for (demo_chunk chunk; !done() && !interrupted() && reader_.next(chunk);) {
            switch (chunk.kind) {
            case demo_chunk_kind::tick: marker(chunk); break;
            case demo_chunk_kind::snapshot:
            case demo_chunk_kind::delta: snapshot(chunk); break;
            case demo_chunk_kind::message:
            case demo_chunk_kind::unused: break;
            }
        }
        if (!done() && !interrupted()) {
            // A packed file can also be damaged where a chunk ends.
            demo_failure const failed{reader_.error(), demo_stage::chunk, reader_.tick(), reader_.error().position};
            if (std::string const text = demo_.error_text(failed); !text.empty())
                damaged_(text + (open_ ? "; everything before it is kept" : "; nothing after it can be found"));
        }
        if (open_) close(reader_.position());
        return std::move(found_);
    }

private:
    // The state of a piece being gone through.
    enum class phase : std::uint8_t {
        waiting, // for the full snapshot of its first tick, which the state needs
        first_tick,
        further_ticks,
    };

    // Nothing that can come matters.
    [[nodiscard]] bool done() const { return !open_ && next_ == ranges_.size(); }

    void marker(demo_chunk const& chunk) {
        bool const begins_file = std::exchange(begins_file_, false);
        if (open_ && phase_ != phase::waiting) {
            tick_range& ticks = open_->ticks;
            if (chunk.tick >= ticks.last && chunk.tick <= ranges_[next_ - 1].last) {
                ticks.last = chunk.tick;
                phase_ = phase::further_ticks;
                return;
            }
            if (chunk.tick < ticks.last)
                damaged_(fmt::format("{}: tick {}, byte {}: ticks go back to {}; everything before it is kept",
                                     demo_.name(), ticks.last, chunk.position, chunk.tick));
            close(chunk.position);
        }
        if (open_) give_up();
        begin(chunk, begins_file);
    }

    void begin(demo_chunk const& chunk, bool begins_file) {
        auto const behind =
            std::upper_bound(ranges_.begin() + static_cast<std::ptrdiff_t>(next_), ranges_.end(), chunk.tick,
                             [](std::int32_t t, tick_range const& r) { return t < r.first; });
        auto const number = static_cast<std::size_t>(behind - ranges_.begin());
        if (number == next_ || ranges_[number - 1].last < chunk.tick) return;
        demo_piece piece;
        piece.ticks = {chunk.tick, chunk.tick};
        piece.whole_begin = begins_file;
        piece.begin = begins_file ? demo_.first_chunk() : chunk.position;
        piece.marker_end = piece.snapshot_begin = piece.snapshot_end = reader_.position();
        piece.base = base_;
        bool const has_state = base_.position != SIZE_MAX;
        phase_ = has_state || begins_file ? phase::first_tick : phase::waiting;
        next_before_ = std::exchange(next_, number);
        open_ = piece;
    }

    void snapshot(demo_chunk const& chunk) {
        bool const full = chunk.kind == demo_chunk_kind::snapshot;
        if (full) base_ = {chunk.position, chunk.tick};
        if (!open_) return;
        if (open_->base.position == SIZE_MAX) {
            if (!full) {
                if (open_->whole_begin)
                    damaged_(demo_.error_text(
                                 {{errc::missing_snapshot, 0}, demo_stage::delta, chunk.tick, chunk.position}) +
                             "; the first full snapshot begins the demo");
                return give_up();
            }
            open_->base = base_;
            if (phase_ == phase::waiting) phase_ = phase::first_tick;
        }
        if (phase_ != phase::first_tick || open_->snapshot_end != open_->marker_end) return;
        open_->snapshot_begin = chunk.position;
        open_->snapshot_end = reader_.position();
        if (full) open_->base = base_;
    }

    void close(std::size_t end) {
        open_->end = end;
        if (open_->base.position == SIZE_MAX) return give_up();
        found_.push_back(*open_);
        open_.reset();
    }
    // Nothing can be played there: the range begins later.
    void give_up() {
        next_ = next_before_;
        open_.reset();
    }

    demo_document const& demo_;
    std::span<tick_range const> ranges_;
    std::function<void(std::string const&)> const& damaged_;
    demo_reader reader_;
    std::vector<demo_piece> found_;
    std::optional<demo_piece> open_;
    phase phase_ = phase::waiting;
    std::size_t next_ = 0; // range; open_ is of the one before
    std::size_t next_before_ = 0;
    demo_piece::full_snapshot base_; // the last one
    bool begins_file_ = true;
};

} // namespace

std::vector<tick_range> unite(std::vector<tick_range> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](tick_range const& a, tick_range const& b) { return a.first < b.first; });
    std::vector<tick_range> united;
    for (tick_range const& r : ranges) {
        if (!united.empty() && r.first <= united.back().last)
            united.back().last = std::max(united.back().last, r.last);
        else united.push_back(r);
    }
    return united;
}

demo_header header_for(demo_header header, std::span<tick_range const> ticks, std::size_t map_bytes) {
    header.map_size = static_cast<std::uint32_t>(map_bytes);
    std::int64_t const length =
        ticks.empty() ? 0 : std::int64_t{ticks.back().last} - std::int64_t{ticks.front().first};
    header.length = static_cast<std::int32_t>(length / ticks_per_second);
    demo_header const before = header;
    header.marker_count = 0;
    header.marker_ticks = {};
    for (std::int32_t const marker : before.markers()) {
        bool const kept =
            std::any_of(ticks.begin(), ticks.end(), [marker](tick_range const& r) { return r.contains(marker); });
        if (kept) header.marker_ticks[static_cast<std::size_t>(header.marker_count++)] = marker;
    }
    return header;
}

demo_cutter::demo_cutter(demo_document const& demo, std::function<void(std::string const&)> damaged)
    : demo_{demo}, damaged_{std::move(damaged)}, memory_{std::make_unique<memory>()} {}

std::vector<demo_piece> demo_cutter::find(std::span<tick_range const> ranges) const {
    return piece_finder{demo_, ranges, damaged_}.find();
}

// Until the state is that of the first tick.
bool demo_cutter::play_to(demo_piece const& piece) {
    bool const failed_before = player_ && player_->error().what.code != errc::ok;
    // Starting at the next keyframe would end at the same damage.
    if (failed_before && player_->error().position >= piece.base.position &&
        player_->error().position < piece.snapshot_end)
        return false;
    bool const goes_on = player_ && !failed_before && player_->position() > piece.base.position &&
                         player_->position() <= piece.snapshot_end;
    if (!goes_on) {
        demo_reader reader = demo_.reader(demo_.first_chunk(), demo_.file_size());
        reader.seek(piece.base.position, piece.base.tick);
        player_.emplace(reader, memory_->player,
                        demo_player::options{demo_.sizes().sizes, decoding::lenient, nullptr});
    }
    for (demo_event event; player_->position() < piece.snapshot_end;)
        if (interrupted() || !player_->next(event)) return false;
    return true;
}

bool demo_cutter::make(demo_piece const& piece, bool begins_file, head& out) {
    out.made.clear();
    out.rest = piece.begin;
    if (piece.whole_begin) return true;
    if (!play_to(piece)) {
        failed_ = player_->error();
        return false;
    }
    auto const add = [&out](std::span<std::uint8_t const> bytes) {
        out.made.insert(out.made.end(), bytes.begin(), bytes.end());
    };
    demo_encoder encoder{memory_->encoder, demo_.header().version, huffman_end::exact};
    add(std::span{memory_->out}.first(*encoder.write_tick(piece.ticks.first, true, memory_->out)));
    auto const add_lasting = [&] {
        for (auto const& message : find_lasting(piece))
            if (auto const chunk = encoder.write_message(message, memory_->out))
                add(std::span{memory_->out}.first(*chunk));
    };
    // Before the first snapshot of a file, where no recorder writes messages, join recognises them. Within a
    // file, players would show the snapshot of the piece before for such a message.
    if (begins_file) add_lasting();
    out.rest = piece.snapshot_end;
    if (piece.base.position == piece.snapshot_begin) { // a full snapshot already
        add(demo_.bytes().subspan(piece.marker_end, piece.snapshot_end - piece.marker_end));
    } else {
        auto const chunk = encoder.write_ints(demo_chunk_kind::snapshot, player_->state().ints(), memory_->out);
        if (!chunk) {
            failed_ = {chunk.error(), demo_stage::snapshot, piece.ticks.first, piece.snapshot_begin};
            return false;
        }
        add(demo_.bytes().subspan(piece.marker_end, piece.snapshot_begin - piece.marker_end));
        add(std::span{memory_->out}.first(*chunk));
    }
    if (!begins_file) add_lasting();
    return true;
}

std::span<std::uint8_t const> demo_cutter::read_message(demo_chunk const& chunk) {
    auto const size = huffman_decode(chunk.payload, memory_->player.packed);
    if (!size) return {};
    auto const n = decode_varints(std::span{memory_->player.packed}.first(*size), memory_->player.ints);
    if (!n) return {};
    return message_bytes(std::span{memory_->player.ints}.first(*n), memory_->player.message);
}

// The lasting messages from before the piece, without those that its first tick repeats.
std::vector<std::vector<std::uint8_t>> demo_cutter::find_lasting(demo_piece const& piece) {
    if (!heard_ || heard_->reader.position() > piece.begin)
        heard_.emplace(demo_.reader(demo_.first_chunk(), demo_.file_size()), demo_.item_protocol());
    std::int32_t tick = heard_->reader.tick();
    for (demo_chunk chunk; heard_->reader.position() < piece.begin && heard_->reader.next(chunk);) {
        if (chunk.kind == demo_chunk_kind::message) {
            // Some servers repeat the tuning each tick.
            bool const repeated =
                std::equal(chunk.payload.begin(), chunk.payload.end(), heard_->last.begin(), heard_->last.end());
            if (repeated || !may_last(chunk.payload)) continue;
            if (heard_->messages.receive(chunk.tick, read_message(chunk))) heard_->last = chunk.payload;
        } else if (chunk.kind == demo_chunk_kind::tick) {
            if (chunk.tick < tick) { // another recording
                heard_->messages.clear();
                heard_->last = {};
            }
            tick = chunk.tick;
        }
    }
    lasting_messages missing = heard_->messages;
    demo_reader reader = demo_.reader(demo_.first_chunk(), piece.end);
    reader.seek(piece.marker_end, piece.ticks.first);
    for (demo_chunk chunk; reader.next(chunk) && chunk.kind != demo_chunk_kind::tick;)
        if (chunk.kind == demo_chunk_kind::message) missing.leave_to(read_message(chunk));
    return missing.at(piece.ticks.first);
}

// At the next full snapshot. False if there is none.
bool demo_cutter::begin_later(demo_piece& piece) const {
    demo_reader reader = demo_.reader(demo_.first_chunk(), piece.end);
    reader.seek(piece.snapshot_end, piece.ticks.first);
    std::optional<demo_piece> later;
    for (demo_chunk chunk; !interrupted() && reader.next(chunk);) {
        if (chunk.kind == demo_chunk_kind::tick) {
            later = piece;
            later->ticks.first = chunk.tick;
            later->begin = chunk.position;
            later->marker_end = reader.position();
        } else if (chunk.kind == demo_chunk_kind::delta) {
            later.reset();
        } else if (chunk.kind == demo_chunk_kind::snapshot && later) {
            piece = *later;
            piece.base = {chunk.position, chunk.tick};
            piece.snapshot_begin = chunk.position;
            piece.snapshot_end = reader.position();
            return true;
        }
    }
    return false;
}

bool demo_cutter::prepare(demo_piece& piece, bool begins_file, head& out) {
    if (make(piece, begins_file, out)) return true;
    std::string const reason = demo_.error_text(failed_);
    std::int32_t const wanted = piece.ticks.first;
    while (!interrupted() && begin_later(piece)) {
        if (!make(piece, begins_file, out)) continue;
        damaged_(fmt::format("{}; the piece from tick {} starts at tick {}", reason, wanted, piece.ticks.first));
        return true;
    }
    if (!interrupted())
        damaged_(fmt::format("{}; ticks {} to {} cannot be played", reason, wanted, piece.ticks.last));
    return false;
}

std::vector<tick_range> demo_cutter::write(output_file& out, std::vector<demo_piece> pieces,
                                           std::span<std::uint8_t const> map,
                                           std::function<void(std::uint64_t bytes)> const& progress) {
    std::uint64_t done = 0;
    auto const put = [&](std::span<std::uint8_t const> bytes) {
        for (; !bytes.empty() && !interrupted(); bytes = bytes.subspan(std::min(bytes.size(), block_bytes))) {
            out.write(bytes.first(std::min(bytes.size(), block_bytes)));
            progress(done += std::min(bytes.size(), block_bytes));
        }
    };
    std::array<std::uint8_t, max_demo_header_bytes> header_bytes{};
    auto const encode = [&](demo_header const& header) {
        return std::span{header_bytes}.first(*write_demo_header(header, header_bytes));
    };

    head first;
    auto piece = pieces.begin();
    while (piece != pieces.end() && !prepare(*piece, true, first)) ++piece;
    if (piece == pieces.end()) return {};
    std::vector<tick_range> expected;
    for (auto p = piece; p != pieces.end(); ++p) expected.push_back(p->ticks);
    put(encode(header_for(demo_.header(), expected, map.size())));
    put(map);
    std::vector<tick_range> written;
    do {
        put(first.made);
        put(demo_.bytes().subspan(first.rest, piece->end - first.rest));
        written.push_back(piece->ticks);
        while (++piece != pieces.end() && !prepare(*piece, false, first)) {
        }
    } while (piece != pieces.end() && !interrupted());
    if (written != expected) out.overwrite_begin(encode(header_for(demo_.header(), written, map.size())));
    return written;
}

} // namespace teewire::replay
