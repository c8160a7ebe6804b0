#include "map/verbs.hpp"
#include "output.hpp"
#include "session.hpp"
#include "verbs.hpp"

#include <teewire/cpu.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

using namespace teewire::replay;

template <class Options>
CLI::Option* add_file(CLI::App& command, Options& options) {
    return command.add_option("FILE", options.file, "a demo, or - for standard input")->required();
}

template <class Options>
CLI::Option* add_files(CLI::App& command, Options& options) {
    return command.add_option("FILE", options.files, "demos, or - for standard input")->required();
}

template <class Options>
CLI::Option* add_jobs(CLI::App& command, Options& options) {
    return command.add_option("--jobs", options.jobs, "threads that decode; 0: one per core")
        ->check(CLI::Range(0U, 1024U))
        ->capture_default_str();
}

// `teewire map`: adds the command, and runs what was chosen of it.
class map_commands {
public:
    explicit map_commands(CLI::App& app)
        : map_{*app.add_subcommand("map", "Look into maps and convert them: Teeworlds, DDNet, xVector")} {
        map_.require_subcommand(1);

        info_command_ = map_.add_subcommand("info", "Tell what a map holds");
        info_command_
            ->add_option("FILE", info_.files, "maps, or demos for the maps in them, or - for standard input")
            ->required();
        add_format(*info_command_, info_.format, "text, or json: one object per line and file");

        extract_command_ = map_.add_subcommand("extract", "Take the map out of a demo, or a part out of a map");
        add_map(*extract_command_, extract_.file);
        add_output(*extract_command_, extract_.output);
        auto* const image =
            extract_command_->add_option("--image", extract_.image, "image as PNG, by name or number");
        auto* const sound =
            extract_command_->add_option("--sound", extract_.sound, "sound as Opus, by name or number");
        auto* const block =
            extract_command_->add_option("--block", extract_.block, "data block, decompressed, by number");
        image->excludes(sound)->excludes(block);
        sound->excludes(block);

        render_command_ = map_.add_subcommand("render", "Draw a map as a PNG picture");
        add_map(*render_command_, render_.file);
        add_output(*render_command_, render_.output);
        render_command_
            ->add_option("--layer", render_.layer,
                         "all: as in the game; game: what tiles do, in one colour for each kind")
            ->check(CLI::IsMember({"all", "game"}))
            ->capture_default_str();
        render_command_->add_option("--mapres", render_.mapres, "folder of the PNG pictures that maps only name");
        render_command_
            ->add_option("--scale", render_.scale, "pixels per tile; by default what makes a handy picture")
            ->check(CLI::Range(1U, 256U));
        render_command_->add_option("--region", render_.region, "part to draw in tiles: X,Y,WIDTH,HEIGHT")
            ->delimiter(',')
            ->expected(4);

        convert_command_ =
            map_.add_subcommand("convert", "Write a map in another form, after checking that it is the same");
        add_map(*convert_command_, convert_.file);
        add_output(*convert_command_, convert_.output);
        convert_command_->add_option("--datafile", convert_.datafile, "container version: 3 (uncompressed) or 4")
            ->check(CLI::Range(3, 4));
        convert_command_
            ->add_option("--to", convert_.to, "packing of tiles, images and curves: 0.6 (also DDNet) or 0.7")
            ->check(CLI::IsMember({"0.6", "0.7"}));
        convert_command_->add_option("--level", convert_.level, "compress anew: 1 (fast) to 9 (small)")
            ->check(CLI::Range(1, 9));

        check_command_ = map_.add_subcommand("check", "Find everything that is wrong with a map");
        check_command_
            ->add_option("FILE", check_.files, "maps, or demos for the maps in them, or - for standard input")
            ->required();
        add_format(*check_command_, check_.format, "text, or json: one object per line and problem");
        check_command_->add_flag("--strict", check_.strict, "notes count as errors");
    }

    explicit operator bool() const { return static_cast<bool>(map_); }
    int run() const {
        if (*info_command_) return map_info(info_);
        if (*extract_command_) return map_extract(extract_);
        if (*render_command_) return map_render(render_);
        if (*convert_command_) return map_convert(convert_);
        return map_check(check_);
    }

private:
    static void add_map(CLI::App& command, std::string& file) {
        command.add_option("FILE", file, "a map, or a demo for the map in it, or - for standard input")->required();
    }
    static void add_output(CLI::App& command, std::string& file) {
        command.add_option("-o,--output", file, "file to write, or - for standard output")->required();
    }
    static void add_format(CLI::App& command, std::string& format, char const* help) {
        command.add_option("--format", format, help)->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    }

