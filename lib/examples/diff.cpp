// From one snapshot to the next and back, without network: what travels between a server and a client.
#include <teewire/delta.hpp>
#include <teewire/history.hpp>
#include <teewire/huffman.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

#include <array>
#include <cstdio>
#include <memory>

using namespace teewire;

namespace {

constexpr std::uint16_t type_character = 9;
constexpr std::size_t character_ints = 22;

//! [build]
snapshot_view build(snapshot_builder& builder, std::int32_t tick, std::uint16_t players) {
    builder.start();
    for (std::uint16_t id = 0; id < players; ++id) {
        auto const data = builder.add(type_character, id, character_ints);
        if (!data) break; // data.error() says why; the items before it stay
        (*data)[0] = tick;
        (*data)[1] = 320 * id + 4 * tick;
        (*data)[2] = 160;
    }
    return builder.finish(); // in the builder's memory, until the next start()
}
//! [build]

//! [memory]
/// Taken once, before the first tick.
struct server_memory {
    snapshot_builder_memory<> items;           // one for all clients
    std::array<history::entry, 75> entries;    // what was sent in the last three seconds
    std::array<std::int32_t, 65536> snapshots; // their ints
    delta_memory<> scratch;                    // one per thread
    std::array<std::int32_t, 3 + 3 * 1024 + snapshot_limits{}.ints()> delta;
    std::array<std::uint8_t, varint_bound(3 + 3 * 1024 + snapshot_limits{}.ints())> packed;
};
//! [memory]

//! [encode]
/// The bytes that make `now` out of `base`: none if nothing changed.
result<std::span<std::uint8_t const>> encode(snapshot_view base, snapshot_view now, server_memory& memory) {
    auto const delta = create_delta(base, now, sizes_06, memory.scratch, memory.delta);
    if (!delta) return delta.error(); // an item changed its size: send it without a base
    auto const size = encode_varints(*delta, memory.packed);
    if (!size) return size.error();
    return std::span<std::uint8_t const>{memory.packed}.first(*size);
}
//! [encode]

//! [decode]
/// The reverse, in `out`. The bytes come from the network and are not trusted.
result<snapshot_view> decode(snapshot_view base, std::span<std::uint8_t const> bytes, delta_memory<>& scratch,
                             std::span<std::int32_t> ints, std::span<std::int32_t> out) {
    if (bytes.empty()) return base;
    auto const count = decode_varints(bytes, ints, decoding::strict);
    if (!count) return count.error();                                     // position: byte
    return apply_delta(base, ints.first(*count), sizes_06, scratch, out); // position of errors: int of the delta
}
//! [decode]

} // namespace

int main() {
    auto const server = std::make_unique<server_memory>();
    auto const client = std::make_unique<server_memory>();
    snapshot_builder builder{server->items};
    history sent{server->entries, server->snapshots};
    history received{client->entries, client->snapshots};
    static std::array<std::int32_t, snapshot_limits{}.ints()> decoded;
    static std::array<std::uint8_t, huffman_bound(sizeof(server_memory::packed))> coded;
    std::int32_t acknowledged = -1;

    for (std::int32_t tick = 2; tick <= 10; tick += 2) {
        //! [tick]
        snapshot_view const now = build(builder, tick, static_cast<std::uint16_t>(tick + 20));
        // The snapshot that the client has acknowledged, or the empty one.
        snapshot_view const base = sent.find(acknowledged).value_or(snapshot_view{});
        auto const bytes = encode(base, now, *server);
        if (!bytes || !sent.add(tick, now)) return 1;
        sent.drop_before(acknowledged);
        //! [tick]
        auto const compressed = huffman_encode(*bytes, coded); // as packets and demos have it

        auto const got = decode(received.find(acknowledged).value_or(snapshot_view{}), *bytes, client->scratch,
                                client->delta, decoded);
        if (!got || got->checksum() != now.checksum() || !received.add(tick, *got)) return 1;
        acknowledged = tick;
        std::printf("tick %d: %zu items, %zu bytes, %zu compressed\n", tick, got->size(), bytes->size(),
                    *compressed);
    }
    // Damage is reported with its position.
    std::array<std::uint8_t, 3> const damaged{0x80, 0x80, 0x80};
    auto const failed = decode({}, damaged, client->scratch, client->delta, decoded);
    std::printf("%s at byte %zu\n", describe(failed.error().code).data(), failed.error().position);
}
