// The command line: finds the verb, and turns what ends it into a message and an exit code.
#include "base/output.hpp"
#include "cli/nearest.hpp"
#include "verbs/verbs.hpp"

#include <teewire/cpu.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace teewire::replay;

constexpr verb const* verbs[] = {&info_verb,   &dump_verb,   &events_verb, &stats_verb,  &du_verb,
                                 &verify_verb, &diff_verb,   &repair_verb, &play_verb,   &cut_verb,
                                 &join_verb,   &merge_verb,  &redact_verb, &export_verb, &compress_verb,
                                 &types_verb,  &record_verb, &serve_verb,  &relay_verb,  &capture_verb,
                                 &index_verb,  &web_verb};
constexpr verb const* map_verbs[] = {&map_info_verb, &map_extract_verb, &map_render_verb, &map_convert_verb,
                                     &map_check_verb};

struct command {
    CLI::App* parsed;
    verb const* what;
    std::function<int()> run;
};

void add(CLI::App& parent, std::span<verb const* const> all, std::vector<command>& commands) {
    parent.require_subcommand(1);
    for (verb const* const v : all) {
        CLI::App& parsed = *parent.add_subcommand(v->name, v->summary);
        option_set options{parsed};
        commands.push_back({&parsed, v, v->declare(options)});
    }
}

// ---- what cannot be parsed -----------------------------------------------------------------------------------------

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
    std::string verb; ///< with what is before it: "teewire map"
    std::string text;
};

// The parser says of a misspelt word what it lacks then; people want to know the word.
misunderstanding explain(CLI::App& app, std::span<char* const> words, std::string const& otherwise) {
    CLI::App* at = &app;
    std::string path = app.get_name();
    auto const unknown = [&](std::string_view what, std::string const& word,
                             std::vector<std::string> const& known) {
        return misunderstanding{
            path, fmt::format("there is no {} {}; the nearest is {}", what, word, nearest(word, known))};
    };
    for (std::string const word : words) {
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
        if (std::find(nested.begin(), nested.end(), word) == nested.end()) return unknown("verb", word, nested);
        at = at->get_subcommand(word);
        path += " " + word;
    }
    auto const missing = verb_names(*at);
    return {path, missing.empty() ? otherwise : fmt::format("a verb is missing: {}", fmt::join(missing, ", "))};
}

// For reports of bugs: whether it is one of the code for one kind of processor.
void cap_cpu_level_from_environment() {
    char const* const wanted = std::getenv("TEEWIRE_CPU");
    if (wanted == nullptr || *wanted == '\0') return;
    auto const level = teewire::find_cpu_level(wanted);
    if (!level)
        throw usage_error{fmt::format("TEEWIRE_CPU: \"{}\" is not scalar, sse2, avx2, avx512 or neon", wanted)};
    teewire::cap_cpu_level(*level);
}

int run(int argc, char** argv) {
    cap_cpu_level_from_environment();
    CLI::App app{
        "Replays, cuts, records and serves Teeworlds and DDNet demos, reads captures, and looks into maps.",
        "teewire"};
    app.set_version_flag("--version", [] {
        return fmt::format("{} ({})", TEEWIRE_VERSION, teewire::name(teewire::used_cpu_level()));
    });
    std::vector<command> commands;
    add(app, verbs, commands);
    add(*app.add_subcommand("map", "Look into maps and convert them: Teeworlds, DDNet, xVector"), map_verbs,
        commands);

    // Not before, as verbs would inherit it.
    app.footer(
        "Exit codes: 0 good, 1 an input is damaged, 2 wrong usage, 3 reading or writing failed, 130 interrupted.\n"
        "A file called - is standard input, or standard output behind -o.\n"
        "teewire VERB --help tells more, with examples.");

    auto const print = [](std::string const& text) {
        output out;
        out.write(text);
        return out.finish(exit_ok);
    };
    try {
        app.parse(argc, argv);
    } catch (CLI::CallForHelp const&) {
        return print(app.help());
    } catch (CLI::CallForVersion const& e) {
        return print(fmt::format("{}\n", e.what()));
    } catch (CLI::ParseError const& e) {
        auto const [verb, text] =
            explain(app, std::span{argv, static_cast<std::size_t>(argc)}.subspan(1), e.what());
        complain(text);
        say("see {} --help\n", verb);
        return exit_usage;
    }
    for (command const& c : commands) {
        if (!*c.parsed) continue;
        catch_interrupts(c.what->after_signal);
        return c.run();
    }
    return exit_usage;
}

// A file that is opened must not become standard output because that was closed. What is missing cannot be used: it is
// open for the other direction.
void occupy_standard_streams() {
    for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) < 0)
            static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

} // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    std::signal(SIGPIPE, SIG_IGN); // so that nothing is left lying about
    try {
        return run(argc, argv);
    } catch (closed_pipe const&) {
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
        return exit_io;
    } catch (...) {
        exit_reason const failed = current_exit_reason();
        complain(failed.text);
        return failed.code;
    }
}
