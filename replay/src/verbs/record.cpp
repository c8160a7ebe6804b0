#include "recording/demo/demo_file.hpp"
#include "recording/demo/demo_limits.hpp"

#include "base/json.hpp"
#include "base/os/console.hpp"
#include "base/os/files.hpp"
#include "base/output.hpp"
#include "cli/server_options.hpp"
#include "game/lasting_messages.hpp"
#include "game/spacing.hpp"
#include "verbs/verbs.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;

struct record_options {
    std::vector<std::string> hosts; ///< HOST[:PORT]
    output_choice to;
    spectator_options spectating;
    std::string format = "text";
    demo_limits limits;
};

// The limits for all recordings together.
struct allowance {
    unsigned demos;
    std::uint64_t bytes;
    std::function<void(std::string_view limit)> used_up;

    void use(std::uint64_t written) {
        bool const last = bytes != 0 && written >= bytes;
        bytes -= std::min(bytes, written);
        if (last) used_up("--max-bytes");
    }
};

// Counts of the snapshots of one file.
struct tally {
    std::uint64_t received = 0; // decoded, with the right checksum
    std::uint64_t bad_checksum = 0;
    std::uint64_t damaged = 0; // otherwise
    std::uint64_t missing_base = 0;
    std::uint64_t without_checksum = 0; // unchanged ones have none
    distance_counts steps;
};

// A server that is being recorded.
class demo_recording final : public spectator_owner {
public:
    demo_recording(service_loop& loop, record_options const& options, host_port server, std::string label,
                   output_choice const& to, allowance& allowed, snapshot_scratch& scratch,
                   std::function<void(std::string_view)> say, std::function<void()> ended)
        : options_{options}, label_{std::move(label)}, target_{to}, allowed_{allowed}, say_{std::move(say)},
          ended_{std::move(ended)}, server_{loop, options.spectating, std::move(server), *this, scratch} {}

    void start() { server_.start(); }
    // Keeps what there is and says good-bye.
    void stop() { server_.stop(); }

    [[nodiscard]] bool over() const noexcept { return server_.over(); }
    [[nodiscard]] bool failed() const noexcept { return failed_ || server_.failed(); }
    /// Demos.
    [[nodiscard]] unsigned files() const noexcept { return files_; }
    [[nodiscard]] std::string state() const {
        if (over()) return label_ + ": done";
        if (!file_ || file_->snapshots() == 0) return fmt::format("{}: {}", label_, server_.doing());
        return fmt::format("{}: {}, {}, {} missed, {}", label_,
                           clock_text(file_->last_tick() - file_->first_tick()),
                           counted(file_->snapshots(), "snapshot"), measure_spacing(tally_.steps).missed,
                           size_text(file_->size()));
    }

    // ---- spectator_owner

    void says(std::string const& line) override { say_(fmt::format("{}: {}", label_, line)); }
    void fails(std::string const& why) override { say_(fmt::format("teewire: {}: {}", label_, why)); }
    void disconnects() override { close_file(); }
    void ends() override { ended_(); }
    void proceeds() override {
        if (!output_failed_.empty()) {
            say_(fmt::format("teewire: {}", output_failed_));
            failed_ = true;
            stop();
        } else if (!full_.empty()) {
            says(full_);
            stop();
        } else if (std::string const why = std::exchange(refused_, {}); !why.empty()) {
            server_.leave(why);
        }
    }

