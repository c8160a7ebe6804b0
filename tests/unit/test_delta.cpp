#include "check.hpp"
#include "random.hpp"
#include "records.hpp"
#include "snapshots.hpp"

#include "snapshot/delta_walk.hpp"
#include "snapshot/hash.hpp"
#include "snapshot/seen_keys.hpp"
#include "snapshot/snapshot_functions.hpp"
#include "teewire/delta.hpp"
#include "teewire/huffman.hpp"
#include "teewire/varint.hpp"

#include <map>
#include <memory>

using namespace teewire;
using test::error_of;

namespace {

auto const memory = std::make_unique<delta_memory<>>();

result<std::span<std::int32_t const>> create(test::ints const& from, test::ints const& to, size_table const& sizes,
                                             std::span<std::int32_t> out) {
    return create_delta(test::view_of(from), test::view_of(to), sizes, *memory, out);
}

test::ints create(test::plain_items const& from, test::plain_items const& to, size_table const& sizes) {
    auto const from_ints = test::layout(from);
    auto const to_ints = test::layout(to);
    std::size_t const bound = delta_bound(test::view_of(from_ints), test::view_of(to_ints));
    test::guarded<std::int32_t> out{bound};
    auto const delta = create(from_ints, to_ints, sizes, out.span());
    CHECK(out.intact());
    REQUIRE(delta);
    CHECK(delta->size() <= bound);
    return test::copy_of(*delta);
}

struct applied {
    failure error;
    test::ints full;
    note_log notes;
};

applied apply(test::ints const& base, test::ints const& delta, size_table const& sizes,
              decoding mode = decoding::strict, snapshot_limits limits = {}) {
    applied a;
    test::guarded<std::int32_t> out{limits.ints()};
    auto const made = apply_delta(test::view_of(base), delta, sizes, *memory, out.span(), {mode, limits, &a.notes});
    CHECK(out.intact());
    a.error = error_of(made);
    if (made) a.full = test::copy_of(made->ints());
    return a;
}

// The expected delta, made in the simplest way.
test::ints expected_delta(test::plain_items const& from, test::plain_items const& to, size_table const& sizes) {
    test::ints delta{0, 0, 0};
    for (auto const& old : from) {
        if (test::holds(to, old.key)) continue;
        delta.push_back(old.key);
        ++delta[0];
    }
    for (auto const& now : to) {
        auto const old =
            std::find_if(from.begin(), from.end(), [&](test::plain_item const& i) { return i.key == now.key; });
        if (old != from.end() && old->data == now.data) continue;
        delta.push_back(key_type(now.key));
        delta.push_back(key_id(now.key));
        if (sizes[key_type(now.key)] == 0) delta.push_back(static_cast<std::int32_t>(now.data.size()));
        for (std::size_t i = 0; i < now.data.size(); ++i) {
            std::uint32_t const before = old == from.end() ? 0U : static_cast<std::uint32_t>(old->data[i]);
            delta.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(now.data[i]) - before));
        }
        ++delta[1];
    }
    return delta.size() == 3 ? test::ints{} : delta;
}

void check_coded(test::record const& r, test::ints const& delta) {
    if (!r.has("varint") && !r.has("huffman")) return;
    test::bytes packed(varint_bound(delta.size()));
    packed.resize(*encode_varints(delta, packed));
    if (r.has("varint")) CHECK(test::hex(packed) == r.get("varint"));
    if (!r.has("huffman")) return;
    test::bytes coded(huffman_bound(packed.size()));
    coded.resize(*huffman_encode(packed, coded));
    CHECK(test::hex(coded) == r.get("huffman"));
}

