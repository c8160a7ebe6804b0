// Extended regular expressions of POSIX.
#pragma once

#include <memory>
#include <string>

namespace teewire::replay::os {

/// A search takes no more stack for a longer text.
class expression {
public:
    /// Throws std::invalid_argument with the reason.
    explicit expression(std::string const& text);
    expression(expression const&) = delete;
    expression& operator=(expression const&) = delete;
    ~expression();

    /// Whether it is anywhere in the text.
    [[nodiscard]] bool is_in(std::string const& text) const;

private:
    struct compiled;
    std::unique_ptr<compiled> compiled_;
};

} // namespace teewire::replay::os
