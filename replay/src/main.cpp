// The command line: finds the verb, runs it, and turns exceptions into a message and an exit code.
#include "base/os/files.hpp"
#include "base/os/process.hpp"
#include "base/output.hpp"
#include "cli/help.hpp"
#include "cli/nearest.hpp"
#include "verbs/verbs.hpp"

#include <teewire/cpu.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <span>

namespace {

using namespace teewire::replay;

struct command {
    CLI::App* parsed;
    verb const* what;
    std::function<int()> run;
};

void add(CLI::App& parent, char const* group, std::span<verb const* const> all, std::vector<command>& commands) {
    parent.require_subcommand(1);
    for (verb const* const v : all) {
        CLI::App& parsed = *parent.add_subcommand(v->name, v->summary);
        parsed.group(group);
        option_set options{parsed};
        auto const run = v->declare(options);
        options.messages();
        commands.push_back({&parsed, v, [run, expand = options.expand()] {
                                expand();
                                return run();
                            }});
    }
}

// ---- command lines that cannot be parsed -----------------------------------------------------------------------------------------

std::vector<std::string> option_names(CLI::App const& app) {
    std::vector<std::string> names;
    for (CLI::Option const* const option : app.get_options()) {
        for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
        for (std::string const& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::vector<std::string> verb_names(CLI::App const& app) {
    std::vector<std::string> names;
    for (CLI::App const* const nested : app.get_subcommands({})) names.push_back(nested->get_name());
    return names;
}

struct misunderstanding {
    std::string verb; ///< in full: "teewire map"
    std::string text;
};

// For a misspelt word, the parser reports what is missing without it; users want to know the word.
misunderstanding explain(CLI::App& app, std::span<std::string const> words, std::string const& otherwise) {
    CLI::App* at = &app;
    std::string path = app.get_name();
    auto const unknown = [&](std::string_view what, std::string const& word,
                             std::vector<std::string> const& known) {
        std::string const* const near = nearest(word, known);
        return misunderstanding{path, near == nullptr
                                          ? fmt::format("unknown {} {}", what, word)
                                          : fmt::format("unknown {} {}; did you mean {}?", what, word, *near)};
    };
    for (std::string const& word : words) {
        if (word == "--") break;
        if (word.starts_with('-')) {
            std::string const name = word.substr(0, word.find('='));
            bool const is_number = name.size() > 1 && (name[1] == '.' || (name[1] >= '0' && name[1] <= '9'));
            auto const known = option_names(*at);
            bool const is_long = name.starts_with("--");
            if (name.size() > 1 && !is_number &&
                std::find(known.begin(), known.end(), is_long ? name : name.substr(0, 2)) == known.end())
                return unknown("option", name, known);
            continue;
        }
        auto const nested = verb_names(*at);
        if (nested.empty()) continue;
        if (std::find(nested.begin(), nested.end(), word) == nested.end()) return unknown("command", word, nested);
        at = at->get_subcommand(word);
        path += " " + word;
    }
    auto const missing = verb_names(*at);
    return {path, missing.empty() ? otherwise
                                  : fmt::format("missing command; expected one of {}", fmt::join(missing, ", "))};
}

int run(std::vector<std::string> words) {
    CLI::App app{
        "Replays, cuts, records and serves Teeworlds and DDNet demos, reads captures, and looks into maps.",
        "teewire"};
    app.allow_windows_style_options(false); // a name may begin with a slash there, too
    app.set_help_flag("-h,--help", "show this help");
    app.set_version_flag(
        "-V,--version",
        [] { return fmt::format("{} ({})", TEEWIRE_VERSION, teewire::name(teewire::used_cpu_level())); },
        "show the version, and the CPU level in use");
    std::vector<command> commands;
    for (verb_group const& group : verb_groups()) add(app, group.title, group.verbs, commands);
    if (auto const map_verbs = all_map_verbs(); !map_verbs.empty()) {
        CLI::App& map =
            *app.add_subcommand("map", "Show, check, draw and convert maps of Teeworlds, DDNet and xVector");
        map.group("Maps");
        add(map, "Commands", map_verbs, commands);
    }

    // Set last, because commands would inherit it.
    app.footer(
        "teewire FILE, without a command, shows a demo in the web browser until its page is closed.\n"
        "\n"
        "The file name - means standard input or, after -o, standard output.\n"
        "\n"
        "Exit codes: 0 success, 1 damaged input, 2 wrong usage, 3 reading or writing failed, 130 interrupted.\n"
        "\n"
        "See teewire COMMAND --help for options and examples.");

    auto const print = [](std::string const& text) {
        output out;
        out.write(text);
        return out.finish(exit_ok);
    };
    if (!words.empty() && words[0] == "--complete") {
        // For the shells: the words up to the one that is being typed.
        auto const offers = completions(app, std::span{words}.subspan(1));
        return print(fmt::format("{}{}", fmt::join(offers, "\n"), offers.empty() ? "" : "\n"));
    }
    auto const refuse = [&](misunderstanding const& what) {
        complain(what.text);
        write_error(fmt::format("see {} --help\n", what.verb));
        return exit_usage;
    };
    if (!words.empty() && words[0] == "help") {
        words.erase(words.begin());
        CLI::App const* chosen = &app;
        for (std::string const& word : words) {
            auto const nested = chosen->get_subcommands([&](CLI::App const* a) { return a->get_name() == word; });
            if (nested.empty()) return refuse(explain(app, words, "teewire help takes the name of a command"));
            chosen = nested[0];
        }
        return print(help_text(*chosen, help_columns()));
    }
    // A demo that is dropped on the program, or opened with it.
    auto const verbs = verb_names(app);
    if (words.size() == 1 && !words[0].starts_with('-') &&
        std::find(verbs.begin(), verbs.end(), words[0]) == verbs.end() &&
        os::facts_of(words[0]).type == os::file_type::regular)
        words = {"web", "--port", "0", "--until-closed", words[0]};
    try {
        app.parse(std::vector<std::string>{words.rbegin(), words.rend()});
    } catch (CLI::CallForHelp const&) {
        CLI::App const* chosen = &app;
        while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().back();
        return print(help_text(*chosen, help_columns()));
    } catch (CLI::CallForVersion const& e) {
        return print(fmt::format("{}\n", e.what()));
    } catch (CLI::ParseError const& e) {
        return refuse(explain(app, words, e.what()));
    }
    for (command const& c : commands) {
        if (!*c.parsed) continue;
        catch_interrupts(c.what->after_signal);
        return c.run();
    }
    return exit_usage;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(os::begin_process(argc, argv));
    } catch (closed_pipe const&) {
        os::end_by_closed_pipe();
        return exit_io;
    } catch (...) {
        exit_reason const failed = current_exit_reason();
        complain(failed.text);
        return failed.code;
    }
}
