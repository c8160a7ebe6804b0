// The two halves of sending snapshots, by themselves and together over a bad link.
#include "check.hpp"
#include "lossy_link.hpp"
#include "random.hpp"
#include "snapshots.hpp"

#include "teewire/connection.hpp"
#include "teewire/packer.hpp"
#include "teewire/snapshot_receiver.hpp"
#include "teewire/snapshot_sender.hpp"
#include "teewire/varint.hpp"

#include <map>
#include <memory>

using namespace teewire;
using test::error_of;
using test::hex;

namespace {

constexpr protocol protocols[] = {protocol::ddnet, protocol::teeworlds_07};

size_table const& sizes_of(protocol p) { return p == protocol::teeworlds_07 ? sizes_07 : sizes_06; }

struct server_half {
    std::vector<history::entry> entries;
    test::ints block;
    snapshot_sender sender;
    explicit server_half(protocol p = protocol::ddnet, std::size_t ints = 1 << 18,
                         std::size_t max_parts = max_vanilla_snapshot_parts)
        : entries(80), block(ints), sender{entries, block, {p, &sizes_of(p), max_parts}} {}
};

struct client_half {
    std::vector<snapshot_parts> parts;
    std::vector<history::entry> entries;
    test::ints block;
    snapshot_receiver receiver;
    explicit client_half(protocol p = protocol::ddnet, snapshot_listening listening = snapshot_listening::client,
                         std::size_t collecting = 1)
        : parts(collecting), entries(160),
          block(1 << 19), receiver{parts, entries, block, {p, &sizes_of(p), listening, decoding::strict, nullptr}} {
    }

    snapshot_event take(std::span<std::uint8_t const> message, snapshot_scratch& scratch) {
        // Exactly sized, so that a sanitizer sees steps beyond it.
        auto const exact = std::make_unique<std::uint8_t[]>(message.size());
        std::copy(message.begin(), message.end(), exact.get());
        auto const m = parse_message({exact.get(), message.size()});
        if (!m) return {};
        return receiver.receive(*m, scratch);
    }
};

std::unique_ptr<snapshot_scratch> const scratch = std::make_unique<snapshot_scratch>();

std::vector<test::bytes> messages_of(snapshot_messages m) {
    std::vector<test::bytes> all;
    for (std::span<std::uint8_t const> message; m.next(message);) {
        CHECK(message.size() <= max_snapshot_message_bytes);
        all.push_back(test::copy_of(message));
    }
    CHECK(all.size() == m.parts());
    return all;
}

/// One item of a type without an agreed size.
test::ints one_item(std::int32_t value, std::size_t ints = 4) {
    return test::layout({{make_key(40, 1), test::ints(ints, value)}});
}
/// Data that takes about `bytes` bytes on the wire, different for every seed.
test::ints large_snapshot(std::size_t bytes, std::int32_t seed) {
    test::plain_items items;
    for (std::size_t i = 0; i * 5 * 50 < bytes; ++i) {
        test::ints data(50);
        for (std::size_t k = 0; k < data.size(); ++k)
            data[k] =
                static_cast<std::int32_t>(0x40000000 + 1000003 * seed + static_cast<std::int32_t>(64 * i + k));
        items.push_back({make_key(40, static_cast<std::uint16_t>(i)), data});
    }
    return test::layout(items);
}

bool same(snapshot_view a, std::span<std::int32_t const> b) {
    return std::equal(a.ints().begin(), a.ints().end(), b.begin(), b.end());
}

} // namespace

// ---- sending -------------------------------------------------------------------------------------------------------

TEST_CASE("snapshot sender: messages in bytes") {
    server_half s;
    auto const first = test::layout({{make_key(5, 0), {100, 200, 0}}, {make_key(4, 3), {-64, 64, 0, 1}}});
    auto sent = s.sender.send(10, test::view_of(first), *scratch);
    REQUIRE(sent);
    CHECK(sent->base_tick() == -1);
    auto all = messages_of(*sent);
    REQUIRE(all.size() == 1);
    // 15 bytes of delta: 0 2 0 | 5 0 100 200 0 | 4 3 -64 64 0 1; checksum 301
    CHECK(hex(all[0]) == "0f 0a 0b ad 04 11 00 02 00 05 00 a4 01 88 03 00 04 03 7f 80 01 00 01");
    CHECK(sent->delta_bytes() == 17);

    CHECK(s.sender.acknowledge(10));
    sent = s.sender.send(12, test::view_of(first), *scratch); // nothing changed
    REQUIRE(sent);
    CHECK(sent->base_tick() == 10);
    CHECK(hex(messages_of(*sent).at(0)) == "0d 0c 02");
    CHECK(sent->delta_bytes() == 0);

    server_half v07{protocol::teeworlds_07};
    sent = v07.sender.send(10, snapshot_view{}, *scratch);
    REQUIRE(sent);
    CHECK(hex(messages_of(*sent).at(0)) == "0f 0a 0b");
}

