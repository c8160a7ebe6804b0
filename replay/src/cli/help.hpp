// Help and completion, from the options that a command declares.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace teewire::replay {

/// The text of --help, wrapped at `columns`. Options are listed in their groups, in the order of declaration.
[[nodiscard]] std::string help_text(CLI::App const& command, std::size_t columns);

/// Columns for help on standard output: those of the terminal, 100 at most, as longer lines are hard to read; 80 for
/// pipes and files.
[[nodiscard]] std::size_t help_columns() noexcept;

/// Completes a command line after `words`: the values of the option that the last word names, or every command and
/// option that may follow. Empty if only the name of a file may.
[[nodiscard]] std::vector<std::string> completions(CLI::App& program, std::span<std::string const> words);

} // namespace teewire::replay
