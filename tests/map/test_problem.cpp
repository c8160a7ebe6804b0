#include "maps.hpp"

#include "teewire/map/problem.hpp"

#include <set>

using namespace teewire;

TEST_CASE("map problems: every code has a name and a description of its own") {
    std::set<std::string_view> names;
    std::set<std::string_view> texts;
    for (std::size_t i = 0; i < map_errc_count; ++i) {
        auto const code = static_cast<map_errc>(i);
        names.insert(name(code));
        texts.insert(describe(code));
        CHECK_FALSE(name(code).empty());
        CHECK_FALSE(describe(code).empty());
    }
    CHECK(names.size() == map_errc_count);
    CHECK(texts.size() == map_errc_count);
    CHECK(name(map_errc::bad_item_offset) == "bad_item_offset");
}

TEST_CASE("map problems: what real programs accept is a note") {
    CHECK(severity_of(map_errc::old_header_sizes) == map_severity::note);
    CHECK(severity_of(map_errc::unknown_item_type) == map_severity::note);
    CHECK(severity_of(map_errc::decompress_failed) == map_severity::damage);
    CHECK(severity_of(map_errc::bad_magic) == map_severity::error);
    CHECK(severity_of(map_errc::missing_game_layer) == map_severity::error);
    CHECK(name(map_severity::note) == "note");
    CHECK(name(map_severity::damage) == "damage");
    CHECK(name(map_severity::error) == "error");
}

TEST_CASE("map problems: a report reaches its target, or nobody") {
    test::problems found;
    map_report const to_found{found};
    map_problem problem;
    problem.code = map_errc::bad_color;
    problem.layer = 3;
    to_found(problem);
    map_report const copy = to_found;
    copy(problem);
    REQUIRE(found.list.size() == 2);
    CHECK(found.list[1] == problem);
    map_report{}(problem);
}
