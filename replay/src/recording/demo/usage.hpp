// Where the bytes of a demo are.
#pragma once

#include "recording/demo/demo_document.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace teewire::replay {

struct byte_count {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

/// Chunks of one kind, and what is in them.
struct usage_section {
    struct part {
        std::string name;
        byte_count of; ///< items, or messages
    };
    byte_count chunks;       ///< compressed, with their heads
    std::vector<part> parts; ///< most bytes first; together as many as the chunks have
};

/// Bytes of the demo before any compression of the file. Everything together is `total`.
struct demo_usage {
    std::uint64_t total = 0;
    std::uint64_t header = 0;
    std::uint64_t map = 0;
    byte_count ticks;        ///< markers
    usage_section keyframes; ///< full snapshots, by type of item; "(head)" is what belongs to no item
    usage_section deltas;    ///< the same; "(removed)" are the keys of items that go
    usage_section messages;  ///< by kind
    byte_count unused;       ///< chunks that every player skips
    byte_count damaged;      ///< chunks that cannot be decoded
    std::uint64_t rest = 0;  ///< after the last chunk
    std::string error;       ///< "NAME: tick 1234, byte 5678: REASON" of the first damage, or empty
};

/// Reads the whole demo, or until it is interrupted. A chunk's bytes go to what is in it in proportion to the bytes that
/// this takes before Huffman coding. `progress`: bytes done. O(bytes).
[[nodiscard]] demo_usage measure_usage(demo_document& demo,
                                       std::function<void(std::uint64_t bytes)> const& progress);

} // namespace teewire::replay
