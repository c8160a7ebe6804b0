#include "serve/playback.hpp"
#include "serve/udp_server.hpp"

#include "base/input.hpp"
#include "base/keyed_hash.hpp"
#include "base/os/console.hpp"
#include "base/output.hpp"
#include "base/service_loop.hpp"
#include "base/terminal.hpp"
#include "cli/map_file.hpp"
#include "recording/demo/demo_stream.hpp"
#include "verbs/verbs.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/lexical_cast/try_lexical_convert.hpp>

#include <filesystem>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;

constexpr std::size_t max_lines = 20; // at once
constexpr std::ptrdiff_t max_kept = 200;
constexpr double min_speed = 1.0 / 16;
constexpr double max_speed = 64;

// All of the text. Not every std::from_chars knows fractions.
bool read_number(std::string_view text, double& out) {
    return boost::conversion::try_lexical_convert(text.data(), text.size(), out);
}

struct serve_options {
    std::string file;
    std::uint16_t port = 8303;
    std::string bind = "0.0.0.0";
    std::string map;   ///< file; by default that in the demo
    std::string title; ///< in the server browser; by default that of the file
    bool loop = false;
    double speed = 1;
    server_limits limits;
};

class game_service {
public:
    game_service(playback& shown, serve_options const& options, std::string const& title)
        : shown_{shown}, socket_{loop_.io(), options.bind, options.port}, title_{title} {
        server_settings settings;
        settings.name = options.title;
        settings.limits = options.limits;
        server_.emplace(shown, settings, random_bytes(), socket_, now());
        say(fmt::format("serving {} on {} to clients of {}, at most {} with {} each", printable(title),
                        endpoint_text(socket_.address()), shown.is_07() ? "0.7" : "DDNet and 0.6.5",
                        options.limits.viewers, size_text(sizeof(watcher))));
        if (terminal::available()) screen_.emplace();
    }

    int run() {
        if (screen_) screen_->enter();
        loop_.on_signal([this] { stop(); });
        socket_.start(*server_);
        wait_for_input();
        refresh();
        loop_.every(std::chrono::milliseconds{200}, [this] { refresh(); });
        loop_.run();
        if (screen_) screen_->leave();
        report();
        return exit_ok;
    }

private:
    void stop() {
        server_->close("The replay is over", now());
        loop_.stop();
    }

    // ---- control

    void wait_for_input() {
        input_.wait([this] {
            if (screen_) {
                if (!input_.read(typed_)) return stop();
                for (key const k : take_keys(typed_)) press(k);
                draw();
            } else {
                if (!input_.read(typed_)) return; // no more commands; it goes on
                for (std::size_t end = typed_.find('\n'); end != std::string::npos; end = typed_.find('\n')) {
                    obey(std::string_view{typed_}.substr(0, end));
                    typed_.erase(0, end + 1);
                }
            }
            if (!loop_.io().stopped()) wait_for_input();
        });
    }

    void press(key k) {
        std::int64_t const at = shown_.position();
        switch (k) {
        case key::space: shown_.pause(!shown_.paused()); break;
        case key::left: seek(at - 5 * ticks_per_second); break;
        case key::right: seek(at + 5 * ticks_per_second); break;
        case key::page_up: seek(at - 60 * ticks_per_second); break;
        case key::page_down: seek(at + 60 * ticks_per_second); break;
        case key::home: seek(shown_.first_tick()); break;
        case key::end: seek(shown_.last_tick()); break;
        case key::plus: set_speed(shown_.speed() * 2); break;
        case key::minus: set_speed(shown_.speed() / 2); break;
        case key::q: stop(); break;
        default: break;
        }
    }

    void obey(std::string_view command) {
        auto const word = command.substr(0, command.find(' '));
        auto const rest = word.size() < command.size() ? command.substr(word.size() + 1) : std::string_view{};
        if (word == "pause") return shown_.pause(true);
        if (word == "play") return shown_.pause(false);
        if (word == "quit") return stop();
        if (word == "status") return reply(state());
        if (word == "seek")
            if (auto const place = parse_position(rest))
                return seek(place->tick(shown_.first_tick(), shown_.last_tick()));
        if (word == "speed") {
            double speed = 0;
            if (read_number(rest, speed) && set_speed(speed)) return;
        }
        reply(fmt::format(
            "{}: unknown command; expected one of pause, play, seek TIME, speed FACTOR, status, quit; TIME is {}",
            printable(command), position_forms));
    }

    void seek(std::int64_t tick) {
        shown_.seek(
            static_cast<std::int32_t>(std::clamp<std::int64_t>(tick, shown_.first_tick(), shown_.last_tick())));
    }
    bool set_speed(double speed) {
        if (!(speed >= min_speed && speed <= max_speed)) return false;
        shown_.set_speed(speed);
        return true;
    }

    // ---- display

    [[nodiscard]] std::string state() const {
        std::int32_t const at = shown_.position() - shown_.first_tick();
        return fmt::format("tick {}   {} / {}   speed {}x   {}   {} watching", shown_.position(), clock_text(at),
                           clock_text(shown_.last_tick() - shown_.first_tick()), shown_.speed(),
                           shown_.at_end()   ? "end"
                           : shown_.paused() ? "paused"
                                             : "playing",
                           server_->watching());
    }

