#include "cli/examine_files.hpp"
#include "cli/exit_codes.hpp"
#include "cli/range_options.hpp"
#include "cli/server_options.hpp"
#include "events/event_printer.hpp"
#include "events/game_event_reader.hpp"
#include "recording/open_recording.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <bitset>
#include <memory>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

struct events_options {
    std::vector<std::string> files;
    output_choice to;
    chosen_range range;
    std::string connection; ///< of captures
    live_reading live;
    std::vector<std::string> types;
    std::vector<std::string> players;
    std::string format = "ndjson";
    bool raw = false;  ///< csv: texts unchanged, formulas or not
    unsigned jobs = 0; ///< files at the same time; 0: as many as there are cores
    std::optional<shard> part;
    bool named = false; ///< whether it has to be said which file something is of
};

using kind_set = std::bitset<game_event_kind_count>;

event_format format_of(events_options const& options) {
    return options.format == "csv"    ? event_format::csv
           : options.format == "text" ? event_format::text
           : options.format == "srt"  ? event_format::srt
                                      : event_format::ndjson;
}

kind_set kinds_of(events_options const& options) {
    using enum game_event_kind;
    kind_set kinds;
    for (std::string const& type : options.types) {
        auto const kind = find_event_kind(type);
        if (!kind) {
            std::string all;
            for (std::size_t i = 0; i < game_event_kind_count; ++i)
                all += fmt::format("{}{}", i == 0 ? "" : ", ", name(static_cast<game_event_kind>(i)));
            throw usage_error{fmt::format("--type: unknown event \"{}\"; expected one of {}", type, all)};
        }
        kinds.set(static_cast<std::size_t>(*kind));
    }
    if (kinds.none() && options.format == "srt")
        for (game_event_kind const k : {kill, finish, chat, team_chat, whisper, server_message})
            kinds.set(static_cast<std::size_t>(k));
    return kinds.none() ? kinds.set() : kinds;
}

// Prints the events of a recording. `full`: the text is long enough to be written.
class printed_events final : public event_sink {
public:
    printed_events(events_options const& options, std::optional<std::string> file, std::function<void()> full = {})
        : full_{std::move(full)}, chosen_{options.range}, kinds_{kinds_of(options)}, players_{options.players},
          srt_{options.format == "srt"}, printer_{make_event_printer(format_of(options), std::move(file),
                                                                     options.raw ? csv_texts::raw
                                                                                 : csv_texts::safe)},
          reader_{[this](game_event const& e) {
              if (!wanted(e)) return;
              printer_->print(text_, e);
              any_ = true;
          }} {}

    void put(stream_event const& event) override {
        constexpr std::size_t piece_bytes = 64 << 10;
        reader_.put(event); // at the start of a recording, this gives the last events of the one before
        if (event.kind == event_kind::begin) begin(*event.begun);
        if (full_ && text_.size() >= piece_bytes) full_();
    }
    void finish() {
        reader_.finish();
        printer_->finish(text_);
    }
    /// No wanted event follows: everything that is a second old is given.
    [[nodiscard]] bool over(std::int32_t tick) const noexcept {
        return tick > later(range_.last, ticks_per_second);
    }
    /// The message if there was nothing in the chosen range.
    [[nodiscard]] std::string missed() const { return any_ ? "" : nothing_; }
    [[nodiscard]] std::string head() const { return printer_->head(); }
    [[nodiscard]] text_buffer& text() noexcept { return text_; }

private:
    void begin(recording_info const& what) {
        range_ = range_of(chosen_, what);
        nothing_ = missed_text(range_, what);
    }
    [[nodiscard]] bool wanted(game_event const& e) const {
        if (!kinds_[static_cast<std::size_t>(e.kind)] || !range_.contains(std::max(e.tick, 0))) return false;
        // A finish announced in the chat has its line of chat already.
        if (srt_ && e.kind == game_event_kind::finish && !e.text.empty()) return false;
        if (players_.empty()) return true;
        return std::any_of(players_.begin(), players_.end(), [&](std::string const& name) {
            return (e.client && e.client->name == name) || (e.target && e.target->name == name);
        });
    }

    std::function<void()> full_;
    chosen_range const& chosen_;
    tick_range range_;    // of the recording
    std::string nothing_; // is in its range
    bool any_ = false;    // event was printed
    kind_set kinds_;
    std::vector<std::string> const& players_;
    bool srt_;
    std::unique_ptr<event_printer> printer_;
    text_buffer text_;
    game_event_reader reader_;
};

// Hands over what has been printed so far.
class event_printout {
public:
    explicit event_printout(events_options const& options) : out_{options.to, options.files} {}

