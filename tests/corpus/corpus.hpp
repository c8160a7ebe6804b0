// Where the real recordings are, for tests that use them when they are there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace corpus {

/// The folder named by TEEWIRE_CORPUS. tests/run sets it; without it these tests are not run at all.
inline std::filesystem::path folder() {
    char const* const named = std::getenv("TEEWIRE_CORPUS");
    return named != nullptr ? named : "";
}

/// The folder beside the corpus with specifications and workloads.
inline std::filesystem::path beside(char const* name) { return folder().parent_path() / name; }

inline std::vector<std::uint8_t> read_bytes(std::filesystem::path const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

inline std::vector<std::filesystem::path> demos() {
    std::vector<std::filesystem::path> paths;
    for (auto const& entry : std::filesystem::directory_iterator{folder() / "demos"})
        if (entry.path().extension() == ".demo") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// splitmix64: the same numbers on every machine.
class random {
public:
    explicit random(std::uint64_t seed) : state_{seed} {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

private:
    std::uint64_t state_;
};

} // namespace corpus
