// Differences between two recordings, as `teewire diff` finds them.
#include "demos.hpp"
#include "streams.hpp"

#include "edit/diff.hpp"
#include "recording/demo/demo_stream.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

using namespace teewire;
using namespace teewire::replay;

namespace {

using test::begin, test::marker, test::said, test::snapshot, test::step, test::stream_script;

// Writes down what it hears.
class listener final : public diff_listener {
public:
    void recording(std::string_view what, std::string const& a, std::string const& b) override {
        lines.push_back(fmt::format("{} {}|{}", what, a, b));
    }
    void ticks(side only, std::int32_t first, std::int32_t last, std::uint64_t count) override {
        lines.push_back(fmt::format("{} ticks {}-{}: {}", count, first, last, name(only)));
    }
    void item_only(side only, std::int32_t tick, teewire::item const& i, type_name const& type) override {
        lines.push_back(fmt::format("{} {} {}: {}", tick, type.text, i.id(), name(only)));
    }
    void item(std::int32_t tick, teewire::item const& i, type_name const& type,
              std::span<part_difference const> parts) override {
        std::string text = fmt::format("{} {} {}:", tick, type.text, i.id());
        for (part_difference const& p : parts)
            text += fmt::format(" {} {}|{}", part_name(p.part), p.a.empty() ? "" : part_text(p.part, p.a),
                                p.b.empty() ? "" : part_text(p.part, p.b));
        lines.push_back(text);
    }
    void message(std::int32_t tick, std::size_t number, compared_message const* a,
                 compared_message const* b) override {
        lines.push_back(fmt::format("{} #{} {}|{}", tick, number, a != nullptr ? a->fields : "",
                                    b != nullptr ? b->fields : ""));
    }
    static char const* name(side s) { return s == side::a ? "a" : "b"; }

    std::vector<std::string> lines;
};

struct outcome {
    diff_result result;
    std::vector<std::string> lines;
};

outcome diff(event_source& a, event_source& b, diff_options const& options = {}) {
    listener to;
    auto result = compare(a, b, options, to);
    CHECK(result.same() == to.lines.empty());
    CHECK(result.differences == to.lines.size());
    return {std::move(result), std::move(to.lines)};
}

using lines = std::vector<std::string>;

lines differences(std::vector<step> const& a, std::vector<step> const& b, diff_options const& options = {}) {
    stream_script first{a}, second{b};
    auto const found = diff(first, second, options).lines;
    stream_script third{a}, fourth{a};
    CHECK(diff(third, fourth, options).lines.empty());
    return found;
}

test::plain_item pickup(std::uint16_t id, std::int32_t x, std::int32_t y) {
    return {make_key(4, id), test::ints{x, y, 0, 0}};
}

// "hi" by the server, and another word.
constexpr std::string_view hi = "06 00 7f 68 69 00", ho = "06 00 7f 68 6f 00";

} // namespace

TEST_CASE("diff: items by key and field") {
    auto const a = begin();
    CHECK(differences({a, snapshot(10, {pickup(1, 5, 6), pickup(2, 7, 8)})},
                      {a, snapshot(10, {pickup(2, 7, 8), pickup(1, 5, 6)})}) == lines{});
    CHECK(differences({a, snapshot(10, {pickup(1, 5, 6), pickup(2, 7, 8)})},
                      {a, snapshot(10, {pickup(2, 9, 8), pickup(1, 5, 6)})}) == lines{"10 pickup 2: x 7|9"});
    CHECK(differences({a, snapshot(10, {pickup(1, 5, 6), pickup(3, 7, 8)})},
                      {a, snapshot(10, {pickup(2, 5, 6), pickup(3, 9, 10)})}) ==
          lines{"10 pickup 1: a", "10 pickup 2: b", "10 pickup 3: x 7|9 y 8|10"});
    // Unknown types by number, and items of another size.
    CHECK(differences({a, snapshot(10, {{make_key(50, 1), {1, 2, 3}}})},
                      {a, snapshot(10, {{make_key(50, 1), {1, 5}}})}) == lines{"10 type_50 1: [1] 2|5 [2] 3|"});
}

TEST_CASE("diff: a difference is told where one has another snapshot") {
    auto const a = begin();
    CHECK(differences({a, snapshot(10, {pickup(1, 5, 6)}), marker(12), marker(14), snapshot(16, {pickup(1, 5, 6)})},
                      {a, snapshot(10, {pickup(1, 5, 7)}), marker(12), snapshot(14, {pickup(1, 5, 6)}),
                       marker(16)}) == lines{"10 pickup 1: y 6|7"});
    // A change at a tick that only one has is seen later.
    CHECK(differences({a, snapshot(10, {pickup(1, 5, 6)}), snapshot(11, {pickup(1, 6, 6)}), marker(12)},
                      {a, snapshot(10, {pickup(1, 5, 6)}), marker(12)}) ==
          lines{"1 ticks 11-11: a", "12 pickup 1: x 6|5"});
}

