// A server's tick as in server.cpp, with one world for all clients: shared_tick/..., contents handed over once;
// shared_views/..., each client's items as to a builder; mapped/..., the same where each client knows each character by an id
// of its own; mixed/..., where half of them do.
#include "cases.hpp"
#include "server_scene.hpp"

#include <teewire/huffman.hpp>
#include <teewire/shared_encoder.hpp>

#include <array>
#include <chrono>

namespace teewire::bench {
namespace {

constexpr std::uint16_t character = 9, player_info = 10, client_info = 11;

enum class way { handed_over, same_ids, mixed_ids, own_ids };
enum phase : std::size_t { world, views, finishing, encoding, huffman, phases };
constexpr char const* phase_names[phases] = {"world", "views", "finish", "encode", "huffman"};

class aligned_memory {
public:
    explicit aligned_memory(std::size_t bytes) : words_((bytes + 7) / 8) {}
    [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span{words_}); }

private:
    std::vector<std::uint64_t> words_;
};

class shared_server {
public:
    shared_server(scene const& chosen, way chosen_way)
        : scene_{chosen}, way_{chosen_way}, limits_{static_cast<std::uint32_t>(chosen.clients),
                                                    16384,
                                                    131072,
                                                    kept_snapshots + 1,
                                                    {}},
          world_memory_{shared_world::fixed_bytes(limits_) +
                        (kept_snapshots + 2) * shared_world::tick_bytes(limits_, 4000, 32768, 700)},
          world_{limits_, world_memory_.bytes()},
          encoder_memory_{shared_encoder::bytes_for(limits_, 4000, 32768, 48)}, encoder_{world_,
                                                                                         encoder_memory_.bytes()} {
        for (auto const& ints : sequence_) {
            auto const view = snapshot_view::trusted(ints);
            auto const& items = steps_.emplace_back(view.begin(), view.end());
            auto& of = seen_.emplace_back(scene_.clients);
            for (std::size_t c = 0; c < scene_.clients; ++c)
                for (std::size_t i = 0; i < items.size(); ++i)
                    if (scene_.whole || sees(c, items[i].key)) of[c].push_back(static_cast<std::uint16_t>(i));
        }
    }

    // Serves all snapshots to all clients, and calls lap(phase, n) after n times that. False if something failed.
    template <class Lap>
    bool play(Lap&& lap) {
        bool good = true;
        world_.clear();
        for (std::size_t step = 0; step < steps_.size(); ++step) {
            good &= world_.start(tick_of(step)).has_value();
            std::array<std::size_t, 1024> numbers;
            if (way_ == way::handed_over)
                for (std::size_t i = 0; i < steps_[step].size(); ++i) {
                    auto const number = world_.share(steps_[step][i].data);
                    if (!number || i == numbers.size()) return false;
                    numbers[i] = *number;
                }
            lap(world);
            for (std::size_t c = 0; c < scene_.clients; ++c) {
                world_.start_view(c);
                if (way_ == way::handed_over)
                    for (std::size_t const i : seen_[step][c])
                        good &=
                            world_.add_shared(steps_[step][i].type(), steps_[step][i].id(), numbers[i]).has_value();
                else if (way_ == way::own_ids || (way_ == way::mixed_ids && c % 2 != 0))
                    for (std::size_t const i : seen_[step][c]) good &= add_translated(steps_[step][i], c);
                else
                    for (std::size_t const i : seen_[step][c])
                        good &= world_.add_to_view(steps_[step][i]).has_value();
                good &= world_.finish_view().has_value();
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
        return good && world_.views_alone() == 0;
    }

    [[nodiscard]] double snapshots() const { return static_cast<double>(steps_.size() * scene_.clients); }

private:
    // A player's item under the id that this client knows it by. Where an item names its player, the client has a content
    // of its own.
    bool add_translated(item const& i, std::size_t client) {
        bool const of_player = i.type() == character || i.type() == player_info || i.type() == client_info;
        if (!of_player) return world_.add_to_view(i).has_value();
        auto const id = static_cast<std::uint16_t>((i.id() * 7U + client * 13U) % 64U);
        item own{make_key(i.type(), id), i.data};
        std::array<std::int32_t, 8> data;
        if (i.type() == player_info && i.data.size() <= data.size()) {
            std::copy(i.data.begin(), i.data.end(), data.begin());
            data[1] = id;
            own.data = std::span{data}.first(i.data.size());
        }
        return world_.add_to_view(own).has_value();
    }

    scene scene_;
    way way_;
    shared_limits limits_;
    aligned_memory world_memory_;
    shared_world world_;
    aligned_memory encoder_memory_;
    shared_encoder encoder_;
    std::vector<std::vector<std::int32_t>> sequence_ = sequence64();
    std::vector<std::vector<item>> steps_;
    std::vector<std::vector<std::vector<std::uint16_t>>> seen_; // by step and client: numbers of items
    std::array<std::uint8_t, huffman_bound(packet_bytes)> packet_;
};

void serve(benchmark::State& state, scene const& chosen, way chosen_way) {
    shared_server s{chosen, chosen_way};
    bool good = true;
    double const seconds = measure(state, [&] { good &= s.play([](phase) {}); });
    if (!good) state.SkipWithError("a snapshot was refused");
    double const per_snapshot = seconds / s.snapshots();
    state.counters["us_per_snapshot"] = 1e6 * per_snapshot;
    state.counters["clients_per_core_at_50"] = 1 / (per_snapshot * snapshots_per_second);
}

// One phase of it, with a look at the clock after each.
void serve_phase(benchmark::State& state, scene const& chosen, way chosen_way, phase measured) {
    using clock = std::chrono::steady_clock;
    shared_server s{chosen, chosen_way};
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
    scene const scenes[] = {{"16", 16},
                            {"64", 64},
                            {"128", 128},
                            {"128_whole", 128, true},
                            {"128_lossy", 128, false, acknowledging::late},
                            {"128_scattered", 128, false, acknowledging::scattered},
                            {"256_whole", 256, true}};
    scene const translated[] = {{"64", 64}, {"120", 120}};
    auto const add = [](char const* name, way w, scene const& s) {
        benchmark::RegisterBenchmark((std::string{name} + "/" + s.name).c_str(), [s, w](benchmark::State& state) {
            serve(state, s, w);
        })->MinTime(0.5);
    };
    for (scene const& s : scenes) add("shared_tick", way::handed_over, s);
    for (scene const& s : scenes) add("shared_views", way::same_ids, s);
    for (scene const& s : translated) add("mapped", way::own_ids, s);
    add("mixed", way::mixed_ids, translated[0]);
    for (auto const& [name, w] : {std::pair{"shared_tick", way::handed_over},
                                  std::pair{"shared_views", way::same_ids}, std::pair{"mapped", way::own_ids}})
        for (std::size_t p = 0; p < phases; ++p)
            benchmark::RegisterBenchmark((std::string{name} + "_" + phase_names[p] + "/128").c_str(),
                                         [w, p](benchmark::State& state) {
                                             serve_phase(state, {"128", 128}, w, static_cast<phase>(p));
                                         })
                ->Iterations(3)
                ->UseManualTime();
}

} // namespace teewire::bench
