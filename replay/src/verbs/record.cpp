#include "demo/demo_file.hpp"
#include "net/udp_client.hpp"

#include "game/spacing.hpp"
#include "game/ticks.hpp"
#include "io/output.hpp"
#include "verbs/verbs.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <set>

#include <unistd.h>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;

constexpr std::int32_t spectators_team = -1;
constexpr milliseconds probe_time = 3000; // for each protocol, when it is to be found out
constexpr milliseconds answer_time = 10'000;
constexpr milliseconds first_back_off = 1000;
constexpr milliseconds max_back_off = 60'000;
// What a server can make a recorder write by changing its map. Votes for maps come at a few a minute.
constexpr std::size_t max_demos_per_minute = 10;

struct record_options {
    std::vector<std::string> hosts; ///< HOST[:PORT]
    output_choice to;
    std::optional<double> duration; ///< seconds
    std::string protocol = "auto";
    std::string name = "teewire";
    std::string password;
    std::string format = "text";
    std::optional<double> join_timeout = 120; ///< seconds from connecting to the first snapshot
    bool retry = false;
    unsigned max_demos = 1000;
    std::uint64_t max_bytes = std::uint64_t{16} << 30;
};

// What all recordings together may write.
struct allowance {
    unsigned demos;
    std::uint64_t bytes;
    std::function<void()> used_up;

    void use(std::uint64_t written) {
        bool const last = bytes != 0 && written >= bytes;
        bytes -= std::min(bytes, written);
        if (last) used_up();
    }
};

// What happened to the snapshots of one file.
struct tally {
    std::uint64_t received = 0; // decoded, with the right checksum
    std::uint64_t bad_checksum = 0;
    std::uint64_t damaged = 0; // otherwise
    std::uint64_t missing_base = 0;
    std::uint64_t without_checksum = 0; // unchanged ones have none
    distance_counts steps;
};

// A server that is being recorded.
class recording final : public client_listener {
public:
    recording(asio::io_context& io, record_options const& options, host_port server, std::string label,
              output_choice const& to, allowance& allowed, snapshot_scratch& scratch,
              std::function<void(std::string_view)> say, std::function<void()> ended)
        : options_{options}, server_{std::move(server)}, label_{std::move(label)}, target_{to}, allowed_{allowed},
          scratch_{scratch}, say_{std::move(say)}, ended_{std::move(ended)}, resolver_{io}, timer_{io}, limit_{io},
          link_{io, [this] { proceed(); }} {}

    void start() {
        started_ = now();
        keep_limits();
        look_up();
    }

    // Keeps what there is and says good-bye.
    void stop() {
        if (over_) return;
        over_ = true;
        resolver_.cancel();
        close_file();
        link_.close();
        timer_.cancel();
        limit_.cancel();
        ended_();
    }

    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool looks_up() const noexcept { return looks_up_; }
    /// Demos.
    [[nodiscard]] unsigned files() const noexcept { return files_; }
    [[nodiscard]] std::string state() const {
        if (over_) return label_ + ": done";
        if (!file_) return fmt::format("{}: {}", label_, doing_);
        return fmt::format("{}: {}, {} snapshots, {} missed, {} KiB", label_,
                           clock_text(file_->last_tick() - file_->first_tick()), file_->snapshots(),
                           measure_spacing(tally_.steps).missed, file_->size() / 1024);
    }

    // ---- client_listener