TEST_CASE("snapshot sender: parts of 900 bytes") {
    auto const large = large_snapshot(5000, 1);
    auto const view = test::view_of(large);
    server_half s;
    auto const sent = s.sender.send(100, view, *scratch);
    REQUIRE(sent);
    std::size_t const bytes = sent->delta_bytes();
    CHECK(sent->parts() == (bytes + 899) / 900);
    CHECK(sent->parts() == 6);
    test::bytes joined;
    int number = 0;
    for (auto const& message : messages_of(*sent)) {
        auto const m = parse_message(message);
        REQUIRE(m);
        CHECK((identify(*m, protocol::ddnet) == message_type::snap));
        auto const part = decode_snap(*m, protocol::ddnet);
        REQUIRE(part);
        CHECK(part->tick == 100);
        CHECK(part->base_tick == -1);
        CHECK(part->parts == 6);
        CHECK(part->part == number++);
        CHECK(part->checksum == view.checksum());
        CHECK(part->data.size() == std::min<std::size_t>(900, bytes - joined.size()));
        joined.insert(joined.end(), part->data.begin(), part->data.end());
    }
    test::ints delta(20000);
    auto const count = decode_varints(joined, delta);
    REQUIRE(count);
    delta_memory<> memory;
    test::ints out(16384);
    auto const built = apply_delta({}, std::span{delta}.first(*count), sizes_06, memory, out);
    REQUIRE(built);
    CHECK(same(*built, large));
}

TEST_CASE("snapshot sender: what does not fit is refused") {
    auto const large = large_snapshot(30000, 1);
    server_half vanilla;
    CHECK(error_of(vanilla.sender.send(100, test::view_of(large), *scratch)).code == errc::too_large);
    CHECK(vanilla.sender.past().size() == 0);
    server_half ddnet{protocol::ddnet, 1 << 18, max_snapshot_parts};
    CHECK(ddnet.sender.send(100, test::view_of(large), *scratch));
    server_half forgetful{protocol::ddnet, 16};
    CHECK(error_of(forgetful.sender.send(100, test::view_of(large_snapshot(500, 1)), *scratch)).code ==
          errc::too_large);

    server_half s;
    for (std::int32_t const tick : {-1, INT32_MIN, INT32_MAX}) {
        CAPTURE(tick);
        CHECK(error_of(s.sender.send(tick, {}, *scratch)).code == errc::bad_tick);
        CHECK(error_of(encode_snapshot(tick, {}, -1, {}, {}, *scratch)).code == errc::bad_tick);
    }
    CHECK(s.sender.send(5, {}, *scratch));
    CHECK(error_of(s.sender.send(5, {}, *scratch)).code == errc::bad_tick);
    CHECK(error_of(encode_snapshot(5, {}, 5, {}, {}, *scratch)).code == errc::bad_tick);
    CHECK(error_of(encode_snapshot(5, {}, -2, {}, {}, *scratch)).code == errc::bad_tick);
    auto const wrong = test::layout({{make_key(5, 0), {1, 2}}}); // 3 are agreed
    CHECK(error_of(s.sender.send(6, test::view_of(wrong), *scratch)).code == errc::size_mismatch);
}

TEST_CASE("snapshot sender: an item that changes its size makes a full snapshot") {
    server_half s;
    auto const four = one_item(7, 4);
    auto const five = one_item(7, 5);
    REQUIRE(s.sender.send(10, test::view_of(four), *scratch));
    CHECK(s.sender.acknowledge(10));
    auto const sent = s.sender.send(12, test::view_of(five), *scratch);
    REQUIRE(sent);
    CHECK(sent->base_tick() == -1);
}

