#include "base/keyed_hash.hpp"
#include "base/os/process.hpp"
#include "base/output.hpp"
#include "cli/server_options.hpp"
#include "http/folder.hpp"
#include "http/live_pages.hpp"
#include "http/web_server.hpp"
#include "recording/demo/demo_limits.hpp"
#include "recording/demo/demo_sink.hpp"
#include "recording/feed.hpp"
#include "recording/stream/event_queue.hpp"
#include "serve/live_show.hpp"
#include "serve/udp_server.hpp"
#include "verbs/verbs.hpp"

#include <overlay_page.hpp> // generated

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

struct relay_options {
    std::string source;
    feed_options live;
    std::string bind = "0.0.0.0";
    std::optional<std::uint16_t> http;
    std::optional<std::uint16_t> udp;
    std::string viewer_password;
    server_limits viewers{.viewers = 1024};
    std::string folder;
    std::string record;
    demo_limits record_limits;
    bool force = false;
    std::optional<double> delay = 0;
    std::optional<double> window = 60;
    std::string title;
    web_limits web;
};

constexpr std::chrono::milliseconds housekeeping{100};
constexpr milliseconds sweep_interval = 10'000;
constexpr double longest_delay = 3600; // seconds

milliseconds in_milliseconds(std::optional<double> seconds) {
    return static_cast<milliseconds>(seconds.value_or(0) * 1000);
}

// Hands on what it gets when it has waited.
class delay_line final : public event_sink {
public:
    delay_line(asio::io_context& io, milliseconds delay, event_sink& to) : delay_{delay}, to_{to}, timer_{io} {}

    void put(stream_event const& event) override {
        if (delay_ == 0) return to_.put(event);
        waiting_.add(event, now() + delay_);
        if (!armed_) arm();
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return waiting_.bytes(); }
    [[nodiscard]] bool empty() const { return !waiting_.next(); }

private:
    void arm() {
        auto const next = waiting_.next();
        armed_ = next.has_value();
        if (!armed_) return;
        timer_.expires_at(to_time(*next));
        timer_.async_wait([this](boost::system::error_code cancelled) {
            if (cancelled) return;
            waiting_.release(now(), to_);
            arm();
        });
    }

    milliseconds delay_;
    event_sink& to_;
    asio::steady_timer timer_;
    event_queue waiting_;
    bool armed_ = false;
};

// Passes the source's events to everything that shows or stores them.
class relay_service final : public event_sink, private web_pages {
public:
    explicit relay_service(relay_options const& options)
        : options_{options}, title_{options.title.empty() ? options.source : options.title},
          live_{title_, in_milliseconds(options.delay), in_milliseconds(options.window)} {}

    // Where it can be had. Throws what cannot be opened.
    void open(asio::io_context& io, bool remote) {
        remote_ = remote;
        auto const address = parse_address(options_.bind);
        if (!options_.folder.empty()) {
            folder_.emplace(options_.folder, [](std::string const& line) { complain(line); });
            live_.offer().listen(*folder_);
        }
        if (!options_.record.empty()) {
            target_.emplace(output_choice{options_.record, options_.force});
            recorder_.emplace(*target_);
        }
        if (options_.udp) {
            socket_.emplace(io, options_.bind, *options_.udp);
            server_settings settings;
            settings.name = title_;
            settings.game_type = "live";
            settings.password = options_.viewer_password;
            settings.limits = options_.viewers;
            game_.emplace(show_, settings, random_bytes(), *socket_, now());
            socket_->start(*game_);
            say("serving game clients on {}, at most {} with {} each\n", endpoint_text(socket_->address()),
                options_.viewers.viewers, size_text(sizeof(watcher)));
        }
        if (!options_.http) return;
        web_.emplace(io, tcp::endpoint{address, *options_.http}, static_cast<web_pages&>(*this), options_.web);
        live_.attach(*web_);
        say("broadcasting on http://{}/\n", endpoint_text({web_->address().address(), web_->address().port()}));
    }

