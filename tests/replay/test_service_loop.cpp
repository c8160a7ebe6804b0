// The loop of services: what it calls, and that nothing waits for names that are looked up.
#include "base/service_loop.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace teewire::replay;
using std::chrono::milliseconds;

TEST_CASE("work is repeated until the loop is stopped") {
    service_loop loop;
    int often = 0;
    int seldom = 0;
    loop.every(milliseconds{1}, [&] { ++often; });
    loop.every(milliseconds{5}, [&] {
        if (++seldom == 3) loop.stop();
    });
    loop.run();
    CHECK(seldom == 3);
    CHECK(often >= 3);
}

TEST_CASE("a host is looked up") {
    service_loop loop;
    loop.resolve("127.0.0.1", "8303", [&](boost::system::error_code failed, service_loop::endpoints const& found) {
        CHECK_FALSE(failed);
        REQUIRE(found.size() == 1);
        CHECK(found[0].address().to_string() == "127.0.0.1");
        CHECK(found[0].port() == 8303);
        loop.resolve("no host has this name", "8303", [&](auto error, auto const& none) {
            CHECK(error);
            CHECK(none.empty());
            loop.stop();
        });
    });
    loop.run();
}

TEST_CASE("what is looked up may come after the loop has ended") {
    bool called = false;
    for (int i = 0; i < 20; ++i) {
        service_loop loop;
        auto const alive = std::make_shared<int>(i);
        loop.resolve("127.0.0.1", "1", [&called, alive](auto, auto const&) { called = true; });
    }
    CHECK_FALSE(called);
}
