// Players on a server who do only what standard input says.
//   act HOST:PORT 0.6|0.7
// Reads lines from standard input, one after the other:
//   join NAME             says "NAME plays" when it does
//   leave NAME
//   say NAME TEXT, team NAME TEXT
//   aim NAME X Y          units from itself
//   near NAME             aims at the nearest other tee
//   hook NAME 0|1, walk NAME -1|0|1, fire NAME, weapon NAME NUMBER
//   watch NAME, play NAME  joins the spectators, and the game again
//   wait N                until the first player has received N more snapshots; says "waited"
// With 0.6, prints "TICK NAME hooks -1|ID" and "TICK NAME lets go" as the player sees itself.
#include "game/item_text.hpp"
#include "recording/server/udp_client.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;

namespace {

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::print(format, std::forward<Arguments>(arguments)...);
    std::fflush(stdout);
}

class actor final : public client_listener {
public:
    actor(boost::asio::io_context& io, snapshot_scratch& scratch, std::string name, std::function<void()> proceeds)
        : name_{std::move(name)}, scratch_{scratch}, proceeds_{std::move(proceeds)}, link_{io, [] {}} {}

    void join(boost::asio::ip::udp::endpoint const& server, wire_format format) {
        client_profile profile;
        profile.name = name_;
        profile.spectate = false;
        profile.history_ints = 1 << 17;
        profile.download_map = false;
        boost::system::error_code failed;
        link_.open(server, format, profile, *this, scratch_, failed);
        if (failed) fmt::print(stderr, "{}: {}\n", name_, failed.message());
    }
    void leave() { link_.close("told to"); }

    void speak(std::string_view text, bool team) {
        messages::say m;
        m.mode = team + (link_.client()->version() == protocol::teeworlds_07 ? 1 : 0);
        m.text = text;
        link_.client()->send(m);
    }
    void change_team(std::int32_t team) {
        messages::set_team m;
        m.team = team;
        link_.client()->send(m);
    }
    void aim(std::int32_t x, std::int32_t y) {
        input()[1] = x;
        input()[2] = x == 0 && y == 0 ? 1 : y;
    }
    void aim_near() {
        std::pair<double, std::pair<std::int32_t, std::int32_t>> best{INFINITY, {0, 1}};
        for (auto const& [id, at] : tees_) {
            if (id == own_id_) continue;
            std::int32_t const x = at.first - tees_[own_id_].first, y = at.second - tees_[own_id_].second;
            best = std::min(best, {std::hypot(x, y), {x, y}});
        }
        aim(best.second.first, best.second.second);
    }
    std::span<std::int32_t, 10> input() {
        auto const all = link_.client()->input();
        all[6] = 1; // playing
        return all;
    }
    [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }

    void map_changes(served_map const&) override {}
    void map_arrives(std::size_t) override {}
    void map_complete(served_map const&, std::vector<std::uint8_t>&&) override {}
    void receives(message const&, message_type, std::span<std::uint8_t const>, bool) override {}
    void receives(snapshot_event const& event) override {
        if (event.kind != snapshot_event_kind::snapshot) return;
        ++snapshots_;
        read(event);
        if (!plays_ && (own_id_ < 0 || tees_.contains(own_id_))) {
            plays_ = true;
            ::say("{} plays\n", name_);
        }
        proceeds_();
    }

private:
    void read(snapshot_event const& event) {
        protocol const p = link_.client()->version();
        object const& info = *find_object(p, "player_info");
        object const& body = *find_object(p, "character");
        own_id_ = -1;
        tees_.clear();
        for (item const i : event.snapshot)
            if (i.type() == info.type && int_field(i, info, "local") != 0)
                own_id_ = int_field(i, info, "client_id");
        std::int32_t holds = -2; // nothing
        for (item const i : event.snapshot) {
            if (i.type() != body.type) continue;
            tees_[i.id()] = {int_field(i, body, "x"), int_field(i, body, "y")};
            constexpr std::int32_t grabbed = 5;
            if (i.id() == own_id_ && int_field(i, body, "hook_state") == grabbed)
                holds = int_field(i, body, "hooked_player");
        }
        if (own_id_ < 0 || holds == holds_) return;
        if (holds_ != -2) ::say("{} {} lets go\n", event.tick, name_);
        if (holds != -2) ::say("{} {} hooks {}\n", event.tick, name_, holds);
        holds_ = holds;
    }