    void put(stream_event const& event) override {
        if (over_) return;
        counts_.lost += event.kind == event_kind::lost;
        counts_.snapshots += event.kind == event_kind::snapshot;
        counts_.messages += event.kind == event_kind::message;
        counts_.recordings += event.kind == event_kind::begin;
        if (game_) show_.put(event);
        live_.put(event);
        guard_record([&] { record(event); });
    }

    void proceed() {
        milliseconds const time = now();
        live_.proceed(time);
        if (game_) tell_news();
        if (folder_ && time >= next_sweep_) {
            folder_->sweep(live_.offer(), in_milliseconds(options_.window));
            next_sweep_ = time + sweep_interval;
        }
    }

    // The source has ended: what there is can still be had.
    void end_recording() {
        over_ = true;
        live_.finish();
        guard_record([&] {
            report(recorder_->finish());
            recorder_.reset();
        });
    }
    void close() {
        if (web_) web_->close();
        if (game_) game_->close("The relay ends", now());
    }

    /// The demo could not be written.
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool has_viewers() const noexcept { return web_ || game_; }

    void report() const {
        say("{}, {} lost, {}, {}; {}", counted(counts_.snapshots, "snapshot"), counts_.lost,
            counted(counts_.messages, "message"), counted(counts_.recordings, "recording"),
            counted(live_.offer().fragments(), "fragment"));
        if (game_)
            say("; {} joined, {} sent in {}", game_->count().joined, counted(game_->count().snapshots, "snapshot"),
                counted(socket_->sent(), "packet"));
        if (web_)
            say("; {} answered, {} refused", counted(web_->count().requests, "request"), web_->count().refused);
        say("\n");
    }

    void set_delayed(std::function<std::size_t()> bytes) { delayed_bytes_ = std::move(bytes); }

private:
    static void report(std::vector<written_demo> const& ended) {
        for (written_demo const& demo : ended)
            say("{}: {}, {}\n", printable(demo.path), counted(demo.snapshots, "snapshot"),
                counted(demo.messages, "message"));
    }

    void record(stream_event const& event) {
        if (event.kind == event_kind::begin) postponed_.emplace(*event.begun);
        if (postponed_ && (event.kind == event_kind::begin || event.kind == event_kind::snapshot)) begin_demo();
        if (!recorder_ || postponed_) return;
        if (event.kind != event_kind::begin) recorder_->put(event);
        if (recorder_->bytes() >= options_.record_limits.bytes) stop_recording("--max-bytes");
    }
    // As soon as there may be another one.
    void begin_demo() {
        if (demos_ == options_.record_limits.demos) return stop_recording("--max-demos");
        if (remote_ && !frequency_.try_begin(now())) {
            report(recorder_->finish());
            if (!std::exchange(waits_, true))
                say("{}: waiting, as the map changes too often: {} demos in a minute\n", printable(options_.record),
                    demo_frequency::max_per_minute);
            return;
        }
        waits_ = false;
        ++demos_;
        stream_event e;
        e.kind = event_kind::begin;
        e.begun = &postponed_->what;
        recorder_->put(e);
        report(recorder_->finish_ended());
        postponed_.reset();
    }
    void stop_recording(std::string_view limit) {
        report(recorder_->finish());
        recorder_.reset();
        say("{}: recording has ended, as the limit of {} is reached\n", printable(options_.record), limit);
    }

    // A demo that cannot be written ends, and the rest goes on.
    template <class Work>
    void guard_record(Work&& work) {
        if (!recorder_) return;
        try {
            work();
        } catch (output_error const& e) {
            complain(e.what());
            recorder_.reset();
            failed_ = true;
        }
    }

    void tell_news() {
        constexpr std::size_t most = 20; // of a crowd, in a tenth of a second
        auto const news = game_->take_news();
        for (std::size_t i = 0; i < std::min(news.size(), most); ++i) say("{}\n", printable(news[i]));
        if (news.size() > most) say("... and {} more\n", news.size() - most);
    }

    // ---- web_pages

    web_answer get(page_request const& asked) override {
        std::string_view const path = asked.path;
        if (path.empty()) return {web_answer::kind::file, page_, "text/html; charset=utf-8", "public, max-age=60"};
        if (path == "metrics") return text(metrics(), "text/plain; version=0.0.4");
        return live_.get(path);
    }
    static web_answer text(std::string const& what, std::string_view type) {
        return {web_answer::kind::file, std::make_shared<std::vector<std::uint8_t> const>(what.begin(), what.end()),
                type, "no-store"};
    }

