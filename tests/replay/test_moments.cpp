// Moments of a demo, as a scene shows them.
#include "video/moments.hpp"

#include "demos.hpp"
#include "temporary_file.hpp"

using namespace teewire;
using namespace teewire::replay;

namespace {

struct read_demo {
    explicit read_demo(test::bytes const& demo) : file{demo}, source{file.path()}, document{source} {}
    test::temporary_file file;
    input source;
    demo_document document;
    moment_reader moments{document, nullptr};
    std::pair<std::int32_t, std::int32_t> at(double tick) {
        REQUIRE(moments.move_to(tick));
        scene::moment const& now = moments.now();
        return {now.before->tick, now.after != nullptr ? now.after->tick : -1};
    }
};

test::bytes demo_of(std::vector<std::int32_t> const& ticks) {
    test::recorder to;
    for (std::int32_t const tick : ticks) to.snapshot(tick, {{make_key(5, 0), {tick, 0, 0}}});
    return to.finish();
}

using pair = std::pair<std::int32_t, std::int32_t>;

} // namespace

TEST_CASE("moments are between two snapshots, however far apart") {
    auto const ticks = {100, 102, 104, 400, 900, 902, 2000};
    read_demo demo{demo_of(ticks)};
    CHECK(demo.at(50) == pair{100, -1}); // before the first one
    CHECK(demo.at(100) == pair{100, 102});
    CHECK(demo.at(101.5) == pair{100, 102});
    CHECK(demo.at(103) == pair{102, 104});
    CHECK(demo.at(700) == pair{400, 900}); // over a gap
    CHECK(demo.at(1990) == pair{902, 2000});
    CHECK(demo.at(2000) == pair{2000, -1});
    CHECK(demo.at(9000) == pair{2000, -1});
    CHECK(demo.moments.damage().empty());
    // At once, it is the same.
    for (auto const& [tick, expected] :
         {std::pair{700, pair{400, 900}}, std::pair{1500, pair{902, 2000}}, std::pair{9000, pair{2000, -1}}})
        CHECK(read_demo{demo_of(ticks)}.at(tick) == expected);
}

TEST_CASE("a tick without a snapshot has that of the tick before, in which tees move on") {
    test::recorder to;
    // A character at rest in the air, as a server sends it: once, until it does what no client can reckon.
    std::vector<std::int32_t> character(22);
    character[0] = 100;
    character[1] = character[2] = 500;
    for (std::int32_t const tick : {100, 102, 104, 106, 108}) {
        if (tick == 108) character[1] = 600;
        to.snapshot(tick, {{make_key(9, 0), character}});
    }
    read_demo demo{to.finish()};
    CHECK(demo.at(103) == pair{102, 104});
    REQUIRE(demo.moments.now().before->tees.size() == 1);
    CHECK(demo.at(107) == pair{106, 108});
    CHECK(demo.moments.now().after->tees.begin()->x == 600);
    CHECK(demo.at(200) == pair{108, -1});
    CHECK(demo.moments.damage().empty());
    // The last ticks may have none.
    test::recorder short_one;
    for (std::int32_t const tick : {100, 102, 104}) short_one.snapshot(tick, {{make_key(9, 0), character}});
    read_demo ends{short_one.finish()};
    CHECK(ends.at(103) == pair{102, 104});
    CHECK(ends.at(300) == pair{104, -1});
}

TEST_CASE("moments of a demo without snapshots, and of a damaged one") {
    read_demo none{demo_of({})};
    CHECK_FALSE(none.moments.move_to(5));
    test::bytes cut = demo_of({100, 102, 104});
    cut.resize(cut.size() - 2);
    read_demo damaged{cut};
    CHECK(damaged.at(103).first == 102);
    CHECK(damaged.at(200).first == 102);
    CHECK_FALSE(damaged.moments.damage().empty());
}
