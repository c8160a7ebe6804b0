#include "serve/replay_server.hpp"

#include "base/network_of.hpp"
#include "base/text.hpp"
#include "game/ticks.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

constexpr milliseconds first_tick_after = 40;
constexpr std::int32_t keep_entries = snapshot_pacing::keep_ticks + 1;
constexpr std::size_t history_ints =
    keep_entries / 2 * std::size_t{16384 + 1024}; // each as large as can be, with its keys, at half of the ticks
constexpr std::size_t max_log = 4096;             // messages
constexpr std::size_t map_chunk_bytes = 880;
constexpr std::int32_t map_chunks_ahead = 14;
constexpr std::int32_t map_chunks_per_request_07 = 8;
constexpr milliseconds join_time = 120'000; // from one step of joining to the next
constexpr double accepts_per_second = 200;
constexpr double answers_per_second = 5000;
constexpr double answers_per_viewer = 10; // a second, to an address that may have so many
constexpr double accepts_per_viewer = 2;
constexpr std::size_t max_news = 1000;

// Answers of 0.6 to the browser are larger than the question and are sent to the alleged sender. That is only for the
// local network, so that it cannot be used to attack hosts outside.
bool is_local(boost::asio::ip::address address) {
    if (address.is_v6()) {
        auto const v6 = address.to_v6();
        if (!v6.is_v4_mapped()) return v6.is_loopback() || v6.is_link_local() || (v6.to_bytes()[0] & 0xfe) == 0xfc;
        address = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6);
    }
    auto const b = address.to_v4().to_bytes();
    return b[0] == 127 || b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0) == 16) || (b[0] == 192 && b[1] == 168) ||
           (b[0] == 169 && b[1] == 254);
}

protocol spoken_over(wire_format format) {
    return format == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
}

// Takes as long for all passwords of a size.
bool is_same(std::string_view a, std::string_view b) {
    unsigned differs = a.size() != b.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differs |= static_cast<unsigned>(a[i] ^ b[i]);
    return differs == 0;
}

// Clients take it for a file name.
std::string file_name(std::string_view name) {
    std::string out = printable(name).substr(0, 63);
    for (char& c : out)
        if (std::strchr("/\\:*?\"<>|", c) != nullptr) c = '_';
    return out.empty() ? "map" : out;
}

} // namespace

replay_server::replay_server(show& shown, server_settings settings, std::array<std::uint8_t, 16> const& secret,
                             packet_sink& sink, milliseconds now)
    : shown_{shown}, settings_{std::move(settings)}, gate_{secret,
                                                           {false, shown.may_change() || !shown.is_07(),
                                                            shown.may_change() || !shown.is_07(),
                                                            shown.may_change() || shown.is_07()}},
      sink_{sink}, viewers_{settings_.limits.viewers},
      accepts_{accepts_per_viewer * static_cast<double>(settings_.limits.viewers_per_address), accepts_per_second},
      answers_{answers_per_viewer * static_cast<double>(settings_.limits.viewers_per_address), answers_per_second},
      entries_(keep_entries),
      block_(history_ints), past_{entries_, block_}, scratch_{std::make_unique<snapshot_scratch>()},
      variant_(16384), base_variant_(16384), next_tick_{now + first_tick_after},
      out_{std::make_unique<packet_memory>()}, payload_{std::make_unique<payload_memory>()} {
    due_.reserve(settings_.limits.viewers);
    read_show();
    shown.open(this);
}

replay_server::~replay_server() { shown_.open(nullptr); }

void replay_server::read_show() {
    encoding_ = {};
    encoding_.version = shown_.is_07() ? protocol::teeworlds_07 : protocol::ddnet;
    encoding_.sizes = shown_.is_07() ? &sizes_07 : &sizes_06;
    if (shown_.version() == protocol::ddnet) encoding_.max_parts = max_snapshot_parts;
    map_name_ = file_name(shown_.map().name);
    map_ = shown_.map().bytes;
    map_crc_ = map_crc32(map_);
    map_sha256_ = sha256(map_);
    announced_ = shown_.players();
}

std::size_t replay_server::watching() const noexcept {
    auto const all = viewers_.all();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](watcher const* v) { return v->at == join_step::watching; }));
}

std::string replay_server::label(watcher const& v) const {
    std::string const name = printable(v.name.data());
    std::string const address = v.address.address().to_string() + ":" + std::to_string(v.address.port());
    return name.empty() ? address : name + " (" + address + ")";
}

