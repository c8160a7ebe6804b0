#include "convert.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

using namespace teewire;
using namespace teewire::c;

namespace {

static_assert(sizeof(size_table) <= TEEWIRE_SIZES_SIZE);
static_assert(sizeof(builder_state) <= TEEWIRE_BUILDER_SIZE);
static_assert(sizeof(scratch_state) <= TEEWIRE_SCRATCH_SIZE);
static_assert(sizeof(history) <= 256);
static_assert(TEEWIRE_MAX_ITEMS == snapshot_limits{}.items &&
              TEEWIRE_MAX_SNAPSHOT_INTS == snapshot_limits{}.ints());
static_assert(TEEWIRE_OUTLINE_WORDS(std::size_t{0}, std::size_t{1000}) == starts_words(1000));

history& history_of(teewire_history* past) noexcept {
    assert(past != nullptr);
    return *reinterpret_cast<history*>(past);
}
history const& history_of(teewire_history const* past) noexcept {
    assert(past != nullptr);
    return *reinterpret_cast<history const*>(past);
}

std::int32_t give(item const& found, teewire_item* out) noexcept {
    *out = {found.data.data(), found.key, static_cast<std::uint32_t>(found.data.size())};
    return TEEWIRE_OK;
}

std::int32_t give(snapshot_builder& builder, result<std::span<std::int32_t>> const& added,
                  std::int32_t** data) noexcept {
    if (!added) return code_of(added.error().code);
    if (data != nullptr) *data = added->data();
    return count(builder.size());
}

} // namespace

std::uint32_t teewire_align(void) { return TEEWIRE_ALIGN; }
std::uint32_t teewire_sizes_size(void) { return sizeof(size_table); }
std::uint32_t teewire_builder_size(void) { return sizeof(builder_state); }
std::uint32_t teewire_scratch_size(void) { return sizeof(scratch_state); }
std::uint32_t teewire_history_size(std::uint32_t snapshots, std::uint32_t bytes) {
    return size_or_zero(sizeof(history) + std::uint64_t{snapshots} * sizeof(history::entry) + bytes);
}

std::int32_t teewire_scratch_init(teewire_scratch** out, void* memory, std::uint32_t size) {
    if (!suits<scratch_state>(memory, size)) return TEEWIRE_BAD_ARGUMENT;
    *out = reinterpret_cast<teewire_scratch*>(::new (memory) scratch_state);
    return TEEWIRE_OK;
}

// ---- agreed sizes --------------------------------------------------------------------------------------------------

teewire_sizes const* teewire_sizes_find(char const* name) {
    return name != nullptr ? reinterpret_cast<teewire_sizes const*>(find_size_table(name)) : nullptr;
}

std::int32_t teewire_sizes_init(teewire_sizes** out, void* memory, std::uint32_t size) {
    if (!suits<size_table>(memory, size)) return TEEWIRE_BAD_ARGUMENT;
    *out = reinterpret_cast<teewire_sizes*>(::new (memory) size_table{});
    return TEEWIRE_OK;
}

std::int32_t teewire_sizes_copy(teewire_sizes** out, void* memory, std::uint32_t size, teewire_sizes const* from) {
    if (!suits<size_table>(memory, size)) return TEEWIRE_BAD_ARGUMENT;
    *out = reinterpret_cast<teewire_sizes*>(::new (memory) size_table{table_of(from)});
    return TEEWIRE_OK;
}

std::int32_t teewire_sizes_set(teewire_sizes* sizes, std::uint32_t type, std::uint32_t ints) {
    if (type >= sized_types || ints > UINT16_MAX) return TEEWIRE_BAD_ARGUMENT;
    reinterpret_cast<size_table*>(sizes)->set(type, static_cast<std::uint16_t>(ints));
    return TEEWIRE_OK;
}

// ---- snapshots -----------------------------------------------------------------------------------------------------

void teewire_snapshot_view(teewire_snapshot* out, std::int32_t const* ints, std::uint32_t flags) {
    auto const size = 2 + static_cast<std::uint32_t>(ints[1]) + static_cast<std::uint32_t>(ints[0]) / 4;
    *out = {ints, nullptr, nullptr, size, flags};
}

