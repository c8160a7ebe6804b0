// Traffic for tests on the loopback.
//   traffic play HOST:PORT 0.6|0.7 PLAYERS SECONDS    players that move about; SECONDS 0: as long as there is
//                                                     standard input, and `ready` when all are there
//   traffic watch HOST:PORT 0.6|0.7 VIEWERS SECONDS   spectators that keep still
//   traffic view HOST:PORT 0.6|0.7 X,Y FILE            a spectator whose camera is there, and who records what it sees to a
//                                                     demo, as long as there is standard input; `ready` when it sees
//   traffic flood HOST:PORT 0.6|0.7 PACKETS           malformed packets, and packets of connections that do not exist
// Prints what was received.
#include "recording/demo/demo_file.hpp"
#include "recording/server/udp_client.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>

#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

class player final : public client_listener {
public:
    player(boost::asio::io_context& io, snapshot_scratch& scratch, std::uint32_t seed, bool moves)
        : link_{io, [this] { move(); }}, scratch_{scratch}, random_{seed}, moves_{moves} {}

    void join(boost::asio::ip::udp::endpoint const& server, wire_format format, std::string const& name) {
        client_profile profile;
        profile.name = name;
        profile.spectate = !moves_;
        profile.history_ints = history_ints;
        profile.download_map = false;
        boost::system::error_code failed;
        link_.open(server, format, profile, *this, scratch_, failed);
        if (failed) fmt::print(stderr, "{}: {}\n", name, failed.message());
    }
    void leave() { link_.close("done"); }
    [[nodiscard]] bool playing() const {
        return link_.client() != nullptr && link_.client()->playing() && !link_.client()->closed();
    }
    [[nodiscard]] std::string trouble() const {
        return link_.client()->closed() ? link_.client()->close_text() : "";
    }
    [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }
    [[nodiscard]] std::uint64_t bad() const { return bad_; }
    [[nodiscard]] milliseconds largest_gap() const { return largest_gap_; }

    void map_changes(served_map const&) override {}
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const&, std::vector<std::uint8_t>&&) override {}
    void receives(snapshot_event const& event) override {
        if (event.kind == snapshot_event_kind::snapshot) {
            if (snapshots_++ > 0) largest_gap_ = std::max(largest_gap_, now() - latest_);
            latest_ = now();
        }
        bad_ += event.kind == snapshot_event_kind::damaged || event.kind == snapshot_event_kind::malformed;
    }
    void receives(message const&, message_type, std::span<std::uint8_t const>, bool) override {}

private:
    static constexpr std::size_t history_ints = 1 << 17; // there are many of them

    // Something else ten times a second.
    void move() {
        if (!moves_ || !playing() || now() < next_) return;
        next_ = now() + 100;
        auto const pick = [this](int from, int to) { return std::uniform_int_distribution{from, to}(random_); };
        auto const input = link_.client()->input();
        input[0] = pick(-1, 1);
        input[1] = pick(-300, 300);
        input[2] = pick(-300, 300);
        if (input[1] == 0 && input[2] == 0) input[1] = 1;
        input[3] = pick(0, 3) == 0;
        input[4] = (input[4] + (pick(0, 1) == 0)) & 63; // fires with each step
        input[5] = pick(0, 2) == 0;
        input[6] = link_.client()->version() == protocol::teeworlds_07 ? 0 : 1;
        input[7] = pick(0, 9) == 0 ? pick(1, 5) : 0;
        if (pick(0, 199) == 0) {
            messages::say say;
            say.mode = link_.client()->version() == protocol::teeworlds_07;
            say.text = "hello";
            link_.client()->send(say);
        }
    }

    udp_client link_;
    snapshot_scratch& scratch_;
    std::mt19937 random_;
    bool moves_;
    milliseconds next_ = 0;
    std::uint64_t snapshots_ = 0;
    std::uint64_t bad_ = 0;
    milliseconds latest_ = 0; // snapshot
    milliseconds largest_gap_ = 0;
};

// Looks at one place, and records.
class viewer final : public client_listener {
public:
    viewer(boost::asio::io_context& io, snapshot_scratch& scratch, std::int32_t x, std::int32_t y, std::string file)
        : link_{io, [this] { look(); }}, scratch_{scratch}, x_{x}, y_{y}, target_{{std::move(file), true}} {}

