#include "recording/capture/connections.hpp"

#include "base/text.hpp"
#include "game/item_text.hpp"
#include "game/ticks.hpp"

#include <teewire/delta.hpp>
#include <teewire/demo_format.hpp>
#include <teewire/varint.hpp>

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace teewire::replay {

/// What following a connection takes.
struct connection_stats::live_state {
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
constexpr std::size_t max_names = 200;      // of messages or items; all further ones are one
constexpr std::size_t max_stays = 1000;
constexpr std::int32_t max_distance = 1000; // ticks; all larger ones count as this
constexpr std::size_t max_map_bytes = std::size_t{256} << 20;

usage& entry(usage_table& table, std::string_view name) {
    auto found = table.find(name);
    if (found != table.end()) return found->second;
    return table[table.size() < max_names ? std::string{name} : "other"];
}

void note(first_error& of, std::string const& text) {
    if (of.count++ == 0) of.first = text;
}

bool is_snapshot(message_type type) {
    return type == message_type::snap || type == message_type::snap_empty || type == message_type::snap_single;
}

// What only servers of games say, and right at the beginning.
bool names_map(message const& m, message_type type, protocol p) {
    return (type == message_type::map_change && decode<messages::map_change>(m, p)) ||
           (type == message_type::map_details && decode<messages::map_details>(m, p));
}

// Who sends such messages; nobody for those that both do.
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

std::string name_message(message const& m, message_type type) {
    if (type != message_type::unknown) return std::string{describe(type).name};
    if (m.id == 0) return "uuid_" + uuid_text(m.extended);
    return fmt::format("{}_{}", m.system ? "system" : "game", m.id);
}

// A handshake, which may be that of another protocol than before.
bool begins_connection(std::span<std::uint8_t const> datagram, bool v07) {
    auto const p = parse_packet(datagram, v07 ? wire_format::v07 : wire_format::v06);
    if (!p || !p->control) return false;
    auto const m = parse_control(p->payload, v07 ? wire_format::v07 : wire_format::v06);
    return m && (m->code == control_code::connect || m->code == control_code::token);
}

void count_distance(connection_stats& stats, connection_stats::live_state& state) {
    std::int32_t const tick = *state.unordered.begin();
    state.unordered.erase(state.unordered.begin());
    if (state.counted && tick > *state.counted) ++stats.distances[std::min(tick - *state.counted, max_distance)];
    if (!state.counted || tick > *state.counted) state.counted = tick;
}

// What comes next has nothing to do with what came before.
void flush_counts(connection_stats& stats, connection_stats::live_state& state) {
    while (!state.unordered.empty()) count_distance(stats, state);
    state.counted.reset();
    stats.incomplete += state.collecting.size();
    state.collecting.clear();
    state.seen.clear();
    state.item_types.clear();
}

} // namespace

connection_stats::connection_stats() = default;
connection_stats::~connection_stats() = default;

// ---- pairs of addresses ----------------------------------------------------------------------------------------------

std::size_t connection_watcher::pair_hash::operator()(address_pair const& pair) const noexcept {
    std::array<std::uint8_t, 36> bytes;
    auto to = bytes.begin();
    for (auto const& address : pair) {
        to = std::copy(address.ip.begin(), address.ip.end(), to);
        *to++ = static_cast<std::uint8_t>(address.port >> 8);
        *to++ = static_cast<std::uint8_t>(address.port);
    }
    return static_cast<std::size_t>(hash(bytes));
}

connection_watcher::address_pair connection_watcher::key_of(udp_address const& a, udp_address const& b) {
    return a < b ? address_pair{a, b} : address_pair{b, a};
}

connection_watcher::connection_watcher(capture_listener& listener)
    : listener_{listener}, scratch_{std::make_unique<snapshot_scratch>()},
      payload_{std::make_unique<payload_memory>()} {}

connection_watcher::~connection_watcher() = default;

connection_watcher::stats_list::iterator connection_watcher::add(address_pair const& key, std::uint64_t frame,
                                                                 std::int64_t time, udp_datagram const& datagram) {
    if (pairs_.size() >= max_pairs) {
        by_pair_.erase(key_of(pairs_.back().ends[0], pairs_.back().ends[1]));
        pairs_.pop_back();
    }
    pairs_.emplace_front();
    auto const added = pairs_.begin();
    added->ends = {datagram.from, datagram.to};
    added->first_frame = frame;
    added->first_time = time;
    by_pair_[key] = added;
    return added;
}

connection_stats& connection_watcher::find(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram) {
    address_pair const key = key_of(datagram.from, datagram.to);
    auto const found = by_pair_.find(key);
    auto known = found != by_pair_.end() ? found->second : add(key, frame, time, datagram);
    // An old connection ends where one of another protocol begins.
    if (known->is_connection && begins_connection(datagram.payload, !known->v07) &&
        !begins_connection(datagram.payload, known->v07))
        known = add(key, frame, time, datagram);
    if (!known->is_connection) pairs_.splice(pairs_.begin(), pairs_, known);
    known->last_time = time;
    return *known;
}

void connection_watcher::promote(connection_stats& stats) {
    if (stats.is_connection || stats.left_out) return;
    if (connections_.size() >= max_connections) {
        stats.left_out = true;
        ++left_out_;
        return;
    }
    stats.is_connection = true;
    assert(&stats == &pairs_.front()); // as it was seen last
    connections_.splice(connections_.end(), pairs_, pairs_.begin());
}

connection_stats::live_state& connection_watcher::live(connection_stats& stats) {
    if (stats.live != nullptr) return *stats.live;
    if (live_.size() >= max_live) {
        auto const oldest = std::min_element(
            live_.begin(), live_.end(), [](auto const* a, auto const* b) { return a->last_time < b->last_time; });
        ++dropped_;
        release(**oldest);
    }
    stats.live = std::make_unique<connection_stats::live_state>(stats.v07);
    live_.push_back(&stats);
    return *stats.live;
}

void connection_watcher::release(connection_stats& stats) {
    for (std::size_t const end : {0, 1})
        stats.from[end].stream.finish(
            [&](std::span<std::uint8_t const> bytes) { deliver(stats, end, stats.first_frame, bytes); });
    flush_counts(stats, *stats.live);
    stats.live.reset();
    std::erase(live_, &stats);
}

void connection_watcher::drop_idle(std::int64_t now) {
    constexpr std::int64_t second = 1'000'000'000;
    if (now < next_sweep_ && now > next_sweep_ - 10 * second) return; // a clock may be set back
    next_sweep_ = now + second;
    for (std::size_t i = live_.size(); i-- > 0;)
        if (now - live_[i]->last_time > idle_time) release(*live_[i]);
}

void connection_watcher::finish() {
    while (!live_.empty()) release(*live_.back());
}

std::vector<connection_stats const*> connection_watcher::connections() const {
    std::vector<connection_stats const*> all;
    for (auto const& each : connections_) all.push_back(&each);
    // Those that brought no snapshot come behind the others.
    std::stable_sort(all.begin(), all.end(), [](auto const* a, auto const* b) {
        return std::pair{!a->has_snapshots(), a->first_frame} < std::pair{!b->has_snapshots(), b->first_frame};
    });
    return all;
}

std::uint64_t connection_watcher::foreign() const {
    std::uint64_t count = datagrams_;
    for (auto const& each : connections_) count -= each.from[0].packets + each.from[1].packets;
    return count;
}

std::uint64_t connection_watcher::foreign_connless() const {
    std::uint64_t count = connless_;
    for (auto const& each : connections_) count -= each.from[0].connless + each.from[1].connless;
    return count;
}

// ---- packets -------------------------------------------------------------------------------------------------------

void connection_watcher::malformed(seen_packet const& seen, connection_stats& stats, std::string const& why) {
    note(stats.malformed, fmt::format("frame {}: {}", seen.frame, why));
    listener_.no_packet(seen, why);
}

void connection_watcher::receive(std::uint64_t frame, std::int64_t time, udp_datagram const& datagram) {
    drop_idle(time);
    connection_stats& stats = find(frame, time, datagram);
    std::size_t const end = datagram.from == stats.ends[0] ? 0 : 1;
    seen_packet const seen{frame, time, stats, end, datagram.payload};
    direction& from = stats.from[end];
    ++datagrams_;
    ++from.packets;
    from.bytes += datagram.payload.size();

    switch (guess_packet(datagram.payload)) {
    case packet_guess::connless_06:
    case packet_guess::connless_07:
        ++connless_;
        ++from.connless;
        return listener_.no_packet(seen, "connectionless");
    case packet_guess::foreign:
        if (stats.is_connection) malformed(seen, stats, "no packet of a game");
        return;
    case packet_guess::v06: ++stats.votes_06; break;
    case packet_guess::v07: ++stats.votes_07; break;
    case packet_guess::undecided: break;
    }
    if (stats.votes_06 == 0 && stats.votes_07 == 0) return;
    if (!stats.is_connection) stats.v07 = stats.votes_07 > stats.votes_06;
    read_packet(seen, stats);
}

void connection_watcher::read_packet(seen_packet const& seen, connection_stats& stats) {
    wire_format const format = stats.v07 ? wire_format::v07 : stats.format.value_or(wire_format::v06);
    // The flags alone say whether there is a token of 0.6.5.
    auto const p = parse_packet(seen.datagram, stats.v07 ? format : wire_format::v06, decoding::lenient);
    if (!p) return malformed(seen, stats, fmt::format("byte {}: {}", p.error().position, describe(p.error().code)));
    stats.from[seen.end].resend_requests += p->resend;
    if (p->control) {
        auto const m = parse_control(p->payload, format);
        if (!m)
            return malformed(seen, stats,
                             fmt::format("byte {}: control message: {}", p->header + m.error().position,
                                         describe(m.error().code)));
        listener_.packet(seen, *p, p->payload);
        listener_.control(seen, *m);
        return read_control(seen, stats, *m);
    }
    auto const payload = decode_payload(*p, *payload_);
    if (!payload)
        return malformed(seen, stats,
                         fmt::format("byte {}: Huffman: {}", p->header + payload.error().position,
                                     describe(payload.error().code)));
    read_chunks(seen, stats, *p, *payload);
}

void connection_watcher::read_control(seen_packet const& seen, connection_stats& stats, control_message const& m) {
    switch (m.code) {
    case control_code::connect:
        if (!stats.is_connection) stats.server_end = 1 - seen.end;
        return connect(stats);
    case control_code::connect_accept:
        if (!stats.v07 && !stats.is_connection) stats.server_end = seen.end;
        if (m.ddnet && !stats.v07) stats.format = wire_format::ddnet;
        if (m.ddnet) stats.ddnet = true;
        return;
    case control_code::close:
        if (stats.closed_by) return; // what is said last is said several times
        stats.closed_by = stats.sender_at(seen.end);
        stats.close_reason = printable(m.reason);
        return;
    default: return;
    }
}

// Connects are repeated, and may come late. One is believed when the numbers of vital chunks begin anew.
void connection_watcher::connect(connection_stats& stats) {
    stats.reconnects = stats.from[0].vital + stats.from[1].vital != 0;
    if (stats.reconnects) return;
    for (auto& from : stats.from) from.stream.begin();
}

void connection_watcher::start_anew(connection_stats& stats) {
    stats.reconnects = false;
    stats.stay_over = true;
    stats.closed_by.reset();
    stats.close_reason.clear();
    for (auto& from : stats.from) from.stream.begin();
    if (stats.live == nullptr) return;
    flush_counts(stats, *stats.live);
    stats.live->receiver.reset();
    stats.live->map_done = true;
}

void connection_watcher::read_chunks(seen_packet const& seen, connection_stats& stats, packet const& p,
                                     std::span<std::uint8_t const> payload) {
    wire_format const format = stats.v07 ? wire_format::v07 : wire_format::v06;
    std::size_t const token_bytes = 4; // DDNet's, behind the chunks
    chunk_reader counting{payload, p.chunks, format};
    std::size_t chunks = 0;
    for (chunk c; counting.next(c);) ++chunks;
    bool const whole = counting.error().code == errc::ok &&
                       (counting.rest().empty() || (!stats.v07 && counting.rest().size() == token_bytes));
    if (!whole) {
        std::string const why = counting.error().code != errc::ok
                                    ? fmt::format("chunk {} of {} ends behind the packet", chunks + 1, p.chunks)
                                    : fmt::format("{} bytes behind the last chunk", counting.rest().size());
        note(stats.malformed, fmt::format("frame {}: {}", seen.frame, why));
        if (!stats.is_connection) return listener_.no_packet(seen, why);
    } else if (!stats.format) {
        stats.format = stats.v07                               ? wire_format::v07
                       : p.has_token                           ? wire_format::v06_token
                       : counting.rest().size() == token_bytes ? wire_format::ddnet
                                                               : wire_format::v06;
        if (stats.format == wire_format::ddnet) stats.ddnet = true;
    }
    listener_.packet(seen, p, payload);
    direction& from = stats.from[seen.end];
    from.payload_bytes += payload.size();

    std::size_t const other_end = 1 - seen.end;
    stats.from[other_end].stream.acknowledge(
        p.ack, [&](std::span<std::uint8_t const> bytes) { deliver(stats, other_end, seen.frame, bytes); });
    chunk_reader reader{payload, p.chunks, format};
    for (chunk c; reader.next(c);) read_chunk(seen, stats, c, whole);
}

void connection_watcher::read_chunk(seen_packet const& seen, connection_stats& stats, chunk const& c, bool whole) {
    direction& from = stats.from[seen.end];
    seen_chunk report{c, nullptr, message_type::unknown, {}, nullptr, {}, false};
    auto const m = parse_message(c.data);
    if (!m) {
        note(stats.malformed, fmt::format("frame {}: message: byte {}: {}", seen.frame, m.error().position,
                                          describe(m.error().code)));
        return listener_.chunk_arrives(seen, report);
    }
    report.what = &*m;
    report.type = identify(*m, stats.version());
    auto& counted = entry(from.messages, name_message(*m, report.type));
    ++counted.count;
    counted.bytes += c.data.size() + (c.vital ? 3 : 2);
    if (auto const who = usual_sender(report.type); who && !stats.server_end && whole)
        stats.server_end = *who == sender::server ? seen.end : 1 - seen.end;

    snapshot_event event;
    if (c.vital) {
        if (stats.reconnects && c.sequence == 1 && !c.resend && !from.stream.expects(1)) start_anew(stats);
        ++from.vital;
        // It is delivered below what listeners hear of it.
        std::vector<std::vector<std::uint8_t>> ready;
        report.place = from.stream.receive(
            c, [&](std::span<std::uint8_t const> bytes) { ready.emplace_back(bytes.begin(), bytes.end()); });
        from.repeated_vital += *report.place == vital_place::repeated;
        if (whole && names_map(*m, report.type, stats.version())) promote(stats);
        listener_.chunk_arrives(seen, report);
        for (auto const& bytes : ready) deliver(stats, seen.end, seen.frame, bytes);
        return;
    }
    bool const from_server = stats.server_end == seen.end;
    if (is_snapshot(report.type)) {
        if (whole && from_server && decode_snap(*m, stats.version())) promote(stats);
        if (stats.is_connection && from_server) read_snapshot(seen, stats, *m, report, event);
    } else {
        read_message(stats, seen.end, seen.frame, *m, report.type, c.data, false);
    }
    listener_.chunk_arrives(seen, report);
}

// ---- snapshots -----------------------------------------------------------------------------------------------------

void connection_watcher::read_snapshot(seen_packet const& seen, connection_stats& stats, message const& m,
                                       seen_chunk& report, snapshot_event& event) {
    connection_stats::live_state& state = live(stats);
    event = state.receiver.receive(m, *scratch_);
    report.snapshot = &event;
    if (event.kind == snapshot_event_kind::malformed) {
        ++stats.undecodable;
        return note(stats.damaged, fmt::format("frame {}: byte {} of a snapshot message: {}", seen.frame,
                                               event.error.position, describe(event.error.code)));
    }
    if (event.restarted || stats.stay_over || stats.stays.empty()) {
        map_stay unannounced;
        unannounced.first_frame = seen.frame;
        if (event.restarted && !stats.stay_over && !stats.stays.empty()) unannounced.map = stats.stays.back().map;
        begin_stay(stats, std::move(unannounced));
    }
    state.seen.insert(event.tick);
    if (state.seen.size() > usual_lateness) state.seen.erase(state.seen.begin());
    if (event.kind == snapshot_event_kind::part) state.collecting.insert(event.tick);
    else if (event.kind != snapshot_event_kind::ignored) state.collecting.erase(event.tick);
    while (!state.collecting.empty() && *state.collecting.begin() < event.tick - snapshot_pacing::keep_ticks) {
        state.collecting.erase(state.collecting.begin());
        ++stats.incomplete;
    }
    auto const base = event.base_tick >= 0 ? state.receiver.past().find(event.base_tick) : snapshot_view{};
    report.base_known = base.has_value();
    report.base = base.value_or(snapshot_view{});

    map_stay& stay = stats.stays.back();
    switch (event.kind) {
    case snapshot_event_kind::ignored: ++stats.repeated; break;
    case snapshot_event_kind::missing_base: ++stats.missing_base; break;
    case snapshot_event_kind::damaged:
        ++(event.error.code == errc::bad_checksum ? stats.checksum_bad : stats.undecodable);
        note(stats.damaged,
             fmt::format("frame {}: tick {}: {}{}", seen.frame, event.tick, describe(event.error.code),
                         event.error.code == errc::bad_checksum ? std::string{}
                                                                : fmt::format(" (int {})", event.error.position)));
        break;
    case snapshot_event_kind::snapshot: {
        ++stats.snapshots;
        ++stay.snapshots;
        ++(event.has_checksum ? stats.checksum_ok : stats.empty);
        stats.checksum_sum += event.snapshot.checksum();
        stats.late += event.tick < stay.last_tick;
        stats.max_items = std::max(stats.max_items, event.snapshot.size());
        stay.max_items = std::max(stay.max_items, event.snapshot.size());
        stay.first_tick = stay.first_tick < 0 ? event.tick : std::min(stay.first_tick, event.tick);
        stay.last_tick = std::max(stay.last_tick, event.tick);
        stats.snapshot_bytes += event.delta_bytes;
        state.unordered.insert(event.tick);
        if (state.unordered.size() > usual_lateness) count_distance(stats, state);
        count_items(stats, event);
        listener_.snapshot(stats, event);
        break;
    }
    default: break;
    }
}

void connection_watcher::count_items(connection_stats& stats, snapshot_event const& event) {
    if (event.delta.empty()) return;
    auto reader = delta_reader::open(event.delta, stats.v07 ? sizes_07 : sizes_06, decoding::lenient);
    if (!reader) return;
    stats.removed_items += reader->removed_keys().size();
    stats.removed_bytes += varint_size(reader->removed_keys());
    auto& known = stats.live->item_types;
    delta_reader all = *reader;
    for (delta_reader::update u; all.next(u);) {
        std::uint16_t const type = key_type(u.key);
        if (type == type_ex) known.clear(); // another type may stand for what it stood for
        auto [place, is_new] = known.try_emplace(type, nullptr);
        if (is_new) place->second = &entry(stats.items, name_type(event.snapshot, type, stats.version()).text);
        ++place->second->count;
        auto const end = static_cast<std::size_t>(u.data.data() + u.data.size() - event.delta.data());
        place->second->bytes += varint_size(event.delta.subspan(u.position, end - u.position));
        if (type >= first_alias) stats.ddnet = true;
    }
}

// ---- messages --------------------------------------------------------------------------------------------------------

void connection_watcher::deliver(connection_stats& stats, std::size_t end, std::uint64_t frame,
                                 std::span<std::uint8_t const> bytes) {
    if (auto const m = parse_message(bytes))
        read_message(stats, end, frame, *m, identify(*m, stats.version()), bytes, true);
}

void connection_watcher::read_message(connection_stats& stats, std::size_t end, std::uint64_t frame,
                                      message const& m, message_type type, std::span<std::uint8_t const> bytes,
                                      bool vital) {
    protocol const p = stats.version();
    if (stats.server_end != end) {
        if (type == message_type::input && stats.live != nullptr)
            if (auto const input = decode<messages::input>(m, p)) check_acknowledge(stats, input->ack);
        if (type == message_type::start_info && stats.player.empty()) {
            if (auto const info = decode<messages::start_info>(m, p)) stats.player = printable(info->name);
        } else if (type == message_type::client_version) {
            if (auto const version = decode<messages::client_version>(m, p))
                stats.client_version = printable(version->text);
        } else if (type == message_type::info && stats.client_version.empty()) {
            if (auto const info = decode<messages::info>(m, p)) stats.client_version = printable(info->version);
        }
        return;
    }
    if (!stats.is_connection) return;
    if (!m.system) return listener_.game_message(stats, m, type, bytes, vital);
    if (type == message_type::capabilities) stats.ddnet = true;
    if (!vital) return;
    if (type == message_type::map_details) {
        auto const details = decode<messages::map_details>(m, p);
        if (!details) return;
        served_map& map = live(stats).details.emplace();
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
        connection_stats::live_state& state = live(stats);
        if (change->sha256.size() == 32)
            std::copy(change->sha256.begin(), change->sha256.end(), stay.map.sha256.emplace().begin());
        else if (state.details && state.details->crc == change->crc) stay.map.sha256 = state.details->sha256;
        state.details.reset();
        state.receiver.reset();
        state.map_done = stay.map.size == 0 || stay.map.size > max_map_bytes;
        begin_stay(stats, std::move(stay));
    } else if (type == message_type::map_data) {
        if (auto const data = decode<messages::map_data>(m, p)) add_map_data(stats, *data);
    }
}

// Clients acknowledge what they received: if it is not there, then the capture lacks it.
void connection_watcher::check_acknowledge(connection_stats& stats, std::int32_t tick) {
    std::set<std::int32_t> const& seen = stats.live->seen;
    if (tick == stats.live->acknowledged || seen.empty()) return;
    if (tick <= *seen.begin() || tick > later(*seen.rbegin(), ticks_per_second)) return;
    stats.live->acknowledged = tick;
    stats.not_captured += !seen.contains(tick);
}

void connection_watcher::begin_stay(connection_stats& stats, map_stay stay) {
    connection_stats::live_state& state = live(stats);
    flush_counts(stats, state);
    state.map.clear();
    state.map_chunks = 0;
    if (!stay.announced) state.map_done = true;
    stats.stay_over = false;
    if (stats.stays.size() < max_stays) stats.stays.push_back(std::move(stay));
    listener_.stay_begins(stats, stats.stays.back());
}

void connection_watcher::add_map_data(connection_stats& stats, messages::map_data const& m) {
    connection_stats::live_state& state = live(stats);
    if (state.map_done || stats.stays.empty()) return;
    map_stay& stay = stats.stays.back();
    if (!stats.v07) {
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
    stay.downloaded =
        state.map.size() == stay.map.size && crc32_z(0, state.map.data(), state.map.size()) == stay.map.crc;
    if (stay.downloaded) listener_.map_complete(stats, stay, std::move(state.map));
    state.map = {};
}

} // namespace teewire::replay
