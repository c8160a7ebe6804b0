// Deltas: an untrusted one on an untrusted snapshot, and those between two snapshots that the input describes. The first
// byte chooses which of the two, and the agreed sizes.
//   untrusted: the base's bytes in two bytes, the base and the delta in variable-length ints
#include "snapshot/snapshot_functions.hpp"
#include "world.hpp"

#include "snapshot/hash.hpp"
#include "snapshot/snapshot_functions.hpp"

#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

auto& memory = fuzz::lasting<delta_memory<>>();
auto& live_memory = fuzz::lasting<live_snapshot_memory<>>();
struct outputs {
    std::array<std::int32_t, snapshot_limits{}.ints()> full, other;
};
auto& full_out = fuzz::lasting<outputs>().full;
auto& other_out = fuzz::lasting<outputs>().other;

// A copy that knows its outline.
struct outlined {
    explicit outlined(snapshot_view of)
        : ints{of.ints()}, keys{of.size()}, starts{starts_words(of.data_size() / 4)} {
        for (std::size_t i = 0; i < of.size(); ++i) keys.span()[i] = of.key(i);
        find_starts(of, starts.span());
        view = snapshot_view::trusted(ints.view(), of.distinct_keys()).with_outline({keys.view(), starts.view()});
    }
    exact<std::int32_t> ints, keys;
    exact<std::uint32_t> starts;
    snapshot_view view;
};

void check_sum(snapshot_view view) {
    std::uint32_t const expected = plain::checksum(view);
    FUZZ_REQUIRE(view.checksum() == expected);
    for (auto const& v : kernels::snapshot_variants())
        if (kernels::supported(v.required)) FUZZ_REQUIRE(v.functions.checksum(view) == expected);
}

// ---- apply ---------------------------------------------------------------------------------------------------------

// The result of every way of applying, all equal.
result<snapshot_view> apply(snapshot_view base, std::span<std::int32_t const> delta, size_table const& sizes,
                            decoding mode, snapshot_limits limits) {
    note_log notes;
    auto const plain = plain::apply_delta(base, delta, sizes, memory, full_out, {mode, limits, &notes});
    auto const compare = [&](auto const& applied, note_log const& left) {
        FUZZ_REQUIRE(fuzz::error_of(applied) == fuzz::error_of(plain));
        if (!plain) return;
        FUZZ_REQUIRE(same(applied->ints(), plain->ints()));
        FUZZ_REQUIRE(same(left, notes));
    };
    if (base.distinct_keys()) {
        for (auto const& v : kernels::snapshot_variants()) {
            if (!kernels::supported(v.required)) continue;
            note_log left;
            compare(v.functions.apply_delta(base, delta, sizes, memory, other_out, {mode, limits, &left}), left);
        }
        outlined const copy{base};
        note_log left;
        compare(apply_delta(copy.view, delta, sizes, memory, other_out, {mode, limits, &left}), left);
    }
    note_log left;
    compare(apply_delta(base, delta, sizes, memory, other_out, {mode, limits, &left}), left);
    return plain;
}

void apply_in_place(snapshot_view base, std::span<std::int32_t const> delta, size_table const& sizes, decoding mode,
                    result<snapshot_view> const& expected) {
    live_snapshot live{live_memory};
    FUZZ_REQUIRE(live.assign(base).code == errc::ok);
    auto const before = fuzz::items_of(base);
    note_log notes, expected_notes;
    static_cast<void>(plain::apply_delta(base, delta, sizes, memory, other_out, {mode, {}, &expected_notes}));
    failure const refused = live.apply(delta, sizes, {mode, {}, &notes});
    FUZZ_REQUIRE(refused == fuzz::error_of(expected));
    if (!expected) {
        FUZZ_REQUIRE(fuzz::items_of(live.view()) == before);
        FUZZ_REQUIRE(live.checksum() == base.checksum());
        return;
    }
    FUZZ_REQUIRE(same(notes, expected_notes));
    FUZZ_REQUIRE(live.checksum() == expected->checksum());
    FUZZ_REQUIRE(live.size() == expected->size());
    FUZZ_REQUIRE(same(live.view().ints(), expected->ints()));
    for (item const i : *expected) {
        auto const found = live.find(i.key);
        FUZZ_REQUIRE(found && found->key == i.key);
    }
    // Once more, now that it has slots that are gone.
    std::vector<std::int32_t> const now{expected->ints().begin(), expected->ints().end()};
    auto const again = plain::apply_delta(snapshot_view::trusted(now, expected->distinct_keys()), delta, sizes,
                                          memory, other_out, {mode, {}, nullptr});
    FUZZ_REQUIRE(live.apply(delta, sizes, {mode, {}, nullptr}) == fuzz::error_of(again));
    FUZZ_REQUIRE(same(live.view().ints(), again ? again->ints() : std::span<std::int32_t const>{now}));
    FUZZ_REQUIRE(live.checksum() == plain::checksum(live.view()));
}

