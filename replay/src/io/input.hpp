// The bytes of an input file.
#pragma once

#include "io/errors.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace teewire::replay {

/// Of standard input, pipes and devices, so much is read at most: 1 GiB.
inline constexpr std::uint64_t max_stream_bytes = std::uint64_t{1} << 30;

/// Keeps the bytes of a file for as long as it lives. They are a copy, which nobody else can cut or change.
class input {
public:
    /// "-" is standard input, read to its end. Throws io_error: also if the file was cut meanwhile, if what is no
    /// regular file has more than max_stream_bytes, or if there is not enough memory.
    explicit input(std::string name);

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return {bytes_.get(), size_}; }
    /// For messages.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

private:
    struct freer {
        void operator()(std::uint8_t* bytes) const noexcept { std::free(bytes); }
    };

    void read_all(int file);
    /// Changes the room, and keeps what is in it.
    void make_room(std::uint64_t bytes);

    std::string name_;
    std::unique_ptr<std::uint8_t, freer> bytes_;
    std::size_t size_ = 0;
};

} // namespace teewire::replay