    void map_changes(served_map const&) override { close_file(); }
    void map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) override {
        tally_ = {};
        last_tick_ = -1;
        if (!begin_demo()) return;
        guard_output([&] {
            counted_bytes_ = 0;
            file_.emplace(target_.next(), client().version(), map, bytes);
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
        if (file_ && file_->snapshots() == 1) says(fmt::format("recording to {}", file_->path()));
    }
    void receives(message const&, message_type, std::span<std::uint8_t const> bytes, bool vital) override {
        if (!file_) return;
        // Messages from before the first snapshot are for this client only, unless they have a lasting effect.
        if (file_->snapshots() == 0 && !lasting_messages{client().version()}.receive(-1, bytes)) return;
        guard_output([&] { file_->write_message(bytes, vital); });
        count_bytes();
    }

private:
    [[nodiscard]] game_client& client() const { return server_.client(); }

    // Whether there may be another demo. If not, the connection ends after what happens now.
    bool begin_demo() {
        if (target_.is_stream() && begun_) {
            full_ = "the map has changed, and standard output can hold only one demo";
        } else if (allowed_.demos == 0) {
            allowed_.used_up("--max-demos");
        } else if (!frequency_.try_begin(now())) {
            refused_ =
                fmt::format("its map changes too often: {} demos in a minute", demo_frequency::max_per_minute);
        } else {
            --allowed_.demos;
            return begun_ = true;
        }
        return false;
    }

    void count_bytes() {
        if (file_) allowed_.use(file_->size() - std::exchange(counted_bytes_, file_->size()));
    }

    // A failed output ends only this recording.
    template <class Work>
    void guard_output(Work&& work) {
        try {
            work();
        } catch (output_error const& e) {
            file_.reset();
            output_failed_ = e.what();
        }
    }

    void close_file() {
        if (!file_) return;
        guard_output([&] {
            std::string const wanted = file_->path();
            if (!file_->finish()) return target_.reuse();
            ++files_;
            if (file_->path() != wanted)
                say_(fmt::format("{}: was created in the meantime; the demo is in {}", wanted, file_->path()));
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
            out.print("{}: {}, ticks {} to {}, {}{}, {}, {} missed, {}, {}\n", printable(f.path()),
                      clock_text(f.last_tick() - f.first_tick()), f.first_tick(), f.last_tick(),
                      counted(f.snapshots(), "snapshot"), unchanged, counted(f.messages(), "message"),
                      measure_spacing(tally_.steps).missed, counted(tally_.bad_checksum, "bad checksum"),
                      size_text(f.size()));
        } else {
            json_line{}.print(out, [&](object_writer& line) {
                line.text("file", f.path());
                line.text("server", endpoint_text(server_.peer()));
                line.text("protocol", name(client().connection().format()));
                line.number("first_tick", f.first_tick());
                line.number("last_tick", f.last_tick());
                line.number("snapshots", f.snapshots());
                line.number("unchanged", f.unchanged());
                line.number("messages", f.messages());
                line.number("bytes", f.size());
                line.number("refused", f.refused());
                line.number("missed", measure_spacing(tally_.steps).missed);
                line.number("bad_checksum", tally_.bad_checksum);
                line.number("damaged", tally_.damaged);
                line.number("missing_base", tally_.missing_base);
                line.number("without_checksum", tally_.without_checksum);
                line.number("repeated", client().connection().repeated());
                line.number("gaps", client().connection().gaps());
                object_writer steps = line.object("steps");
                for (auto const& [step, count] : tally_.steps) steps.number(std::to_string(step), count);
            });
        }
        if (target_.is_stream()) return write_error(out.view());
        output to;
        to.write(out.view());
        to.flush();
    }

    record_options const& options_;
    std::string label_;
    demo_target target_;
    allowance& allowed_;
    std::function<void(std::string_view)> say_;
    std::function<void()> ended_;

    std::optional<demo_file> file_;
    unsigned files_ = 0; // kept
    std::uint64_t counted_bytes_ = 0;
    demo_frequency frequency_;
    bool begun_ = false;
    std::string refused_; // why the connection ends
    std::string full_;    // why the recording ends
    std::string output_failed_;
    tally tally_;
    std::int32_t last_tick_ = -1;
    bool failed_ = false;
    spectator server_;
};

// The view on standard error: lines as events happen, and below them, on a terminal, the state of all recordings.
class status {
public:
    void say(std::string_view line) {
        clear();
        teewire::replay::say("{}\n", printable(line));
    }
    void show(std::vector<std::unique_ptr<demo_recording>> const& all) {
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
    bool terminal_ = os::is_terminal(STDERR_FILENO);
    std::size_t shown_ = 0;
};

// OUT_HOST_PORT.demo
std::string name_for(host_port const& server, std::string const& out) {
    std::string host = os::allowed_name(server.host);
    std::replace(host.begin(), host.end(), ':', '-');
    std::filesystem::path path{out};
    std::string const extension = path.extension().string();
    path.replace_extension();
    return fmt::format("{}_{}_{}{}", path.string(), host, server.port, extension);
}

int record(record_options const& options) {
    service_loop loop;
    auto const scratch = std::make_unique<snapshot_scratch>();
    status shown;
    std::vector<std::unique_ptr<demo_recording>> all;

    auto const stop_all = [&] {
        for (auto const& r : all) r->stop();
    };
    auto const ended = [&] {
        if (std::all_of(all.begin(), all.end(), [](auto const& r) { return r->over(); })) loop.stop();
    };
    allowance allowed{options.limits.demos, options.limits.bytes, [&](std::string_view limit) {
                          shown.say(fmt::format("stopping, as the limit of {} is reached", limit));
                          asio::post(loop.io(), stop_all); // not out of what happens now
                      }};
    bool const several = options.hosts.size() > 1;
    if (several && options.to.name == "-")
        throw usage_error{"standard output can take the demo of only one server"};
    std::set<std::string> names;
    for (std::string const& host : options.hosts) {
        host_port const server = host_port::parse(host);
        output_choice own = options.to;
        if (several) own.name = name_for(server, options.to.name);
        if (!names.insert(own.name).second) throw usage_error{fmt::format("{}: given twice", host)};
        all.push_back(std::make_unique<demo_recording>(
            loop, options, server, host, own, allowed, *scratch, [&](std::string_view line) { shown.say(line); },
            ended));
    }
    loop.on_signal(stop_all);
    loop.every(std::chrono::milliseconds{500}, [&] { shown.show(all); });
    for (auto const& r : all) r->start();
    loop.run();
    shown.clear();
    auto const any = [&](auto const& what) { return std::any_of(all.begin(), all.end(), what); };
    bool const recorded = any([](auto const& r) { return r->files() != 0; });
    if (any([](auto const& r) { return r->failed(); })) return exit_io;
    return interrupted() && !recorded ? exit_interrupted : exit_ok;
}

} // namespace

verb const record_verb{
    "record", "Join servers as a spectator and record demos",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<record_options>();
        options.operands(chosen->hosts, "HOST",
                         "HOST[:PORT] of a server; several servers are recorded in parallel");
        options.output(
            chosen->to, option_set::presence::required,
            "demo to write; -: standard output; further maps go to NAME_2.demo, NAME_3.demo, ..., and several "
            "servers to NAME_HOST_PORT.demo");
        server_options(options, chosen->spectating);
        retry_option(options, chosen->spectating);
        options.number("--max-demos", chosen->limits.demos, 1, 1e9, "stop after N demos");
        options.bytes("--max-bytes", chosen->limits.bytes, "stop after BYTES in all demos together, such as 500M");
        options.format(
            chosen->format, {"text", "ndjson"},
            "format of the summary line for each demo, on standard output (on standard error with -o -)");
        options.examples({"record localhost -o game.demo --duration 10:00",
                          "record ger.example.net:8303 -o evening.demo --retry --max-bytes 2G"});
        return [chosen] { return record(*chosen); };
    },
    ending::deferred};

} // namespace teewire::replay
