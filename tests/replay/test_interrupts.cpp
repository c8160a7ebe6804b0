// The effects of signals, each in a process of its own.
#include "base/interrupts.hpp"
#include "base/os/signals.hpp"
#include "cli/examine_files.hpp"
#include "recording/demo/usage.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace teewire::replay;

namespace {

constexpr int came_through = 7;

// How a process ends that does this; by SIGABRT if it throws.
int exit_code_of(std::function<void()> const& work) {
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (int const signal : {SIGINT, SIGTERM, SIGHUP}) // which a job in the background ignores
            std::signal(signal, SIG_DFL);
        [&]() noexcept { work(); }();
        _exit(came_through);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

struct file {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("teewire-" + std::to_string(getpid()));
    explicit file(std::string const& behind = "") {
        path += behind;
        std::ofstream{path} << "half";
    }
    ~file() { std::filesystem::remove(path); }
    [[nodiscard]] bool is_there() const { return std::filesystem::exists(path); }
};

} // namespace

TEST_CASE("a signal asks the work to end") {
    for (int const signal : {SIGINT, SIGTERM, SIGHUP})
        CHECK(exit_code_of([&] {
                  catch_interrupts(ending::deferred);
                  if (interrupted() || os::wait_for_signal(0)) _exit(1);
                  std::raise(signal);
                  if (!interrupted() || !os::wait_for_signal(0)) _exit(2);
              }) == came_through);
    CHECK(exit_code_of([] {
              std::signal(SIGHUP, SIG_IGN);
              catch_interrupts();
              std::raise(SIGHUP);
              if (interrupted()) _exit(1);
          }) == came_through);
}

TEST_CASE("work that does not end is ended") {
    CHECK(exit_code_of([] {
              catch_interrupts();
              std::raise(SIGTERM);
              for (;;) pause();
          }) == exit_interrupted);
    CHECK(exit_code_of([] { // also where alarms are blocked
              sigset_t all;
              sigfillset(&all);
              sigdelset(&all, SIGTERM);
              pthread_sigmask(SIG_BLOCK, &all, nullptr);
              catch_interrupts();
              std::raise(SIGTERM);
              for (;;) pause();
          }) == exit_interrupted);
    for (ending const when : {ending::soon, ending::deferred})
        CHECK(exit_code_of([&] {
                  catch_interrupts(when);
                  std::raise(SIGINT);
                  std::raise(SIGINT);
              }) == exit_interrupted);
}

TEST_CASE("what waits is ended at once") {
    CHECK(exit_code_of([] {
              catch_interrupts(ending::deferred);
              endless_wait const waiting;
              std::raise(SIGINT);
          }) == exit_interrupted);
    CHECK(exit_code_of([] { // the signal came before
              catch_interrupts(ending::deferred);
              std::raise(SIGINT);
              endless_wait const waiting;
          }) == exit_interrupted);
    CHECK(exit_code_of([] {
              catch_interrupts(ending::deferred);
              { endless_wait const waiting; }
              std::raise(SIGINT);
          }) == came_through);
}

TEST_CASE("unfinished files go") {
    file const half;
    CHECK(exit_code_of([&] {
              catch_interrupts(ending::deferred);
              { unfinished_name const finished{half.path.string()}; }
              endless_wait const waiting;
              std::raise(SIGINT);
          }) == exit_interrupted);
    CHECK(half.is_there());
    CHECK(exit_code_of([&] {
              catch_interrupts(ending::deferred);
              unfinished_name const other{half.path.string() + "-2"};
              unfinished_name const name{half.path.string()};
              unfinished_name const third{half.path.string() + "-3"};
              endless_wait const waiting;
              std::raise(SIGINT);
          }) == exit_interrupted);
    CHECK(!half.is_there());
}

TEST_CASE("of a file that was interrupted nothing is printed, nor of those behind it") {
    file const printed;
    CHECK(exit_code_of([&] {
              catch_interrupts(ending::deferred);
              REQUIRE(std::freopen(printed.path.c_str(), "w", stdout) != nullptr);
              int code = 0;
              {
                  output out;
                  code = examine_files({"a", "b", "c"}, 1, out, [](std::size_t number, workers&, auto&) {
                      if (number == 1) std::raise(SIGINT);
                      return report{exit_ok, std::string(1, static_cast<char>('a' + number)), {}};
                  });
                  out.flush();
              }
              std::fflush(stdout);
              _exit(code);
          }) == exit_interrupted);
    std::string text;
    std::ifstream{printed.path} >> text;
    CAPTURE(text);
    CHECK((text.empty() || text == "a"));
}

TEST_CASE("du counts no more chunks when it is interrupted") {
    CHECK(exit_code_of([] {
              catch_interrupts(ending::deferred);
              input const source{TEEWIRE_FIXTURES "/demos/ddnet_dm1.demo"};
              demo_document demo{source};
              std::raise(SIGINT);
              demo_usage const found = measure_usage(demo, [](std::uint64_t) {});
              if (found.ticks.count != 0 || found.rest != found.total - found.header) _exit(1);
          }) == came_through);
}

TEST_CASE("a team does everything once, and what tasks post as well") {
    for (unsigned const jobs : {1U, 2U, 7U}) {
        std::atomic<int> done = 0;
        workers team{jobs};
        CHECK(team.count() == jobs);
        for (int i = 0; i < 100; ++i)
            team.post([&] {
                ++done;
                team.post([&] { ++done; });
            });
        team.join();
        CHECK(done == 200);
    }
}
