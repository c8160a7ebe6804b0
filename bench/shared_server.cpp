// A server's tick as in server.cpp, with one world for all clients: shared_tick/..., the items once and a set for each
// client; shared_kept/..., the same when a tenth of the items changes and the others are said to be as before;
// shared_views/..., each client's items as to a builder.
#include "cases.hpp"
#include "server_scene.hpp"

#include <teewire/huffman.hpp>
#include <teewire/shared_encoder.hpp>

#include <array>
#include <chrono>

namespace teewire::bench {
namespace {

enum class door { shown, kept, views };
enum phase : std::size_t { world, views, encoding, huffman, finishing, phases };
constexpr char const* phase_names[phases] = {"world", "views", "encode", "huffman", "finish"};

class aligned_memory {
public:
    explicit aligned_memory(std::size_t bytes) : words_((bytes + 7) / 8) {}
    [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span{words_}); }

private:
    std::vector<std::uint64_t> words_;
};

class shared_server {
public:
    shared_server(scene const& chosen, door way)
        : scene_{chosen}, way_{way}, limits_{static_cast<std::uint32_t>(chosen.clients),
                                             1024,
                                             16384,
                                             kept_snapshots + 1,
                                             {}},
          world_memory_{shared_world::fixed_bytes(limits_) +
                        (kept_snapshots + 2) * shared_world::tick_bytes(limits_, 700, 8192, 700)},
          world_{limits_, world_memory_.bytes()},
          encoder_memory_{shared_encoder::bytes_for(limits_, 700, 8192, 48)}, encoder_{world_,
                                                                                       encoder_memory_.bytes()} {
        for (auto const& ints : sequence_) {
            auto const view = snapshot_view::trusted(ints);
            steps_.emplace_back(view.begin(), view.end());
        }
        if (way == door::kept) change_a_tenth();
        for (auto const& items : steps_) {
            seen& all = seen_.emplace_back();
            all.words = items.size() / 64 + 1;
            all.sets.resize(scene_.clients * all.words);
            for (std::size_t c = 0; c < scene_.clients; ++c) {
                auto& numbers = all.numbers.emplace_back();
                for (std::size_t i = 0; i < items.size(); ++i)
                    if (scene_.whole || sees(c, items[i].key)) {
                        all.sets[c * all.words + i / 64] |= std::uint64_t{1} << i % 64;
                        numbers.push_back(static_cast<std::uint16_t>(i));
                    }
            }
        }
    }

    // Serves all snapshots to all clients, and calls lap(phase, n) after n times that. False if something failed.
    template <class Lap>
    bool play(Lap&& lap) {
        bool good = true;
        world_.clear();
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            good &= world_.start(tick_of(step)).has_value();
            if (way_ != door::views) good &= add_items(step);
            lap(world);
            for (std::size_t c = 0; c < scene_.clients; ++c) {
                seen const& s = seen_[step];
                if (way_ == door::views) good &= add_view(step, c);
                else good &= world_.show(c, std::span{s.sets}.subspan(c * s.words, s.words)).has_value();
            }
            lap(views);
            good &= world_.finish().has_value();
            lap(finishing);
            for (std::size_t c = 0; c < scene_.clients; ++c) {
                std::size_t const age = base_age(scene_, c, step);
                auto const delta = encoder_.encode(c, age != 0 ? tick_of(step - age) : -1, sizes_06);
                if (!delta || (age != 0) != (delta->base_tick >= 0)) return false;
                auto checksum = delta->checksum;
                benchmark::DoNotOptimize(checksum);
                lap(encoding);
                for (std::size_t at = 0; at < delta->bytes.size(); at += packet_bytes) {
                    auto const part = delta->bytes.subspan(at, std::min(packet_bytes, delta->bytes.size() - at));
                    good &= huffman_encode(part, packet_).has_value();
                }
                lap(huffman);
            }
        }
        return good;
    }

    [[nodiscard]] double snapshots() const { return static_cast<double>(steps_.size() * scene_.clients); }

private:
    // The clients' views in a step.
    struct seen {
        std::size_t words; // of a set
        std::vector<std::uint64_t> sets;
        std::vector<std::vector<std::uint16_t>> numbers;
    };

