// Players that move about on a server, as traffic for tests on real servers.
//   traffic HOST:PORT 0.6|0.7 PLAYERS SECONDS [SEED]
// Prints how many were in the game at the end, and what they received.
#include "live/udp_client.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <random>

using namespace teewire;
using namespace teewire::replay;

namespace {

class player final : public client_listener {
public:
    player(boost::asio::io_context& io, snapshot_scratch& scratch, std::uint32_t seed)
        : link_{io, [this] { move(); }}, scratch_{scratch}, random_{seed} {}

    void join(boost::asio::ip::udp::endpoint const& server, wire_format format, std::string const& name) {
        client_profile profile;
        profile.name = name;
        profile.spectate = false;
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

    void map_changes(served_map const&) override {}
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const&, std::vector<std::uint8_t>&&) override {}
    void receives(snapshot_event const& event) override {
        snapshots_ += event.kind == snapshot_event_kind::snapshot;
        bad_ += event.kind == snapshot_event_kind::damaged || event.kind == snapshot_event_kind::malformed;
    }
    void receives(message const&, message_type, std::span<std::uint8_t const>, bool) override {}

private:
    // Something else ten times a second.
    void move() {
        if (!playing() || now() < next_) return;
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
    milliseconds next_ = 0;
    std::uint64_t snapshots_ = 0;
    std::uint64_t bad_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        fmt::print(stderr, "usage: traffic HOST:PORT 0.6|0.7 PLAYERS SECONDS [SEED]\n");
        return 2;
    }
    host_port const server = host_port::parse(argv[1]);
    wire_format const format = std::string_view{argv[2]} == "0.7" ? wire_format::v07 : wire_format::ddnet;
    int const count = std::atoi(argv[3]);
    double const seconds = std::atof(argv[4]);
    auto const seed = static_cast<std::uint32_t>(argc > 5 ? std::atoi(argv[5]) : 1);

    boost::asio::io_context io;
    auto const scratch = std::make_unique<snapshot_scratch>();
    boost::asio::ip::udp::endpoint const endpoint{boost::asio::ip::make_address(server.host), server.port};
    std::deque<player> players;
    boost::asio::steady_timer next{io};
    auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>{seconds};
    while (static_cast<int>(players.size()) < count) {
        auto& p = players.emplace_back(io, *scratch, seed * 1000 + static_cast<std::uint32_t>(players.size()));
        p.join(endpoint, format, fmt::format("bot {}", players.size()));
        io.run_for(std::chrono::milliseconds{50});
    }
    io.run_until(std::chrono::time_point_cast<std::chrono::steady_clock::duration>(end));
    int playing = 0;
    std::uint64_t snapshots = 0;
    std::uint64_t bad = 0;
    for (auto& p : players) {
        playing += p.playing();
        snapshots += p.snapshots();
        bad += p.bad();
        if (!p.trouble().empty()) fmt::print(stderr, "{}\n", p.trouble());
        p.leave();
    }
    fmt::print("{} playing, {} snapshots, {} bad\n", playing, snapshots, bad);
    return bad == 0 && playing > 0 ? 0 : 1;
}