// ---- untrusted peers -----------------------------------------------------------------------------------------------

void replay_server::receive(std::span<std::uint8_t const> datagram, endpoint const& from, milliseconds now) {
    ++count_.received;
    watcher* const v = viewers_.find(from);
    if (v == nullptr) return answer(datagram, from, now);
    if (!v->packets.try_acquire(now)) {
        ++count_.ignored;
        return;
    }
    auto const r = v->link->receive(datagram, now, *payload_);
    switch (r.kind) {
    case received_kind::chunks:
        for (chunk c; v->link && v->link->next_chunk(c);) receive(*v, c, now);
        break;
    case received_kind::handshake: return answer(datagram, from, now);
    case received_kind::restart: drop(*v, "begins anew"); return answer(datagram, from, now);
    case received_kind::closed: return drop(*v, "leaves");
    case received_kind::connless: return answer_connless(datagram, from, now);
    case received_kind::dropped: ++count_.ignored; return;
    case received_kind::online:
    case received_kind::control: break;
    }
    if (!v->link) return;
    pump(*v, now);
    poll(*v, now);
}

void replay_server::answer(std::span<std::uint8_t const> datagram, endpoint const& from, milliseconds now) {
    auto const address = bytes_of(from);
    auto const d = gate_.receive(datagram, address, now, *out_);
    switch (d.what) {
    case server_gate::verdict::ignore: ++count_.ignored; return;
    case server_gate::verdict::connless: return answer_connless(datagram, from, now);
    case server_gate::verdict::answer:
        if (!answers_.try_acquire(from.address(), now)) {
            ++count_.ignored;
            return;
        }
        ++count_.answered;
        sink_.send(from, d.reply);
        return;
    case server_gate::verdict::accept: break;
    }
    if (viewers_.find(from) != nullptr) return; // its handshake repeated
    watcher* const v = accept(d, from, now);
    if (v == nullptr) return;
    if (!d.reply.empty()) sink_.send(from, d.reply);
    if (d.data) {
        auto const r = v->link->receive(datagram, now, *payload_);
        if (r.kind == received_kind::chunks)
            for (chunk c; v->link && v->link->next_chunk(c);) receive(*v, c, now);
    }
    if (!v->link) return;
    pump(*v, now);
    poll(*v, now);
}

void replay_server::answer_connless(std::span<std::uint8_t const> datagram, endpoint const& from,
                                    milliseconds now) {
    ++count_.ignored;
    auto const p = parse_connless(datagram);
    if (!p) return;
    auto const request = parse_server_info_request(*p);
    if (!request || !shown_.begun() || (request->kind == server_info_kind::v07) != shown_.is_07()) return;
    bool const proven = p->format == connless_format::v07 && gate_.valid(p->token, bytes_of(from), now);
    if (!proven && (shown_.is_07() || !is_local(from.address()))) return;
    if (!infos_.try_acquire(now)) return;
    --count_.ignored;
    ++count_.answered;

    server_description about;
    about.version = shown_.is_07() ? "0.7.5" : "0.6.4";
    about.name = settings_.name;
    about.map = map_name_;
    about.map_crc = map_crc_;
    about.map_size = static_cast<std::int32_t>(map_.size());
    about.game_type = settings_.game_type;
    about.flags = settings_.password.empty() ? 0 : 1;
    about.clients = static_cast<std::int32_t>(viewers_.all().size());
    about.max_clients =
        static_cast<std::int32_t>(std::min<std::size_t>(settings_.limits.viewers, shown_.is_07() ? 64 : 256));
    about.clients = std::min(about.clients, about.max_clients);
    about.max_players = about.max_clients;
    // As many as any form lists, on the stack.
    std::array<listed_client, 64> listed;
    std::size_t count = 0;
    for (watcher const* const v : viewers_.all()) {
        if (count == listed.size()) break;
        listed[count].name = v->name.data();
        listed[count].player = false;
        ++count;
    }
    std::array<std::uint8_t, max_packet_bytes> payload;
    auto const size = write_server_info(*request, about, std::span{listed}.first(count), payload);
    if (!size) return;
    connless_packet out = *p;
    out.token = p->response_token;
    out.response_token = p->token;
    out.payload = std::span{payload}.first(*size);
    std::array<std::uint8_t, max_packet_bytes> packet;
    if (auto const written = write_connless(out, packet)) sink_.send(from, std::span{packet}.first(*written));
}

