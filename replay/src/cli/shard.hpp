// Parts of many files, for as many processes.
#pragma once

#include "base/output_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// One of several parts that files are divided into.
struct shard {
    std::uint32_t number = 1; ///< from 1
    std::uint32_t count = 1;
};

/// "2/8"
[[nodiscard]] std::optional<shard> parse_shard(std::string_view text);
inline constexpr std::uint32_t most_shards = 1'000'000;

/// The files of that part, by a hash of their names as given: each file is in exactly one part, the same on every
/// machine and whatever other files there are.
[[nodiscard]] std::vector<std::string> files_of(shard const& part, std::vector<std::string> const& files);

/// For verbs that write one output: leaves the files of that part, and gives the output its name. False, which is
/// said, if it is there already: the part is complete.
[[nodiscard]] bool take_part(shard const& part, std::vector<std::string>& files, output_choice& to);

/// The file name of the part's result: "games-2-of-8.sqlite"; standard output is unchanged.
[[nodiscard]] std::string name_of(shard const& part, std::string const& name);

} // namespace teewire::replay
