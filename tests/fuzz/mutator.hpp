// Shared by libFuzzer mutators that know the layout of a file. They change the data inside of the compression, and move
// whole chunks, items, blocks and frames, in a file that is still readable around that.
#pragma once

#include "fuzz.hpp"

#include <teewire/huffman.hpp>

#include <algorithm>
#include <random>
#include <vector>

/// libFuzzer's own: changes `size` bytes, which may become `max_size`. Gives how many there are.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuzz {

using bytes = std::vector<std::uint8_t>;

/// Numbers that follow from the seed of a mutation.
class dice {
public:
    explicit dice(unsigned seed) : engine_{seed} {}
    [[nodiscard]] std::size_t below(std::size_t n) { return engine_() % n; }
    [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }

private:
    std::mt19937 engine_;
};

/// Changes a file, or gives false where there is nothing that it knows.
using mutate_fn = bool(bytes& file, dice& random);

/// Half of the mutations are those of `mutate`, of the file after the first `before` bytes of an input.
template <std::size_t before>
std::size_t mutate_input(mutate_fn* mutate, std::uint8_t* data, std::size_t size, std::size_t max_size,
                         unsigned seed) {
    dice random{seed};
    if (size > before && random.one_in(2)) {
        bytes file{data + before, data + size};
        if (mutate(file, random) && !file.empty() && before + file.size() <= max_size) {
            std::copy(file.begin(), file.end(), data + before);
            return before + file.size();
        }
    }
    return LLVMFuzzerMutate(data, size, max_size);
}

/// Puts a part of another file into a file, or gives false.
using cross_fn = bool(bytes& file, bytes_view other, dice& random);

/// Combines two inputs into one that begins as the first.
template <std::size_t before>
std::size_t cross_inputs(cross_fn* cross, bytes_view one, bytes_view other, std::span<std::uint8_t> out,
                         unsigned seed) {
    dice random{seed};
    if (one.size() <= before || other.size() <= before) return 0;
    auto const rest = one.subspan(before);
    bytes file{rest.begin(), rest.end()};
    if (!cross(file, other.subspan(before), random) || before + file.size() > out.size()) return 0;
    std::copy_n(one.begin(), before, out.begin());
    std::copy(file.begin(), file.end(), out.begin() + before);
    return before + file.size();
}

/// For a target whose inputs are `before` bytes and a file.
#ifdef TEEWIRE_FUZZ_REPLAY
#define FUZZ_MUTATOR(before, mutate) static_assert(std::is_same_v<decltype(mutate), ::fuzz::mutate_fn>);
#define FUZZ_CROSSOVER(before, cross) static_assert(std::is_same_v<decltype(cross), ::fuzz::cross_fn>);
#else
#define FUZZ_CROSSOVER(before, cross)                                                                              \
    extern "C" std::size_t LLVMFuzzerCustomCrossOver(std::uint8_t const* one, std::size_t size,                    \
                                                     std::uint8_t const* other, std::size_t other_size,            \
                                                     std::uint8_t* out, std::size_t max_size, unsigned seed) {     \
        return ::fuzz::cross_inputs<before>(cross, {one, size}, {other, other_size}, {out, max_size}, seed);       \
    }
#define FUZZ_MUTATOR(before, mutate)                                                                               \
    extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,     \
                                                   unsigned seed) {                                                \
        return ::fuzz::mutate_input<before>(mutate, data, size, max_size, seed);                                   \
    }
#endif

/// By libFuzzer, which knows what was compared with what.
inline void mutate_bytes(bytes& content) {
    constexpr std::size_t max_more = 16;
    if (content.empty()) content.push_back(0);
    std::size_t const size = content.size();
    content.resize(size + max_more);
    content.resize(LLVMFuzzerMutate(content.data(), size, content.size()));
}

/// The bytes that Huffman's code stands for. False where they cannot be read, or become more than `max_plain`.
template <class Change>
bool mutate_coded(bytes& coded, std::size_t max_plain, Change change) {
    bytes plain(max_plain);
    auto const size = teewire::huffman_decode(coded, plain);
    if (!size) return false;
    plain.resize(*size);
    change(plain);
    if (plain.size() > max_plain) return false;
    coded.resize(teewire::huffman_bound(plain.size()));
    coded.resize(*teewire::huffman_encode(plain, coded));
    return true;
}

/// A part of a file.
struct segment {
    std::size_t begin;
    std::size_t end;
};

inline void replace(bytes& file, segment old, bytes const& by) {
    auto const at = file.erase(file.begin() + static_cast<std::ptrdiff_t>(old.begin),
                               file.begin() + static_cast<std::ptrdiff_t>(old.end));
    file.insert(at, by.begin(), by.end());
}

/// One of the parts is left out, comes twice, or goes elsewhere.
inline void rearrange(bytes& file, std::vector<segment> const& parts, dice& random) {
    segment const chosen = parts[random.below(parts.size())];
    std::size_t to = parts[random.below(parts.size())].begin;
    bytes const content(file.begin() + static_cast<std::ptrdiff_t>(chosen.begin),
                        file.begin() + static_cast<std::ptrdiff_t>(chosen.end));
    std::size_t const fate = random.below(3);
    if (fate != 0) replace(file, {to, to}, content);
    if (fate == 1) return;
    std::size_t const moved = fate != 0 && to <= chosen.begin ? content.size() : 0;
    replace(file, {chosen.begin + moved, chosen.end + moved}, {});
}

} // namespace fuzz
