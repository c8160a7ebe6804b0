#include "workloads.hpp"

#include "game_items.hpp"

#include <bit>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace teewire::bench {
namespace {

using namespace game;

// The UUIDs of the extended types, in the order of their numbers.
constexpr std::array<std::array<std::uint32_t, 4>, 11> ex_uuids{{
    {0x76ce455b, 0xf9eb3a48, 0xadd7e04b, 0x941d045c}, // character@netobj.ddnet.tw
    {0x22ca938d, 0x13803e2b, 0x9e7bd255, 0x8ea6be11}, // player@netobj.ddnet.tw
    {0x933dea6a, 0xda7930ea, 0xa98f8af0, 0x3689a945}, // gameinfo@netobj.ddnet.tw
    {0x29de68a2, 0x692831b8, 0x8360a230, 0x7e0d844f}, // laser@netobj.ddnet.tw
    {0x6550fbce, 0xf3173b31, 0x8ffed2b3, 0x7f3ab40e}, // ddnet-projectile@netobj.ddnet.tw
    {0xea5e4a51, 0x58fb3684, 0x96e4e0d2, 0x67f4ca65}, // pickup@netobj.ddnet.tw
    {0xec15e669, 0xce113367, 0xae8eb90e, 0x5b27b9d5}, // switch-state@netobj.ddnet.tw
    {0x2de9aec3, 0x32e43986, 0x8f7ee745, 0x9da7f535}, // entity-ex@netobj.ddnet.tw
    {0x4b801c74, 0xe24c3ce0, 0xb92cb754, 0xd02cfc8a}, // spec-char@netobj.ddnet.tw
    {0xd13307b2, 0x9a1937cb, 0x8f8c07c7, 0x18521883}, // spectator-info@netobj.ddnet.org
    {0x9ebfc6ed, 0xbf5030ca, 0x988a0ce8, 0x921ad85f}, // map-best-time@netobj.ddnet.org
}};

// rand_chacha's ChaCha8Rng with a seed of 32 zero bytes.
class chacha8 {
public:
    std::uint32_t next_u32() {
        if (position_ == block_.size()) refill();
        return block_[position_++];
    }
    std::uint64_t next_u64() {
        const std::uint64_t low = next_u32();
        return low | std::uint64_t{next_u32()} << 32;
    }

private:
    using words = std::array<std::uint32_t, 16>;

    static void quarter_round(words& x, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
        x[a] += x[b], x[d] = std::rotl(x[d] ^ x[a], 16);
        x[c] += x[d], x[b] = std::rotl(x[b] ^ x[c], 12);
        x[a] += x[b], x[d] = std::rotl(x[d] ^ x[a], 8);
        x[c] += x[d], x[b] = std::rotl(x[b] ^ x[c], 7);
    }

