#include "recording/capture/followed_connection.hpp"

#include "base/text.hpp"
#include "game/item_text.hpp"
#include "game/message_fields.hpp"
#include "game/ticks.hpp"

#include <teewire/delta.hpp>
#include <teewire/demo_format.hpp>
#include <teewire/varint.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace teewire::replay {

/// The state needed to follow a connection.
struct followed_connection::live_state {
    explicit live_state(bool v07)
        : parts(4), entries{new history::entry[history_entries]}, block{new std::int32_t[history_ints]},
          receiver{parts, {entries.get(), history_entries}, {block.get(), history_ints}, options(v07)} {}

    static snapshot_receiver::options options(bool v07) {
        snapshot_receiver::options o;
        if (v07) o.version = protocol::teeworlds_07;
        if (v07) o.sizes = &sizes_07;
        o.listening = snapshot_listening::observer;
        o.mode = decoding::lenient;
        return o;
    }

    // 3 seconds of every tick and some more; 28 KiB for each snapshot of these seconds at the usual rate
    static constexpr std::size_t history_entries = 256;
    static constexpr std::size_t history_ints = std::size_t{1} << 20;

    std::vector<snapshot_parts> parts;
    std::unique_ptr<history::entry[]> entries;
    std::unique_ptr<std::int32_t[]> block;
    snapshot_receiver receiver;
    std::set<std::int32_t> seen;       // ticks of the last snapshots, decoded or not
    std::int32_t acknowledged = -1;    // tick
    std::set<std::int32_t> collecting; // ticks of which parts are there
    std::set<std::int32_t> unordered;  // ticks whose distances are not counted yet
    std::optional<std::int32_t> counted;
    std::unordered_map<std::uint16_t, usage*> item_types; // in connection_stats::items
    std::optional<served_map> details;                    // DDNet announces them before the map itself
    std::vector<std::uint8_t> map;
    std::int32_t map_chunks = 0; // in order so far
    bool map_done = true;
};

namespace {

constexpr std::size_t usual_lateness = 150; // snapshots, until the order of ticks is known
constexpr std::size_t max_usages = 200;     // of messages or items; all further ones are one
constexpr std::size_t max_stays = 1000;
constexpr std::int32_t max_distance = 1000; // ticks; all larger ones count as this
constexpr std::size_t max_map_bytes = std::size_t{256} << 20;

usage& entry(usage_table& table, std::string_view name) {
    auto found = table.find(name);
    if (found != table.end()) return found->second;
    return table[table.size() < max_usages ? std::string{name} : "other"];
}

void note(first_error& of, std::string const& text) {
    if (of.count++ == 0) of.first = text;
}

bool is_snapshot(message_type type) {
    return type == message_type::snap || type == message_type::snap_empty || type == message_type::snap_single;
}

// Messages that only game servers send, and at the start.
bool names_map(message const& m, message_type type, protocol p) {
    return (type == message_type::map_change && decode<messages::map_change>(m, p)) ||
           (type == message_type::map_details && decode<messages::map_details>(m, p));
}

// The side that sends such messages; nothing if both do.
std::optional<sender> usual_sender(message_type type) {
    switch (type) {
    case message_type::map_change:
    case message_type::map_data:
    case message_type::con_ready:
    case message_type::snap:
    case message_type::snap_empty:
    case message_type::snap_single:
    case message_type::input_timing: return sender::server;
    case message_type::info:
    case message_type::ready:
    case message_type::enter_game:
    case message_type::input:
    case message_type::request_map_data:
    case message_type::start_info: return sender::client;
    default: return {};
    }
}

// A handshake, which may be that of another protocol than before.
bool begins_connection(std::span<std::uint8_t const> datagram, bool v07) {
    auto const p = parse_packet(datagram, v07 ? wire_format::v07 : wire_format::v06);
    if (!p || !p->control) return false;
    auto const m = parse_control(p->payload, v07 ? wire_format::v07 : wire_format::v06);
    return m && (m->code == control_code::connect || m->code == control_code::token);
}

} // namespace

followed_connection::followed_connection(connection_host& shared, udp_datagram const& first, std::uint64_t frame,
                                         std::int64_t time)
    : shared_{shared} {
    stats_.ends = {first.from, first.to};
    stats_.first_frame = frame;
    stats_.first_time = time;
}

followed_connection::~followed_connection() = default;

followed_connection::live_state& followed_connection::live() {
    if (live_ == nullptr) {
        shared_.make_room(*this);
        live_ = std::make_unique<live_state>(stats_.v07);
    }
    return *live_;
}

