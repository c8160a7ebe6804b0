#include "events/event_printer.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace teewire::replay {
namespace {

// ---- ndjson --------------------------------------------------------------------------------------------------------

class ndjson_printer final : public event_printer {
public:
    explicit ndjson_printer(std::optional<std::string> file) : file_{std::move(file)} {}

    void print(text_buffer& out, game_event const& e) override {
        line_.print(out, [&](object_writer& line) {
            auto const number = [&](std::string_view key, auto const& value) {
                if (value) line.number(key, *value);
            };
            auto const somebody = [&](std::string_view key, std::string_view name_key,
                                      std::optional<participant> const& p) {
                if (!p) return;
                line.number(key, p->client_id);
                line.text(name_key, p->name);
            };
            if (file_) line.text("file", *file_);
            line.text("kind", name(e.kind));
            line.text("known", name(e.known));
            line.number("tick", e.tick);
            line.real("seconds", e.seconds);
            somebody("client", "name", e.client);
            somebody("target", "target_name", e.target);
            if (e.weapon) line.text("weapon", weapon_text(*e.weapon));
            if (e.client_seen) line.flag("killer_seen", *e.client_seen);
            number("team", e.team);
            number("time_ms", e.time);
            number("difference_ms", e.difference);
            number("server_time_ms", e.server_time);
            if (e.record != race_record::none) line.text("record", name(e.record));
            if (e.where) {
                line.number("x", e.where->x);
                line.number("y", e.where->y);
            }
            if (!e.text.empty()) line.text("text", e.text);
        });
    }

private:
    std::optional<std::string> file_;
    json_line line_;
};

// ---- csv -----------------------------------------------------------------------------------------------------------

class csv_printer final : public event_printer {
public:
    csv_printer(std::optional<std::string> const& file, csv_texts texts) : texts_{texts} {
        if (file) label_ = csv_text(valid_utf8(*file), texts) + ",";
    }
    [[nodiscard]] std::string head() const override {
        return fmt::format(
            "{}kind,known,tick,seconds,client,name,target,target_name,weapon,killer_seen,team,time_ms,"
            "difference_ms,server_time_ms,record,x,y,text\n",
            label_.empty() ? "" : "file,");
    }
    void print(text_buffer& out, game_event const& e) override {
        auto const number = [&](auto const& value) {
            out.write(",");
            if (value) out.print("{}", *value);
        };
        auto const text = [&](std::string_view value) {
            out.write(",");
            if (!value.empty()) out.write(csv_text(valid_utf8(value), texts_));
        };
        auto const somebody = [&](std::optional<participant> const& p) {
            number(p ? std::optional{p->client_id} : std::nullopt);
            text(p ? p->name : "");
        };
        out.print("{}{},{},{},{:.2f}", label_, name(e.kind), name(e.known), e.tick, e.seconds);
        somebody(e.client);
        somebody(e.target);
        out.print(",{},{}", e.weapon ? weapon_text(*e.weapon) : "",
                  !e.client_seen   ? ""
                  : *e.client_seen ? "1"
                                   : "0");
        number(e.team);
        number(e.time);
        number(e.difference);
        number(e.server_time);
        out.print(",{}", name(e.record));
        number(e.where ? std::optional{e.where->x} : std::nullopt);
        number(e.where ? std::optional{e.where->y} : std::nullopt);
        text(e.text);
        out.write("\n");
    }

private:
    csv_texts texts_;
    std::string label_;
};

// ---- text ----------------------------------------------------------------------------------------------------------

class text_printer final : public event_printer {
public:
    explicit text_printer(std::optional<std::string> const& file) {
        if (file) label_ = printable(*file) + ": ";
    }
    void print(text_buffer& out, game_event const& e) override {
        out.print("{}{}  {}\n", label_, clock_text(std::llround(e.seconds * 50)), to_text(e));
    }

private:
    std::string label_;
};

// ---- srt -----------------------------------------------------------------------------------------------------------

// Lines come from below and go after some seconds; a subtitle is what is to be seen between two changes.
class srt_printer final : public event_printer {
public:
    void print(text_buffer& out, game_event const& e) override {
        std::int64_t const now = std::max<std::int64_t>(last_, std::llround(e.seconds * 1000));
        expire(out, now);
        show(out, now);
        if (lines_.size() == most_lines) lines_.pop_front();
        lines_.push_back({now + line_milliseconds, harmless(to_text(e))});
    }
    void finish(text_buffer& out) override { expire(out, INT64_MAX); }

private:
    struct line {
        std::int64_t until;
        std::string text;
    };
    static constexpr std::int64_t line_milliseconds = 5000;
    static constexpr std::size_t most_lines = 5;

    // Players take some of what stands in angle brackets and braces for markup: a character that is not seen behind
    // them keeps them from it.
    static std::string harmless(std::string_view text) {
        std::string out;
        for (char const c : text) {
            out += c;
            if (c == '<' || c == '{') out += "\u2060";
        }
        return out;
    }

    void expire(text_buffer& out, std::int64_t now) {
        while (!lines_.empty() && lines_.front().until <= now) {
            show(out, lines_.front().until);
            lines_.pop_front();
        }
    }
    // The text that was shown up to then.
    void show(text_buffer& out, std::int64_t until) {
        std::int64_t const from = std::exchange(last_, until);
        if (lines_.empty() || from == until) return;
        auto const time = [](std::int64_t t) {
            return fmt::format("{:02}:{:02}:{:02},{:03}", t / 3'600'000, t / 60'000 % 60, t / 1000 % 60, t % 1000);
        };
        out.print("{}\n{} --> {}\n", ++number_, time(from), time(until));
        for (line const& l : lines_) out.print("{}\n", l.text);
        out.write("\n");
    }

    std::deque<line> lines_;
    std::int64_t last_ = 0; // up to where everything is told
    std::uint64_t number_ = 0;
};

} // namespace

std::unique_ptr<event_printer> make_event_printer(event_format format, std::optional<std::string> file,
                                                  csv_texts texts) {
    switch (format) {
    case event_format::ndjson: return std::make_unique<ndjson_printer>(std::move(file));
    case event_format::csv: return std::make_unique<csv_printer>(file, texts);
    case event_format::text: return std::make_unique<text_printer>(file);
    case event_format::srt: return std::make_unique<srt_printer>();
    }
    return nullptr;
}

} // namespace teewire::replay
