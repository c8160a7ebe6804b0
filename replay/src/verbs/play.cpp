#include "base/output.hpp"
#include "base/service_loop.hpp"
#include "verbs/play_clock.hpp"
#include "verbs/play_state.hpp"
#include "verbs/play_view.hpp"
#include "verbs/verbs.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

// ---- lines ---------------------------------------------------------------------------------------------------------

// Prints events when they are due. The output does not depend on the speed.
class line_printer {
public:
    line_printer(play_state& shown, timeline const& all, std::int32_t from, double speed)
        : state_{shown}, timeline_{all}, next_state_{from}, speed_{speed} {
        next_ = from > all.first_tick ? all.count_until(from - 1) : 0;
    }

    void run() {
        clock_ = play_clock{steady_clock::now(), static_cast<double>(next_state_), speed_};
        do {
            endless_wait const waiting;
            std::this_thread::sleep_until(clock_.due(next_tick()));
        } while (!print(next_tick()));
    }

private:
    [[nodiscard]] std::int32_t next_tick() const {
        std::int64_t tick = std::min<std::int64_t>(next_state_, timeline_.last_tick);
        if (next_ < timeline_.events.size()) tick = std::min<std::int64_t>(tick, timeline_.events[next_].tick);
        return static_cast<std::int32_t>(tick);
    }

    // True when there is nothing left to print.
    bool print(std::int32_t tick) {
        auto const clock = clock_text(timeline_.elapsed(tick));
        if (tick == next_state_ && tick >= 0) {
            out_.print("{}  tick {}: {}\n", clock, tick, to_text(state_.players(tick), 4));
            next_state_ += state_period;
        }
        for (; next_ < timeline_.events.size() && timeline_.events[next_].tick <= tick; ++next_)
            out_.print("{}  {}\n", clock, timeline_.events[next_].text);
        out_.flush();
        return tick >= timeline_.last_tick;
    }

    static constexpr std::int64_t state_period = 5 * ticks_per_second;

    play_state& state_;
    timeline const& timeline_;
    std::size_t next_ = 0; // event
    std::int64_t next_state_;
    double speed_;
    play_clock clock_{{}, 0, 1};
    output out_;
};

// ---- live view -----------------------------------------------------------------------------------------------------

class live_view {
public:
    live_view(play_state& shown, demo_document const& demo, timeline const& all, std::int32_t from, double speed)
        : state_{shown}, timeline_{all}, clock_{steady_clock::now(), static_cast<double>(from), speed} {
        for (std::int32_t const tick : demo.header().markers())
            if (tick >= all.first_tick && tick <= all.last_tick) markers_.push_back(tick);
        title_ = printable(fmt::format(
            "{}   map {}   protocol {}   {} demo", std::filesystem::path{demo.name()}.filename().string(),
            text(demo.header().map_name), name(demo.item_protocol()), text(demo.header().type)));
        seek(from);
    }

    int run() {
        loop_.on_signal([this] { quit(exit_interrupted); });
        wait_for_key();
        update();
        loop_.run();
        return code_;
    }
    /// The end of the timeline has been on the screen.
    [[nodiscard]] bool reached_end() const noexcept { return reached_end_; }

private:
    // Draws the tick that is due, and comes back when the next one is.
    void update() {
        auto const now = steady_clock::now();
        if (clock_.tick(now) >= timeline_.last_tick) {
            reached_end_ = true;
            clock_.pause(now, true);
            clock_.seek(now, timeline_.last_tick);
        }
        draw_now(now);
        last_drawn_ = now;
        if (!clock_.paused()) update_at(clock_.due(tick(now) + 1.0));
    }
    void update_at(steady_clock::time_point due) {
        timer_.expires_at(std::max(due, last_drawn_ + frame));
        timer_.async_wait([this](boost::system::error_code failed) {
            if (!failed) update();
        });
    }

    void draw_now(steady_clock::time_point now) {
        std::int32_t const shown = tick(now);
        auto const players = state_.players(shown);
        view v;
        v.title = title_;
        v.tick = shown;
        v.first_tick = timeline_.first_tick;
        v.last_tick = timeline_.last_tick;
        v.speed = clock_.speed();
        v.paused = clock_.paused();
        v.markers = markers_;
        v.players = players;
        std::size_t const end = std::max(timeline_.count_until(shown), shown_from_);
        v.events = std::span{timeline_.events}.subspan(shown_from_, end - shown_from_);
        if (shown == timeline_.last_tick) v.error = printable(timeline_.error);
        terminal_.show(draw(v, terminal_.size()));
    }

    [[nodiscard]] std::int32_t tick(steady_clock::time_point now) const {
        return static_cast<std::int32_t>(
            std::clamp<double>(std::floor(clock_.tick(now)), timeline_.first_tick, timeline_.last_tick));
    }

    void quit(int code) {
        code_ = code;
        loop_.stop();
    }