void followed_connection::release() {
    for (std::size_t const end : {0, 1})
        stats_.from[end].stream.finish(
            [&](std::span<std::uint8_t const> bytes) { deliver(end, stats_.first_frame, bytes); });
    flush_counts();
    live_.reset();
}

bool followed_connection::ends_with(std::span<std::uint8_t const> datagram) const {
    return is_connection_ && begins_connection(datagram, !stats_.v07) && !begins_connection(datagram, stats_.v07);
}

void followed_connection::promote(bool to_game) {
    if (is_connection_ || left_out_) return;
    is_connection_ = shared_.promote(*this, to_game);
    left_out_ = !is_connection_ && to_game;
}

void followed_connection::count_distance() {
    std::int32_t const tick = *live_->unordered.begin();
    live_->unordered.erase(live_->unordered.begin());
    if (live_->counted && tick > *live_->counted)
        ++stats_.distances[std::min(tick - *live_->counted, max_distance)];
    if (!live_->counted || tick > *live_->counted) live_->counted = tick;
}

// The following packets have nothing to do with those before.
void followed_connection::flush_counts() {
    while (!live_->unordered.empty()) count_distance();
    live_->counted.reset();
    stats_.incomplete += live_->collecting.size();
    live_->collecting.clear();
    live_->seen.clear();
    live_->item_types.clear();
}

// ---- packets -------------------------------------------------------------------------------------------------------

void followed_connection::malformed(seen_packet const& seen, std::string const& why) {
    note(stats_.malformed, fmt::format("frame {}: {}", seen.frame, why));
    shared_.listener.no_packet(seen, why);
}

void followed_connection::receive(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram,
                                  packet_guess guess) {
    stats_.last_time = time;
    std::size_t const end = datagram.from == stats_.ends[0] ? 0 : 1;
    seen_packet const seen{frame, time, stats_, end, datagram.payload};
    direction& from = stats_.from[end];
    ++from.packets;
    from.bytes += datagram.payload.size();
    switch (guess) {
    case packet_guess::connless_06:
    case packet_guess::connless_07: ++from.connless; return shared_.listener.no_packet(seen, "connectionless");
    case packet_guess::foreign:
        if (is_connection_) malformed(seen, "not a game packet");
        return;
    case packet_guess::v06: ++votes_06_; break;
    case packet_guess::v07: ++votes_07_; break;
    case packet_guess::undecided: break;
    }
    if (votes_06_ == 0 && votes_07_ == 0) return;
    if (!is_connection_) stats_.v07 = votes_07_ > votes_06_;
    read_packet(seen);
}

void followed_connection::read_packet(seen_packet const& seen) {
    wire_format const format = stats_.v07 ? wire_format::v07 : stats_.format.value_or(wire_format::v06);
    // Only the flags say whether there is a token of 0.6.5.
    auto const p = parse_packet(seen.datagram, stats_.v07 ? format : wire_format::v06, decoding::lenient);
    if (!p) return malformed(seen, fmt::format("byte {}: {}", p.error().position, describe(p.error().code)));
    stats_.from[seen.end].resend_requests += p->resend;
    if (p->control) {
        auto const m = parse_control(p->payload, format);
        if (!m)
            return malformed(seen, fmt::format("byte {}: control message: {}", p->header + m.error().position,
                                               describe(m.error().code)));
        shared_.listener.packet(seen, *p, p->payload);
        shared_.listener.control(seen, *m);
        return read_control(seen, *m);
    }
    auto const payload = decode_payload(*p, *shared_.payload);
    if (!payload)
        return malformed(seen, fmt::format("byte {}: Huffman: {}", p->header + payload.error().position,
                                           describe(payload.error().code)));
    read_chunks(seen, *p, *payload);
}

void followed_connection::read_control(seen_packet const& seen, control_message const& m) {
    switch (m.code) {
    case control_code::connect:
        if (!is_connection_) stats_.server_end = 1 - seen.end;
        return connect();
    case control_code::connect_accept:
        if (!stats_.v07 && !is_connection_) stats_.server_end = seen.end;
        if (m.ddnet && !stats_.v07) stats_.format = wire_format::ddnet;
        if (m.ddnet) stats_.ddnet = true;
        accepted_ = stats_.server_end == seen.end;
        return;
    case control_code::close:
        if (stats_.closed_by) return; // what is said last is said several times
        stats_.closed_by = stats_.sender_at(seen.end);
        stats_.close_reason = printable(m.reason);
        if (stats_.server_end == seen.end && !stats_.close_reason.empty()) promote(false);
        return;
    default: return;
    }
}