TEST_CASE("snapshot sender: the base is what the client acknowledged and the server still has") {
    server_half s;
    auto const base_of = [&](std::int32_t tick) {
        auto const snapshot = one_item(tick);
        auto const sent = s.sender.send(tick, test::view_of(snapshot), *scratch);
        REQUIRE(sent);
        return sent->base_tick();
    };
    CHECK(base_of(10) == -1);
    CHECK(base_of(20) == -1);
    CHECK_FALSE(s.sender.acknowledge(30)); // not sent yet
    CHECK_FALSE(s.sender.acknowledge(-2));
    CHECK(s.sender.acknowledge(20));
    CHECK(s.sender.past().oldest() == 20);
    CHECK(base_of(22) == 20);
    CHECK_FALSE(s.sender.acknowledge(10)); // came late
    CHECK(base_of(24) == 20);
    CHECK(s.sender.acknowledge(23)); // of a tick without a snapshot
    CHECK(base_of(26) == -1);
    CHECK(s.sender.acknowledge(26));
    CHECK(s.sender.acknowledge(-1)); // the client wants it all
    CHECK(base_of(28) == -1);
    CHECK(s.sender.acknowledge(28));
    for (std::int32_t tick = 30; tick <= 178; tick += 2) CHECK(base_of(tick) == 28);
    CHECK(base_of(180) == -1); // more than three seconds ago
    CHECK_FALSE(s.sender.due(182));
    CHECK(s.sender.due(200));
    s.sender.reset();
    CHECK(base_of(2) == -1);
}

TEST_CASE("snapshot sender: its base, its pace, and another interval") {
    std::vector<history::entry> entries(2); // so that a third snapshot drops the first
    test::ints block(4000);
    auto const scratch = std::make_unique<snapshot_scratch>();
    snapshot_sender sender{entries, block, {}};
    using pace = snapshot_pacing::state;
    auto const send = [&](std::int32_t tick) {
        auto const ints = test::layout({{make_key(5, 0), {tick, 0, 0}}});
        auto const expected = sender.base_tick();
        auto const sent = sender.send(tick, snapshot_view::trusted(ints), *scratch);
        REQUIRE(sent);
        CHECK(sent->base_tick() == expected);
    };
    CHECK(sender.base_tick() == -1);
    CHECK(sender.pacing().current() == pace::first);
    send(10);
    CHECK(sender.base_tick() == -1);
    REQUIRE(sender.acknowledge(10));
    CHECK(sender.base_tick() == 10);
    CHECK(sender.pacing().current() == pace::full);
    CHECK(sender.due(12));
    CHECK_FALSE(sender.due(13));
    sender.set_interval(1);
    CHECK(sender.due(13));
    sender.set_interval(3);
    CHECK_FALSE(sender.due(13));
    CHECK(sender.due(15));
    for (std::int32_t const tick : {12, 14}) send(tick);
    CHECK(sender.base_tick() == -1); // dropped, though acknowledged
    send(16);
    CHECK(sender.pacing().current() == pace::recovering);
    CHECK_FALSE(sender.due(18));
    sender.reset();
    CHECK(sender.pacing().current() == pace::first);
    send(20);
    REQUIRE(sender.acknowledge(20));
    CHECK(sender.due(21)); // the interval stays
    CHECK_FALSE(sender.due(22));
}

TEST_CASE("snapshot pacing: slow until the first acknowledge, and while the base is lost") {
    snapshot_pacing p;
    auto const due = [&](std::int32_t from, std::int32_t to) {
        int n = 0;
        for (std::int32_t tick = from; tick < to; ++tick) n += p.due(tick);
        return n;
    };
    CHECK(due(0, 100) == 10);
    CHECK(p.acknowledge(-1, 100));
    CHECK(due(100, 200) == 10);
    CHECK(p.acknowledge(100, 100));
    CHECK(p.acked() == 100);
    CHECK(due(200, 300) == 50);
    p.lose_base();
    CHECK(due(300, 400) == 2);
    CHECK(p.acknowledge(350, 350));
    CHECK(due(400, 500) == 50);
    snapshot_pacing every{1};
    CHECK(every.acknowledge(0, 0));
    CHECK(every.due(7));
    snapshot_pacing silent;
    silent.lose_base(); // nothing was there to be lost
    CHECK(silent.due(10));
}

