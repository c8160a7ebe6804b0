// A server's half and a client's half of sending snapshots, over a link that loses, repeats, delays and mixes as the
// input says: the client must never have a snapshot that the server did not have, and must recover when all is well.
#include "world.hpp"

#include <teewire/snapshot_receiver.hpp>
#include <teewire/snapshot_sender.hpp>

#include <map>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

auto& scratch = fuzz::lasting<snapshot_scratch>();
auto& blocks = fuzz::lasting<std::array<std::array<std::int32_t, 65536>, 2>>();
auto& parts = fuzz::lasting<std::array<snapshot_parts, 3>>();

using sorted_items = std::vector<fuzz::loose_item>;

sorted_items sorted(sorted_items items) {
    std::sort(items.begin(), items.end());
    return items;
}

struct session {
    session(protocol p, snapshot_listening listening, std::uint8_t room)
        : sizes{p == protocol::teeworlds_07 ? sizes_07 : sizes_06}, sent_entries{2U + room % 64},
          sent_block{std::span{blocks[0]}.first(std::size_t{512} << room % 8)}, got_entries{2U + room / 2},
          got_block{std::span{blocks[1]}.first(std::size_t{512} << room / 16 % 8)}, version{p},
          is_observer{listening == snapshot_listening::observer}, sender{sent_entries.span(),
                                                                         sent_block,
                                                                         {p, &sizes, max_snapshot_parts}},
          receiver{std::span{parts}.first(is_observer ? 3 : 1),
                   got_entries.span(),
                   got_block,
                   {p, &sizes, listening, decoding::strict, nullptr}},
          now{sizes} {}

    size_table const& sizes;
    exact<history::entry> sent_entries;
    std::span<std::int32_t> sent_block;
    exact<history::entry> got_entries;
    std::span<std::int32_t> got_block;
    protocol version;
    bool is_observer;
    snapshot_sender sender;
    snapshot_receiver receiver;
    fuzz::world now;
    std::map<std::int32_t, sorted_items> was; // by tick
    std::vector<std::vector<std::uint8_t>> on_the_way;
    std::int32_t tick = 1;
    bool received = false; // a snapshot, since it was last cleared

    // Makes a snapshot and puts its messages on the way.
    bool send() {
        std::vector<std::int32_t> const ints = fuzz::lay_out(now.items());
        auto const sent = sender.send(tick, snapshot_view::trusted(ints), scratch);
        if (!sent) {
            FUZZ_REQUIRE(sent.error().code == errc::too_large || sent.error().code == errc::size_mismatch);
            return false;
        }
        was[tick] = sorted(now.items());
        auto messages = *sent;
        std::size_t count = 0;
        for (std::span<std::uint8_t const> m; messages.next(m); ++count) {
            FUZZ_REQUIRE(m.size() <= max_snapshot_message_bytes);
            on_the_way.emplace_back(m.begin(), m.end());
        }
        FUZZ_REQUIRE(count == sent->parts() && sent->base_tick() < tick);
        return true;
    }

    void deliver(std::size_t number, bool again) {
        if (number >= on_the_way.size()) return;
        exact<std::uint8_t> const bytes{std::span<std::uint8_t const>{on_the_way[number]}};
        if (!again) on_the_way.erase(on_the_way.begin() + static_cast<std::ptrdiff_t>(number));
        auto const m = parse_message(bytes.view());
        FUZZ_REQUIRE(m);
        auto const event = receiver.receive(*m, scratch);
        FUZZ_REQUIRE(event.kind != snapshot_event_kind::other && event.kind != snapshot_event_kind::malformed);
        if (event.kind == snapshot_event_kind::damaged) // nothing is damaged here; memory may be short
            FUZZ_REQUIRE(event.error.code == errc::too_large);
        if (event.kind != snapshot_event_kind::snapshot) return;
        received = true;
        auto const expected = was.find(event.tick);
        FUZZ_REQUIRE(expected != was.end());
        FUZZ_REQUIRE(sorted(fuzz::items_of(event.snapshot)) == expected->second);
        auto const kept = receiver.past().find(event.tick);
        FUZZ_REQUIRE(kept && same(kept->ints(), event.snapshot.ints()));
        if (!is_observer) FUZZ_REQUIRE(receiver.ack() == event.tick);
    }

    void acknowledge() {
        std::int32_t const ack = receiver.ack();
        FUZZ_REQUIRE(ack == -1 || was.contains(ack));
        static_cast<void>(receiver.take_urgent());
        static_cast<void>(sender.acknowledge(ack));
    }
};

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    std::uint8_t const what = in.byte();
    session s{what % 2 ? protocol::teeworlds_07 : protocol::ddnet,
              what & 2 ? snapshot_listening::observer : snapshot_listening::client, in.byte()};
    for (int steps = 0; !in.empty() && steps < 400; ++steps) {
        std::uint8_t const step = in.byte();
        std::uint8_t const number = step / 8;
        switch (step % 8) {
        case 0: s.now.change(in); break;
        case 1: // a tick goes by, and another snapshot
        case 2:
            s.tick += 1 + number;
            s.send();
            break;
        case 3: s.deliver(number, false); break;
        case 4: s.deliver(number, true); break;
        case 5: // lost
            if (number < s.on_the_way.size()) s.on_the_way.erase(s.on_the_way.begin() + number);
            break;
        case 6: s.acknowledge(); break;
        default:
            if (number < 28) { // an old acknowledge, or one that was never sent
                static_cast<void>(s.sender.acknowledge(s.tick - number));
            } else {
                s.tick += 100;
                s.sender.reset();
                s.receiver.reset();
                s.on_the_way.clear();
            }
        }
    }
    // A full snapshot over a good link is always understood, if there is memory for it.
    s.on_the_way.clear();
    static_cast<void>(s.sender.acknowledge(-1));
    for (int i = 0; i < 3; ++i) {
        s.tick += 2;
        if (!s.send()) return;
        s.received = false;
        while (!s.on_the_way.empty()) s.deliver(0, false);
        bool const fits = s.got_block.size() >= 4 * (4 + fuzz::lay_out(s.now.items()).size());
        if (i == 0 && fits) FUZZ_REQUIRE(s.received);
        s.acknowledge();
    }
}

} // namespace

FUZZ_TARGET("transfer", run_target)