watcher* replay_server::accept(server_gate::decision const& d, endpoint const& from, milliseconds now) {
    auto const refuse = [&](std::string_view why) {
        ++count_.ignored;
        control_message m;
        m.code = control_code::close;
        m.reason = why;
        packet_memory memory; // `out_` may hold the reply
        sink_.send(from, write_control(m, d.format, {0, false, d.tokens.peer}, memory));
        return nullptr;
    };
    if (!accepts_.try_acquire(from.address(), now)) {
        ++count_.ignored;
        return nullptr;
    }
    if (auto const why = obstacle(d.format); !why.empty()) {
        ++count_.refused;
        return refuse(why);
    }
    if (viewers_.full()) return refuse("This server is full");
    if (viewers_.count_in(network_of(from.address())) >= settings_.limits.viewers_per_address)
        return refuse("Too many viewers with your address");
    watcher& v = viewers_.add(from, now);
    v.link.emplace(connection::server(d.format, d.tokens, v.memory, now));
    return &v;
}

std::string_view replay_server::obstacle(wire_format format) const noexcept {
    if (!shown_.begun()) return {};
    if (map_.empty()) return "The map of this replay is missing";
    if (spoken_over(format) == encoding_.version) return {};
    return shown_.is_07() ? "A game of 0.7 is shown: watch it with a client of 0.7"
                          : "A game of 0.6 is shown: watch it with DDNet or a client of 0.6";
}

void replay_server::drop(watcher& v, std::string_view why) {
    if (v.at == join_step::watching && news_.size() < max_news) news_.push_back(label(v) + " " + std::string{why});
    viewers_.remove(v);
}

// ---- viewers -------------------------------------------------------------------------------------------------------

template <class T>
void replay_server::say(watcher& v, T const& value, milliseconds now) {
    std::array<std::uint8_t, max_payload_bytes> memory;
    auto const bytes = encode(value, spoken_over(v.link->format()), memory);
    if (!bytes) return;
    // A message that does not fit is lost: a client that does not acknowledge gets no further anyway.
    static_cast<void>(give(v, *bytes, now));
    v.link->flush();
}

bool replay_server::give(watcher& v, std::span<std::uint8_t const> message, milliseconds now) {
    auto const send = [&](auto datagram) { sink_.send(v.address, datagram); };
    if (v.link->queue(message, true, now, *out_, send).code != errc::ok) return false;
    ++v.since_map;
    return true;
}

void replay_server::receive(watcher& v, chunk const& c, milliseconds now) {
    auto const m = parse_message(c.data);
    if (!m) return;
    message_type const type = identify(*m, spoken_over(v.link->format()));
    if (m->system) receive_system(v, *m, type, c.vital, now);
    else if (c.vital) receive_game(v, *m, type, now);
}

void replay_server::receive_system(watcher& v, message const& m, message_type type, bool vital, milliseconds now) {
    protocol const p = spoken_over(v.link->format());
    bool const v07 = p == protocol::teeworlds_07;
    switch (type) {
    case message_type::info: {
        if (!vital || v.at != join_step::joining) return;
        auto const info = decode<messages::info>(m, p);
        if (!info || info->version.substr(0, 3) != (v07 ? "0.7" : "0.6")) {
            v.link->close(v07 ? "This server speaks 0.7" : "This server speaks 0.6");
            return;
        }
        if (!is_same(info->password, settings_.password) && !settings_.password.empty()) {
            ++count_.refused;
            v.link->close("Wrong password");
            return;
        }
        if (shown_.begun()) return load(v, now);
        v.at = join_step::waiting;
        v.since = now;
        return;
    }
    case message_type::request_map_data: {
        if (!vital) return;
        // A `ready` was of an earlier map.
        if ((v.at == join_step::ready || v.at == join_step::entering) && v.readies < v.maps_told)
            v.at = join_step::loading;
        if (v.at != join_step::loading) return;
        v.since = now;
        if (v07) {
            v.map_until = std::min(map_.size(), v.map_until + map_chunks_per_request_07 * map_chunk_bytes);
            return;
        }
        auto const request = decode<messages::request_map_data>(m, p);
        if (!request || request->number < 0 || request->number > INT32_MAX / 2) return;
        // Some ahead, so that the way to and fro does not decide how fast it goes.
        std::size_t const chunks = map_.size() / map_chunk_bytes + 1;
        std::size_t const until = std::min(chunks, static_cast<std::size_t>(request->number) + map_chunks_ahead);
        v.map_until = std::min(map_.size(), std::max(v.map_until, until * map_chunk_bytes));
        return;
    }
    case message_type::ready:
        if (!vital || v.readies == v.maps_told) return;
        ++v.readies;
        // This belongs to an earlier map if the new one is still on its way to the client.
        if (v.at < join_step::loading || !v.map_told || v.link->unacknowledged() > v.since_map) return;
        say(v, messages::con_ready{}, now);
        v.at = join_step::ready;
        v.since = now;
        return;
    case message_type::enter_game:
        if (!vital || v.at != join_step::entering) return;
        return enter(v);
    case message_type::input: {
        auto const input = decode<messages::input>(m, p);
        if (!input || v.at != join_step::watching) return;
        auto const newest = past_.newest();
        bool const usable = input->ack >= v.watched_since || input->ack == -1;
        if (usable && newest) v.pacing.acknowledge(input->ack, *newest);
        std::int32_t const server_tick = shown_.server_tick(now);
        if (input->tick > v.input_tick && server_tick >= 0) {
            v.input_tick = input->tick;
            messages::input_timing timing;
            timing.tick = input->tick;
            timing.time_left = static_cast<std::int32_t>(
                std::clamp<std::int64_t>((std::int64_t{input->tick} - server_tick) * tick_time, -1000, 1000));
            std::array<std::uint8_t, 32> memory;
            // Goes with the next snapshot; there is always another one if it does not fit.
            if (auto const bytes = encode(timing, p, memory)) static_cast<void>(v.link->queue(*bytes, false, now));
        }
        return;
    }
    case message_type::ping: say(v, messages::ping_reply{}, now); return;
    case message_type::ping_ex:
        if (auto const asked = decode<messages::ping_ex>(m, p)) say(v, messages::pong_ex{asked->id}, now);
        return;
    default: return;
    }
}

