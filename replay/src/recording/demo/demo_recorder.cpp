#include "recording/demo/demo_recorder.hpp"

#include "base/os/process.hpp"

#include <teewire/packer.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>
#include <ctime>
#include <utility>

namespace teewire::replay {
namespace {

// 0.7's own clients read version 4 and no later one, DDNet's read both. DDNet and 0.6: what DDNet writes, for which the
// SHA-256 of the map has to be known.
constexpr std::uint8_t version_without_sha256 = 4;

// What 0.7's clients leave out: demos say it by items.
bool left_out_by_07(message_type type) {
    switch (type) {
    case message_type::tune_params:
    case message_type::client_info:
    case message_type::client_drop:
    case message_type::skin_change:
    case message_type::game_info:
    case message_type::server_settings: return true;
    default: return false;
    }
}

} // namespace

demo_recorder::demo_recorder(byte_sink& to, recording_info const& what)
    : protocol_{what.version}, memory_{std::make_unique<memory>()}, builder_{memory_->builder},
      markers_{what.markers.begin(), what.markers.end()} {
    bool const v07 = protocol_ == protocol::teeworlds_07;
    demo_header header;
    if (v07 || (!what.map.sha256 && what.map_bytes.empty())) header.version = version_without_sha256;
    set_text(header.net_version, v07 ? net_version_07 : net_version_06);
    set_text(header.map_name, what.map.name);
    header.map_size = static_cast<std::uint32_t>(what.map_bytes.size());
    header.map_crc = what.map.crc;
    set_text(header.type, what.one_receiver ? "client" : "server");
    std::time_t const recorded = what.began != 0 ? what.began : std::time(nullptr);
    std::tm local{};
    char text[20] = "";
    if (os::local_time(recorded, local)) std::strftime(text, sizeof text, "%Y-%m-%d_%H-%M-%S", &local);
    set_text(header.timestamp, text);
    if (header.version >= 6) {
        header.has_sha256 = true;
        header.sha256 = what.map.sha256 ? *what.map.sha256 : sha256(what.map_bytes);
    }
    if (what.first_tick >= 0 && what.last_tick > what.first_tick)
        header.length = (what.last_tick - what.first_tick) / ticks_per_second;
    markers_.resize(std::min(markers_.size(), max_demo_markers));
    header.marker_count = static_cast<std::int32_t>(markers_.size());
    std::copy(markers_.begin(), markers_.end(), header.marker_ticks.begin());
    out_.emplace(to, header, what.map_bytes, v07 ? sizes_07 : sizes_06);
}

bool demo_recorder::put(stream_event const& event) {
    if (event.kind == event_kind::message) write_message(event.message, event.vital);
    return event.kind != event_kind::snapshot || write_snapshot(event.tick, event.state);
}

void demo_recorder::write_message(std::span<std::uint8_t const> bytes, bool vital) {
    auto const m = parse_message(bytes);
    if (!m) return;
    // What 0.7 says about players has to be known for the first snapshot; the rest follows it, as players begin with a
    // snapshot.
    if (snapshots() == 0 && !(protocol_ == protocol::teeworlds_07 && roster{}.receive(*m)))
        return early_.add(bytes, vital);
    message_type const type = identify(*m, protocol_);
    if (type == message_type::ready_to_enter) return; // players of demos would take it for an invitation
    write_known(*m, type, bytes, vital);
}

snapshot_view demo_recorder::add_roster(snapshot_view snapshot) {
    // Demos have these items themselves, even when no player is left.
    players_are_items_ = players_are_items_ || std::any_of(snapshot.begin(), snapshot.end(), [](item const& i) {
                             return i.type() == type_client_info_07;
                         });
    if (players_are_items_) return snapshot;
    builder_.start();
    // Items that do not fit are left out; the server's own come first.
    for (item const i : snapshot) static_cast<void>(builder_.add(i));
    auto const add = [this](std::uint16_t type, std::size_t id, std::span<std::int32_t const> data) {
        static_cast<void>(builder_.add(item{make_key(type, static_cast<std::uint16_t>(id)), data}));
    };
    for (std::size_t i = 0; i < max_clients_07; ++i)
        if (roster_.clients[i]) add(type_client_info_07, i, *roster_.clients[i]);
    if (roster_.game) add(type_game_info_07, 0, *roster_.game);
    if (roster_.tuning && *roster_.tuning != standard_tuning_07) add(type_tune_params_07, 0, *roster_.tuning);
    auto const sorted = builder_.finish(memory_->sorted, item_order::by_key);
    return sorted ? *sorted : snapshot;
}

bool demo_recorder::write_snapshot(std::int32_t tick, snapshot_view snapshot) {
    if (protocol_ == protocol::teeworlds_07) snapshot = add_roster(snapshot);
    if (!out_->write_snapshot(tick, snapshot)) {
        ++refused_;
        return false;
    }
    if (first_tick_ < 0) first_tick_ = tick;
    last_tick_ = tick;
    early_.release([&](std::span<std::uint8_t const> bytes, bool vital) { write_message(bytes, vital); });
    return true;
}

// 0.7's clients record a message of their own where the server's is left out.
void demo_recorder::write_join(message const& m, bool enters) {
    std::array<std::uint8_t, 512> bytes;
    packer out{bytes};
    out.add_int(describe(enters ? message_type::demo_client_enter : message_type::demo_client_leave).id_07 << 1);
    if (enters) {
        auto const info = decode<messages::client_info>(m, protocol_);
        if (!info || info->silent || info->local) return;
        out.add_string(info->name).add_int(info->client_id).add_int(info->team);
    } else {
        auto const drop = decode<messages::client_drop>(m, protocol_);
        if (!drop || drop->silent) return;
        auto const* const client = roster_.client(drop->client_id);
        if (client == nullptr || !*client) return;
        client_message described;
        describe_client(drop->client_id, **client, described);
        out.add_string(described.message.name).add_int(drop->client_id).add_string(drop->reason);
    }
    auto const message = out.finish();
    if (!message) return;
    messages_ += out_->write_message(*message);
}

void demo_recorder::write_known(message const& m, message_type type, std::span<std::uint8_t const> bytes,
                                bool vital) {
    if (protocol_ == protocol::teeworlds_07) {
        if (snapshots() > 0 && (type == message_type::client_info || type == message_type::client_drop))
            write_join(m, type == message_type::client_info);
        roster_.receive(m);
        if (left_out_by_07(type)) return;
    }
    if (snapshots() == 0 || (!vital && type != message_type::pre_input))
        return; // only the roster can come before it
    ++(out_->write_message(bytes) ? messages_ : refused_);
}

} // namespace teewire::replay