    void map_changes(served_map const& map) override {
        close_file();
        if (!joining_since_) joining_since_ = now();
        keep_limits();
        doing_ = fmt::format("map {}, {} KiB", map.name, map.size / 1024);
        say_(fmt::format("{}: map {}, {} KiB", label_, map.name, (map.size + 1023) / 1024));
    }
    void map_arrives(std::size_t bytes) override {
        doing_ = fmt::format("downloading the map, {} KiB", bytes / 1024);
    }
    void map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) override {
        tally_ = {};
        last_tick_ = -1;
        if (!begin_demo()) return;
        guard_output([&] {
            counted_bytes_ = 0;
            file_.emplace(target_.next(), client().version(), map, bytes);
            doing_ = "waiting for the first snapshot";
            count_bytes();
        });
    }
    void receives(snapshot_event const& event) override {
        if (!file_) return;
        switch (event.kind) {
        case snapshot_event_kind::snapshot: break;
        case snapshot_event_kind::missing_base: ++tally_.missing_base; return;
        case snapshot_event_kind::damaged:
        case snapshot_event_kind::malformed:
            ++(event.error.code == errc::bad_checksum ? tally_.bad_checksum : tally_.damaged);
            return;
        default: return;
        }
        ++tally_.received;
        tally_.without_checksum += !event.has_checksum;
        if (last_tick_ >= 0) ++tally_.steps[event.tick - last_tick_];
        last_tick_ = event.tick;
        guard_output([&] { file_->write_snapshot(event.tick, event.snapshot); });
        count_bytes();
        if (!file_) return;
        if (file_->snapshots() == 1) {
            back_off_ = first_back_off;
            say_(fmt::format("{}: recording to {}", label_, file_->path()));
        }
        joining_since_.reset();
        if (!first_snapshot_) {
            first_snapshot_ = now();
            keep_limits();
        }
        look_for_players(event);
    }
    void receives(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital) override {
        if (!file_) return;
        guard_output([&] { file_->write_message(m, type, bytes, vital); });
        count_bytes();
    }

