// A terminal: what is typed, and what is shown.
#pragma once

#include "base/os/console.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

// ---- keys ----------------------------------------------------------------------------------------------------------

enum class key : std::uint8_t {
    space,
    left,
    right,
    page_up, ///< or shift and left
    page_down,
    home,
    end,
    plus,
    minus,
    dot,
    n,
    p,
    q,
};

/// Takes the keys off the front of what was typed. The beginning of a sequence stays there; unknown keys are dropped.
[[nodiscard]] std::vector<key> take_keys(std::string& typed);

// ---- terminal ------------------------------------------------------------------------------------------------------

/// Standard input and output as a screen of its own: without echo, on the alternate screen. Puts everything back when
/// it goes. Throws io_error.
class terminal {
public:
    terminal();
    terminal(terminal const&) = delete;
    terminal& operator=(terminal const&) = delete;
    ~terminal() { leave(); }

    /// Whether both are terminals at all.
    [[nodiscard]] static bool available() noexcept;

    void enter();
    void leave() noexcept;
    [[nodiscard]] window size() const noexcept;
    /// Writes the rows that are not what is there already.
    void show(std::vector<std::string> rows);
    /// The screen is unknown: the next show() writes everything.
    void forget() noexcept { shown_.clear(); }

private:
    void write(std::string_view text) const;

    bool entered_ = false;
    std::vector<std::string> shown_;
};

} // namespace teewire::replay
