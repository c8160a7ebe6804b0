// Every step on every workload, and what they add up to. Cases are named STEP/WORKLOAD; the floors come first.
//   teewire-bench [--workloads=FOLDER] [--demos=FOLDER] [--maps=FOLDER] [options of Google Benchmark]
// TEEWIRE_CPU caps the level of the processor. Ends with 1 if a case allocated.
#include "cases.hpp"
#include "cpu_level.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

using namespace teewire::bench;

namespace {

// Takes `flag` out of the arguments. Gives its value, or nothing.
std::string_view take(std::vector<char*>& arguments, std::string_view flag) {
    auto const is_flag = [flag](std::string_view argument) { return argument.starts_with(flag); };
    auto const found = std::find_if(arguments.begin() + 1, arguments.end(), is_flag);
    if (found == arguments.end()) return {};
    std::string_view const value = std::string_view{*found}.substr(flag.size());
    arguments.erase(found);
    return value;
}

prepared_workloads load(std::filesystem::path const& folder) {
    auto all = synthetic_workloads();
    for (std::size_t i = 0; i < all.size(); ++i) {
        expected_hash const& expected = synthetic_hashes[i];
        if (fnv1a64(all[i].from) == expected.from && fnv1a64(all[i].to) == expected.to) continue;
        std::fprintf(stderr, "%s does not have the published bytes\n", all[i].name.c_str());
        std::exit(1);
    }
    for (auto& w : recorded_workloads(folder)) all.push_back(std::move(w));

    prepared_workloads out;
    for (workload const& w : all) out.push_back(std::make_shared<prepared>(w));
    return out;
}

// Reports cases under their plain names, without the way they are timed. Where the CPU time of one thread is not the
// measure, both columns get the time that counts. The spread of all zeros is not a number, and not valid JSON.
template <class Base>
class plainly : public Base {
public:
    using Base::Base;
    void ReportRuns(std::vector<benchmark::BenchmarkReporter::Run> const& runs) override {
        auto plain = runs;
        for (auto& run : plain) {
            if (!run.run_name.time_type.empty()) run.cpu_accumulated_time = run.real_accumulated_time;
            benchmark::BenchmarkName name;
            name.function_name = run.run_name.function_name;
            run.run_name = name;
            std::erase_if(run.counters, [](auto const& counter) { return !std::isfinite(counter.second.value); });
        }
        Base::ReportRuns(plain);
    }
};

} // namespace

int main(int argc, char** argv) {
    test::cap_cpu_level_from_environment();
    std::vector<char*> arguments(argv, argv + argc);
    std::filesystem::path const workloads = take(arguments, "--workloads=");
    std::filesystem::path const demos = take(arguments, "--demos=");
    std::filesystem::path const maps = take(arguments, "--maps=");
    bool const to_file = std::any_of(arguments.begin(), arguments.end(), [](std::string_view argument) {
        return argument.starts_with("--benchmark_out=");
    });
    argc = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&argc, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(argc, arguments.data())) return 2;

    auto const all = load(workloads);
    add_steps(all);
    add_server_ticks();
    add_streams(demos);
    add_demos(demos);
#ifdef TEEWIRE_MAPS
    add_maps(maps);
    add_scenes(demos);
#endif
    add_growth();
    add_worst(all);
    add_kernels(all);

    plainly<benchmark::ConsoleReporter> table{benchmark::ConsoleReporter::OO_None};
    plainly<benchmark::JSONReporter> file;
    benchmark::RunSpecifiedBenchmarks(&table, to_file ? &file : nullptr);
    report_worst();
    if (any_allocations()) std::fputs("some cases allocated: see their counter `allocs`\n", stderr);
    return any_allocations() ? 1 : 0;
}
