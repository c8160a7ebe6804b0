// What the program does with packet captures. The first byte chooses how, the rest is the capture.
#include "program.hpp"

using namespace teewire::replay;
using fuzz::form;

namespace {

std::vector<fuzz::command> const& commands() {
    static auto const& all = *[] {
        auto* const made = new std::vector<fuzz::command>;
        auto const add = [&](form out, std::vector<std::string> words) {
            words.insert(words.begin(), "@");
            made->emplace_back(capture_verb, out, std::move(words));
        };
        add(form::text, {});
        add(form::text, {"--all"});
        add(form::text, {"--explain"});
        add(form::text, {"--connection", "1", "--explain"});
        add(form::ndjson, {"--format", "ndjson", "--all"});
        return made;
    }();
    return all;
}

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
    if (data.empty()) return;
    std::size_t const chosen = data[0] % (commands().size() + 1);
    if (chosen == commands().size()) return write_demo(data.subspan(1));
    static_cast<void>(commands()[chosen].run(data.subspan(1)));
}

} // namespace

FUZZ_TARGET("capture_verbs", run_target)
