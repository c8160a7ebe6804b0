// What the program does with maps, and with demos for the maps in them: info, check, render, convert and extract. The
// first byte chooses how, the rest is the file.
#include "map_mutator.hpp"
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

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
         {map_extract_verb, form::binary, {"--block", "1"}}}};
    lines.run(data);
}

} // namespace

FUZZ_TARGET("map_verbs", run_target)
FUZZ_MUTATOR(1, fuzz::mutate_map)
