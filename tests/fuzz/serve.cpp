// An untrusted demo, replayed or shown live, and its clients: a harmless one, one that sends the input over a
// connection of its own, and addresses that send datagrams of any kind.
//
// Flags (1: again and again, 2: now), the size of the demo in two bytes, the demo, and steps.
#include "demo_mutator.hpp"
#include "program.hpp"

#include "base/input.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/server/game_client.hpp"
#include "serve/live_show.hpp"
#include "serve/playback.hpp"
#include "serve/replay_server.hpp"

#include <map>
#include <optional>

using namespace teewire;
using namespace teewire::replay;

namespace {

endpoint address(std::uint32_t ip, std::uint16_t port) { return {boost::asio::ip::address_v4{ip}, port}; }

struct honest_client final : client_listener {
    explicit honest_client(wire_format format, milliseconds now)
        : client{format, profile(), {7, 7, 7}, *this, fuzz::lasting<snapshot_scratch>(), now} {}
    static client_profile profile() {
        client_profile p;
        p.history_ints = std::size_t{1} << 16;
        return p;
    }
    void map_changes(served_map const&) override {
        has_map = false;
        newest = -1;
        snapshots = 0;
    }
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const&, std::vector<std::uint8_t>&&) override { has_map = true; }
    void receives(snapshot_event const& event) override {
        FUZZ_REQUIRE(event.kind != snapshot_event_kind::damaged && event.kind != snapshot_event_kind::malformed);
        if (event.kind != snapshot_event_kind::snapshot) return;
        FUZZ_REQUIRE(event.tick > newest);
        newest = event.tick;
        ++snapshots;
    }
    void receives(message const&, message_type, std::span<std::uint8_t const>, bool) override {}

    bool has_map = false;
    std::int32_t newest = -1;
    std::size_t snapshots = 0;
    game_client client;
};

milliseconds now_ = 0;

// The show, and how the input changes it.
class director {
public:
    virtual show& shown() = 0;
    virtual void go_on() {}
    virtual void steer(std::uint8_t how, fuzz::input& in) = 0;
    // Shows something to every client.
    virtual void settle() {}
    // Whether there has been a snapshot since then: a demo may have none that can be shown.
    [[nodiscard]] virtual bool gives() const { return true; }

protected:
    ~director() = default;
};

class replayed final : public director {
public:
    replayed(demo_document& demo, bool loop, std::span<std::uint8_t const> map) : shown_{demo, loop, {}} {
        shown_.set_map("made_up", map);
    }
    show& shown() override { return shown_; }
    void steer(std::uint8_t how, fuzz::input& in) override {
        if (how == 0) shown_.seek(in.integer());
        else if (how == 1) shown_.set_speed(in.byte() / 16.0);
        else shown_.pause(how == 2);
    }

private:
    playback shown_;
};

