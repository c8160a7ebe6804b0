#include "edit/join.hpp"
#include "base/output.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

struct join_options {
    std::vector<std::string> files;
    output_choice to;
};

// The inputs, each read when it is needed, as all of them may be more than there is memory. Standard input is there once.
class inputs {
public:
    explicit inputs(std::vector<std::string> const& names) : names_{names} {}

    std::shared_ptr<input const> open(std::size_t number) {
        if (names_[number] != "-") return std::make_shared<input const>(names_[number]);
        if (streamed_ == nullptr) streamed_ = std::make_shared<input const>("-");
        return streamed_;
    }

private:
    std::vector<std::string> const& names_;
    std::shared_ptr<input const> streamed_;
};

bool does_continue(joinable const& before, input const& before_file, joinable const& part, input const& part_file) {
    continuation const found = find_continuation(before, before_file, part, part_file);
    if (found == continuation::differs)
        complain(
            fmt::format("{}: began in the same second as {}, but differs from it in ticks {} to {}, so it is put "
                        "behind it",
                        part.name, before.name, part.first_tick, std::min(before.last_tick, part.last_tick)));
    return found == continuation::same;
}

bool same_recording(joinable const& a, joinable const& b) {
    return a.header == b.header && a.first_tick == b.first_tick && a.last_tick == b.last_tick;
}

int join(join_options const& options) {
    if (std::count(options.files.begin(), options.files.end(), "-") > 1)
        throw usage_error{"-: standard input can be read only once"};
    output_file out{options.to, content::binary, options.files};
    inputs all{options.files};
    int code = exit_ok;

    std::vector<joinable> parts;
    std::vector<std::uint8_t> map;
    bool has_named_map = false; // the one that the headers name
    std::uint64_t total = 0;
    std::shared_ptr<input const> last;
    for (std::size_t i = 0; i < options.files.size() && !interrupted(); ++i) {
        auto const source = all.open(i);
        demo_document const demo{*source};
        parts.push_back(examine(demo));
        if (interrupted()) break;
        expect_joinable(parts.front(), parts.back());
        if (i > 0) parts.back().continues = does_continue(parts[i - 1], *last, parts[i], *source);
        bool const is_named = parts.back().has_map && !has_named_map;
        if (is_named || map.empty()) map.assign(demo.map().begin(), demo.map().end());
        has_named_map = has_named_map || is_named;
        total += demo.file_size();
        last = source;
    }
    if (interrupted()) return exit_interrupted;

    progress shown{total};
    std::uint64_t before = 0;
    auto const damaged = [&](std::string const& what) {
        shown.clear();
        complain(what);
        code = exit_bad_input;
    };
    demo_joiner joiner{out, parts, map};
    for (std::size_t i = 0; i < parts.size() && !interrupted(); ++i) {
        auto const source = all.open(i);
        demo_document demo{*source};
        if (!same_recording(examine(demo), parts[i]) && !interrupted())
            throw io_error{fmt::format("{}: changed while it was read", demo.name())};
        joiner.add(demo, damaged, [&](std::uint64_t bytes) { shown.update(before + bytes, demo.name()); });
        before += demo.file_size();
    }
    if (interrupted()) return exit_interrupted;
    joined const done = joiner.finish();
    shown.clear();
    std::uint64_t const size = out.size();
    out.finish_as_named();
    remark(fmt::format("{}: {} from tick {} to {} of {}, {}", out.name(),
                       clock_text(std::int64_t{done.last_tick} - done.first_tick), done.first_tick, done.last_tick,
                       counted(parts.size(), "recording"), size_text(size)));
    if (done.left_out != 0)
        complain(fmt::format("{}: {} left out, which a demo cannot hold or which repeat a tick", out.name(),
                             counted(done.left_out, "chunk")));
    if (done.lost_markers != 0)
        complain(fmt::format("{}: {} of the timeline left out, as the header has no room for more", out.name(),
                             counted(done.lost_markers, "marker")));
    return code;
}

} // namespace

verb const join_verb{"join", "Join recordings of one map into one demo",
                     [](option_set& options) -> std::function<int()> {
                         auto const chosen = std::make_shared<join_options>();
                         options.files(chosen->files, folder_content::demos,
                                       "demos in order, folders of demos, or - for standard input");
                         options.output(chosen->to, option_set::presence::required);
                         options.examples({"join first.demo second.demo -o both.demo"});
                         return [chosen] { return join(*chosen); };
                     }};

} // namespace teewire::replay
