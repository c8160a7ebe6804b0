#include "convert.hpp"

#include "teewire/delta.hpp"
#include "teewire/varint.hpp"

#include <algorithm>

using namespace teewire;
using namespace teewire::c;

static_assert(std::tuple_size_v<decltype(snapshot_scratch::ints)> >= TEEWIRE_MAX_DELTA_INTS);
static_assert(std::tuple_size_v<decltype(snapshot_scratch::bytes)> >= TEEWIRE_VARINT_BOUND(TEEWIRE_MAX_DELTA_INTS));

namespace {

result<std::span<std::int32_t const>> create(teewire_snapshot const* from, teewire_snapshot const* to,
                                             teewire_sizes const* sizes, snapshot_scratch& scratch,
                                             std::span<std::int32_t> out) noexcept {
    snapshot_view const base = view_of(from);
    snapshot_view const wanted = view_of(to);
    for (snapshot_view const s : {base, wanted})
        if (errc const code = check_limits(s); code != errc::ok) return failure{code, 0};
    return create_delta(base, wanted, table_of(sizes), scratch.delta, out);
}

// A snapshot that was decoded before is where the next one goes.
bool is_in(snapshot_scratch const& scratch, snapshot_view s) noexcept {
    auto const begin = reinterpret_cast<std::uintptr_t>(scratch.snapshot.data());
    return reinterpret_cast<std::uintptr_t>(s.ints().data()) - begin < sizeof scratch.snapshot;
}

std::int32_t apply(teewire_snapshot const* from, std::span<std::int32_t const> delta,
                   teewire_decode_options const& chosen, decoding mode, snapshot_scratch& scratch,
                   teewire_snapshot* to, teewire_failure* failure, std::int32_t stage) noexcept {
    snapshot_view const base = view_of(from);
    if (is_in(scratch, base)) return bad_argument(failure);
    if (errc const code = check_limits(base); code != errc::ok) return fail({code, 0}, failure, stage);
    apply_options options;
    options.mode = mode;
    auto const made = apply_delta(base, delta, table_of(chosen.sizes), scratch.delta, scratch.snapshot, options);
    if (!made) return fail(made.error(), failure, stage);
    set(to, *made);
    return count(made->ints().size());
}

} // namespace

std::int32_t teewire_delta_create(teewire_snapshot const* from, teewire_snapshot const* to,
                                  teewire_sizes const* sizes, teewire_scratch* scratch, std::int32_t* out,
                                  std::uint32_t capacity, teewire_failure* failure) {
    auto const delta = create(from, to, sizes, state_of(scratch).deltas, {out, clip(capacity)});
    return delta ? count(delta->size()) : fail(delta.error(), failure);
}

std::int32_t teewire_delta_apply(teewire_snapshot const* from, std::int32_t const* delta, std::uint32_t n,
                                 teewire_decode_options const* options, teewire_scratch* scratch,
                                 teewire_snapshot* to, teewire_failure* failure) {
    teewire_decode_options chosen;
    decoding mode{};
    if (!read_options(options, chosen) || !read_decoding(chosen.decoding, decoding::strict, mode))
        return bad_argument(failure);
    return apply(from, {delta, n}, chosen, mode, state_of(scratch).deltas, to, failure, TEEWIRE_STAGE_INPUT);
}

std::int32_t teewire_encode(teewire_snapshot const* from, teewire_snapshot const* to,
                            teewire_encode_options const* options, teewire_scratch* scratch, std::uint8_t* out,
                            std::uint32_t capacity, teewire_failure* failure) {
    teewire_encode_options chosen;
    huffman_end ending{};
    if (!read_options(options, chosen) || !read_ending(chosen.huffman, ending)) return bad_argument(failure);
    snapshot_scratch& memory = state_of(scratch).deltas;
    auto const delta = create(from, to, chosen.sizes, memory, memory.ints);
    if (!delta) return fail(delta.error(), failure);
    if (delta->empty()) return 0;

    std::span<std::uint8_t> const room{out, clip(capacity)};
    bool const coded = chosen.huffman != TEEWIRE_HUFFMAN_NONE;
    auto size = encode_varints(*delta, coded ? std::span<std::uint8_t>{memory.bytes} : room);
    if (size && coded) size = huffman_encode(std::span{memory.bytes}.first(*size), room, ending);
    // The output's end is not an item of the snapshot.
    return size ? count(*size) : fail({size.error().code, view_of(to).size()}, failure);
}

std::int32_t teewire_decode(teewire_snapshot const* from, std::uint8_t const* bytes, std::uint32_t size,
                            teewire_decode_options const* options, teewire_scratch* scratch, teewire_snapshot* to,
                            teewire_failure* failure) {
    teewire_decode_options chosen;
    decoding mode{};
    if (!read_options(options, chosen) || !read_decoding(chosen.decoding, decoding::strict, mode))
        return bad_argument(failure);
    if (size == 0) {
        set(to, view_of(from));
        return count(view_of(from).ints().size());
    }
    snapshot_scratch& memory = state_of(scratch).deltas;
    std::span<std::uint8_t const> packed{bytes, size};
    if (chosen.huffman != TEEWIRE_HUFFMAN_NONE) {
        auto const unpacked = huffman_decode(packed, memory.bytes);
        if (!unpacked) return fail(unpacked.error(), failure, TEEWIRE_STAGE_HUFFMAN);
        packed = std::span{memory.bytes}.first(*unpacked);
    }
    auto const n = decode_varints(packed, memory.ints);
    if (!n) return fail(n.error(), failure, TEEWIRE_STAGE_VARINT);
    return apply(from, std::span{memory.ints}.first(*n), chosen, mode, memory, to, failure, TEEWIRE_STAGE_DELTA);
}
