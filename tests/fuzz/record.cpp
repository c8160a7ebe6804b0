// A client that records an untrusted server: messages of any kind over a connection, snapshots, maps and whole
// datagrams. The written demo can be read.
#include "program.hpp"
#include "world.hpp"

#include "recording/demo/demo_file.hpp"
#include "recording/server/game_client.hpp"

#include <teewire/handshake.hpp>
#include <teewire/snapshot_sender.hpp>

#include <optional>

#include <zlib.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

constexpr std::size_t most_demos = 3;

// As the verb does it.
struct recorder final : client_listener {
    void map_changes(served_map const&) override { finish(); }
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) override {
        if (demos.size() == most_demos) return;
        captured.emplace();
        file.emplace(std::make_unique<output_file>(output_choice{}, content::binary), spoken, map, bytes, 0);
    }
    void receives(snapshot_event const& event) override {
        if (file && event.kind == snapshot_event_kind::snapshot)
            written += file->write_snapshot(event.tick, event.snapshot);
    }
    void receives(message const&, message_type, std::span<std::uint8_t const> bytes, bool vital) override {
        if (file) file->write_message(bytes, vital);
    }
    void finish() {
        if (!file) return;
        bool const kept = file->finish();
        FUZZ_REQUIRE(kept == (file->snapshots() > 0) && file->snapshots() == written);
        file.reset();
        captured->restore();
        if (kept) demos.push_back(captured->out());
        captured.reset();
        written = 0;
    }

    protocol spoken = protocol::ddnet;
    std::optional<fuzz::captured_output> captured;
    std::optional<demo_file> file;
    std::uint64_t written = 0;
    std::vector<std::string> demos;
};

struct memory {
    snapshot_scratch scratch;
    connection_memory<> sent;
    packet_memory out;
    payload_memory payload;
    std::array<history::entry, 20> entries;
    std::array<std::int32_t, 60000> block;
};

class stage {
public:
    stage(wire_format format, recorder& listener)
        : v07_{format == wire_format::v07}, sizes_{v07_ ? sizes_07 : sizes_06},
          client_{format, profile(), {7, 7, 7}, listener, fuzz::lasting<snapshot_scratch>(), now_},
          sender_{m_.entries, m_.block, {v07_ ? protocol::teeworlds_07 : protocol::ddnet, &sizes_}}, world_{
                                                                                                         sizes_} {
        exchange(200);
    }

    void step(fuzz::input& in) {
        std::uint8_t const what = in.byte();
        switch (what % 8) {
        case 0: give(in.take(in.word() % 1500U)); break;
        case 1:
        case 2: say(in.take(in.word() % 1000U), what / 8 % 4 != 0); break;
        case 3: exchange(10 * (1 + in.byte())); break;
        case 4: announce(what / 8 % 4 == 0 ? in.integer() : 300); break;
        case 5: {
            messages::map_data data;
            data.data = bytes_view_of(map_, in.word(), 1 + in.word() % 900U);
            data.number = what / 8 % 4 == 0 ? in.integer() : pieces_++;
            data.last = what / 8 % 2 == 0;
            data.crc = crc();
            say_typed(data);
            break;
        }
        case 6: say_typed(messages::ready_to_enter{}); break;
        default: {
            int const changes = what / 8 % 4;
            for (int i = 0; i < changes; ++i) static_cast<void>(world_.change(in));
            tick_ = what >= 0xe0 || tick_ > INT32_MAX - 2 ? in.integer() : tick_ + 2;
            auto const ints = fuzz::lay_out(world_.items());
            auto const messages = sender_.send(tick_, fuzz::view_of(ints), m_.scratch);
            if (!messages) break;
            auto parts = *messages;
            for (std::span<std::uint8_t const> part; parts.next(part);) say(part, false);
            sender_.acknowledge(tick_);
        }
        }
    }
    void end() {
        exchange(300);
        client_.leave("enough");
        exchange(20);
    }

private:
    static client_profile profile() {
        client_profile p;
        p.history_ints = std::size_t{1} << 16;
        return p;
    }
    static fuzz::bytes_view bytes_view_of(std::vector<std::uint8_t> const& all, std::size_t at, std::size_t size) {
        at = std::min(at, all.size());
        return fuzz::bytes_view{all}.subspan(at, std::min(size, all.size() - at));
    }
    [[nodiscard]] std::uint32_t crc() const {
        return static_cast<std::uint32_t>(crc32_z(0, map_.data(), map_.size()));
    }
    [[nodiscard]] protocol item_protocol() const { return v07_ ? protocol::teeworlds_07 : protocol::ddnet; }

