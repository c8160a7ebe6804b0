// What ends a command early. main() turns each into a message and an exit code.
#pragma once

#include <stdexcept>

namespace teewire::replay {

/// A file that is not what it should be: exit code 1. The text names the file, the place and the reason.
struct bad_input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Arguments that make no sense: exit code 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reading or writing failed: exit code 3.
struct io_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace teewire::replay
