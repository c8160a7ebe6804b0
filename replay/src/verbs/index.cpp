#include "base/file_kind.hpp"
#include "cli/examine_files.hpp"
#include "verbs/verbs.hpp"
#include "web/demo_index.hpp"

#include <teewire/sha256.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

struct index_options {
    std::vector<std::string> files;
    bool force = false;
    unsigned jobs = 0;
};

report index_file(std::string const& file, bool force, std::atomic<std::uint64_t>& done_bytes) {
    refuse_compressed(file, first_bytes(file)); // as it lies there, which an input decompresses
    input const source{file};
    if (identify(source.bytes()) != file_kind::demo) refuse_kind(source.name(), source.bytes(), "a demo");
    demo_document demo{source};
    if (file == "-") throw usage_error{"standard input has no name to make the index's name of"};
    std::string const name = index_name(file);
    auto const old = read_index(name);
    report r;
    auto const report = [&](index_facts const& facts) {
        if (facts.error.empty()) return;
        r.code = exit_bad_input;
        r.err += error_line(fmt::format("{}: {}; the index has everything before it", file, facts.error));
    };
    if (old && !force && old->size == source.bytes().size() && old->sha256 == hex(sha256(source.bytes()))) {
        report(*old);
        return r;
    }
    // One that is out of date may be replaced; something else may not.
    output_file out{{name, force || old.has_value()}, content::binary, {&file, 1}};
    demo_index const made = make_index(demo, add_progress_to(done_bytes));
    if (interrupted()) return r;
    write_whole(out, made.bytes);
    report(made.facts);
    return r;
}

int index(index_options const& options) {
    std::vector<std::string> files; // each once
    for (std::string const& file : options.files)
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    output nothing;
    return nothing.finish(examine_files(files, options.jobs, nothing,
                                        [&](std::size_t i, workers&, std::atomic<std::uint64_t>& done_bytes) {
                                            return index_file(files[i], options.force, done_bytes);
                                        }));
}

} // namespace

verb const index_verb{"index", "Write an index for viewers that fetch only parts of a demo",
                      [](option_set& options) -> std::function<int()> {
                          auto const chosen = std::make_shared<index_options>();
                          options.operands(chosen->files, "DEMO",
                                           "demos, or folders of demos; each index is written to DEMO.index");
                          options.folders(chosen->files, folder_content::demos);
                          options.flag("--force", chosen->force, "rewrite indexes that are up to date");
                          options.jobs(chosen->jobs);
                          options.remark("An index that does not match its demo is replaced. An index is at most "
                                         "1% of its demo in size, or 4 KiB.");
                          options.examples({"index game.demo", "index recordings/*.demo"});
                          return [chosen] { return index(*chosen); };
                      }};

} // namespace teewire::replay