TEST_CASE("diff: ticks that one alone has") {
    auto const a = begin();
    std::vector<step> const all{a, snapshot(10, {}), marker(12), marker(14), marker(16), marker(18), marker(20)};
    CHECK(differences(all, {a, snapshot(10, {}), marker(16)}) == lines{"4 ticks 12-20: a"});
    CHECK(differences({a, snapshot(10, {}), marker(11)}, {a, snapshot(10, {}), marker(12), marker(14)}) ==
          lines{"1 ticks 11-11: a", "2 ticks 12-14: b"});
    diff_options common;
    common.common_ticks = true;
    CHECK(differences(all, {a, snapshot(10, {pickup(1, 1, 1)}), marker(16)}, common) == lines{"10 pickup 1: b"});
    diff_options range;
    range.range = [](recording_info const&) { return tick_range{14, 18}; };
    CHECK(differences(all, {a, snapshot(10, {pickup(1, 1, 1)}), marker(16)}, range) ==
          lines{"1 ticks 14-14: a", "16 pickup 1: b", "1 ticks 18-18: a"});
    // Ticks that go back end nothing.
    CHECK(differences({a, snapshot(10, {}), marker(8), marker(12)}, {a, snapshot(10, {}), marker(12)}) ==
          lines{"1 ticks 8-8: a"});
}

TEST_CASE("diff: aliases of extended types need not be the same") {
    auto const a = begin();
    auto const character = find_object(protocol::ddnet, "ddnet_character");
    auto const with = [&](std::uint16_t alias, std::int32_t flags) {
        test::plain_item describing{make_key(type_ex, alias), test::ints(4)};
        auto const ints = character->extended.ints();
        std::copy(ints.begin(), ints.end(), describing.data.begin());
        test::plain_item item{make_key(alias, 3), test::ints(character->ints)};
        item.data[0] = flags;
        return std::vector<step>{begin(), snapshot(10, {describing, item})};
    };
    CHECK(differences(with(0x7fff, 1), with(0x7ffe, 1)) == lines{});
    CHECK(differences(with(0x7fff, 1), with(0x7ffe, 2)).size() == 1);
    CHECK(differences(with(0x7fff, 1), with(0x7fff, 2)).front().starts_with("10 ddnet_character 3: flags "));
    diff_options ignoring;
    ignoring.ignored = {"ddnet_character.flags"};
    CHECK(differences(with(0x7fff, 1), with(0x7ffe, 2), ignoring) == lines{});
    // The same number for two types.
    auto other = with(0x7fff, 1);
    other[1].items[0].data[0] ^= 1;
    CHECK(differences(with(0x7fff, 1), other).size() == 4);
}

TEST_CASE("diff: what is ignored") {
    auto const a = begin();
    std::vector<step> const one{a, snapshot(10, {pickup(1, 5, 6)})}, two{a, snapshot(10, {pickup(1, 7, 8)})};
    auto const with = [&](std::vector<std::string> ignored) {
        diff_options options;
        options.ignored = std::move(ignored);
        stream_script first{one}, second{two};
        return diff(first, second, options).lines;
    };
    CHECK(with({"pickup.x"}) == lines{"10 pickup 1: y 6|8"});
    CHECK(with({"pickup.x", "pickup.y"}) == lines{});
    CHECK(with({"pickup"}) == lines{});
    CHECK(with({"character", "type_99", "pickup.[17]"}) == lines{"10 pickup 1: x 5|7 y 6|8"});
    CHECK_THROWS_AS(with({"pikcup"}), usage_error);
    CHECK_THROWS_AS(with({"pickup.z"}), usage_error);
}

TEST_CASE("diff: messages in their order") {
    auto const a = begin();
    auto const s = snapshot(10, {});
    CHECK(differences({a, s, said(10, hi)}, {a, s, said(10, "06 00 7f 68 69 00 00 00")}) == lines{}); // filled up
    CHECK(differences({a, s, said(10, hi)}, {a, s, said(10, "06 00 7f 68 69 00 00 00 00")}).size() == 1);
    CHECK(differences({a, s, said(10, hi)}, {a, s, said(10, ho)}) ==
          lines{"10 #0 team 0, client_id -64, text \"hi\"|team 0, client_id -64, text \"ho\""});
    CHECK(differences({a, s, said(10, ho), said(10, hi)}, {a, s, said(10, hi)}).size() == 1);
    CHECK(differences({a, s, said(10, hi)}, {a, s, said(10, ho), said(10, ho), said(10, hi)}).size() == 2);
    CHECK(differences({a, s, said(10, hi), said(10, ho)}, {a, s, said(10, ho), said(10, hi)}).size() == 2);
    CHECK(differences({a, s, said(10, hi, false)}, {a, s}) == lines{});        // no demo has it
    CHECK(differences({a, said(-1, hi), s}, {a, s, said(10, hi)}) == lines{}); // before the first snapshot
    diff_options items;
    items.messages = false;
    CHECK(differences({a, s, said(10, hi)}, {a, s}, items) == lines{});
}

