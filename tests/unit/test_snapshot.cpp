#include "check.hpp"
#include "random.hpp"
#include "records.hpp"
#include "snapshots.hpp"

#include "snapshot/hash.hpp"
#include "teewire/huffman.hpp"
#include "teewire/snapshot.hpp"
#include "teewire/varint.hpp"

#include <memory>

using namespace teewire;
using test::error_of;

namespace {

test::ints sort(test::ints const& full) {
    auto const view = snapshot_view::parse(full);
    REQUIRE(view);
    std::vector<std::uint16_t> order(view->size());
    test::ints out(full.size());
    auto const made = sort_by_key(*view, order, out);
    REQUIRE(made);
    return test::copy_of(made->ints());
}

void check_snapshot(test::record const& r) {
    auto const items = test::parse_items(r.all("item"));
    bool const by_key = r.has("by_key");
    auto const full = by_key ? sort(test::layout(items)) : test::layout(items);
    CHECK(test::dec(full) == r.get("full"));

    note_log notes;
    auto const view = snapshot_view::parse(full, decoding::strict, {}, &notes);
    REQUIRE(view);
    CHECK(notes.empty());
    CHECK(test::items_of(*view) == (by_key ? test::sorted(items) : items));
    CHECK(static_cast<std::int32_t>(view->checksum()) == test::number<std::int32_t>(r.get("crc")));
    auto const& sizes = *find_size_table(r.get("sizes"));
    for (item const i : *view)
        if (sizes[i.type()] != 0) CHECK(sizes[i.type()] == i.data.size());

    if (!r.has("varint")) return;
    test::bytes packed(varint_bound(full.size()));
    packed.resize(*encode_varints(full, packed));
    CHECK(test::hex(packed) == r.get("varint"));
    test::ints unpacked(full.size());
    CHECK(*decode_varints(packed, unpacked) == full.size());
    CHECK(unpacked == full);

    if (!r.has("huffman")) return;
    test::bytes coded(huffman_bound(packed.size()));
    coded.resize(*huffman_encode(packed, coded));
    CHECK(test::hex(coded) == r.get("huffman"));
    test::bytes decoded(packed.size());
    CHECK(*huffman_decode(coded, decoded) == packed.size());
    CHECK(decoded == packed);
}

void check_ints(test::record const& r) {
    auto const full = test::from_dec(r.get("full"));
    failure const expected = r.has("valid") ? failure{} : test::parse_failure(r.get("error"));
    note_log notes;
    auto const strict = snapshot_view::parse(full, decoding::strict, {}, &notes);
    CHECK(error_of(strict) == expected);
    if (strict) {
        CHECK(test::items_of(*strict) == test::parse_items(r.all("item")));
        CHECK(notes[note::gap_before_items].count == (r.has("gap") ? 1 : 0));
        if (r.has("gap")) CHECK(notes[note::gap_before_items].position == 2);
    }
    CHECK(notes[note::unsigned_key_half].count == 0);

    notes = {};
    auto const lenient = snapshot_view::parse(full, decoding::lenient, {}, &notes);
    if (r.has("lenient")) {
        CHECK(error_of(lenient) == failure{});
        CHECK(notes[note::unsigned_key_half].count == 1);
        CHECK(notes[note::unsigned_key_half].position == expected.position);
    } else {
        CHECK(error_of(lenient) == expected);
    }
}

} // namespace

TEST_CASE("snapshot: golden vectors") {
    std::size_t snapshots = 0;
    std::size_t others = 0;
    for (auto const& r : test::read_records("snapshot.txt")) {
        CAPTURE(r.title());
        if (r.kind() == "snapshot") {
            check_snapshot(r);
            ++snapshots;
        } else {
            check_ints(r);
            ++others;
        }
    }
    CHECK(snapshots == 8);
    CHECK(others == 24);
}

