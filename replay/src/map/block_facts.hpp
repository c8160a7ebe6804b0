// Facts about the blocks of a datafile.
#pragma once

#include "map/document.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Facts about a block, whatever the type of the item that refers to it.
struct block_facts {
    std::optional<map_problem> problem; ///< it cannot be read, and nothing else is known
    std::size_t size = 0;
    std::string sha256;
    std::string magic;          ///< the first four bytes
    std::string text;           ///< up to the first zero byte, and no longer than max_text
    std::size_t text_size = 0;  ///< all of it
    std::uint64_t unpacked = 0; ///< tiles, if these are packed ones
    std::uint64_t skips = 0;    ///< tiles that have one
    std::uint64_t reserved = 0; ///< tiles with a reserved byte that is not 0
    bool zero = true;           ///< all of it

    static constexpr std::size_t max_text = 64 << 10;
};

[[nodiscard]] block_facts facts_of(std::span<std::uint8_t const> content);

/// Blocks that were decompressed elsewhere, by their numbers.
using known_blocks = std::map<std::int32_t, block_facts>;

/// Any number of items may refer to a block: it is decompressed and hashed once, and all of them together, known ones
/// as well, within the limit for reading a map.
class block_reader {
public:
    /// Borrowed arguments must outlive it.
    block_reader(datafile const& file, known_blocks const& known);

    /// Null if there is no such block.
    [[nodiscard]] block_facts const* operator[](std::int32_t block);

private:
    [[nodiscard]] block_facts read(std::int32_t block);
    void spend(std::int32_t block);

    datafile const& file_;
    known_blocks const& known_;
    std::vector<std::uint8_t> memory_; // of the block that is read
    std::vector<std::unique_ptr<block_facts>> facts_;
    std::size_t left_ = map_read_options{}.max_bytes;
};

} // namespace teewire::replay