void inspect(std::span<std::int32_t const> delta, size_table const& sizes, decoding mode, bool applied) {
    std::array<type_usage, 2> types;
    auto const usage = inspect_delta(delta, sizes, types, mode);
    if (!usage) return FUZZ_REQUIRE(!applied);
    FUZZ_REQUIRE(delta_header_ints + usage->removed <= delta.size());
    std::uint32_t updates = usage->unlisted_updates;
    std::uint32_t bytes = 0;
    for (type_usage const& t : usage->types) {
        updates += t.updates;
        bytes += t.bytes;
    }
    FUZZ_REQUIRE(updates == usage->updates && bytes <= usage->update_bytes);
}

// The part of applying in place that has variants: as far as updates are ordinary ones.
void apply_updates(snapshot_view base, std::span<std::int32_t const> delta, size_table const& sizes) {
    auto const opened = delta_reader::open(delta, sizes);
    if (!opened || !base.distinct_keys() || base.size() > 256) return;
    constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15U;
    constexpr unsigned shift = 32 - 10;
    struct state {
        std::vector<detail::live_slot> items;
        std::vector<std::int32_t> pool;
        std::vector<std::int32_t> odd; // keys
        std::uint32_t sum = 0;
    } before;
    std::vector<std::uint16_t> table(1024);
    for (item const i : base) {
        auto const number = static_cast<std::uint16_t>(before.items.size());
        // Some are about to go.
        auto const now = number % 5 == 4 ? detail::live_slot::pending_removal : detail::live_slot::live;
        auto const follower = static_cast<std::uint16_t>(number % 3 == 2 ? 7 * number : number + 1);
        before.items.push_back({i.key, static_cast<std::uint32_t>(before.pool.size()),
                                static_cast<std::uint32_t>(i.data.size()), 6, 0, now, follower});
        before.pool.push_back(i.key);
        before.pool.insert(before.pool.end(), i.data.begin(), i.data.end());
        std::size_t at = detail::hash_key(i.key, multiplier, shift);
        while (table[at] != 0) at = (at + 1) % table.size();
        table[at] = static_cast<std::uint16_t>(number + 1);
    }
    auto const change = [&](kernels::apply_updates_fn* run) {
        state s = before;
        delta_reader reader = *opened;
        kernels::in_place_state c{
            s.items.data(), s.items.size(), s.pool.data(), table, multiplier, shift, delta.data(), 7, 0};
        for (delta_reader::update update; run(c, reader, update);) s.odd.push_back(update.key);
        s.sum = c.sum;
        return s;
    };
    state const expected = change(plain::apply_updates);
    for (auto const& v : kernels::snapshot_variants()) {
        if (!kernels::supported(v.required)) continue;
        state const s = change(v.functions.apply_updates);
        FUZZ_REQUIRE(s.pool == expected.pool && s.odd == expected.odd && s.sum == expected.sum);
        for (std::size_t i = 0; i < s.items.size(); ++i)
            FUZZ_REQUIRE(s.items[i].delta == expected.items[i].delta &&
                         s.items[i].position == expected.items[i].position);
    }
}

std::vector<std::int32_t> unpack(fuzz::bytes_view bytes) {
    std::vector<std::int32_t> ints;
    while (auto const one = decode_varint(bytes)) {
        ints.push_back(one->value);
        bytes = bytes.subspan(one->size);
    }
    return ints;
}