std::int32_t teewire_snapshot_check(teewire_snapshot* out, std::int32_t const* ints, std::uint32_t n,
                                    std::int32_t mode, teewire_failure* failure) {
    decoding how{};
    if (!read_decoding(mode, decoding::strict, how)) return bad_argument(failure);
    auto const view = snapshot_view::parse({ints, n}, how);
    if (!view) return fail(view.error(), failure);
    set(out, *view);
    return count(view->size());
}

std::int32_t teewire_snapshot_outline(teewire_snapshot* snapshot, std::uint32_t* memory) {
    snapshot_view const view = view_of(snapshot);
    std::uint32_t* const starts = memory + view.size();
    std::size_t const words = starts_words(view.data_size() / 4);
    for (std::size_t i = 0; i < view.size(); ++i) memory[i] = static_cast<std::uint32_t>(view.key(i));
    find_starts(view, {starts, words});
    set(snapshot,
        view.with_outline({{reinterpret_cast<std::int32_t const*>(memory), view.size()}, {starts, words}}));
    return count(view.size() + words);
}

std::int32_t teewire_snapshot_copy(teewire_snapshot const* snapshot, std::int32_t* memory, std::uint32_t capacity,
                                   teewire_snapshot* copy) {
    snapshot_view const view = view_of(snapshot);
    auto const [keys, starts] = view.outline();
    std::size_t const size = view.ints().size();
    std::size_t const needed = size + keys.size() + starts.size();
    if (needed > clip(capacity)) return TEEWIRE_OUTPUT_FULL;
    std::memcpy(memory, view.ints().data(), 4 * size);
    auto copied = snapshot_view::trusted({memory, size}, view.distinct_keys());
    if (!starts.empty()) {
        auto* const words = reinterpret_cast<std::uint32_t*>(memory + size + keys.size());
        std::copy(keys.begin(), keys.end(), memory + size);
        std::copy(starts.begin(), starts.end(), words);
        copied = copied.with_outline({{memory + size, keys.size()}, {words, starts.size()}});
    }
    set(copy, copied);
    return count(needed);
}

std::int32_t teewire_snapshot_items(teewire_snapshot const* snapshot) { return count(view_of(snapshot).size()); }

std::int32_t teewire_snapshot_item(teewire_snapshot const* snapshot, std::uint32_t number, teewire_item* out) {
    snapshot_view const view = view_of(snapshot);
    return number < view.size() ? give(view[number], out) : TEEWIRE_NOT_FOUND;
}

std::int32_t teewire_snapshot_find(teewire_snapshot const* snapshot, std::int32_t key, teewire_item* out) {
    auto const found = view_of(snapshot).find(key);
    return found ? give(*found, out) : TEEWIRE_NOT_FOUND;
}

std::int32_t teewire_snapshot_extended_type(teewire_snapshot const* snapshot, std::uint32_t type,
                                            std::uint8_t* uuid) {
    if (type < first_alias || type > last_alias) return TEEWIRE_NOT_FOUND;
    auto const found = find_extended_type(view_of(snapshot), static_cast<std::uint16_t>(type));
    if (!found) return TEEWIRE_NOT_FOUND;
    std::copy(found->bytes.begin(), found->bytes.end(), uuid);
    return TEEWIRE_OK;
}

std::uint32_t teewire_snapshot_checksum(teewire_snapshot const* snapshot) { return view_of(snapshot).checksum(); }

std::int32_t teewire_snapshot_sort(teewire_snapshot const* snapshot, teewire_scratch* scratch, std::int32_t* out,
                                   std::uint32_t capacity, teewire_snapshot* sorted, teewire_failure* failure) {
    snapshot_view const view = view_of(snapshot);
    auto& order = state_of(scratch).order;
    if (view.size() > order.size()) return fail({errc::too_many_items, order.size()}, failure);
    auto const made = sort_by_key(view, order, {out, clip(capacity)});
    if (!made) return fail(made.error(), failure);
    set(sorted, *made);
    return count(made->ints().size());
}

// ---- builder -------------------------------------------------------------------------------------------------------

std::int32_t teewire_builder_init(teewire_builder** out, void* memory, std::uint32_t size) {
    if (!suits<builder_state>(memory, size)) return TEEWIRE_BAD_ARGUMENT;
    *out = reinterpret_cast<teewire_builder*>(::new (memory) builder_state);
    return TEEWIRE_OK;
}

