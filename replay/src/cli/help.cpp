#include "cli/help.hpp"

#include "base/os/console.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace teewire::replay {
namespace {

constexpr std::size_t column = 28; // where descriptions begin

// Appends words, and breaks lines at spaces. The cursor is at `at`; further lines are indented by `indent`.
void append_wrapped(std::string& text, std::string_view words, std::size_t at, std::size_t indent,
                    std::size_t columns) {
    bool first = true;
    while (!words.empty()) {
        std::size_t const length = std::min(words.find(' '), words.size());
        if (!first && at + 1 + length > columns) {
            text += '\n';
            text.append(indent, ' ');
            at = indent;
        } else if (!first) {
            text += ' ';
            ++at;
        }
        first = false;
        text += words.substr(0, length);
        at += length;
        words.remove_prefix(std::min(length + 1, words.size()));
    }
    text += '\n';
}

void append_row(std::string& text, std::string const& name, std::string const& description, std::size_t columns) {
    text += "  " + name;
    std::size_t at = 2 + name.size();
    if (at + 2 > column) {
        text += '\n';
        at = 0;
    }
    text.append(column - at, ' ');
    append_wrapped(text, description, column, column, columns);
}

// "-o, --output FILE", "    --force"
std::string name_of(CLI::Option const& option) {
    auto const& names = option.get_lnames();
    if (names.empty()) {
        if (option.get_items_expected_max() == 2) return fmt::format("{0} {0}", option.get_name());
        return option.get_name() + (option.get_items_expected_max() > 1 ? "..." : "");
    }
    std::string name = option.get_snames().empty() ? "    " : fmt::format("-{}, ", option.get_snames()[0]);
    name += "--" + names[0];
    std::string const value = option.get_type_name();
    return value.empty() || option.get_type_size() == 0 ? name : name + " " + value;
}

std::vector<CLI::Option const*> in_group(CLI::App const& command, std::string const& group, bool positional) {
    return command.get_options([&](CLI::Option const* option) {
        return option->get_group() == group && option->get_positional() == positional;
    });
}

void append_options(std::string& text, std::string const& title, std::vector<CLI::Option const*> const& options,
                    std::size_t columns) {
    if (options.empty()) return;
    text += fmt::format("\n{}:\n", title);
    for (CLI::Option const* const option : options)
        append_row(text, name_of(*option), option->get_description(), columns);
}

std::string path_of(CLI::App const& command) {
    CLI::App const* const parent = command.get_parent();
    return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

void append_usage(std::string& text, CLI::App const& command, std::size_t columns) {
    std::string usage = path_of(command);
    if (!command.get_subcommands({}).empty()) {
        usage += " COMMAND [OPTIONS] ...";
    } else {
        for (CLI::Option const* const option : command.get_options())
            if (option->get_required() && !option->get_positional())
                usage +=
                    fmt::format(" {}{} {}", option->get_snames().empty() ? "--" : "-",
                                option->get_snames().empty() ? option->get_lnames()[0] : option->get_snames()[0],
                                option->get_type_name());
        usage += " [OPTIONS]";
        for (CLI::Option const* const option : command.get_options())
            if (option->get_positional()) usage += " " + name_of(*option);
    }
    text += "\nUsage: ";
    append_wrapped(text, usage, 7, 7, columns);
}

void append_commands(std::string& text, CLI::App const& command, std::size_t columns) {
    std::string group;
    for (CLI::App const* const nested : command.get_subcommands({})) {
        if (nested->get_group() != group) {
            group = nested->get_group();
            text += fmt::format("\n{}:\n", group);
        }
        std::string row = "  " + nested->get_name();
        row.append(13 - std::min<std::size_t>(row.size(), 12), ' ');
        text += row;
        append_wrapped(text, nested->get_description(), row.size(), row.size(), columns);
    }
}

void append_footer(std::string& text, std::string_view footer, std::size_t columns) {
    if (!footer.empty()) text += '\n';
    while (!footer.empty()) {
        std::string_view const line = footer.substr(0, footer.find('\n'));
        // Examples can be copied verbatim.
        if (line.empty() || line.starts_with(' ')) text.append(line) += '\n';
        else append_wrapped(text, line, 0, 0, columns);
        footer.remove_prefix(std::min(line.size() + 1, footer.size()));
    }
}

} // namespace

std::string help_text(CLI::App const& command, std::size_t columns) {
    std::string text;
    append_wrapped(text, command.get_description(), 0, 0, columns);
    append_usage(text, command, columns);
    append_commands(text, command, columns);
    auto const groups = command.get_groups();
    for (std::string const& group : groups)
        append_options(text, "Arguments", in_group(command, group, true), columns);
    for (std::string const& group : groups) append_options(text, group, in_group(command, group, false), columns);
    append_footer(text, command.get_footer(), columns);
    return text;
}

std::size_t help_columns() noexcept {
    auto const size = os::window_size();
    return size && size->columns != 0 ? std::clamp<std::size_t>(size->columns, 50, 100) : 80;
}

std::vector<std::string> completions(CLI::App& program, std::span<std::string const> words) {
    CLI::App* command = &program;
    CLI::Option const* last = nullptr;
    for (std::string const& word : words) {
        last = command->get_option_no_throw(word);
        for (CLI::App* const nested : command->get_subcommands({}))
            if (nested->get_name() == word) command = nested;
    }
    if (last != nullptr && !last->get_lnames().empty() && last->get_type_name().find('|') != std::string::npos)
        return CLI::detail::split(last->get_type_name(), '|');
    std::vector<std::string> all;
    for (CLI::App const* const nested : command->get_subcommands({})) all.push_back(nested->get_name());
    for (CLI::Option const* const option : command->get_options()) {
        for (std::string const& name : option->get_snames()) all.push_back("-" + name);
        for (std::string const& name : option->get_lnames()) all.push_back("--" + name);
    }
    return all;
}

} // namespace teewire::replay
