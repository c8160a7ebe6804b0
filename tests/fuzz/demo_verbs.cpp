// What the program does with demos: info, dump and verify. The first byte chooses how, the rest is the demo.
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

// However many threads there are, and whoever reads it, it is the same.
void compare(fuzz::bytes_view demo) {
    static auto const words = [](char const* jobs) {
        return std::vector<std::string>{"@", "--format", "checksum", "--jobs", jobs};
    };
    static fuzz::command const& one = *new fuzz::command{dump_verb, form::text, words("1")};
    static fuzz::command const& three = *new fuzz::command{dump_verb, form::text, words("3")};
    static fuzz::command const& checked = *new fuzz::command{verify_verb, form::text, {"@", "--jobs", "2"}};
    auto const alone = one.run(demo);
    auto const together = three.run(demo);
    FUZZ_REQUIRE(alone.code == together.code && alone.out == together.out && alone.said == together.said);
    if (alone.code != exit_usage) FUZZ_REQUIRE(checked.run(demo).code == alone.code);
}

void run_target(fuzz::bytes_view data) {
    static auto const& lines = *new fuzz::command_lines{
        {{info_verb, form::text, {}},
         {info_verb, form::ndjson, {"--format", "ndjson"}},
         {dump_verb, form::ndjson, {"--jobs", "1"}},
         {dump_verb, form::text, {"--format", "csv", "--types", "character", "--jobs", "1"}},
         {dump_verb, form::binary, {"--format", "csv", "--types", "player_info", "--raw", "--jobs", "1"}},
         {dump_verb, form::ndjson, {"--from", "0:01", "--to", "0:02", "--jobs", "2"}},
         {verify_verb, form::text, {"--jobs", "1"}},
         {verify_verb, form::ndjson, {"--strict", "--format", "ndjson", "--jobs", "1"}},
         {map_info_verb, form::text, {}}},
        compare};
    lines.run(data);
}

} // namespace

FUZZ_TARGET("demo_verbs", run_target)
