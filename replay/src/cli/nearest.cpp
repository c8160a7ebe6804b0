#include "cli/nearest.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> errors(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t k = 0; k <= b.size(); ++k) {
            if (i == 0 || k == 0) {
                errors[i][k] = i + k;
                continue;
            }
            std::size_t const replaced = errors[i - 1][k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);
            errors[i][k] = std::min({replaced, errors[i - 1][k] + 1, errors[i][k - 1] + 1});
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                errors[i][k] = std::min(errors[i][k], errors[i - 2][k - 2] + 1);
        }
    return errors[a.size()][b.size()];
}

} // namespace

std::string const& nearest(std::string_view word, std::vector<std::string> const& known) {
    word = word.substr(0, 64); // nothing is called so, and what is typed may have any length
    return *std::min_element(known.begin(), known.end(), [&](std::string const& a, std::string const& b) {
        return distance(word, a) < distance(word, b);
    });
}

} // namespace teewire::replay
