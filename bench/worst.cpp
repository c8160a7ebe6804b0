// Inputs that an enemy would choose, beside max1024: no step may take more than twice the time per byte. The bytes of a
// step are those that it reads and those that it writes.
#include "cases.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace teewire::bench {
namespace {

constexpr std::size_t max_items = snapshot_limits{}.items;
constexpr double most = 2; // times as long per byte as max1024
constexpr std::string_view ordinary = "max1024";

using keys = std::vector<std::int32_t>;

// Keys whose hashes, by the best known function of this kind, are in `slot` of 2048. Types without an agreed size. All
// multipliers of the library depend on where its tables lie, so that this is the most that an enemy can prepare.
keys keys_of_slot(std::size_t count, std::uint32_t slot) {
    std::uint32_t inverse = 0x9e3779b1;
    while (inverse * 0x9e3779b1 != 1) inverse *= 2 - inverse * 0x9e3779b1;
    keys out;
    for (std::uint32_t hash = slot << 21; out.size() < count; ++hash)
        if (std::uint32_t const key = hash * inverse; key >> 31 == 0 && key >> 16 >= 64)
            out.push_back(static_cast<std::int32_t>(key));
    return out;
}
// One for each slot: a search for a missing key has to pass all of them.
keys keys_in_a_row() {
    keys out;
    for (std::uint32_t slot = 0; slot < max_items; ++slot) out.push_back(keys_of_slot(1, slot)[0]);
    return out;
}
keys ordinary_keys(std::uint16_t first_type) {
    keys out;
    for (std::uint16_t i = 0; i < max_items; ++i) out.push_back(make_key(first_type + i / 64, 100 * (i % 64)));
    return out;
}

// Far from its old order.
keys shuffled(keys const& from) {
    keys out;
    for (std::size_t i = 0; i < from.size(); ++i) out.push_back(from[i * 389 % from.size()]);
    return out;
}

std::vector<std::int32_t> snapshot_of(keys const& with, std::size_t ints, std::int32_t value) {
    auto const bytes = [=](std::size_t items) { return static_cast<std::int32_t>(items * (1 + ints) * 4); };
    std::vector<std::int32_t> out{bytes(with.size()), static_cast<std::int32_t>(with.size())};
    for (std::size_t i = 0; i < with.size(); ++i) out.push_back(bytes(i));
    for (std::int32_t const key : with) {
        out.push_back(key);
        out.insert(out.end(), ints, value);
    }
    return out;
}

constexpr std::size_t item_ints = 12; // as in max1024

std::unique_ptr<prepared> changing(char const* name, keys const& from, keys const& to, std::size_t ints,
                                   std::int32_t difference) {
    return std::make_unique<prepared>(
        workload{name, snapshot_of(from, ints, 0), snapshot_of(to, ints, difference)});
}

prepared_workloads worst_workloads() {
    std::vector<std::unique_ptr<prepared>> all;
    auto const bucket = keys_of_slot(max_items, 0);
    all.push_back(changing("bucket", bucket, shuffled(bucket), item_ints, 1)); // all keys in one place
    auto const row = keys_in_a_row();
    all.push_back(changing("row", row, shuffled(row), item_ints, 1)); // one after the other
    auto const plain = ordinary_keys(64);
    all.push_back(changing("shuffled", plain, shuffled(plain), item_ints, 1));
    all.push_back(changing("full", plain, plain, 13, 1)); // both limits, of items and of bytes, are reached
    all.push_back(changing("most_items", plain, ordinary_keys(80), 0, 0)); // without data, all of them others
    all.push_back(changing("largest_item", {plain[0]}, {plain[0]}, 16380, 1));
    all.push_back(changing("removed", plain, {}, item_ints, 0));
    auto& removed = all.back()->delta; // from the last one to the first
    std::reverse(removed.begin() + delta_header_ints, removed.end());
    // As many keys as a delta can hold, and none of them is there.
    all.push_back(changing("removed_unknown", row, row, item_ints, 1));
    auto const unknown = keys_of_slot(max_ints, 0);
    auto const count = static_cast<std::ptrdiff_t>(max_ints - delta_header_ints);
    all.back()->delta.assign({static_cast<std::int32_t>(count), 0, 0});
    all.back()->delta.insert(all.back()->delta.end(), unknown.end() - count,
                             unknown.end());                                // others than the row's
    all.push_back(changing("varints", plain, plain, item_ints, INT32_MIN)); // five bytes each
    all.push_back(changing("codes", plain, plain, item_ints, -56));         // packed 0x77, one of the longest codes
    prepared_workloads out;
    for (auto& w : all) {
        w->code();
        out.push_back(std::move(w));
    }
    return out;
}

std::size_t snapshots(prepared const& w) { return 4 * (w.from_ints.size() + w.to_ints.size()); }
std::size_t built(prepared const& w) { return 2 * 4 * w.to_ints.size(); }
std::size_t changes(prepared const& w) { return snapshots(w) + 4 * w.delta.size(); }
std::size_t changes_in_turns(prepared const& w) { return snapshots(w) + 4 * (w.delta.size() + w.back.size()) / 2; }
std::size_t packing(prepared const& w) { return 4 * w.delta.size() + w.packed.size(); }
std::size_t coding(prepared const& w) { return w.packed.size() + w.coded.size(); }
std::size_t chain(prepared const& w) { return snapshots(w) + w.coded.size(); }

struct step {
    char const* name;
    void (*run)(prepared&);
    std::size_t (*bytes)(prepared const&);
};
constexpr step steps[] = {
    {"create", create, changes},
    {"apply", unpack, changes},
    {"apply_in_place", apply_in_place, changes_in_turns},
    {"build", build, built},
    {"build_first", build_first, built},
    {"varint_pack", varint_pack, packing},
    {"varint_unpack", varint_unpack, packing},
    {"huff_comp", huff_comp, coding},
    {"huff_dec", huff_dec, coding},
    {"encode", encode, chain},
    {"decode", decode, chain},
};

std::map<std::string_view, double> reference; // ns per byte of max1024, by step
std::map<std::string, double> ratios;         // by case

void run(benchmark::State& state, step const& s, prepared& w) {
    double const seconds = measure(state, [&] { s.run(w); });
    double const ns = 1e9 * seconds / static_cast<double>(s.bytes(w));
    state.counters["ns_per_byte"] = ns;
    if (w.name == ordinary) reference[s.name] = ns;
    if (!reference.contains(s.name)) return;
    double const ratio = ns / reference[s.name];
    state.counters["ratio"] = ratio;
    ratios[std::string{s.name} + '/' + w.name] = ratio;
}

} // namespace

