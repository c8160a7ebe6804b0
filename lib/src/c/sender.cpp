#include "convert.hpp"

using namespace teewire;
using namespace teewire::c;

namespace {

struct sender_state {
    sender_state(history_memory const& past, snapshot_encoding const& encoding, std::int32_t interval) noexcept
        : sender{past.entries, past.block, encoding, interval} {}
    snapshot_sender sender;
    snapshot_messages messages;
};

static_assert(sizeof(sender_state) <= 512);
static_assert(max_snapshot_message_bytes == TEEWIRE_MAX_MESSAGE_BYTES);

sender_state& state_of(teewire_sender* sender) noexcept {
    assert(sender != nullptr);
    return *reinterpret_cast<sender_state*>(sender);
}
sender_state const& state_of(teewire_sender const* sender) noexcept {
    assert(sender != nullptr);
    return *reinterpret_cast<sender_state const*>(sender);
}

} // namespace

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
