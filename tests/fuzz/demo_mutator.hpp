// Changes demos inside of their chunks.
#pragma once

#include "mutator.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/varint.hpp>

#include <utility>

namespace fuzz {

/// Variable-length ints, as bytes or as the ints that they stand for.
inline void mutate_varints(bytes& packed, dice& random) {
    std::vector<std::int32_t> ints(packed.size());
    auto const count = teewire::decode_varints(packed, ints);
    if (!count || random.one_in(3)) return mutate_bytes(packed);
    bytes content(4 * *count);
    if (*count != 0) std::memcpy(content.data(), ints.data(), content.size());
    mutate_bytes(content);
    ints.assign((content.size() + 3) / 4, 0);
    if (!content.empty()) std::memcpy(ints.data(), content.data(), content.size());
    packed.resize(teewire::varint_bound(ints.size()));
    packed.resize(*teewire::encode_varints(ints, packed));
}

/// As short as it can be: doc/format/demo.md#chunks.
inline bytes chunk_head(teewire::demo_chunk_kind kind, std::size_t size) {
    constexpr unsigned kind_shift = 5, one_byte = 30, two_bytes = 31;
    auto const head = [&](std::size_t form) {
        return static_cast<std::uint8_t>(static_cast<unsigned>(kind) << kind_shift | form);
    };
    auto const low = static_cast<std::uint8_t>(size);
    if (size < one_byte) return {head(size)};
    if (size <= UINT8_MAX) return {head(one_byte), low};
    return {head(two_bytes), low, static_cast<std::uint8_t>(size >> 8)};
}

/// Chunks and markers, and where they lie.
inline std::vector<std::pair<teewire::demo_chunk, segment>> chunks_of(bytes_view demo) {
    std::vector<std::pair<teewire::demo_chunk, segment>> chunks;
    auto const opened = teewire::demo_reader::open(demo);
    if (!opened) return chunks;
    teewire::demo_reader reader = *opened;
    for (teewire::demo_chunk c; reader.next(c);) chunks.emplace_back(c, segment{c.position, reader.position()});
    return chunks;
}

inline bool mutate_demo(bytes& file, dice& random) {
    auto with_data = chunks_of(file);
    std::vector<segment> chunks;
    for (auto const& [chunk, place] : with_data) chunks.push_back(place);
    std::erase_if(with_data, [](auto const& chunk) { return chunk.first.payload.empty(); });
    if (with_data.empty()) return false;
    if (random.one_in(4)) return rearrange(file, chunks, random), true;

    auto const& [chunk, place] = with_data[random.below(with_data.size())];
    bytes data{chunk.payload.begin(), chunk.payload.end()};
    if (!mutate_coded(data, teewire::max_demo_packed_bytes, [&](bytes& packed) { mutate_varints(packed, random); }))
        return false;
    if (data.size() > teewire::max_demo_chunk_bytes) return false;
    bytes const head = chunk_head(chunk.kind, data.size());
    data.insert(data.begin(), head.begin(), head.end());
    replace(file, place, data);
    return true;
}

/// Some chunks of the other one come between two of this.
inline bool cross_demos(bytes& file, bytes_view other, dice& random) {
    auto const here = chunks_of(file);
    auto const there = chunks_of(other);
    if (here.empty() || there.empty()) return false;
    std::size_t const first = random.below(there.size());
    std::size_t const last = first + random.below(std::min<std::size_t>(there.size() - first, 8));
    std::size_t const begin = there[first].second.begin;
    auto const taken = other.subspan(begin, there[last].second.end - begin);
    std::size_t const to = here[random.below(here.size())].second.begin;
    replace(file, {to, to}, {taken.begin(), taken.end()});
    return true;
}

} // namespace fuzz
