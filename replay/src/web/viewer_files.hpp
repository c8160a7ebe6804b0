// The viewer for web browsers, if the program was built with it.
#pragma once

#include <span>
#include <string_view>

namespace teewire::replay {

struct viewer_file {
    std::string_view path;                 ///< "index.html"
    std::span<unsigned char const> packed; ///< as gzip
};
/// Empty if it was built without.
[[nodiscard]] std::span<viewer_file const> viewer_files() noexcept;

} // namespace teewire::replay
