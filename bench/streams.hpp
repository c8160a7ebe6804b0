// Consecutive snapshots, as servers make them and clients get them: what one pair of them, repeated, does not show.
#pragma once

#include <teewire/schema.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace teewire::bench {

struct stream {
    std::string name;
    std::vector<std::vector<std::int32_t>> snapshots; // in the engines' layout
    size_table const* sizes = &sizes_06;
};

// The first `count` snapshots of a demo from its snapshot number `first` on, fewer if it has no more. Throws
// std::runtime_error if the file cannot be read or is not a demo.
stream recorded_stream(std::filesystem::path const& demo, std::size_t first, std::size_t count);

} // namespace teewire::bench