TEST_CASE("snapshot: keys") {
    CHECK(make_key(5, 0) == 327680);
    CHECK(make_key(4, 3) == 262147);
    CHECK(make_key(4, 65535) == 327679);
    CHECK(make_key(0x7fff, 0xffff) == 2147483647);
    CHECK(make_key(0x8000, 0) == -2147483647 - 1);
    CHECK(make_key(0xffff, 0xffff) == -1);
    CHECK(key_type(-1) == 0xffff);
    CHECK(key_id(-1) == 0xffff);
    CHECK(key_type(262147) == 4);
    CHECK(key_id(262147) == 3);
    test::random rng{10};
    for (int round = 0; round < 100; ++round) {
        auto const key = static_cast<std::int32_t>(rng.next());
        CHECK(make_key(key_type(key), key_id(key)) == key);
        CHECK((item{key, {}}.type() == key_type(key)));
        CHECK((item{key, {}}.id() == key_id(key)));
    }
}

TEST_CASE("snapshot: the empty one needs no memory") {
    snapshot_view const empty;
    CHECK(empty.empty());
    CHECK(empty.size() == 0);
    CHECK(empty.data_size() == 0);
    CHECK(test::dec(empty.ints()) == "0 0");
    CHECK(empty.offsets().empty());
    CHECK(empty.items().empty());
    CHECK(empty.begin() == empty.end());
    CHECK(empty.checksum() == 0);
    CHECK_FALSE(empty.find(0).has_value());
}

TEST_CASE("snapshot: access to items") {
    test::ints const full = test::from_dec("24 3 0 12 16 327680 7 8 5 6 9");
    auto const view = test::view_of(full);
    CHECK_FALSE(view.empty());
    CHECK(view.size() == 3);
    CHECK(view.data_size() == 24);
    CHECK(view.ints().data() == full.data());
    CHECK(test::dec(view.offsets()) == "0 12 16");
    CHECK(test::dec(view.items()) == "327680 7 8 5 6 9");
    CHECK(view.key(0) == 327680);
    CHECK(view.key(1) == 5);
    CHECK(view.key(2) == 6);
    CHECK(test::dec(view[0].data) == "7 8");
    CHECK(view[1].data.empty());
    CHECK(test::dec(view[2].data) == "9");
    CHECK(view.checksum() == 24);

    auto at = view.begin();
    CHECK((*at).key == 327680);
    CHECK((*at++).key == 327680);
    CHECK((*at).key == 5);
    CHECK((*++at).key == 6);
    CHECK(++at == view.end());

    REQUIRE(view.find(6).has_value());
    CHECK(view.find(6)->data[0] == 9);
    CHECK_FALSE(view.find(7).has_value());
}

TEST_CASE("snapshot: of items with the same key the first is found") {
    test::ints const full = test::layout({{5, {1}}, {6, {}}, {5, {2}}});
    auto const view = snapshot_view::parse(full);
    REQUIRE(view);
    CHECK(view->find(5)->data[0] == 1);
    auto memory = std::make_unique<key_index_memory<>>();
    key_index index{*memory};
    CHECK_FALSE(index.build(*view));
    CHECK(index.size() == 3);
    CHECK(index.find(5) == 0);
    CHECK(index.find(6) == 1);
}

TEST_CASE("snapshot: limits of parse") {
    auto const with_items = [](std::size_t n) { return test::layout(test::plain_items(n)); };
    CHECK(error_of(snapshot_view::parse(with_items(1024))) == failure{});
    CHECK(error_of(snapshot_view::parse(with_items(1025))) == failure{errc::bad_count, 1});
    CHECK(error_of(snapshot_view::parse(with_items(4096), decoding::strict, {4096, 65536})) == failure{});
    CHECK(error_of(snapshot_view::parse(with_items(3), decoding::strict, {2, 65536})) ==
          failure{errc::bad_count, 1});

    auto const with_data = [](std::size_t n) { return test::layout({{1, test::ints(n, 3)}}); };
    CHECK(error_of(snapshot_view::parse(with_data(16380))) == failure{});
    CHECK(error_of(snapshot_view::parse(with_data(16381))) == failure{errc::too_large, 16384});
    CHECK(error_of(snapshot_view::parse(with_data(131068), decoding::strict, {1, 524288})) == failure{});
    CHECK(error_of(snapshot_view::parse(with_data(131069), decoding::strict, {1, 524288})) ==
          failure{errc::too_large, 131072});
    CHECK(snapshot_limits{}.ints() == 16384);
}

