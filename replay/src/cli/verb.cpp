#include "cli/verb.hpp"

#include "base/output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace teewire::replay {
namespace {

// Options with several values take them in one word: the parser would take the words after them too.

// Instead of CLI11's name for the type.
CLI::Option* named(CLI::Option* option, std::string const& value_name) { return option->type_name(value_name); }

std::string with_default(char const* help, std::string const& value) {
    return value.empty() ? help : fmt::format("{} [default: {}]", help, value);
}

// "a,b" is two words, and "a\,b" is one with a comma in it.
void append_words(std::vector<std::string>& words, std::string_view text) {
    std::string word;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',') {
            words.push_back(std::exchange(word, {}));
            continue;
        }
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') ++i;
        word += text[i];
    }
    words.push_back(std::move(word));
}

} // namespace

void option_set::file(std::string& file, char const* help) { operand(file, "FILE", help); }
void option_set::files(std::vector<std::string>& files, folder_content content, char const* help) {
    operands(files, "FILE", help);
    folders(files, content);
}
void option_set::folders(std::vector<std::string>& files, folder_content content) {
    folders_.emplace_back(&files, content);
}
std::function<void()> option_set::expand() const {
    return [all = folders_] {
        for (auto const& [files, content] : all) expand_folders(*files, content);
    };
}
void option_set::two_files(std::vector<std::string>& files, char const* help) {
    named(command_.add_option("FILE", files, help), "")->required()->expected(2);
}
void option_set::operand(std::string& operand, char const* name, char const* help) {
    named(command_.add_option(name, operand, help), "")->required();
}
void option_set::operands(std::vector<std::string>& operands, char const* name, char const* help) {
    named(command_.add_option(name, operands, help), "")->required();
}

void option_set::output(output_choice& to, presence p, char const* help) {
    named(command_.add_option("-o,--output", to.name, help), "FILE")->required(p == presence::required);
    command_.add_flag("--force", to.force, "replace an existing file");
}
void option_set::collection(std::string& name, char const* help, char const* value_name) {
    named(command_.add_option("-o,--output", name, help), value_name)->required();
}
void option_set::format(std::string& format, std::vector<std::string> const& names, char const* help) {
    choice("--format", format, names, help);
}
void option_set::jobs(unsigned& jobs) {
    number("--jobs", jobs, 0, 1024, "number of decoding threads; 0: one per core");
}

void option_set::connection(std::string& which) {
    text("--connection", which,
         "connection in a capture: its number or the client's ADDRESS:PORT [default: the one with the most "
         "snapshots]",
         "WHICH");
}
void option_set::raw_texts(bool& raw) {
    flag("--raw", raw, "csv: write text unchanged, even where a spreadsheet would see a formula");
}

void option_set::flag(char const* name, bool& value, char const* help) { command_.add_flag(name, value, help); }
void option_set::text(char const* name, std::string& value, char const* help, char const* value_name) {
    named(command_.add_option(name, value, with_default(help, value)), value_name);
}
void option_set::text(char const* name, std::optional<std::string>& value, char const* help,
                      char const* value_name) {
    named(command_.add_option(name, value, help), value_name);
}
void option_set::texts(char const* name, std::vector<std::string>& values, char const* help,
                       char const* value_name) {
    named(command_.add_option(name, values, help), value_name)->allow_extra_args(false);
}
void option_set::words(char const* name, std::vector<std::string>& words, char const* help) {
    auto const set = [&words](std::vector<std::string> const& texts) {
        words.clear();
        for (std::string const& text : texts) append_words(words, text);
    };
    named(command_.add_option_function<std::vector<std::string>>(name, set, help), "NAME,...")
        ->allow_extra_args(false);
}
void option_set::choice(char const* name, std::string& value, std::vector<std::string> const& choices,
                        char const* help) {
    auto const check = [choices](std::string const& text) -> std::string {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
        return fmt::format("{} is not one of {}", text, fmt::join(choices, ", "));
    };
    named(command_.add_option(name, value, with_default(help, value))->check(check),
          fmt::format("{}", fmt::join(choices, "|")));
}

