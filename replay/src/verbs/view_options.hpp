// Options of the commands that draw demos.
#pragma once

#include "cli/verb.hpp"
#include "video/drawn_demo.hpp"

#include <string>
#include <vector>

namespace teewire::replay {

struct view_options {
    std::string size = "1280x720";
    std::string map;
    std::string font;
    std::string ghost;
    std::vector<std::string> data;
    unsigned jobs = 0;
    bool no_names = false;
    std::vector<std::string> hud;
    view_choice view;

    /// Declares those that pictures and videos share.
    void declare(option_set& options);
    /// Reads what has been given as text. Throws usage_error.
    [[nodiscard]] view_choice read() const;
    /// The demo with the map and the pictures that were chosen; says what it lacks.
    [[nodiscard]] std::unique_ptr<drawn_demo> open(demo_document& demo) const;
    /// The folders of games that were chosen or found.
    [[nodiscard]] std::vector<std::string> folders() const;
    /// The files that are read.
    [[nodiscard]] std::vector<std::string> inputs(std::string const& demo) const;
};

/// Says where the demos are damaged, and `instead`: what is shown in place of the rest. Returns the exit code.
[[nodiscard]] int report_damage(demo_document const& demo, drawn_demo const& drawn, std::string_view instead);

} // namespace teewire::replay