void add_worst(prepared_workloads const& all) {
    auto worst = worst_workloads();
    auto const found = std::find_if(all.begin(), all.end(), [](auto const& w) { return w->name == ordinary; });
    worst.insert(worst.begin(), *found);
    for (step const& s : steps)
        for (auto const& w : worst) {
            bool const own_delta = w->name == "removed_unknown";
            // Data put in place of the delta cannot be decoded.
            if (own_delta && s.run != unpack && s.run != decode && s.run != varint_unpack && s.run != huff_dec)
                continue;
            if (w->to.empty() && (s.run == build || s.run == build_first)) continue;
            benchmark::RegisterBenchmark(("worst/" + std::string{s.name} + '/' + w->name).c_str(),
                                         [&s, w](benchmark::State& state) { run(state, s, *w); });
        }
}

void report_worst() {
    if (ratios.empty()) return;
    std::fprintf(stderr, "time per byte of the worst cases, in that of %s:\n", ordinary.data());
    for (auto const& [name, ratio] : ratios)
        if (ratio > most) std::fprintf(stderr, "  %s: %.2f, above %.0f\n", name.c_str(), ratio, most);
    auto const highest = std::max_element(ratios.begin(), ratios.end(),
                                          [](auto const& a, auto const& b) { return a.second < b.second; });
    std::fprintf(stderr, "  %zu cases, at most %.2f (%s)\n", ratios.size(), highest->second,
                 highest->first.c_str());
}

} // namespace teewire::bench