void replay_server::receive_game(watcher& v, message const& m, message_type type, milliseconds now) {
    protocol const p = encoding_.version;
    switch (type) {
    case message_type::start_info:
        if (auto const start = decode<messages::start_info>(m, p); start && v.at == join_step::ready) {
            auto const name = start->name.substr(0, v.name.size() - 1);
            std::copy(name.begin(), name.end(), v.name.begin());
            say(v, messages::ready_to_enter{}, now);
            v.since = now;
            v.at = join_step::entering;
        }
        return;
    case message_type::set_spectator_mode:
        if (auto const mode = decode<messages::set_spectator_mode>(m, p); mode && v.at == join_step::watching)
            watch(v, shown_.is_07() && mode->mode != 1 ? watch_nobody : mode->client_id);
        return;
    default: return;
    }
}

void replay_server::watch(watcher& v, std::int32_t id) {
    if (id < watch_nobody || id >= 64) return;
    if (id == shown_.viewer_id()) id = watch_nobody;
    if (id == v.watched) return;
    v.watched = id;
    // The snapshots it has are of another kind: begin with a full one.
    auto const newest = past_.newest();
    v.watched_since = newest ? *newest + 1 : 0;
    v.pacing.acknowledge(-1, newest.value_or(-1));
}

void replay_server::load(watcher& v, milliseconds now) {
    v.at = join_step::loading;
    v.since = now;
    v.map_told = false;
    v.map_next = v.map_until = 0;
    v.welcome.clear();
}

void replay_server::enter(watcher& v) {
    v.at = join_step::watching;
    v.pacing = snapshot_pacing{1};
    v.watched = watch_chosen;
    v.watched_since = -1;
    v.passed_tick = past_.newest().value_or(-1);
    v.input_tick = -1;
    ++count_.joined;
    if (news_.size() < max_news) news_.push_back(label(v) + " watches");
    auto const add = [&](auto const& message) {
        std::array<std::uint8_t, max_payload_bytes> memory;
        if (auto const bytes = encode(message, encoding_.version, memory))
            v.welcome.emplace_back(bytes->begin(), bytes->end());
    };
    // Messages of the log come after the roster that they change.
    v.log_next = log_begin_ + log_.size();
    auto const add_lasting = [&] {
        for (auto& message : shown_.lasting())
            if (is_for_viewers(*parse_message(message), shown_.version()) && can_be_sent(message))
                v.welcome.push_back(std::move(message));
    };
    if (!shown_.is_07()) return add_lasting();
    messages::server_info about;
    about.version = "0.7.5";
    about.name = settings_.name;
    about.map = map_name_;
    about.game_type = settings_.game_type;
    about.player_slots = about.max_clients = 64;
    add(about);
    messages::tune_params tuning;
    auto const& values = announced_.tuning.value_or(standard_tuning_07);
    tuning.count = static_cast<std::uint32_t>(values.size());
    std::copy(values.begin(), values.end(), tuning.values.begin());
    add(tuning);
    if (!announced_.game) add(messages::game_info{});
    if (shown_.viewer_id() >= 0) {
        messages::client_info viewer;
        viewer.client_id = shown_.viewer_id();
        viewer.local = true;
        viewer.team = -1;
        viewer.name = v.name.data();
        viewer.skin.parts = {"standard", "", "", "standard", "standard", "standard"};
        viewer.silent = true;
        add(viewer);
    }
    roster none;
    none.tuning = announced_.tuning;
    for (auto& message : roster_changes(none, announced_, true)) v.welcome.push_back(std::move(message));
    add_lasting();
}

