// The protocol's Huffman code, computed at compile time from its table of frequencies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace teewire::huffman {

inline constexpr std::size_t symbols = 257;
inline constexpr std::size_t end_symbol = 256;
inline constexpr unsigned max_code_bits = 15;

inline constexpr std::array<std::uint32_t, symbols> frequencies = {
    1073741824, 4545, 2657, 431, 1950, 919, 444, 482, 2244, 617, 838, 542, 715, 1814, 304, 240, 754, 212, 647, 186,
    283,        131,  146,  166, 543,  164, 167, 136, 179,  859, 363, 113, 157, 154,  204, 108, 137, 180, 202, 176,
    872,        404,  168,  134, 151,  111, 113, 109, 120,  126, 129, 100, 41,  20,   16,  22,  18,  18,  17,  19,
    16,         37,   13,   21,  362,  166, 99,  78,  95,   88,  81,  70,  83,  284,  91,  187, 77,  68,  52,  68,
    59,         66,   61,   638, 71,   157, 50,  46,  69,   43,  11,  24,  13,  19,   10,  12,  12,  20,  14,  9,
    20,         20,   10,   10,  15,   15,  12,  12,  7,    19,  15,  14,  13,  18,   35,  19,  17,  14,  8,   5,
    15,         17,   9,    15,  14,   18,  8,   10,  2173, 134, 157, 68,  188, 60,   170, 60,  194, 62,  175, 71,
    148,        67,   167,  78,  211,  67,  156, 69,  1674, 90,  174, 53,  147, 89,   181, 51,  174, 63,  163, 80,
    167,        94,   128,  122, 223,  153, 218, 77,  200,  110, 190, 73,  174, 69,   145, 66,  277, 143, 141, 60,
    136,        53,   180,  57,  142,  57,  158, 61,  166,  112, 152, 92,  26,  22,   21,  28,  20,  26,  30,  21,
    32,         27,   20,   17,  23,   21,  30,  22,  22,   21,  27,  25,  17,  27,   23,  18,  39,  26,  15,  21,
    12,         18,   18,   27,  20,   18,  15,  19,  11,   17,  33,  12,  18,  15,   19,  18,  16,  26,  17,  18,
    9,          10,   25,   22,  22,   17,  20,  16,  6,    16,  15,  20,  14,  18,   24,  335,
    1, // the end symbol; the 1517 found in older tables was never used
};

struct node {
    std::uint16_t child[2]; // numbers below `symbols` are leaves
};

struct code {
    std::uint16_t bits; // first bit sent is the lowest
    std::uint8_t length;
};

struct code_table {
    std::array<node, symbols - 1> inner{}; // node n is inner[n - symbols]; the last one is the root
    std::array<code, symbols> codes{};
};

// Merges the two rarest nodes until one is left. The list stays sorted by descending frequency, and ties keep their
// order in it: the merged node takes the place of the second rarest and rises past strictly rarer ones.
constexpr code_table build_code() {
    struct entry {
        std::uint32_t frequency;
        std::uint16_t number;
    };
    std::array<entry, symbols> list{};
    for (std::size_t i = 0; i < symbols; ++i) {
        entry const added{frequencies[i], static_cast<std::uint16_t>(i)};
        std::size_t at = i;
        for (; at > 0 && list[at - 1].frequency < added.frequency; --at) list[at] = list[at - 1];
        list[at] = added;
    }
    code_table table{};
    std::size_t count = symbols;
    for (std::size_t made = 0; count > 1; ++made) {
        entry const last = list[count - 1];
        entry const before = list[count - 2];
        table.inner[made] = {{last.number, before.number}};
        entry const merged{last.frequency + before.frequency, static_cast<std::uint16_t>(symbols + made)};
        --count;
        std::size_t at = count - 1;
        for (; at > 0 && list[at - 1].frequency < merged.frequency; --at) list[at] = list[at - 1];
        list[at] = merged;
    }
    // Inner nodes are made before their parents, so that going backwards meets every parent first.
    std::array<code, 2 * symbols - 1> all{};
    for (std::size_t n = table.inner.size(); n-- > 0;) {
        code const parent = all[symbols + n];
        for (unsigned bit = 0; bit < 2; ++bit)
            all[table.inner[n].child[bit]] = {static_cast<std::uint16_t>(parent.bits | bit << parent.length),
                                              static_cast<std::uint8_t>(parent.length + 1)};
    }
    for (std::size_t i = 0; i < symbols; ++i) table.codes[i] = all[i];
    return table;
}

inline constexpr code_table table = build_code();

} // namespace teewire::huffman
