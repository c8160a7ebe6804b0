#include "base/os/expression.hpp"

#include <array>
#include <stdexcept>

#include <regex.h>

namespace teewire::replay::os {

struct expression::compiled {
    ~compiled() {
        if (valid) ::regfree(&as_system);
    }

    regex_t as_system{};
    bool valid = false;
};

expression::expression(std::string const& text) : compiled_{std::make_unique<compiled>()} {
    int const error = ::regcomp(&compiled_->as_system, text.c_str(), REG_EXTENDED | REG_NOSUB);
    compiled_->valid = error == 0;
    if (compiled_->valid) return;
    std::array<char, 128> reason{};
    ::regerror(error, &compiled_->as_system, reason.data(), reason.size());
    throw std::invalid_argument{reason.data()};
}

expression::~expression() = default;

bool expression::is_in(std::string const& text) const {
    return ::regexec(&compiled_->as_system, text.c_str(), 0, nullptr, 0) == 0;
}

} // namespace teewire::replay::os