    std::string name_;
    snapshot_scratch& scratch_;
    std::function<void()> proceeds_;
    std::uint64_t snapshots_ = 0;
    bool plays_ = false;
    std::int32_t own_id_ = -1;
    std::int32_t holds_ = -2;
    std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> tees_;
    udp_client link_;
};

class stage {
public:
    stage(boost::asio::io_context& io, boost::asio::ip::udp::endpoint server, wire_format format)
        : io_{io}, server_{std::move(server)}, format_{format}, told_{io, ::dup(STDIN_FILENO)} {
        read_line();
    }

private:
    void read_line() {
        boost::asio::async_read_until(told_, lines_, '\n', [this](boost::system::error_code failed, std::size_t) {
            if (failed) return io_.stop();
            std::istream in{&lines_};
            std::string line;
            std::getline(in, line);
            obey(line);
            if (!waits()) read_line();
        });
    }

    [[nodiscard]] std::uint64_t clock() const { return actors_.empty() ? 0 : actors_.begin()->second->snapshots(); }
    [[nodiscard]] bool waits() const { return until_ != 0; }
    void proceed() {
        if (!waits() || clock() < until_) return;
        until_ = 0;
        say("waited\n");
        read_line();
    }

    void obey(std::string const& line) {
        std::istringstream words{line};
        std::string verb, name;
        words >> verb >> name;
        if (verb == "wait") {
            until_ = clock() + static_cast<std::uint64_t>(std::atoll(name.c_str()));
            return;
        }
        if (verb == "join") {
            auto& a = actors_[name] = std::make_unique<actor>(io_, scratch_, name, [this] { proceed(); });
            a->join(server_, format_);
            return;
        }
        auto const found = actors_.find(name);
        if (found == actors_.end()) return say("nobody is called {}\n", name);
        actor& a = *found->second;
        std::int32_t x = 0, y = 0;
        if (verb == "say" || verb == "team") {
            std::string text;
            std::getline(words >> std::ws, text);
            a.speak(text, verb == "team");
        } else if (verb == "leave") {
            a.leave();
            gone_.push_back(std::move(found->second));
            actors_.erase(found);
        } else if (verb == "watch" || verb == "play") {
            a.change_team(verb == "watch" ? -1 : 0);
        } else if (verb == "near") {
            a.aim_near();
        } else if (verb == "fire") {
            a.input()[4] = (a.input()[4] + 2) & 63; // pressed and released
        } else if (words >> x) {
            if (verb == "aim" && words >> y) a.aim(x, y);
            if (verb == "walk") a.input()[0] = x;
            if (verb == "hook") a.input()[5] = x;
            if (verb == "weapon") a.input()[7] = x;
        }
    }

    boost::asio::io_context& io_;
    boost::asio::ip::udp::endpoint server_;
    wire_format format_;
    snapshot_scratch scratch_;
    boost::asio::posix::stream_descriptor told_;
    boost::asio::streambuf lines_;
    std::map<std::string, std::unique_ptr<actor>> actors_;
    std::vector<std::unique_ptr<actor>> gone_; // whose sockets may still have data
    std::uint64_t until_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: act HOST:PORT 0.6|0.7\n");
        return 2;
    }
    host_port const server = host_port::parse(argv[1]);
    boost::asio::io_context io;
    auto const all = std::make_unique<stage>(
        io, boost::asio::ip::udp::endpoint{boost::asio::ip::make_address(server.host), server.port},
        std::string_view{argv[2]} == "0.7" ? wire_format::v07 : wire_format::ddnet);
    io.run();
}