    // Every tenth item, by turns, gets what its key has in the sequence; the others stay as in the first snapshot.
    void change_a_tenth() {
        std::vector<item> items = steps_[0];
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            std::vector<bool>& changed = changed_.emplace_back(items.size());
            for (std::size_t i = step % 10; step != 0 && i < items.size(); i += 10) {
                changed[i] = true;
                auto const found = std::find_if(steps_[step].begin(), steps_[step].end(),
                                                [&](item const& p) { return p.key == items[i].key; });
                if (found != steps_[step].end()) items[i] = *found;
            }
            steps_[step] = items;
        }
    }

    bool add_items(std::size_t step) {
        auto const& items = steps_[step];
        if (way_ == door::kept && step != 0) {
            auto const& changed = changed_[step];
            bool good = true;
            for (std::size_t i = 0; i < items.size();) {
                if (changed[i]) {
                    good &= world_.add(items[i]).has_value();
                    ++i;
                    continue;
                }
                std::size_t end = i + 1;
                while (end < items.size() && !changed[end]) ++end;
                good &= world_.keep(i, end - i).has_value();
                i = end;
            }
            return good;
        }
        bool good = true;
        for (item const& i : items) good &= world_.add(i).has_value();
        return good;
    }

    bool add_view(std::size_t step, std::size_t number) {
        world_.start_view(number);
        bool good = true;
        for (std::size_t const i : seen_[step].numbers[number])
            good &= world_.add_to_view(steps_[step][i]).has_value();
        return good && world_.finish_view().has_value();
    }

    scene scene_;
    door way_;
    shared_limits limits_;
    aligned_memory world_memory_;
    shared_world world_;
    aligned_memory encoder_memory_;
    shared_encoder encoder_;
    std::vector<std::vector<std::int32_t>> sequence_ = sequence64();
    std::vector<std::vector<item>> steps_;
    std::vector<std::vector<bool>> changed_;
    std::vector<seen> seen_; // by step
    std::array<std::uint8_t, huffman_bound(packet_bytes)> packet_;
};

void serve(benchmark::State& state, scene const& chosen, door way) {
    shared_server s{chosen, way};
    bool good = true;
    double const seconds = measure(state, [&] { good &= s.play([](phase) {}); });
    if (!good) state.SkipWithError("a snapshot was refused");
    double const per_snapshot = seconds / s.snapshots();
    state.counters["us_per_snapshot"] = 1e6 * per_snapshot;
    state.counters["clients_per_core_at_50"] = 1 / (per_snapshot * snapshots_per_second);
}

// One phase of it, with a look at the clock after each.
void serve_phase(benchmark::State& state, scene const& chosen, door way, phase measured) {
    using clock = std::chrono::steady_clock;
    shared_server s{chosen, way};
    double seconds = 0; // per snapshot
    for (auto _ : state) {
        clock::duration spent{};
        auto last = clock::now();
        bool const good = s.play([&](phase p) {
            auto const now = clock::now();
            if (p == measured) spent += now - last;
            last = now;
        });
        if (!good) state.SkipWithError("a snapshot was refused");
        seconds = std::chrono::duration<double>(spent).count() / s.snapshots();
        state.SetIterationTime(seconds * s.snapshots());
    }
    state.counters["us_per_snapshot"] = 1e6 * seconds;
}

} // namespace

void add_shared_ticks() {
    struct way {
        char const* name;
        door through;
    };
    scene const scenes[] = {{"16", 16},
                            {"64", 64},
                            {"128", 128},
                            {"128_whole", 128, true},
                            {"128_lossy", 128, false, acknowledging::late},
                            {"128_scattered", 128, false, acknowledging::scattered},
                            {"256_whole", 256, true}};
    for (way const& w :
         {way{"shared_tick", door::shown}, way{"shared_kept", door::kept}, way{"shared_views", door::views}}) {
        for (scene const& s : scenes)
            benchmark::RegisterBenchmark((std::string{w.name} + "/" + s.name).c_str(),
                                         [s, w](benchmark::State& state) { serve(state, s, w.through); })
                ->MinTime(0.5);
        for (std::size_t p = 0; p < phases; ++p)
            benchmark::RegisterBenchmark((std::string{w.name} + "_" + phase_names[p] + "/128").c_str(),
                                         [w, p](benchmark::State& state) {
                                             serve_phase(state, {"128", 128}, w.through, static_cast<phase>(p));
                                         })
                ->Iterations(3)
                ->UseManualTime();
    }
}

} // namespace teewire::bench