class happening final : public director {
public:
    happening(demo_document& demo, bool loop, std::span<std::uint8_t const> map)
        : demo_{demo}, player_{demo.player()}, loop_{loop}, map_{map} {
        begin(demo.item_protocol(), "made_up", map);
    }
    show& shown() override { return shown_; }
    void go_on() override {
        for (; now_ >= next_; next_ += 40) play();
    }
    void steer(std::uint8_t how, fuzz::input& in) override {
        stream_event e;
        switch (how) {
        case 0: {
            std::uint8_t const what = in.byte();
            begin(static_cast<protocol>(what % 3), std::string(what / 64U, 'm'), map_.first(what / 4U));
            break;
        }
        case 1: moved_ = in.number(); break;
        case 2: next_ += 100 * in.byte(); break;
        default: {
            auto const said = in.take(in.word() % 2000U);
            e.kind = event_kind::message;
            e.message = said;
            shown_.put(e);
        }
        }
    }
    void settle() override {
        next_ = now_;
        moved_ = 0;
        given_ = 0;
        begin(demo_.item_protocol(), "made_up", map_);
    }
    [[nodiscard]] bool gives() const override { return given_ > 0; }

private:
    void begin(protocol p, std::string name, std::span<std::uint8_t const> map) {
        recording_info what;
        what.version = p;
        what.map.name = std::move(name);
        what.map_bytes = map;
        stream_event e;
        e.kind = event_kind::begin;
        e.begun = &what;
        shown_.put(e);
    }
    // Up to the next marker.
    void play() {
        for (demo_event d; player_.next(d);) {
            stream_event e;
            if (d.kind == demo_event_kind::tick) tick_ = static_cast<std::uint32_t>(d.tick);
            e.tick = static_cast<std::int32_t>(tick_ + moved_);
            e.kind = d.kind == demo_event_kind::message    ? event_kind::message
                     : d.kind == demo_event_kind::snapshot ? event_kind::snapshot
                                                           : event_kind::tick;
            e.message = d.message;
            e.state = player_.state();
            shown_.put(e);
            given_ += e.kind == event_kind::snapshot && e.tick >= 0;
            if (d.kind == demo_event_kind::tick) return;
        }
        if (loop_) static_cast<void>(player_.seek(demo_.overview().first_tick, demo_.keyframes()));
    }

    demo_document& demo_;
    demo_player& player_;
    bool loop_;
    std::span<std::uint8_t const> map_;
    live_show shown_{[] { return now_; }};
    milliseconds next_ = 0;
    std::uint32_t tick_ = 0;
    std::uint32_t moved_ = 0;
    std::uint64_t given_ = 0; // snapshots since settle()
};

class stage final : packet_sink {
public:
    stage(director& what, bool changes)
        : what_{what}, changes_{changes}, format_{what.shown().is_07() ? wire_format::v07 : wire_format::ddnet},
          server_{
              what.shown(), {.name = "fuzz", .limits = {.viewers = 4, .viewers_per_address = 2}}, {5}, *this, 0} {
        honest_.emplace(format_, 0);
    }

    void wait(milliseconds time) {
        for (milliseconds const end = std::min(now_ + time, longest_); now_ < end; now_ += 20) {
            what_.go_on();
            if (now_ >= server_.next_tick()) server_.tick(now_);
            poll();
        }
    }
    void step(fuzz::input& in) {
        std::uint8_t const what = in.byte();
        switch (what % 8) {
        case 0: {                          // of an address that has proven nothing
            bool const near = what >= 128; // the browser is answered in the local network
            auto const datagram = in.take(in.word() % 1500U);
            if (!near) heard_ += datagram.size();
            server_.receive(datagram, near ? neighbour_address : stranger_address, now_);
            break;
        }
        case 1: // over a connection
        case 2:
            if (hostile_) server_.receive(in.take(in.word() % 1500U), hostile_address, now_);
            break;
        case 3:
        case 4:
            if (hostile_) {
                auto const said = in.take(in.word() % 1000U);
                static_cast<void>(hostile_->queue(said, what / 8 % 2 == 0, now_));
                hostile_->flush();
                poll();
            }
            break;
        case 5: wait(10 * (1 + in.byte())); break;
        case 6: what_.steer(what / 8 % 4, in); break;
        default: // joins again
            if (hostile_) hostile_->close("enough");
            poll();
            hostile_ = connection::client(static_cast<wire_format>(what / 8 % 4), 0x20202020,
                                          fuzz::lasting<connection_memory<>>(), now_);
            wait(100);
        }
    }
    // Whatever the others did, the one who means no harm has a game.
    void check() {
        longest_ += 3000;
        what_.settle();
        // It got the message that it cannot watch something of another protocol, or without a map.
        wait(20);
        if (changes_ && honest_->client.closed()) honest_.emplace(format_, now_);
        while (honest_->snapshots == 0 && now_ < longest_) wait(100);
        FUZZ_REQUIRE(answered_ <= heard_);
        FUZZ_REQUIRE(server_.viewers() <= 4);
        FUZZ_REQUIRE(!honest_->client.closed() && honest_->has_map && honest_->client.playing());
        FUZZ_REQUIRE(honest_->snapshots > 0 || !what_.gives());
    }

private:
    inline static endpoint const honest_address = address(0x0a000002, 4000);
    inline static endpoint const hostile_address = address(0x0a000003, 4000);
    inline static endpoint const neighbour_address = address(0x0a000004, 4000);
    inline static endpoint const stranger_address = address(0xcb007105, 4000);

