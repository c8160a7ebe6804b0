// Archives of files, made and restored on several threads. See doc/format/archive.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Hands over the bytes of the archive piece by piece, each with how many bytes of `file` have been taken, and ends early
/// when that gives false. Every block has been decoded and compared. `jobs`: threads; 0: one per core.
void pack_archive(std::span<std::uint8_t const> file, unsigned jobs,
                  std::function<bool(std::span<std::uint8_t const> piece, std::size_t taken)> const& give);

/// The bytes that an archive stands for; with a damaged index, that its first blocks do. Throws bad_input if there are none.
[[nodiscard]] std::uint64_t unpacked_size(std::string const& name, std::span<std::uint8_t const> archive);

/// Whether it is the archive of exactly this file, by the checksums. False for whatever is not an archive.
[[nodiscard]] bool is_archive_of(std::span<std::uint8_t const> archive, std::span<std::uint8_t const> file);

/// The bytes of an archive, up to the first damaged block, or to the last block if the index is damaged.
struct unpacked_archive {
    std::uint64_t size = 0; ///< bytes in `out`
    std::string damage;     ///< "byte 1234 of the archive: REASON"; empty if there is none
};
/// `out` has unpacked_size() bytes, which was asked before. `jobs` as above.
[[nodiscard]] unpacked_archive unpack_archive(std::span<std::uint8_t const> archive, std::span<std::uint8_t> out,
                                              unsigned jobs);

} // namespace teewire::replay