void check_create(test::record const& r) {
    auto const& sizes = *find_size_table(r.get("sizes"));
    auto const from = test::parse_items(r.all("from"));
    auto const to = test::parse_items(r.all("to"));
    auto const delta = create(from, to, sizes);
    CHECK(test::dec(delta) == r.get("ints"));
    CHECK(delta == expected_delta(from, to, sizes));
    check_coded(r, delta);

    if (delta.empty()) return;
    auto const back = apply(test::layout(from), delta, sizes);
    CHECK(back.error == failure{});
    CHECK(back.notes.empty());
    CHECK(back.full == test::layout(test::as_applied(from, to)));
    if (r.has("full")) CHECK(test::dec(back.full) == r.get("full"));
}

void check_note(test::record const& r, note_log const& notes) {
    static std::map<std::string_view, note> const kinds = {
        {"repeated_key", note::repeated_key},           {"unknown_removed_key", note::unknown_removed_key},
        {"update_count", note::update_count},           {"unused_header_int", note::unused_header_int},
        {"unsigned_key_half", note::unsigned_key_half},
    };
    std::uint32_t count = 0;
    for (auto const& e : notes.entries) count += e.count;
    CHECK(count == (r.has("note") ? 1 : 0));
    if (!r.has("note")) return;
    auto const parts = test::words(r.get("note"));
    CHECK(notes[kinds.at(parts[0])].count == 1);
    CHECK(notes[kinds.at(parts[0])].position == test::number<std::size_t>(parts[1]));
}

void check_apply(test::record const& r) {
    auto const& sizes = *find_size_table(r.get("sizes"));
    auto const base = test::layout(test::parse_items(r.all("base")));
    auto const delta = test::from_dec(r.get("ints"));
    auto const expected = r.has("error") ? failure{test::parse_failure(r.get("error"))} : failure{};
    for (decoding const mode : {decoding::strict, decoding::lenient}) {
        auto const made = apply(base, delta, sizes, mode);
        if (mode == decoding::strict && r.has("lenient")) {
            CHECK(made.error == test::parse_failure(r.get("strict")));
            continue;
        }
        CHECK(made.error == expected);
        if (made.error.code != errc::ok) continue;
        CHECK(made.full == test::layout(test::parse_items(r.all("item"))));
        check_note(r, made.notes);
    }
}

} // namespace

TEST_CASE("delta: golden vectors") {
    std::map<std::string, int> kinds;
    for (auto const& r : test::read_records("delta.txt")) {
        CAPTURE(r.title());
        ++kinds[r.kind()];
        if (r.kind() == "create") check_create(r);
        else check_apply(r);
    }
    CHECK(kinds["create"] == 16);
    CHECK(kinds["apply"] == 40);
}

TEST_CASE("delta: random chains with every size table") {
    for (auto const& named : size_tables) {
        size_table const* const table = named.sizes;
        CAPTURE(std::string{named.name});
        test::random rng{40};
        test::plain_items from;
        for (int round = 0; round < 150; ++round) {
            auto const to = test::next_items(rng, from, *table, rng.chance(10) ? 100 : 12);
            auto const delta = create(from, to, *table);
            REQUIRE(delta == expected_delta(from, to, *table));
            auto now = from;
            if (!delta.empty()) {
                auto const back = apply(test::layout(from), delta, *table);
                REQUIRE(back.error == failure{});
                CHECK(back.notes.empty());
                now = test::items_of(test::view_of(back.full));
                CHECK(now == test::as_applied(from, to));
            }
            CHECK(test::sorted(now) == test::sorted(to));
            CHECK(create(to, to, *table).empty());
            CHECK(create(now, to, *table).empty()); // the order does not matter
            from = now;
        }
    }
}

TEST_CASE("delta: every output size when creating") {
    auto const from =
        test::layout({{make_key(5, 0), {1, 2, 3}}, {make_key(4, 0), {1, 2, 3, 4}}, {make_key(30, 0), {}}});
    auto const to = test::layout({{make_key(5, 0), {2, 2, 3}}, {make_key(30, 1), {7}}});
    // 3 + 2 removed + (2 + 3) + (3 + 1)
    test::check_output_sizes<std::int32_t>(14, [&](std::span<std::int32_t> out) {
        auto const delta = create(from, to, sizes_06, out);
        if (!delta) CHECK(delta.error().position <= 1);
        else CHECK(test::dec(*delta) == "2 2 0 262144 1966080 5 0 1 0 0 30 1 1 7");
        return delta;
    });
    CHECK(delta_bound(test::view_of(from), test::view_of(to)) == 3 + 3 + 4 + 6);
    CHECK(delta_bound({}, {}) == 3);
}

