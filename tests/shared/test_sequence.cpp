// A recorded server of 64 players, for more and more clients with views of their own, also under ids of their own: every delta
// equals that of the client's own snapshot.
#include "check.hpp"
#include "server_scene.hpp"

#include "teewire/delta.hpp"
#include "teewire/shared_encoder.hpp"
#include "teewire/snapshot_builder.hpp"
#include "teewire/varint.hpp"

#include <memory>
#include <set>
#include <vector>

using namespace teewire;
using namespace teewire::bench;

namespace {

constexpr std::size_t steps = 90;

struct memory {
    snapshot_builder_memory<> built, built_base;
    delta_memory<> delta;
    std::array<std::int32_t, 1 << 15> ints;
    std::array<std::uint8_t, varint_bound(1 << 15)> packed;
};

/// The items that a client sees; where its owner knows more than others, with a content of its own.
std::vector<std::int32_t> content(item const& i, std::size_t client) {
    std::vector<std::int32_t> data{i.data.begin(), i.data.end()};
    if (i.type() == 9 && i.id() != client % 64 && data.size() > 17) data[15] = data[16] = data[17] = 0;
    return data;
}

/// The key under which the client knows a player's item, or the item's own.
std::int32_t translated(std::int32_t key, std::size_t client) {
    std::uint16_t const type = key_type(key);
    if (type != 9 && type != 10 && type != 11) return key;
    return make_key(type, static_cast<std::uint16_t>((key_id(key) * 7U + client * 13U) % 64U));
}

void play(std::size_t clients, acknowledging acks, bool translate) {
    CAPTURE(clients);
    CAPTURE(translate);
    auto const sequence = sequence64();
    scene const s{"", clients, false, acks};
    shared_limits const limits{static_cast<std::uint32_t>(clients), 4096, 65536, kept_snapshots + 2, {}};
    std::vector<std::uint64_t> world_memory(
        (shared_world::fixed_bytes(limits) + limits.ticks * shared_world::tick_bytes(limits, 900, 12000, 700)) / 8);
    shared_world world{limits, std::as_writable_bytes(std::span{world_memory})};
    std::vector<std::uint64_t> encoder_memory(shared_encoder::bytes_for(limits, 900, 12000, 8) / 8);
    shared_encoder encoder{world, std::as_writable_bytes(std::span{encoder_memory})};
    auto const m = std::make_unique<memory>();
    bool good = true; // for what is done so often that to report each would take longer
    auto const build = [&](snapshot_builder_memory<>& to, std::size_t step, std::size_t client) {
        snapshot_builder builder{to};
        for (item const i : snapshot_view::trusted(sequence[step]))
            if (sees(client, i.key))
                good &=
                    builder.add({translate ? translated(i.key, client) : i.key, content(i, client)}).has_value();
        return builder.finish();
    };
    std::set<std::int32_t> bases;
    for (std::size_t step = 0; step < steps; ++step) {
        auto const items = snapshot_view::trusted(sequence[step]);
        REQUIRE(world.start(tick_of(step)));
        for (std::size_t c = 0; c < clients; ++c) {
            world.start_view(c);
            for (item const i : items)
                if (sees(c, i.key))
                    good &=
                        world.add_to_view({translate ? translated(i.key, c) : i.key, content(i, c)}).has_value();
            good &= world.finish_view().has_value();
        }
        REQUIRE(world.finish());
        REQUIRE(good);
        // All of them now and then, otherwise some: the reference takes its time.
        for (std::size_t c = step % 7; c < clients; c += step % 20 == 19 ? 1 : 7) {
            std::size_t const age = base_age(s, c, step);
            std::int32_t const base_tick = age != 0 ? tick_of(step - age) : -1;
            bases.insert(base_tick);
            auto const to = build(m->built, step, c);
            auto const from = age != 0 ? build(m->built_base, step - age, c) : snapshot_view{};
            auto const delta = create_delta(from, to, sizes_06, m->delta, m->ints);
            REQUIRE(delta);
            std::size_t const size = *encode_varints(*delta, m->packed);
            auto const made = encoder.encode(c, base_tick, sizes_06);
            REQUIRE(made);
            REQUIRE(made->base_tick == base_tick);
            REQUIRE(made->checksum == to.checksum());
            REQUIRE(
                std::equal(made->bytes.begin(), made->bytes.end(), m->packed.begin(), m->packed.begin() + size));
        }
    }
    CHECK(world.views_alone() == 0);
    CHECK(bases.size() > steps / 2);
}

} // namespace

TEST_CASE("a recorded server of 64 players, for 16 to 256 clients, with and without loss") {
    for (std::size_t const clients : {16U, 64U, 128U, 256U})
        for (acknowledging const acks : {acknowledging::well, acknowledging::late, acknowledging::scattered})
            for (bool const translate : {false, true}) play(clients, acks, translate);
}