    std::string metrics() const {
        text_buffer out;
        auto const add = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
            out.print("# HELP teewire_relay_{0} {2}\n# TYPE teewire_relay_{0} {1}\nteewire_relay_{0} {3}\n", name,
                      type, help, value);
        };
        auto const& web = web_->count();
        add("snapshots_total", "counter", "Snapshots received.", counts_.snapshots);
        add("lost_snapshots_total", "counter", "Snapshots that were lost before they came here.", counts_.lost);
        add("messages_total", "counter", "Messages received.", counts_.messages);
        add("recordings_total", "counter", "Maps or sessions of the source.", counts_.recordings);
        add("fragments_total", "counter", "Fragments made.", live_.offer().fragments());
        add("window_bytes", "gauge", "Bytes of the fragments that can be had.", live_.offer().bytes());
        add("delayed_bytes", "gauge", "Bytes that wait for the delay.", delayed_bytes_ ? delayed_bytes_() : 0);
        add("last_tick", "gauge", "Tick of the newest fragment's last snapshot.", live_.offer().last_tick());
        add("http_connections", "gauge", "Open connections.", web_->connections());
        add("http_feeds", "gauge", "Connections that read events.", web_->feeds());
        add("http_accepted_total", "counter", "Connections accepted.", web.accepted);
        add("http_turned_away_total", "counter", "Connections over the limits.", web.turned_away);
        add("http_requests_total", "counter", "Requests.", web.requests);
        add("http_refused_total", "counter", "Requests that were malformed, too large or too many.", web.refused);
        add("http_not_found_total", "counter", "Requests for what is not there.", web.not_found);
        add("http_timeouts_total", "counter", "Connections that were too slow.", web.timeouts);
        add("http_body_bytes_total", "counter", "Bytes of answers without their headers.", web.bytes);
        if (game_) {
            auto const& game = game_->count();
            add("udp_viewers", "gauge", "Clients that are connected.", game_->viewers());
            add("udp_watching", "gauge", "Clients that watch.", game_->watching());
            add("udp_joined_total", "counter", "Clients that have joined.", game.joined);
            add("udp_snapshots_total", "counter", "Snapshots sent.", game.snapshots);
            add("udp_encoded_total", "counter", "Snapshots encoded.", game.encoded);
            add("udp_received_total", "counter", "Datagrams received.", game.received);
            add("udp_ignored_total", "counter", "Datagrams of no use, or too many.", game.ignored);
            add("udp_sent_total", "counter", "Datagrams sent.", socket_->sent());
            add("udp_unsent_total", "counter", "Datagrams that the system did not take.", socket_->unsent());
        }
        add("folder_failures_total", "counter", "Files that could not be written.",
            folder_ ? folder_->failures() : 0);
        return std::string{out.view()};
    }

    struct counters {
        std::uint64_t snapshots = 0;
        std::uint64_t lost = 0;
        std::uint64_t messages = 0;
        std::uint64_t recordings = 0;
    };

    relay_options const& options_;
    std::string title_;
    live_pages live_;
    shared_bytes page_ =
        std::make_shared<std::vector<std::uint8_t> const>(std::begin(overlay_page), std::end(overlay_page));
    std::optional<broadcast_folder> folder_;
    std::optional<demo_target> target_;
    std::optional<demo_sink> recorder_;
    demo_frequency frequency_; // limits a remote source
    bool remote_ = false;
    unsigned demos_ = 0;                            // begun
    std::optional<owned_recording_info> postponed_; // a recording that is not in a demo yet
    bool waits_ = false;                            // for a minute with fewer demos
    live_show show_{now};
    std::optional<udp_server> socket_;
    std::optional<replay_server> game_; // shows the show
    std::optional<web_server> web_;
    std::function<std::size_t()> delayed_bytes_;
    milliseconds next_sweep_ = 0;
    counters counts_;
    bool over_ = false;
    bool failed_ = false;
};

