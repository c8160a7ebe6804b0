#include "edit/diff.hpp"
#include "base/json.hpp"
#include "base/output.hpp"
#include "cli/exit_codes.hpp"
#include "cli/range_options.hpp"
#include "recording/open_recording.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <filesystem>

namespace teewire::replay {
namespace {

struct diff_arguments {
    std::vector<std::string> files;
    output_choice to;
    std::string format = "text";
    chosen_range range;
    std::optional<std::size_t> limit;
    diff_options what;
    bool no_messages = false;
    std::string connections[2]; ///< of captures: as for choose_connection
};

constexpr std::size_t text_limit = 100;

constexpr char const* label(side which) noexcept { return which == side::a ? "A" : "B"; }

// Prints up to a limit, and counts the rest.
class difference_printer : public diff_listener {
public:
    difference_printer(output& out, std::size_t limit) : out_{out}, limit_{limit} {}
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

protected:
    // Whether there is still something to be printed.
    bool room(std::size_t lines = 1) {
        if (limit_ == 0) return true;
        if (printed_ >= limit_) {
            left_out_ += lines;
            return false;
        }
        printed_ += lines;
        return true;
    }
    output& out_;

private:
    std::size_t limit_; // 0: none
    std::size_t printed_ = 0;
    std::uint64_t left_out_ = 0;
};

class difference_text final : public difference_printer {
public:
    using difference_printer::difference_printer;

    void recording(std::string_view what, std::string const& a, std::string const& b) override {
        if (room()) out_.print("{}: {} -> {}\n", what, or_none(a), or_none(b));
    }
    void ticks(side only, std::int32_t first, std::int32_t last, std::uint64_t count) override {
        if (!room()) return;
        if (count == 1) out_.print("tick {}: only in {}\n", first, label(only));
        else out_.print("ticks {} to {}: {} only in {}\n", first, last, count, label(only));
    }
    void item_only(side only, std::int32_t tick, teewire::item const& i, type_name const& type) override {
        if (room())
            out_.print("tick {}: {} {}: only in {}:{}\n", tick, type.text, i.id(), label(only),
                       changes_text(i, {}, type.known));
    }
    void item(std::int32_t tick, teewire::item const& i, type_name const& type,
              std::span<part_difference const> parts) override {
        if (!room()) return;
        out_.print("tick {}: {} {}:", tick, type.text, i.id());
        for (part_difference const& p : parts)
            out_.print("{} {} {} -> {}", &p == parts.data() ? "" : ",", part_name(p.part), value(p, p.a),
                       value(p, p.b));
        out_.write("\n");
    }
    void message(std::int32_t tick, std::size_t number, compared_message const* a,
                 compared_message const* b) override {
        if (!room()) return;
        compared_message const& one = a != nullptr ? *a : *b;
        out_.print("tick {}: message {}: ", tick, number);
        if (a != nullptr && b != nullptr) out_.print("{} -> {}\n", text(*a), text(*b));
        else out_.print("only in {}: {}\n", a != nullptr ? "A" : "B", text(one));
    }

private:
    static std::string or_none(std::string const& text) { return text.empty() ? "none" : text; }
    static std::string value(part_difference const& p, std::span<std::int32_t const> ints) {
        return ints.empty() ? "none" : part_text(p.part, ints);
    }
    static std::string text(compared_message const& m) {
        return m.fields.empty() ? m.name : fmt::format("{} ({})", m.name, m.fields);
    }
};

class difference_ndjson final : public difference_printer {
public:
    using difference_printer::difference_printer;

