// Blocks: what a piece of the original is coded as, and back.
#include "teewire/archive.hpp"
#include "teewire/demo_writer.hpp"
#include "teewire/varint.hpp"

#include "bit_coder.hpp"
#include "block_model.hpp"

#include <algorithm>
#include <new>

namespace teewire {
namespace archive {
namespace {

// Everything that a block needs while it is coded.
struct block_state {
    block_model model;
    item_changes changes;
    demo_encoder_memory chunk_memory;
    std::array<std::int32_t, max_demo_chunk_ints> ints;
    std::array<std::uint8_t, max_demo_chunk_ints * 4> bytes;
    std::array<std::uint8_t, demo_encoder::max_bytes> chunk;
    std::array<std::uint16_t, world_model::tracks> places; // of each track in the snapshot
};
static_assert(sizeof(block_state) <= sizeof(archive_memory));
static_assert(alignof(block_state) <= alignof(archive_memory));

// Most of it needs no set-up.
block_state& start_in(archive_memory& memory, bool items_of_07) noexcept {
    auto& state = *::new (memory.bytes.data()) block_state;
    state.model.start(items_of_07);
    state.changes.start();
    return state;
}

// So many steps, whatever is in it.
constexpr std::uint64_t most_steps(std::uint64_t bytes) noexcept { return 64 * bytes + 65536; }
constexpr std::size_t max_raw_bytes = 65535; // of a part

// Forms of bytes, each with probabilities of its own.
constexpr std::uint32_t message_form = 0, raw_form = 1, file_form = 2;

bool has_items_of_07(archive_block const& block) noexcept { return *size_tables[block.sizes].sizes != sizes_06; }
constexpr bool has_inline_bit(std::uint8_t version) noexcept { return version >= 5; }

// ---- encode --------------------------------------------------------------------------------------------------------

class chunk_encoder {
public:
    chunk_encoder(archive_block const& block, block_state& state, bit_encoder& coder) noexcept
        : block_{block}, sizes_{*size_tables[block.sizes].sizes}, state_{state}, coder_{coder} {}

    // `file` ends where the block ends. False if it does not work out: too many steps or bytes.
    bool encode(std::span<std::uint8_t const> file) noexcept {
        auto const begin = static_cast<std::size_t>(block_.begin);
        auto const opened = demo_reader::open(file);
        std::size_t done = begin;
        if (opened) {
            demo_reader reader = *opened;
            reader.seek(begin, 0); // steps count, and not from where
            std::int32_t tick = 0;
            for (demo_chunk chunk; reader.next(chunk) && !coder_.failed(); tick = chunk.tick) {
                auto const bytes = file.subspan(chunk.position, reader.position() - chunk.position);
                done = reader.position();
                if (chunk.kind == demo_chunk_kind::tick) encode_marker(chunk, bytes, tick);
                else encode_chunk(chunk, bytes);
            }
        }
        encode_raw(file.subspan(done));
        return !coder_.failed();
    }

private:
    void encode_marker(demo_chunk const& chunk, std::span<std::uint8_t const> bytes, std::int32_t before) noexcept {
        if (chunk.absolute && (bytes[0] & 0x3f) != 0) return encode_raw(bytes);
        state_.model.code_kind(coder_, part_kind::marker);
        std::int32_t const step = minus(chunk.tick, chunk.absolute ? state_.model.tick() : before);
        static_cast<void>(state_.model.code_marker(coder_, {chunk.keyframe, chunk.absolute, step}));
    }