TEST_CASE("delta: a size that no receiver could read is refused") {
    auto const base = test::layout({{make_key(30, 0), {1}}, {make_key(30, 1), {1, 2}}});
    test::ints out(100);
    CHECK(error_of(create(base, test::layout({{make_key(30, 0), {1}}, {make_key(30, 1), {1}}}), sizes_06, out)) ==
          failure{errc::size_mismatch, 1});
    CHECK(error_of(create(base, test::layout({{make_key(30, 1), {1, 2, 3}}}), sizes_06, out)) ==
          failure{errc::size_mismatch, 0});
    CHECK(error_of(create(test::layout({}), test::layout({{make_key(5, 0), {1, 2}}}), sizes_06, out)) ==
          failure{errc::size_mismatch, 0});
    CHECK(error_of(create(test::layout({}), test::layout({{make_key(5, 0), {1, 2}}}), size_table{}, out)) ==
          failure{});
    // Unchanged items are not written, so their size does not matter.
    auto const wrong = test::layout({{make_key(30, 0), {}}, {make_key(5, 0), {1, 2}}});
    CHECK(error_of(create(wrong, wrong, sizes_06, out)) == failure{});
}

TEST_CASE("delta: no delta between snapshots with repeated keys") {
    auto const distinct = test::layout({{make_key(5, 0), {1, 2, 3}}});
    auto const repeated = test::layout({{make_key(5, 0), {1, 2, 3}}, {make_key(5, 0), {4, 5, 6}}});
    test::ints out(100);
    CHECK(error_of(create(distinct, repeated, sizes_06, out)) == failure{errc::duplicate_key, 0});
    CHECK(error_of(create(repeated, distinct, sizes_06, out)) == failure{errc::duplicate_key, 0});
    CHECK(error_of(create(repeated, repeated, sizes_06, out)) == failure{errc::duplicate_key, 0});
}

TEST_CASE("delta: repeated keys are found wherever they are, however the keys were chosen") {
    auto const memory = std::make_unique<delta_memory<>>();
    std::span<std::uint32_t> const words{memory->base_filter};
    seen_keys const place{words, seen_keys::multiplier(words)};
    auto const meeting =
        test::colliding_keys(300, [&](auto key) { return place.word_of(key) * 32 + place.bit_of(key); });
    test::random rng{5};
    for (int round = 0; round < 300; ++round) {
        test::plain_items items;
        std::size_t const n = 2 + rng.below(298);
        for (std::size_t i = 0; i < n; ++i)
            items.push_back({round % 2 == 0
                                 ? meeting[i]
                                 : make_key(static_cast<std::uint16_t>(100 + i % 7), static_cast<std::uint16_t>(i)),
                             {1}});
        test::ints out(4000);
        auto const create = [&] {
            auto const ints = test::layout(items);
            return error_of(create_delta({}, snapshot_view::trusted(ints, false), size_table{}, *memory, out));
        };
        CHECK(create() == failure{});
        std::size_t const second = 1 + rng.below(n - 1);
        items[second].key = items[rng.below(second)].key;
        CHECK(create() == failure{errc::duplicate_key, 0});
    }
}

