// A workload with everything that the steps need, made once.
#pragma once

#include "measure.hpp"
#include "workloads.hpp"

#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/live_snapshot.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

#include <memory>
#include <new>
#include <string>
#include <vector>

namespace teewire::bench {

inline constexpr std::size_t max_ints = snapshot_limits{}.ints();

// Begins at a page. Where memory lies decides on several percent, and should not change from run to run.
template <class T>
struct page_allocator {
    using value_type = T;
    static constexpr std::align_val_t page{4096};

    page_allocator() = default;
    template <class U>
    page_allocator(page_allocator<U> const&) noexcept {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), page)); }
    void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, page); }
    bool operator==(page_allocator const&) const = default;
};
template <class T>
using pages = std::vector<T, page_allocator<T>>;

struct prepared {
    explicit prepared(workload const& w)
        : name{w.name}, from_ints(w.from.begin(), w.from.end()), to_ints(w.to.begin(), w.to.end()),
          from{checked(from_ints, from_keys, from_starts)}, to{checked(to_ints, to_keys, to_starts)},
          spare(1 << 17), bytes(1 << 19), spare_bytes(1 << 19) {
        auto const created = must(create_delta(from, to, sizes_06, *memory, spare));
        delta.assign(created.begin(), created.end());
        if (delta.empty()) delta.assign(delta_header_ints, 0);
        auto const applied = must(apply_delta(from, delta, sizes_06, *memory, std::span{spare}.first(max_ints)));
        auto const reversed =
            must(create_delta(applied, from, sizes_06, *memory, std::span{spare}.subspan(max_ints)));
        back.assign(reversed.begin(), reversed.end());
        if (back.empty()) back.assign(delta_header_ints, 0);
        live.assign(from);
        packed_full = pack(to_ints);
        code();
        if (packed.size() >= 900) {
            packet.assign(packed.begin(), packed.begin() + 900);
            coded_packet.assign(huffman_bound(packet.size()), 0);
            coded_packet.resize(must(huffman_encode(packet, coded_packet)));
        }
    }
    prepared(prepared const&) = delete; // the views
    prepared& operator=(prepared const&) = delete;

    // As the history keeps it: with its outline at hand.
    static snapshot_view checked(std::span<std::int32_t const> ints, std::vector<std::int32_t>& keys,
                                 std::vector<std::uint32_t>& starts) {
        must(snapshot_view::parse(ints));
        snapshot_view const view = snapshot_view::trusted(ints);
        for (item const i : view) keys.push_back(i.key);
        starts.resize(starts_words(view.data_size() / 4));
        find_starts(view, starts);
        return view.with_outline({keys, starts});
    }
    // Packs and codes the delta.
    void code() {
        packed = pack(delta);
        coded.assign(huffman_bound(packed.size()), 0);
        coded.resize(must(huffman_encode(packed, coded)));
    }
    static std::vector<std::uint8_t> pack(std::span<std::int32_t const> ints) {
        std::vector<std::uint8_t> out(varint_bound(ints.size()));
        out.resize(must(encode_varints(ints, out)));
        return out;
    }

    std::string name;
    pages<std::int32_t> from_ints, to_ints;
    std::vector<std::int32_t> from_keys, to_keys;
    std::vector<std::uint32_t> from_starts, to_starts;
    snapshot_view from, to;
    std::vector<std::int32_t> delta, back;
    std::vector<std::uint8_t> packed, packed_full, coded, packet, coded_packet;
    std::unique_ptr<delta_memory<>> memory = std::make_unique<delta_memory<>>();
    std::unique_ptr<snapshot_builder_memory<>> builder_memory = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder{*builder_memory};
    std::unique_ptr<live_snapshot_memory<>> live_memory = std::make_unique<live_snapshot_memory<>>();
    live_snapshot live{*live_memory};
    bool live_is_to = false;
    pages<std::int32_t> spare;
    pages<std::uint8_t> bytes, spare_bytes;
};

// The steps that more than one group of cases measures.
inline void create(prepared& w) {
    benchmark::DoNotOptimize(create_delta(w.from, w.to, sizes_06, *w.memory, w.spare).has_value());
}
inline void unpack(prepared& w) {
    benchmark::DoNotOptimize(apply_delta(w.from, w.delta, sizes_06, *w.memory, w.spare).has_value());
}
inline void build_with(snapshot_builder& builder, snapshot_view items, memory_ahead ahead = {}) {
    builder.start(ahead);
    bool good = true;
    auto writer = builder.write();
    for (item const i : items) good &= writer.add(i);
    good &= builder.take(writer).has_value();
    benchmark::DoNotOptimize(good);
    benchmark::DoNotOptimize(builder.finish().checksum());
}
// As servers build one client's snapshot after another's: most keys are those of the base.
inline void build(prepared& w) { build_with(w.builder, w.to, {w.from, w.from.items().data()}); }
// The same, each item by a call of its own.
inline void build_singly(prepared& w) {
    w.builder.start({w.from, w.from.items().data()});
    bool good = true;
    for (item const i : w.to) good &= w.builder.add(i).has_value();
    benchmark::DoNotOptimize(good);
    benchmark::DoNotOptimize(w.builder.finish().checksum());
}
// Without a base: the same keys as the time before.
inline void build_again(prepared& w) { build_with(w.builder, w.to); }
// Every key is new.
inline void build_first(prepared& w) {
    snapshot_builder builder{*w.builder_memory};
    build_with(builder, w.to);
}

inline void varint_pack(prepared& w) { benchmark::DoNotOptimize(encode_varints(w.delta, w.bytes).has_value()); }
inline void varint_unpack(prepared& w) { benchmark::DoNotOptimize(decode_varints(w.packed, w.spare).has_value()); }
inline void huff_comp(prepared& w) { benchmark::DoNotOptimize(huffman_encode(w.packed, w.bytes).has_value()); }
inline void huff_dec(prepared& w) { benchmark::DoNotOptimize(huffman_decode(w.coded, w.bytes).has_value()); }
inline void encode(prepared& w) {
    auto const delta = *create_delta(w.from, w.to, sizes_06, *w.memory, w.spare);
    auto const packed = *encode_varints(delta, w.bytes);
    benchmark::DoNotOptimize(huffman_encode(std::span{w.bytes}.first(packed), w.spare_bytes).has_value());
}
inline void decode(prepared& w) {
    auto const packed = *huffman_decode(w.coded, w.bytes);
    std::span<std::int32_t> const ints = std::span{w.spare}.first(max_ints);
    auto const count = *decode_varints(std::span{w.bytes}.first(packed), ints);
    benchmark::DoNotOptimize(
        apply_delta(w.from, ints.first(count), sizes_06, *w.memory, std::span{w.spare}.subspan(max_ints + 1000))
            .has_value());
}

// There and back in turns, one delta each time.
inline void apply_in_place(prepared& w) {
    benchmark::DoNotOptimize(w.live.apply(w.live_is_to ? w.back : w.delta, sizes_06));
    w.live_is_to = !w.live_is_to;
}

} // namespace teewire::bench
