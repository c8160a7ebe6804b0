#include "stream_steps.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

namespace teewire::bench {
namespace {

constexpr std::size_t arena_bytes = std::size_t{1} << 32; // of addresses; memory is what is used of it

template <class T>
T must(result<T> const& r) {
    if (!r) throw std::runtime_error(std::string{describe(r.error().code)});
    return *r;
}
template <class T>
void keep(T const& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

} // namespace

arena::arena(void* address) {
    int const fixed = address != nullptr ? MAP_FIXED_NOREPLACE : 0;
    void* const got = mmap(address, arena_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (got == MAP_FAILED || (address != nullptr && got != address)) throw std::runtime_error("no memory there");
    begin_ = static_cast<char*>(got);
}
arena::~arena() { munmap(begin_, arena_bytes); }

void* arena::take(std::size_t bytes) {
    constexpr std::size_t apart = std::size_t{1} << 16; // so that a larger object does not move the next ones
    bytes = (bytes + apart - 1) / apart * apart;
    if (used_ + bytes > arena_bytes) throw std::runtime_error("too much to keep");
    return begin_ + std::exchange(used_, used_ + bytes);
}

stream_steps::stream_steps(stream const& of, arena& memory)
    : memory_{memory}, sizes_{*of.sizes}, scratch_{*memory.make<delta_memory<>>()},
      live_{*memory.make<live_snapshot_memory<>>()}, builder_{*memory.make<snapshot_builder_memory<>>()},
      ints_{memory.make<std::int32_t>(1 << 17), 1 << 17}, bytes_{memory.make<std::uint8_t>(1 << 19), 1 << 19} {
    std::vector<snapshot_view> views;
    for (auto const& snapshot : of.snapshots) views.push_back(kept(snapshot));
    for (std::size_t i = 0; i + 1 < views.size(); ++i) {
        static constexpr std::int32_t nothing[delta_header_ints] = {};
        auto const delta = must(create_delta(views[i], views[i + 1], sizes_, scratch_, ints_));
        pair p{views[i], views[i + 1], memory_.keep(delta.empty() ? nothing : delta), {}, {}};
        p.packed = memory_.keep<std::uint8_t>(bytes_.first(must(encode_varints(p.delta, bytes_))));
        p.coded = memory_.keep<std::uint8_t>(bytes_.first(must(huffman_encode(p.packed, bytes_))));
        pairs_.push_back(p);
    }
    add("create", [this](pair const& p) { keep(create_delta(p.from, p.to, sizes_, scratch_, ints_)); });
    add("apply", [this](pair const& p) { keep(apply_delta(p.from, p.delta, sizes_, scratch_, ints_)); });
    // A base without an outline, as clients have it.
    add("apply_bare", [this](pair const& p) {
        keep(apply_delta(snapshot_view::trusted(p.from.ints()), p.delta, sizes_, scratch_, ints_));
    });
    add("apply_in_place", [this](pair const& p) {
        if (&p == pairs_.data()) keep(live_.assign(p.from));
        keep(live_.apply(p.delta, sizes_));
    });
    add("state", [this](pair const& p) {
        if (&p == pairs_.data()) keep(live_.assign(p.from));
        keep(live_.apply(p.delta, sizes_));
        keep(live_.view());
    });
    add("build", [this](pair const& p) {
        builder_.start({p.from, nullptr});
        auto writer = builder_.write();
        for (item const i : p.to) keep(writer.add(i));
        keep(builder_.take(writer));
        keep(builder_.finish());
    });
    add("build_singly", [this](pair const& p) {
        builder_.start({p.from, nullptr});
        for (item const i : p.to) keep(builder_.add(i));
        keep(builder_.finish());
    });
    add("checksum", [](pair const& p) { keep(p.to.checksum()); });
    add("varint_encode", [this](pair const& p) { keep(encode_varints(p.delta, bytes_)); });
    add("varint_decode", [this](pair const& p) { keep(decode_varints(p.packed, ints_)); });
    add("huffman_encode", [this](pair const& p) { keep(huffman_encode(p.packed, bytes_)); });
    add("huffman_decode", [this](pair const& p) { keep(huffman_decode(p.coded, bytes_)); });
}

// With its outline, as builders and histories have it.
snapshot_view stream_steps::kept(std::vector<std::int32_t> const& snapshot) {
    must(snapshot_view::parse(snapshot));
    auto const view = snapshot_view::trusted(memory_.keep<std::int32_t>(snapshot));
    std::vector<std::int32_t> keys;
    for (item const i : view) keys.push_back(i.key);
    std::vector<std::uint32_t> starts(starts_words(view.data_size() / 4));
    find_starts(view, starts);
    return view.with_outline({memory_.keep<std::int32_t>(keys), memory_.keep<std::uint32_t>(starts)});
}

} // namespace teewire::bench
