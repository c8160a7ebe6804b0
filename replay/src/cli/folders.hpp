// Folders in place of files on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace teewire::replay {

enum class folder_content : std::uint8_t { demos, captures, recordings, maps };

/// Replaces each folder by its files of that content, at any depth, in the order of their names. Files are recognised by
/// the ends of their names, compressed ones too; links are not followed, and hidden files are left out. Throws io_error
/// if a folder cannot be read, and usage_error if it has no such file.
void expand_folders(std::vector<std::string>& files, folder_content content);

} // namespace teewire::replay
