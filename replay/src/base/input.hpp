// The bytes of an input file.
#pragma once

#include "base/archive_file.hpp"
#include "base/errors.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace teewire::replay {

/// Bytes that are read at most from standard input, pipes and devices: 1 GiB.
inline constexpr std::uint64_t max_stream_bytes = std::uint64_t{1} << 30;

/// Limits of decompressed data, in bytes and as a multiple of the compressed size. No recording compresses that well,
/// so other data costs little more than sending it.
inline constexpr std::uint64_t max_decompressed_bytes = max_stream_bytes;
inline constexpr std::uint64_t max_compression_ratio = 256;
inline constexpr std::uint64_t always_decompressed_bytes = std::uint64_t{16} << 20;

/// The bytes of a file. They are a copy, which no other program can truncate or change. A gzip or zstd file or
/// an archive is decompressed, whatever its name.
class input {
public:
    /// "-" is standard input, read to its end. Throws io_error: also if the file was truncated meanwhile, if anything
    /// but a regular file has more than max_stream_bytes, or if there is not enough memory. Throws bad_input if
    /// compressed data holds nothing or too much.
    explicit input(std::string name);
    /// The same, but of an archived demo only the part that is wanted, if that can be found by the archive's index.
    input(std::string name, part_choice const& wanted);

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return {bytes_.get(), size_}; }
    /// For messages.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// "byte 1234 of the gzip data: REASON" if compressed data is damaged there: then bytes() are what came before.
    [[nodiscard]] std::string const& damage() const noexcept { return damage_; }
    /// Whether it was compressed.
    [[nodiscard]] bool was_packed() const noexcept { return was_packed_; }
    /// Set if bytes() are only a part of the demo.
    [[nodiscard]] std::optional<archive_part> const& part() const noexcept { return part_; }
    /// For those who need all of it: throws bad_input if there is damage.
    void require_all() const;

private:
    struct freer {
        void operator()(std::uint8_t* bytes) const noexcept { std::free(bytes); }
    };

    void read(part_choice const* wanted);
    void read_all(int file);
    bool read_part(int file, part_choice const& wanted);
    /// Changes the room, and keeps what is in it.
    void make_room(std::uint64_t bytes);
    void decompress();
    void unpack();

    std::string name_;
    std::string damage_;
    std::unique_ptr<std::uint8_t, freer> bytes_;
    std::size_t size_ = 0;
    std::optional<archive_part> part_;
    bool was_packed_ = false;
};

} // namespace teewire::replay
