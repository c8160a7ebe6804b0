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

} // namespace corpus