TEST_CASE("diff: recordings") {
    auto const s = snapshot(10, {pickup(1, 5, 6)});
    CHECK(differences({begin("a"), s}, {begin("b"), s}) == lines{"map a|b"});
    CHECK(differences({begin("a"), s, begin("b"), s}, {begin("a"), s}) ==
          lines{"recording b|", "1 ticks 10-10: a"});
    // Ticks restart in each.
    CHECK(differences({begin("a"), s, marker(20), begin("b"), s}, {begin("a"), s, begin("b"), s}) ==
          lines{"1 ticks 20-20: a"});
    // Items of two protocols have nothing in common.
    CHECK(differences({begin("a", protocol::teeworlds_07), s}, {begin("a"), snapshot(10, {})}) ==
          lines{"protocol 0.7|ddnet"});
    CHECK(differences({begin("a", protocol::teeworlds_06), s}, {begin("a"), s}) == lines{});
}

TEST_CASE("diff: damage") {
    auto const a = begin();
    stream_script whole{{a, snapshot(10, {}), marker(12), marker(14), marker(16)}};
    // The tick in which it begins may lack something.
    stream_script cut{{a, snapshot(10, {}), marker(12), marker(14)}, "cut: byte 7"};
    auto const found = diff(whole, cut);
    CHECK(found.lines.empty());
    CHECK(found.result.damage[0].empty());
    CHECK(found.result.damage[1] == "cut: byte 7");
    CHECK(found.result.damage_tick == 12);
    stream_script again{{a, snapshot(10, {}), marker(12)}, "cut: byte 7"},
        other{{a, snapshot(10, {}), marker(12)}, "too"};
    auto const both = diff(again, other);
    CHECK(both.lines.empty());
    CHECK(both.result.damage[0] == "cut: byte 7");
    CHECK(both.result.damage[1] == "too");
}

namespace {

// The demo but for one int of one item in one snapshot.
class changed_stream final : public event_source {
public:
    changed_stream(event_source& of, std::size_t snapshot, std::uint64_t choice)
        : of_{of}, snapshot_{snapshot}, choice_{choice} {}

    bool next(stream_event& out) override {
        if (!of_.next(out)) return false;
        if (out.kind != event_kind::snapshot || number_++ != snapshot_ || out.state.empty()) return true;
        auto const source = out.state.ints();
        ints_.assign(source.begin(), source.end());
        item const i = out.state[choice_ % out.state.size()];
        if (i.data.empty() || i.type() == type_ex) return true;
        std::size_t const at = choice_ / 1024 % i.data.size();
        ints_[static_cast<std::size_t>(i.data.data() - source.data()) + at] ^= 1;
        out.state = snapshot_view::trusted(ints_, out.state.distinct_keys());
        type_name const type = name_type(out.state, i.type(), protocol::ddnet);
        for (item_part const& p : parts_of(i.data.size(), type.known))
            if (at >= p.at && at < p.at + p.ints)
                changed = fmt::format("{} {} {}: {} ", out.tick, type.text, i.id(), part_name(p));
        return true;
    }
    [[nodiscard]] std::string error() const override { return of_.error(); }
    [[nodiscard]] std::uint64_t done_bytes() const override { return 0; }

    std::string changed; // what diff has to say

private:
    event_source& of_;
    std::size_t snapshot_;
    std::uint64_t choice_;
    std::size_t number_ = 0;
    std::vector<std::int32_t> ints_;
};

} // namespace

TEST_CASE("diff: demos equal themselves, and one changed int is found and named") {
    test::random rng{7};
    for (char const* const name : {"ddnet_dm1", "ddnet_yard", "ddnet_v4"}) {
        input const source{fmt::format("{}/demos/{}.demo", TEEWIRE_FIXTURES, name)};
        demo_document first{source}, second{source};
        {
            demo_stream a{first}, b{second};
            auto const found = diff(a, b);
            CHECK(found.lines == lines{});
            CHECK(found.result.common_ticks > 100);
        }
        for (int i = 0; i < 20; ++i) {
            demo_document third{source}, fourth{source};
            demo_stream a{third}, b{fourth};
            changed_stream changed{b, rng.below(100), rng.below(1 << 30)};
            auto const found = diff(a, changed);
            if (changed.changed.empty()) continue;
            REQUIRE(found.lines.size() == 1);
            CHECK(found.lines[0].starts_with(changed.changed));
        }
    }
}