private:
    [[nodiscard]] game_client& client() const { return *link_.client(); }

    [[nodiscard]] std::size_t protocols() const { return options_.protocol == "auto" ? 2 : 1; }

    void look_up() {
        looks_up_ = true;
        resolver_.async_resolve(server_.host, std::to_string(server_.port),
                                [this](boost::system::error_code failed, udp::resolver::results_type const& found) {
                                    looks_up_ = false;
                                    if (over_) return;
                                    if (failed || found.empty()) return lose(failed.message());
                                    peers_.assign(found.begin(), found.end());
                                    attempt_ = 0;
                                    connect();
                                });
    }

    void connect() {
        bool const any = options_.protocol == "auto";
        wire_format const format =
            options_.protocol == "0.7" || (any && attempt_ % 2 == 1) ? wire_format::v07 : wire_format::ddnet;
        peer_ = peers_[attempt_ / protocols()];
        doing_ = fmt::format("connecting with {}", format == wire_format::v07 ? "0.7" : "0.6");
        client_profile profile;
        profile.name = options_.name;
        profile.password = options_.password;
        profile.no_answer = any ? probe_time : answer_time;
        joining_since_ = now();
        keep_limits();
        boost::system::error_code failed;
        link_.open(peer_, format, profile, *this, scratch_, failed);
        if (failed) lose(failed.message());
    }

    // Whether there may be another demo. If not, the connection ends after what happens now.
    bool begin_demo() {
        milliseconds const time = now();
        while (!begun_.empty() && begun_.front() < time - 60'000) begun_.pop_front();
        if (begun_.size() >= max_demos_per_minute)
            refused_ = fmt::format("its map changes too often: {} demos in a minute", max_demos_per_minute);
        else if (target_.is_stream() && !begun_.empty())
            full_ = "the map has changed, and standard output holds one demo";
        else if (allowed_.demos == 0) allowed_.used_up();
        else {
            --allowed_.demos;
            begun_.push_back(time);
            return true;
        }
        return false;
    }

    void count_bytes() {
        if (file_) allowed_.use(file_->size() - std::exchange(counted_bytes_, file_->size()));
    }

    // What cannot be written ends this recording and no other.
    template <class Work>
    void guard_output(Work&& work) {
        try {
            work();
        } catch (output_error const& e) {
            file_.reset();
            output_failed_ = e.what();
        }
    }

    void proceed() {
        if (!output_failed_.empty()) {
            say_(fmt::format("teewire: {}", output_failed_));
            failed_ = true;
            return stop();
        }
        if (!full_.empty()) {
            say_(fmt::format("{}: {}", label_, full_));
            return stop();
        }
        if (std::string const why = std::exchange(refused_, {}); !why.empty()) {
            link_.close();
            return lose(why);
        }
        if (client().closed()) disconnected();
    }

    // ---- limits of time

    // A server that has answered may take its time to let us in, up to the other limit.
    [[nodiscard]] milliseconds end_of_recording() const {
        if (!options_.duration) return INT64_MAX;
        auto const duration = static_cast<milliseconds>(*options_.duration * 1000);
        if (first_snapshot_) return *first_snapshot_ + duration;
        bool const answered = link_.client() != nullptr && client().answered() && !client().closed();
        return answered ? INT64_MAX : started_ + duration;
    }
    [[nodiscard]] milliseconds end_of_joining() const {
        if (!joining_since_) return INT64_MAX;
        return *joining_since_ + static_cast<milliseconds>(*options_.join_timeout * 1000);
    }

    // Has to be called whenever a limit changes. Ends nothing itself, as a listener must not.
    void keep_limits() {
        milliseconds const next = std::min(end_of_recording(), end_of_joining());
        if (next == INT64_MAX) return;
        limit_.expires_at(to_time(next));
        limit_.async_wait([this](boost::system::error_code cancelled) {
            if (!cancelled && !over_) reach_limit();
        });
    }

    void reach_limit() {
        milliseconds const time = now();
        if (time >= end_of_recording()) {
            if (!first_snapshot_) {
                say_(fmt::format("{}: nothing to record in {} s", label_, *options_.duration));
                failed_ = true;
            }
            return stop();
        }
        if (time >= end_of_joining()) {
            close_file();
            link_.close();
            return lose(fmt::format("no snapshot in {} s", *options_.join_timeout));
        }
        keep_limits();
    }

    // ---- what goes wrong

    void disconnected() {
        // A server that refuses has answered.
        bool const answered = client().answered() || client().connection().cause() == close_cause::peer;
        close_file();
        link_.close();
        if (!answered && ++attempt_ < peers_.size() * protocols()) return connect_soon(0);
        lose(answered ? client().close_text() : "no answer");
    }

    void lose(std::string const& why) {
        if (!options_.retry) {
            say_(fmt::format("teewire: {}: {}", label_, why));
            failed_ = true;
            return stop();
        }
        doing_ = fmt::format("{}; next try in {} s", why, back_off_ / 1000);
        say_(fmt::format("{}: {}", label_, doing_));
        joining_since_.reset();
        keep_limits();
        milliseconds const wait = back_off_;
        back_off_ = std::min(2 * back_off_, max_back_off);
        attempt_ = 0;
        connect_soon(wait);
    }

    // Not at once, as the caller still uses what is replaced.
    void connect_soon(milliseconds wait) {
        timer_.expires_after(std::chrono::milliseconds{wait});
        timer_.async_wait([this](boost::system::error_code cancelled) {
            if (cancelled || over_) return;
            if (peers_.empty()) look_up();
            else connect();
        });
    }

    // Ordinary servers send what is near the place that a spectator looks at, which may be an empty corner.
    void look_for_players(snapshot_event const& event) {
        bool const v07 = client().version() == protocol::teeworlds_07;
        std::uint16_t const character = v07 ? 10 : 9;
        std::uint16_t const player_info = v07 ? 11 : 10;
        if (!look_.take(event.tick)) return;
        std::int32_t first = -1;
        std::int32_t next = -1;
        for (item const i : event.snapshot) {
            if (i.type() == character) return;
            if (i.type() != player_info || !plays(i)) continue;
            if (first < 0) first = i.id();
            if (next < 0 && i.id() > looked_at_) next = i.id();
        }
        looked_at_ = next >= 0 ? next : first;
        if (looked_at_ >= 0) client().send(messages::set_spectator_mode{1, looked_at_});
    }

    // Spectators cannot be watched.
    [[nodiscard]] bool plays(item const& player_info) const {
        if (client().version() != protocol::teeworlds_07)
            return player_info.data.size() > 2 && player_info.data[2] != spectators_team;
        if (player_info.id() >= max_clients_07) return false;
        auto const& known = file_->players().clients[player_info.id()];
        return known && (*known)[1] != spectators_team;
    }

    void close_file() {
        if (!file_) return;
        guard_output([&] {
            std::string const wanted = file_->path();
            if (!file_->finish()) return target_.reuse();
            ++files_;
            if (file_->path() != wanted) say_(fmt::format("{}: exists by now; this is {}", wanted, file_->path()));
            count_bytes();
            report();
        });
        file_.reset();
        if (output_failed_.empty()) return;
        say_(fmt::format("teewire: {}", output_failed_));
        failed_ = true;
    }

    // One line for each demo, on standard output unless that is the demo.
    void report() const {
        demo_file const& f = *file_;
        text_buffer out;
        if (options_.format == "text") {
            std::string const unchanged =
                f.unchanged() == 0 ? "" : fmt::format(" ({} of them unchanged and not stored)", f.unchanged());
            out.print(
                "{}: {}, ticks {} to {}, {} snapshots{}, {} messages, {} missed, {} bad checksums, {} bytes\n",
                printable(f.path()), clock_text(f.last_tick() - f.first_tick()), f.first_tick(), f.last_tick(),
                f.snapshots(), unchanged, f.messages(), measure_spacing(tally_.steps).missed, tally_.bad_checksum,
                f.size());
        } else {
            rapidjson::StringBuffer text;
            rapidjson::Writer<rapidjson::StringBuffer> json{text};
            json.StartObject();
            auto const number = [&](char const* key, std::uint64_t value) {
                json.Key(key);
                json.Uint64(value);
            };
            json.Key("file"), json.String(valid_utf8(f.path()).c_str());
            json.Key("server"), json.String(endpoint_text(peer_).c_str());
            json.Key("protocol"), json.String(std::string{name(client().connection().format())}.c_str());
            json.Key("first_tick"), json.Int(f.first_tick());
            json.Key("last_tick"), json.Int(f.last_tick());
            number("snapshots", f.snapshots());
            number("unchanged", f.unchanged());
            number("messages", f.messages());
            number("bytes", f.size());
            number("refused", f.refused());
            number("missed", measure_spacing(tally_.steps).missed);
            number("bad_checksum", tally_.bad_checksum);
            number("damaged", tally_.damaged);
            number("missing_base", tally_.missing_base);
            number("without_checksum", tally_.without_checksum);
            number("repeated", client().connection().repeated());
            number("gaps", client().connection().gaps());
            json.Key("steps");
            json.StartObject();
            for (auto const& [step, count] : tally_.steps) number(std::to_string(step).c_str(), count);
            json.EndObject();
            json.EndObject();
            out.print("{}\n", text.GetString());
        }
        if (target_.is_stream()) return teewire::replay::say(out.view());
        output to;
        to.write(out.view());
        to.flush();
    }

    record_options const& options_;
    host_port server_;
    std::string label_;
    demo_target target_;
    allowance& allowed_;
    snapshot_scratch& scratch_;
    std::function<void(std::string_view)> say_;
    std::function<void()> ended_;

    udp::resolver resolver_;
    asio::steady_timer timer_; // until the next attempt
    asio::steady_timer limit_;
    std::vector<udp::endpoint> peers_; // a name may have several addresses
    udp::endpoint peer_;
    udp_client link_;

    std::size_t attempt_ = 0; // through all addresses and protocols
    milliseconds back_off_ = first_back_off;
    std::optional<demo_file> file_;
    unsigned files_ = 0; // kept
    std::uint64_t counted_bytes_ = 0;
    std::deque<milliseconds> begun_; // demos of the last minute
    std::string refused_;            // why the connection ends
    std::string full_;               // why the recording ends
    std::string output_failed_;
    tally tally_;
    std::int32_t last_tick_ = -1;
    tick_interval look_{ticks_per_second};
    std::int32_t looked_at_ = -1;
    milliseconds started_ = 0;
    std::optional<milliseconds> joining_since_;
    std::optional<milliseconds> first_snapshot_;
    bool looks_up_ = false;
    std::string doing_ = "looking up";
    bool over_ = false;
    bool failed_ = false;
};

