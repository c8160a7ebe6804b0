// An untrusted snapshot: the check, and every use of one that has passed it. The first two bytes choose; then ints of
// four bytes each.
#include "world.hpp"

#include "snapshot/snapshot_functions.hpp"

#include <teewire/history.hpp>
#include <teewire/snapshot_builder.hpp>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

constexpr std::size_t max_ints = snapshot_limits{}.ints();

auto& live_memory = fuzz::lasting<live_snapshot_memory<>>();
auto& index_memory = fuzz::lasting<key_index_memory<>>();

void read_all(snapshot_view view, std::span<std::int32_t const> ints) {
    std::uint32_t sum = 0;
    std::size_t count = 0;
    for (item const i : view) {
        for (std::int32_t const value : i.data) sum += static_cast<std::uint32_t>(value);
        FUZZ_REQUIRE(i.data.empty() || (i.data.data() > ints.data() && &i.data.back() <= &ints.back()));
        FUZZ_REQUIRE(view.key(count) == i.key);
        ++count;
        if (i.type() >= first_alias) static_cast<void>(find_extended_type(view, i.type()));
    }
    FUZZ_REQUIRE(count == view.size());
    FUZZ_REQUIRE(view.checksum() == sum);
    for (auto const& v : kernels::snapshot_variants())
        if (kernels::supported(v.required)) FUZZ_REQUIRE(v.functions.checksum(view) == sum);
}

void look_up(snapshot_view view, std::vector<fuzz::loose_item> const& items) {
    key_index index{index_memory};
    bool const distinct = index.build(view);
    FUZZ_REQUIRE(distinct == !fuzz::have_same_key(items));
    if (view.distinct_keys()) FUZZ_REQUIRE(distinct);
    live_snapshot live{live_memory};
    FUZZ_REQUIRE(live.assign(view).code == errc::ok);
    FUZZ_REQUIRE(live.checksum() == view.checksum() && live.size() == view.size());
    FUZZ_REQUIRE(fuzz::items_of(live.view()) == items);
    std::vector<std::int32_t> keys;
    for (auto const& i : items) keys.push_back(i.key);
    for (std::size_t i = 0; i < items.size() && i < 40; ++i) {
        for (std::int32_t const key : {items[i].key, static_cast<std::int32_t>(items[i].key ^ 1)}) {
            auto const first = std::find(keys.begin(), keys.end(), key);
            std::size_t const found = index.find(key);
            FUZZ_REQUIRE(found ==
                         (first == keys.end() ? key_index::npos : static_cast<std::size_t>(first - keys.begin())));
            FUZZ_REQUIRE(view.find(key).has_value() == (found != key_index::npos));
            FUZZ_REQUIRE(live.find(key).has_value() == (found != key_index::npos));
            for (auto const& v : kernels::snapshot_variants())
                if (kernels::supported(v.required))
                    FUZZ_REQUIRE(v.functions.holds_key(keys, key) == plain::holds_key(keys, key));
        }
    }
}

void sort(snapshot_view view, std::vector<fuzz::loose_item> items) {
    exact<std::uint16_t> const order{view.size()};
    std::size_t const needed = 2 + view.size() + view.data_size() / 4;
    exact<std::int32_t> const out{needed};
    auto const sorted = sort_by_key(view, order.span(), out.span());
    if (!sorted) return FUZZ_REQUIRE(false);
    std::stable_sort(items.begin(), items.end(), [](auto const& a, auto const& b) { return a.key < b.key; });
    FUZZ_REQUIRE(fuzz::items_of(*sorted) == items && sorted->checksum() == view.checksum());
}

