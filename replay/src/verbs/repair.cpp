#include "edit/repair.hpp"
#include "base/file_kind.hpp"
#include "base/input.hpp"
#include "base/json.hpp"
#include "base/output.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

struct repair_options {
    std::string file;
    output_choice to;
    std::string format = "text";
    std::optional<unsigned> version;
};

std::string loss_text(demo_loss const& l) {
    if (l.before < 0) return fmt::format("{}; nothing after it is kept", l.reason);
    if (l.after < 0) return fmt::format("{}; the result begins at tick {}, byte {}", l.reason, l.before, l.end);
    return fmt::format("{}; nothing is kept after tick {} and before tick {}, up to byte {}", l.reason, l.after,
                       l.before, l.end);
}

void print_json(output& out, demo_repair const& demo, std::string const& damage, demo_repair::counts const& written,
                std::uint64_t bytes, unsigned version) {
    json_line line;
    auto const remark = [&](std::string const& what) {
        line.print(out, [&](object_writer& object) { object.text("remark", what); });
    };
    for (std::string const& what : demo.remarks()) remark(what);
    if (!damage.empty()) remark(damage);
    for (demo_loss const& l : demo.losses())
        line.print(out, [&](object_writer& object) {
            object.number("byte", l.begin);
            object.number("end", l.end);
            object.tick_or_null("after_tick", l.after);
            object.tick_or_null("before_tick", l.before);
            object.text("reason", l.reason);
        });
    line.print(out, [&](object_writer& object) {
        object.number("snapshots", written.snapshots);
        object.number("messages", written.messages);
        object.number("bytes", bytes);
        object.number("version", version);
    });
}

std::uint8_t version_of(repair_options const& options, demo_repair const& demo, std::string const& name) {
    auto const version = static_cast<std::uint8_t>(
        options.version.value_or(std::min<unsigned>(demo.header().version, max_demo_version)));
    if (version < 6 || demo.header().has_sha256) return version;
    if (options.version)
        throw usage_error{fmt::format(
            "{}: --version 6 needs the SHA-256 of the map, and the demo has neither that nor the map", name)};
    return 5; // which needs none
}

int repair(repair_options const& options) {
    bool const json = options.format == "ndjson";
    if (json && options.to.name == "-")
        throw usage_error{"the demo and the --format ndjson output cannot both go to standard output"};
    output_file file{options.to, content::binary, {&options.file, 1}};
    input const source{options.file};
    file_kind const kind = identify(source.bytes());
    if (kind != file_kind::demo && kind != file_kind::unknown) refuse_kind(source.name(), source.bytes(), "a demo");
    // Larger numbers are not those of coming versions, but damage.
    constexpr std::uint8_t last_coming_version = 31;
    if (kind == file_kind::demo && source.bytes().size() > demo_version_offset)
        if (std::uint8_t const version = source.bytes()[demo_version_offset];
            version > max_demo_version && version <= last_coming_version)
            throw usage_error{source.name(), fmt::format("demo version {} is not supported, only 3 to 6", version)};
    progress shown{source.bytes().size()};
    demo_repair const demo{source.bytes(), [&](std::uint64_t done) { shown.update(done, source.name()); }};
    shown.clear();
    if (interrupted()) return exit_interrupted;
    if (!demo.has_snapshots() && kind == file_kind::unknown) refuse_kind(source.name(), source.bytes(), "a demo");
    if (!demo.has_snapshots())
        throw bad_input{fmt::format("{}: no snapshot in it is intact{}{}", source.name(),
                                    demo.remarks().empty() ? "" : ": ",
                                    demo.remarks().empty() ? std::string{} : demo.remarks().back())};
    std::uint8_t const version = version_of(options, demo, source.name());

    demo_repair::counts const written = demo.write(file, version);
    if (interrupted()) return exit_interrupted;
    std::uint64_t const bytes = file.size();
    file.finish_as_named();

    bool const damaged = !demo.losses().empty() || !demo.remarks().empty() || !source.damage().empty();
    std::string const summary = fmt::format(
        "{}: {}, {}, {} of version {}{}", options.to.name, counted(written.snapshots, "snapshot"),
        counted(written.messages, "message"), size_text(bytes), version, damaged ? "" : "; nothing was damaged");
    if (json) {
        output out;
        print_json(out, demo, source.damage(), written, bytes, version);
        return out.finish(damaged ? exit_bad_input : exit_ok);
    }
    for (std::string const& what : demo.remarks()) complain(fmt::format("{}: {}", source.name(), what));
    if (!source.damage().empty()) complain(fmt::format("{}: {}", source.name(), source.damage()));
    constexpr std::size_t most_lines = 100;
    for (std::size_t i = 0; i < std::min(demo.losses().size(), most_lines); ++i)
        complain(fmt::format("{}: {}", source.name(), loss_text(demo.losses()[i])));
    if (demo.losses().size() > most_lines)
        complain(fmt::format("{}: {} more ranges are damaged; --format ndjson lists all of them", source.name(),
                             demo.losses().size() - most_lines));
    remark(summary);
    return damaged ? exit_bad_input : exit_ok;
}

} // namespace

verb const repair_verb{
    "repair", "Recover the intact parts of a damaged demo", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<repair_options>();
        options.file(chosen->file, "a demo, or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.format(chosen->format, {"text", "ndjson"},
                       "report what was lost: text on standard error; ndjson on standard output, one object per "
                       "damaged range");
        options.number("--version", chosen->version, min_demo_version, max_demo_version,
                       "version of the demo to write [default: unchanged]");
        options.remark("Exit codes: 0 nothing was damaged, 1 something was damaged; the result has the rest.");
        options.examples({"repair damaged.demo -o good.demo", "repair old.demo --version 6 -o new.demo",
                          "repair damaged.demo -o good.demo --format ndjson > report.ndjson"});
        return [chosen] { return repair(*chosen); };
    }};

} // namespace teewire::replay
