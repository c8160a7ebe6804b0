// The workloads of the benchmarks, for C.
#include "workloads.h"
#include "workloads.hpp"

namespace {

std::vector<teewire::bench::workload>& all() {
    static auto workloads = teewire::bench::synthetic_workloads();
    return workloads;
}

} // namespace

extern "C" void add_recorded_workloads(char const* folder) {
    for (auto& recorded : teewire::bench::recorded_workloads(folder)) all().push_back(std::move(recorded));
}

extern "C" int get_workload(uint32_t number, struct workload* out) {
    if (number >= all().size()) return 0;
    auto const& w = all()[number];
    *out = {w.name.c_str(), w.from.data(), w.to.data(), static_cast<uint32_t>(w.from.size()),
            static_cast<uint32_t>(w.to.size())};
    return 1;
}
