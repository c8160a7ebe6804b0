// What the program does with demos: info, dump and verify. The first byte chooses how, the rest is the demo.
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

std::vector<fuzz::command> const& commands() {
    static auto const& all = *[] {
        auto* const made = new std::vector<fuzz::command>;
        auto const add = [&](verb const& v, form out, std::vector<std::string> words) {
            words.insert(words.begin(), "@");
            made->emplace_back(v, out, std::move(words));
        };
        add(info_verb, form::text, {});
        add(info_verb, form::ndjson, {"--format", "ndjson"});
        add(dump_verb, form::ndjson, {"--jobs", "1"});
        add(dump_verb, form::text, {"--format", "csv", "--types", "character", "--jobs", "1"});
        add(dump_verb, form::binary, {"--format", "csv", "--types", "player_info", "--raw", "--jobs", "1"});
        add(dump_verb, form::ndjson, {"--from", "0:01", "--to", "0:02", "--jobs", "2"});
        add(verify_verb, form::text, {"--jobs", "1"});
        add(verify_verb, form::ndjson, {"--strict", "--format", "ndjson", "--jobs", "1"});
        add(map_info_verb, form::text, {});
        return made;
    }();
    return all;
}

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
    if (data.empty()) return;
    std::size_t const chosen = data[0] % (commands().size() + 1);
    if (chosen == commands().size()) return compare(data.subspan(1));
    static_cast<void>(commands()[chosen].run(data.subspan(1)));
}

} // namespace

FUZZ_TARGET("demo_verbs", run_target)
