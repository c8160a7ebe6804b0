#include "convert.hpp"

#include "teewire_world.h"

#include "teewire/shared_encoder.hpp"

using namespace teewire;
using namespace teewire::c;

namespace {

// Their data follows them in the memory.
struct alignas(shared_world::alignment) world_state : shared_world {
    using shared_world::shared_world;
};
struct alignas(shared_encoder::alignment) encoder_state {
    encoder_state(shared_world const& world, std::span<std::byte> memory) noexcept : encoder{world, memory} {}
    shared_encoder encoder;
    snapshot_messages messages;
};

constexpr std::uint32_t most = 65534;
constexpr std::uint32_t most_ints = INT32_MAX / 8;
static_assert(TEEWIRE_ALIGN % shared_world::alignment == 0 && TEEWIRE_ALIGN % shared_encoder::alignment == 0);

shared_world& world_of(teewire_world* world) noexcept {
    assert(world != nullptr);
    return *reinterpret_cast<world_state*>(world);
}
shared_world const& world_of(teewire_world const* world) noexcept {
    assert(world != nullptr);
    return *reinterpret_cast<world_state const*>(world);
}
encoder_state& state_of(teewire_encoder* encoder) noexcept {
    assert(encoder != nullptr);
    return *reinterpret_cast<encoder_state*>(encoder);
}

// False when one is out of range.
bool read_limits(teewire_world_limits const* given, shared_limits& out) noexcept {
    teewire_world_limits chosen;
    if (!read_options(given, chosen)) return false;
    if (chosen.clients != 0) out.clients = chosen.clients;
    if (chosen.contents != 0) out.contents = chosen.contents;
    if (chosen.ints != 0) out.ints = chosen.ints;
    if (chosen.ticks != 0) out.ticks = chosen.ticks;
    return out.clients <= most && out.contents <= most && out.ints <= most_ints && out.ticks <= max_history;
}

std::int32_t give(result<std::size_t> const& r) noexcept { return r ? count(*r) : code_of(r.error().code); }
std::int32_t give(result<std::size_t> const& r, teewire_failure* failure) noexcept {
    return r ? count(*r) : fail(r.error(), failure);
}

// The whole memory after a state.
template <class T>
std::span<std::byte> behind(void* memory, std::uint32_t size) noexcept {
    return make_array<std::byte>(static_cast<std::byte*>(memory) + sizeof(T), size - sizeof(T));
}

} // namespace

// ---- world ---------------------------------------------------------------------------------------------------------

std::uint32_t teewire_world_size(teewire_world_limits const* limits, std::uint32_t contents, std::uint32_t ints,
                                 std::uint32_t seen) {
    shared_limits l;
    if (!read_limits(limits, l) || contents > most || ints > most_ints || seen > most) return 0;
    std::uint64_t const tick = shared_world::tick_bytes(l, contents, ints, seen);
    return size_or_zero(sizeof(world_state) + shared_world::fixed_bytes(l) + (l.ticks + std::uint64_t{1}) * tick);
}

std::int32_t teewire_world_init(teewire_world** out, void* memory, std::uint32_t size,
                                teewire_world_limits const* limits) {
    shared_limits l;
    if (!read_limits(limits, l) || !suits<world_state>(memory, size, shared_world::fixed_bytes(l)))
        return TEEWIRE_BAD_ARGUMENT;
    *out = reinterpret_cast<teewire_world*>(::new (memory) world_state{l, behind<world_state>(memory, size)});
    return TEEWIRE_OK;
}

std::int32_t teewire_world_extended_type(teewire_world* world, std::uint8_t const* bytes) {
    uuid extended;
    std::copy_n(bytes, extended.bytes.size(), extended.bytes.begin());
    auto const alias = world_of(world).extended_type(extended);
    return alias ? *alias : code_of(alias.error().code);
}

std::int32_t teewire_world_start(teewire_world* world, std::int32_t tick) {
    return give(world_of(world).start(tick));
}

std::int32_t teewire_world_share(teewire_world* world, std::int32_t const* data, std::uint32_t ints) {
    return give(world_of(world).share({data, ints}));
}

std::int32_t teewire_world_start_view(teewire_world* world, std::uint32_t client) {
    shared_world& w = world_of(world);
    if (client >= w.limits().clients) return TEEWIRE_BAD_ARGUMENT;
    w.start_view(client);
    return TEEWIRE_OK;
}

std::int32_t teewire_world_add_to_view(teewire_world* world, std::uint32_t type, std::uint32_t id,
                                       std::uint32_t ints, std::int32_t** data) {
    if (type > last_alias) return TEEWIRE_BAD_TYPE;
    if (id > UINT16_MAX) return TEEWIRE_BAD_ID;
    shared_world& w = world_of(world);
    auto const added = w.add_to_view(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id), ints);
    if (!added) return code_of(added.error().code);
    if (data != nullptr) *data = added->data();
    return count(w.view_size());
}

std::int32_t teewire_world_put_to_view(teewire_world* world, std::uint32_t type, std::uint32_t id,
                                       std::int32_t const* data, std::uint32_t ints) {
    if (type > last_alias) return TEEWIRE_BAD_TYPE;
    if (id > UINT16_MAX) return TEEWIRE_BAD_ID;
    shared_world& w = world_of(world);
    auto const key = make_key(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id));
    return give(w.add_to_view({key, {data, ints}}));
}