    void heed(os::terminal_event what) {
        switch (what) {
        case os::terminal_event::suspended: {
            double const tick = clock_.tick(steady_clock::now());
            terminal_.leave();
            os::suspend();
            clock_.seek(steady_clock::now(), tick);
            break;
        }
        case os::terminal_event::resumed:
            terminal_.enter();
            update_at(steady_clock::now());
            break;
        case os::terminal_event::resized:
            terminal_.forget();
            update_at(steady_clock::now());
            break;
        case os::terminal_event::closed: return quit(exit_interrupted);
        }
    }

    void wait_for_key() {
        input_.wait([this] {
            if (!input_.read(typed_)) return quit(exit_interrupted);
            for (key const k : take_keys(typed_)) press(k);
            update_at(steady_clock::now());
            wait_for_key();
        });
    }

    void press(key k) {
        auto const now = steady_clock::now();
        std::int64_t const at = tick(now);
        switch (k) {
        case key::space: clock_.pause(now, !clock_.paused()); break;
        case key::left: seek(at - 5 * ticks_per_second); break;
        case key::right: seek(at + 5 * ticks_per_second); break;
        case key::page_up: seek(at - 60 * ticks_per_second); break;
        case key::page_down: seek(at + 60 * ticks_per_second); break;
        case key::home: seek(timeline_.first_tick); break;
        case key::end: seek(timeline_.last_tick); break;
        case key::plus: change_speed(clock_.speed() * 2); break;
        case key::minus: change_speed(clock_.speed() / 2); break;
        case key::dot: step(at); break;
        case key::n: seek_marker([at](std::int64_t tick) { return tick > at; }, true); break;
        case key::p:
            seek_marker([at](std::int64_t tick) { return tick < at - ticks_per_second / 2; }, false);
            break;
        case key::q: quit(exit_ok); break;
        }
    }

    void seek(std::int64_t tick) {
        tick = std::clamp<std::int64_t>(tick, timeline_.first_tick, timeline_.last_tick);
        clock_.seek(steady_clock::now(), static_cast<double>(tick));
        shown_from_ = tick > timeline_.first_tick ? timeline_.count_until(static_cast<std::int32_t>(tick) - 1) : 0;
    }

    void change_speed(double speed) {
        if (speed >= 1.0 / 16 && speed <= 64) clock_.set_speed(steady_clock::now(), speed);
    }

    // To the next snapshot.
    void step(std::int64_t at) {
        auto const next = std::upper_bound(timeline_.snapshots.begin(), timeline_.snapshots.end(), at);
        auto const now = steady_clock::now();
        clock_.pause(now, true);
        clock_.seek(now, next != timeline_.snapshots.end() ? *next : timeline_.last_tick);
    }

    // To the nearest of the markers on one side.
    template <class Side>
    void seek_marker(Side&& on_side, bool forward) {
        std::optional<std::int32_t> nearest;
        for (std::int32_t const tick : markers_)
            if (on_side(tick) && (!nearest || (tick < *nearest) == forward)) nearest = tick;
        if (nearest) seek(*nearest);
    }

    static constexpr std::chrono::milliseconds frame{40};

    service_loop loop_;
    asio::steady_timer timer_{loop_.io()};
    os::terminal_events events_{loop_.io(), [this](os::terminal_event what) { heed(what); }};
    os::standard_input input_{loop_.io()};
    play_state& state_;
    timeline const& timeline_;
    play_clock clock_;
    std::vector<std::int32_t> markers_;
    std::string title_;
    std::size_t shown_from_ = 0; // event; those before the last jump are not shown
    std::string typed_;
    steady_clock::time_point last_drawn_{};
    bool reached_end_ = false;
    int code_ = exit_ok;
    terminal terminal_;
};

struct play_options {
    std::string file;
    std::optional<time_position> from;
    double speed = 1;
};

int play(play_options const& options) {
    input const source{options.file};
    demo_document demo{source};
    timeline const all = read_timeline(demo);
    if (interrupted()) return exit_interrupted;
    play_state shown{demo, all};
    time_position const begin = options.from.value_or(time_position{time_position::origin::beginning, 0});
    std::int32_t const from = std::clamp(begin.tick(all.first_tick, all.last_tick), all.first_tick, all.last_tick);

    bool complete = true;
    int code = exit_ok;
    if (terminal::available()) {
        live_view live{shown, demo, all, from, options.speed};
        code = live.run();
        complete = live.reached_end();
    } else {
        line_printer{shown, all, from, options.speed}.run();
    }
    if (code == exit_ok && complete && !all.error.empty()) throw bad_input{all.error};
    return code;
}

} // namespace

verb const play_verb{"play", "Replay a demo in the terminal", [](option_set& options) -> std::function<int()> {
                         auto const chosen = std::make_shared<play_options>();
                         options.file(chosen->file, "a demo, or - for standard input");
                         options.position("--from", chosen->from, "where to start");
                         options.number("--speed", chosen->speed, 0.01, 1000,
                                        "playback speed, as a multiple of the recorded one");
                         options.examples({"play game.demo", "play game.demo --from 1:30 --speed 2"});
                         return [chosen] { return play(*chosen); };
                     }};

} // namespace teewire::replay
