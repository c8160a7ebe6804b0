// The index of a broadcast, from its `sync`: lib/doc/format/broadcast.md.
#pragma once

#include "game/served_map.hpp"

#include <teewire/schema.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// What `sync` says, as far as a subscriber needs it.
struct broadcast_index {
    static constexpr std::size_t max_bytes = std::size_t{1} << 20; ///< of `sync`
    static constexpr std::size_t max_map_bytes = std::size_t{256} << 20;

    struct entry {
        std::string id;
        protocol version = protocol::ddnet;
        served_map map;
        bool has_map = false;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        bool ended = false;
    };
    std::vector<entry> recordings;

    /// Null if the text, which comes from the network, is not an index.
    static std::optional<broadcast_index> parse(std::span<std::uint8_t const> text);
};

} // namespace teewire::replay
