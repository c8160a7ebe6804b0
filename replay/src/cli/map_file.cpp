#include "cli/map_file.hpp"

#include "base/errors.hpp"
#include "base/file_kind.hpp"

#include <fmt/format.h>
#include <teewire/map/datafile.hpp>

namespace teewire::replay {

map_file::map_file(std::string const& path) : file_{path} {
    file_.require_all();
    expect_map(file_.name(), file_.bytes());
}

std::string map_file::other_than(served_map const& map, std::string const& demo) const {
    if (is_map(map, bytes())) return {};
    std::uint32_t const crc = map_crc32(bytes());
    return fmt::format("{}: has crc {:08x}, but {} was recorded on a {}{}", name(), crc, demo, describe(map),
                       crc == map.crc ? " and another SHA-256" : "");
}

void map_file::expect_map_of(served_map const& map, std::string const& demo) const {
    if (auto const why = other_than(map, demo); !why.empty()) throw usage_error{why};
}

} // namespace teewire::replay
