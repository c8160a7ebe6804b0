#include "convert.hpp"

#include "teewire/snapshot_receiver.hpp"

using namespace teewire;
using namespace teewire::c;

namespace {

// As its parts follow it in memory.
struct alignas(snapshot_parts) alignas(snapshot_receiver) receiver_state {
    receiver_state(std::span<snapshot_parts> parts, history_memory const& past,
                   snapshot_receiver::options const& options) noexcept
        : receiver{parts, past.entries, past.block, options} {}
    snapshot_receiver receiver;
};

constexpr std::uint32_t max_receiver_parts = 16;
static_assert(sizeof(receiver_state) <= 512);
static_assert(sizeof(snapshot_parts) <= 57856 && sizeof(snapshot_parts) % alignof(history::entry) == 0 &&
              alignof(snapshot_parts) <= alignof(receiver_state));

snapshot_receiver& receiver_of(teewire_receiver* receiver) noexcept {
    assert(receiver != nullptr);
    return reinterpret_cast<receiver_state*>(receiver)->receiver;
}
snapshot_receiver const& receiver_of(teewire_receiver const* receiver) noexcept {
    assert(receiver != nullptr);
    return reinterpret_cast<receiver_state const*>(receiver)->receiver;
}

teewire_snapshot_event event_of(snapshot_event const& e) noexcept {
    teewire_snapshot_event out = {};
    out.tick = e.tick;
    out.base_tick = e.base_tick;
    out.restarted = e.restarted;
    out.has_checksum = e.has_checksum;
    out.checksum = e.checksum;
    out.delta_bytes = static_cast<std::uint32_t>(e.delta_bytes);
    if (e.kind == snapshot_event_kind::snapshot) set(&out.snapshot, e.snapshot);
    return out;
}

} // namespace

std::uint32_t teewire_receiver_size(std::uint32_t parts, std::uint32_t snapshots, std::uint32_t bytes) {
    return size_or_zero(sizeof(receiver_state) + std::uint64_t{parts} * sizeof(snapshot_parts) +
                        std::uint64_t{snapshots} * sizeof(history::entry) + bytes);
}

std::int32_t teewire_receiver_init(teewire_receiver** out, void* memory, std::uint32_t size,
                                   teewire_receiver_options const* options) {
    teewire_receiver_options chosen;
    snapshot_receiver::options made;
    if (!read_options(options, chosen) || !read_protocol(chosen.protocol, made.version) ||
        !read_decoding(chosen.decoding, decoding::strict, made.mode))
        return TEEWIRE_BAD_ARGUMENT;
    std::uint32_t const snapshots = chosen.snapshots != 0 ? chosen.snapshots : 150;
    std::uint32_t const parts = chosen.parts != 0 ? chosen.parts : 1;
    if (snapshots > max_history || parts > max_receiver_parts ||
        !suits<receiver_state>(memory, size, parts * sizeof(snapshot_parts) + snapshots * sizeof(history::entry)))
        return TEEWIRE_BAD_ARGUMENT;
    made.sizes = &table_of(chosen.sizes, made.version);
    if (chosen.observer != 0) made.listening = snapshot_listening::observer;
    auto* const behind = static_cast<unsigned char*>(memory) + sizeof(receiver_state);
    std::size_t const parts_bytes = parts * sizeof(snapshot_parts);
    auto const collected = make_array<snapshot_parts>(behind, parts);
    auto const past = make_history(behind + parts_bytes, size - sizeof(receiver_state) - parts_bytes, snapshots);
    *out = reinterpret_cast<teewire_receiver*>(::new (memory) receiver_state{collected, past, made});
    return TEEWIRE_OK;
}

std::int32_t teewire_receiver_receive(teewire_receiver* receiver, std::uint8_t const* bytes, std::uint32_t size,
                                      teewire_scratch* scratch, teewire_snapshot_event* event,
                                      teewire_failure* failure) {
    auto const m = parse_message({bytes, size});
    snapshot_event e;
    if (m) e = receiver_of(receiver).receive(*m, c::state_of(scratch).deltas);
    write_struct(event_of(e), event);
    if (!m) return fail(m.error(), failure);
    switch (e.kind) {
    case snapshot_event_kind::other: return TEEWIRE_RECEIVED_OTHER;
    case snapshot_event_kind::ignored: return TEEWIRE_RECEIVED_IGNORED;
    case snapshot_event_kind::part: return TEEWIRE_RECEIVED_PART;
    case snapshot_event_kind::snapshot: return TEEWIRE_RECEIVED_SNAPSHOT;
    case snapshot_event_kind::missing_base: return TEEWIRE_RECEIVED_MISSING_BASE;
    case snapshot_event_kind::damaged:
        return fail(e.error, failure, e.delta.empty() ? TEEWIRE_STAGE_VARINT : TEEWIRE_STAGE_DELTA);
    case snapshot_event_kind::malformed: break;
    }
    e.error.position += static_cast<std::size_t>(m->fields.data() - bytes);
    return fail(e.error, failure);
}

std::int32_t teewire_receiver_ack(teewire_receiver const* receiver) { return receiver_of(receiver).ack(); }

std::int32_t teewire_receiver_take_urgent(teewire_receiver* receiver) {
    return receiver_of(receiver).take_urgent();
}

std::int32_t teewire_receiver_find(teewire_receiver const* receiver, std::int32_t tick, teewire_snapshot* out) {
    auto const found = receiver_of(receiver).past().find(tick);
    if (!found) return TEEWIRE_UNKNOWN_TICK;
    set(out, *found);
    return TEEWIRE_OK;
}

void teewire_receiver_reset(teewire_receiver* receiver) { receiver_of(receiver).reset(); }
