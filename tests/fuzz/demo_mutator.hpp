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

inline bool mutate_demo(bytes& file, dice& random) {
    auto const opened = teewire::demo_reader::open(file);
    if (!opened) return false;
    std::vector<stretch> chunks;
    std::vector<std::pair<teewire::demo_chunk, stretch>> with_data;
    teewire::demo_reader reader = *opened;
    for (teewire::demo_chunk c; reader.next(c);) {
        chunks.push_back({c.position, reader.position()});
        if (!c.payload.empty()) with_data.emplace_back(c, chunks.back());
    }
    if (with_data.empty()) return false;
    if (random.one_in(4)) return rearrange(file, chunks, random), true;

    auto const& [chunk, place] = with_data[random.below(with_data.size())];
    bytes data{chunk.payload.begin(), chunk.payload.end()};
    if (!mutate_coded(data, teewire::max_demo_packed_bytes, [&](bytes& packed) { mutate_varints(packed, random); }))
        return false;
    if (data.size() > teewire::max_demo_chunk_bytes) return false;
    constexpr unsigned kind_shift = 5, size_in_two_bytes = 31;
    std::uint8_t const head[] = {
        static_cast<std::uint8_t>(static_cast<unsigned>(chunk.kind) << kind_shift | size_in_two_bytes),
        static_cast<std::uint8_t>(data.size()), static_cast<std::uint8_t>(data.size() >> 8)};
    data.insert(data.begin(), std::begin(head), std::end(head));
    replace(file, place, data);
    return true;
}

} // namespace fuzz