    void poll() {
        for (auto d = honest_->client.poll(now_); !d.empty(); d = honest_->client.poll(now_))
            server_.receive(copy(d), honest_address, now_);
        for (auto const& d : std::exchange(to_honest_, {})) honest_->client.receive(d, now_);
        if (!hostile_) return;
        packet_memory& out = fuzz::lasting<packet_memory>();
        for (auto d = hostile_->poll(now_, out); !d.empty(); d = hostile_->poll(now_, out))
            server_.receive(copy(d), hostile_address, now_);
        for (auto const& d : std::exchange(to_hostile_, {}))
            if (hostile_->receive(d, now_, fuzz::lasting<payload_memory>()).kind == received_kind::chunks)
                for (chunk c; hostile_->next_chunk(c);) {
                }
    }
    static std::vector<std::uint8_t> copy(std::span<std::uint8_t const> d) { return {d.begin(), d.end()}; }
    void send(endpoint const& to, std::span<std::uint8_t const> datagram) override {
        FUZZ_REQUIRE(!datagram.empty() && datagram.size() <= max_packet_bytes);
        if (to == honest_address) to_honest_.push_back(copy(datagram));
        else if (to == hostile_address) to_hostile_.push_back(copy(datagram));
        else if (to == stranger_address) answered_ += datagram.size();
    }

    director& what_;
    bool changes_;
    wire_format format_;
    milliseconds longest_ = 3000;
    replay_server server_;
    std::optional<honest_client> honest_;
    std::optional<connection> hostile_;
    std::vector<std::vector<std::uint8_t>> to_honest_, to_hostile_;
    std::size_t heard_ = 0;    // of the untrusted peers
    std::size_t answered_ = 0; // to them
};

void run_target(fuzz::bytes_view data) {
    fuzz::cost_limit const limit{data.size() + (1 << 20)}; // some seconds of a game
    static auto const& file = *new fuzz::memory_file;
    static auto const& map = *new std::vector<std::uint8_t>(3000, std::uint8_t{7});
    fuzz::input in{data};
    std::uint8_t const flags = in.byte();
    bool const loop = (flags & 1) != 0;
    bool const live = (flags & 2) != 0;
    now_ = 0;
    file.assign(in.take(in.word()));
    try {
        input const source{file.path()};
        demo_document demo{source};
        auto const run = [&](director&& what) {
            stage all{what, live};
            all.wait(200);
            while (!in.empty()) all.step(in);
            all.check();
        };
        if (live) run(happening{demo, loop, map});
        else run(replayed{demo, loop, map});
    } catch (bad_input const&) {
    } catch (usage_error const&) {
    }
    limit.check(0);
}

// After the flags: the demo, with its size before it.
bool mutate(fuzz::bytes& input, fuzz::dice& random) {
    constexpr std::size_t head = 2;
    fuzz::input in{input};
    auto const demo = in.take(in.word());
    fuzz::bytes changed{demo.begin(), demo.end()};
    if (!fuzz::mutate_demo(changed, random) || changed.size() > UINT16_MAX) return false;
    fuzz::replace(input, {head, head + demo.size()}, changed);
    input[0] = static_cast<std::uint8_t>(changed.size());
    input[1] = static_cast<std::uint8_t>(changed.size() >> 8);
    return true;
}

} // namespace

FUZZ_TARGET("serve", run_target)
FUZZ_MUTATOR(1, mutate)
