#include "recording/server/game_client.hpp"

#include "base/text.hpp"
#include "game/ticks.hpp"

#include <teewire/packer.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

constexpr milliseconds input_interval = 40;
constexpr std::int32_t input_lead = 3;                      // ticks ahead of the newest snapshot
constexpr std::size_t max_map_bytes = std::size_t{1} << 30; // as DDNet
constexpr std::int32_t our_version = 19010; // DDNet servers send what a client of that release reads

std::uint32_t word(std::array<std::uint8_t, 16> const& random) {
    std::uint32_t const token = static_cast<std::uint32_t>(random[0]) << 24 |
                                static_cast<std::uint32_t>(random[1]) << 16 |
                                static_cast<std::uint32_t>(random[2]) << 8 | random[3];
    return token == 0 || token == no_token ? 1 : token;
}

connection_options times(client_profile const& profile) {
    connection_options options;
    options.no_answer = profile.no_answer;
    return options;
}

served_map describe_map(std::string_view name, std::uint32_t crc, std::int32_t size,
                        std::span<std::uint8_t const> sha256) {
    served_map map{printable(name), crc, static_cast<std::size_t>(std::max(size, 0)), {}};
    if (sha256.size() == 32) std::copy(sha256.begin(), sha256.end(), map.sha256.emplace().begin());
    return map;
}

messages::skin standard_skin() {
    messages::skin skin;
    skin.parts = {"standard", "", "", "standard", "standard", "standard"};
    return skin;
}

} // namespace

game_client::game_client(wire_format format, client_profile const& profile,
                         std::array<std::uint8_t, 16> const& random, client_listener& listener,
                         snapshot_scratch& scratch, milliseconds now)
    : profile_{profile}, listener_{listener}, scratch_{scratch}, random_{random},
      memory_{std::make_unique<connection_memory<>>()}, connection_{connection::client(
                                                            format, word(random), *memory_, now, times(profile))},
      out_{std::make_unique<packet_memory>()}, payload_{std::make_unique<payload_memory>()},
      parts_{std::make_unique<snapshot_parts>()}, entries_(snapshot_pacing::keep_ticks),
      block_(profile.history_ints) {}

protocol game_client::version() const noexcept {
    return connection_.format() == wire_format::v07 ? protocol::teeworlds_07 : protocol::ddnet;
}

std::string game_client::close_text() const {
    if (!error_.empty()) return error_;
    if (connection_.cause() == close_cause::peer && !connection_.reason().empty())
        return "the server says: " + printable(connection_.reason());
    return std::string{describe(connection_.cause())};
}

void game_client::give_up(std::string reason) {
    error_ = std::move(reason);
    connection_.close(error_);
}

void game_client::receive(std::span<std::uint8_t const> datagram, milliseconds now) {
    auto const r = connection_.receive(datagram, now, *payload_);
    if (r.kind == received_kind::online) go_online();
    if (r.kind != received_kind::chunks) return;
    for (chunk c; connection_.next_chunk(c);) receive(c, now);
}

void game_client::go_online() {
    answered_ = true;
    snapshot_receiver::options options;
    options.version = version();
    options.sizes = options.version == protocol::teeworlds_07 ? &sizes_07 : &sizes_06;
    receiver_.emplace(std::span{parts_.get(), 1}, entries_, block_, options);
    if (connection_.format() == wire_format::ddnet) {
        messages::client_version v;
        std::copy(random_.begin(), random_.end(), v.connection.bytes.begin());
        v.version = our_version;
        v.text = "teewire";
        send(v);
    }
    messages::info info;
    info.password = profile_.password;
    send(info);
}

void game_client::receive(chunk const& c, milliseconds now) {
    auto const m = parse_message(c.data);
    if (!m || closed()) return;
    message_type const type = identify(*m, version());
    if (!m->system) {
        // Only vital ones count, as for all clients.
        if (type == message_type::ready_to_enter && c.vital) enter();
        listener_.receives(*m, type, c.data, c.vital);
        return;
    }
    if (type == message_type::snap || type == message_type::snap_single || type == message_type::snap_empty) {
        auto const event = receiver_->receive(*m, scratch_);
        if (event.kind == snapshot_event_kind::snapshot) newest_tick_ = std::max(newest_tick_, event.tick);
        if (receiver_->take_urgent()) next_input_ = now;
        listener_.receives(event);
        return;
    }
    if (c.vital || type == message_type::ping || type == message_type::ping_ex) receive_system(*m, type);
}