void teewire_builder_start(teewire_builder* builder) { builder_of(builder).start(); }

std::int32_t teewire_builder_add(teewire_builder* builder, std::uint32_t type, std::uint32_t id, std::uint32_t ints,
                                 std::int32_t** data) {
    if (type > INT16_MAX) return TEEWIRE_BAD_TYPE;
    if (id > UINT16_MAX) return TEEWIRE_BAD_ID;
    snapshot_builder& b = builder_of(builder);
    return give(b, b.add(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id), ints), data);
}

std::int32_t teewire_builder_put(teewire_builder* builder, std::uint32_t type, std::uint32_t id,
                                 std::int32_t const* data, std::uint32_t ints) {
    if (type > INT16_MAX) return TEEWIRE_BAD_TYPE;
    if (id > UINT16_MAX) return TEEWIRE_BAD_ID;
    snapshot_builder& b = builder_of(builder);
    auto const key = make_key(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id));
    return give(b, b.add(item{key, {data, ints}}), nullptr);
}

std::int32_t teewire_builder_extended_type(teewire_builder* builder, std::uint8_t const* bytes) {
    auto const alias = builder_of(builder).extended_type(uuid_of(bytes));
    return alias ? *alias : code_of(alias.error().code);
}

std::int32_t teewire_builder_add_extended(teewire_builder* builder, std::uint8_t const* bytes, std::uint32_t id,
                                          std::uint32_t ints, std::int32_t** data) {
    if (id > UINT16_MAX) return TEEWIRE_BAD_ID;
    snapshot_builder& b = builder_of(builder);
    return give(b, b.add(uuid_of(bytes), static_cast<std::uint16_t>(id), ints), data);
}

teewire_writer teewire_builder_write(teewire_builder* builder) {
    return std::bit_cast<teewire_writer>(builder_of(builder).write());
}

std::int32_t teewire_builder_take(teewire_builder* builder, teewire_writer written, teewire_failure* failure) {
    auto const taken = builder_of(builder).take(std::bit_cast<snapshot_builder::writer>(written));
    return taken ? count(*taken) : fail(taken.error(), failure);
}

std::int32_t teewire_builder_finish(teewire_builder* builder, teewire_snapshot* out) {
    snapshot_view const view = builder_of(builder).finish();
    set(out, view);
    return count(view.size());
}

// ---- history -------------------------------------------------------------------------------------------------------

std::int32_t teewire_history_init(teewire_history** out, void* memory, std::uint32_t size,
                                  std::uint32_t snapshots) {
    if (snapshots == 0 || snapshots > max_history ||
        !suits<history>(memory, size, snapshots * sizeof(history::entry)))
        return TEEWIRE_BAD_ARGUMENT;
    auto const [entries, block] =
        make_history(static_cast<unsigned char*>(memory) + sizeof(history), size - sizeof(history), snapshots);
    *out = reinterpret_cast<teewire_history*>(::new (memory) history{entries, block});
    return TEEWIRE_OK;
}

std::int32_t teewire_history_add(teewire_history* past, std::int32_t tick, teewire_snapshot const* snapshot,
                                 std::uint64_t word, teewire_snapshot* stored, teewire_failure* failure) {
    history& h = history_of(past);
    auto const added = h.add(tick, view_of(snapshot), word);
    if (!added) return fail(added.error(), failure);
    set(stored, *added);
    return count(h.size());
}

std::int32_t teewire_history_find(teewire_history const* past, std::int32_t tick, teewire_snapshot* out,
                                  std::uint64_t* word) {
    history const& h = history_of(past);
    auto const found = h.find(tick);
    if (!found) return TEEWIRE_UNKNOWN_TICK;
    set(out, *found);
    if (word != nullptr) *word = *h.word_of(tick);
    return TEEWIRE_OK;
}

void teewire_history_start(teewire_history const* past, std::int32_t base_tick, teewire_builder* builder) {
    builder_of(builder).start(history_of(past).ahead(base_tick));
}

std::int32_t teewire_history_drop_before(teewire_history* past, std::int32_t tick) {
    history& h = history_of(past);
    h.drop_before(tick);
    return count(h.size());
}

void teewire_history_clear(teewire_history* past) { history_of(past).clear(); }
