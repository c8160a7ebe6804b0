// What callgrind counts the instructions of: each step of the codec, on pairs of snapshots there and back, and on
// consecutive snapshots of demos. Usage, under valgrind --tool=callgrind --collect-atstart=no:
//   measure LEVEL WORKLOADS DEMO...
// WORKLOADS is a folder with recorded pairs, or empty. Callgrind writes a file for each case, with the case as the reason.
// Ends with 77 if the processor does not have the level.
#include "streams.hpp"
#include "workloads.hpp"

#include <teewire/cpu.hpp>
#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/live_snapshot.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

#include <sys/mman.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

using namespace teewire;

namespace {

// Always at the same address: it decides which hash function a table gets, and on which cache lines vectors lie.
class fixed_memory {
public:
    fixed_memory() {
        void* const wanted = reinterpret_cast<void*>(std::uintptr_t{1} << 37);
        void* const got = mmap(wanted, size_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != wanted) {
            std::fputs("measure: the fixed address is taken\n", stderr);
            std::exit(2);
        }
        at_ = static_cast<char*>(got);
    }
    template <class T>
    T* make(std::size_t n = 1) {
        constexpr std::size_t apart = std::size_t{1} << 16; // so that a larger object does not move those behind it
        std::size_t const bytes = (n * sizeof(T) + apart - 1) / apart * apart;
        if (used_ + bytes > size_) {
            std::fputs("measure: too much to measure\n", stderr);
            std::exit(2);
        }
        return new (at_ + std::exchange(used_, used_ + bytes)) T[n];
    }
    template <class T>
    std::span<T const> keep(std::span<T const> values) {
        T* const kept = make<T>(values.size());
        std::copy(values.begin(), values.end(), kept);
        return {kept, values.size()};
    }
    void clear() { used_ = 0; }

private:
    static constexpr std::size_t size_ = std::size_t{1} << 32;
    char* at_;
    std::size_t used_ = 0;
};

template <class T>
T must(result<T> const& r) {
    if (r) return *r;
    std::fprintf(stderr, "measure: %s\n", describe(r.error().code).data());
    std::exit(2);
}
template <class T>
void keep(T const& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

constexpr std::size_t max_ints = snapshot_limits{}.ints();

// A snapshot and what leads to it from the one before.
struct step {
    snapshot_view from, to;
    std::span<std::int32_t const> delta;
    std::span<std::uint8_t const> packed, coded;
};

class cases {
public:
    explicit cases(bench::stream const& of) : name_{of.name}, sizes_{*of.sizes} {
        memory_.clear();
        scratch_ = memory_.make<delta_memory<>>();
        builder_memory_ = memory_.make<snapshot_builder_memory<>>();
        live_memory_ = memory_.make<live_snapshot_memory<>>();
        ints_ = memory_.make<std::int32_t>(1 << 17);
        bytes_ = memory_.make<std::uint8_t>(1 << 19);
        std::vector<snapshot_view> views;
        for (auto const& snapshot : of.snapshots) views.push_back(kept(snapshot));
        for (std::size_t i = 0; i + 1 < views.size(); ++i) {
            step s{views[i], views[i + 1], {}, {}, {}};
            s.delta = memory_.keep(must(create_delta(s.from, s.to, sizes_, *scratch_, ints())));
            static constexpr std::int32_t nothing[delta_header_ints] = {};
            if (s.delta.empty()) s.delta = nothing;
            auto const packed = must(encode_varints(s.delta, bytes()));
            s.packed = memory_.keep<std::uint8_t>(bytes().first(packed));
            auto const coded = must(huffman_encode(s.packed, bytes()));
            s.coded = memory_.keep<std::uint8_t>(bytes().first(coded));
            steps_.push_back(s);
        }
    }

    void run() {
        measure("create",
                [&](step const& s) { keep(create_delta(s.from, s.to, sizes_, *scratch_, ints()).has_value()); });
        measure("apply",
                [&](step const& s) { keep(apply_delta(s.from, s.delta, sizes_, *scratch_, ints()).has_value()); });
        measure("apply_bare", [&](step const& s) {
            keep(
                apply_delta(snapshot_view::trusted(s.from.ints()), s.delta, sizes_, *scratch_, ints()).has_value());
        });
        live_snapshot live{*live_memory_};
        measure("apply_in_place", [&](step const& s) {
            if (&s == steps_.data()) keep(live.assign(s.from));
            keep(live.apply(s.delta, sizes_));
        });
        snapshot_builder builder{*builder_memory_};
        measure("build", [&](step const& s) {
            builder.start();
            for (item const i : s.to) keep(builder.add(i).has_value());
            keep(builder.finish().size());
        });
        measure("checksum", [&](step const& s) { keep(s.to.checksum()); });
        measure("varint_encode", [&](step const& s) { keep(encode_varints(s.delta, bytes()).has_value()); });
        measure("varint_decode", [&](step const& s) { keep(decode_varints(s.packed, ints()).has_value()); });
        measure("huffman_encode", [&](step const& s) { keep(huffman_encode(s.packed, bytes()).has_value()); });
        measure("huffman_decode", [&](step const& s) { keep(huffman_decode(s.coded, bytes()).has_value()); });
    }

private:
    [[nodiscard]] std::span<std::int32_t> ints() const { return {ints_, 1 << 17}; }
    [[nodiscard]] std::span<std::uint8_t> bytes() const { return {bytes_, 1 << 19}; }

    snapshot_view kept(std::vector<std::int32_t> const& snapshot) {
        must(snapshot_view::parse(snapshot));
        auto const view = snapshot_view::trusted(memory_.keep<std::int32_t>(snapshot));
        std::vector<std::int32_t> keys;
        for (item const i : view) keys.push_back(i.key);
        std::vector<std::uint32_t> starts(starts_words(view.data_size() / 4));
        find_starts(view, starts);
        return view.with_outline({memory_.keep<std::int32_t>(keys), memory_.keep<std::uint32_t>(starts)});
    }

    template <class Call>
    void measure(char const* step_name, Call call) {
        std::string const name = name_ + '/' + step_name;
        for (step const& s : steps_) call(s);
        CALLGRIND_ZERO_STATS;
        CALLGRIND_TOGGLE_COLLECT;
        for (step const& s : steps_) call(s);
        CALLGRIND_TOGGLE_COLLECT;
        CALLGRIND_DUMP_STATS_AT(name.c_str());
    }

    static inline fixed_memory memory_;
    std::string name_;
    size_table const& sizes_;
    delta_memory<>* scratch_;
    snapshot_builder_memory<>* builder_memory_;
    live_snapshot_memory<>* live_memory_;
    std::int32_t* ints_;
    std::uint8_t* bytes_;
    std::vector<step> steps_;
};

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string_view> const arguments(argv + 1, argv + argc);
    auto const level = arguments.size() < 2 ? std::nullopt : find_cpu_level(arguments[0]);
    if (!level) {
        std::fputs("usage: measure LEVEL WORKLOADS DEMO...\n", stderr);
        return 2;
    }
    if (cap_cpu_level(*level) != *level) return 77;
    auto pairs = bench::recorded_workloads(arguments[1]);
    for (auto& pair : bench::synthetic_workloads())
        if (pair.name == "full16" || pair.name == "ddnet64") pairs.push_back(std::move(pair));
    for (auto const& pair : pairs) cases{{pair.name, {pair.from, pair.to, pair.from, pair.to}}}.run();
    // From the middle, when players are there.
    for (std::size_t i = 2; i < arguments.size(); ++i) cases{bench::recorded_stream(arguments[i], 200, 200)}.run();
}
