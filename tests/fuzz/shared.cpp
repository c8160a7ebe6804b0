// A world that clients share, described by the input: items with several contents, the items that each client sees, under ids
// of its own or not, and its acknowledgements. Each delta must equal that of the client's own snapshot, and the client must be
// able to apply it.
//   the memory in a byte, then steps: a byte says what
#include "world.hpp"

#include <teewire/delta.hpp>
#include <teewire/shared_encoder.hpp>
#include <teewire/varint.hpp>

#include <map>

using namespace teewire;
using fuzz::exact;

namespace {

constexpr std::size_t clients = 4;

struct scratch_memory {
    delta_memory<> delta;
    std::array<std::int32_t, 1 << 16> ints, applied, whole;
    std::array<std::uint8_t, varint_bound(1 << 16)> packed;
};
auto& scratch = fuzz::lasting<scratch_memory>();

struct session {
    explicit session(std::uint8_t memory)
        : limits{clients, memory % 2 != 0 ? 4096U : 20U, memory % 2 != 0 ? 65536U : 300U, 2U + memory / 2 % 8, {}},
          world_memory{shared_world::fixed_bytes(limits) / 8 + 1 + (std::size_t{256} << memory / 16 % 12)},
          encoder_memory{shared_encoder::least_bytes(limits) / 8 + 1 + memory % 32 * 20} {}

    shared_limits limits;
    exact<std::uint64_t> world_memory;
    exact<std::uint64_t> encoder_memory;
    shared_world world{limits, std::as_writable_bytes(world_memory.span())};
    shared_encoder encoder{world, std::as_writable_bytes(encoder_memory.span())};
    std::map<std::pair<std::size_t, std::int32_t>, std::vector<std::int32_t>> was; // by client and tick
    std::int32_t tick = 0;

    // A client's content of an item; some have another one.
    static fuzz::loose_item content(fuzz::loose_item item, std::size_t client, std::uint8_t mix) {
        if (!item.data.empty() && (static_cast<std::size_t>(item.key) + client) % 4 == mix % 8U)
            item.data.back() ^= static_cast<std::int32_t>(1 + client % (1 + mix / 64));
        return item;
    }

    void make(std::vector<fuzz::loose_item> const& items, fuzz::input& in) {
        std::uint8_t const how = in.byte();
        tick += 1 + how % 3;
        FUZZ_REQUIRE(world.start(tick));
        std::vector<fuzz::loose_item> views[clients];
        bool shown[clients];
        for (std::size_t c = 0; c < clients; ++c) {
            std::uint8_t const shift = in.byte();
            for (std::size_t i = 0; i < items.size(); ++i)
                if ((i * 7 + c) % 8 >= shift % 9U) {
                    views[c].push_back(content(items[i], c, how));
                    std::int32_t& key = views[c].back().key;
                    if (how >= 0x80) key = make_key(key_type(key), static_cast<std::uint16_t>(key_id(key) + 5 * c));
                }
            if (shift >= 0xc0 && !views[c].empty()) std::swap(views[c].front(), views[c][shift % views[c].size()]);
        }
        for (std::size_t c = 0; c < clients; ++c) {
            world.start_view(c);
            for (auto const& i : views[c])
                if ((how & 0x40) != 0) {
                    FUZZ_REQUIRE(world.add_to_view({i.key, i.data}));
                } else {
                    auto const data = world.add_to_view(key_type(i.key), key_id(i.key), i.data.size());
                    FUZZ_REQUIRE(data);
                    std::copy(i.data.begin(), i.data.end(), data->begin());
                }
            bool twice = false;
            if (how % 0x80 == 0x7f && !views[c].empty()) {
                auto const again = world.add_to_view({views[c][0].key, views[c][0].data});
                twice = again.has_value();
                // No client can be shown more.
                FUZZ_REQUIRE(twice || again.error().code == errc::too_large ||
                             again.error().code == errc::too_many_items);
            }
            auto const finished = world.finish_view();
            shown[c] = finished || finished.error().code != errc::too_large;
            if (shown[c]) FUZZ_REQUIRE(finished.has_value() != twice);
        }
        if (!world.finish()) return;
        for (std::size_t c = 0; c < clients; ++c)
            if (shown[c]) was[{c, tick}] = fuzz::lay_out(views[c]);
    }

    void check(fuzz::input& in) {
        if (world.newest() != tick) return;
        size_table const& sizes = sizes_06;
        for (std::size_t c = 0; c < clients; ++c) {
            std::int32_t const wanted = tick - in.byte() % 12;
            bool const held = wanted < tick && wanted >= 0 && world.holds(c, wanted);
            auto const seen = was.find({c, tick});
            if (seen == was.end()) { // it did not fit
                FUZZ_REQUIRE(!world.holds(c, tick) && !encoder.encode(c, wanted, sizes));
                continue;
            }
            auto const to = snapshot_view::trusted(seen->second);
            auto const from = held ? snapshot_view::trusted(was.at({c, wanted})) : snapshot_view{};
            auto const delta = create_delta(from, to, sizes, scratch.delta, scratch.ints);
            auto const made = encoder.encode(c, wanted, sizes);
            FUZZ_REQUIRE(fuzz::error_of(delta) == fuzz::error_of(made));
            auto const whole = world.snapshot(c, tick, scratch.whole);
            FUZZ_REQUIRE(whole && fuzz::same(whole->ints(), to.ints()));
            if (!delta) continue;
            std::size_t const size = *encode_varints(*delta, scratch.packed);
            FUZZ_REQUIRE(made->bytes.size() == size);
            FUZZ_REQUIRE(size == 0 || std::memcmp(made->bytes.data(), scratch.packed.data(), size) == 0);
            FUZZ_REQUIRE(made->base_tick == (held ? wanted : -1));
            FUZZ_REQUIRE(made->checksum == to.checksum());
        }
    }
};

void run(fuzz::bytes_view bytes) {
    fuzz::input in{bytes};
    session s{in.byte()};
    fuzz::world items{sizes_06};
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        std::uint8_t const what = in.byte();
        switch (what % 8) {
        case 0:
            for (std::size_t i = 0; i < 1U + what / 8; ++i) items.change(in);
            break;
        case 1: s.world.drop_before(s.tick - what / 8); break;
        case 2: s.world.forget_client(what / 8 % clients); break;
        default: items.change(in);
        }
        if (what % 8 < 5) {
            s.make(items.items(), in);
            s.check(in);
        }
    }
}

} // namespace

FUZZ_TARGET("shared", run)
