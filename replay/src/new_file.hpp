// An output file that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace teewire::replay {

/// Writes `bytes` to the file of that name, in place of one that may be there: first under another name in the same
/// folder, which is renamed at the end. "-" is standard output; devices and pipes are written directly. Throws io_error,
/// and leaves nothing behind then, or when the program is interrupted before the end.
void write_file(std::string const& name, std::span<std::uint8_t const> bytes);

} // namespace teewire::replay
