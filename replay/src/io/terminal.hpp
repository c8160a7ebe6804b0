// A terminal: what is typed, what is shown, and the layout of a view that fits it.
#pragma once

#include "game/players.hpp"

#include <termios.h>

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

// ---- view ----------------------------------------------------------------------------------------------------------

struct window {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

/// Cut or padded with spaces to that width on a terminal. The text must be printable.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns);

/// What `play` shows.
struct view {
    std::string title;
    std::int32_t tick = 0;
    std::int32_t first_tick = 0;
    std::int32_t last_tick = 0;
    double speed = 1;
    bool paused = false;
    std::span<std::int32_t const> markers; ///< ticks worth a look, in any order
    std::span<player const> players;
    std::span<happening const> happenings; ///< oldest first
    std::string error;                     ///< instead of the keys
};

/// One string for each row of the window, as wide as it.
[[nodiscard]] std::vector<std::string> draw(view const& v, window size);

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
    /// What is there cannot be relied on: the next show() writes everything.
    void forget() noexcept { shown_.clear(); }
    /// Waits for input. False when the terminal is gone.
    [[nodiscard]] bool read(std::string& typed);

private:
    void write(std::string_view text) const;

    termios modes_before_{};
    int flags_before_ = 0;
    bool entered_ = false;
    std::vector<std::string> shown_;
};

} // namespace teewire::replay
