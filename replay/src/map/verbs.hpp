// The commands of `teewire map`. Each returns an exit code, and throws bad_input, io_error or usage_error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

struct map_info_options {
    std::vector<std::string> files;
    std::string format = "text";
};
int map_info(map_info_options const& options);

struct map_extract_options {
    std::string file;
    std::string output;
    std::optional<std::string> image; ///< name or number, as sound
    std::optional<std::string> sound;
    std::optional<std::int32_t> block;
};
/// Without image, sound and block, the map itself.
int map_extract(map_extract_options const& options);

struct map_render_options {
    std::string file;
    std::string output;
    std::string layer = "all";
    std::string mapres;               ///< folder of pictures; empty for none
    std::optional<unsigned> scale;    ///< pixels per tile
    std::vector<std::int64_t> region; ///< x, y, width, height in tiles; or empty for all
};
int map_render(map_render_options const& options);

struct map_convert_options {
    std::string file;
    std::string output;
    std::optional<int> datafile; ///< version, 3 or 4
    std::string to;              ///< "0.6" or "0.7"; empty for neither
    std::optional<int> level;    ///< zlib's
};
int map_convert(map_convert_options const& options);

struct map_check_options {
    std::vector<std::string> files;
    std::string format = "text";
    bool strict = false;
};
int map_check(map_check_options const& options);

} // namespace teewire::replay