std::int32_t teewire_world_put_shared(teewire_world* world, std::uint32_t type, std::uint32_t id,
                                      std::uint32_t content) {
    if (type > last_alias) return TEEWIRE_BAD_TYPE;
    if (id > UINT16_MAX) return TEEWIRE_BAD_ID;
    shared_world& w = world_of(world);
    if (content >= w.contents()) return TEEWIRE_BAD_ARGUMENT;
    return give(w.add_shared(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id), content));
}

std::int32_t teewire_world_finish_view(teewire_world* world, teewire_failure* failure) {
    return give(world_of(world).finish_view(), failure);
}

std::uint64_t teewire_world_views_alone(teewire_world const* world) { return world_of(world).views_alone(); }

std::int32_t teewire_world_finish(teewire_world* world, teewire_failure* failure) {
    return give(world_of(world).finish(), failure);
}

std::int32_t teewire_world_holds(teewire_world const* world, std::uint32_t client, std::int32_t tick) {
    shared_world const& w = world_of(world);
    return client < w.limits().clients && w.holds(client, tick);
}

std::int32_t teewire_world_snapshot(teewire_world const* world, std::uint32_t client, std::int32_t tick,
                                    std::int32_t* out, std::uint32_t capacity, teewire_snapshot* snapshot,
                                    teewire_failure* failure) {
    shared_world const& w = world_of(world);
    if (client >= w.limits().clients) return bad_argument(failure);
    auto const made = w.snapshot(client, tick, {out, clip(capacity)});
    if (!made) return fail(made.error(), failure);
    set(snapshot, *made);
    return count(made->size());
}

std::int32_t teewire_world_drop_before(teewire_world* world, std::int32_t tick) {
    world_of(world).drop_before(tick);
    return count(world_of(world).ticks());
}

void teewire_world_forget_client(teewire_world* world, std::uint32_t client) {
    if (client < world_of(world).limits().clients) world_of(world).forget_client(client);
}

void teewire_world_clear(teewire_world* world) { world_of(world).clear(); }

// ---- encoder -------------------------------------------------------------------------------------------------------

std::uint32_t teewire_encoder_size(teewire_world_limits const* limits, std::uint32_t contents, std::uint32_t ints,
                                   std::uint32_t ticks) {
    shared_limits l;
    if (!read_limits(limits, l) || contents > most || ints > most_ints || ticks > max_history) return 0;
    return size_or_zero(sizeof(encoder_state) +
                        std::max<std::uint64_t>(shared_encoder::least_bytes(l),
                                                shared_encoder::bytes_for(l, contents, ints, ticks)));
}

std::int32_t teewire_encoder_init(teewire_encoder** out, void* memory, std::uint32_t size,
                                  teewire_world const* world) {
    shared_world const& w = world_of(world);
    if (!suits<encoder_state>(memory, size, shared_encoder::least_bytes(w.limits()))) return TEEWIRE_BAD_ARGUMENT;
    *out = reinterpret_cast<teewire_encoder*>(::new (memory) encoder_state{w, behind<encoder_state>(memory, size)});
    return TEEWIRE_OK;
}

std::int32_t teewire_encoder_encode(teewire_encoder* encoder, std::uint32_t client, std::int32_t base_tick,
                                    teewire_sizes const* sizes, teewire_packed_delta* out,
                                    teewire_failure* failure) {
    shared_encoder& e = state_of(encoder).encoder;
    if (client >= e.world().limits().clients) return bad_argument(failure);
    auto const delta = e.encode(client, base_tick, table_of(sizes));
    if (!delta) return fail(delta.error(), failure);
    write_struct({0, delta->tick, delta->base_tick, delta->checksum, delta->bytes.data(),
                  static_cast<std::uint32_t>(delta->bytes.size())},
                 out);
    return count(delta->bytes.size());
}

std::int32_t teewire_encoder_send(teewire_encoder* encoder, std::uint32_t client, std::int32_t base_tick,
                                  teewire_sender_options const* options, teewire_failure* failure) {
    encoder_state& s = state_of(encoder);
    s.messages = {};
    teewire_sender_options chosen;
    snapshot_encoding encoding;
    if (!read_options(options, chosen) || !read_protocol(chosen.protocol, encoding.version) ||
        client >= s.encoder.world().limits().clients)
        return bad_argument(failure);
    if (chosen.max_parts != 0) encoding.max_parts = chosen.max_parts;
    if (encoding.max_parts > max_snapshot_parts) return bad_argument(failure);
    encoding.sizes = &table_of(chosen.sizes, encoding.version);
    auto const made = encode_snapshot(s.encoder, client, base_tick, encoding);
    if (!made) return fail(made.error(), failure);
    s.messages = *made;
    return count(made->parts());
}

std::int32_t teewire_encoder_next(teewire_encoder* encoder, std::uint8_t const** message) {
    std::span<std::uint8_t const> bytes;
    if (!state_of(encoder).messages.next(bytes)) return 0;
    *message = bytes.data();
    return count(bytes.size());
}
