// Demos: every step on consecutive snapshots of them, every chunk undone and every snapshot reconstructed, and their archives,
// in memory.
#include "cases.hpp"
#include "stream_steps.hpp"

#include <teewire/archive.hpp>
#include <teewire/demo_reader.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <fstream>
#include <iterator>
#include <thread>

namespace teewire::bench {
namespace {

// Those of published figures, and one of the fixtures.
constexpr char const* names[] = {"ddnet-git_Multeasymap_bench",
                                 "ddnet-git_RaiNyMore2_bench",
                                 "milkeeycat_gigachad_gameplay",
                                 "synth_ddnet64",
                                 "synth_full16",
                                 "synth_tw07",
                                 "ddnet_dm1"};

std::vector<std::uint8_t> read(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct recording {
    explicit recording(std::filesystem::path const& path)
        : file{read(path)}, reader{must(demo_reader::open(file))} {
        auto overview = scan_demo(reader, {});
        keyframes.resize(overview.keyframes);
        overview = scan_demo(reader, keyframes);
        sizes = detect_size_table(reader, *std::make_unique<demo_player_memory>()).sizes;
        megabytes = 1e-6 * static_cast<double>(file.size() - reader.position());
        hours = static_cast<double>(overview.last_tick - overview.first_tick) / ticks_per_second / 3600;
        snapshots = overview.kinds[static_cast<std::size_t>(demo_chunk_kind::snapshot)].chunks +
                    overview.kinds[static_cast<std::size_t>(demo_chunk_kind::delta)].chunks;
    }
    recording(recording const&) = delete; // the reader
    recording& operator=(recording const&) = delete;

    std::vector<std::uint8_t> file;
    demo_reader reader;
    std::vector<demo_keyframe> keyframes;
    size_table const* sizes = nullptr;
    double megabytes = 0; // of chunks
    double hours = 0;     // of game
    std::size_t snapshots = 0;
};

// Plays the chunks that begin before byte `end`, and asks for each state. Gives the number of snapshots.
std::size_t play(recording const& demo, demo_reader const& from, std::size_t end, demo_player_memory& memory) {
    demo_player player{from, memory, {demo.sizes}};
    std::size_t snapshots = 0;
    demo_event event;
    while (player.position() < end && player.next(event)) {
        if (event.kind != demo_event_kind::snapshot) continue;
        ++snapshots;
        benchmark::DoNotOptimize(player.state().ints().data());
    }
    return snapshots;
}

void report(benchmark::State& state, recording const& demo, double seconds, bool good) {
    if (!good) state.SkipWithError("not all snapshots were reconstructed");
    state.counters["MB_per_s"] = demo.megabytes / seconds;
    state.counters["snapshots_per_s"] = static_cast<double>(demo.snapshots) / seconds;
    state.counters["us_per_snapshot"] = 1e6 * seconds / static_cast<double>(demo.snapshots);
    state.counters["game_hours_per_s"] = demo.hours / seconds;
}

void play_whole(benchmark::State& state, std::filesystem::path const& path) {
    recording const demo{path};
    auto const memory = std::make_unique<demo_player_memory>();
    bool good = true;
    double const seconds =
        measure(state, [&] { good &= play(demo, demo.reader, demo.file.size(), *memory) == demo.snapshots; });
    report(state, demo, seconds, good);
}

// One thread per core. Each takes the next stretch between two keyframes until none is left.
class crew {
public:
    explicit crew(recording const& demo) : demo_{demo} {
        starts_.push_back({-1, demo.reader.position()}); // what comes before the first keyframe, if anything
        starts_.insert(starts_.end(), demo.keyframes.begin(), demo.keyframes.end());
        for (std::ptrdiff_t i = 1; i < size_; ++i) threads_.emplace_back([this] { stand_by(); });
    }
    crew(crew const&) = delete; // the threads
    crew& operator=(crew const&) = delete;
    ~crew() {
        dismissed_ = true;
        gate_.arrive_and_wait();
        for (std::thread& t : threads_) t.join();
    }

    // Plays everything. Gives the number of snapshots.
    std::size_t play_all() {
        next_ = 0;
        snapshots_ = 0;
        gate_.arrive_and_wait();
        work(*memory_);
        gate_.arrive_and_wait();
        return snapshots_;
    }

private:
    void stand_by() {
        auto const memory = std::make_unique<demo_player_memory>();
        for (;;) {
            gate_.arrive_and_wait();
            if (dismissed_) return;
            work(*memory);
            gate_.arrive_and_wait();
        }
    }

    void work(demo_player_memory& memory) {
        for (std::size_t i; (i = next_++) < starts_.size();) {
            demo_reader from = demo_.reader;
            from.seek(starts_[i].position, -1);
            std::size_t const end = i + 1 < starts_.size() ? starts_[i + 1].position : demo_.file.size();
            snapshots_ += play(demo_, from, end, memory);
        }
    }

    recording const& demo_;
    std::vector<demo_keyframe> starts_;
    std::ptrdiff_t size_ = std::max(1U, std::thread::hardware_concurrency());
    std::barrier<> gate_{size_};
    std::atomic<std::size_t> next_ = 0;
    std::atomic<std::size_t> snapshots_ = 0;
    bool dismissed_ = false;
    std::unique_ptr<demo_player_memory> memory_ = std::make_unique<demo_player_memory>();
    std::vector<std::thread> threads_;
};

void play_in_parts(benchmark::State& state, std::filesystem::path const& path) {
    recording const demo{path};
    crew players{demo};
    bool good = players.play_all() == demo.snapshots;
    double const seconds = measure(
        state, [&] { good &= players.play_all() == demo.snapshots; }, wall_seconds);
    report(state, demo, seconds, good);
}

// The first block of a demo's chunks, there and back. Coding it includes decoding it for comparison.
struct archived {
    explicit archived(std::filesystem::path const& path) : file{read(path)} {
        archive_divider divider{file, *std::make_unique<demo_player_memory>()};
        while (divider.next(block) && block.coding != archive_coding::chunks) {
        }
        packed.resize(block.size);
        restored.resize(block.size);
        packed.resize(encode());
    }
    std::size_t encode() { return must(encode_archive_block(file, block, *memory, packed)); }

    std::vector<std::uint8_t> file;
    archive_block block;
    std::vector<std::uint8_t> packed, restored;
    std::unique_ptr<archive_encoder_memory> memory = std::make_unique<archive_encoder_memory>();
};

void archive(benchmark::State& state, std::filesystem::path const& path, bool encodes) {
    archived demo{path};
    bool good = true;
    auto const work = [&] {
        if (encodes) good &= demo.encode() == demo.packed.size();
        else good &= bool{decode_archive_block(demo.block, demo.packed, demo.memory->coding, demo.restored)};
    };
    double const seconds = measure(state, work);
    if (!good) state.SkipWithError("not the same again");
    state.counters["MB_per_s"] = 1e-6 * demo.block.size / seconds;
    state.counters["fraction"] = static_cast<double>(demo.packed.size()) / demo.block.size;
    state.counters["memory_MB"] = 1e-6 * (encodes ? sizeof(archive_encoder_memory) : sizeof(archive_memory));
}

std::vector<std::filesystem::path> files_in(std::filesystem::path const& folder) {
    std::vector<std::filesystem::path> files;
    for (std::string const name : names) {
        auto file = folder / (name + ".demo");
        if (!std::filesystem::exists(file))
            file = std::filesystem::path{TEEWIRE_FIXTURES} / "demos" / (name + ".demo");
        if (std::filesystem::exists(file)) files.push_back(file);
    }
    return files;
}

// Snapshots from a moment with players. Related data is kept together.
struct played_stream {
    explicit played_stream(std::filesystem::path const& demo) : steps{recorded_stream(demo, 200, 200), memory} {}
    arena memory{nullptr};
    stream_steps steps;
};

} // namespace

void add_streams(std::filesystem::path const& folder) {
    for (auto const& file : files_in(folder)) {
        auto const stream = std::make_shared<played_stream>(file);
        for (auto const& step : stream->steps.all())
            benchmark::RegisterBenchmark(("stream/" + std::string{step.name} + '/' + file.stem().string()).c_str(),
                                         [stream, &step](benchmark::State& state) {
                                             double const seconds = measure(state, step.run);
                                             state.counters["ns_per_snapshot"] =
                                                 1e9 * seconds / static_cast<double>(stream->steps.snapshots());
                                         });
    }
}

void add_demos(std::filesystem::path const& folder) {
    auto const files = files_in(folder);
    for (auto const& file : files)
        benchmark::RegisterBenchmark(("demo/" + file.stem().string()).c_str(), [file](benchmark::State& state) {
            play_whole(state, file);
        })->MinTime(0.3);
    for (auto const& file : files)
        benchmark::RegisterBenchmark(("demo_all_threads/" + file.stem().string()).c_str(),
                                     [file](benchmark::State& state) { play_in_parts(state, file); })
            ->MinTime(0.3)
            ->UseRealTime();
    for (bool const encodes : {true, false})
        for (auto const& file : files)
            benchmark::RegisterBenchmark(
                ((encodes ? "archive_encode/" : "archive_decode/") + file.stem().string()).c_str(),
                [file, encodes](benchmark::State& state) { archive(state, file, encodes); })
                ->MinTime(0.3);
}

} // namespace teewire::bench
