#include "map/block_facts.hpp"

#include "base/interrupts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace teewire::replay {
namespace {

// A map of one MB can have a hundred MB of tiles. Compilers count several tiles at once if sums are not wider than
// tiles.
void count_tiles(std::span<std::uint8_t const> content, block_facts& facts) {
    constexpr bool little = std::endian::native == std::endian::little;
    constexpr int skip = little ? 16 : 8;
    constexpr int reserved = little ? 24 : 0;
    constexpr std::size_t at_once = 1 << 16; // their sum has 24 bits
    std::uint32_t any = 0;
    for (; content.size() >= 4; content = content.subspan(std::min(content.size() / 4, at_once) * 4)) {
        std::size_t const cells = std::min(content.size() / 4, at_once);
        std::uint32_t unpacked = 0;
        std::uint32_t skips = 0;
        std::uint32_t reserves = 0;
        for (std::size_t i = 0; i < cells; ++i) {
            std::uint32_t cell;
            std::memcpy(&cell, content.data() + 4 * i, sizeof cell);
            any |= cell;
            unpacked += (cell >> skip & 0xff) + 1;
            skips += (cell >> skip & 0xff) != 0;
            reserves += (cell >> reserved & 0xff) != 0;
        }
        facts.unpacked += unpacked;
        facts.skips += skips;
        facts.reserved += reserves;
    }
    if (content.size() == 3) facts.unpacked += content[2] + std::uint64_t{1};
    facts.zero =
        any == 0 && std::all_of(content.begin(), content.end(), [](std::uint8_t byte) { return byte == 0; });
}

} // namespace

block_facts facts_of(std::span<std::uint8_t const> content) {
    block_facts facts;
    facts.size = content.size();
    facts.sha256 = sha256_text(content);
    auto const begin_of = [](std::span<std::uint8_t const> text, std::size_t most) {
        auto const part = text.first(std::min(most, text.size()));
        return std::string{part.begin(), part.end()};
    };
    facts.text_size =
        static_cast<std::size_t>(std::find(content.begin(), content.end(), std::uint8_t{0}) - content.begin());
    facts.text = begin_of(content.first(facts.text_size), block_facts::max_text);
    facts.magic = begin_of(content, 4);
    count_tiles(content, facts);
    return facts;
}

block_reader::block_reader(datafile const& file, known_blocks const& known)
    : file_{file}, known_{known}, facts_(file.block_count()) {
    for (auto const& [block, facts] : known) left_ -= std::min(left_, facts.size);
}

block_facts const* block_reader::operator[](std::int32_t block) {
    if (block < 0 || static_cast<std::size_t>(block) >= facts_.size()) return nullptr;
    if (auto const known = known_.find(block); known != known_.end()) return &known->second;
    auto& found = facts_[static_cast<std::size_t>(block)];
    if (!found) found = std::make_unique<block_facts>(read(block));
    return found.get();
}

block_facts block_reader::read(std::int32_t block) {
    if (interrupted()) return {}; // the result is not used
    try {
        spend(block);
        return facts_of(read_block(file_, block, memory_));
    } catch (map_problem const& p) {
        block_facts facts;
        facts.problem = p;
        return facts;
    }
}

// Throws map_problem.
void block_reader::spend(std::int32_t block) {
    datafile_block const found = file_.block(static_cast<std::size_t>(block));
    std::size_t const cost = std::max(found.size, found.stored.size());
    if (cost > left_)
        throw map_problem{.code = map_errc::too_large,
                          .severity = severity_of(map_errc::too_large),
                          .position = found.position,
                          .block = block,
                          .value = static_cast<std::int64_t>(cost),
                          .expected = static_cast<std::int64_t>(left_)};
    left_ -= cost;
}

} // namespace teewire::replay
