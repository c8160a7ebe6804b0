// Every variant of the hot functions that this machine can run: kernel/FUNCTION_VARIANT/WORKLOAD.
#include "cases.hpp"

#include "snapshot/kernels.hpp"

#include <array>
#include <map>

namespace teewire::bench {
namespace {

// `call` runs a variant on a workload.
template <class Function, class Call>
void add_variants(std::string const& name, std::span<kernels::variant<Function> const> variants,
                  prepared_workloads const& all, Call call) {
    for (auto const& v : variants) {
        if (!kernels::supported(v.needed)) continue;
        for (auto const& w : all)
            benchmark::RegisterBenchmark(("kernel/" + name + '_' + std::string{v.name} + '/' + w->name).c_str(),
                                         [run = v.run, w, call](benchmark::State& state) {
                                             measure(state, [&] { benchmark::DoNotOptimize(call(run, *w)); });
                                         });
    }
}

// The parts of a live_snapshot that change_items works on. Deltas change it there and back in turns.
class changing_items {
public:
    explicit changing_items(prepared const& w) : delta_{w.delta}, back_{w.back} {
        for (item const i : w.from) {
            auto const number = static_cast<std::uint16_t>(slots_.size() + 1);
            slots_.push_back({i.key, static_cast<std::uint32_t>(pool_.size()),
                              static_cast<std::uint32_t>(i.data.size()), 0, 0, detail::live_slot::alive, number});
            pool_.push_back(i.key);
            pool_.insert(pool_.end(), i.data.begin(), i.data.end());
            std::size_t at = detail::hash_key(i.key, multiplier, shift);
            while (table_[at] != 0) at = (at + 1) % table_.size();
            table_[at] = number;
        }
    }
    std::uint32_t change(kernels::change_items_fn* run) {
        std::span<std::int32_t const> const delta = number_ % 2 == 0 ? delta_ : back_;
        kernels::item_changes c{slots_.data(), slots_.size(), pool_.data(), table_,
                                multiplier,    shift,         delta.data(), ++number_, 0};
        delta_reader reader = must(delta_reader::open(delta, sizes_06));
        for (delta_reader::update odd; run(c, reader, odd);) {} // new items are left out
        return c.sum;
    }

private:
    static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15U;
    static constexpr unsigned shift = 32 - 12;

    std::vector<detail::live_slot> slots_;
    std::vector<std::int32_t> pool_;
    std::array<std::uint16_t, 1U << (32 - shift)> table_{};
    std::span<std::int32_t const> delta_, back_;
    std::uint32_t number_ = 0; // of deltas so far
};

} // namespace

void add_kernels(prepared_workloads const& all) {
    add_variants("create_delta", kernels::create_delta_variants(), all, [](auto* run, prepared& w) {
        return run(w.from, w.to, sizes_06, *w.memory, w.spare).has_value();
    });
    add_variants("apply_delta", kernels::apply_delta_variants(), all, [](auto* run, prepared& w) {
        return run(w.from, w.delta, sizes_06, *w.memory, w.spare, {}).has_value();
    });
    add_variants("change_items", kernels::change_items_variants(), all, [](auto* run, prepared& w) {
        static std::map<prepared const*, changing_items> items;
        return items.try_emplace(&w, w).first->second.change(run);
    });
    add_variants("holds_key", kernels::holds_key_variants(), all,
                 [](auto* run, prepared& w) { return run(w.from_keys, -1); });
    add_variants("checksum", kernels::checksum_variants(), all, [](auto* run, prepared& w) { return run(w.to); });
    add_variants("varint_pack", kernels::encode_varints_variants(), all,
                 [](auto* run, prepared& w) { return run(w.delta, w.bytes).has_value(); });
    add_variants("varint_unpack", kernels::decode_varints_variants(), all, [](auto* run, prepared& w) {
        return run(w.packed, w.spare, decoding::lenient, nullptr).has_value();
    });
    add_variants("huff_comp", kernels::huffman_encode_variants(), all,
                 [](auto* run, prepared& w) { return run(w.packed, w.bytes, huffman_end::exact).has_value(); });
    add_variants("huff_dec", kernels::huffman_decode_variants(), all,
                 [](auto* run, prepared& w) { return run(w.coded, w.bytes, nullptr).has_value(); });
}

} // namespace teewire::bench