// ---- receiving -----------------------------------------------------------------------------------------------------

TEST_CASE("snapshot receiver: parts in any order, doubled, and of mixed snapshots") {
    server_half s;
    auto const first = large_snapshot(4000, 1);
    auto const second = large_snapshot(4000, 2);
    auto const parts_of_first = messages_of(*s.sender.send(10, test::view_of(first), *scratch));
    auto const parts_of_second = messages_of(*s.sender.send(12, test::view_of(second), *scratch));
    REQUIRE(parts_of_first.size() >= 4);

    client_half c;
    snapshot_event e;
    for (std::size_t i = parts_of_first.size(); i-- > 0;) { // the last one first
        e = c.take(parts_of_first[i], *scratch);
        if (i > 0) CHECK((e.kind == snapshot_event_kind::part));
        if (i > 0) CHECK((c.take(parts_of_first[i], *scratch).kind == snapshot_event_kind::part));
    }
    REQUIRE((e.kind == snapshot_event_kind::snapshot));
    CHECK(same(e.snapshot, first));
    CHECK(e.has_checksum);
    CHECK(c.receiver.ack() == 10);
    CHECK((c.take(parts_of_first[0], *scratch).kind == snapshot_event_kind::ignored));

    // A client gives up what it was collecting when something newer comes.
    client_half hasty;
    CHECK((hasty.take(parts_of_first[0], *scratch).kind == snapshot_event_kind::part));
    CHECK((hasty.take(parts_of_second[0], *scratch).kind == snapshot_event_kind::part));
    CHECK((hasty.take(parts_of_first[1], *scratch).kind == snapshot_event_kind::ignored));
    for (std::size_t i = 1; i < parts_of_second.size(); ++i) e = hasty.take(parts_of_second[i], *scratch);
    REQUIRE((e.kind == snapshot_event_kind::snapshot));
    CHECK(same(e.snapshot, second));

    // An observer does not.
    client_half patient{protocol::ddnet, snapshot_listening::observer, 2};
    std::size_t whole = 0;
    for (std::size_t i = 0; i < parts_of_second.size(); ++i) {
        whole += patient.take(parts_of_second[i], *scratch).kind == snapshot_event_kind::snapshot;
        whole += patient.take(parts_of_first[i], *scratch).kind == snapshot_event_kind::snapshot;
    }
    CHECK(whole == 2);
    CHECK(patient.receiver.ack() == 12);
    CHECK(same(*patient.receiver.past().find(10), first));
}

TEST_CASE("snapshot receiver: a late part does not push out what is newer") {
    server_half s;
    auto const first = large_snapshot(4000, 1);
    auto const second = large_snapshot(4000, 2);
    auto const late = messages_of(*s.sender.send(10, test::view_of(first), *scratch));
    auto const now = messages_of(*s.sender.send(12, test::view_of(second), *scratch));
    client_half c{protocol::ddnet, snapshot_listening::observer, 1};
    CHECK((c.take(now[0], *scratch).kind == snapshot_event_kind::part));
    CHECK((c.take(late[0], *scratch).kind == snapshot_event_kind::ignored));
    snapshot_event e;
    for (std::size_t i = 1; i < now.size(); ++i) e = c.take(now[i], *scratch);
    REQUIRE((e.kind == snapshot_event_kind::snapshot));
    CHECK(same(e.snapshot, second));
    // And when it is done there is room for what was late.
    for (auto const& message : late) e = c.take(message, *scratch);
    REQUIRE((e.kind == snapshot_event_kind::snapshot));
    CHECK(same(e.snapshot, first));
}