void game_client::receive_system(message const& m, message_type type) {
    protocol const p = version();
    switch (type) {
    case message_type::map_details:
        if (auto const details = decode<messages::map_details>(m, p); details && details->sha256.size() == 32) {
            details_ = describe_map(details->name, details->crc, details->size, details->sha256);
        }
        break;
    case message_type::map_change:
        if (auto const change = decode<messages::map_change>(m, p)) begin_map(*change);
        else give_up("the server's map message cannot be read");
        break;
    case message_type::map_data:
        if (auto const data = decode<messages::map_data>(m, p); data && step_ == step::loading) add_map_data(*data);
        break;
    case message_type::con_ready: {
        if (step_ != step::waiting) break;
        messages::start_info start;
        start.name = profile_.name;
        start.skin = standard_skin();
        send(start);
        break;
    }
    case message_type::ping: send(messages::ping_reply{}); break;
    case message_type::ping_ex:
        if (auto const asked = decode<messages::ping_ex>(m, p)) send(messages::pong_ex{asked->id});
        break;
    case message_type::reconnect: give_up("the server asks clients to reconnect"); break;
    case message_type::redirect:
        if (auto const to = decode<messages::redirect>(m, p))
            give_up("the server redirects its clients to port " + std::to_string(to->port));
        break;
    default: break;
    }
}

void game_client::begin_map(messages::map_change const& m) {
    map_ = describe_map(m.name, m.crc, m.size, m.sha256);
    if (!map_.sha256 && details_ && details_->name == map_.name && details_->crc == map_.crc &&
        details_->size == map_.size)
        map_.sha256 = details_->sha256;
    details_.reset();
    receiver_->reset();
    newest_tick_ = 0;
    map_bytes_ = {};
    map_chunks_ = 0;
    chunks_per_request_ = std::max(m.chunks_per_request, 1);
    step_ = step::loading;
    listener_.map_changes(map_);
    if (map_.size > max_map_bytes) return give_up("the server's map is larger than 1 GiB");
    if (!profile_.download_map || map_.size == 0) return end_map();
    send(messages::request_map_data{});
}

void game_client::add_map_data(messages::map_data const& m) {
    bool const v07 = version() == protocol::teeworlds_07;
    if (!v07 && (m.number != map_chunks_ || m.crc != map_.crc)) return; // asked for twice, or of another map
    if (m.data.empty() || m.data.size() > map_.size - map_bytes_.size())
        return give_up("the server's map does not have the size it was announced with");
    map_bytes_.insert(map_bytes_.end(), m.data.begin(), m.data.end());
    ++map_chunks_;
    listener_.map_arrives(map_bytes_.size());
    if (map_bytes_.size() == map_.size) return end_map();
    if (!v07) send(messages::request_map_data{map_chunks_});
    else if (map_chunks_ % chunks_per_request_ == 0) send(messages::request_map_data{});
}

void game_client::end_map() {
    if (profile_.download_map) {
        if (!is_map(map_, map_bytes_)) return give_up("the map arrived with a different checksum than announced");
        if (!map_.sha256) map_.sha256 = sha256(map_bytes_);
    }
    step_ = step::waiting;
    listener_.map_complete(map_, std::move(map_bytes_));
    map_bytes_ = {};
    send(messages::ready{});
}

void game_client::enter() {
    if (step_ != step::waiting) return;
    step_ = step::playing;
    send(messages::enter_game{});
    if (!profile_.spectate) return;
    send(messages::set_team{-1});
    if (connection_.format() != wire_format::ddnet) return; // other servers do not know the message
    std::array<std::uint8_t, 32> memory;
    packer out{memory};
    out.add_int(0).add_raw(describe(message_type::show_distance).extended.bytes);
    out.add_int(profile_.show_distance).add_int(profile_.show_distance);
    auto const bytes = *out.finish();
    outbox_.emplace_back(bytes.begin(), bytes.end());
}

void game_client::queue_input(milliseconds now) {
    messages::input m;
    m.ack = receiver_->ack();
    m.tick = later(newest_tick_, input_lead);
    std::copy(input_.begin(), input_.end(), m.data.begin());
    std::array<std::uint8_t, 96> memory;
    auto const bytes = encode(m, version(), memory);
    if (!bytes || connection_.queue(*bytes, false, now).code != errc::ok) return; // after the next packet
    connection_.flush();
    next_input_ = now - next_input_ > 5 * input_interval ? now + input_interval : next_input_ + input_interval;
}

std::span<std::uint8_t const> game_client::poll(milliseconds now) {
    while (!outbox_.empty() && connection_.queue(outbox_.front(), true, now).code == errc::ok) {
        outbox_.pop_front();
        connection_.flush();
    }
    if (playing() && now >= next_input_ && !closed()) queue_input(now);
    return connection_.poll(now, *out_);
}

milliseconds game_client::next_poll() const noexcept {
    milliseconds const next = connection_.next_poll();
    return playing() && !closed() ? std::min(next, next_input_) : next;
}

} // namespace teewire::replay
