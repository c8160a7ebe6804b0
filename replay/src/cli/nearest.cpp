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

std::string const* nearest(std::string_view word, std::vector<std::string> const& known) {
    word = word.substr(0, 64); // longer than any name, while users can type a word of any length
    std::string const* found = nullptr;
    std::size_t least = 0;
    for (std::string const& name : known) {
        std::size_t const errors = distance(word, name);
        if (errors > name.size() / 3 || (found != nullptr && errors >= least)) continue;
        found = &name;
        least = errors;
    }
    return found;
}

} // namespace teewire::replay