// What standard error shows: lines as things happen, and below them, on a terminal, the state of all.
class status {
public:
    void say(std::string_view line) {
        clear();
        teewire::replay::say("{}\n", printable(line));
    }
    void show(std::vector<std::unique_ptr<recording>> const& all) {
        if (!terminal_) return;
        clear();
        for (auto const& r : all) {
            if (r->over()) continue;
            teewire::replay::say("{}\x1b[K\n", printable(r->state()));
            ++shown_;
        }
    }
    void clear() {
        for (; shown_ > 0; --shown_) teewire::replay::say("\x1b[A\r\x1b[K");
    }

private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
    std::size_t shown_ = 0;
};

// OUT_HOST_PORT.demo
std::string name_for(host_port const& server, std::string const& out) {
    std::string host = server.host;
    std::replace_if(
        host.begin(), host.end(), [](char c) { return c == ':' || c == '/'; }, '-');
    std::filesystem::path path{out};
    std::string const extension = path.extension().string();
    path.replace_extension();
    return fmt::format("{}_{}_{}{}", path.string(), host, server.port, extension);
}

int record(record_options const& options) {
    asio::io_context io;
    auto const scratch = std::make_unique<snapshot_scratch>();
    status shown;
    asio::posix::stream_descriptor signals{io, dup(interrupt_descriptor())};
    asio::steady_timer refresh{io};
    std::vector<std::unique_ptr<recording>> all;

    auto const stop_all = [&] {
        for (auto const& r : all) r->stop();
    };
    auto const ended = [&] {
        if (!std::all_of(all.begin(), all.end(), [](auto const& r) { return r->over(); })) return;
        io.stop(); // cancelling is too late for what is queued already, and comes back for ever
    };
    allowance allowed{options.max_demos, options.max_bytes, [&] {
                          shown.say(fmt::format("{} are enough, and --max-demos and --max-bytes allow more",
                                                allowed.demos == 0 ? "so many demos" : "so many bytes"));
                          asio::post(io, stop_all); // not out of what happens now
                      }};
    bool const several = options.hosts.size() > 1;
    if (several && options.to.name == "-") throw usage_error{"standard output takes the demo of one server alone"};
    std::set<std::string> names;
    for (std::string const& host : options.hosts) {
        host_port const server = host_port::parse(host);
        output_choice own = options.to;
        if (several) own.name = name_for(server, options.to.name);
        if (!names.insert(own.name).second) throw usage_error{fmt::format("{}: is named twice", host)};
        all.push_back(std::make_unique<recording>(
            io, options, server, host, own, allowed, *scratch, [&](std::string_view line) { shown.say(line); },
            ended));
    }
    signals.async_wait(asio::posix::stream_descriptor::wait_read, [&](boost::system::error_code failed) {
        if (!failed) stop_all();
    });
    std::function<void()> const show = [&] {
        refresh.expires_after(std::chrono::milliseconds{500});
        refresh.async_wait([&](boost::system::error_code) {
            shown.show(all);
            show();
        });
    };
    show();
    for (auto const& r : all) r->start();
    io.run();
    shown.clear();
    auto const any = [&](auto const& what) { return std::any_of(all.begin(), all.end(), what); };
    bool const recorded = any([](auto const& r) { return r->files() != 0; });
    int const code = any([](auto const& r) { return r->failed(); }) ? exit_io
                     : interrupted() && !recorded                   ? exit_interrupted
                                                                    : exit_ok;
    // Looking up a name cannot be cancelled, and would be waited for.
    if (any([](auto const& r) { return r->looks_up(); })) {
        all.clear(); // with their files
        std::_Exit(code);
    }
    return code;
}

} // namespace