    void recording(std::string_view what, std::string const& a, std::string const& b) override {
        if (!room()) return;
        line_.print(out_, [&](object_writer& line) {
            line.text("recording", what);
            line.text("a", a);
            line.text("b", b);
        });
    }
    void ticks(side only, std::int32_t first, std::int32_t last, std::uint64_t count) override {
        if (!room()) return;
        line_.print(out_, [&](object_writer& line) {
            line.number("first_tick", first);
            line.number("last_tick", last);
            line.number("ticks", count);
            in_one(line, only);
        });
    }
    void item_only(side only, std::int32_t tick, teewire::item const& i, type_name const& type) override {
        if (!room()) return;
        line_.print(out_, [&](object_writer& line) {
            write_item(line, tick, i, type);
            in_one(line, only);
            object_writer fields = line.object("fields");
            write_fields(fields, i, type.known);
        });
    }
    // A line for each field.
    void item(std::int32_t tick, teewire::item const& i, type_name const& type,
              std::span<part_difference const> parts) override {
        for (part_difference const& p : parts) {
            if (!room()) continue;
            line_.print(out_, [&](object_writer& line) {
                write_item(line, tick, i, type);
                line.text("field", part_name(p.part));
                value(line, "a", p, p.a);
                value(line, "b", p, p.b);
            });
        }
    }
    void message(std::int32_t tick, std::size_t number, compared_message const* a,
                 compared_message const* b) override {
        if (!room()) return;
        line_.print(out_, [&](object_writer& line) {
            line.number("tick", tick);
            line.number("message", number);
            if (a == nullptr || b == nullptr) in_one(line, a != nullptr ? side::a : side::b);
            describe(line, "a", a);
            describe(line, "b", b);
        });
    }

private:
    static void write_item(object_writer& line, std::int32_t tick, teewire::item const& i, type_name const& type) {
        line.number("tick", tick);
        line.text("item", type.text);
        line.number("id", i.id());
    }
    static void in_one(object_writer& line, side only) { line.text("only", only == side::a ? "a" : "b"); }
    static void value(object_writer& line, std::string_view key, part_difference const& p,
                      std::span<std::int32_t const> ints) {
        if (ints.empty()) line.null(key);
        else write_part(line.member(key), p.part, ints);
    }
    static void describe(object_writer& line, std::string_view key, compared_message const* m) {
        if (m == nullptr) return;
        object_writer message = line.object(key);
        message.text("name", m->name);
        message.text("fields", m->fields);
    }

    json_line line_;
};

// The type with the most differences comes first.
std::string list_counts(diff_result const& found) {
    std::vector<std::pair<std::string, std::uint64_t>> all{found.counts.begin(), found.counts.end()};
    std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.second > b.second; });
    constexpr std::size_t most = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
        text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", all[i].first, all[i].second);
    if (all.size() > most) text += fmt::format(", and {} more", all.size() - most);
    return text;
}

void print_summary(output& out, diff_result const& found, std::uint64_t left_out) {
    if (left_out != 0) out.print("... and {} more; --limit 0 prints them all\n", left_out);
    out.print("{} of {} ticks in both differ", found.different_ticks, found.common_ticks);
    for (side const only : {side::a, side::b})
        if (std::uint64_t const count = found.only[static_cast<std::size_t>(only)]; count != 0)
            out.print(", {} only in {}", count, label(only));
    out.print("{}\n", list_counts(found));
}

// Shows how far the first of the two is.
class watched_source final : public event_source {
public:
    watched_source(event_source& source, progress& shown, std::string const& file)
        : source_{source}, shown_{shown}, file_{file} {}

    bool next(stream_event& out) override {
        constexpr unsigned interval = 256;
        if (++calls_ % interval == 0) shown_.update(source_.done_bytes(), file_);
        return source_.next(out);
    }
    [[nodiscard]] std::string error() const override { return source_.error(); }
    [[nodiscard]] std::uint64_t done_bytes() const override { return source_.done_bytes(); }

private:
    event_source& source_;
    progress& shown_;
    std::string const& file_;
    unsigned calls_ = 0;
};