// Connects are repeated, and may come late. One is believed when the numbers of vital chunks restart.
void followed_connection::connect() {
    reconnects_ = stats_.from[0].vital + stats_.from[1].vital != 0;
    if (reconnects_) return;
    for (auto& from : stats_.from) from.stream.begin();
}

void followed_connection::start_anew() {
    reconnects_ = false;
    stay_over_ = true;
    stats_.closed_by.reset();
    stats_.close_reason.clear();
    for (auto& from : stats_.from) from.stream.begin();
    if (live_ == nullptr) return;
    flush_counts();
    live_->receiver.reset();
    live_->map_done = true;
}

void followed_connection::read_chunks(seen_packet const& seen, packet const& p,
                                      std::span<std::uint8_t const> payload) {
    wire_format const format = stats_.v07 ? wire_format::v07 : wire_format::v06;
    std::size_t const token_bytes = 4; // DDNet's, after the chunks
    chunk_reader counting{payload, p.chunks, format};
    std::size_t chunks = 0;
    for (chunk c; counting.next(c);) ++chunks;
    bool const whole = counting.error().code == errc::ok &&
                       (counting.rest().empty() || (!stats_.v07 && counting.rest().size() == token_bytes));
    if (!whole) {
        std::string const why = counting.error().code != errc::ok
                                    ? fmt::format("chunk {} of {} ends after the packet", chunks + 1, p.chunks)
                                    : fmt::format("{} bytes after the last chunk", counting.rest().size());
        note(stats_.malformed, fmt::format("frame {}: {}", seen.frame, why));
        if (!is_connection_) return shared_.listener.no_packet(seen, why);
    } else if (!stats_.format) {
        stats_.format = stats_.v07                              ? wire_format::v07
                        : p.has_token                           ? wire_format::v06_token
                        : counting.rest().size() == token_bytes ? wire_format::ddnet
                                                                : wire_format::v06;
        if (stats_.format == wire_format::ddnet) stats_.ddnet = true;
    }
    shared_.listener.packet(seen, p, payload);
    direction& from = stats_.from[seen.end];
    from.payload_bytes += payload.size();

    std::size_t const other_end = 1 - seen.end;
    stats_.from[other_end].stream.acknowledge(
        p.ack, [&](std::span<std::uint8_t const> bytes) { deliver(other_end, seen.frame, bytes); });
    chunk_reader reader{payload, p.chunks, format};
    for (chunk c; reader.next(c);) read_chunk(seen, c, whole);
}

void followed_connection::read_chunk(seen_packet const& seen, chunk const& c, bool whole) {
    direction& from = stats_.from[seen.end];
    seen_chunk report{c, nullptr, message_type::unknown, {}, nullptr, {}, false};
    auto const m = parse_message(c.data);
    if (!m) {
        note(stats_.malformed, fmt::format("frame {}: message: byte {}: {}", seen.frame, m.error().position,
                                           describe(m.error().code)));
        return shared_.listener.chunk_arrives(seen, report);
    }
    report.what = &*m;
    report.type = identify(*m, stats_.version());
    auto& counted = entry(from.messages, name_message(*m, report.type));
    ++counted.count;
    counted.bytes += c.data.size() + (c.vital ? 3 : 2);
    if (auto const who = usual_sender(report.type); who && !stats_.server_end && whole)
        stats_.server_end = *who == sender::server ? seen.end : 1 - seen.end;

    snapshot_event event;
    if (c.vital) {
        if (reconnects_ && c.sequence == 1 && !c.resend && !from.stream.expects(1)) start_anew();
        ++from.vital;
        // It is delivered below what listeners hear of it.
        std::vector<std::vector<std::uint8_t>> ready;
        report.place = from.stream.receive(
            c, [&](std::span<std::uint8_t const> bytes) { ready.emplace_back(bytes.begin(), bytes.end()); });
        from.repeated_vital += *report.place == vital_place::repeated;
        if (whole && names_map(*m, report.type, stats_.version())) promote(true);
        if (whole && accepted_ && report.type == message_type::info && stats_.server_end != seen.end)
            promote(false);
        shared_.listener.chunk_arrives(seen, report);
        for (auto const& bytes : ready) deliver(seen.end, seen.frame, bytes);
        return;
    }
    bool const from_server = stats_.server_end == seen.end;
    if (is_snapshot(report.type)) {
        if (whole && from_server && decode_snap(*m, stats_.version())) promote(true);
        if (is_connection_ && from_server) read_snapshot(seen, *m, report, event);
    } else {
        read_message(seen.end, seen.frame, *m, report.type, c.data, false);
    }
    shared_.listener.chunk_arrives(seen, report);
}

