#include "recording/server/spectator.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace teewire::replay {
namespace {

constexpr std::int32_t spectators_team = -1;
constexpr milliseconds probe_time = 3000; // for each protocol, when it is to be found out
constexpr milliseconds answer_time = 10'000;
constexpr milliseconds first_back_off = 1000;
constexpr milliseconds max_back_off = 60'000;

} // namespace

spectator::spectator(service_loop& loop, spectator_options const& options, host_port server, spectator_owner& owner,
                     snapshot_scratch& scratch)
    : loop_{loop}, options_{options}, server_{std::move(server)}, owner_{owner}, scratch_{scratch},
      timer_{loop.io()}, limit_{loop.io()}, link_{loop.io(), [this] { proceed(); }}, back_off_{first_back_off} {}

void spectator::start() {
    started_ = now();
    keep_limits();
    look_up();
}

void spectator::stop() {
    if (over_) return;
    over_ = true;
    owner_.disconnects();
    link_.close();
    timer_.cancel();
    limit_.cancel();
    owner_.ends();
}

void spectator::leave(std::string const& why) {
    left_ = true;
    owner_.disconnects();
    link_.close();
    lose(why);
}

// ---- what the server sends -----------------------------------------------------------------------------------------

void spectator::map_changes(served_map const& map) {
    players_ = {};
    owner_.map_changes(map);
    if (!joining_since_) joining_since_ = now();
    keep_limits();
    doing_ = fmt::format("map {}, {}", map.name, size_text(map.size));
    owner_.says(doing_);
}

void spectator::map_arrives(std::size_t bytes) {
    doing_ = fmt::format("downloading the map, {}", size_text(bytes));
}

void spectator::map_complete(served_map const& map, std::vector<std::uint8_t>&& bytes) {
    doing_ = "waiting for the first snapshot";
    owner_.map_complete(map, std::move(bytes));
}

void spectator::receives(snapshot_event const& event) {
    owner_.receives(event);
    if (event.kind != snapshot_event_kind::snapshot) return;
    back_off_ = first_back_off;
    joining_since_.reset();
    if (!first_snapshot_) {
        first_snapshot_ = now();
        keep_limits();
    }
    look_for_players(event);
}

void spectator::receives(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital) {
    if (client().version() == protocol::teeworlds_07) players_.receive(m);
    owner_.receives(m, type, bytes, vital);
}

// ---- the connection ------------------------------------------------------------------------------------------------

void spectator::look_up() {
    loop_.resolve(server_.host, std::to_string(server_.port),
                  [this](boost::system::error_code failed, service_loop::endpoints const& found) {
                      if (over_) return;
                      if (failed || found.empty()) return lose(failed.message());
                      peers_ = found;
                      attempt_ = 0;
                      connect();
                  });
}

void spectator::connect() {
    bool const any = options_.protocol == "auto";
    wire_format const format =
        options_.protocol == "0.7" || (any && attempt_ % 2 == 1) ? wire_format::v07 : wire_format::ddnet;
    peer_ = peers_[attempt_ / protocols()];
    doing_ = fmt::format("connecting with {}", format == wire_format::v07 ? "0.7" : "0.6");
    client_profile profile;
    profile.name = options_.name;
    profile.password = options_.password;
    profile.download_map = options_.download_map;
    profile.no_answer = any ? probe_time : answer_time;
    joining_since_ = now();
    keep_limits();
    boost::system::error_code failed;
    link_.open(peer_, format, profile, *this, scratch_, failed);
    if (failed) lose(failed.message());
}

// Not at once, as the caller still uses what is replaced.
void spectator::connect_soon(milliseconds wait) {
    timer_.expires_after(std::chrono::milliseconds{wait});
    timer_.async_wait([this](boost::system::error_code cancelled) {
        if (cancelled || over_) return;
        if (peers_.empty()) look_up();
        else connect();
    });
}

void spectator::proceed() {
    left_ = false;
    owner_.proceeds();
    if (!over_ && !left_ && client().closed()) disconnected();
}

void spectator::disconnected() {
    // A server that refuses has answered.
    bool const answered = client().answered() || client().connection().cause() == close_cause::peer;
    owner_.disconnects();
    link_.close();
    if (!answered && ++attempt_ < peers_.size() * protocols()) return connect_soon(0);
    lose(answered ? client().close_text() : "no answer");
}

void spectator::lose(std::string const& why) {
    if (!options_.retry) {
        owner_.fails(why);
        failed_ = true;
        return stop();
    }
    doing_ = fmt::format("{}; next try in {} s", why, back_off_ / 1000);
    owner_.says(doing_);
    joining_since_.reset();
    keep_limits();
    milliseconds const wait = back_off_;
    back_off_ = std::min(2 * back_off_, max_back_off);
    attempt_ = 0;
    connect_soon(wait);
}

// ---- limits of time ------------------------------------------------------------------------------------------------

// A server that has answered may take its time to let us in, up to the other limit.
milliseconds spectator::end_of_duration() const {
    if (!options_.duration) return INT64_MAX;
    auto const duration = static_cast<milliseconds>(*options_.duration * 1000);
    if (first_snapshot_) return *first_snapshot_ + duration;
    bool const answered = link_.client() != nullptr && client().answered() && !client().closed();
    return answered ? INT64_MAX : started_ + duration;
}

milliseconds spectator::end_of_joining() const {
    if (!joining_since_ || !options_.join_timeout) return INT64_MAX;
    return *joining_since_ + static_cast<milliseconds>(*options_.join_timeout * 1000);
}

// Has to be called whenever a limit changes. Ends nothing itself, as a listener must not.
void spectator::keep_limits() {
    milliseconds const next = std::min(end_of_duration(), end_of_joining());
    if (next == INT64_MAX) return;
    limit_.expires_at(to_time(next));
    limit_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled && !over_) reach_limit();
    });
}

void spectator::reach_limit() {
    milliseconds const time = now();
    if (time >= end_of_duration()) {
        if (!first_snapshot_) {
            owner_.says(fmt::format("nothing to record in {} s", *options_.duration));
            failed_ = true;
        }
        return stop();
    }
    if (time >= end_of_joining()) return leave(fmt::format("no snapshot in {} s", *options_.join_timeout));
    keep_limits();
}

// ---- where to look -------------------------------------------------------------------------------------------------

// Ordinary servers send what is near the place that a spectator looks at, which may be an empty corner.
void spectator::look_for_players(snapshot_event const& event) {
    bool const v07 = client().version() == protocol::teeworlds_07;
    std::uint16_t const character = v07 ? 10 : 9;
    std::uint16_t const player_info = v07 ? 11 : 10;
    if (!look_.due(event.tick)) return;
    std::int32_t first = -1;
    std::int32_t next = -1;
    for (item const i : event.snapshot) {
        if (i.type() == character) return;
        if (i.type() != player_info || !plays(i)) continue;
        if (first < 0) first = i.id();
        if (next < 0 && i.id() > looked_at_) next = i.id();
    }
    looked_at_ = next >= 0 ? next : first;
    if (looked_at_ >= 0) client().send(messages::set_spectator_mode{1, looked_at_});
}

// Spectators cannot be watched.
bool spectator::plays(item const& player_info) const {
    if (client().version() != protocol::teeworlds_07)
        return player_info.data.size() > 2 && player_info.data[2] != spectators_team;
    if (player_info.id() >= max_clients_07) return false;
    auto const& known = players_.clients[player_info.id()];
    return known && (*known)[1] != spectators_team;
}

} // namespace teewire::replay
