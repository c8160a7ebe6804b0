#include "cli/examine_files.hpp"
#include "cli/exit_codes.hpp"
#include "cli/range_options.hpp"
#include "cli/server_options.hpp"
#include "game/item_text.hpp"
#include "game/race.hpp"
#include "recording/open_recording.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

struct dump_options {
    std::vector<std::string> files;
    output_choice to;
    chosen_range range;
    std::string connection; ///< of captures
    live_reading live;
    std::vector<std::string> types;
    std::string format = "ndjson";
    bool raw = false;  ///< csv: texts unchanged, formulas or not
    unsigned jobs = 0; ///< threads that decode; 0: as many as there are cores
    std::optional<shard> part;
    bool named = false; ///< whether it has to be said which file something is of
};

// The file, where several are dumped.
using file_label = std::optional<std::string>;

// FNV-1a 64 over the little-endian bytes.
std::uint64_t hash(std::span<std::int32_t const> ints) {
    std::uint64_t h = 14695981039346656037U;
    for (std::int32_t const value : ints)
        for (unsigned shift = 0; shift < 32; shift += 8)
            h = (h ^ (static_cast<std::uint32_t>(value) >> shift & 0xff)) * 1099511628211U;
    return h;
}

class tick_printer {
public:
    tick_printer(dump_options const& options, protocol p, file_label const& file)
        : protocol_{p}, file_{file}, types_{options.types} {
        for (std::string const& type : types_)
            if (find_object(p, type) == nullptr && type != "extended_type" && !type.starts_with("type_") &&
                !type.starts_with("uuid_"))
                throw usage_error{
                    fmt::format("--type: there is no item type \"{}\" in protocol {}", type, teewire::name(p))};
    }
    virtual ~tick_printer() = default;
    virtual void print(text_buffer& out, stream_event const& event) = 0;
    /// The text before the first snapshot.
    [[nodiscard]] virtual std::string head() const { return {}; }

protected:
    [[nodiscard]] bool wanted(std::string_view type) const {
        return types_.empty() || std::find(types_.begin(), types_.end(), type) != types_.end();
    }
    protocol protocol_;
    file_label const& file_;

private:
    std::vector<std::string> types_;
};

class tick_checksums : public tick_printer {
public:
    using tick_printer::tick_printer;
    void print(text_buffer& out, stream_event const& event) override {
        snapshot_view const snapshot = event.state;
        out.print("{} {} {} {:08x} {:016x}", event.tick, snapshot.size(), snapshot.data_size(), snapshot.checksum(),
                  hash(snapshot.ints()));
        if (file_) out.print(" {}", printable(*file_)); // the last, as it may hold spaces
        out.write("\n");
    }
};

std::optional<std::int64_t> finish_time(score_reader const& scores, item const& i, object const& player_info) {
    return scores.time(int_field(i, player_info, "client_id", i.id()), int_field(i, player_info, "score"));
}

class tick_ndjson : public tick_printer {
public:
    using tick_printer::tick_printer;
    void print(text_buffer& out, stream_event const& event) override {
        line_.print(out, [&](object_writer& line) {
            if (file_) line.text("file", *file_);
            line.number("tick", event.tick);
            line.flag("keyframe", event.keyframe);
            line.text("checksum", fmt::format("{:08x}", event.state.checksum()));
            object_writer items = line.object("items");
            write_items(items, event.state);
        });
    }

private:
    // Items of one type are rarely apart; those that are come together at the place of the first.
    void write_items(object_writer& items, snapshot_view snapshot) {
        types_done_.clear();
        for (std::size_t i = 0; i < snapshot.size(); ++i) {
            std::uint16_t const type = key_type(snapshot.key(i));
            if (std::find(types_done_.begin(), types_done_.end(), type) != types_done_.end()) continue;
            types_done_.push_back(type);
            type_name const name = name_type(snapshot, type, protocol_);
            if (!wanted(name.text)) continue;
            object_writer of_type = items.object(name.text);
            std::optional<score_reader> scores;
            if (type == player_info_) scores.emplace(snapshot, protocol_);
            for (std::size_t k = i; k < snapshot.size(); ++k) {
                if (key_type(snapshot.key(k)) != type) continue;
                item const found = snapshot[k];
                object_writer fields = of_type.object(fmt::format("{}", found.id()));
                write_fields(fields, found, name.known);
                if (!scores || !scores->times()) continue;
                // The meaning of a race's score.
                auto const time = finish_time(*scores, found, *name.known);
                fields.text_or_null("time", time ? time_text(*time) : "");
            }
        }
    }

