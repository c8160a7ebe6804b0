// A map to be read: a map file, or what a demo embeds.
#pragma once

#include "base/input.hpp"

#include <teewire/map/problem.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

enum class map_format { datafile, xvector };

/// Keeps the bytes of a map for as long as it lives.
class map_source {
public:
    /// Takes the map out of a demo. Throws io_error, and bad_input if there is no map in it.
    explicit map_source(std::string const& name);
    /// Takes a map that was read already. Throws bad_input if it is not a map.
    map_source(std::string name, std::vector<std::uint8_t> map);

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return bytes_; }
    [[nodiscard]] map_format format() const noexcept { return format_; }
    /// For messages.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// The map's name if it is in a demo, otherwise empty.
    [[nodiscard]] std::string const& name_in_demo() const noexcept { return name_in_demo_; }

private:
    std::optional<input> file_;
    std::vector<std::uint8_t> given_; // without a file
    std::string name_;
    std::span<std::uint8_t const> bytes_;
    std::string name_in_demo_;
    map_format format_ = map_format::datafile;
};

/// "group 1, layer 3, block 5"; empty if the problem is that of the whole file.
[[nodiscard]] std::string place_text(map_problem const& problem);
/// "byte 1234: group 1, layer 3: a layer has fewer tiles than its size needs (found 12, expected 40)"
[[nodiscard]] std::string problem_text(map_problem const& problem);

} // namespace teewire::replay