// ---- snapshots -----------------------------------------------------------------------------------------------------

void followed_connection::read_snapshot(seen_packet const& seen, message const& m, seen_chunk& report,
                                        snapshot_event& event) {
    live_state& state = live();
    event = state.receiver.receive(m, *shared_.scratch);
    report.snapshot = &event;
    if (event.kind == snapshot_event_kind::malformed) {
        ++stats_.undecodable;
        return note(stats_.damaged, fmt::format("frame {}: byte {} of a snapshot message: {}", seen.frame,
                                                event.error.position, describe(event.error.code)));
    }
    if (event.restarted || stay_over_ || stats_.stays.empty()) {
        map_stay unannounced;
        unannounced.first_frame = seen.frame;
        if (event.restarted && !stay_over_ && !stats_.stays.empty()) unannounced.map = stats_.stays.back().map;
        begin_stay(std::move(unannounced));
    }
    state.seen.insert(event.tick);
    if (state.seen.size() > usual_lateness) state.seen.erase(state.seen.begin());
    if (event.kind == snapshot_event_kind::part) state.collecting.insert(event.tick);
    else if (event.kind != snapshot_event_kind::ignored) state.collecting.erase(event.tick);
    while (!state.collecting.empty() && *state.collecting.begin() < event.tick - snapshot_pacing::keep_ticks) {
        state.collecting.erase(state.collecting.begin());
        ++stats_.incomplete;
    }
    auto const base = event.base_tick >= 0 ? state.receiver.past().find(event.base_tick) : snapshot_view{};
    report.base_known = base.has_value();
    report.base = base.value_or(snapshot_view{});

    map_stay& stay = stats_.stays.back();
    switch (event.kind) {
    case snapshot_event_kind::ignored: ++stats_.repeated; break;
    case snapshot_event_kind::missing_base: ++stats_.missing_base; break;
    case snapshot_event_kind::damaged:
        ++(event.error.code == errc::bad_checksum ? stats_.checksum_bad : stats_.undecodable);
        note(stats_.damaged,
             fmt::format("frame {}: tick {}: {}{}", seen.frame, event.tick, describe(event.error.code),
                         event.error.code == errc::bad_checksum ? std::string{}
                                                                : fmt::format(" (int {})", event.error.position)));
        break;
    case snapshot_event_kind::snapshot: {
        ++stats_.snapshots;
        ++stay.snapshots;
        ++(event.has_checksum ? stats_.checksum_ok : stats_.empty);
        stats_.checksum_sum += event.snapshot.checksum();
        stats_.late += event.tick < stay.last_tick;
        stats_.max_items = std::max(stats_.max_items, event.snapshot.size());
        stay.max_items = std::max(stay.max_items, event.snapshot.size());
        stay.first_tick = stay.first_tick < 0 ? event.tick : std::min(stay.first_tick, event.tick);
        stay.last_tick = std::max(stay.last_tick, event.tick);
        stats_.snapshot_bytes += event.delta_bytes;
        state.unordered.insert(event.tick);
        if (state.unordered.size() > usual_lateness) count_distance();
        count_items(event);
        shared_.listener.snapshot(stats_, event);
        break;
    }
    default: break;
    }
}

void followed_connection::count_items(snapshot_event const& event) {
    if (event.delta.empty()) return;
    auto reader = delta_reader::open(event.delta, stats_.v07 ? sizes_07 : sizes_06, decoding::lenient);
    if (!reader) return;
    stats_.removed_items += reader->removed_keys().size();
    stats_.removed_bytes += varint_size(reader->removed_keys());
    auto& known = live_->item_types;
    delta_reader all = *reader;
    for (delta_reader::update u; all.next(u);) {
        std::uint16_t const type = key_type(u.key);
        if (type == type_ex) known.clear(); // another type may stand for what it stood for
        auto [place, is_new] = known.try_emplace(type, nullptr);
        if (is_new) place->second = &entry(stats_.items, name_type(event.snapshot, type, stats_.version()).text);
        ++place->second->count;
        auto const end = static_cast<std::size_t>(u.data.data() + u.data.size() - event.delta.data());
        place->second->bytes += varint_size(event.delta.subspan(u.position, end - u.position));
        if (type >= first_alias) stats_.ddnet = true;
    }
}

