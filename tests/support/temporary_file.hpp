// Files for one test.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

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

/// The name of one that is not there yet.
class scratch_file {
public:
    explicit scratch_file(std::string const& name)
        : path_{std::filesystem::temp_directory_path() / ("teewire-" + std::to_string(getpid()) + "-" + name)} {
        std::filesystem::remove(path_);
    }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() { std::filesystem::remove(path_); }

    [[nodiscard]] std::string name() const { return path_.string(); }
    void store(std::vector<std::uint8_t> const& content) const {
        std::ofstream{path_, std::ios::binary}.write(reinterpret_cast<char const*>(content.data()),
                                                     static_cast<std::streamsize>(content.size()));
    }
    [[nodiscard]] std::vector<std::uint8_t> content() const {
        std::ifstream file{path_, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    std::filesystem::path path_;
};

/// A folder for one test.
class scratch_folder {
public:
    explicit scratch_folder(std::string const& name)
        : path_{std::filesystem::temp_directory_path() / ("teewire-" + std::to_string(getpid()) + "-" + name)} {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    scratch_folder(scratch_folder const&) = delete;
    scratch_folder& operator=(scratch_folder const&) = delete;
    ~scratch_folder() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
    [[nodiscard]] std::string name(std::string const& file) const { return (path_ / file).string(); }
    [[nodiscard]] std::string store(std::string const& file, std::span<std::uint8_t const> bytes) const {
        std::ofstream{path_ / file, std::ios::binary}.write(reinterpret_cast<char const*>(bytes.data()),
                                                            static_cast<std::streamsize>(bytes.size()));
        return name(file);
    }

private:
    std::filesystem::path path_;
};

} // namespace test