    void refresh() {
        std::vector<std::string> news = server_->take_news();
        // Not every one of a crowd: whoever reads this must not be able to hold up the replay.
        std::size_t const shown = std::min(news.size(), max_lines);
        if (shown < news.size()) news[shown - 1] = fmt::format("... and {} more", news.size() - shown + 1);
        for (std::size_t i = 0; i < shown; ++i) {
            if (!screen_) say(news[i]);
            else news_.push_back(std::move(news[i]));
        }
        if (std::ssize(news_) > max_kept) news_.erase(news_.begin(), news_.end() - max_kept);
        draw();
    }

    static void say(std::string const& line) { teewire::replay::say("{}\n", line); }
    static void reply(std::string const& line) { write_error(line + "\n"); }

    void draw() {
        if (!screen_) return;
        window const size = screen_->size();
        std::vector<std::string> rows{printable(title_), state(), ""};
        std::size_t const room = size.rows > 5 ? size.rows - 5 : 0;
        for (std::size_t i = news_.size() - std::min(news_.size(), room); i < news_.size(); ++i)
            rows.push_back(news_[i]);
        while (rows.size() + 1 < size.rows) rows.emplace_back();
        rows.push_back("space pause   left/right 5 s   page up/down 1 min   + - speed   q quit");
        rows.resize(size.rows);
        for (std::string& row : rows) row = fit(row, size.columns);
        screen_->show(std::move(rows));
    }

    void report() const {
        auto const& c = server_->count();
        say(fmt::format(
            "{} joined, {} sent in {}, {} refused by the system; {} received, {} ignored; {} left out{}", c.joined,
            counted(c.snapshots, "snapshot"), counted(socket_.sent(), "packet"), socket_.unsent(),
            counted(c.received, "packet"), c.ignored, counted(shown_.late_ticks(), "tick"),
            c.too_large == 0 ? std::string{}
                             : fmt::format("; {} of the demo too large to send", counted(c.too_large, "message"))));
    }

    service_loop loop_;
    playback& shown_;
    udp_server socket_;
    os::standard_input input_{loop_.io()};
    std::string title_;
    std::optional<replay_server> server_;
    std::optional<terminal> screen_;
    std::string typed_;
    std::vector<std::string> news_;
};

int serve(serve_options const& options) {
    input const source{options.file};
    demo_document demo{source};
    std::optional<map_file> chosen_map;
    if (!options.map.empty()) chosen_map.emplace(options.map);
    auto const map = chosen_map ? chosen_map->bytes() : demo.map();
    if (chosen_map)
        if (auto const why = chosen_map->other_than(map_of(demo.header()), demo.name()); !why.empty())
            complain(why + "; serving it anyway");
    if (map.empty()) throw usage_error{demo.name() + ": has no map, which clients need; use --map FILE"};
    progress shown_progress{demo.file_size()};
    playback shown{demo, options.loop, [&](std::uint64_t done) { shown_progress.update(done, "reading"); }};
    shown_progress.clear();
    if (interrupted()) return exit_interrupted;
    if (!shown.error().empty()) complain(fmt::format("{}; showing everything before it", shown.error()));
    shown.set_speed(options.speed);
    if (chosen_map) shown.set_map(shown.map().name, map);

    serve_options chosen = options;
    std::string const title = std::filesystem::path{options.file}.filename().string();
    if (chosen.title.empty()) chosen.title = "teewire replay: " + printable(title);
    return game_service{shown, chosen, title}.run();
}

} // namespace

verb const serve_verb{
    "serve", "Show a demo to game clients over UDP", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<serve_options>();
        options.file(chosen->file, "a demo, or - for standard input");
        options.number("--port", chosen->port, 0, 65535,
                       "UDP port; game clients look for LAN servers on 8303 to 8310");
        options.text("--bind", chosen->bind, "IPv4 or IPv6 address to listen on", "ADDRESS");
        options.text("--title", chosen->title, "title in the server browser");
        options.text("--map", chosen->map, "map for a demo that does not include it", "FILE");
        options.flag("--loop", chosen->loop, "repeat the demo");
        options.number("--speed", chosen->speed, min_speed, max_speed,
                       "playback speed, as a multiple of the recorded one");
        options.number("--max-clients", chosen->limits.viewers, 1, 100'000, "maximum number of viewers");
        options.number("--max-clients-per-ip", chosen->limits.viewers_per_address, 1, 100'000,
                       "maximum number of viewers from one IPv4 address or IPv6 /64");
        options.remark(
            "The replay starts when the first client joins. On a terminal, keys control it; otherwise, lines on "
            "standard input do: pause, play, seek TIME, speed FACTOR, status, quit.");
        options.examples({"serve game.demo --loop", "serve game.demo --map dm1.map --port 8310"});
        return [chosen] { return serve(*chosen); };
    }};

} // namespace teewire::replay
