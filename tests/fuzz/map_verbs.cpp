// What the program does with maps, and with demos for the maps in them: info, check, render, convert and extract. The
// first byte chooses how, the rest is the file.
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

std::vector<fuzz::command> const& commands() {
    static auto const& all = *[] {
        auto* const made = new std::vector<fuzz::command>;
        auto const add = [&](verb const& v, form out, std::vector<std::string> words) {
            words.insert(words.begin(), "@");
            if (out == form::binary) words.insert(words.end(), {"-o", "-"});
            made->emplace_back(v, out, std::move(words));
        };
        add(map_info_verb, form::text, {});
        add(map_info_verb, form::ndjson, {"--format", "ndjson"});
        add(map_check_verb, form::text, {});
        add(map_check_verb, form::ndjson, {"--strict", "--format", "ndjson"});
        add(map_render_verb, form::binary, {"--scale", "2"});
        add(map_render_verb, form::binary, {"--scale", "32", "--region", "-2,-2,8,8"});
        add(map_render_verb, form::binary, {"--scale", "1", "--layer", "game"});
        add(map_convert_verb, form::binary, {"--to", "0.6"});
        add(map_convert_verb, form::binary, {"--to", "0.7"});
        add(map_convert_verb, form::binary, {"--datafile", "3"});
        add(map_convert_verb, form::binary, {"--datafile", "4", "--level", "1"});
        add(map_extract_verb, form::binary, {});
        add(map_extract_verb, form::binary, {"--image", "0"});
        add(map_extract_verb, form::binary, {"--sound", "0"});
        add(map_extract_verb, form::binary, {"--block", "1"});
        return made;
    }();
    return all;
}

void run_target(fuzz::bytes_view data) {
    if (data.empty()) return;
    static_cast<void>(commands()[data[0] % commands().size()].run(data.subspan(1)));
}

} // namespace

FUZZ_TARGET("map_verbs", run_target)
