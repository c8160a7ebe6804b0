// What the program does with packet captures. The first byte chooses how, the rest is the capture.
#include "capture_mutator.hpp"
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

// A demo that was written can be read.
void write_demo(fuzz::bytes_view capture) {
    static fuzz::command const& made =
        *new fuzz::command{capture_verb, form::binary, {"@", "--connection", "1", "--format", "demo"}};
    static fuzz::command const& checked = *new fuzz::command{verify_verb, form::text, {"@"}};
    auto const demo = made.run(capture).out;
    if (demo.empty()) return;
    auto const found = checked.run({reinterpret_cast<std::uint8_t const*>(demo.data()), demo.size()});
    if (found.code != exit_ok) fuzz::fail(__FILE__, __LINE__, found.out.c_str());
}

void run_target(fuzz::bytes_view data) {
    static auto const& lines =
        *new fuzz::command_lines{{{capture_verb, form::text, {}},
                                  {capture_verb, form::text, {"--all"}},
                                  {capture_verb, form::text, {"--explain"}},
                                  {capture_verb, form::text, {"--connection", "1", "--explain"}},
                                  {capture_verb, form::ndjson, {"--format", "ndjson", "--all"}},
                                  {events_verb, form::ndjson, {"--connection", "1"}}},
                                 write_demo};
    lines.run(data);
}

} // namespace

FUZZ_TARGET("capture_verbs", run_target)
FUZZ_MUTATOR(1, fuzz::mutate_capture)
