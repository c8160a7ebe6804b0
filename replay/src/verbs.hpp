// The program's commands. Each returns an exit code, and throws bad_input, io_error or usage_error.
#pragma once

#include "errors.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

struct info_options {
    std::vector<std::string> files;
    std::string format = "text";
    unsigned jobs = 0; ///< threads that decode; 0: as many as there are cores
};
int info(info_options const& options);

struct dump_options {
    std::string file;
    std::optional<std::int32_t> from;
    std::optional<std::int32_t> to;
    std::vector<std::string> types;
    std::string format = "ndjson";
    unsigned jobs = 0; ///< as above
};
int dump(dump_options const& options);

struct verify_options {
    std::vector<std::string> files;
    unsigned jobs = 0; ///< as above
    bool strict = false;
};
int verify(verify_options const& options);

struct play_options {
    std::string file;
    std::optional<std::int32_t> from;
    double speed = 1;
};
int play(play_options const& options);

} // namespace teewire::replay