TEST_CASE("delta: negative keys come back in lenient decoding") {
    test::plain_items const to{{-1, {5}}, {make_key(0x8000, 7), {6}}};
    auto const delta = create({}, to, sizes_06);
    CHECK(test::dec(delta) == "0 2 0 -1 65535 1 5 -32768 7 1 6");
    CHECK(apply(test::layout({}), delta, sizes_06).error == failure{errc::bad_type, 3});
    auto const back = apply(test::layout({}), delta, sizes_06, decoding::lenient);
    CHECK(back.error == failure{});
    CHECK(back.full == test::layout(to));
    CHECK(back.notes[note::unsigned_key_half].count == 2);
    CHECK(back.notes[note::unsigned_key_half].position == 3);
}

TEST_CASE("delta: every output size when applying") {
    auto const base = test::layout({{make_key(5, 0), {1, 2, 3}}, {make_key(4, 0), {1, 2, 3, 4}}});
    test::ints const delta{1, 2, 0, make_key(4, 0), 5, 0, 1, 1, 1, 30, 9, 2, 8, 8};
    // 2 + 2 offsets + (1 + 3) + (1 + 2)
    test::check_output_sizes<std::int32_t>(11, [&](std::span<std::int32_t> out) {
        auto const made = apply_delta(test::view_of(base), delta, sizes_06, *memory, out);
        if (!made) CHECK(made.error().position == (out.size() < 7 ? 0 : 9));
        else CHECK(test::dec(made->ints()) == "28 2 0 16 327680 2 3 4 1966089 8 8");
        return made;
    });
    test::check_output_sizes<std::int32_t>(2, [&](std::span<std::int32_t> out) {
        return apply_delta({}, test::ints{0, 0, 0}, sizes_06, *memory, out);
    });
}

TEST_CASE("delta: the plain way to apply needs as much room, and writes no further") {
    auto const distinct = test::layout({{make_key(5, 0), {1, 2, 3}}, {make_key(4, 0), {1, 2, 3, 4}}});
    auto const repeated = test::layout({{make_key(5, 0), {1, 2, 3}}, {make_key(5, 0), {5, 6, 7}}});
    struct variant {
        test::ints base, delta;
        std::size_t survivors, needed; // ints of what stays, and of all
    };
    for (auto const& v : std::vector<variant>{
             {distinct, {0, 0, 0}, 13, 13},
             {distinct, {1, 0, 0, make_key(4, 0)}, 7, 7},
             {distinct, {1, 2, 0, make_key(4, 0), 5, 0, 1, 1, 1, 30, 9, 2, 8, 8}, 7, 11},
             {distinct, {2, 0, 0, make_key(4, 0), make_key(5, 0)}, 2, 2},
             {repeated, {0, 0, 0}, 12, 12},
             {repeated, {0, 1, 0, 5, 0, 1, 1, 1}, 12, 12},
         }) {
        CAPTURE(test::dec(v.delta));
        test::check_output_sizes<std::int32_t>(v.needed, [&](std::span<std::int32_t> out) {
            auto const made = plain::apply_delta(test::view_of(v.base), v.delta, sizes_06, *memory, out, {});
            if (!made) CHECK(made.error().position == (out.size() < v.survivors ? 0 : 9));
            else CHECK(made->ints().size() == v.needed);
            return made;
        });
    }
    // The limit, and not the memory, is what ends it.
    test::ints out(100);
    auto const limited = [&](std::uint32_t ints) {
        return error_of(plain::apply_delta(test::view_of(distinct), test::ints{0, 0, 0}, sizes_06, *memory, out,
                                           {decoding::strict, {10, 4 * ints}, nullptr}));
    };
    CHECK(limited(12) == failure{errc::too_large, 0});
    CHECK(limited(13) == failure{});
}