int diff(diff_arguments const& arguments) {
    if (arguments.files[0] == "-" && arguments.files[1] == "-")
        throw usage_error{"only one of the two files can be standard input"};
    check_range(arguments.range, false);
    output out{arguments.to, arguments.files};
    open_recording a{arguments.files[0], {.connection = arguments.connections[0], .remark = complain}};
    open_recording b{arguments.files[1], {.connection = arguments.connections[1], .remark = complain}};
    auto const events_a = a.events(), events_b = b.events();
    if (interrupted()) return out.finish(exit_interrupted);
    bool const text = arguments.format == "text";
    std::size_t const limit = arguments.limit.value_or(text ? text_limit : 0);
    difference_text for_people{out, limit};
    difference_ndjson for_programs{out, limit};
    diff_options options = arguments.what;
    options.messages = !arguments.no_messages;
    std::string nothing; // is in the range
    options.range = [&](recording_info const& r) {
        tick_range const range = range_of(arguments.range, r);
        nothing = missed_text(range, r);
        return range;
    };
    std::error_code unknown;
    auto const size = std::filesystem::file_size(arguments.files[0], unknown);
    progress shown{unknown ? 0 : size};
    watched_source watched{*events_a, shown, a.name()};
    diff_result const found =
        compare(watched, *events_b, options, text ? static_cast<diff_listener&>(for_people) : for_programs);
    shown.clear();
    if (interrupted()) return out.finish(exit_interrupted);
    // Two empty recordings are equal, but that is of no interest.
    bool const compared = found.common_ticks + found.only[0] + found.only[1] != 0;
    if (!compared && !nothing.empty() && found.same() && found.damage[0].empty() && found.damage[1].empty())
        throw usage_error{fmt::format("{}: {}", a.name(), nothing)};
    if (text && !found.same()) print_summary(out, found, for_people.left_out());
    out.flush();
    int code = found.same() ? exit_ok : exit_bad_input;
    open_recording const* const files[] = {&a, &b};
    for (std::size_t i = 0; i < 2; ++i) {
        std::string const& damage = found.damage[i];
        if (!damage.empty()) {
            complain(fmt::format("{}: {}; {}", files[i]->name(), damage,
                                 found.damage_tick < 0 ? "nothing was compared"
                                                       : fmt::format("compared up to tick {}", found.damage_tick)));
            code = exit_bad_input;
        } else {
            code = std::max(code, exit_code_of(*files[i]));
        }
    }
    return out.finish(code);
}

} // namespace

verb const diff_verb{
    "diff", "Compare two recordings by tick, item and field", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<diff_arguments>();
        options.two_files(chosen->files,
                          "A and B: demos, or pcap and pcapng files; one may be - for standard input");
        options.output(chosen->to);
        options.format(chosen->format, {"text", "ndjson"},
                       "text: a line per item, and a summary; ndjson: one object per field");
        options.words("--ignore", chosen->what.ignored,
                      "fields or types of items to ignore, for example character.tick,pickup");
        options.flag("--common-ticks", chosen->what.common_ticks, "ignore ticks that only one of them has");
        options.flag("--no-messages", chosen->no_messages, "compare only items");
        range_options(options, chosen->range, "where to start, as a position in A");
        options.text("--connection-a", chosen->connections[0],
                     "connection if A is a capture: its number or the client's ADDRESS:PORT [default: the one with "
                     "the most snapshots]",
                     "WHICH");
        options.text("--connection-b", chosen->connections[1], "the same for B", "WHICH");
        options.number(
            "--limit", chosen->limit, 0, 1e15,
            "print at most N differences and count the rest; 0: all [default: 100 for text, all for ndjson]");
        options.remark("Exit codes: 0 no difference, 1 a difference or a damaged input.");
        options.examples({"diff before.demo after.demo",
                          "diff a.demo b.demo --ignore character.tick,player_info --limit 0",
                          "diff a.demo b.demo --format ndjson | jq -r .field | sort | uniq -c"});
        return [chosen] { return diff(*chosen); };
    }};

} // namespace teewire::replay
