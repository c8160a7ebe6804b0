// The kind of a file, recognised by its first bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

enum class file_kind : std::uint8_t { unknown, demo, datafile, xvector, capture, database };

/// Bytes that are enough to know it.
inline constexpr std::size_t file_kind_bytes = 8;

[[nodiscard]] file_kind identify(std::span<std::uint8_t const> begin) noexcept;

/// The first file_kind_bytes of a file, or all of a shorter one. Nothing from anything but a regular file, because a
/// later reader would miss these bytes.
[[nodiscard]] std::vector<std::uint8_t> first_bytes(std::string const& name);

/// For a file that is not what was `expected`, such as "a demo". Throws usage_error, and bad_input if the file is empty.
[[noreturn]] void refuse_kind(std::string const& name, std::span<std::uint8_t const> begin,
                              std::string_view expected);

/// For a map that is passed on unchanged, whatever its content. Throws usage_error if it is known to be something else.
void expect_map(std::string const& name, std::span<std::uint8_t const> begin);

/// Whether an input decompresses a file that begins like that.
[[nodiscard]] bool is_packed(std::span<std::uint8_t const> begin);
/// For a file whose parts are fetched by their offsets. Throws usage_error if it is compressed.
void refuse_compressed(std::string const& name, std::span<std::uint8_t const> begin);

} // namespace teewire::replay
