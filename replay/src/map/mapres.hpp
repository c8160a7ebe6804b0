// The pictures that maps refer to by name: mapres/NAME.png in the folder of a game.
#pragma once

#include "map/picture.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

/// Empty if the folder has no such picture, or if the name is part of a path. Throws std::runtime_error, with the file's
/// name, if it cannot be read.
[[nodiscard]] std::optional<picture> load_mapres(std::string const& folder, std::string const& name);
/// Returns whether Teeworlds 0.7 comes with a picture of that name.
[[nodiscard]] bool is_mapres_of_07(std::string_view name) noexcept;

} // namespace teewire::replay
