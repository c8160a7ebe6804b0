#include "cli/exit_codes.hpp"

#include "base/output.hpp"

#include <algorithm>

namespace teewire::replay {

int exit_code_of(open_recording const& source) {
    connection_stats const* const read = source.connection();
    return read == nullptr ? exit_ok : exit_code_of(*source.capture(), {&read, 1}, source.name());
}

int exit_code_of(capture_pass const& found, std::span<connection_stats const* const> connections,
                 std::string const& name) {
    bool const damaged = !found.error().empty();
    if (damaged) complain(fmt::format("{}: {}; everything before it is shown", name, found.error()));
    bool const intact =
        std::all_of(connections.begin(), connections.end(), [](auto const* each) { return each->intact(); });
    return damaged || !intact ? exit_bad_input : exit_ok;
}

} // namespace teewire::replay