// A snapshot for any ints: in the layout of one, or items one after another, keys twice or not.
std::vector<std::int32_t> make_base(std::vector<std::int32_t> const& ints) {
    if (snapshot_view::parse(ints, decoding::lenient)) return ints;
    std::vector<fuzz::loose_item> items;
    std::size_t total = 2;
    for (std::size_t at = 0; at + 3 <= ints.size() && items.size() < 1024;) {
        std::size_t const size =
            std::min<std::size_t>(static_cast<std::uint32_t>(ints[at + 2]) % 64, ints.size() - at - 3);
        auto const data = std::span{ints}.subspan(at + 3, size);
        total += 2 + size;
        if (total > snapshot_limits{}.ints()) break;
        items.push_back(
            {make_key(static_cast<std::uint16_t>(ints[at] & 0x7fff), static_cast<std::uint16_t>(ints[at + 1])),
             {data.begin(), data.end()}});
        at += 3 + size;
    }
    return fuzz::lay_out(items);
}

void apply_strange(fuzz::input in, size_table const& sizes, std::uint8_t choice) {
    std::size_t const base_bytes = in.word();
    exact<std::int32_t> const base_ints{std::span<std::int32_t const>{make_base(unpack(in.take(base_bytes)))}};
    exact<std::int32_t> const delta{std::span<std::int32_t const>{unpack(in.rest())}};
    auto const base = fuzz::view_of(base_ints.view());
    check_sum(base);
    apply_updates(base, delta.view(), sizes);

    snapshot_limits limits;
    if (choice % 4 == 1) limits.items = static_cast<std::uint32_t>(base.size()) + choice / 4;
    if (choice % 4 == 2) limits.bytes = 4 * (static_cast<std::uint32_t>(base.ints().size()) + choice / 4);
    std::vector<std::int32_t> strict_ints;
    bool strict_good = false;
    for (decoding const mode : {decoding::strict, decoding::lenient}) {
        auto const applied = apply(base, delta.view(), sizes, mode, limits);
        inspect(delta.view(), sizes, mode, applied.has_value());
        if (applied) {
            check_sum(*applied);
            FUZZ_REQUIRE(applied->size() <= limits.items && 4 * applied->ints().size() <= limits.bytes);
            auto const parsed = snapshot_view::parse(applied->ints(), decoding::lenient, limits);
            FUZZ_REQUIRE(parsed && parsed->size() == applied->size());
            // In memory of exactly that size, which suffices if it says so.
            exact<std::int32_t> const tight{applied->ints().size()};
            auto const again =
                apply_delta(base, delta.view(), sizes, memory, tight.span(), {mode, limits, nullptr});
            FUZZ_REQUIRE(again ? same(again->ints(), applied->ints()) : again.error().code == errc::output_full);
        }
        if (mode == decoding::strict && applied) {
            strict_good = true;
            strict_ints.assign(applied->ints().begin(), applied->ints().end());
        }
        if (mode == decoding::lenient && strict_good)
            FUZZ_REQUIRE(applied && same<std::int32_t>(applied->ints(), strict_ints));
        bool const is_limited = choice % 4 == 1 || choice % 4 == 2;
        apply_in_place(base, delta.view(), sizes, mode,
                       is_limited ? apply(base, delta.view(), sizes, mode, {}) : applied);
    }
}

// ---- create --------------------------------------------------------------------------------------------------------

// The snapshot that a receiver must have: the remaining items in the order of `from`, then the new ones.
std::vector<fuzz::loose_item> as_applied(std::vector<fuzz::loose_item> const& from,
                                         std::vector<fuzz::loose_item> const& to) {
    auto const find = [](std::vector<fuzz::loose_item> const& items, std::int32_t key) {
        return std::find_if(items.begin(), items.end(), [&](auto const& i) { return i.key == key; });
    };
    std::vector<fuzz::loose_item> items;
    for (auto const& old : from)
        if (auto const now = find(to, old.key); now != to.end()) items.push_back(*now);
    for (auto const& now : to)
        if (find(from, now.key) == from.end()) items.push_back(now);
    return items;
}

