// What somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// The one of `known` that the fewest typing errors turn into `word`: a letter left out, put in, replaced, or two that
/// changed places. The first of equals. `known` is not empty. O(length²) for each.
[[nodiscard]] std::string const& nearest(std::string_view word, std::vector<std::string> const& known);

} // namespace teewire::replay
