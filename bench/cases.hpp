// The groups of cases. Each function registers one.
#pragma once

#include "prepared.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace teewire::bench {

using prepared_workloads = std::vector<std::shared_ptr<prepared>>;

void add_steps(prepared_workloads const& all); // floors first
void add_server_ticks();
void add_streams(std::filesystem::path const& folder); // may be empty
void add_demos(std::filesystem::path const& folder);   // may be empty
void add_scenes(std::filesystem::path const& folder);  // may be empty
void add_maps(std::filesystem::path const& folder);    // may be empty
void add_growth();
void add_worst(prepared_workloads const& all);
void report_worst(); // on standard error, if they were run
void add_kernels(prepared_workloads const& all);

} // namespace teewire::bench
