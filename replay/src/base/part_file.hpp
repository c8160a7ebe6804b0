// Files under temporary names, until they are complete.
#pragma once

#include "base/interrupts.hpp"
#include "base/unique_fd.hpp"

#include <memory>
#include <string>

namespace teewire::replay {

struct part_file {
    unique_fd descriptor; ///< for reading and writing, with a lock on the file; none: failed, and errno says why
    std::string name;     ///< `.teewire-XXXXXXXX.part`, which says nothing about the name that the file will have
    std::unique_ptr<unfinished_name> unfinished; ///< the file goes when a signal ends the program
};

/// Makes an empty file in the folder of `beside`. First, once in each folder, removes the part files of programs that were
/// killed: nothing has a lock on them, and nothing was written to them for ten minutes.
[[nodiscard]] part_file make_part_file(std::string const& beside);

} // namespace teewire::replay