// Items given one by one are laid out unchanged, or refused for a reason.
void build(std::vector<fuzz::loose_item> const& items) {
    snapshot_builder builder{fuzz::lasting<snapshot_builder_memory<>>()};
    for (int round = 0; round < 2; ++round) {
        builder.start();
        std::vector<fuzz::loose_item> taken;
        for (auto const& i : items) {
            auto const added = builder.add(item{i.key, i.data});
            bool const known =
                std::any_of(taken.begin(), taken.end(), [&](auto const& t) { return t.key == i.key; });
            if (added) {
                FUZZ_REQUIRE(i.key >= 0 && !known);
                taken.push_back(i);
            } else {
                FUZZ_REQUIRE(added.error().code == (i.key < 0 ? errc::bad_type : errc::duplicate_key));
            }
            FUZZ_REQUIRE(builder.size() == taken.size());
        }
        FUZZ_REQUIRE(same<std::int32_t>(builder.finish().ints(), fuzz::lay_out(taken)));
        exact<std::int32_t> const out{builder.finish().ints().size()};
        auto const ordered = builder.finish(out.span(), item_order::by_key);
        FUZZ_REQUIRE(ordered && ordered->size() == taken.size());
        auto const copied = builder.finish(out.span(), item_order::insertion);
        FUZZ_REQUIRE(copied && same(copied->ints(), builder.finish().ints()));
    }
}

// In a history with room for a few: what is found is what was put there.
void keep(snapshot_view view, std::uint8_t choice) {
    exact<history::entry> const entries{1U + choice % 5};
    exact<std::int32_t> const block{view.ints().size() * (1 + choice / 5 % 4) + choice % 7};
    history past{entries.span(), block.span()};
    exact<std::int32_t> const keys{view.size()};
    exact<std::uint32_t> const starts{starts_words(view.data_size() / 4)};
    for (std::size_t i = 0; i < view.size(); ++i) keys.span()[i] = view.key(i);
    find_starts(view, starts.span());
    auto const outlined = snapshot_view::trusted(view.ints(), false).with_outline({keys.view(), starts.view()});
    for (std::int32_t tick = 10; tick < 18; ++tick) {
        bool const late = tick % 3 == choice % 3;
        snapshot_view const given = tick % 2 == 0 ? view : outlined;
        auto const kept = late ? past.add_late(tick - 5, given) : past.add(tick, given);
        std::int32_t const there = late ? tick - 5 : tick;
        if (!kept) {
            FUZZ_REQUIRE(kept.error().code == errc::too_large || kept.error().code == errc::bad_tick);
            continue;
        }
        auto const found = past.find(there);
        FUZZ_REQUIRE(found && same(found->ints(), view.ints()) && found->checksum() == view.checksum());
        FUZZ_REQUIRE(past.size() > 0 && past.size() <= entries.view().size());
        FUZZ_REQUIRE(past.oldest() <= there && past.find(*past.oldest()).has_value());
        if (choice >= 128) past.drop_before(tick - 2);
    }
    FUZZ_REQUIRE(!past.find(1000));
}

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    std::uint8_t const what = in.byte();
    std::uint8_t const choice = in.byte();
    exact<std::int32_t> const ints{std::min(in.rest().size() / 4, max_ints + 1)};
    for (auto& value : ints.span()) value = in.integer();
    snapshot_limits limits;
    if (what % 4 == 1) limits.items = choice;
    if (what % 4 == 2) limits.bytes = 4U * choice;

    note_log strict_notes, lenient_notes;
    auto const strict = snapshot_view::parse(ints.view(), decoding::strict, limits, &strict_notes);
    auto const lenient = snapshot_view::parse(ints.view(), decoding::lenient, limits, &lenient_notes);
    FUZZ_REQUIRE(!strict || lenient);
    if (!lenient) {
        FUZZ_REQUIRE(lenient.error().position <= ints.view().size());
        FUZZ_REQUIRE(strict.error().code == lenient.error().code || strict.error().code == errc::bad_type);
        return;
    }
    if (!strict) FUZZ_REQUIRE(strict.error().code == errc::bad_type);
    FUZZ_REQUIRE((lenient_notes[note::unsigned_key_half].count == 0) == strict.has_value());
    FUZZ_REQUIRE(lenient->size() <= limits.items && lenient->ints().size() == ints.view().size());
    auto const items = fuzz::items_of(*lenient);
    read_all(*lenient, ints.view());
    look_up(*lenient, items);
    sort(*lenient, items);
    build(items);
    keep(*lenient, choice);
}

} // namespace

FUZZ_TARGET("snapshot", run_target)