TEST_CASE("snapshot: every prefix and any surplus is refused") {
    test::ints full = test::layout({{1, {5, 6}}, {2, {7}}, {3, {}}});
    for (std::size_t size = 0; size < full.size(); ++size) {
        auto const cut = snapshot_view::parse(std::span{full}.first(size));
        CHECK(error_of(cut) == (size < 5 ? failure{errc::truncated, size} : failure{errc::bad_length, 0}));
    }
    full.push_back(0);
    CHECK(error_of(snapshot_view::parse(full)) == failure{errc::bad_length, 0});
}

TEST_CASE("snapshot: noise is refused or makes a usable view") {
    test::random rng{11};
    std::size_t accepted = 0;
    for (int round = 0; round < 5000; ++round) {
        test::plain_items items;
        for (std::size_t n = rng.below(5); n > 0; --n) items.push_back(test::random_item(rng, sizes_06));
        auto full = test::layout(items);
        for (std::size_t n = rng.below(3); n > 0; --n)
            full[rng.below(full.size())] += static_cast<std::int32_t>(rng.below(9)) - 4;
        auto const view = snapshot_view::parse(full, decoding::lenient);
        if (!view) continue;
        ++accepted;
        std::uint32_t sum = 0;
        for (item const i : *view)
            for (std::int32_t const value : i.data) sum += static_cast<std::uint32_t>(value);
        CHECK(view->checksum() == sum);
    }
    CHECK(accepted > 1000);
}