verb const record_verb{
    "record", "Join a server as a spectator and record a demo, until Ctrl-C or the time is over",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<record_options>();
        options.operands(chosen->hosts, "HOST", "HOST[:PORT] of a server; several are recorded at once");
        options.output(
            chosen->to, option_set::presence::required,
            "the demo; - is standard output; further maps go to NAME_2.demo, NAME_3.demo, ..., and several "
            "servers to NAME_HOST_PORT.demo");
        options.duration("--duration", chosen->duration,
                         "how long to record, or to look for a server that answers");
        options.duration("--join-timeout", chosen->join_timeout,
                         "from connecting to the first snapshot, the map's download included");
        options.choice("--protocol", chosen->protocol, {"auto", "0.6", "0.7"}, "auto: 0.6 if the server speaks it");
        options.text("--name", chosen->name, "of the spectator");
        options.text("--password", chosen->password, "of the server");
        options.flag("--retry", chosen->retry, "connect again when the server is gone");
        options.number("--max-demos", chosen->max_demos, 1, 1e9, "end after so many");
        options.bytes("--max-bytes", chosen->max_bytes, "end after so many in all demos, such as 500M");
        options.format(chosen->format, {"text", "ndjson"},
                       "of the line for each demo on standard output, or on standard error if the demo is there");
        options.examples({"record localhost -o game.demo --duration 10:00",
                          "record ger.example.net:8303 -o evening.demo --retry --max-bytes 2G"});
        return [chosen] { return record(*chosen); };
    },
    ending::when_complete};

} // namespace teewire::replay