// Gives the connection what it has room for.
void replay_server::pump(watcher& v, milliseconds now) {
    bool any = false;
    auto const give_any = [&](std::span<std::uint8_t const> message) {
        bool const given = give(v, message, now);
        any = any || given;
        return given;
    };
    if (v.at == join_step::loading && !v.map_told) {
        messages::map_change change;
        change.name = map_name_;
        change.crc = map_crc_;
        change.size = static_cast<std::int32_t>(map_.size());
        change.chunks_per_request = map_chunks_per_request_07;
        change.chunk_size = static_cast<std::int32_t>(map_chunk_bytes);
        change.sha256 = map_sha256_;
        std::array<std::uint8_t, max_payload_bytes> memory;
        auto const bytes = encode(change, encoding_.version, memory);
        v.map_told = bytes && give_any(*bytes);
        v.maps_told += v.map_told;
        v.since_map = 0;
    }
    if (v.at == join_step::loading && v.map_told) any = pump_map(v, now) || any;
    if (v.at == join_step::watching) {
        while (!v.welcome.empty() && give_any(v.welcome.front())) v.welcome.pop_front();
        if (v.welcome.empty()) {
            if (v.log_next < log_begin_) return v.link->close("You are too far behind");
            while (v.log_next < log_due_ && give_any(log_[static_cast<std::size_t>(v.log_next - log_begin_)]))
                ++v.log_next;
        }
    }
    if (any) v.link->flush();
}

bool replay_server::pump_map(watcher& v, milliseconds now) {
    bool any = false;
    while (v.map_next < v.map_until) {
        std::size_t const size = std::min(map_chunk_bytes, map_.size() - v.map_next);
        messages::map_data data;
        data.data = map_.subspan(v.map_next, size);
        data.crc = map_crc_;
        data.number = static_cast<std::int32_t>(v.map_next / map_chunk_bytes);
        data.last = v.map_next + size == map_.size();
        std::array<std::uint8_t, max_payload_bytes> memory;
        auto const bytes = encode(data, encoding_.version, memory);
        if (!bytes || !give(v, *bytes, now)) break;
        v.map_next += size;
        any = true;
    }
    return any;
}

void replay_server::poll(watcher& v, milliseconds now) {
    for (auto d = v.link->poll(now, *out_); !d.empty(); d = v.link->poll(now, *out_)) sink_.send(v.address, d);
    if (v.link->state() == connection_state::closed) drop(v, "is gone: " + std::string{describe(v.link->cause())});
}

// ---- what is shown -------------------------------------------------------------------------------------------------

void replay_server::tick(milliseconds now) {
    polled_ = false;
    shown_.advance(now, watching() > 0);
    if (!polled_) poll_viewers(now);
    next_tick_ = shown_.next(now);
}

void replay_server::poll_viewers(milliseconds now) {
    polled_ = true;
    log_due_ = log_begin_ + log_.size();
    // From the back, as those that are over are replaced by the last one.
    for (std::size_t i = viewers_.all().size(); i-- > 0;) {
        watcher& v = *viewers_.all()[i];
        if (v.at != join_step::watching && now - v.since > join_time)
            v.link->close(v.at == join_step::waiting ? "There is nothing to watch yet" : "Joining took too long");
        pump(v, now);
        poll(v, now);
    }
}

void replay_server::on_begin(milliseconds now) {
    past_.clear();
    read_show();
    for (std::size_t i = viewers_.all().size(); i-- > 0;) {
        watcher& v = *viewers_.all()[i];
        if (auto const why = obstacle(v.link->format()); !why.empty()) v.link->close(why);
        else if (v.at != join_step::joining) load(v, now);
        pump(v, now);
        poll(v, now);
    }
}

