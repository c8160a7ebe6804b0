// A server's tick: for every client its own view of the world is built, compared with what the client has, packed,
// and kept for later.
#include "cases.hpp"
#include "server_scene.hpp"

#include <teewire/history.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace teewire::bench {
namespace {

constexpr std::uint16_t character = 9, player_info = 10, client_info = 11;

enum phase : std::size_t { building, checksum, creating, packing, huffman, storing, phases };
constexpr char const* phase_names[phases] = {"build", "checksum", "create", "pack", "huffman", "store"};

class server {
public:
    explicit server(scene const& chosen) : scene_{chosen}, sequence_{sequence64()} {
        for (auto const& ints : sequence_) {
            auto const view = snapshot_view::trusted(ints);
            steps_.emplace_back(view.begin(), view.end());
        }
        for (std::size_t c = 0; c < scene_.clients; ++c) clients_.push_back(std::make_unique<client>(*this, c));
    }

    // Serves all snapshots to all clients, and calls lap(phase) after each phase. False if something failed.
    template <class Lap>
    bool play(Lap&& lap) {
        bool good = true;
        for (auto& c : clients_) c->past.clear();
        for (std::size_t step = 0; step < steps_.size(); ++step)
            for (std::size_t c = 0; c < clients_.size(); ++c) good &= serve(step, c, lap);
        return good;
    }

    [[nodiscard]] double snapshots() const { return static_cast<double>(steps_.size() * clients_.size()); }

private:
    using numbers = std::vector<std::uint16_t>;

    struct client {
        client(server const& s, std::size_t number) {
            std::size_t largest = 0;
            for (auto const& items : s.steps_) {
                numbers& seen = visible.emplace_back();
                std::size_t ints = 2;
                for (std::size_t i = 0; i < items.size(); ++i)
                    if (s.scene_.whole || sees(number, items[i].key)) {
                        seen.push_back(static_cast<std::uint16_t>(i));
                        ints += 3 + items[i].data.size(); // offset, key, data, and the key in the outline
                    }
                largest = std::max(largest, ints + starts_words(ints));
            }
            // Servers drop what is older than the acknowledged snapshot; the lossy ones need all of three seconds.
            std::size_t const kept = s.scene_.acks != acknowledging::well ? kept_snapshots : oldest_base + 1;
            entries.resize(kept);
            block.resize((kept + 1) * largest);
            past = {entries, block};
        }
        client(client const&) = delete; // the history
        client& operator=(client const&) = delete;

        std::vector<numbers> visible; // numbers of items, by step
        std::vector<history::entry> entries = std::vector<history::entry>(1);
        std::vector<std::int32_t> block;
        history past{entries, block};
    };

    [[nodiscard]] bool translates(std::size_t client) const {
        return scene_.ids == player_ids::own || (scene_.ids == player_ids::own_for_half && client % 2 != 0);
    }

    // An item of a player, under the id that this client knows the player by; one of its ints may be that id.
    static bool add_translated(snapshot_builder::writer& writer, item const& i, std::size_t client) {
        if (i.type() != character && i.type() != player_info && i.type() != client_info) return writer.add(i);
        auto const id = static_cast<std::uint16_t>((i.id() * 7U + client * 13U) % 64U);
        item own{make_key(i.type(), id), i.data};
        std::array<std::int32_t, 8> data;
        if (i.type() == player_info && i.data.size() <= data.size()) {
            std::copy(i.data.begin(), i.data.end(), data.begin());
            data[1] = id;
            own.data = std::span{data}.first(i.data.size());
        }
        return writer.add(own);
    }

