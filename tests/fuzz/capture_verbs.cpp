// The program's commands for packet captures. The first byte chooses the command, the rest is the capture.
#include "capture_mutator.hpp"
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

// A written demo can be read, and shows the same as the capture up to a change of the map, apart from messages that
// demos of 0.7 have as items.
void write_demo(fuzz::bytes_view capture) {
    static fuzz::command const& made =
        *new fuzz::command{capture_verb, form::binary, {"@", "--connection", "1", "--format", "demo"}};
    static fuzz::command const& checked = *new fuzz::command{verify_verb, form::text, {"@"}};
    auto const demo = made.run(capture).out;
    if (demo.empty()) return;
    auto const found = checked.run({reinterpret_cast<std::uint8_t const*>(demo.data()), demo.size()});
    if (found.code != exit_ok) fuzz::fail(__FILE__, __LINE__, found.out.c_str());
    static fuzz::memory_file const& written = *new fuzz::memory_file;
    static fuzz::command const& compared =
        *new fuzz::command{diff_verb,
                           form::text,
                           {"@", written.path(), "--connection-a", "1", "--common-ticks", "--no-messages",
                            "--ignore", "client_info,game_info,tune_params"}};
    written.assign({reinterpret_cast<std::uint8_t const*>(demo.data()), demo.size()});
    auto const difference = compared.run(capture);
    if (difference.code != exit_ok && difference.said.empty() && !difference.out.starts_with("recording:"))
        fuzz::fail(__FILE__, __LINE__, difference.out.c_str());
}

void run_target(fuzz::bytes_view data) {
    static auto const& lines =
        *new fuzz::command_lines{{{capture_verb, form::text, {}},
                                  {capture_verb, form::text, {"--all"}},
                                  {capture_verb, form::text, {"--explain"}},
                                  {capture_verb, form::text, {"--connection", "1", "--explain"}},
                                  {capture_verb, form::ndjson, {"--format", "ndjson", "--all"}},
                                  {events_verb, form::ndjson, {"--connection", "1"}}},
                                 {write_demo}};
    lines.run(data);
}

} // namespace

FUZZ_TARGET("capture_verbs", run_target)
FUZZ_MUTATOR(1, fuzz::mutate_capture)