    void announce(std::int32_t size) {
        messages::map_change m;
        m.name = "dm1";
        m.crc = crc();
        m.size = size;
        m.chunks_per_request = 2;
        m.chunk_size = 100;
        pieces_ = 0;
        sender_.reset();
        say_typed(m);
    }
    template <class T>
    void say_typed(T const& value) {
        std::array<std::uint8_t, max_payload_bytes> room;
        if (auto const message = encode(value, item_protocol(), room)) say(*message, true);
    }
    void say(std::span<std::uint8_t const> message, bool vital) {
        if (!server_) return;
        // The connection refuses what a packet cannot hold.
        static_cast<void>(server_->queue(message, vital, now_, m_.out, [&](auto d) { give(d); }));
        server_->flush();
        exchange(20);
    }
    void exchange(milliseconds time) {
        for (milliseconds const end = std::min(now_ + time, longest); now_ < end; now_ += 10) {
            int answers = 0;
            for (auto d = client_.poll(now_); !d.empty(); d = client_.poll(now_)) {
                FUZZ_REQUIRE(++answers < 300 && d.size() <= max_packet_bytes);
                take({d.begin(), d.end()});
            }
            if (!server_) continue;
            for (auto d = server_->poll(now_, m_.out); !d.empty(); d = server_->poll(now_, m_.out)) give(d);
        }
    }
    void give(std::span<std::uint8_t const> datagram) {
        fuzz::exact<std::uint8_t> const copy{datagram};
        client_.receive(copy.view(), now_);
    }
    void take(std::vector<std::uint8_t> const& datagram) {
        static constexpr std::uint8_t from[] = {127, 0, 0, 1, 0x20, 0x6f};
        if (!server_) {
            auto const d = gate_.receive(datagram, from, now_, m_.out);
            std::vector<std::uint8_t> const reply{d.reply.begin(), d.reply.end()};
            if (d.what == server_gate::verdict::accept)
                server_ = connection::server(d.format, d.tokens, m_.sent, now_);
            if (!reply.empty()) give(reply);
            if (!server_ || !d.data) return;
        }
        if (server_->receive(datagram, now_, m_.payload).kind == received_kind::chunks)
            for (chunk c; server_->next_chunk(c);) {
            }
    }

    static constexpr milliseconds longest = 20'000;
    memory& m_ = fuzz::lasting<memory>();
    bool v07_;
    size_table const& sizes_;
    milliseconds now_ = 0;
    game_client client_;
    server_gate gate_{{3, 1, 4}, {true, true, true, true}};
    std::optional<connection> server_;
    snapshot_sender sender_;
    fuzz::world world_;
    std::int32_t tick_ = 100;
    std::vector<std::uint8_t> const map_ = std::vector<std::uint8_t>(300, std::uint8_t{9});
    std::int32_t pieces_ = 0;
};

void run_target(fuzz::bytes_view data) {
    static fuzz::command const& verify = *new fuzz::command{verify_verb, fuzz::form::text, {"@", "--jobs", "1"}};
    fuzz::cost_limit const limit{data.size() + (1 << 20)};
    fuzz::input in{data};
    auto const format = static_cast<wire_format>(in.byte() % 4);
    recorder listener;
    listener.spoken = format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
    stage all{format, listener};
    while (!in.empty()) all.step(in);
    all.end();
    listener.finish();
    for (std::string const& demo : listener.demos) {
        auto const found = verify.run({reinterpret_cast<std::uint8_t const*>(demo.data()), demo.size()});
        if (found.code != exit_ok) fuzz::fail(__FILE__, __LINE__, found.out.c_str());
    }
    limit.check(0);
}

} // namespace

FUZZ_TARGET("record", run_target)