    void encode_chunk(demo_chunk const& chunk, std::span<std::uint8_t const> bytes) noexcept {
        part_kind kind = part_kind::raw;
        bool padded = false;
        std::span<std::int32_t const> ints;
        if (read_ints(chunk, ints) && rewrites(chunk.kind, ints, bytes, padded)) kind = plan(chunk.kind, ints);
        if (kind == part_kind::raw) return encode_raw(bytes);
        block_model& model = state_.model;
        model.code_kind(coder_, kind);
        model.code_padding(coder_, padded);
        if (kind == part_kind::message) {
            model.code_count(coder_, static_cast<std::int32_t>(ints.size()), block_model::message_ints);
            static_cast<void>(message_bytes(ints, state_.bytes));
            model.code_bytes(coder_, std::span{state_.bytes}.first(4 * ints.size()), message_form);
        } else {
            [[maybe_unused]] bool const as_planned = kind == part_kind::delta
                                                         ? model.code_delta(coder_, state_.changes, sizes_)
                                                         : model.code_snapshot(coder_, state_.changes);
            assert(as_planned);
        }
    }

    void encode_raw(std::span<std::uint8_t const> bytes) noexcept {
        while (!bytes.empty() && !coder_.failed()) {
            auto const piece = bytes.first(std::min(bytes.size(), max_raw_bytes));
            bytes = bytes.subspan(piece.size());
            state_.model.code_kind(coder_, part_kind::raw);
            state_.model.code_count(coder_, static_cast<std::int32_t>(piece.size()), block_model::raw_bytes);
            std::copy(piece.begin(), piece.end(), state_.bytes.begin());
            state_.model.code_bytes(coder_, std::span{state_.bytes}.first(piece.size()), raw_form);
        }
    }

    bool read_ints(demo_chunk const& chunk, std::span<std::int32_t const>& ints) noexcept {
        auto const packed = huffman_decode(chunk.payload, std::span{state_.chunk_memory.packed});
        if (!packed) return false;
        auto const count = decode_varints(std::span{state_.chunk_memory.packed}.first(*packed), state_.ints);
        if (!count) return false;
        ints = std::span{state_.ints}.first(*count);
        return true;
    }

    // Whether writers of demos make the same bytes of the ints, and with which ending.
    bool rewrites(demo_chunk_kind kind, std::span<std::int32_t const> ints, std::span<std::uint8_t const> bytes,
                  bool& padded) noexcept {
        for (auto const ending : {huffman_end::exact, huffman_end::padded}) {
            demo_encoder writer{state_.chunk_memory, block_.demo_version, ending};
            auto const size = writer.write_ints(kind, ints, state_.chunk);
            if (!size || *size != bytes.size() || !std::equal(bytes.begin(), bytes.end(), state_.chunk.begin()))
                continue;
            padded = ending == huffman_end::padded;
            return true;
        }
        return false;
    }

    part_kind plan(demo_chunk_kind kind, std::span<std::int32_t const> ints) noexcept {
        switch (kind) {
        case demo_chunk_kind::message: return part_kind::message;
        case demo_chunk_kind::snapshot: return plan_snapshot(ints) ? part_kind::snapshot : part_kind::raw;
        case demo_chunk_kind::delta: return plan_delta(ints) ? part_kind::delta : part_kind::raw;
        default: return part_kind::raw;
        }
    }

    void start_plan() noexcept {
        item_changes& to = state_.changes;
        to.removed_count = to.head_count = to.data_size = 0;
    }
    void add(std::int32_t key, std::span<std::int32_t const> data) noexcept {
        item_changes& to = state_.changes;
        to.heads[to.head_count++] = {key, static_cast<std::uint32_t>(data.size())};
        std::copy(data.begin(), data.end(), to.data.begin() + static_cast<std::ptrdiff_t>(to.data_size));
        to.data_size += data.size();
    }
    // Whether the last head is the only one with its key among those from `first` on.
    [[nodiscard]] bool is_new(std::int32_t key, std::size_t first) const noexcept {
        auto const& heads = state_.changes.heads;
        auto const at = [&](std::size_t i) { return heads.begin() + static_cast<std::ptrdiff_t>(i); };
        return std::none_of(at(first), at(state_.changes.head_count), [&](auto const& h) { return h.key == key; });
    }

    bool plan_snapshot(std::span<std::int32_t const> ints) noexcept {
        auto const view = snapshot_view::parse(ints, decoding::lenient, {max_items, 4 * max_demo_chunk_ints});
        if (!view || (!view->empty() && view->offsets()[0] != 0)) return false;
        start_plan();
        for (item const i : *view) {
            if (!is_new(i.key, 0)) return false;
            add(i.key, i.data);
        }
        return true;
    }