TEST_CASE("snapshot receiver: parts of different snapshots of one tick are not put together") {
    auto const part = [](std::int32_t base, std::int32_t parts, std::int32_t number, std::int32_t checksum,
                         std::span<std::uint8_t const> data) {
        std::array<std::uint8_t, max_payload_bytes> bytes;
        packer out{bytes};
        out.add_int(describe(message_type::snap).id_06 << 1 | 1).add_int(10).add_int(10 - base);
        out.add_int(parts).add_int(number).add_int(checksum).add_int(static_cast<std::int32_t>(data.size()));
        out.add_raw(data);
        return test::copy_of(*out.finish());
    };
    // Three parts: an item of a type without a size, its ints packed into a byte each.
    std::size_t const ints = 2 * snapshot_part_bytes + 50;
    test::ints const head{0, 1, 0, 40, 1, static_cast<std::int32_t>(ints)};
    test::bytes packed(varint_bound(head.size()));
    packed.resize(*encode_varints(head, packed));
    packed.resize(packed.size() + ints, 1);
    auto const checksum = static_cast<std::int32_t>(ints);
    auto const piece = [&](std::size_t i) {
        auto const all = std::span<std::uint8_t const>{packed};
        return all.subspan(i * snapshot_part_bytes,
                           std::min(snapshot_part_bytes, all.size() - i * snapshot_part_bytes));
    };
    struct head_of_other {
        std::int32_t base, parts, checksum;
    };
    for (auto const& other : {head_of_other{-1, 3, checksum + 1}, head_of_other{4, 3, checksum},
                              head_of_other{-1, 4, checksum}, head_of_other{-1, 2, checksum}}) {
        CAPTURE(other.base);
        CAPTURE(other.parts);
        CAPTURE(other.checksum);
        client_half c;
        CHECK((c.take(part(other.base, other.parts, 0, other.checksum, piece(0)), *scratch).kind ==
               snapshot_event_kind::part));
        CHECK((c.take(part(-1, 3, 1, checksum, piece(1)), *scratch).kind == snapshot_event_kind::part));
        CHECK((c.take(part(-1, 3, 2, checksum, piece(2)), *scratch).kind == snapshot_event_kind::part));
        auto const e = c.take(part(-1, 3, 0, checksum, piece(0)), *scratch);
        REQUIRE((e.kind == snapshot_event_kind::snapshot));
        CHECK(e.snapshot.checksum() == ints);
    }
}

TEST_CASE("snapshot receiver: a missing base asks for everything") {
    server_half s;
    client_half c;
    auto const a = one_item(1);
    auto const b = one_item(2);
    static_cast<void>(s.sender.send(10, test::view_of(a), *scratch)); // lost
    CHECK(s.sender.acknowledge(10));
    auto sent = messages_of(*s.sender.send(12, test::view_of(b), *scratch));
    auto e = c.take(sent[0], *scratch);
    CHECK((e.kind == snapshot_event_kind::missing_base));
    CHECK(e.base_tick == 10);
    CHECK(c.receiver.ack() == -1);
    CHECK_FALSE(c.receiver.take_urgent()); // it was -1 before
    CHECK(s.sender.acknowledge(c.receiver.ack()));
    sent = messages_of(*s.sender.send(14, test::view_of(b), *scratch));
    e = c.take(sent[0], *scratch);
    REQUIRE((e.kind == snapshot_event_kind::snapshot));
    CHECK(e.base_tick == -1);
    CHECK(c.receiver.ack() == 14);

    CHECK((c.take(test::from_hex("0d 14 01"), *scratch).kind == snapshot_event_kind::missing_base));
    CHECK(c.receiver.take_urgent());
    CHECK_FALSE(c.receiver.take_urgent());
    CHECK(c.receiver.ack() == -1);
}

TEST_CASE("snapshot receiver: wrong checksums are dropped, and after eleven it starts over") {
    server_half s;
    client_half c;
    auto const a = one_item(1);
    auto good = messages_of(*s.sender.send(10, test::view_of(a), *scratch))[0];
    CHECK((c.take(good, *scratch).kind == snapshot_event_kind::snapshot));
    std::int32_t tick = 12;
    for (int i = 0; i < 11; ++i, tick += 2) {
        CHECK(c.receiver.ack() == 10);
        auto bad = messages_of(*s.sender.send(tick, test::view_of(a), *scratch))[0];
        bad.back() ^= 1;
        auto const e = c.take(bad, *scratch);
        CHECK((e.kind == snapshot_event_kind::damaged));
        CHECK(e.error == failure{errc::bad_checksum, 0});
        CHECK(e.delta.size() > 3);
    }
    CHECK(c.receiver.ack() == -1);
    CHECK(c.receiver.take_urgent());
}

