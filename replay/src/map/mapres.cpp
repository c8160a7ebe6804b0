#include "map/mapres.hpp"

#include "base/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

namespace teewire::replay {
namespace {

constexpr auto names_of_07 = std::to_array<std::string_view>({
    "bg_cloud1",
    "bg_cloud2",
    "bg_cloud3",
    "desert_doodads",
    "desert_main",
    "desert_mountains",
    "desert_mountains2",
    "desert_sun",
    "easter",
    "generic_deathtiles",
    "generic_lamps",
    "generic_shadows",
    "generic_unhookable",
    "grass_doodads",
    "grass_main",
    "jungle_background",
    "jungle_deathtiles",
    "jungle_doodads",
    "jungle_main",
    "jungle_midground",
    "jungle_unhookables",
    "light",
    "moon",
    "mountains",
    "snow",
    "stars",
    "sun",
    "winter_doodads",
    "winter_main",
    "winter_mountains",
    "winter_mountains2",
    "winter_mountains3",
});

} // namespace

std::optional<picture> load_mapres(std::string const& folder, std::string const& name) {
    if (name.empty() || name.find_first_of("/\\") != std::string::npos) return {};
    std::string const file = (std::filesystem::path{folder} / (name + ".png")).string();
    if (!std::filesystem::exists(file)) return {};
    try {
        return decode_png(input{file}.bytes());
    } catch (std::runtime_error const& e) {
        throw std::runtime_error{fmt::format("{}: {}", file, e.what())};
    }
}

bool is_mapres_of_07(std::string_view name) noexcept {
    return std::binary_search(names_of_07.begin(), names_of_07.end(), name);
}

} // namespace teewire::replay
