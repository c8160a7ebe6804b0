#include "game/spacing.hpp"
#include "recording/demo/demo_file.hpp"
#include "recording/demo/segments.hpp"
#include "scene.hpp"

#include <filesystem>

#include <unistd.h>

using namespace teewire;
using namespace teewire::replay;
using test::scene;

TEST_CASE("missed snapshots are those that fit into the gaps") {
    spacing s = measure_spacing({{2, 100}, {4, 3}, {50, 1}});
    CHECK(s.usual == 2);
    CHECK(s.gaps == 4);
    CHECK(s.missed == 3 + 24);
    CHECK(s.largest_gap == 50);

    // Nothing is missed where one is a tick late, or where they come more often for a while.
    s = measure_spacing({{1, 5}, {2, 100}, {3, 7}, {5, 1}});
    CHECK(s.usual == 2);
    CHECK(s.gaps == 8);
    CHECK(s.missed == 1);
    CHECK(s.largest_gap == 5);

    s = measure_spacing({{1, 9}, {2, 9}}); // equally often
    CHECK(s.usual == 1);
    CHECK(s.missed == 9);
    s = measure_spacing({{1, 10}, {INT32_MAX, 2}});
    CHECK(s.missed == 2 * (std::uint64_t{INT32_MAX} - 1));
    s = measure_spacing({{7, 1}});
    CHECK(s.usual == 7);
    CHECK(s.missed == 0);
    s = measure_spacing({});
    CHECK(s.usual == 0);
    CHECK(s.gaps == 0);
}

TEST_CASE("unchanged snapshots are counted, and not stored") {
    auto const path =
        std::filesystem::temp_directory_path() / fmt::format("teewire-test-spacing-{}.demo", getpid());
    scene first{protocol::teeworlds_06};
    first.add("game_info", 0, {});
    scene second{protocol::teeworlds_06};
    second.add("game_info", 0, {{"round_num", 1}});
    {
        demo_target target{{path.string(), true}};
        demo_file file{target.next(), protocol::ddnet, {}, {}};
        CHECK(file.write_snapshot(10, first.finish()));
        CHECK(file.unchanged() == 0);
        CHECK(file.write_snapshot(12, first.finish()));
        CHECK(file.write_snapshot(80, first.finish())); // with a marker of another size
        CHECK(file.write_snapshot(82, second.finish()));
        CHECK(file.snapshots() == 4);
        CHECK(file.unchanged() == 2);
        CHECK(file.finish());
    }
    input const source{path.string()};
    demo_document const demo{source};
    workers team{1};
    CHECK(decode(demo, team, {}).snapshots == 2);
    std::filesystem::remove(path);
}