TEST_CASE("snapshot receiver: an unchanged snapshot is stored under its own tick") {
    server_half s;
    client_half c;
    auto const a = one_item(1);
    static_cast<void>(c.take(messages_of(*s.sender.send(10, test::view_of(a), *scratch))[0], *scratch));
    CHECK(s.sender.acknowledge(10));
    auto const e = c.take(messages_of(*s.sender.send(12, test::view_of(a), *scratch))[0], *scratch);
    REQUIRE((e.kind == snapshot_event_kind::snapshot));
    CHECK_FALSE(e.has_checksum);
    CHECK(e.delta.empty());
    CHECK(same(e.snapshot, a));
    CHECK(c.receiver.ack() == 12);
    CHECK(same(*c.receiver.past().find(12), a));
}

TEST_CASE("snapshot receiver: a history that is too small costs bases and nothing else") {
    std::vector<snapshot_parts> parts(1);
    std::vector<history::entry> entries(3);
    test::ints block(40);
    snapshot_receiver receiver{parts, entries, block, {}};
    server_half s;
    for (std::int32_t tick = 2; tick < 200; tick += 2) {
        auto const a = one_item(tick % 6 == 0 ? tick : 7, 8);
        auto const message = messages_of(*s.sender.send(tick, test::view_of(a), *scratch))[0];
        auto const m = parse_message(message);
        REQUIRE(m);
        auto const e = receiver.receive(*m, *scratch);
        REQUIRE((e.kind == snapshot_event_kind::snapshot));
        CHECK(same(e.snapshot, a));
        CHECK(s.sender.acknowledge(receiver.ack()));
    }
    auto const large = one_item(1, 60);
    auto const message = messages_of(*s.sender.send(200, test::view_of(large), *scratch))[0];
    auto const m = parse_message(message);
    auto const e = receiver.receive(*m, *scratch);
    CHECK((e.kind == snapshot_event_kind::damaged));
    CHECK(e.error.code == errc::too_large);
}

TEST_CASE("snapshot receiver: an observer begins anew when ticks do") {
    client_half c{protocol::ddnet, snapshot_listening::observer, 2};
    CHECK((c.take(test::from_hex("0d 80 b8 03 81 b8 03"), *scratch).kind == snapshot_event_kind::snapshot));
    CHECK((c.take(test::from_hex("0d 02 03"), *scratch).kind == snapshot_event_kind::snapshot));
    CHECK(c.receiver.ack() == 2);
    CHECK(c.receiver.past().size() == 1);
    client_half live;
    CHECK((live.take(test::from_hex("0d 80 b8 03 81 b8 03"), *scratch).kind == snapshot_event_kind::snapshot));
    CHECK((live.take(test::from_hex("0d 02 03"), *scratch).kind == snapshot_event_kind::ignored));
    live.receiver.reset();
    CHECK((live.take(test::from_hex("0d 02 03"), *scratch).kind == snapshot_event_kind::snapshot));
}

TEST_CASE("snapshot receiver: what is no snapshot is left alone") {
    client_half c;
    CHECK((c.take(test::from_hex("13 85 b7 01 3b"), *scratch).kind == snapshot_event_kind::other));
    auto const e = c.take(test::from_hex("0f 0a"), *scratch);
    CHECK((e.kind == snapshot_event_kind::malformed));
    CHECK(e.error.code == errc::truncated);
    CHECK(c.receiver.ack() == -1);
}

// ---- both ----------------------------------------------------------------------------------------------------------

namespace {

/// A world that changes a little every tick.
class world {
public:
    world(test::random& rng, std::size_t items, protocol p = protocol::ddnet) : rng_{rng}, sizes_{sizes_of(p)} {
        for (std::size_t i = 0; i < items; ++i) add(i);
    }
    test::ints const& step() {
        for (auto& i : items_)
            for (auto& value : i.data)
                if (rng_.chance(1)) value += static_cast<std::int32_t>(rng_.below(100)) - 50;
        if (rng_.chance(20) && !items_.empty())
            items_.erase(items_.begin() + static_cast<long>(rng_.below(items_.size())));
        if (rng_.chance(25)) add(next_id_);
        if (rng_.chance(5)) return now_; // nothing was seen to change
        now_ = test::layout(items_);
        return now_;
    }

private:
    void add(std::size_t id) {
        next_id_ = id + 1;
        std::uint16_t const type = id % 2 == 0 ? 9 : 40;
        test::plain_item i{make_key(type, static_cast<std::uint16_t>(id)), test::ints(type == 9 ? sizes_[9] : 12)};
        for (auto& value : i.data) value = rng_.value();
        items_.push_back(i);
    }
    test::random& rng_;
    size_table const& sizes_;
    test::plain_items items_;
    test::ints now_ = {0, 0};
    std::size_t next_id_ = 0;
};

} // namespace

