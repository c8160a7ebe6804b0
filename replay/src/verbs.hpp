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
    bool raw = false;  ///< csv: texts as they are, formulas or not
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

struct record_options {
    std::vector<std::string> hosts; ///< HOST[:PORT]
    std::string out;                ///< path
    std::optional<double> duration; ///< seconds
    double join_timeout = 120;      ///< seconds from connecting to the first snapshot
    std::string protocol = "auto";
    std::string name = "teewire";
    std::string password;
    std::string format = "text";
    bool retry = false;
};
int record(record_options const& options);

struct serve_options {
    std::string file;
    std::uint16_t port = 8303;
    std::string bind = "0.0.0.0";
    std::string map;  ///< file; by default that in the demo
    std::string name; ///< in the server browser; by default that of the file
    bool loop = false;
    double speed = 1;
    std::size_t max_viewers = 64;
    std::size_t max_viewers_per_address = 16;
};
int serve(serve_options const& options);

struct capture_options {
    std::string file;
    std::string format = "text";
    std::string connection; ///< its number or the client's address; empty: all, and for a demo the largest
    std::string demo;       ///< path; empty: none
    std::string map;        ///< path of a map file for the demo
    bool explain = false;
    bool all = false; ///< connections without a snapshot too
};
int capture(capture_options const& options);

} // namespace teewire::replay
