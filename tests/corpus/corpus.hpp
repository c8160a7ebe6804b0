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

/// Tests that take minutes read one of so many recordings.
inline std::size_t share() {
    char const* const chosen = std::getenv("TEEWIRE_SHARE");
    return std::max(1UL, chosen != nullptr ? std::strtoul(chosen, nullptr, 10) : 1UL);
}
inline std::vector<std::filesystem::path> some(std::vector<std::filesystem::path> const& paths) {
    std::vector<std::filesystem::path> taken;
    for (std::size_t i = 0; i < paths.size(); i += share()) taken.push_back(paths[i]);
    return taken;
}

} // namespace corpus
