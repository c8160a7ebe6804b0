// Compressed files: gzip and zstd, also several members or frames one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

enum class compression : std::uint8_t { none, gzip, zstd };
/// "gzip", "zstd"
[[nodiscard]] std::string_view name(compression kind) noexcept;

/// Bytes that are enough to know it.
inline constexpr std::size_t compression_magic_bytes = 4;
/// By the first bytes. Nothing else that the program reads begins like that.
[[nodiscard]] compression find_compression(std::span<std::uint8_t const> begin) noexcept;

/// Decompresses bit by bit. It takes at most 128 MiB of memory, the limit of `zstd` too.
class decompressor {
public:
    /// `kind`: not none. Throws std::bad_alloc.
    explicit decompressor(compression kind);
    ~decompressor();
    decompressor(decompressor const&) = delete;
    decompressor& operator=(decompressor const&) = delete;

    struct step {
        std::size_t taken; ///< bytes of `in`
        std::size_t given; ///< bytes in `out`
    };
    /// Goes on until `in` is taken and all that came of it given, `out` is full, or an error is found. Throws
    /// std::bad_alloc.
    step run(std::span<std::uint8_t const> in, std::span<std::uint8_t> out);
    /// The damage; empty if there is none. Output before it is valid as far as can be known.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }
    /// For the end of the input. "byte 1234 of the gzip data: it ends too early", or empty if all is well.
    [[nodiscard]] std::string damage() const;

private:
    struct engine;
    struct gzip_engine;
    struct zstd_engine;

    compression kind_;
    std::unique_ptr<engine> engine_;
    std::string error_;
    std::uint64_t taken_ = 0;
};

/// Levels from 1, which is fast, to this, which is small.
[[nodiscard]] int max_compression_level(compression kind) noexcept;
/// Hands over the compressed bytes piece by piece, each with how many of `bytes` have been taken, and ends early when that
/// gives false. `kind`: not none. The result has a checksum. Throws std::bad_alloc.
void compress(std::span<std::uint8_t const> bytes, compression kind, int level,
              std::function<bool(std::span<std::uint8_t const> piece, std::size_t taken)> const& give);

/// Unpacks gzip data that can be trusted, such as the program's own. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::uint8_t> unpack_gzip(std::span<std::uint8_t const> packed);

} // namespace teewire::replay