TEST_CASE("snapshots get through a bad link: whatever is decoded is what was sent") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        CAPTURE(seed);
        test::random rng{seed};
        world w{rng, seed % 2 == 0 ? 20U : 120U};
        server_half s{protocol::ddnet, 1 << 20, max_snapshot_parts};
        client_half c;
        bool const bad = seed != 0;
        test::link_quality const quality = bad ? test::link_quality{20, 20, 20, 100} : test::link_quality{};
        test::lossy_link down{seed, quality};
        test::lossy_link up{seed + 99, quality};
        std::map<std::int32_t, test::ints> sent;
        std::size_t decoded = 0;
        std::size_t deltas = 0;
        std::size_t wrong = 0;
        std::size_t missing = 0;
        for (std::int32_t tick = 1; tick < 3000; ++tick) {
            std::int64_t const now = tick * 20;
            for (auto const& input : up.arrived(now)) {
                auto const m = parse_message(input);
                REQUIRE(m);
                auto const in = decode<messages::input>(*m, protocol::ddnet);
                REQUIRE(in);
                static_cast<void>(s.sender.acknowledge(in->ack));
            }
            auto const& snapshot = w.step();
            if (s.sender.due(tick)) {
                auto const encoded = s.sender.send(tick, test::view_of(snapshot), *scratch);
                REQUIRE(encoded);
                snapshot_messages messages = *encoded;
                sent[tick] = snapshot;
                for (std::span<std::uint8_t const> message; messages.next(message);) down.send(message, now);
            }
            for (auto const& message : down.arrived(now)) {
                auto const e = c.take(message, *scratch);
                wrong += e.kind == snapshot_event_kind::damaged || e.kind == snapshot_event_kind::malformed;
                missing += e.kind == snapshot_event_kind::missing_base;
                if (e.kind != snapshot_event_kind::snapshot) continue;
                ++decoded;
                deltas += e.base_tick >= 0;
                REQUIRE(sent.contains(e.tick));
                CHECK(e.snapshot.checksum() == test::view_of(sent[e.tick]).checksum());
                CHECK(e.snapshot.size() == test::view_of(sent[e.tick]).size());
            }
            if (tick % 2 == 0) {
                messages::input in;
                in.ack = c.receiver.ack();
                in.tick = tick + 3;
                std::array<std::uint8_t, 128> memory;
                up.send(*encode(in, protocol::ddnet, memory), now);
            }
        }
        CHECK(wrong == 0);
        if (!bad) CHECK(missing == 0);
        CHECK(decoded > (bad ? 300 : 1400));
        CHECK(deltas > decoded * 9 / 10);
    }
}