void replay_server::on_end(std::string_view why, milliseconds now) {
    close(why, now);
    past_.clear();
}

bool replay_server::can_be_sent(std::span<std::uint8_t const> message) const noexcept {
    return message.size() <= max_chunk_bytes(shown_.is_07() ? wire_format::v07 : wire_format::ddnet);
}

void replay_server::on_message(std::span<std::uint8_t const> message) {
    if (!can_be_sent(message)) {
        if (count_.too_large++ == 0 && news_.size() < max_news)
            news_.push_back("a message of " + std::to_string(message.size()) + " bytes at tick " +
                            std::to_string(shown_.position()) + " is too large to send and is left out");
        return;
    }
    log_.emplace_back(message.begin(), message.end());
    if (log_.size() <= max_log) return;
    log_.pop_front();
    ++log_begin_;
}

void replay_server::add_roster_changes() {
    if (!shown_.is_07() || announced_ == shown_.players()) return;
    for (auto const& message : roster_changes(announced_, shown_.players(), shown_.settling())) on_message(message);
    announced_ = shown_.players();
}

void replay_server::on_snapshot(std::int32_t tick, snapshot_view const* snapshot, milliseconds now) {
    add_roster_changes();
    log_due_ = log_begin_ + log_.size();
    if (snapshot != nullptr) {
        past_.drop_before(tick - snapshot_pacing::keep_ticks);
        if (past_.add(tick, *snapshot)) send_snapshots(now);
    }
    poll_viewers(now);
    next_tick_ = shown_.next(now);
}

// As snapshot_pacing::due(), where not every tick has a snapshot: the first one from there is due.
bool replay_server::is_due(watcher& v, std::int32_t tick) noexcept {
    using enum snapshot_pacing::state;
    auto const state = v.pacing.current();
    std::int32_t const interval = state == first        ? snapshot_pacing::first_interval
                                  : state == recovering ? snapshot_pacing::recovery_interval
                                                        : 1;
    if (v.passed_tick >= 0 && tick / interval == v.passed_tick / interval) return false;
    v.passed_tick = tick;
    return true;
}

void replay_server::send_snapshots(milliseconds now) {
    std::int32_t const tick = *past_.newest();
    due_.clear();
    for (watcher* const to : viewers_.all()) {
        watcher& v = *to;
        if (v.at != join_step::watching) continue;
        pump(v, now); // who joins is announced before the snapshot that shows it
        if (!is_due(v, tick)) continue;
        std::int32_t base = v.pacing.acked();
        if (base >= 0 && !past_.find(base)) {
            v.pacing.lose_base();
            base = -1;
        }
        due_.push_back({base, v.watched, to});
    }
    std::sort(due_.begin(), due_.end(), [](due const& a, due const& b) {
        return std::pair{a.base_tick, a.watched} < std::pair{b.base_tick, b.watched};
    });
    // Viewers with the same base get the same bytes.
    snapshot_view const newest = *past_.find(tick);
    for (auto group = due_.begin(); group != due_.end();) {
        auto const end = std::find_if(group, due_.end(), [&](due const& d) {
            return d.base_tick != group->base_tick || d.watched != group->watched;
        });
        snapshot_view const snapshot = shown_.watching(newest, group->watched, variant_);
        snapshot_view base;
        if (group->base_tick >= 0)
            base = shown_.watching(*past_.find(group->base_tick), group->watched, base_variant_);
        auto messages = encode_snapshot(tick, snapshot, group->base_tick, base, encoding_, *scratch_);
        if (!messages && messages.error().code == errc::size_mismatch)
            messages = encode_snapshot(tick, snapshot, -1, {}, encoding_, *scratch_);
        ++count_.encoded;
        if (messages) {
            snapshot_messages parts = *messages;
            for (std::span<std::uint8_t const> message; parts.next(message);)
                for (auto d = group; d != end; ++d) {
                    watcher& v = *d->to;
                    static_cast<void>(v.link->queue(message, false, now, *out_,
                                                    [&](auto datagram) { sink_.send(v.address, datagram); }));
                }
            for (auto d = group; d != end; ++d) d->to->link->flush();
            count_.snapshots += static_cast<std::uint64_t>(end - group);
        }
        group = end;
    }
}

void replay_server::close(std::string_view reason, milliseconds now) {
    for (std::size_t i = viewers_.all().size(); i-- > 0;) {
        watcher& v = *viewers_.all()[i];
        v.link->close(reason);
        poll(v, now);
    }
}

} // namespace teewire::replay