    template <class Lap>
    bool serve(std::size_t step, std::size_t number, Lap& lap) {
        client& c = *clients_[number];
        bool good = true;
        std::size_t const age = base_age(scene_, number, step);
        snapshot_view base;
        if (age != 0) {
            auto const found = c.past.find(tick_of(step - age));
            good &= found.has_value();
            if (found) base = *found;
        }
        builder_.start(c.past.ahead(tick_of(step - age)));
        auto writer = builder_.write();
        if (translates(number))
            for (std::size_t const i : c.visible[step]) good &= add_translated(writer, steps_[step][i], number);
        else
            for (std::size_t const i : c.visible[step]) good &= writer.add(steps_[step][i]);
        good &= builder_.take(writer).has_value();
        snapshot_view const now = builder_.finish();
        lap(building);

        benchmark::DoNotOptimize(now.checksum());
        lap(checksum);

        auto const delta = create_delta(base, now, sizes_06, memory_->delta, memory_->ints);
        if (!delta) return false;
        lap(creating);

        auto const packed = encode_varints(*delta, memory_->packed);
        if (!packed) return false;
        lap(packing);

        for (std::size_t at = 0; at < *packed; at += packet_bytes) {
            auto const part = std::span{memory_->packed}.subspan(at, std::min(packet_bytes, *packed - at));
            good &= huffman_encode(part, memory_->packet).has_value();
        }
        lap(huffman);

        good &= c.past.add(tick_of(step), now).has_value();
        lap(storing);
        return good;
    }

    struct scratch {
        snapshot_builder_memory<> builder;
        delta_memory<> delta;
        std::array<std::int32_t, 1 << 15> ints;
        std::array<std::uint8_t, varint_bound(1 << 15)> packed;
        std::array<std::uint8_t, huffman_bound(packet_bytes)> packet;
    };

    scene scene_;
    std::vector<std::vector<std::int32_t>> sequence_;
    std::vector<std::vector<item>> steps_;
    std::vector<std::unique_ptr<client>> clients_;
    std::unique_ptr<scratch> memory_ = std::make_unique<scratch>();
    snapshot_builder builder_{memory_->builder};
};

void serve(benchmark::State& state, scene const& chosen) {
    server s{chosen};
    bool good = true;
    double const seconds = measure(state, [&] { good &= s.play([](phase) {}); });
    if (!good) state.SkipWithError("a snapshot was refused");
    double const per_snapshot = seconds / s.snapshots();
    state.counters["us_per_snapshot"] = 1e6 * per_snapshot;
    state.counters["clients_per_core_at_50"] = 1 / (per_snapshot * snapshots_per_second);
}

// One phase of it. The time includes one look at the clock per snapshot, and leaves out laps in which the thread
// was interrupted.
void serve_phase(benchmark::State& state, scene const& chosen, phase measured) {
    using clock = std::chrono::steady_clock;
    constexpr auto longest = std::chrono::microseconds{200};
    server s{chosen};
    double seconds = 0; // per snapshot
    std::size_t const allocated = allocations();
    for (auto _ : state) {
        clock::duration spent{};
        std::size_t laps = 0;
        auto last = clock::now();
        bool const good = s.play([&](phase p) {
            auto const now = clock::now();
            if (p == measured && now - last < longest) {
                spent += now - last;
                ++laps;
            }
            last = now;
        });
        if (!good) state.SkipWithError("a snapshot was refused");
        seconds = std::chrono::duration<double>(spent).count() / static_cast<double>(laps);
        state.SetIterationTime(seconds * s.snapshots());
    }
    count_allocations(state, allocations() - allocated);
    state.counters["us_per_snapshot"] = 1e6 * seconds;
}

} // namespace

void add_server_ticks() {
    for (scene const& s :
         {scene{"16", 16}, scene{"64", 64}, scene{"128", 128}, scene{"128_whole", 128, true},
          scene{"128_lossy", 128, false, acknowledging::late},
          scene{"128_scattered", 128, false, acknowledging::scattered}, scene{"256_whole", 256, true},
          scene{"64_own_ids", 64, false, acknowledging::well, player_ids::own},
          scene{"120_own_ids", 120, false, acknowledging::well, player_ids::own},
          scene{"64_half_own_ids", 64, false, acknowledging::well, player_ids::own_for_half}})
        benchmark::RegisterBenchmark(("server_tick/" + s.name).c_str(), [s](benchmark::State& state) {
            serve(state, s);
        })->MinTime(0.5);
    for (std::size_t p = 0; p < phases; ++p)
        benchmark::RegisterBenchmark(("server_tick_" + std::string{phase_names[p]} + "/128").c_str(),
                                     [p](benchmark::State& state) {
                                         serve_phase(state, {"128", 128}, static_cast<phase>(p));
                                     })
            ->Iterations(1)
            ->UseManualTime();
}

} // namespace teewire::bench
