// The bytes of an input file: mapped, or read from standard input.
#pragma once

#include "errors.hpp"

#include <boost/interprocess/mapped_region.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Keeps the bytes of a file for as long as it lives.
class input {
public:
    /// "-" is standard input, read to its end. Throws io_error.
    explicit input(std::string name);

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return bytes_; }
    /// For messages.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

private:
    std::string name_;
    boost::interprocess::mapped_region region_;
    std::vector<std::uint8_t> copy_;
    std::span<std::uint8_t const> bytes_;
};

} // namespace teewire::replay