// ---- messages --------------------------------------------------------------------------------------------------------

void followed_connection::deliver(std::size_t end, std::uint64_t frame, std::span<std::uint8_t const> bytes) {
    if (auto const m = parse_message(bytes))
        read_message(end, frame, *m, identify(*m, stats_.version()), bytes, true);
}

void followed_connection::read_message(std::size_t end, std::uint64_t frame, message const& m, message_type type,
                                       std::span<std::uint8_t const> bytes, bool vital) {
    protocol const p = stats_.version();
    if (stats_.server_end != end) {
        if (type == message_type::input && live_ != nullptr)
            if (auto const input = decode<messages::input>(m, p)) check_acknowledge(input->ack);
        if (type == message_type::start_info && stats_.player.empty()) {
            if (auto const info = decode<messages::start_info>(m, p)) stats_.player = printable(info->name);
        } else if (type == message_type::client_version) {
            if (auto const version = decode<messages::client_version>(m, p))
                stats_.client_version = printable(version->text);
        } else if (type == message_type::info && stats_.client_version.empty()) {
            if (auto const info = decode<messages::info>(m, p)) stats_.client_version = printable(info->version);
        }
        return;
    }
    if (!is_connection_) return;
    if (!m.system) return shared_.listener.game_message(stats_, m, type, bytes, vital);
    if (type == message_type::capabilities) stats_.ddnet = true;
    if (!vital) return;
    if (type == message_type::map_details) {
        auto const details = decode<messages::map_details>(m, p);
        if (!details) return;
        served_map& map = live().details.emplace();
        map.crc = details->crc;
        std::copy(details->sha256.begin(), details->sha256.end(), map.sha256.emplace().begin());
    } else if (type == message_type::map_change) {
        auto const change = decode<messages::map_change>(m, p);
        if (!change) return;
        map_stay stay;
        stay.announced = true;
        stay.first_frame = frame;
        stay.map.name = printable(change->name);
        stay.map.crc = change->crc;
        stay.map.size = static_cast<std::size_t>(std::max(0, change->size));
        live_state& state = live();
        if (change->sha256.size() == 32)
            std::copy(change->sha256.begin(), change->sha256.end(), stay.map.sha256.emplace().begin());
        else if (state.details && state.details->crc == change->crc) stay.map.sha256 = state.details->sha256;
        state.details.reset();
        state.receiver.reset();
        state.map_done = stay.map.size == 0 || stay.map.size > max_map_bytes;
        begin_stay(std::move(stay));
    } else if (type == message_type::map_data) {
        if (auto const data = decode<messages::map_data>(m, p)) add_map_data(*data);
    }
}

// Clients acknowledge what they received: if it is not there, then the capture lacks it.
void followed_connection::check_acknowledge(std::int32_t tick) {
    std::set<std::int32_t> const& seen = live_->seen;
    if (tick == live_->acknowledged || seen.empty()) return;
    if (tick <= *seen.begin() || tick > later(*seen.rbegin(), ticks_per_second)) return;
    live_->acknowledged = tick;
    stats_.not_captured += !seen.contains(tick);
}

void followed_connection::begin_stay(map_stay stay) {
    live_state& state = live();
    flush_counts();
    state.map.clear();
    state.map_chunks = 0;
    if (!stay.announced) state.map_done = true;
    stay_over_ = false;
    if (stats_.stays.size() < max_stays) stats_.stays.push_back(std::move(stay));
    shared_.listener.stay_begins(stats_, stats_.stays.back());
}

void followed_connection::add_map_data(messages::map_data const& m) {
    live_state& state = live();
    if (state.map_done || stats_.stays.empty()) return;
    map_stay& stay = stats_.stays.back();
    if (!stats_.v07) {
        // Chunks come in order; one that was asked for twice comes twice.
        if (m.number < state.map_chunks) return;
        if (m.number != state.map_chunks || m.crc != stay.map.crc) {
            state.map_done = true; // some of it is not in the capture
            return;
        }
    }
    ++state.map_chunks;
    state.map.insert(state.map.end(), m.data.begin(), m.data.end());
    if (state.map.size() < stay.map.size) return;
    state.map_done = true;
    stay.downloaded = state.map.size() == stay.map.size && is_map(stay.map, state.map);
    if (stay.downloaded) shared_.listener.map_complete(stats_, stay, std::move(state.map));
    state.map = {};
}

} // namespace teewire::replay