    json_line line_;
    std::vector<std::uint16_t> types_done_;
    std::uint16_t player_info_ = find_object(protocol_, "player_info")->type;
};

class tick_csv : public tick_printer {
public:
    tick_csv(dump_options const& options, protocol p, file_label const& file)
        : tick_printer{options, p, file}, texts_{options.raw ? csv_texts::raw : csv_texts::safe} {
        if (options.types.size() == 1) object_ = find_object(p, options.types.front());
        if (object_ == nullptr) throw usage_error{"--format csv needs one --type NAME of a known item type"};
        timed_ = object_ == find_object(p, "player_info");
        if (file_) label_ = csv_text(valid_utf8(*file_), texts_) + ",";
    }
    [[nodiscard]] std::string head() const override {
        return fmt::format("{}tick,id{}{}\n", file_ ? "file," : "", csv_columns(*object_),
                           timed_ ? ",player_info.time" : "");
    }
    void print(text_buffer& out, stream_event const& event) override {
        snapshot_view const snapshot = event.state;
        std::optional<score_reader> scores;
        if (timed_) scores.emplace(snapshot, protocol_);
        for (item const i : snapshot) {
            if (name_type(snapshot, i.type(), protocol_).known != object_) continue;
            out.print("{}{},{}", label_, event.tick, i.id());
            write_csv_values(out, i, *object_, texts_);
            if (scores) {
                out.write(",");
                if (auto const time = finish_time(*scores, i, *object_)) out.write(time_text(*time));
            }
            out.write("\n");
        }
    }

private:
    object const* object_ = nullptr;
    csv_texts texts_;
    bool timed_ = false; // scores may be times
    std::string label_;  // first column, where there are several files
};

std::unique_ptr<tick_printer> make_printer(dump_options const& options, protocol p, file_label const& file) {
    if (options.format == "checksum") return std::make_unique<tick_checksums>(options, p, file);
    if (options.format == "csv") return std::make_unique<tick_csv>(options, p, file);
    return std::make_unique<tick_ndjson>(options, p, file);
}

// Where all parts of all files go.
struct tick_printout {
    output out;
    std::optional<std::string> head; // as it was printed
    bool any = false;                // snapshot of this file was printed
    std::string nothing;             // is in the range: what has to be said then
};

constexpr std::size_t text_piece = 64 << 10; // of what is printed

class printed_part : public segment_sink {
public:
    printed_part(dump_options const& options, file_label const& label, tick_printout& to)
        : options_{options}, label_{label}, printout_{to} {}

    void put(stream_event const& event) override {
        if (event.kind == event_kind::begin) return begin_recording(*event.begun);
        if (event.kind != event_kind::snapshot) return;
        over_ = event.tick > wanted_.last;
        if (event.tick < wanted_.first || over_) return;
        // Blocks instead of one text that grows: nothing is copied again and again.
        if (text_.size() >= text_piece) {
            block_sizes_ += text_.size();
            blocks_.emplace_back(text_.view());
            text_.clear();
        }
        printer_->print(text_, event);
        any_ = true;
    }
    /// Nothing that is wanted comes any more in this recording.
    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] std::size_t size() const noexcept override { return block_sizes_ + text_.size(); }
    void deliver() override {
        if (any_ && !printout_.head) printout_.out.write(printout_.head.emplace(printer_->head()));
        printout_.any |= any_;
        printout_.nothing = nothing_;
        for (std::string const& block : blocks_)
            if (!interrupted()) printout_.out.write(block); // a slow reader is not waited for then
        if (!interrupted()) printout_.out.write(text_.view());
        blocks_.clear();
        block_sizes_ = 0;
        text_.clear();
        any_ = false;
    }

