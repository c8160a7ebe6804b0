// Every variant of the hot functions that this machine can run: kernel/FUNCTION_VARIANT/WORKLOAD.
#include "cases.hpp"

#include "snapshot/kernels.hpp"

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

} // namespace

void add_kernels(prepared_workloads const& all) {
    add_variants("create_delta", kernels::create_delta_variants(), all, [](auto* run, prepared& w) {
        return run(w.from, w.to, sizes_06, *w.memory, w.spare).has_value();
    });
    add_variants("apply_delta", kernels::apply_delta_variants(), all, [](auto* run, prepared& w) {
        return run(w.from, w.delta, sizes_06, *w.memory, w.spare, {}).has_value();
    });
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