    void join(boost::asio::ip::udp::endpoint const& server, wire_format format) {
        client_profile profile;
        profile.name = fmt::format("at {} {}", x_, y_);
        profile.show_distance = 800; // stated, because the default depends on the server's version
        profile.download_map = false;
        boost::system::error_code failed;
        link_.open(server, format, profile, *this, scratch_, failed);
        if (failed) fmt::print(stderr, "{}\n", failed.message());
    }
    // Whether it got something.
    [[nodiscard]] bool finish() {
        link_.close("done");
        return demo_ && demo_->finish();
    }
    [[nodiscard]] bool sees() const { return demo_ && demo_->snapshots() > 10; }
    [[nodiscard]] bool gone() const { return link_.client()->closed(); }

    void map_changes(served_map const& map) override { map_ = map; }
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const&, std::vector<std::uint8_t>&&) override {}
    void receives(snapshot_event const& event) override {
        if (event.kind != snapshot_event_kind::snapshot) return;
        demo_file& d = demo();
        if (event.tick > d.last_tick()) d.write_snapshot(event.tick, event.snapshot);
    }
    void receives(message const&, message_type, std::span<std::uint8_t const> bytes, bool vital) override {
        demo().write_message(bytes, vital);
    }

private:
    // It goes there in steps, from wherever the server lets it begin.
    void look() {
        if (link_.client() == nullptr || !link_.client()->playing()) return;
        link_.client()->input()[1] = x_;
        link_.client()->input()[2] = y_;
    }
    demo_file& demo() {
        if (!demo_) demo_.emplace(target_.next(), link_.client()->version(), map_, std::span<std::uint8_t const>{});
        return *demo_;
    }

    udp_client link_;
    snapshot_scratch& scratch_;
    std::int32_t x_, y_;
    demo_target target_;
    served_map map_;
    std::optional<demo_file> demo_;
};

int view(boost::asio::ip::udp::endpoint const& server, wire_format format, char const* place, char const* file) {
    char* end = nullptr;
    auto const x = static_cast<std::int32_t>(std::strtol(place, &end, 10));
    auto const y = static_cast<std::int32_t>(std::strtol(*end == ',' ? end + 1 : end, nullptr, 10));
    boost::asio::io_context io;
    auto const scratch = std::make_unique<snapshot_scratch>();
    viewer seer{io, *scratch, x, y, file};
    seer.join(server, format);
    while (!seer.sees() && !seer.gone()) io.run_for(std::chrono::milliseconds{20});
    fmt::print("ready\n");
    std::fflush(stdout);
    boost::asio::posix::stream_descriptor told{io, ::dup(STDIN_FILENO)};
    told.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [&](boost::system::error_code) { io.stop(); });
    io.run();
    return !seer.gone() && seer.finish() ? 0 : 1;
}