    bool plan_delta(std::span<std::int32_t const> ints) noexcept {
        auto const opened = delta_reader::open(ints, sizes_);
        if (!opened || ints[1] < 0 || ints[2] != 0) return false;
        delta_reader reader = *opened;
        world_model& world = state_.model.world();
        item_changes& to = state_.changes;
        start_plan();
        for (std::size_t place = 0; place < world.size; ++place) {
            state_.places[world.order[place]] = static_cast<std::uint16_t>(place);
            to.of_place[place] = item_changes::kept;
        }
        // The place of a live item, or as many as there are.
        auto const place_of = [&](std::int32_t key) {
            std::uint16_t const at = world.find(key);
            return at != world_model::none && world[at].live ? state_.places[at] : world.size;
        };
        std::size_t next = 0;
        for (std::int32_t const key : reader.removed_keys()) {
            std::size_t const place = place_of(key);
            if (place == world.size || place < next) return false;
            to.of_place[place] = item_changes::removed;
            next = place + 1;
        }
        std::size_t const left = world.size - reader.removed_keys().size();
        std::size_t added = 0;
        std::size_t first_other = SIZE_MAX; // update that is not in the order of the items
        next = 0;
        for (delta_reader::update u; reader.next(u);) {
            if (to.head_count == max_items) return false;
            std::size_t const place = place_of(u.key);
            bool const live = place != world.size;
            if (live &&
                (to.of_place[place] != item_changes::kept || world[world.order[place]].size != u.data.size()))
                return false;
            if (first_other == SIZE_MAX && live && place >= next) {
                to.of_place[place] = item_changes::updated;
                next = place + 1;
            } else {
                first_other = std::min(first_other, to.head_count);
                added += !live;
                if (!is_new(u.key, first_other) || left + added > max_items) return false;
            }
            add(u.key, u.data);
        }
        // Ints after the last update would be lost.
        auto const used = delta_header_ints + reader.removed_keys().size() + ints_of_updates();
        return reader.error().code == errc::ok && static_cast<std::size_t>(ints[1]) == to.head_count &&
               used == ints.size();
    }

    [[nodiscard]] std::size_t ints_of_updates() const noexcept {
        std::size_t ints = state_.changes.data_size;
        for (std::size_t i = 0; i < state_.changes.head_count; ++i)
            ints += sizes_[key_type(state_.changes.heads[i].key)] != 0 ? 2 : 3;
        return ints;
    }

    archive_block const& block_;
    size_table const& sizes_;
    block_state& state_;
    bit_encoder& coder_;
};

// ---- decode --------------------------------------------------------------------------------------------------------

class chunk_decoder {
public:
    chunk_decoder(archive_block const& block, block_state& state, bit_decoder& coder,
                  std::span<std::uint8_t> out) noexcept
        : block_{block}, sizes_{*size_tables[block.sizes].sizes}, state_{state}, coder_{coder}, out_{out} {}