private:
    void begin_recording(recording_info const& what) {
        printer_ = make_printer(options_, what.version, label_);
        wanted_ = range_of(options_.range, what);
        nothing_ = missed_text(wanted_, what);
        if (std::string const head = printer_->head(); printout_.head && head != *printout_.head)
            throw usage_error{fmt::format("{}other columns than before, because its protocol is {}",
                                          label_ ? *label_ + ": has " : "a recording has ", name(what.version))};
    }

    dump_options const& options_;
    file_label const& label_;
    tick_printout& printout_;
    std::unique_ptr<tick_printer> printer_;
    tick_range wanted_;
    std::string nothing_;             // is in it
    std::vector<std::string> blocks_; // before text_
    std::size_t block_sizes_ = 0;
    text_buffer text_;
    bool any_ = false; // a snapshot, even if nothing of it was wanted
    bool over_ = false;
};

report dump_file(std::string const& file, dump_options const& options, tick_printout& to, workers& team,
                 std::atomic<std::uint64_t>& done_bytes) {
    open_options how{options.connection, add_progress_to(done_bytes), complain, size_detection::assume};
    if (options.range.from || options.range.until) how.part = part_of(options.range);
    open_recording source{file, std::move(how)};
    file_label const label = options.named ? std::optional{source.name()} : std::nullopt;
    to.any = false;
    to.nothing.clear();
    std::string const damage = source.read_segments(
        team, [&] { return std::make_unique<printed_part>(options, label, to); },
        [&](recording_info const& info) { return range_of(options.range, info); }, done_bytes);
    to.out.flush();
    if (source.demo() != nullptr && !damage.empty()) throw bad_input{source.name(), damage};
    report r{exit_code_of(source), {}, {}};
    if (!to.any && !to.nothing.empty() && !interrupted())
        r.err = error_line(fmt::format("{}: {}", source.name(), to.nothing));
    return r;
}

class live_print final : public live_sink {
public:
    live_print(dump_options const& options, tick_printout& to) : part_{options, no_label_, to}, to_{to} {}

    void put(stream_event const& event) override {
        part_.put(event);
        if (part_.size() >= text_piece) flush();
    }
    void flush() override {
        part_.deliver();
        to_.out.flush();
    }
    [[nodiscard]] bool over() const override { return part_.over(); }

private:
    file_label no_label_;
    printed_part part_;
    tick_printout& to_;
};

// One file after the other, as what is printed is more than can be kept.
int dump(dump_options options) {
    bool const live = is_live(options.files, options.live);
    check_range(options.range, live);
    if (options.part && live) throw usage_error{"--shard cannot be used with a server or --follow"};
    options.named = options.files.size() > 1;
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    tick_printout to{output{options.to, options.files}, {}, false, {}};
    if (live) {
        live_print sink{options, to};
        return to.out.finish(read_live(options.files.front(), options.live, sink));
    }
    int worst = exit_ok;
    for (std::string const& file : options.files) {
        int const code = examine_files({file}, options.jobs, to.out,
                                       [&](std::size_t, workers& team, std::atomic<std::uint64_t>& done_bytes) {
                                           return dump_file(file, options, to, team, done_bytes);
                                       });
        worst = std::max(worst, code);
        if (interrupted()) break;
    }
    return to.out.finish(worst);
}

} // namespace

verb const dump_verb{
    "dump", "Print every snapshot of a demo, a packet capture or a server",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<dump_options>();
        options.files(
            chosen->files, folder_content::recordings,
            "demos, pcap and pcapng files, folders of them, HOST:PORT of a server, or - for standard input");
        options.output(chosen->to);
        options.format(chosen->format, {"ndjson", "csv", "checksum"},
                       "ndjson: one object per snapshot; csv: one row per item of one type; "
                       "checksum: tick, number of items, their bytes, checksum and hash");
        range_options(options, chosen->range);
        options.connection(chosen->connection);
        live_options(options, chosen->live);
        options.words("--type", chosen->types,
                      "print only items of these types, for example character,player_info");
        options.raw_texts(chosen->raw);
        options.jobs(chosen->jobs);
        options.part(chosen->part);
        options.examples({"dump game.demo --from 1:00 --to 1:10 | jq .items.character",
                          "dump game.demo --format csv --type character -o tees.csv",
                          "dump recording.demo --follow --type player_info",
                          "dump localhost:8303 --type character --duration 1:00"});
        return [chosen] { return dump(*chosen); };
    }};

} // namespace teewire::replay
