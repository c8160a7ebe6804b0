#include "base/json.hpp"
#include "cli/examine_files.hpp"
#include "recording/demo/usage.hpp"
#include "verbs/verbs.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

struct du_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format = "text";
    unsigned jobs = 0; ///< files at the same time; 0: as many as there are cores
    std::optional<shard> part;
};

using named_section = std::pair<char const*, usage_section const*>;

std::array<named_section, 3> sections_of(demo_usage const& u) {
    return {{{"keyframes", &u.keyframes}, {"deltas", &u.deltas}, {"messages", &u.messages}}};
}

void print_text(text_buffer& out, std::string const& file, demo_usage const& u) {
    auto const line = [&](std::string_view name, std::optional<std::uint64_t> count, std::uint64_t bytes) {
        double const share = 100 * static_cast<double>(bytes) / static_cast<double>(u.total);
        out.print("{:32}{:>10}{:>12}{:>7.2f} %\n", name, count ? fmt::format("{}", *count) : "", bytes, share);
    };
    out.print("{}\n{:32}{:>10}{:>12}{:>9}\n", printable(file), "", "count", "bytes", "share");
    line("header", {}, u.header);
    line("map", {}, u.map);
    line("ticks", u.ticks.count, u.ticks.bytes);
    for (auto const& [name, section] : sections_of(u)) {
        line(name, section->chunks.count, section->chunks.bytes);
        for (usage_section::part const& p : section->parts) line("  " + p.name, p.of.count, p.of.bytes);
    }
    if (u.unused.count != 0) line("unused", u.unused.count, u.unused.bytes);
    if (u.damaged.count != 0) line("damaged", u.damaged.count, u.damaged.bytes);
    if (u.rest != 0) line("unreadable rest", {}, u.rest);
    line("all", {}, u.total);
}

void write_count(object_writer& object, byte_count const& of) {
    object.number("count", of.count);
    object.number("bytes", of.bytes);
}

void write_count(object_writer& object, std::string_view key, byte_count const& of) {
    object_writer member = object.object(key);
    write_count(member, of);
}

void print_json(text_buffer& out, std::string const& file, demo_usage const& u) {
    json_line{}.print(out, [&](object_writer& line) {
        line.text("file", file);
        line.number("bytes", u.total);
        line.number("header", u.header);
        line.number("map", u.map);
        write_count(line, "ticks", u.ticks);
        for (auto const& [name, section] : sections_of(u)) {
            object_writer object = line.object(name);
            write_count(object, section->chunks);
            object_writer parts = object.object("parts");
            for (usage_section::part const& p : section->parts) write_count(parts, p.name, p.of);
        }
        write_count(line, "unused", u.unused);
        write_count(line, "damaged", u.damaged);
        line.number("rest", u.rest);
    });
}

int du(du_options options) {
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    return out.finish(examine_files(options.files, options.jobs, out,
                                    [&](std::size_t i, workers&, std::atomic<std::uint64_t>& done_bytes) {
                                        input const source{options.files[i]};
                                        demo_document demo{source};
                                        demo_usage const found = measure_usage(demo, add_progress_to(done_bytes));
                                        text_buffer text;
                                        if (options.format == "ndjson") {
                                            print_json(text, source.name(), found);
                                        } else {
                                            print_text(text, source.name(), found);
                                            if (i + 1 != options.files.size()) text.write("\n");
                                        }
                                        report r{exit_ok, std::string{text.view()}, {}};
                                        if (found.error.empty()) return r;
                                        r.code = exit_bad_input;
                                        r.err = error_line(found.error);
                                        return r;
                                    }));
}

} // namespace

verb const du_verb{
    "du", "Show where a demo's bytes go", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<du_options>();
        options.files(chosen->files, folder_content::demos, "demos, folders of demos, or - for standard input");
        options.output(chosen->to);
        options.format(chosen->format, {"text", "ndjson"}, "text: a table; ndjson: one object per file");
        options.jobs(chosen->jobs);
        options.part(chosen->part);
        options.examples({"du game.demo", "du --format ndjson *.demo | jq .deltas.parts.character.bytes"});
        return [chosen] { return du(*chosen); };
    }};

} // namespace teewire::replay