    bool decode() noexcept {
        while (at_ < out_.size()) {
            if (!decode_part() || coder_.failed()) return false;
            if (coder_.is_within_input()) position_ = at_;
        }
        return true;
    }
    // Up to where all parts come from bytes that are there.
    [[nodiscard]] std::size_t position() const noexcept { return position_; }

private:
    bool decode_part() noexcept {
        block_model& model = state_.model;
        switch (part_kind const kind = model.code_kind(coder_, part_kind::raw)) {
        case part_kind::marker: return decode_marker();
        case part_kind::raw: {
            auto const count = model.code_count(coder_, 0, block_model::raw_bytes);
            if (count <= 0 || static_cast<std::size_t>(count) > out_.size() - at_) return false;
            model.code_bytes(coder_, out_.subspan(at_, static_cast<std::size_t>(count)), raw_form);
            at_ += static_cast<std::size_t>(count);
            return true;
        }
        case part_kind::message: {
            bool const padded = model.code_padding(coder_, false);
            auto const count = model.code_count(coder_, 0, block_model::message_ints);
            if (count < 0 || static_cast<std::size_t>(count) > max_demo_chunk_ints) return false;
            auto const bytes = std::span{state_.bytes}.first(4 * static_cast<std::size_t>(count));
            model.code_bytes(coder_, bytes, message_form);
            demo_encoder writer{state_.chunk_memory, block_.demo_version, ending(padded)};
            return put(writer.write_message(bytes, state_.chunk));
        }
        case part_kind::delta:
        case part_kind::snapshot: {
            bool const padded = model.code_padding(coder_, false);
            bool const is_delta = kind == part_kind::delta;
            bool const whole = is_delta ? model.code_delta(coder_, state_.changes, sizes_)
                                        : model.code_snapshot(coder_, state_.changes);
            if (!whole || coder_.failed() || !(is_delta ? lay_out_delta() : lay_out_snapshot())) return false;
            demo_encoder writer{state_.chunk_memory, block_.demo_version, ending(padded)};
            return put(writer.write_ints(is_delta ? demo_chunk_kind::delta : demo_chunk_kind::snapshot,
                                         std::span{state_.ints}.first(ints_), state_.chunk));
        }
        }
        return false;
    }

    static huffman_end ending(bool padded) noexcept { return padded ? huffman_end::padded : huffman_end::exact; }

    bool put(result<std::size_t> const& size) noexcept {
        if (!size || *size > out_.size() - at_) return false;
        std::copy_n(state_.chunk.begin(), *size, out_.begin() + static_cast<std::ptrdiff_t>(at_));
        at_ += *size;
        return true;
    }

    bool decode_marker() noexcept {
        marker const m = state_.model.code_marker(coder_, {});
        auto const flags = static_cast<std::uint8_t>(m.keyframe ? 0xc0 : 0x80);
        auto const chunk = std::span{state_.chunk};
        if (m.absolute) {
            chunk[0] = flags;
            for (std::size_t i = 1; i < max_demo_tick_marker; ++i)
                chunk[i] =
                    static_cast<std::uint8_t>(static_cast<std::uint32_t>(state_.model.tick()) >> (32 - 8 * i));
            return put(max_demo_tick_marker);
        }
        bool const inline_bit = has_inline_bit(block_.demo_version);
        if (m.step < (inline_bit ? 0 : 1) || m.step > (inline_bit ? 31 : 63)) return false;
        chunk[0] = static_cast<std::uint8_t>(flags | (inline_bit ? 0x20 : 0) | m.step);
        return put(std::size_t{1});
    }

    bool append(std::int32_t value) noexcept {
        if (ints_ == state_.ints.size()) return false;
        state_.ints[ints_++] = value;
        return true;
    }
    bool append(std::span<std::int32_t const> values) noexcept {
        if (values.size() > state_.ints.size() - ints_) return false;
        std::copy(values.begin(), values.end(), state_.ints.begin() + static_cast<std::ptrdiff_t>(ints_));
        ints_ += values.size();
        return true;
    }

    bool lay_out_delta() noexcept {
        item_changes const& from = state_.changes;
        ints_ = 0;
        bool fits = append(static_cast<std::int32_t>(from.removed_count)) &&
                    append(static_cast<std::int32_t>(from.head_count)) && append(0) &&
                    append(std::span{from.removed_keys}.first(from.removed_count));
        std::size_t data = 0;
        for (std::size_t i = 0; fits && i < from.head_count; ++i) {
            auto const [key, size] = from.heads[i];
            fits = append(key_type(key)) && append(key_id(key)) &&
                   (sizes_[key_type(key)] != 0 || append(static_cast<std::int32_t>(size))) &&
                   append(std::span{from.data}.subspan(data, size));
            data += size;
        }
        return fits;
    }

