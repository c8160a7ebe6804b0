// The bytes of an input file.
#pragma once

#include "base/errors.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace teewire::replay {

/// Of standard input, pipes and devices, so much is read at most: 1 GiB.
inline constexpr std::uint64_t max_stream_bytes = std::uint64_t{1} << 30;

/// What is compressed may hold so many bytes, and so many times more than it has itself: no recording can be compressed
/// like that, and whoever sends something else gets no more done than what they send is worth.
inline constexpr std::uint64_t max_decompressed_bytes = max_stream_bytes;
inline constexpr std::uint64_t max_compression_ratio = 256;
inline constexpr std::uint64_t always_decompressed_bytes = std::uint64_t{16} << 20;

/// Keeps the bytes of a file for as long as it lives. They are a copy, which nobody else can cut or change. What is in
/// a gzip or zstd file takes its place, whatever that is called.
class input {
public:
    /// "-" is standard input, read to its end. Throws io_error: also if the file was cut meanwhile, if what is no
    /// regular file has more than max_stream_bytes, or if there is not enough memory. Throws bad_input if compressed
    /// data holds nothing or too much.
    explicit input(std::string name);

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return {bytes_.get(), size_}; }
    /// For messages.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// "byte 1234 of the gzip data: REASON" if compressed data is damaged there: then bytes() are what came before.
    [[nodiscard]] std::string const& damage() const noexcept { return damage_; }
    /// For those who need all of it: throws bad_input if there is damage.
    void require_all() const;

private:
    struct freer {
        void operator()(std::uint8_t* bytes) const noexcept { std::free(bytes); }
    };

    void read_all(int file);
    /// Changes the room, and keeps what is in it.
    void make_room(std::uint64_t bytes);
    void decompress();

    std::string name_;
    std::string damage_;
    std::unique_ptr<std::uint8_t, freer> bytes_;
    std::size_t size_ = 0;
};

} // namespace teewire::replay