TEST_CASE("delta: the limit of items") {
    test::plain_items items;
    for (std::uint16_t i = 0; i < 1024; ++i) items.push_back({make_key(3, i), {}});
    auto const base = test::layout(items);
    size_table const sizes;
    CHECK(apply(base, {0, 1, 0, 4, 0, 0}, sizes).error == failure{errc::too_many_items, 3});
    CHECK(apply(base, {0, 2, 0, 3, 5, 0, 4, 0, 0}, sizes).error == failure{errc::too_many_items, 6});
    auto const swapped = apply(base, {1, 1, 0, make_key(3, 5), 4, 0, 0}, sizes);
    CHECK(swapped.error == failure{});
    CHECK(test::view_of(swapped.full).size() == 1024);
    CHECK(apply(base, {1, 2, 0, make_key(3, 5), 4, 0, 0, 4, 1, 0}, sizes).error ==
          failure{errc::too_many_items, 7});
    // The same new item twice is one item.
    CHECK(apply(base, {1, 2, 0, make_key(3, 5), 4, 0, 0, 4, 0, 0}, sizes).error == failure{});

    CHECK(apply(test::layout({{1, {}}, {2, {}}}), {0, 1, 0, 4, 0, 0}, sizes, decoding::strict, {2, 1000}).error ==
          failure{errc::too_many_items, 3});
    CHECK(apply(test::layout({{1, {}}, {2, {}}}), {0, 0, 0}, sizes, decoding::strict, {1, 1000}).error ==
          failure{errc::too_many_items, 0});
    // An error in the updates comes after the limit, where it stands.
    CHECK(apply(base, {0, 2, 0, 3, 5, 0, -1, 0, 0}, sizes).error == failure{errc::bad_type, 6});
}

TEST_CASE("delta: the limit of bytes") {
    size_table const sizes;
    test::ints delta{0, 1, 0, 30, 0, 16380};
    delta.resize(6 + 16380, 5);
    auto const largest = apply(test::layout({}), delta, sizes);
    CHECK(largest.error == failure{});
    CHECK(largest.full.size() == 16384);

    delta[5] = 16381;
    delta.push_back(5);
    CHECK(apply(test::layout({}), delta, sizes).error == failure{errc::too_large, 3});
    CHECK(apply(largest.full, {0, 1, 0, 30, 1, 0}, sizes).error == failure{errc::too_large, 3});
    // Removed items make room.
    CHECK(apply(largest.full, {1, 1, 0, make_key(30, 0), 30, 1, 0}, sizes).error == failure{});
    auto const small = test::layout({{1, {1, 2}}, {2, {3}}}); // 9 ints
    CHECK(apply(small, {0, 0, 0}, sizes, decoding::strict, {10, 36}).error == failure{});
    CHECK(apply(small, {0, 0, 0}, sizes, decoding::strict, {10, 32}).error == failure{errc::too_large, 0});
    CHECK(apply(small, {0, 1, 0, 9, 9, 0}, sizes, decoding::strict, {10, 40}).error == failure{errc::too_large, 3});
    CHECK(apply(small, {0, 1, 0, 9, 9, 0}, sizes, decoding::strict, {10, 44}).error == failure{});
}

TEST_CASE("delta: larger limits") {
    constexpr snapshot_limits limits{4096, 512 * 1024};
    // Its items fit, their ints do not, which makes it slower.
    auto const large = std::make_unique<delta_memory<snapshot_limits{4096, 65536}>>();
    test::plain_items from;
    test::plain_items to;
    for (std::uint16_t i = 0; i < 4096; ++i) {
        from.push_back({make_key(0x4000, i), test::ints(20, i)});
        to.push_back({make_key(0x4000, static_cast<std::uint16_t>(i + 96)), test::ints(20, i + 3)});
    }
    auto const from_ints = test::layout(from);
    auto const to_ints = test::layout(to);
    test::ints delta_out(delta_bound(test::view_of(from_ints), test::view_of(to_ints)));
    auto const delta = create_delta(test::view_of(from_ints), test::view_of(to_ints), sizes_06, *large, delta_out);
    REQUIRE(delta);
    auto const larger = std::make_unique<delta_memory<limits>>();
    test::ints delta_again(delta->size());
    auto const again =
        create_delta(test::view_of(from_ints), test::view_of(to_ints), sizes_06, *larger, delta_again);
    REQUIRE(again);
    CHECK(test::same(*again, *delta));
    CHECK((*delta)[0] == 96);
    CHECK((*delta)[1] == 4096);
    test::ints out(limits.ints());
    auto const made =
        apply_delta(test::view_of(from_ints), *delta, sizes_06, *large, out, {decoding::strict, limits, nullptr});
    REQUIRE(made);
    CHECK(test::items_of(*made) == test::as_applied(from, to));
    CHECK(error_of(apply_delta(test::view_of(from_ints), test::ints{0, 1, 0, 1, 0, 0}, size_table{}, *large, out,
                               {decoding::strict, limits, nullptr})) == failure{errc::too_many_items, 3});
    // With smaller limits the same delta is refused: update 1024, after three ints of header and 20 of data each.
    CHECK(error_of(
              apply_delta({}, *delta, sizes_06, *large, out, {decoding::strict, {1024, limits.bytes}, nullptr})) ==
          failure{errc::too_many_items, 3 + 96 + 1024 * 23});
    CHECK(error_of(apply_delta({}, *delta, sizes_06, *large, out)).code == errc::too_large);
}

