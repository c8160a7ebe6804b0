// Every variant of the hot functions that this machine can run: kernel/FUNCTION_VARIANT/WORKLOAD.
#include "cases.hpp"

#include "codec/codec_functions.hpp"
#include "snapshot/snapshot_functions.hpp"

#include <array>
#include <map>

namespace teewire::bench {
namespace {

// `call` runs a variant on a workload. A level that has no function of its own is left out.
template <class Functions, class Function, class Call>
void add_variants(std::string const& name, std::span<kernels::variant<Functions> const> variants,
                  Function* Functions::*function, prepared_workloads const& all, Call call) {
    Function* below = nullptr;
    for (auto const& v : variants) {
        Function* const run = v.functions.*function;
        if (!kernels::supported(v.required) || run == below) continue;
        below = run;
        for (auto const& w : all)
            benchmark::RegisterBenchmark(("kernel/" + name + '_' + std::string{v.name} + '/' + w->name).c_str(),
                                         [run, w, call](benchmark::State& state) {
                                             measure(state, [&] { benchmark::DoNotOptimize(call(run, *w)); });
                                         });
    }
}

// The parts of a live_snapshot that apply_updates works on. Deltas change it there and back in turns.
class changing_items {
public:
    explicit changing_items(prepared const& w) : delta_{w.delta}, back_{w.back} {
        for (item const i : w.from) {
            auto const number = static_cast<std::uint16_t>(slots_.size() + 1);
            slots_.push_back({i.key, static_cast<std::uint32_t>(pool_.size()),
                              static_cast<std::uint32_t>(i.data.size()), 0, 0, detail::live_slot::live, number});
            pool_.push_back(i.key);
            pool_.insert(pool_.end(), i.data.begin(), i.data.end());
            std::size_t at = detail::hash_key(i.key, multiplier, shift);
            while (table_[at] != 0) at = (at + 1) % table_.size();
            table_[at] = number;
        }
    }
    std::uint32_t change(kernels::apply_updates_fn* run) {
        std::span<std::int32_t const> const delta = number_ % 2 == 0 ? delta_ : back_;
        kernels::in_place_state c{slots_.data(), slots_.size(), pool_.data(), table_, multiplier,
                                  shift,         delta.data(),  ++number_,    0};
        delta_reader reader = must(delta_reader::open(delta, sizes_06));
        for (delta_reader::update odd; run(c, reader, odd);) {
        } // new items are left out
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

// The packed bytes of a workload, coded in short pieces like the chunks of demos.
class short_inputs {
public:
    explicit short_inputs(prepared const& w) {
        constexpr std::size_t piece_bytes = 100;
        for (std::size_t at = 0; at < w.packed.size(); at += piece_bytes) {
            auto const part = std::span{w.packed}.subspan(at, std::min(piece_bytes, w.packed.size() - at));
            auto& coded = coded_.emplace_back(huffman_bound(part.size()));
            coded.resize(must(huffman_encode(part, coded)));
            out_.emplace_back(kernels::huffman_piece::out_bytes);
        }
        for (std::size_t i = 0; i < coded_.size(); ++i) pieces_.push_back({coded_[i], 0, out_[i].data()});
    }
    std::size_t decode(kernels::huffman_decode_short_fn* run) {
        run(pieces_);
        return pieces_.empty() ? 0 : pieces_.back().size;
    }

private:
    std::vector<std::vector<std::uint8_t>> coded_, out_;
    std::vector<kernels::huffman_piece> pieces_;
};

short_inputs& short_inputs_of(prepared const& w) {
    static std::map<prepared const*, short_inputs> all;
    return all.try_emplace(&w, w).first->second;
}

} // namespace

void add_kernels(prepared_workloads const& all) {
    auto const add_snapshot = [&](char const* name, auto function, auto call) {
        add_variants(name, kernels::snapshot_variants(), function, all, call);
    };
    auto const add_codec = [&](char const* name, auto function, auto call) {
        add_variants(name, kernels::codec_variants(), function, all, call);
    };
    using snapshots = kernels::snapshot_functions;
    add_snapshot("create_delta", &snapshots::create_delta, [](auto* run, prepared& w) {
        return run(w.from, w.to, sizes_06, *w.memory, w.spare).has_value();
    });
    add_snapshot("apply_delta", &snapshots::apply_delta, [](auto* run, prepared& w) {
        return run(w.from, w.delta, sizes_06, *w.memory, w.spare, {}).has_value();
    });
    add_snapshot("apply_updates", &snapshots::apply_updates, [](auto* run, prepared& w) {
        static std::map<prepared const*, changing_items> items;
        return items.try_emplace(&w, w).first->second.change(run);
    });
    add_snapshot("holds_key", &snapshots::holds_key, [](auto* run, prepared& w) { return run(w.from_keys, -1); });
    add_snapshot("checksum", &snapshots::checksum, [](auto* run, prepared& w) { return run(w.to); });
    using codec = kernels::codec_functions;
    add_codec("varint_pack", &codec::encode_varints,
              [](auto* run, prepared& w) { return run(w.delta, w.bytes).has_value(); });
    add_codec("varint_unpack", &codec::decode_varints, [](auto* run, prepared& w) {
        return run(w.packed, w.spare, decoding::lenient, nullptr).has_value();
    });
    add_codec("huff_comp", &codec::huffman_encode,
              [](auto* run, prepared& w) { return run(w.packed, w.bytes, huffman_end::exact).has_value(); });
    add_codec("huff_dec", &codec::huffman_decode,
              [](auto* run, prepared& w) { return run(w.coded, w.bytes, nullptr).has_value(); });
    add_codec("huff_dec_short", &codec::huffman_decode_short,
              [](auto* run, prepared& w) { return short_inputs_of(w).decode(run); });
}

} // namespace teewire::bench
