#include "edit/redact.hpp"
#include "base/json.hpp"
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
    std::string format = "text";
    bool keep_unknown = false;
};

redaction redaction_of(redact_options const& options) {
    redaction r;
    if (!options.what.empty()) {
        r.names = r.clans = r.skins = r.chat = r.server = false;
        for (std::string const& word : options.what)
            if (word == "names") r.names = true;
            else if (word == "clans") r.clans = true;
            else if (word == "skins") r.skins = true;
            else if (word == "chat") r.chat = true;
            else if (word == "server") r.server = true;
            else throw usage_error{fmt::format("--what: {} is not names, clans, skins, chat or server", word)};
    }
    if (!options.players.empty()) r.players.emplace(options.players.begin(), options.players.end());
    r.keep.insert(options.keep.begin(), options.keep.end());
    r.keep_unknown = options.keep_unknown;
    return r;
}

// A misspelt name would leave its player in the demo.
void require_known(redaction const& what, std::vector<std::string> const& known, std::string const& file) {
    auto const require = [&](std::set<std::string, std::less<>> const& named, char const* option) {
        for (std::string const& name : named) {
            if (std::binary_search(known.begin(), known.end(), name)) continue;
            std::string list;
            for (std::string const& k : known) list += (list.empty() ? "" : ", ") + k;
            throw usage_error{file, fmt::format("{}: there is no player {}; there {}", option, name,
                                                list.empty() ? "are none" : "are: " + list)};
        }
    };
    require(what.keep, "--keep");
    if (what.players) require(*what.players, "--players");
}

void print_json(output& out, redacted const& found) {
    json_line line;
    auto const print = [&](std::string_view action, std::string_view reason, std::string_view kind,
                           std::uint64_t n) {
        line.print(out, [&](object_writer& object) {
            object.text("action", action);
            if (!reason.empty()) object.text("reason", reason);
            object.text("kind", kind);
            object.number("count", n);
        });
    };
    print("replaced", "", "names", found.names);
    print("replaced", "", "clans", found.clans);
    print("replaced", "", "skins", found.skins);
    for (auto const& [why, n] : found.emptied) print("emptied", name(why.first), why.second, n);
    for (auto const& [why, n] : found.left_out) print("left out", name(why.first), why.second, n);
}

// "type_30 (12), uuid_... (1)"
std::string list_kinds(redacted const& found, redaction_reason reason) {
    std::string list;
    for (auto const& [why, n] : found.left_out)
        if (why.first == reason)
            list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", printable(why.second), n);
    return list;
}

// Reports the parts that are missing although they may be harmless.
void complain_of_losses(std::string const& file, redacted const& found) {
    constexpr struct {
        redaction_reason reason;
        char const* text;
    } losses[] = {
        {redaction_reason::unknown, "not in the tables and left out (--keep-unknown keeps it)"},
        {redaction_reason::unreadable, "not readable and left out"},
        {redaction_reason::unstorable, "left out, as a demo cannot hold it"},
    };
    for (auto const& loss : losses)
        if (std::string const kinds = list_kinds(found, loss.reason); !kinds.empty())
            complain(fmt::format("{}: {}: {}", file, loss.text, kinds));
}

std::string summary(redacted const& found) {
    std::string text = fmt::format("{}, {} and {} replaced", counted(found.names, "name"),
                                   counted(found.clans, "clan"), counted(found.skins, "skin"));
    constexpr struct {
        redaction_reason reason;
        char const* noun;
        char const* rest;
    } parts[] = {
        {redaction_reason::chat, "message", "of players left out"},
        {redaction_reason::server, "message", "of the server left out"},
        {redaction_reason::snapshot, "message", "with snapshots for single clients left out"},
        {redaction_reason::secret, "message", "with secrets left out"},
    };
    for (auto const& part : parts)
        if (std::uint64_t const n = found.count(part.reason); n > 0)
            text += fmt::format(", {} {}", counted(n, part.noun), part.rest);
    std::uint64_t emptied = 0;
    for (auto const& [why, n] : found.emptied) emptied += why.first == redaction_reason::unknown ? 0 : n;
    if (emptied > 0) text += fmt::format(", {} emptied", counted(emptied, "text"));
    return text;
}

int redact(redact_options const& options) {
    redaction const what = redaction_of(options);
    bool const json = options.format == "ndjson";
    if (json && options.to.name == "-")
        throw usage_error{"the demo and the --format ndjson output cannot both go to standard output"};
    output_file out{options.to, content::binary, {&options.file, 1}};
    input const source{options.file};
    demo_document demo{source};
    progress shown{2 * source.bytes().size()};
    redactor work{demo, what};
    work.find_names([&](std::uint64_t done) { shown.update(done, "looking for names"); });
    if (interrupted()) return exit_interrupted;
    require_known(what, work.names(), source.name());
    redacted const found =
        work.write(out, [&](std::uint64_t done) { shown.update(source.bytes().size() + done, "writing"); });
    shown.clear();
    if (interrupted()) return exit_interrupted;
    if (!work.error().empty()) complain(work.error() + "; everything before it is kept");
    out.finish_as_named();
    int const code = work.error().empty() ? exit_ok : exit_bad_input;
    if (json) {
        output report;
        print_json(report, found);
        return report.finish(code);
    }
    complain_of_losses(out.name(), found);
    remark(fmt::format("{}: {}", out.name(), summary(found)));
    return code;
}

} // namespace

verb const redact_verb{
    "redact", "Copy a demo without names, clans, chat and server messages",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<redact_options>();
        options.file(chosen->file, "a demo, or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.words("--what", chosen->what, "what to remove: names, clans, skins, chat, server [default: all]");
        options.words("--players", chosen->players, "redact only these players");
        options.words("--keep", chosen->keep, "leave these players unredacted");
        options.flag("--keep-unknown", chosen->keep_unknown,
                     "keep items and messages of unknown types, which could hold anything");
        options.format(
            chosen->format, {"text", "ndjson"},
            "report what was removed: text on standard error; ndjson on standard output, one object per kind");
        options.examples({"redact game.demo -o public.demo", "redact game.demo --players nameless -o public.demo"});
        return [chosen] { return redact(*chosen); };
    }};

} // namespace teewire::replay
