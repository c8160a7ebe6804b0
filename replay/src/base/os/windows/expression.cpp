#include "base/os/expression.hpp"

#include <regex>
#include <stdexcept>

namespace teewire::replay::os {

struct expression::compiled {
    std::regex as_library;
};

expression::expression(std::string const& text) {
    try {
        // In libstdc++, __polynomial is the way to search that is not recursive.
        compiled_ = std::make_unique<compiled>(compiled{
            std::regex{text, std::regex::extended | std::regex::nosubs | std::regex_constants::__polynomial}});
    } catch (std::regex_error const& e) {
        throw std::invalid_argument{e.what()};
    }
}

expression::~expression() = default;

bool expression::is_in(std::string const& text) const { return std::regex_search(text, compiled_->as_library); }

} // namespace teewire::replay::os