int relay(relay_options const& options) {
    if (!options.http && !options.udp && options.folder.empty() && options.record.empty())
        throw usage_error{"nothing to do: use --udp, --http, --dir or --record"};
    if (*options.delay > longest_delay) throw usage_error{"--delay: at most an hour"};
    os::allow_descriptors();
    service_loop loop;
    relay_service shown{options};
    delay_line delayed{loop.io(), in_milliseconds(options.delay), shown};
    shown.set_delayed([&] { return delayed.bytes(); });
    bool source_over = false;
    auto const source = open_feed(loop, options.source, options.live, delayed, [&] { source_over = true; });
    shown.open(loop.io(), source->is_remote());
    bool ended = false;
    auto const end = [&] {
        if (std::exchange(ended, true)) return;
        shown.end_recording();
        if (!shown.has_viewers()) loop.stop();
        else say("{}: ended; still serving what was received until interrupted\n", printable(options.source));
    };
    auto const keep_house = [&] {
        shown.proceed();
        if (source_over && delayed.empty()) end();
    };
    loop.on_signal([&] {
        source->stop();
        if (!std::exchange(ended, true)) shown.end_recording();
        shown.close();
        loop.stop();
    });
    keep_house();
    loop.every(housekeeping, keep_house);
    source->start();
    loop.run();
    shown.report();
    return source->failed() || shown.failed() ? exit_io : exit_ok;
}

} // namespace

verb const relay_verb{
    "relay", "Show a server, a demo or another relay to many viewers",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<relay_options>();
        chosen->live.spectating.retry = true;
        options.operand(chosen->source, "SOURCE",
                        "HOST:PORT of a server, http://HOST:PORT of another relay, or a demo");
        options.group("Game clients");
        options.number("--udp", chosen->udp, 0, 65535, "UDP port for game clients");
        options.text("--viewer-password", chosen->viewer_password, "password for game clients");
        options.number("--max-clients", chosen->viewers.viewers, 1, 100'000, "maximum number of viewers");
        options.number("--max-clients-per-ip", chosen->viewers.viewers_per_address, 1, 100'000,
                       "maximum number of viewers from one IPv4 address or IPv6 /64");
        options.group("Browsers and relays");
        options.number("--http", chosen->http, 0, 65535, "HTTP port for browsers, caches and other relays");
        options.text("--dir", chosen->folder, "write the same as files, for any web server", "FOLDER");
        options.text("--record", chosen->record, "record a demo", "FILE");
        options.number("--max-demos", chosen->record_limits.demos, 1, 1e9, "stop recording after N demos");
        options.bytes("--max-bytes", chosen->record_limits.bytes,
                      "stop recording after BYTES in all demos together, such as 500M");
        options.flag("--force", chosen->force, "replace the demo if it exists");
        options.duration("--delay", chosen->delay, "delay everything by this much, however it is watched");
        options.duration("--window", chosen->window, "how long fragments stay available");
        options.text("--bind", chosen->bind, "IPv4 or IPv6 address to listen on", "ADDRESS");
        options.text("--title", chosen->title, "title shown to viewers");
        options.flag("--loop", chosen->live.loop, "repeat a demo");
        options.number("--speed", chosen->live.speed, 1.0 / 16, 100,
                       "playback speed of a demo, as a multiple of the recorded one");
        options.number("--max-connections", chosen->web.connections, 1, 1e6, "maximum number of HTTP connections");
        options.number("--max-connections-per-ip", chosen->web.connections_per_address, 1, 1e6,
                       "maximum number of HTTP connections from one IPv4 address or IPv6 /64");
        options.number("--max-requests-per-ip", chosen->web.requests_per_address, 1, 1e6,
                       "maximum number of HTTP requests per second from one IPv4 address or IPv6 /64");
        server_options(options, chosen->live.spectating);
        options.remark(
            "Caches may keep everything but /sync, /events and /metrics. See also doc/format/broadcast.md.");
        options.examples({"relay localhost:8303 --http 8080 --delay 10s",
                          "relay http://origin.example.net:8080 --http 80",
                          "relay game.demo --loop --dir /var/www/live --record copy.demo"});
        return [chosen] { return relay(*chosen); };
    },
    ending::deferred};

} // namespace teewire::replay
