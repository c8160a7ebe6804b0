// The program's commands for maps, and for demos with maps in them: info, check, render, convert and extract. The first
// byte chooses the command, the rest is the file.
#include "map_mutator.hpp"
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

fuzz::bytes_view bytes_of(std::string const& text) {
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

// A map is as good afterwards as it was before, and converted once more the same.
void convert(fuzz::bytes_view map) {
    static fuzz::command const& check = *new fuzz::command{map_check_verb, form::text, {"@"}};
    static fuzz::command const& strict = *new fuzz::command{map_check_verb, form::text, {"@", "--strict"}};
    static auto const convert_to = [](char const* protocol) {
        return new fuzz::command{map_convert_verb, form::binary, {"@", "--to", protocol, "-o", "-"}};
    };
    static fuzz::command const& to_06 = *convert_to("0.6");
    static fuzz::command const& to_07 = *convert_to("0.7");
    int const code = check.run(map).code;
    int const strict_code = strict.run(map).code;
    for (fuzz::command const* const to : {&to_06, &to_07}) {
        auto const converted = to->run(map);
        if (converted.code != exit_ok) continue;
        if (code == exit_ok) FUZZ_REQUIRE(check.run(bytes_of(converted.out)).code == exit_ok);
        if (strict_code == exit_ok) FUZZ_REQUIRE(strict.run(bytes_of(converted.out)).code == exit_ok);
        FUZZ_REQUIRE(to->run(bytes_of(converted.out)).out == converted.out);
    }
}

void run_target(fuzz::bytes_view data) {
    static auto const& lines = *new fuzz::command_lines{
        {{map_info_verb, form::text, {}},
         {map_info_verb, form::ndjson, {"--format", "ndjson"}},
         {map_check_verb, form::text, {}},
         {map_check_verb, form::ndjson, {"--strict", "--format", "ndjson"}},
         {map_render_verb, form::binary, {"--scale", "2"}},
         {map_render_verb, form::binary, {"--scale", "32", "--region", "-2,-2,8,8"}},
         {map_render_verb, form::binary, {"--scale", "1", "--layer", "game", "--region", "-2,-2,99,99"}},
         {map_convert_verb, form::binary, {"--to", "0.6"}},
         {map_convert_verb, form::binary, {"--to", "0.7"}},
         {map_convert_verb, form::binary, {"--datafile", "3"}},
         {map_convert_verb, form::binary, {"--datafile", "4", "--level", "1"}},
         {map_extract_verb, form::binary, {}},
         {map_extract_verb, form::binary, {"--image", "0"}},
         {map_extract_verb, form::binary, {"--sound", "0"}},
         {map_extract_verb, form::binary, {"--block", "1"}}},
        {convert}};
    lines.run(data);
}

} // namespace

FUZZ_TARGET("map_verbs", run_target)
FUZZ_MUTATOR(1, fuzz::mutate_map)
FUZZ_CROSSOVER(1, fuzz::cross_maps)