    CLI::App& map_;
    CLI::App* info_command_;
    CLI::App* extract_command_;
    CLI::App* render_command_;
    CLI::App* convert_command_;
    CLI::App* check_command_;
    map_info_options info_;
    map_extract_options extract_;
    map_render_options render_;
    map_convert_options convert_;
    map_check_options check_;
};

// For reports of bugs: whether it is one of the code for one kind of processor.
void cap_cpu_level_from_environment() {
    char const* const wanted = std::getenv("TEEWIRE_CPU");
    if (wanted == nullptr || *wanted == '\0') return;
    auto const level = teewire::find_cpu_level(wanted);
    if (!level)
        throw usage_error{
            fmt::format("TEEWIRE_CPU: \"{}\" is not scalar, sse2, avx2 or avx512", printable(wanted))};
    teewire::cap_cpu_level(*level);
}

int run(int argc, char** argv) {
    cap_cpu_level_from_environment();
    CLI::App app{"Replays, records and serves Teeworlds and DDNet demos, reads captures, and looks into maps.",
                 "teewire"};
    app.set_version_flag("--version", [] {
        return fmt::format("{} ({})", TEEWIRE_VERSION, teewire::name(teewire::used_cpu_level()));
    });
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 good, 1 an input is damaged, 2 wrong usage, 3 reading or writing failed, 130 interrupted.");

    info_options info_chosen;
    CLI::App& info_command = *app.add_subcommand("info", "Tell what a demo holds");
    add_files(info_command, info_chosen);
    info_command.add_option("--format", info_chosen.format, "text, or json: one object per line and file")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    add_jobs(info_command, info_chosen);

    dump_options dump_chosen;
    CLI::App& dump_command = *app.add_subcommand("dump", "Print the snapshots of a demo");
    add_file(dump_command, dump_chosen);
    dump_command.add_option("--from", dump_chosen.from, "first tick");
    dump_command.add_option("--to", dump_chosen.to, "last tick");
    dump_command
        .add_option("--types", dump_chosen.types, "only items of these types, for example character,player_info")
        ->delimiter(',');
    dump_command
        .add_option("--format", dump_chosen.format,
                    "ndjson: one object per snapshot; csv: one row per item of one type; "
                    "checksum: tick, items, bytes of items, checksum, hash")
        ->check(CLI::IsMember({"ndjson", "csv", "checksum"}))
        ->capture_default_str();
    dump_command.add_flag("--raw", dump_chosen.raw,
                          "csv: texts as they are, also those that a spreadsheet would take for formulas");
    add_jobs(dump_command, dump_chosen);

    verify_options verify_chosen;
    CLI::App& verify_command = *app.add_subcommand("verify", "Decode everything and say whether it is in order");
    add_files(verify_command, verify_chosen);
    add_jobs(verify_command, verify_chosen);
    verify_command.add_flag("--strict", verify_chosen.strict,
                            "take oddities that real programs produce for errors");

    play_options play_chosen;
    CLI::App& play_command = *app.add_subcommand("play", "Replay a demo at its own pace");
    add_file(play_command, play_chosen);
    play_command.add_option("--from", play_chosen.from, "first tick");
    play_command.add_option("--speed", play_chosen.speed, "times the recorded pace")
        ->check(CLI::Range(0.01, 1000.0))
        ->capture_default_str();

    map_commands const map{app};

    record_options record_chosen;
    CLI::App& record_command = *app.add_subcommand(
        "record", "Join a server as a spectator and record a demo, until Ctrl-C or the time is over");
    record_command.add_option("HOST", record_chosen.hosts, "HOST[:PORT] of a server; several are recorded at once")
        ->required();
    record_command
        .add_option(
            "-o,--out", record_chosen.out,
            "the demo; further maps go to OUT_2.demo, OUT_3.demo, and several servers to OUT_HOST_PORT.demo")
        ->required();
    record_command
        .add_option("--duration", record_chosen.duration, "seconds to record, or to look for a server that answers")
        ->check(CLI::PositiveNumber);
    record_command
        .add_option("--join-timeout", record_chosen.join_timeout,
                    "seconds from connecting to the first snapshot, the map's download included")
        ->check(CLI::Range(0.1, 1e6))
        ->capture_default_str();
    record_command.add_option("--protocol", record_chosen.protocol, "auto: 0.6 if the server speaks it")
        ->check(CLI::IsMember({"auto", "0.6", "0.7"}))
        ->capture_default_str();
    record_command.add_option("--name", record_chosen.name, "of the spectator")->capture_default_str();
    record_command.add_option("--password", record_chosen.password, "of the server");
    record_command.add_flag("--retry", record_chosen.retry, "connect again when the server is gone");
    record_command
        .add_option("--format", record_chosen.format,
                    "of the line for each demo on standard output: text or ndjson")
        ->check(CLI::IsMember({"text", "ndjson"}))
        ->capture_default_str();

    serve_options serve_chosen;
    CLI::App& serve_command = *app.add_subcommand("serve", "Show a demo to real clients that connect");
    add_file(serve_command, serve_chosen);
    serve_command.add_option("--port", serve_chosen.port, "UDP; the browser looks at 8303 to 8310")
        ->capture_default_str();
    serve_command.add_option("--bind", serve_chosen.bind, "address, of IPv4 or IPv6")->capture_default_str();
    serve_command.add_option("--name", serve_chosen.name, "in the server browser");
    serve_command.add_option("--map", serve_chosen.map, "a map file, for demos without one");
    serve_command.add_flag("--loop", serve_chosen.loop, "begin again at the end");
    serve_command.add_option("--speed", serve_chosen.speed, "times the recorded pace")
        ->check(CLI::Range(1.0 / 16, 64.0))
        ->capture_default_str();
    serve_command.add_option("--max-clients", serve_chosen.max_viewers, "that may watch at once")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    serve_command.add_option("--max-clients-per-ip", serve_chosen.max_viewers_per_address, "of one address")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    serve_command.footer(
        "On a terminal, keys control the replay; otherwise lines on standard input: pause, play, "
        "seek MINUTES:SECONDS, seek tick TICK, speed FACTOR, status, quit. The replay begins when the "
        "first client watches.");

    capture_options capture_chosen;
    CLI::App& capture_command =
        *app.add_subcommand("capture", "Find the connections in a packet capture and check every snapshot");
    capture_command.add_option("FILE", capture_chosen.file, "a pcap or pcapng file, or - for standard input")
        ->required();
    capture_command
        .add_option("--format", capture_chosen.format, "text, or ndjson: one object per line and connection")
        ->check(CLI::IsMember({"text", "ndjson"}))
        ->capture_default_str();
    capture_command.add_option("--connection", capture_chosen.connection,
                               "only this one: its number, or the client's ADDRESS:PORT");
    capture_command.add_flag("--all", capture_chosen.all, "tell connections without any snapshot too");
    capture_command.add_flag("--explain", capture_chosen.explain,
                             "print every packet, chunk and changed item first");
    capture_command
        .add_option("--demo", capture_chosen.demo,
                    "write the connection as a demo, by default the one with most snapshots; further "
                    "maps go to OUT_2.demo, OUT_3.demo, ...")
        ->type_name("OUT");
    capture_command
        .add_option("--map", capture_chosen.map, "the map for the demo, if its download is not in the capture")
        ->type_name("FILE");

    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() != 0) {
            static_cast<void>(
                std::fputs((printable(e.what()) + "\nRun with --help for more information.\n").c_str(), stderr));
            return exit_usage;
        }
        app.exit(e); // --help
        if (!std::cout.flush()) throw io_error{"standard output: cannot be written"};
        return exit_ok;
    }
    catch_interrupts(record_command ? ending::when_complete : ending::soon);
    if (record_command) return record(record_chosen);
    if (serve_command) return serve(serve_chosen);
    if (info_command) return info(info_chosen);
    if (dump_command) return dump(dump_chosen);
    if (verify_command) return verify(verify_chosen);
    if (map) return map.run();
    if (capture_command) return capture(capture_chosen);
    return play(play_chosen);
}

// Nothing is left to be done if that fails too.
int fail(int code, std::exception const& e) noexcept {
    static_cast<void>(std::fputs(("teewire: " + printable(e.what()) + "\n").c_str(), stderr));
    return code;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (usage_error const& e) {
        return fail(exit_usage, e);
    } catch (bad_input const& e) {
        return fail(exit_bad_input, e);
    } catch (std::exception const& e) { // io_error, or no memory left
        return fail(exit_io, e);
    }
}
