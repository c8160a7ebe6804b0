#include "recording/demo/map_file_search.hpp"

#include "base/text.hpp"
#include "game/served_map.hpp"
#include "recording/demo/demo_stream.hpp"

#include <fmt/format.h>

namespace teewire::replay {
namespace {

bool is_map_of(stored_file const& file, demo_header const& header) {
    return file.size() <= max_map_bytes && is_map(map_of(header), file.read_all());
}

} // namespace

std::shared_ptr<stored_file const> find_map_file(demo_header const& header, std::string const& folder,
                                                 std::vector<std::string> const& games) {
    std::string const name{text(header.map_name)};
    std::string const crc = fmt::format("{}_{:08x}", name, header.map_crc);
    std::string const sum = fmt::format("{}_{}", name, hex(header.sha256));
    std::vector<std::string> folders{folder, folder + "/maps"};
    for (std::string const& game : games)
        for (char const* const below : {"", "/maps", "/downloadedmaps"}) folders.push_back(game + below);
    for (std::string const& place : folders)
        for (std::string const& stem : {name, crc, sum}) {
            auto file = stored_file::open(place, stem + ".map");
            if (file && is_map_of(*file, header)) return file;
        }
    return nullptr;
}

} // namespace teewire::replay
