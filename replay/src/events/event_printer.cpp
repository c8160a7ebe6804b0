#include "events/event_printer.hpp"

#include "base/json.hpp"
#include "events/event_columns.hpp"

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
            if (file_) line.text("file", *file_);
            cells to{line};
            put_event(e, to);
        });
    }

private:
    struct cells {
        object_writer& line;

        void null(column const&) {}
        void number(column const& c, std::int64_t value) { line.number(c.name, value); }
        void real(column const& c, double value) { line.real(c.name, value); }
        void flag(column const& c, bool value) { line.flag(c.name, value); }
        void text(column const& c, std::string_view value) { line.text(c.name, value); }
    };

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
        std::string line = label_.empty() ? "" : "file,";
        for (column const& c : event_columns) line.append(c.name).append(1, ',');
        line.back() = '\n';
        return line;
    }
    void print(text_buffer& out, game_event const& e) override {
        out.write(label_);
        cells to{out, texts_, ""};
        put_event(e, to);
        out.write("\n");
    }

private:
    struct cells {
        text_buffer& out;
        csv_texts texts;
        std::string_view separator;

        void null(column const&) { out.write(std::exchange(separator, ",")); }
        void number(column const&, std::int64_t value) { out.print("{}{}", std::exchange(separator, ","), value); }
        void real(column const&, double value) { out.print("{}{:.2f}", std::exchange(separator, ","), value); }
        void flag(column const& c, bool value) { number(c, value ? 1 : 0); }
        void text(column const& c, std::string_view value) {
            null(c);
            if (c.type == column_type::word) out.write(value);
            else if (!value.empty()) out.write(csv_text(valid_utf8(value), texts));
        }
    };

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

// A line enters at the bottom and disappears after some seconds. A subtitle is the set of lines between two changes.
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

    // Video players take text in angle brackets and braces for markup. An invisible character after the bracket prevents it.
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
    // Prints the lines shown until then.
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
    std::int64_t last_ = 0; // everything before it has been printed
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