TEST_CASE("sender, connection and receiver together, over a bad link") {
    for (protocol const p : protocols) {
        CAPTURE(std::string{name(p)});
        test::random rng{77};
        world w{rng, 0, p};
        wire_format const format = p == protocol::teeworlds_07 ? wire_format::v07 : wire_format::ddnet;
        connection_memory<> server_memory;
        connection_memory<> client_memory;
        auto server = connection::server(format, {11, 22}, server_memory, 0);
        auto client = connection::server(format, {22, 11}, client_memory, 0); // the handshake is tested elsewhere
        if (format == wire_format::ddnet) {
            server = connection::server(format, {11, 11}, server_memory, 0);
            client = connection::server(format, {11, 11}, client_memory, 0);
        }
        server_half s{p};
        client_half c{p};
        test::lossy_link down{1, {20, 20, 20, 100}};
        test::lossy_link up{2, {20, 20, 20, 100}};
        packet_memory out;
        payload_memory payload;
        std::map<std::int32_t, std::uint32_t> checksums;
        std::size_t decoded = 0;
        std::uint32_t chats = 0;
        std::uint32_t heard = 0;
        for (std::int32_t tick = 1; tick < 4000; ++tick) {
            milliseconds const now = tick * 20;
            for (auto const& d : up.arrived(now)) {
                if (server.receive(d, now, payload).kind != received_kind::chunks) continue;
                for (chunk in; server.next_chunk(in);) {
                    auto const m = parse_message(in.data);
                    REQUIRE(m);
                    REQUIRE((identify(*m, p) == message_type::input));
                    static_cast<void>(s.sender.acknowledge(decode<messages::input>(*m, p)->ack));
                }
            }
            auto const send_down = [&](std::span<std::uint8_t const> d) { down.send(d, now); };
            auto const& snapshot = w.step();
            if (s.sender.due(tick)) {
                auto const encoded = s.sender.send(tick, test::view_of(snapshot), *scratch);
                REQUIRE(encoded);
                snapshot_messages messages = *encoded;
                checksums[tick] = test::view_of(snapshot).checksum();
                for (std::span<std::uint8_t const> message; messages.next(message);)
                    REQUIRE(server.queue(message, false, now, out, send_down) == failure{});
            }
            if (rng.chance(20)) {
                std::string const text = std::to_string(chats);
                std::array<std::uint8_t, 64> memory;
                auto const message = encode(messages::chat{0, -1, -1, text}, p, memory);
                REQUIRE(message);
                if (server.queue(*message, true, now, out, send_down) == failure{}) ++chats;
            }
            server.flush();
            for (auto d = server.poll(now, out); !d.empty(); d = server.poll(now, out)) send_down(d);

            for (auto const& d : down.arrived(now)) {
                if (client.receive(d, now, payload).kind != received_kind::chunks) continue;
                for (chunk in; client.next_chunk(in);) {
                    auto const m = parse_message(in.data);
                    REQUIRE(m);
                    if (identify(*m, p) == message_type::chat) {
                        CHECK(decode<messages::chat>(*m, p)->text == std::to_string(heard));
                        ++heard;
                        continue;
                    }
                    auto const e = c.receiver.receive(*m, *scratch);
                    CHECK((e.kind != snapshot_event_kind::damaged));
                    CHECK((e.kind != snapshot_event_kind::malformed));
                    if (e.kind != snapshot_event_kind::snapshot) continue;
                    ++decoded;
                    CHECK(e.snapshot.checksum() == checksums.at(e.tick));
                }
            }
            messages::input in;
            in.ack = c.receiver.ack();
            in.tick = tick + 3;
            std::array<std::uint8_t, 128> memory;
            auto const message = encode(in, p, memory);
            REQUIRE(client.queue(*message, false, now) == failure{});
            client.flush();
            for (auto d = client.poll(now, out); !d.empty(); d = client.poll(now, out)) up.send(d, now);
        }
        CHECK((server.state() == connection_state::online));
        CHECK((client.state() == connection_state::online));
        CHECK(decoded > 1000);
        CHECK(chats > 500);
        CHECK(heard + 40 > chats);
    }
}

TEST_CASE("snapshot receiver: mutated messages never do harm") {
    test::random rng{31};
    for (snapshot_listening const listening : {snapshot_listening::client, snapshot_listening::observer}) {
        for (int round = 0; round < 30; ++round) {
            server_half s{protocol::ddnet, 1 << 20, max_snapshot_parts};
            client_half c{protocol::ddnet, listening, 3};
            world w{rng, rng.below(100)};
            for (std::int32_t tick = 2; tick < 120; tick += 2) {
                auto const& snapshot = w.step();
                auto const sent = s.sender.send(tick, test::view_of(snapshot), *scratch);
                REQUIRE(sent);
                for (auto message : messages_of(*sent)) {
                    if (rng.chance(40)) {
                        for (std::size_t n = 1 + rng.below(3); n-- > 0 && !message.empty();) {
                            if (rng.chance(20)) message.resize(rng.below(message.size() + 1));
                            else message[rng.below(std::min<std::size_t>(message.size(), 40))] = rng.byte();
                        }
                    }
                    auto const e = c.take(message, *scratch);
                    if (e.kind == snapshot_event_kind::snapshot)
                        CHECK(c.receiver.past().find(e.tick)->checksum() == e.snapshot.checksum());
                }
                static_cast<void>(s.sender.acknowledge(c.receiver.ack()));
            }
        }
    }
}