// Whatever the size of the answers is, they must not be larger than what was sent.
int flood(boost::asio::ip::udp::endpoint const& server, bool v07, std::size_t count) {
    boost::asio::io_context io;
    // Some addresses, so that limits for one do not protect from all.
    std::deque<boost::asio::ip::udp::socket> sockets;
    for (int i = 0; i < 8; ++i) {
        auto& s = sockets.emplace_back(io, server.protocol());
        s.connect(server);
        s.non_blocking(true);
    }
    std::mt19937 random{1};
    std::uint64_t sent_bytes = 0;
    std::uint64_t answers = 0;
    std::uint64_t answer_bytes = 0;
    std::size_t largest = 0;
    packet_memory memory;
    std::array<std::uint8_t, max_packet_bytes> bytes;
    std::array<std::uint8_t, 2048> in;
    for (std::size_t n = 0; n < count; ++n) {
        std::size_t size = 0;
        auto const fill = [&](std::size_t from) {
            for (std::size_t i = from; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(random());
        };
        if (n % 4 == 0) { // anything
            size = random() % 64;
            fill(0);
        } else if (n % 4 == 1) { // a header that makes sense, and then anything
            size = 3 + random() % 600;
            fill(0);
            bytes[0] = v07 ? (n & 4 ? 0x10 : 0x00) : (n & 4 ? 0x80 : 0x00);
            bytes[2] = static_cast<std::uint8_t>(1 + random() % 4);
        } else { // steps of the handshake, with tokens made up
            control_message m;
            constexpr control_code codes[] = {control_code::connect, control_code::accept, control_code::token,
                                              control_code::close};
            m.code = codes[random() % 4];
            m.ddnet = !v07;
            m.token = static_cast<std::uint32_t>(random());
            packet_head head;
            head.token = n % 4 == 2 ? no_token : static_cast<std::uint32_t>(random());
            auto const packet = write_control(m, v07 ? wire_format::v07 : wire_format::ddnet, head, memory);
            size = packet.size();
            std::copy(packet.begin(), packet.end(), bytes.begin());
            if (n % 16 == 3) bytes[random() % size] ^= static_cast<std::uint8_t>(1U << random() % 8);
        }
        auto& s = sockets[n % sockets.size()];
        boost::system::error_code failed;
        s.send(boost::asio::buffer(bytes.data(), size), 0, failed);
        if (!failed) sent_bytes += size;
        for (;;) {
            std::size_t const got = s.receive(boost::asio::buffer(in), 0, failed);
            if (failed) break;
            ++answers;
            answer_bytes += got;
            largest = std::max(largest, got);
        }
    }
    fmt::print("{} packets of {} bytes sent, {} answers of {} bytes, the largest of {}\n", count, sent_bytes,
               answers, answer_bytes, largest);
    return answer_bytes <= sent_bytes ? 0 : 1;
}

int crowd(boost::asio::ip::udp::endpoint const& server, wire_format format, bool moves, std::size_t count,
          double seconds) {
    boost::asio::io_context io;
    auto const scratch = std::make_unique<snapshot_scratch>();
    std::deque<player> players;
    auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>{seconds};
    while (players.size() < count) {
        auto& p = players.emplace_back(io, *scratch, static_cast<std::uint32_t>(1000 + players.size()), moves);
        p.join(server, format, fmt::format("bot {}", players.size()));
        io.run_for(std::chrono::milliseconds{moves ? 50 : 6});
    }
    // Players report when all of them are there, and the end of their standard input sends them away.
    boost::asio::posix::stream_descriptor told{io, ::dup(STDIN_FILENO)};
    bool const until_told = seconds == 0;
    if (until_told) {
        auto const all_play = [&] {
            return std::all_of(players.begin(), players.end(), [](player const& p) { return p.playing(); });
        };
        while (!all_play() && players.front().trouble().empty()) io.run_for(std::chrono::milliseconds{20});
        fmt::print("ready\n");
        std::fflush(stdout);
        told.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [&](boost::system::error_code) { io.stop(); });
    }
    // Viewers are counted when all are there.
    std::vector<std::uint64_t> before;
    auto const begin = std::chrono::steady_clock::now();
    for (auto& p : players) before.push_back(moves ? 0 : p.snapshots());
    if (until_told) io.run();
    else io.run_until(std::chrono::time_point_cast<std::chrono::steady_clock::duration>(end));
    double const counted = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    int playing = 0;
    std::uint64_t snapshots = 0;
    std::uint64_t bad = 0;
    std::uint64_t fewest = UINT64_MAX;
    milliseconds largest_gap = 0;
    for (std::size_t i = 0; i < players.size(); ++i) {
        player& p = players[i];
        playing += p.playing();
        snapshots += p.snapshots() - before[i];
        fewest = std::min(fewest, p.snapshots() - before[i]);
        bad += p.bad();
        largest_gap = std::max(largest_gap, p.largest_gap());
        if (!p.trouble().empty()) fmt::print(stderr, "{}\n", p.trouble());
        p.leave();
    }
    fmt::print("{} playing, {} snapshots, {} bad; in {:.1f} s {:.2f} a second each, {:.2f} the one with the "
               "fewest; the largest "
               "gap is {} ms\n",
               playing, snapshots, bad, counted,
               static_cast<double>(snapshots) / counted / static_cast<double>(count),
               static_cast<double>(fewest) / counted, largest_gap);
    return bad == 0 && playing == static_cast<int>(count) ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const mode = argc > 1 ? argv[1] : "";
    if (argc != (mode == "flood" ? 5 : 6) ||
        (mode != "flood" && mode != "play" && mode != "watch" && mode != "view")) {
        fmt::print(stderr, "usage: traffic play|watch HOST:PORT 0.6|0.7 COUNT SECONDS, traffic flood HOST:PORT "
                           "0.6|0.7 COUNT, traffic view HOST:PORT 0.6|0.7 X,Y FILE\nSECONDS is 0: `ready` when all "
                           "are there, and until standard input ends\n");
        return 2;
    }
    host_port const server = host_port::parse(argv[2]);
    bool const v07 = std::string_view{argv[3]} == "0.7";
    auto const count = static_cast<std::size_t>(std::atoll(argv[4]));
    boost::asio::ip::udp::endpoint const endpoint{boost::asio::ip::make_address(server.host), server.port};
    if (mode == "flood") return flood(endpoint, v07, count);
    if (mode == "view") return view(endpoint, v07 ? wire_format::v07 : wire_format::ddnet, argv[4], argv[5]);
    return crowd(endpoint, v07 ? wire_format::v07 : wire_format::ddnet, mode == "play", count, std::atof(argv[5]));
}