TEST_CASE("delta: scratch memory for smaller snapshots is not overrun") {
    struct guarded_memory {
        delta_memory<snapshot_limits{64, 4096}> memory;
        std::array<std::uint32_t, 64> guard;
    };
    auto const small = std::make_unique<guarded_memory>();
    small->guard.fill(0x5a5a5a5b);
    std::size_t const most = delta_scratch{small->memory}.max_ints();
    size_table const sizes;
    for (std::size_t ints = most - 3; ints < 2 * most; ints += ints < most + 3 ? 1 : most / 8) {
        CAPTURE(ints);
        auto const from = test::layout({{make_key(5, 1), test::ints(ints - 1, 3)}});
        auto const to = test::layout({{make_key(5, 1), test::ints(ints - 1, 4)}});
        test::ints out(2 * ints + 100);
        auto const delta = create_delta(test::view_of(from), test::view_of(to), sizes, small->memory, out);
        REQUIRE(delta);
        CHECK(delta->size() == 3 + 3 + ints - 1);
        CHECK((*delta)[6] == 1);
        CHECK(std::count(small->guard.begin(), small->guard.end(), 0x5a5a5a5bU) == 64);
        // Either of the two may be the larger one.
        auto const few = test::layout({{make_key(5, 2), {1}}});
        REQUIRE(create_delta(test::view_of(few), test::view_of(to), sizes, small->memory, out));
        REQUIRE(create_delta(test::view_of(from), test::view_of(few), sizes, small->memory, out));
        CHECK(std::count(small->guard.begin(), small->guard.end(), 0x5a5a5a5bU) == 64);
    }
}

TEST_CASE("delta: keys that all meet in one place of the index") {
    auto const multiplier = hash_multiplier(0, memory->base_index.numbers.data());
    auto const keys =
        test::colliding_keys(1500, [=](std::int32_t key) { return detail::hash_key(key, multiplier, 32 - 12); });
    test::plain_items from;
    test::plain_items to;
    for (std::size_t i = 0; i < 1000; ++i) from.push_back({keys[i], {1, static_cast<std::int32_t>(i)}});
    for (std::size_t i = 500; i < 1500; ++i) to.push_back({keys[i], {2, static_cast<std::int32_t>(i)}});
    size_table const sizes;
    auto const delta = create(from, to, sizes);
    CHECK(delta[0] == 500);
    CHECK(delta[1] == 1000);
    CHECK(delta == expected_delta(from, to, sizes));
    auto const back = apply(test::layout(from), delta, sizes);
    CHECK(back.error == failure{});
    CHECK(back.full == test::layout(test::as_applied(from, to)));
}

