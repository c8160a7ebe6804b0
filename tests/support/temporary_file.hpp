// A file for one test.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace test {

/// It is gone when the test is over.
class temporary_file {
public:
    explicit temporary_file(std::span<std::uint8_t const> bytes) {
        REQUIRE(file_ != nullptr);
        REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size());
        REQUIRE(std::fflush(file_.get()) == 0);
    }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fileno(file_.get())); }

private:
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, closer> file_{std::tmpfile()};
};

} // namespace test