template <class T>
void option_set::number(char const* name, T& value, double least, double most, char const* help) {
    auto const check = [least, most](std::string const& text) -> std::string {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most) return {};
        return fmt::format("{} is not a number from {} to {}", text, least, most);
    };
    std::string description = help;
    if constexpr (!requires { value.value(); }) description = with_default(help, fmt::format("{}", value));
    named(command_.add_option(name, value, description)->check(check), "N");
}
template void option_set::number(char const*, double&, double, double, char const*);
// One of unsigned, unsigned long and unsigned long long is std::size_t.
template void option_set::number(char const*, unsigned&, double, double, char const*);
template void option_set::number(char const*, unsigned long&, double, double, char const*);
template void option_set::number(char const*, unsigned long long&, double, double, char const*);
template void option_set::number(char const*, std::uint16_t&, double, double, char const*);
template void option_set::number(char const*, std::optional<std::uint16_t>&, double, double, char const*);
template void option_set::number(char const*, std::optional<unsigned>&, double, double, char const*);
template void option_set::number(char const*, std::optional<unsigned long>&, double, double, char const*);
template void option_set::number(char const*, std::optional<unsigned long long>&, double, double, char const*);
template void option_set::number(char const*, std::optional<std::int32_t>&, double, double, char const*);

void option_set::part(std::optional<shard>& part) {
    auto const set = [&part](std::string const& text) {
        part = parse_shard(text);
        if (!part) throw CLI::ValidationError{"--shard", fmt::format("{} is not I/N, with I from 1 to N", text)};
    };
    named(command_.add_option_function<std::string>(
              "--shard", set,
              "process only part I of N of the files, split by name; adds -I-of-N to the output's name"),
          "I/N");
}
void option_set::numbers(char const* name, std::vector<std::int64_t>& values, std::size_t count, char const* help) {
    auto const set = [&values, name, count](std::string const& text) {
        std::vector<std::string> const parts = CLI::detail::split(text, ',');
        values.resize(parts.size());
        bool good = parts.size() == count;
        for (std::size_t i = 0; good && i < count; ++i) good = CLI::detail::lexical_cast(parts[i], values[i]);
        if (!good)
            throw CLI::ValidationError{name, fmt::format("{} is not {} numbers, separated by commas", text, count)};
    };
    named(command_.add_option_function<std::string>(name, set, help), "N,...");
}
void option_set::bytes(char const* name, std::uint64_t& value, char const* help) {
    named(command_.add_option(name, value, help)->transform(CLI::AsSizeValue{false}.description("")), "BYTES");
}

void option_set::position(char const* name, std::optional<time_position>& value, char const* help) {
    auto const set = [&value, name](std::string const& text) {
        value = parse_position(text);
        if (!value) throw CLI::ValidationError{name, fmt::format("{} is not {}", text, position_forms)};
    };
    named(command_.add_option_function<std::string>(name, set, help), "TIME");
    explain_values(position_note);
}
void option_set::positions(char const* name, std::vector<time_position>& values, char const* help) {
    auto const set = [&values, name](std::vector<std::string> const& texts) {
        values.clear();
        for (std::string const& text : texts) {
            auto const position = parse_position(text);
            if (!position) throw CLI::ValidationError{name, fmt::format("{} is not {}", text, position_forms)};
            values.push_back(*position);
        }
    };
    named(command_.add_option_function<std::vector<std::string>>(name, set, help), "TIME")->allow_extra_args(false);
    explain_values(position_note);
}
void option_set::duration(char const* name, std::optional<double>& value, char const* help) {
    auto const set = [&value, name](std::string const& text) {
        value = parse_duration(text);
        if (!value) throw CLI::ValidationError{name, fmt::format("{} is not {}", text, duration_forms)};
    };
    std::string const description = value ? with_default(help, fmt::format("{}s", *value)) : help;
    named(command_.add_option_function<std::string>(name, set, description), "DURATION");
    explain_values(duration_note);
}

void option_set::messages() {
    auto const add = [&](char const* names, replay::verbosity v, char const* help) {
        return command_
            .add_flag_callback(
                names, [v] { set_verbosity(v); }, help)
            ->group("Messages");
    };
    CLI::Option* const quiet = add("-q,--quiet", verbosity::quiet, "print only errors on standard error");
    add("-v,--verbose", verbosity::verbose, "report progress even if standard error is not a terminal")
        ->excludes(quiet);
}

void option_set::exclusive(std::initializer_list<char const*> names) {
    for (auto const* a = names.begin(); a != names.end(); ++a)
        for (auto const* b = a + 1; b != names.end(); ++b)
            command_.get_option(*a)->excludes(command_.get_option(*b));
}

void option_set::group(char const* title) { command_.option_defaults()->group(title); }
void option_set::remark(std::string const& text) {
    std::string const& before = command_.get_footer();
    command_.footer(before.empty() ? text : before + "\n\n" + text);
}
void option_set::explain_values(char const* note) {
    if (command_.get_footer().find(note) == std::string::npos) remark(note);
}
void option_set::examples(std::initializer_list<char const*> lines) {
    std::string text = command_.get_footer();
    if (!text.empty()) text += "\n\n";
    text += "Examples:";
    for (char const* const line : lines) text += fmt::format("\n  teewire {}", line);
    command_.footer(text);
}

} // namespace teewire::replay