    void write(printed_events& events) {
        if (events.text().size() == 0) return;
        write_head(events);
        if (!interrupted()) out_.write(events.text().view());
        events.text().clear();
    }
    void write_head(printed_events const& events) {
        if (!std::exchange(head_written_, true)) out_.write(events.head());
    }
    output& out() noexcept { return out_; }

private:
    output out_;
    bool head_written_ = false;
};

// `written`: takes what is printed, piece by piece.
report read(std::string const& file, events_options const& options, std::atomic<std::uint64_t>& done_bytes,
            std::function<void(printed_events&)> const& written) {
    open_recording source{file, {options.connection, add_progress_to(done_bytes), complain}};
    printed_events events{options, options.named ? std::optional{source.name()} : std::nullopt,
                          [&] { written(events); }};
    std::string const error = source.read_all(events);
    events.finish();
    written(events);
    report r;
    r.code = std::max(exit_code_of(source), error.empty() ? exit_ok : exit_bad_input);
    std::string const said = error.empty() ? events.missed() : error;
    if (!said.empty()) r.err = error_line(fmt::format("{}: {}", source.name(), said));
    return r;
}

class live_events final : public live_sink {
public:
    live_events(events_options const& options, event_printout& to) : events_{options, {}}, to_{to} {
        to_.write_head(events_);
        to_.out().flush();
    }
    void put(stream_event const& event) override {
        events_.put(event);
        over_ = events_.over(event.tick);
        flush();
    }
    [[nodiscard]] bool over() const override { return over_; }
    void flush() override {
        if (events_.text().size() == 0) return;
        to_.write(events_);
        to_.out().flush();
    }
    void finish() override {
        events_.finish();
        flush();
    }

private:
    printed_events events_;
    event_printout& to_;
    bool over_ = false;
};

int events(events_options options) {
    static_cast<void>(kinds_of(options));
    bool const live = is_live(options.files, options.live);
    check_range(options.range, live);
    if (options.format == "srt" && options.files.size() > 1) throw usage_error{"--format srt takes one recording"};
    if (options.part && live) throw usage_error{"--shard cannot be used with a server or --follow"};
    options.named = options.files.size() > 1;
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    event_printout to{options};
    if (live) {
        live_events sink{options, to};
        return to.out().finish(read_live(options.files.front(), options.live, sink));
    }
    if (!options.named && !options.files.empty())
        return to.out().finish(examine_files(options.files, options.jobs, to.out(),
                                             [&](std::size_t, workers&, std::atomic<std::uint64_t>& done_bytes) {
                                                 return read(options.files.front(), options, done_bytes,
                                                             [&](printed_events& events) {
                                                                 to.write_head(events);
                                                                 to.write(events);
                                                                 to.out().flush();
                                                             });
                                             }));
    to.write_head(printed_events{options, options.named ? std::optional<std::string>{""} : std::nullopt});
    return to.out().finish(examine_files(options.files, options.jobs, to.out(),
                                         [&](std::size_t i, workers&, std::atomic<std::uint64_t>& done_bytes) {
                                             std::string text;
                                             report r = read(options.files[i], options, done_bytes,
                                                             [&](printed_events& events) {
                                                                 text += events.text().view();
                                                                 events.text().clear();
                                                             });
                                             r.out = std::move(text);
                                             return r;
                                         }));
}

} // namespace

verb const events_verb{
    "events", "Print what happens in a game: kills, chat, joins, finishes and more",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<events_options>();
        options.files(
            chosen->files, folder_content::recordings,
            "demos, pcap and pcapng files, folders of them, HOST:PORT of a server, or - for standard input");
        options.output(chosen->to);
        options.format(
            chosen->format, {"ndjson", "csv", "text", "srt"},
            "ndjson: one object per event; csv: one row; text: one line; srt: subtitles of chat and kills");
        options.words("--type", chosen->types, "print only events of these kinds, for example kill,chat");
        options.words("--players", chosen->players, "print only events that involve one of these players");
        range_options(options, chosen->range);
        options.connection(chosen->connection);
        live_options(options, chosen->live);
        options.raw_texts(chosen->raw);
        options.jobs(chosen->jobs);
        options.part(chosen->part);
        options.examples({"events game.demo --type kill | jq -r .weapon | sort | uniq -c",
                          "events *.demo --format csv --type finish -o finishes.csv",
                          "events game.demo --format srt -o game.srt",
                          "events localhost:8303 --format text --type chat,kill"});
        return [chosen] { return events(*chosen); };
    }};

} // namespace teewire::replay
