#include "edit/redact.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "recording/demo/demo_file.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

struct redact_options {
    std::string file;
    output_choice to;
    std::vector<std::string> what;
    std::vector<std::string> players;
    std::vector<std::string> keep;
};

redaction redaction_of(redact_options const& options) {
    redaction r;
    if (!options.what.empty()) {
        r.names = r.clans = r.chat = r.server = false;
        for (std::string const& word : options.what)
            if (word == "names") r.names = true;
            else if (word == "clans") r.clans = true;
            else if (word == "chat") r.chat = true;
            else if (word == "server") r.server = true;
            else throw usage_error{fmt::format("--what: {} is not names, clans, chat or server", word)};
    }
    if (!options.players.empty()) r.players.emplace(options.players.begin(), options.players.end());
    r.keep.insert(options.keep.begin(), options.keep.end());
    return r;
}

int redact(redact_options const& options) {
    redaction const what = redaction_of(options);
    output_file out{options.to, content::binary, {&options.file, 1}};
    input const source{options.file};
    demo_document demo{source};
    progress shown{2 * source.bytes().size()};
    redactor work{demo, what};
    work.find_names([&](std::uint64_t done) { shown.update(done, "looking for names"); });
    if (interrupted()) return exit_interrupted;
    redacted const found =
        work.write(out, [&](std::uint64_t done) { shown.update(source.bytes().size() + done, "writing"); });
    shown.clear();
    if (interrupted()) return exit_interrupted;
    for (std::string const& name : found.unknown)
        complain(fmt::format("{}: has no player {}", source.name(), name));
    if (!work.error().empty()) complain(work.error() + "; everything before it is kept");
    out.finish_as_named();
    auto const part = [](std::uint64_t count, char const* noun, char const* text) {
        return count == 0 ? std::string{} : fmt::format(", {} {}", counted(count, noun), text);
    };
    remark(fmt::format("{}: {} and {} replaced{}{}{}{}", out.name(), counted(found.names, "name"),
                       counted(found.clans, "clan"), part(found.chat, "line", "of chat left out"),
                       part(found.server, "line", "of the server left out"),
                       part(found.unreadable, "message", "left out, unreadable"),
                       part(found.refused, "thing", "left out, as a demo cannot hold it")));
    return work.error().empty() ? exit_ok : exit_bad_input;
}

} // namespace

verb const redact_verb{
    "redact", "Copy a demo without names, clans, chat and server messages",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<redact_options>();
        options.file(chosen->file, "a demo, or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.words("--what", chosen->what, "what to remove: names, clans, chat, server [default: all]");
        options.words("--players", chosen->players, "redact only these players");
        options.words("--keep", chosen->keep, "leave these players unredacted");
        options.examples({"redact game.demo -o public.demo", "redact game.demo --players nameless -o public.demo"});
        return [chosen] { return redact(*chosen); };
    }};

} // namespace teewire::replay
