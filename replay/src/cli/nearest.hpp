// Suggestions for misspelt words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// The one of `known` that the fewest typing errors turn into `word`, the first of equals; null if that takes more than
/// a third of its letters. An error is a letter left out, added or replaced, or two letters swapped. O(length²) for each.
[[nodiscard]] std::string const* nearest(std::string_view word, std::vector<std::string> const& known);

} // namespace teewire::replay
