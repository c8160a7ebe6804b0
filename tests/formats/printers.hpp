// The library's output for the bytes of an example, as lines of text.
#pragma once

#include <teewire/snapshot.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

using bytes = std::vector<std::uint8_t>;
using lines = std::vector<std::string>;

/// All parts as one text.
template <class... Parts>
std::string say(Parts const&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

std::string hex(std::span<std::uint8_t const> data);
std::string joined(std::span<std::int32_t const> ints);
std::string quoted(std::string_view text);

/// Snapshots that examples of one document have made, by the names they have there.
using snapshots = std::map<std::string, std::vector<std::int32_t>>;

/// `words`: the kind of example and the other words at its fence. Nothing if there is no such kind.
std::optional<lines> print_codec(std::vector<std::string> const& words, bytes const& data, snapshots& known);
std::optional<lines> print_network(std::vector<std::string> const& words, bytes const& data);
std::optional<lines> print_demo(std::vector<std::string> const& words, bytes const& data);
std::optional<lines> print_map(std::vector<std::string> const& words, bytes const& data);

} // namespace examples