// The first items singly, the others together.
void build(snapshot_builder& builder, std::vector<fuzz::loose_item> const& items,
           std::span<std::int32_t const> expected, snapshot_view base = {}) {
    builder.start({base, nullptr});
    std::size_t const singly = items.size() / 3;
    for (std::size_t i = 0; i < singly; ++i) FUZZ_REQUIRE(builder.add(item{items[i].key, items[i].data}));
    auto writer = builder.write();
    for (std::size_t i = singly; i < items.size(); ++i) FUZZ_REQUIRE(writer.add(item{items[i].key, items[i].data}));
    FUZZ_REQUIRE(builder.take(writer).has_value());
    if (!items.empty()) FUZZ_REQUIRE(!builder.add(item{items[singly].key, {}})); // a duplicate, or there is no room
    auto const built = builder.finish();
    FUZZ_REQUIRE(same(built.ints(), expected));
    outlined const copy{built};
    FUZZ_REQUIRE(same(built.outline().keys, copy.view.outline().keys));
    FUZZ_REQUIRE(same(built.outline().starts, copy.view.outline().starts));
}

void create_and_apply(fuzz::input in, size_table const& sizes) {
    fuzz::world w{sizes};
    for (std::uint8_t changes = in.byte() % 32; changes > 0 && !in.empty(); --changes) w.change(in);
    auto const from_items = w.items();
    for (std::uint8_t changes = in.byte() % 32; changes > 0 && !in.empty(); --changes) w.change(in);
    auto const to_items = w.items();
    exact<std::int32_t> const from_ints{std::span<std::int32_t const>{fuzz::lay_out(from_items)}};
    exact<std::int32_t> const to_ints{std::span<std::int32_t const>{fuzz::lay_out(to_items)}};
    auto const from = snapshot_view::trusted(from_ints.view());
    auto const to = snapshot_view::trusted(to_ints.view());
    check_sum(to);
    snapshot_builder builder{fuzz::lasting<snapshot_builder_memory<>>()};
    build(builder, from_items, from.ints());
    build(builder, to_items, to.ints());
    build(builder, to_items, to.ints(), outlined{from}.view);
    build(builder, from_items, from.ints(), outlined{to}.view);

    exact<std::int32_t> const out{delta_bound(from, to)};
    auto const made = plain::create_delta(from, to, sizes, memory, out.span());
    FUZZ_REQUIRE(made || made.error().code == errc::size_mismatch);
    exact<std::int32_t> const delta{made ? *made : std::span<std::int32_t const>{}};
    std::size_t const needed = std::max(delta.view().size(), delta_header_ints);
    outlined const from_copy{from}, to_copy{to};
    for (auto const& v : kernels::snapshot_variants()) {
        if (!kernels::supported(v.required)) continue;
        for (bool const with_outline : {false, true}) {
            for (std::size_t const room : {delta_bound(from, to), needed, needed - 1}) {
                exact<std::int32_t> const fast{room};
                auto const again =
                    v.functions.create_delta(with_outline ? from_copy.view : from, with_outline ? to_copy.view : to,
                                             sizes, memory, fast.span());
                if (again) FUZZ_REQUIRE(made && room >= needed && same(*again, delta.view()));
                else if (made) FUZZ_REQUIRE(room < needed && again.error().code == errc::output_full);
                else if (room >= delta_bound(from, to)) FUZZ_REQUIRE(again.error() == made.error());
            }
        }
    }
    if (!made) return;
    auto const expected = as_applied(from_items, to_items);
    if (delta.view().empty()) return FUZZ_REQUIRE(expected == from_items);
    exact<std::uint8_t> const packed{varint_size(delta.view())};
    auto const size = encode_varints(delta.view(), packed.span());
    FUZZ_REQUIRE(size && *size == packed.view().size());
    FUZZ_REQUIRE(same<std::int32_t>(unpack(packed.view()), delta.view()));
    auto const applied = apply(from, delta.view(), sizes, decoding::strict, {});
    FUZZ_REQUIRE(applied && fuzz::items_of(*applied) == expected);
    FUZZ_REQUIRE(applied->checksum() == to.checksum());
    apply_in_place(from, delta.view(), sizes, decoding::strict, applied);
}

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    std::uint8_t const what = in.byte();
    std::uint8_t const choice = in.byte();
    size_table const& sizes = *size_tables[what / 2 % size_tables.size()].sizes;
    if (what % 2 == 0) apply_strange(in, sizes, choice);
    else create_and_apply(in, sizes);
}

} // namespace

FUZZ_TARGET("delta", run_target)