TEST_CASE("snapshot: what an alias stands for") {
    test::ints const full = test::layout({
        {make_key(0x7fff, 5), {1}},
        {make_key(0, 0x7fff), {1993229659, -102024632, -1378361269, -1810037668}},
        {make_key(0, 0x4000), {1266687092, -498320160, -1188251820, -802358134, 99}},
        {make_key(0, 0x4001), {1, 2, 3}},
    });
    auto const view = test::view_of(full);
    auto const character = find_extended_type(view, 0x7fff);
    REQUIRE(character.has_value());
    CHECK((*character == uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045c")));
    auto const spec_char = find_extended_type(view, 0x4000); // surplus ints are ignored
    REQUIRE(spec_char.has_value());
    CHECK((*spec_char == uuid::parse("4b801c74-e24c-3ce0-b92c-b754d02cfc8a")));
    CHECK_FALSE(find_extended_type(view, 0x4001).has_value());
    CHECK_FALSE(find_extended_type(view, 0x7ffe).has_value());
    CHECK_FALSE(find_extended_type({}, 0x7fff).has_value());
}

// ---- key index -----------------------------------------------------------------------------------------------------

TEST_CASE("key index: random keys") {
    test::random rng{12};
    auto memory = std::make_unique<key_index_memory<>>();
    key_index index{*memory};
    CHECK(index.capacity() == 1024);
    for (int round = 0; round < 10; ++round) {
        index.clear();
        CHECK(index.size() == 0);
        test::ints keys;
        while (keys.size() < 1024) {
            auto const key = static_cast<std::int32_t>(rng.next());
            auto const known = std::find(keys.begin(), keys.end(), key);
            keys.push_back(key);
            std::size_t const found = index.insert(key);
            if (found == key_index::npos) continue;
            CHECK(static_cast<std::ptrdiff_t>(found) == known - keys.begin());
            keys.pop_back();
        }
        CHECK(index.size() == 1024);
        bool all_found = true;
        for (std::size_t i = 0; i < keys.size(); ++i) all_found = all_found && index.find(keys[i]) == i;
        CHECK(all_found);
        CHECK(index.find(keys[0] ^ 0x2a2a2a2a) == key_index::npos);
    }
}

namespace {

test::ints keys_of_one_place(std::size_t count, key_index_memory<>& memory) {
    auto const multiplier = hash_multiplier(0, memory.numbers.data());
    return test::colliding_keys(count,
                                [=](std::int32_t key) { return detail::hash_key(key, multiplier, 32 - 12); });
}

} // namespace

TEST_CASE("key index: keys that all meet in one place") {
    auto memory = std::make_unique<key_index_memory<>>();
    auto const keys = keys_of_one_place(1024, *memory);
    key_index index{*memory};
    SUBCASE("inserted one by one") {
        for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(index.insert(keys[i]) == key_index::npos);
    }
    SUBCASE("built at once") {
        test::plain_items items;
        for (auto const key : keys) items.push_back({key, {}});
        auto const full = test::layout(items);
        REQUIRE(index.build(test::view_of(full)));
    }
    CHECK(index.size() == 1024);
    for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(index.find(keys[i]) == i);
    CHECK(index.find(-1) == key_index::npos);
}

TEST_CASE("key index: repeated keys among those that meet in one place") {
    auto memory = std::make_unique<key_index_memory<>>();
    auto keys = keys_of_one_place(1000, *memory);
    keys.insert(keys.end(), keys.begin(), keys.begin() + 24);
    test::plain_items items;
    for (auto const key : keys) items.push_back({key, {}});
    auto const full = test::layout(items);
    key_index index{*memory};
    CHECK_FALSE(index.build(test::view_of(full)));
    for (std::size_t i = 0; i < 1000; ++i) REQUIRE(index.find(keys[i]) == i);
    // and nothing of it is left afterwards
    CHECK(index.build({}));
    CHECK(index.find(keys[0]) == key_index::npos);
}

TEST_CASE("key index: keys that an enemy has put in a row") {
    auto memory = std::make_unique<key_index_memory<>>();
    auto const keys = test::keys_in_a_row(1024, key_index_memory<>::places);
    test::plain_items items;
    for (auto const key : keys) items.push_back({key, {}});
    auto const full = test::layout(items);
    key_index index{*memory};
    REQUIRE(index.build(test::view_of(full)));
    CHECK(test::longest_row(memory->numbers) < 256);
}

TEST_CASE("key index: other capacities") {
    CHECK(key_index_memory<1>::places == 16);
    CHECK(key_index_memory<4>::places == 16);
    CHECK(key_index_memory<5>::places == 32);
    CHECK(key_index_memory<1024>::places == 4096);
    CHECK(key_index_memory<65534>::places == 262144);
    CHECK(sizeof(key_index_memory<>) == 12288);

    auto memory = std::make_unique<key_index_memory<65534>>();
    key_index index{*memory};
    auto const key_of = [](std::size_t i) { return static_cast<std::int32_t>(i * 65537); };
    for (std::size_t i = 0; i < 65534; ++i) REQUIRE(index.insert(key_of(i)) == key_index::npos);
    for (std::size_t i = 0; i < 65534; ++i) REQUIRE(index.find(key_of(i)) == i);
}

// ---- order ---------------------------------------------------------------------------------------------------------

TEST_CASE("snapshot: sorting by key is stable and signed") {
    auto const full = test::layout({{9, {1}}, {-5, {2, 2}}, {9, {3}}, {3, {}}, {9, {4}}});
    auto const view = test::view_of(full);
    std::vector<std::uint16_t> order(5);
    test::ints out(full.size());
    auto const made = sort_by_key(view, order, out);
    REQUIRE(made);
    CHECK(test::dec(made->ints()) == "40 5 0 12 16 24 32 -5 2 2 3 9 1 9 3 9 4");
    CHECK(made->checksum() == view.checksum());
}

TEST_CASE("snapshot: sorting, every output size") {
    auto const full = test::layout({{9, {1}}, {5, {2, 2}}, {3, {}}});
    std::vector<std::uint16_t> order(3);
    test::check_output_sizes<std::int32_t>(
        full.size(), [&](std::span<std::int32_t> out) { return sort_by_key(test::view_of(full), order, out); });
    test::check_output_sizes<std::int32_t>(2,
                                           [&](std::span<std::int32_t> out) { return sort_by_key({}, {}, out); });
}

TEST_CASE("snapshot: sorting random ones") {
    test::random rng{13};
    for (int round = 0; round < 100; ++round) {
        auto const items = test::next_items(rng, {}, sizes_06, 60);
        auto sorted = items;
        std::sort(sorted.begin(), sorted.end());
        CHECK(sort(test::layout(items)) == test::layout(sorted));
    }
}
