#include "sequence.hpp"

#include "game_items.hpp"
#include "workloads.hpp"

#include <teewire/snapshot.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace teewire::bench {
namespace {

using namespace game;

// fnv1a64 of all ints of the 120 snapshots, one after the other.
constexpr std::uint64_t expected_hash64 = 0xd480bfd9623a6a13;

class world {
public:
    explicit world(items first) : items_{std::move(first)} {}

    [[nodiscard]] ints snapshot() const { return serialise(items_); }

    void advance() {
        tick_ += sequence_ticks_apart;
        items next;
        for (game::item& it : items_)
            if (move(it)) next.push_back(std::move(it));
        items_ = std::move(next);
        refill(kind::projectile_ex, 40, 20000);
        refill(kind::projectile, 10, 30000);
        refill(kind::laser, 30, 40000);
        add_events();
        ++step_;
    }

private:
    // False when the item is gone.
    bool move(game::item& it) {
        ints& d = it.data;
        std::int32_t const turn = (it.id + step_ / 100) % 8;
        switch (it.type) {
        case kind::sound_world:
        case kind::explosion:
        case kind::hammer_hit: return false; // events last for one snapshot
        case kind::character:
            if (turn < 5) {
                move_character(r_, d);
                d[0] = tick_;
            } else if (r_.chance(300)) {
                d[5] += r_.between(-40, 40);
            }
            return true;
        case kind::character_ex:
            if (turn < 6 && r_.chance(700)) {
                d[8] += r_.between(-30, 30);
                d[9] += r_.between(-30, 30);
            }
            return true;
        case kind::player_info:
            if (r_.chance(20)) d[4] = std::max(1, d[4] + r_.between(-5, 5));
            if (r_.chance(2)) ++d[3];
            return true;
        case kind::projectile:
        case kind::projectile_ex: return !r_.chance(40);
        case kind::laser: return !r_.chance(60);
        case kind::laser_ex:
            if (it.id % 6 == 0) {
                d[2] += r_.between(-60, 60);
                d[3] += r_.between(-60, 60);
                d[4] = tick_;
            }
            return true;
        case kind::pickup: return !r_.chance(2);
        case kind::spec_char:
            d[0] += r_.between(-40, 40);
            d[1] += r_.between(-40, 40);
            return true;
        default: return true;
        }
    }

    void refill(std::int32_t type, std::ptrdiff_t wanted, std::int32_t first_id) {
        wanted -= std::count_if(items_.begin(), items_.end(), [type](auto const& it) { return it.type == type; });
        for (; wanted > 0; --wanted) {
            if (r_.chance(500)) continue;
            std::int32_t const id = first_id + shots_++ % 9000;
            ints d = type == kind::projectile_ex ? projectile_ex(r_) : projectile(r_);
            d[5] = tick_;
            if (type == kind::laser) {
                d.resize(2);
                append(d, {d[0] + r_.between(-400, 400), d[1], tick_});
            }
            items_.push_back({type, id, std::move(d)});
        }
    }

    void add_events() {
        std::int32_t const count = r_.below(5);
        for (std::int32_t id = 0; id < count; ++id) {
            if (r_.below(2) != 0) items_.push_back({kind::sound_world, id, sound(r_)});
            else items_.push_back({kind::explosion, id, position(r_)});
        }
    }

    splitmix64 r_{2064};
    items items_;
    std::int32_t step_ = 0;
    std::int32_t tick_ = now;
    std::int32_t shots_ = 0;
};

// The older snapshot of the workload ddnet64.
items first_items() {
    items out;
    for (workload const& w : synthetic_workloads())
        if (w.name == "ddnet64")
            for (teewire::item const i : snapshot_view::trusted(w.from))
                out.push_back({i.type(), i.id(), {i.data.begin(), i.data.end()}});
    return out;
}

} // namespace

std::vector<ints> sequence64() {
    world w{first_items()};
    std::vector<ints> out;
    ints all;
    for (std::size_t i = 0; i < sequence_snapshots; ++i) {
        out.push_back(w.snapshot());
        all.insert(all.end(), out.back().begin(), out.back().end());
        w.advance();
    }
    if (fnv1a64(all) != expected_hash64) {
        std::fputs("seq64 does not have the published bytes\n", stderr);
        std::exit(1);
    }
    return out;
}

} // namespace teewire::bench