    void refill() {
        words start{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
        start[12] = static_cast<std::uint32_t>(counter_);
        start[13] = static_cast<std::uint32_t>(counter_ >> 32);
        block_ = start;
        for (int double_round = 0; double_round < 4; ++double_round) {
            for (std::size_t i = 0; i < 4; ++i) quarter_round(block_, i, 4 + i, 8 + i, 12 + i);
            for (std::size_t i = 0; i < 4; ++i)
                quarter_round(block_, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
        }
        for (std::size_t i = 0; i < block_.size(); ++i) block_[i] += start[i];
        ++counter_;
        position_ = 0;
    }

    words block_{};
    std::size_t position_ = block_.size();
    std::uint64_t counter_ = 0;
};

// The engines' packing of strings: four bytes an int, each moved by 128, the last byte always a terminator.
void append_string(ints& out, std::string_view text, std::size_t int_count) {
    for (std::size_t i = 0; i < int_count; ++i) {
        std::uint32_t word = 0;
        for (std::size_t at = 4 * i; at < 4 * i + 4; ++at) {
            const std::uint32_t byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
            word = word << 8 | (byte ^ 0x80);
        }
        out.push_back(wrap(i + 1 == int_count ? word & 0xffffff00 : word));
    }
}

ints game_info() { return {0, 0, now - 21000, 0, 20, 0, 0, 1}; }

ints player_info(splitmix64& r, std::int32_t client, std::int32_t local) {
    return {client == local ? 1 : 0, client, 0, r.between(-9999, 9999), r.between(5, 150)};
}

ints client_info(splitmix64& r, std::int32_t client) {
    static constexpr std::array<std::string_view, 4> skins{"default", "bluestripe", "santa_cammo", "greensward"};
    const std::string number = std::to_string(client);
    ints out;
    append_string(out, (client < 10 ? "player0" : "player") + number + " name", 4);
    append_string(out, "clan" + std::to_string(client % 7), 3);
    append(out, {r.between(-1, 900)});
    append_string(out, skins[static_cast<std::size_t>(r.below(4))], 6);
    append(out, {r.below(2), r.below(1 << 24), r.below(1 << 24)});
    return out;
}

ints character(splitmix64& r) {
    const std::int32_t x = r.between(1000, 12000);
    const std::int32_t y = r.between(500, 6000);
    bool const hook = r.chance(300);
    return {now - r.below(3),
            x,
            y,
            r.between(-2600, 2600),
            r.between(-2600, 2600),
            r.between(-402, 804),
            r.between(-1, 1),
            r.below(4),
            -1,
            hook ? 5 : -1,
            hook ? r.below(40) : 0,
            hook ? x + r.between(-300, 300) : x,
            hook ? y + r.between(-300, 300) : y,
            r.between(-256, 256),
            r.between(-256, 256),
            r.chance(900) ? 1 : 5,
            r.between(0, 10),
            r.between(0, 10),
            r.between(-1, 10),
            r.below(6),
            r.below(6),
            now - r.below(500)};
}

ints damage(splitmix64& r) { return position_and(r, 804); }

ints pickup(splitmix64& r) {
    return {r.between(10, 400) * 32 + 16, r.between(10, 200) * 32 + 16, r.below(4), r.below(6)};
}

ints pickup_ex(splitmix64& r) {
    ints out = pickup(r);
    append(out, {r.below(30), r.below(8)});
    return out;
}

workload make_workload(std::string name, items const& from, items const& to) {
    return {std::move(name), serialise(from), serialise(to)};
}

workload duel() {
    splitmix64 r(1001);
    items from{{kind::game_info, 0, game_info()}};
    for (std::int32_t c = 0; c < 2; ++c) {
        from.push_back({kind::client_info, c, client_info(r, c)});
        from.push_back({kind::player_info, c, player_info(r, c, 0)});
    }
    for (std::int32_t i = 0; i < 20; ++i) from.push_back({kind::pickup, i, pickup(r)});
    for (std::int32_t c = 0; c < 2; ++c) from.push_back({kind::character, c, character(r)});

    items to = from;
    for (item& it : to) {
        if (it.type == kind::character) move_character(r, it.data);
        else if (it.type == kind::player_info) it.data[4] += r.between(-2, 2);
    }
    return make_workload("duel", from, to);
}

workload full16() {
    splitmix64 r(1016);
    items from{{kind::game_info, 0, game_info()}};
    for (std::int32_t c = 0; c < 16; ++c) {
        from.push_back({kind::client_info, c, client_info(r, c)});
        from.push_back({kind::player_info, c, player_info(r, c, 3)});
    }
    for (std::int32_t i = 100; i < 130; ++i) from.push_back({kind::projectile, i, projectile(r)});
    for (std::int32_t i = 0; i < 60; ++i) from.push_back({kind::pickup, i, pickup(r)});
    for (std::int32_t c = 0; c < 16; ++c) from.push_back({kind::character, c, character(r)});
    from.push_back({kind::sound_world, 0, sound(r)});
    from.push_back({kind::hammer_hit, 1, position(r)});
    from.push_back({kind::damage_ind, 2, damage(r)});

    items to;
    for (item it : from) {
        switch (it.type) {
        case kind::sound_world:
        case kind::hammer_hit:
        case kind::damage_ind: continue; // events last for one snapshot
        case kind::projectile:
            if (it.id == 103 || it.id == 110 || it.id == 117 || it.id == 124) continue; // hit something
            break;
        case kind::character:
            if (it.id % 8 != 7) move_character(r, it.data);
            break;
        case kind::player_info:
            if (it.id % 5 == 0) it.data[4] = (it.data[4] + r.between(-3, 3)) | 1;
            break;
        default: break;
        }
        bool const last_projectile = it.type == kind::projectile && it.id == 129;
        to.push_back(std::move(it));
        if (last_projectile)
            for (std::int32_t i = 130; i < 134; ++i) to.push_back({kind::projectile, i, projectile(r)});
    }
    to.push_back({kind::sound_world, 0, sound(r)});
    to.push_back({kind::explosion, 1, position(r)});
    to.push_back({kind::damage_ind, 2, damage(r)});
    return make_workload("full16", from, to);
}

items ddnet64_from(splitmix64& r) {
    items out;
    for (std::size_t i = 0; i < ex_uuids.size(); ++i) {
        auto const& u = ex_uuids[i];
        const std::int32_t number = kind::first_ex - static_cast<std::int32_t>(i);
        out.push_back({0, number, {wrap(u[0]), wrap(u[1]), wrap(u[2]), wrap(u[3])}});
    }
    out.push_back({kind::game_info, 0, game_info()});
    out.push_back({kind::game_info_ex, 0, {r.below(1u << 31), 13, r.below(1 << 10), 1, 64}});
    out.push_back({kind::map_best_time, 0, {431, 520}});
    for (std::int32_t c = 0; c < 64; ++c) {
        out.push_back({kind::client_info, c, client_info(r, c)});
        out.push_back({kind::player_info, c, player_info(r, c, 17)});
        out.push_back(
            {kind::player_ex, c, {r.below(4), 0, r.chance(500) ? -1 : r.between(300, 9000), r.below(1000)}});
    }
    out.push_back({kind::spectator_info, 0, {0, 1000, 0, 0, r.below(5)}});
    for (std::int32_t i = 2000; i < 2010; ++i) out.push_back({kind::projectile, i, projectile(r)});
    for (std::int32_t i = 3000; i < 3040; ++i) out.push_back({kind::projectile_ex, i, projectile_ex(r)});
    for (std::int32_t i = 4000; i < 4030; ++i) {
        ints laser = position(r);
        append(laser, {laser[0] + r.between(-400, 400), laser[1], now - r.below(4)});
        out.push_back({kind::laser, i, std::move(laser)});
    }
    for (std::int32_t i = 5000; i < 5060; ++i) {
        ints laser = position(r);
        append(laser, {laser[0] + r.between(-400, 400), laser[1] + r.between(-400, 400), now - 4, -1, r.below(7),
                       r.below(50), r.below(6), 0});
        out.push_back({kind::laser_ex, i, std::move(laser)});
    }
    for (std::int32_t i = 6000; i < 6050; ++i) out.push_back({kind::pickup, i, pickup(r)});
    for (std::int32_t i = 7000; i < 7100; ++i) out.push_back({kind::pickup_ex, i, pickup_ex(r)});
    for (std::int32_t i = 5000; i < 5020; ++i)
        out.push_back({kind::entity_ex, i, {r.below(50), r.below(4), r.below(11)}});

    ints switches{60, r.any(), r.any(), 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 4; ++i) switches.push_back(r.below(50));
    for (int i = 0; i < 4; ++i) switches.push_back(now + r.below(500));
    out.push_back({kind::switch_state, 0, std::move(switches)});

    for (std::int32_t c = 0; c < 64; ++c) {
        bool const frozen = c % 6 == 0;
        out.push_back({kind::character, c, character(r)});
        out.push_back({kind::character_ex,
                       c,
                       {r.below(1 << 20), frozen ? now + 100 : 0, 2, -1, c, 2, -1, frozen ? now - 30 : 0,
                        r.between(-300, 300), r.between(-300, 300), -1}});
    }
    for (std::int32_t i = 0; i < 6; ++i) out.push_back({kind::spec_char, i, position(r)});
    for (std::int32_t i = 0; i < 3; ++i) out.push_back({kind::sound_world, i, sound(r)});
    return out;
}

items ddnet64_to(splitmix64& r, items const& from) {
    items out;
    for (item const& old : from) {
        const std::int32_t type = old.type, id = old.id;
        ints d = old.data;
        switch (type) {
        case kind::character:
            if (id % 8 < 5) move_character(r, d);
            else if (id % 8 == 5) // only aims
                d[5] += r.between(-40, 40) | 1;
            break;
        case kind::character_ex:
            if (id % 8 < 6) {
                d[8] += r.between(-30, 30);
                d[9] += r.between(-30, 30);
            }
            if (id % 6 == 0 && id % 8 < 5) d[1] = now + 102;
            break;
        case kind::player_info:
            if (id % 20 == 0) d[4] += r.between(-3, 3) | 1;
            break;
        case kind::projectile_ex:
            if (id == 3003 || id == 3017 || id == 3030) continue;
            break;
        case kind::projectile:
            if (id == 2004) continue;
            break;
        case kind::laser:
            if (id % 3 == 0) {
                d[4] = now + 2;
                d[0] += r.between(-60, 60);
            }
            break;
        case kind::laser_ex:
            if (id % 6 == 0) {
                d[2] += r.between(-60, 60);
                d[3] += r.between(-60, 60);
                d[4] += 2;
            }
            break;
        case kind::pickup_ex:
            if (id == 7042) continue;
            break;
        case kind::spec_char:
            d[0] += r.between(-40, 40);
            d[1] += r.between(-40, 40);
            break;
        case kind::sound_world:
            d = sound(r); // drawn for the dropped one too: later values depend on it
            if (id == 2) continue;
            break;
        default: break;
        }
        out.push_back({type, id, std::move(d)});

        if (type == kind::projectile_ex && id == 3039)
            for (std::int32_t i = 3040; i < 3044; ++i) out.push_back({type, i, projectile_ex(r)});
        if (type == kind::pickup_ex && id == 7099) out.push_back({type, 7100, pickup_ex(r)});
        if (type == kind::sound_world && id == 1) out.push_back({kind::explosion, 2, position(r)});
    }
    return out;
}

workload ddnet64() {
    splitmix64 r(1064);
    const items from = ddnet64_from(r);
    return make_workload("ddnet64", from, ddnet64_to(r, from));
}

// Types 64 to 79 have no fixed size, so deltas must carry it. Every int changes by 1 to 2^17, up or down.
workload max1024() {
    splitmix64 r(11024);
    items from;
    std::set<std::pair<std::int32_t, std::int32_t>> used;
    for (std::int32_t i = 0; i < 1024; ++i) {
        const std::int32_t type = 64 + i / 64;
        std::int32_t id = r.below(65536);
        while (!used.emplace(type, id).second) id = r.below(65536);
        ints data(12);
        for (std::int32_t& value : data) value = r.any();
        from.push_back({type, id, std::move(data)});
    }
    items to = from;
    for (item& it : to) {
        for (std::int32_t& value : it.data) {
            const std::int64_t step = 1 + r.below(1 << 17);
            value = wrap(static_cast<std::uint64_t>(r.below(2) != 0 ? value + step : value - step));
        }
    }
    return make_workload("max1024", from, to);
}

// The two of libtw2's snapshot benchmark.
items tw2_items() {
    static constexpr std::array<std::size_t, 20> sizes{0, 10, 6, 5, 4, 3, 8, 4, 15, 22,
                                                       5, 17, 3, 2, 2, 2, 2, 3, 3,  3}; // ints per type in 0.6
    chacha8 r;
    items out;
    for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t type = i / 16 + 1;
        const std::int32_t id = wrap(r.next_u32() & 0xffff);
        const std::int32_t value = wrap(r.next_u32());
        out.push_back({static_cast<std::int32_t>(type), id, ints(sizes[type], value)});
    }
    return out;
}

items tw2_modified_items() {
    constexpr auto tenth = static_cast<std::uint64_t>(0.1 * 0x1p64);
    chacha8 r;
    items out = tw2_items();
    for (item& it : out)
        if (r.next_u64() < tenth) it.data.assign(it.data.size(), wrap(r.next_u32()));
    return out;
}

ints read_ints(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    auto const word = [&bytes](std::size_t index) {
        std::uint32_t value = 0;
        for (std::size_t k = 4; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[4 * index + k]);
        return value;
    };
    if (!file || bytes.size() < 4 || bytes.size() % 4 != 0 || word(0) != bytes.size() / 4 - 1)
        throw std::runtime_error("not a file of counted ints: " + path.string());
    ints out(word(0));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = wrap(word(i + 1));
    return out;
}

} // namespace

std::vector<workload> synthetic_workloads() {
    return {duel(),
            full16(),
            ddnet64(),
            max1024(),
            make_workload("tw2_300", tw2_items(), tw2_items()),
            make_workload("tw2_300m", tw2_items(), tw2_modified_items())};
}

std::vector<workload> recorded_workloads(std::filesystem::path const& folder) {
    std::vector<workload> out;
    for (const std::string name : {"real_multeasy", "real_rainy"}) {
        auto const from = folder / (name + ".from.bin");
        auto const to = folder / (name + ".to.bin");
        if (std::filesystem::exists(from) && std::filesystem::exists(to))
            out.push_back({name, read_ints(from), read_ints(to)});
    }
    return out;
}

std::uint64_t fnv1a64(std::span<const std::int32_t> values) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::int32_t value : values)
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (static_cast<std::uint32_t>(value) >> shift & 0xff)) * 0x100000001b3;
    return hash;
}

constinit const std::array<expected_hash, 6> synthetic_hashes{{
    {"duel", 0xfd51fd6cfc0cd61e, 0xe0578973d082a461},
    {"full16", 0x53376c923a06e385, 0x45469bc1d4b64213},
    {"ddnet64", 0xe01514d006324764, 0xb3ca0cd36423631c},
    {"max1024", 0xa1fdbab9f3b44cd0, 0x19de97d1da26d251},
    {"tw2_300", 0xa51f55ebd876c661, 0xa51f55ebd876c661},
    {"tw2_300m", 0xa51f55ebd876c661, 0xd56386ab52d94ff0},
}};

} // namespace teewire::bench