TEST_CASE("delta: ints that belong to no item do not survive") {
    size_table const sizes;
    CHECK(apply({8, 0, 1, 2}, test::ints{0, 0, 0}, sizes).full == test::ints{0, 0});
    test::ints const gap{12, 1, 4, 7, make_key(64, 0), 5};
    CHECK(apply(gap, test::ints{0, 0, 0}, sizes).full == test::ints{8, 1, 0, make_key(64, 0), 5});
}

TEST_CASE("delta: cut anywhere, nothing but truncated") {
    test::random rng{41};
    test::plain_items to;
    while (to.size() < 20) to = test::next_items(rng, to, sizes_06, 40);
    auto const delta = create({}, to, sizes_06);
    for (std::size_t size = 0; size < delta.size(); ++size) {
        test::ints const cut{delta.begin(), delta.begin() + static_cast<std::ptrdiff_t>(size)};
        CHECK(apply(test::layout({}), cut, sizes_06).error == failure{errc::truncated, size});
    }
}

TEST_CASE("delta: noise is refused or gives a valid snapshot") {
    test::random rng{42};
    std::size_t good = 0;
    for (int round = 0; round < 2000; ++round) {
        auto const from = test::next_items(rng, {}, sizes_06, 12);
        auto delta = expected_delta(from, test::next_items(rng, from, sizes_06, 12), sizes_06);
        if (delta.empty()) continue;
        for (std::size_t n = 1 + rng.below(3); n > 0; --n) delta[rng.below(delta.size())] = rng.value();
        decoding const mode = rng.chance(50) ? decoding::strict : decoding::lenient;
        auto const made = apply(test::layout(from), delta, sizes_06, mode);
        if (made.error.code == errc::ok) {
            ++good;
            CHECK(error_of(snapshot_view::parse(made.full, decoding::lenient)) == failure{});
        } else {
            CHECK(made.error.position <= delta.size());
        }
    }
    CHECK(good > 100);
}

// ---- reader --------------------------------------------------------------------------------------------------------

TEST_CASE("delta reader: walks without a base") {
    test::ints const delta{2, 2, 0, 7, 8, 5, 0, 1, -2, 0, 30, 9, 1, 42};
    auto const opened = delta_reader::open(delta, sizes_06);
    REQUIRE(opened);
    delta_reader reader = *opened;
    CHECK(test::dec(reader.removed_keys()) == "7 8");
    CHECK(reader.stated_updates() == 2);
    delta_reader::update update;
    REQUIRE(reader.next(update));
    CHECK(update.key == make_key(5, 0));
    CHECK(test::dec(update.data) == "1 -2 0");
    CHECK(update.position == 5);
    REQUIRE(reader.next(update));
    CHECK(update.key == make_key(30, 9));
    CHECK(test::dec(update.data) == "42");
    CHECK(update.position == 10);
    CHECK_FALSE(reader.next(update));
    CHECK(reader.error() == failure{});
    CHECK_FALSE(reader.next(update));
}

TEST_CASE("delta reader: an error stays") {
    test::ints const delta{0, 3, 0, 30, 9, 0, 30, 9, -5};
    delta_reader reader = *delta_reader::open(delta, sizes_06);
    CHECK(reader.stated_updates() == 3);
    delta_reader::update update;
    CHECK(reader.next(update));
    CHECK(update.data.empty());
    CHECK_FALSE(reader.next(update));
    CHECK(reader.error() == failure{errc::bad_item_size, 8});
    CHECK_FALSE(reader.next(update));
    CHECK(reader.error() == failure{errc::bad_item_size, 8});
}