    bool lay_out_snapshot() noexcept {
        item_changes const& from = state_.changes;
        ints_ = 0;
        bool fits = append(static_cast<std::int32_t>(4 * (from.head_count + from.data_size))) &&
                    append(static_cast<std::int32_t>(from.head_count));
        std::size_t begin = 0;
        for (std::size_t i = 0; fits && i < from.head_count; ++i) {
            fits = append(static_cast<std::int32_t>(4 * begin));
            begin += 1 + from.heads[i].size;
        }
        std::size_t data = 0;
        for (std::size_t i = 0; fits && i < from.head_count; ++i) {
            auto const [key, size] = from.heads[i];
            fits = append(key) && append(std::span{from.data}.subspan(data, size));
            data += size;
        }
        return fits;
    }

    archive_block const& block_;
    size_table const& sizes_;
    block_state& state_;
    bit_decoder& coder_;
    std::span<std::uint8_t> out_;
    std::size_t at_ = 0;
    std::size_t position_ = 0;
    std::size_t ints_ = 0;
};

// The bytes of any file, in place.
template <class Coder>
bool code_file(block_state& state, Coder& coder, std::span<std::uint8_t> bytes) noexcept {
    constexpr std::size_t piece = 4096;
    for (; !bytes.empty() && !coder.failed(); bytes = bytes.subspan(std::min(piece, bytes.size())))
        state.model.code_bytes(coder, bytes.first(std::min(piece, bytes.size())), file_form);
    return !coder.failed();
}

} // namespace
} // namespace archive

using namespace archive;

result<std::span<std::uint8_t const>> decode_archive_block(archive_block const& block,
                                                           std::span<std::uint8_t const> packed,
                                                           archive_memory& memory,
                                                           std::span<std::uint8_t> out) noexcept {
    bool const plain = block.coding == archive_coding::stored || block.coding == archive_coding::map;
    assert(out.size() >= block.size && packed.size() <= (plain ? block.size : block.packed_size));
    out = out.first(block.size);
    if (plain) {
        if (packed.size() > out.size()) return failure{errc::bad_length, 0};
        std::copy(packed.begin(), packed.end(), out.begin());
        if (packed.size() < out.size()) return failure{errc::truncated, packed.size()};
    } else {
        block_state& state = start_in(memory, has_items_of_07(block));
        bit_decoder coder{packed, most_steps(block.size)};
        bool const cut = packed.size() < block.packed_size;
        if (block.coding == archive_coding::chunks) {
            chunk_decoder decoder{block, state, coder, out};
            if (!decoder.decode())
                return failure{cut || coder.failed() ? errc::truncated : errc::bad_length, decoder.position()};
        } else if (!code_file(state, coder, out)) {
            return failure{errc::truncated, 0};
        }
    }
    if (archive_checksum(out) != block.checksum) return failure{errc::bad_checksum, 0};
    return std::span<std::uint8_t const>{out};
}

result<std::size_t> encode_archive_block(std::span<std::uint8_t const> file, archive_block& block,
                                         archive_encoder_memory& memory, std::span<std::uint8_t> out) noexcept {
    assert(block.begin + block.size <= file.size() && block.size <= max_archive_block_bytes);
    assert(block.coding != archive_coding::map);
    auto const begin = static_cast<std::size_t>(block.begin);
    auto const original = file.subspan(begin, block.size);
    block.checksum = archive_checksum(original);
    // From what compresses best down to what always works.
    for (; block.coding != archive_coding::stored;
         block.coding = static_cast<archive_coding>(static_cast<std::uint8_t>(block.coding) - 1)) {
        block_state& state = start_in(memory.coding, has_items_of_07(block));
        bit_encoder coder{out.first(std::min<std::size_t>(out.size(), block.size - std::size_t{block.size != 0})),
                          most_steps(block.size)};
        bool coded = false;
        if (block.coding == archive_coding::chunks) {
            coded = chunk_encoder{block, state, coder}.encode(file.first(begin + block.size));
        } else {
            std::copy(original.begin(), original.end(), memory.decoded.begin());
            coded = code_file(state, coder, std::span{memory.decoded}.first(block.size));
        }
        std::size_t const size = coder.finish();
        if (!coded || coder.failed()) continue;
        block.packed_size = static_cast<std::uint32_t>(size);
        auto const again = decode_archive_block(block, out.first(size), memory.coding, memory.decoded);
        if (again && std::equal(again->begin(), again->end(), original.begin())) return size;
    }
    if (out.size() < original.size()) return failure{errc::output_full, 0};
    std::copy(original.begin(), original.end(), out.begin());
    block.packed_size = block.size;
    return original.size();
}

// ---- division ------------------------------------------------------------------------------------------------------

namespace {
// Any demo gives a reader, which is used only if the file is one.
constexpr std::array<std::uint8_t, 176> make_blank_demo() noexcept {
    std::array<std::uint8_t, 176> file{};
    std::copy(demo_magic.begin(), demo_magic.end(), file.begin());
    file[demo_version_offset] = min_demo_version;
    return file;
}
constexpr auto blank_demo = make_blank_demo();
} // namespace

archive_divider::archive_divider(std::span<std::uint8_t const> file, demo_player_memory& memory) noexcept
    : file_{file}, reader_{*demo_reader::open(blank_demo)} {
    auto const opened = demo_reader::open(file);
    if (!opened) return;
    is_demo_ = true;
    reader_ = *opened;
    header_end_ = reader_.header().size();
    map_end_ = reader_.position();
    auto const* const found = &detect_size_table(reader_, memory);
    sizes_ = static_cast<std::uint8_t>(found - size_tables.data());
}

bool archive_divider::next(archive_block& out) noexcept {
    if (at_ == file_.size()) return false;
    out = {};
    out.begin = at_;
    if (!is_demo_) return take(archive_coding::bytes, file_.size(), usual_archive_block_bytes, out);
    if (at_ < header_end_) return take(archive_coding::bytes, header_end_, max_archive_block_bytes, out);
    if (at_ < map_end_) return take(archive_coding::stored, map_end_, max_archive_block_bytes, out);
    return take_chunks(out);
}

bool archive_divider::take(archive_coding coding, std::size_t end, std::size_t most, archive_block& out) noexcept {
    out.coding = coding;
    out.size = static_cast<std::uint32_t>(std::min(end - at_, most));
    at_ += out.size;
    return true;
}

bool archive_divider::take_chunks(archive_block& out) noexcept {
    std::size_t const begin = at_;
    out.demo_version = reader_.header().version;
    out.sizes = sizes_;
    std::size_t end = begin;
    bool ordered = true;
    // Playing can begin at a marker that says so, if a full snapshot is the first after it.
    enum class beginning : std::uint8_t { none, marked, keyframe, other } found = beginning::none;
    for (;;) {
        demo_reader const before = reader_;
        demo_chunk chunk;
        if (!reader_.next(chunk)) { // the end, or damage
            end = file_.size();
            ordered = ordered && reader_.error().code == errc::ok;
            break;
        }
        bool const at_keyframe = chunk.kind == demo_chunk_kind::tick && chunk.keyframe && chunk.absolute;
        if ((at_keyframe && chunk.position - begin >= usual_archive_block_bytes) ||
            reader_.position() - begin > max_archive_block_bytes) {
            end = chunk.position;
            reader_ = before;
            break;
        }
        if (found == beginning::none) found = at_keyframe ? beginning::marked : beginning::other;
        else if (found == beginning::marked && chunk.kind == demo_chunk_kind::snapshot) found = beginning::keyframe;
        else if (found == beginning::marked && chunk.kind != demo_chunk_kind::message) found = beginning::other;
        if (chunk.kind != demo_chunk_kind::tick) continue;
        if (out.first_tick < 0) out.first_tick = chunk.tick;
        ordered = ordered && chunk.tick > last_tick_;
        last_tick_ = chunk.tick;
    }
    out.ordered = ordered && out.first_tick >= 0;
    out.keyframe = found == beginning::keyframe;
    if (out.ordered) out.last_tick = last_tick_;
    return take(archive_coding::chunks, end, max_archive_block_bytes, out);
}

} // namespace teewire
