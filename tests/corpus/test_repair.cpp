// What `teewire repair` keeps of real recordings that were damaged.
#include "corpus.hpp"
#include "damage.hpp"

#include <cstdlib>
#include <string>

using teewire::replay::demo_repair;

TEST_CASE("repair: recordings in order are not changed") {
    std::size_t whole_demos = 0;
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto const whole = test::whole_demo::read(corpus::read_bytes(path));
        if (whole == nullptr) continue; // damaged, or without a snapshot
        ++whole_demos;
        demo_repair const demo{whole->file};
        CHECK(demo.losses().empty());
        CHECK(demo.remarks().empty());
        std::uint8_t const version = demo.header().version;
        auto const again = test::play_ticks(
            test::repaired(demo, demo.header().has_sha256 ? version : std::min(version, std::uint8_t{5})),
            *whole->sizes);
        CHECK(again.complete);
        CHECK(again.states == whole->original.states);
        CHECK(again.messages == whole->original.messages);
    }
    CHECK(whole_demos >= 40);
}

TEST_CASE("repair: damaged recordings") {
    test::repair_tally by_kind[4];
    test::random rng{21};
    int const times = std::getenv("TEEWIRE_MUTATIONS") != nullptr ? 1 : 5; // under sanitizers
    for (auto const& path : corpus::some(corpus::demos())) {
        auto const whole = test::whole_demo::read(corpus::read_bytes(path));
        if (whole == nullptr) continue;
        for (auto const kind :
             {test::damage::cut, test::damage::change, test::damage::remove, test::damage::repeat})
            for (int i = 0; i < times; ++i)
                by_kind[static_cast<std::size_t>(kind)].add(test::try_repair(*whole, kind, rng));
    }
    for (std::size_t kind = 0; kind < 4; ++kind) test::check_tally(by_kind[kind], static_cast<test::damage>(kind));
}