TEST_CASE("delta reader: notes, and a second walk in silence") {
    test::ints const delta{0, 1, 5, -1, 0, 0, 99};
    note_log notes;
    auto const opened = delta_reader::open(delta, sizes_06, decoding::lenient, &notes);
    REQUIRE(opened);
    CHECK(notes[note::unused_header_int].count == 1);
    delta_reader second = *opened;
    delta_walk::forget_notes(second);
    delta_reader::update update;
    while (second.next(update)) CHECK(update.key == make_key(0xffff, 0));
    CHECK(notes[note::unsigned_key_half].count == 0);
    delta_reader first = *opened;
    while (first.next(update)) CHECK(update.key == make_key(0xffff, 0));
    CHECK_FALSE(first.next(update)); // and leaves no note again
    CHECK(notes[note::unsigned_key_half].count == 1);
    CHECK(notes[note::unsigned_key_half].position == 3);
    CHECK(notes[note::update_count].count == 1);
    CHECK(notes[note::update_count].position == 6);
    CHECK(error_of(delta_reader::open(test::ints{-1, 0, 0}, sizes_06)) == failure{errc::bad_count, 0});
    CHECK(delta_reader::open(test::ints{0, -7, 0}, sizes_06)->stated_updates() == 0);
}

// ---- usage ---------------------------------------------------------------------------------------------------------

TEST_CASE("delta usage: counts bytes by type") {
    auto const delta =
        test::from_dec("1 3 0 262147 5 0 1 -2 0 2 9 2147483647 -2147483648 10 -10 1 4242 5 1 64 0 0");
    type_usage types[4];
    auto const usage = inspect_delta(delta, sizes_06, types);
    REQUIRE(usage);
    CHECK(usage->removed == 1);
    CHECK(usage->removed_bytes == 3);
    CHECK(usage->updates == 3);
    CHECK(usage->update_bytes == 5 + 17 + 6);
    CHECK(usage->unlisted_updates == 0);
    REQUIRE(usage->types.size() == 2);
    CHECK(usage->types.data() == types);
    CHECK(types[0].type == 5);
    CHECK(types[0].updates == 2);
    CHECK(types[0].bytes == 11);
    CHECK(types[1].type == 2);
    CHECK(types[1].updates == 1);
    CHECK(types[1].bytes == 17);
}

TEST_CASE("delta usage: with too little room, and errors") {
    auto const delta = test::from_dec("0 3 0 5 0 1 -2 0 30 9 1 8 5 1 64 0 0");
    type_usage one[1];
    auto const short_list = inspect_delta(delta, sizes_06, one);
    REQUIRE(short_list);
    CHECK(short_list->types.size() == 1);
    CHECK(one[0].updates == 2);
    CHECK(short_list->unlisted_updates == 1);
    CHECK(short_list->update_bytes == 5 + 4 + 6);
    auto const no_list = inspect_delta(delta, sizes_06, {});
    REQUIRE(no_list);
    CHECK(no_list->types.empty());
    CHECK(no_list->unlisted_updates == 3);
    CHECK(no_list->updates == 3);

    CHECK(error_of(inspect_delta({}, sizes_06, {})) == failure{errc::truncated, 0});
    CHECK(error_of(inspect_delta(test::ints{0, 1, 0, -1, 0, 0}, sizes_06, {})) == failure{errc::bad_type, 3});
    CHECK(error_of(inspect_delta(test::ints{0, 1, 0, -1, 0, 0}, sizes_06, {}, decoding::lenient)) == failure{});
}

TEST_CASE("delta usage: adds up to the size of random deltas") {
    test::random rng{43};
    for (int round = 0; round < 100; ++round) {
        auto const from = test::next_items(rng, {}, sizes_06, 30);
        auto const delta = expected_delta(from, test::next_items(rng, from, sizes_06, 30), sizes_06);
        if (delta.empty()) continue;
        type_usage types[16];
        auto const usage = inspect_delta(delta, sizes_06, types);
        REQUIRE(usage);
        CHECK(usage->removed == static_cast<std::uint32_t>(delta[0]));
        CHECK(usage->updates == static_cast<std::uint32_t>(delta[1]));
        CHECK(usage->removed_bytes + usage->update_bytes == varint_size(std::span{delta}.subspan(3)));
        std::uint32_t bytes = 0;
        for (auto const& t : usage->types) bytes += t.bytes;
        CHECK(bytes == usage->update_bytes);
    }
}
