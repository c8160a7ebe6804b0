#include "recording/capture/explain.hpp"

#include "game/item_text.hpp"
#include "game/message_fields.hpp"

#include <teewire/delta.hpp>

#include <algorithm>

namespace teewire::replay {
namespace {

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", printable(text)); }

std::string print_fields(message const& m, message_type type, protocol p) {
    std::size_t wrong_at = 0;
    if (auto known = fields_text(m, type, p, &wrong_at)) return *known;
    std::string const bytes = m.fields.empty() ? std::string{} : first_bytes_text(m.fields);
    return has_message(type, p) ? fmt::format("malformed at byte {} of its fields: {}", wrong_at, bytes) : bytes;
}

std::string_view place_text(vital_place place) {
    switch (place) {
    case vital_place::next: break;
    case vital_place::repeated: return ", repeated";
    case vital_place::held: return ", waits for earlier messages";
    }
    return "";
}

} // namespace

void packet_printer::print_head(seen_packet const& seen) {
    if (begin_ < 0) begin_ = seen.time;
    std::int64_t const microseconds = (seen.time - begin_) / 1000;
    out_.print("frame {}  {}.{:06}  {} > {}  ", seen.frame, microseconds / 1'000'000,
               std::abs(microseconds % 1'000'000), address_text(seen.of.ends[seen.end]),
               address_text(seen.of.ends[1 - seen.end]));
}

void packet_printer::packet(seen_packet const& seen, teewire::packet const& p,
                            std::span<std::uint8_t const> payload) {
    if (!wanted(seen)) return;
    print_head(seen);
    out_.print("{}{} bytes", seen.of.v07 ? "0.7, " : "0.6, ", seen.datagram.size());
    if (p.compressed) out_.print(", payload {} of {}", p.payload.size(), payload.size());
    if (!p.control) out_.print(", ack {}", p.ack);
    if (p.has_token) out_.print(", token {:08x}", p.token);
    if (p.resend) out_.print(", asks for a resend");
    if (!p.control) out_.print(", {}", counted(p.chunks, "chunk"));
    out_.print("\n");
}

void packet_printer::control(seen_packet const& seen, control_message const& m) {
    if (!wanted(seen)) return;
    out_.print("  control: {}", name(m.code));
    if (m.ddnet) out_.print(", DDNet");
    if (m.has_token) out_.print(", token {:08x}", m.token);
    if (!m.reason.empty()) out_.print(", reason {}", quoted(m.reason));
    out_.print("\n");
}

void packet_printer::no_packet(seen_packet const& seen, std::string_view why) {
    if (!wanted(seen)) return;
    print_head(seen);
    out_.print("{} bytes, {}: {}\n", seen.datagram.size(), why, first_bytes_text(seen.datagram));
}

void packet_printer::chunk_arrives(seen_packet const& seen, seen_chunk const& chunk) {
    if (!wanted(seen)) return;
    out_.print("  {}", counted(chunk.data.data.size(), "byte"));
    if (chunk.data.vital) out_.print(", vital {}", chunk.data.sequence);
    if (chunk.data.resend) out_.print(", resent");
    if (chunk.place) out_.print("{}", place_text(*chunk.place));
    if (chunk.what == nullptr) {
        out_.print(": no message: {}\n", first_bytes_text(chunk.data.data));
        return;
    }
    out_.print(": {}", name_message(*chunk.what, chunk.type));
    if (chunk.snapshot != nullptr) return print_snapshot(seen, chunk);
    std::string const fields = print_fields(*chunk.what, chunk.type, seen.of.version());
    out_.print("{}{}\n", fields.empty() ? "" : ": ", fields);
}

void packet_printer::print_snapshot(seen_packet const& seen, seen_chunk const& chunk) {
    snapshot_event const& event = *chunk.snapshot;
    auto const sent = decode_snap(*chunk.what, seen.of.version());
    if (sent) {
        out_.print(": tick {}", sent->tick);
        if (sent->base_tick >= 0) out_.print(", base {}", sent->base_tick);
        else out_.print(", no base");
        if (sent->parts > 1) out_.print(", part {} of {}", sent->part + 1, sent->parts);
        if (sent->has_checksum) out_.print(", checksum {:08x}", sent->checksum);
        out_.print(", {} bytes", sent->data.size());
    }
    switch (event.kind) {
    case snapshot_event_kind::ignored: out_.print(": repeated, or too old\n"); break;
    case snapshot_event_kind::part: out_.print("\n"); break;
    case snapshot_event_kind::missing_base: out_.print(": the base is not in the capture\n"); break;
    case snapshot_event_kind::malformed:
        out_.print(": malformed: byte {}: {}\n", event.error.position, describe(event.error.code));
        break;
    case snapshot_event_kind::damaged:
        out_.print(": wrong: int {} of the delta: {}\n", event.error.position, describe(event.error.code));
        break;
    case snapshot_event_kind::snapshot:
        out_.print(": {} items, {}\n", event.snapshot.size(), event.has_checksum ? "checksum right" : "unchanged");
        return print_delta(seen, chunk);
    case snapshot_event_kind::other: out_.print("\n"); break;
    }
}

void packet_printer::print_delta(seen_packet const& seen, seen_chunk const& chunk) {
    snapshot_event const& event = *chunk.snapshot;
    protocol const p = seen.of.version();
    if (event.delta.empty()) return;
    auto reader = delta_reader::open(event.delta, seen.of.v07 ? sizes_07 : sizes_06, decoding::lenient);
    if (!reader) return;
    for (std::int32_t const key : reader->removed_keys())
        out_.print("    - {} {}\n", name_type(chunk.base, key_type(key), p).text, key_id(key));
    delta_reader all = *reader;
    for (delta_reader::update u; all.next(u);) {
        type_name const type = name_type(event.snapshot, key_type(u.key), p);
        auto const now = event.snapshot.find(u.key);
        bool const is_new = !chunk.base_known || !chunk.base.find(u.key);
        out_.print("    {} {} {}:{}\n", is_new ? "+" : "~", type.text, key_id(u.key),
                   now ? changes_text(*now, is_new ? std::span<std::int32_t const>{} : u.data, type.known)
                       : std::string{});
    }
}

} // namespace teewire::replay
