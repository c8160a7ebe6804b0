#include "convert.hpp"

#include "teewire/snapshot_receiver.hpp"

using namespace teewire;
using namespace teewire::c;

namespace {

struct sender_state {
    sender_state(history_memory const& past, snapshot_encoding const& encoding, std::int32_t interval) noexcept
        : sender{past.entries, past.block, encoding, interval} {}
    snapshot_sender sender;
    snapshot_messages messages;
};

// As its parts follow it in memory.
struct alignas(snapshot_parts) alignas(snapshot_receiver) receiver_state {
    receiver_state(std::span<snapshot_parts> parts, history_memory const& past,
                   snapshot_receiver::options const& options) noexcept
        : receiver{parts, past.entries, past.block, options} {}
    snapshot_receiver receiver;
};

constexpr std::uint32_t max_receiver_parts = 16;
static_assert(sizeof(sender_state) <= 512);
static_assert(sizeof(receiver_state) <= 512);
static_assert(sizeof(snapshot_parts) <= 57856 && sizeof(snapshot_parts) % alignof(history::entry) == 0 &&
              alignof(snapshot_parts) <= alignof(receiver_state));
static_assert(max_snapshot_message_bytes == TEEWIRE_MAX_MESSAGE_BYTES);

sender_state& state_of(teewire_sender* sender) noexcept {
    assert(sender != nullptr);
    return *reinterpret_cast<sender_state*>(sender);
}
sender_state const& state_of(teewire_sender const* sender) noexcept {
    assert(sender != nullptr);
    return *reinterpret_cast<sender_state const*>(sender);
}
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

// ---- sender --------------------------------------------------------------------------------------------------------

std::uint32_t teewire_sender_size(std::uint32_t snapshots, std::uint32_t bytes) {
    return size_or_zero(sizeof(sender_state) + std::uint64_t{snapshots} * sizeof(history::entry) + bytes);
}

std::int32_t teewire_sender_init(teewire_sender** out, void* memory, std::uint32_t size,
                                 teewire_sender_options const* options) {
    teewire_sender_options chosen;
    snapshot_encoding encoding;
    if (!read_options(options, chosen) || !read_protocol(chosen.protocol, encoding.version))
        return TEEWIRE_BAD_ARGUMENT;
    std::uint32_t const snapshots = chosen.snapshots != 0 ? chosen.snapshots : 75;
    std::uint32_t const interval = chosen.interval != 0 ? chosen.interval : 2;
    if (chosen.max_parts != 0) encoding.max_parts = chosen.max_parts;
    if (snapshots > max_history || interval > INT32_MAX || encoding.max_parts > max_snapshot_parts ||
        !suits<sender_state>(memory, size, snapshots * sizeof(history::entry)))
        return TEEWIRE_BAD_ARGUMENT;
    encoding.sizes = &table_of(chosen.sizes, encoding.version);
    auto const past = make_history(static_cast<unsigned char*>(memory) + sizeof(sender_state),
                                   size - sizeof(sender_state), snapshots);
    *out = reinterpret_cast<teewire_sender*>(::new (memory)
                                                 sender_state{past, encoding, static_cast<std::int32_t>(interval)});
    return TEEWIRE_OK;
}

std::int32_t teewire_sender_acknowledge(teewire_sender* sender, std::int32_t tick) {
    return state_of(sender).sender.acknowledge(tick);
}

std::int32_t teewire_sender_due(teewire_sender const* sender, std::int32_t tick) {
    return state_of(sender).sender.due(tick);
}

void teewire_sender_start(teewire_sender const* sender, teewire_builder* builder) {
    builder_of(builder).start(state_of(sender).sender.ahead());
}

std::int32_t teewire_sender_send(teewire_sender* sender, std::int32_t tick, teewire_snapshot const* snapshot,
                                 teewire_scratch* scratch, teewire_failure* failure) {
    sender_state& s = state_of(sender);
    s.messages = {};
    snapshot_view const view = view_of(snapshot);
    if (errc const code = check_limits(view); code != errc::ok) return fail({code, 0}, failure);
    auto const sent = s.sender.send(tick, view, c::state_of(scratch).deltas);
    if (!sent) return fail(sent.error(), failure);
    s.messages = *sent;
    return count(sent->parts());
}

std::int32_t teewire_sender_next(teewire_sender* sender, std::uint8_t const** message) {
    std::span<std::uint8_t const> bytes;
    if (!state_of(sender).messages.next(bytes)) return 0;
    *message = bytes.data();
    return count(bytes.size());
}

std::int32_t teewire_sender_base_tick(teewire_sender const* sender) { return state_of(sender).sender.base_tick(); }

std::int32_t teewire_sender_state(teewire_sender const* sender) {
    switch (state_of(sender).sender.pacing().current()) {
    case snapshot_pacing::state::first: return TEEWIRE_SENDER_FIRST;
    case snapshot_pacing::state::full: return TEEWIRE_SENDER_FULL;
    case snapshot_pacing::state::recovering: break;
    }
    return TEEWIRE_SENDER_RECOVERING;
}

std::int32_t teewire_sender_set_interval(teewire_sender* sender, std::uint32_t interval) {
    if (interval == 0 || interval > INT32_MAX) return TEEWIRE_BAD_ARGUMENT;
    state_of(sender).sender.set_interval(static_cast<std::int32_t>(interval));
    return TEEWIRE_OK;
}

void teewire_sender_reset(teewire_sender* sender) {
    state_of(sender).sender.reset();
    state_of(sender).messages = {};
}

// ---- receiver ------------------------------------------------------------------------------------------------------

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
