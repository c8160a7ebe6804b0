// The decoders that huffman_decode calls.
//
// One look into a table gives up to six symbols, but each look has to wait for the one before it, and meanwhile most
// of the processor idles. Longer inputs are therefore cut into four, and four lanes decode at once. Only the first
// starts where a code starts; the others guess. A decoder that starts inside a code falls into step with the right one
// after a few codes, so that every lane soon comes to a place where the next lane has been, and takes over what that
// one found from there on. If it does not, the guess is thrown away: that costs time, never the right result.
#include "codec_functions.hpp"
#include "huffman_end.hpp"
#include "huffman_table.hpp"
#include "huffman_words.hpp"

#include <algorithm>
#include <cassert>

namespace teewire::huffman {
namespace {

// ---- tables --------------------------------------------------------------------------------------------------------

constexpr unsigned look_bits = 12; // 32 KiB; with 11, real demos have three times as many longer codes
constexpr unsigned look_symbols = 6;
constexpr unsigned rest_bits = max_code_bits - look_bits;
constexpr std::size_t rest_size = std::size_t{1} << rest_bits;

// From the lowest byte on: bits used, symbols, number of symbols.
constexpr std::uint64_t make_entry(std::uint64_t bits, std::uint64_t symbols, std::uint64_t count) {
    return bits | symbols << 8 | count << 56;
}
constexpr std::size_t bits_of(std::uint64_t entry) { return entry & 0xff; }
constexpr std::size_t count_of(std::uint64_t entry) { return static_cast<std::size_t>(entry >> 56); }

constexpr std::size_t count_long_starts() {
    std::array<bool, 1U << look_bits> seen{};
    std::size_t count = 0;
    for (code const c : table.codes) {
        if (c.length <= look_bits || seen[c.bits % seen.size()]) continue;
        seen[c.bits % seen.size()] = true;
        ++count;
    }
    return count;
}

struct decode_tables {
    // For the next look_bits. A longer code has no symbols and no bits, and where to go on in `rest` instead.
    std::array<std::uint64_t, 1U << look_bits> look{};
    // For the bits after them. Zero for the end symbol.
    std::array<std::uint64_t, count_long_starts() * rest_size> rest{};
};

constexpr decode_tables build_tables() {
    decode_tables made;
    std::array<std::uint16_t, 1U << look_bits> first{}; // symbol at the beginning, the end symbol for long codes
    for (std::uint16_t& symbol : first) symbol = end_symbol;
    std::size_t starts = 0;
    for (std::size_t s = 0; s < symbols; ++s) {
        code const c = table.codes[s];
        if (c.length <= look_bits) {
            for (std::size_t i = c.bits; i < first.size(); i += std::size_t{1} << c.length)
                first[i] = static_cast<std::uint16_t>(s);
            continue;
        }
        std::uint64_t& start = made.look[c.bits % made.look.size()];
        if (start == 0) start = make_entry(0, ++starts * rest_size, 0); // one group too far, so that it is not 0
        std::size_t const group = static_cast<std::size_t>(start >> 8) - rest_size;
        for (std::size_t i = c.bits >> look_bits; i < rest_size; i += std::size_t{1} << (c.length - look_bits))
            made.rest[group + i] = s == end_symbol ? 0 : make_entry(c.length, s, 1);
    }
    for (std::size_t i = 0; i < made.look.size(); ++i) {
        if (made.look[i] != 0) {
            made.look[i] -= make_entry(0, rest_size, 0);
            continue;
        }
        std::uint64_t bits = 0;
        std::uint64_t found = 0;
        unsigned count = 0;
        for (; count < look_symbols; ++count) {
            std::size_t const symbol = first[i >> bits];
            if (symbol == end_symbol || bits + table.codes[symbol].length > look_bits) break;
            bits += table.codes[symbol].length;
            found |= std::uint64_t{symbol} << 8 * count;
        }
        made.look[i] = make_entry(bits, found, count);
    }
    return made;
}

alignas(64) constexpr decode_tables tables = build_tables();

// ---- one lane ------------------------------------------------------------------------------------------------------

struct lane {
    std::size_t position; // bits of the input
    std::uint8_t* at;     // of the output
};

// The bits from `position` on, 57 at least.
[[gnu::always_inline]] inline std::uint64_t window_at(std::uint8_t const* data, std::size_t position) noexcept {
    return load64(data + position / 8) >> position % 8;
}

// Zero for the end symbol.
[[gnu::always_inline]] inline std::uint64_t look_at_rest(std::uint64_t entry, std::uint64_t window) noexcept {
    return tables.rest[static_cast<std::size_t>((entry >> 8) + (window >> look_bits) % rest_size)];
}

[[gnu::always_inline]] inline void put(std::uint64_t entry, std::uint8_t*& at) noexcept {
    store64(at, entry >> 8);
    at += count_of(entry);
}

// Stands still at a long code.
[[gnu::always_inline]] inline std::uint64_t step(std::uint64_t& window, std::uint8_t*& at) noexcept {
    std::uint64_t const entry = tables.look[window % tables.look.size()];
    put(entry, at);
    window >>= entry & 63;
    return entry;
}

// Long codes as well, without a branch; stops only at the end symbol. Takes twice as long.
[[gnu::always_inline]] inline std::uint64_t step_any(std::uint64_t& window, std::uint8_t*& at) noexcept {
    std::uint64_t entry = tables.look[window % tables.look.size()];
    std::uint64_t const found = look_at_rest(count_of(entry) == 0 ? entry : 0, window);
    entry = count_of(entry) == 0 ? found : entry;
    put(entry, at);
    window >>= entry & 63;
    return entry;
}

// As many steps as a window always has bits for. A long code is looked for only after them: if it comes earlier, the
// steps after it do nothing and leave enough bits.
constexpr std::size_t steps = 57 / look_bits;
constexpr std::size_t group_bits = steps * look_bits + max_code_bits;
constexpr std::size_t group_room = steps * look_symbols + 8;

// False at the end symbol.
[[gnu::always_inline]] inline bool advance(lane& l, std::uint8_t const* data) noexcept {
    std::uint64_t window = window_at(data, l.position);
    std::uint8_t* at = l.at;
    std::uint64_t last = step(window, at);
    std::uint64_t sum = last; // its lowest byte counts bits
    for (std::size_t i = 1; i < steps; ++i) sum += last = step(window, at);
    bool more = true;
    if (count_of(last) == 0) [[unlikely]] {
        last = look_at_rest(last, window);
        put(last, at);
        sum += last;
        more = last != 0;
    }
    l.at = at;
    l.position += bits_of(sum);
    return more;
}

// The same where many codes are long.
[[gnu::always_inline]] inline bool advance_any(lane& l, std::uint8_t const* data) noexcept {
    std::uint64_t window = window_at(data, l.position);
    std::uint8_t* at = l.at;
    std::uint64_t const first = step_any(window, at);
    std::uint64_t sum = first;
    sum += step_any(window, at);
    sum += step_any(window, at);
    sum += step(window, at); // there are bits for
    l.at = at;
    l.position += bits_of(sum);
    return first != 0;
}

// ---- four lanes ----------------------------------------------------------------------------------------------------

constexpr std::size_t lanes = 4;
constexpr std::size_t head_groups = 3;
constexpr std::size_t head_bits = head_groups * group_bits;
constexpr std::size_t many_long_codes = 3; // in the heads of all lanes; each costs a branch misprediction
constexpr std::size_t min_segment = 32;    // bytes; a head fits
constexpr std::size_t max_segment = 384;
static_assert(min_segment * 8 >= head_bits);

// A lane that guesses.
struct guess {
    std::uint8_t out[max_segment * 8 + group_bits + 64];
    std::uint8_t marks[head_bits]; // for each place near the beginning: 1 + what was written there, or 0 if not met

    void mark(std::size_t place, std::uint8_t const* at) noexcept {
        marks[place] = static_cast<std::uint8_t>(at - out + 1);
    }
};

// The first groups, with marks; counts their long codes. False at an end symbol.
[[gnu::always_inline]] inline bool advance_head(guess& g, lane& l, std::uint8_t const* data,
                                                std::size_t& long_codes) noexcept {
    std::memset(g.marks, 0, sizeof g.marks);
    std::size_t const begin = l.position;
    for (std::size_t n = 0; n < head_groups; ++n) {
        std::uint64_t window = window_at(data, l.position);
        std::uint64_t last = 0;
        for (std::size_t i = 0; i < steps; ++i) {
            g.mark(l.position - begin, l.at);
            last = step(window, l.at);
            l.position += bits_of(last);
        }
        if (count_of(last) != 0) continue;
        g.mark(l.position - begin, l.at);
        last = look_at_rest(last, window);
        if (last == 0) return false;
        put(last, l.at);
        l.position += bits_of(last);
        ++long_codes;
    }
    return true;
}

// Takes `l` on to a place that the guess has met. Null if there is none.
[[gnu::always_inline]] inline std::uint8_t const* meet(guess const& g, std::size_t begin, lane& l,
                                                       std::uint8_t const* data, std::uint8_t const* end) noexcept {
    for (;;) {
        std::size_t const place = l.position - begin;
        if (place >= head_bits) return nullptr; // also when `l` has not come to `begin`
        if (g.marks[place] != 0) return g.out + g.marks[place] - 1;
        if (end - l.at < 8) return nullptr;
        std::uint64_t const window = window_at(data, l.position);
        std::uint64_t entry = tables.look[window % tables.look.size()];
        if (count_of(entry) == 0) entry = look_at_rest(entry, window);
        if (entry == 0) return nullptr;
        put(entry, l.at);
        l.position += bits_of(entry);
    }
}

// Decodes up to lanes * segment bytes, with 8 more readable bytes after them; `l` has room for segment_room(segment).
// False if the first lane met the end symbol. Takes 10 KiB of stack.
constexpr std::size_t segment_room(std::size_t segment) { return segment * 8 + group_bits + group_room; }

[[gnu::always_inline]] inline bool advance_lanes(lane& l, std::uint8_t const* data, std::size_t segment,
                                                 std::uint8_t const* end) noexcept {
    guess guesses[lanes - 1];
    lane all[lanes];
    std::size_t begin[lanes];
    std::size_t limit[lanes]; // 0 once an end symbol was met
    std::size_t long_codes = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        begin[i] = l.position + i * segment * 8;
        limit[i] = begin[i] + segment * 8;
        all[i] = {begin[i], i == 0 ? l.at : guesses[i - 1].out};
        if (i != 0 && !advance_head(guesses[i - 1], all[i], data, long_codes)) limit[i] = 0;
    }
    auto const advance_all = [&]<bool (*advance_one)(lane&, std::uint8_t const*) noexcept>() noexcept {
        for (bool more = true; more;) {
            more = false;
#pragma GCC unroll 4
            for (std::size_t i = 0; i < lanes; ++i) {
                if (all[i].position >= limit[i]) continue;
                if (!advance_one(all[i], data)) [[unlikely]]
                    limit[i] = 0;
                more = true;
            }
        }
    };
    if (long_codes < many_long_codes) advance_all.template operator()<advance>();
    else advance_all.template operator()<advance_any>();
    l = all[0];
    for (std::size_t i = 1; i < lanes; ++i) {
        std::uint8_t const* const from = meet(guesses[i - 1], begin[i], l, data, end);
        if (from == nullptr) break;
        auto const size = static_cast<std::size_t>(all[i].at - from);
        constexpr std::size_t chunk = 32; // both sides have room for a whole last one
        if (static_cast<std::size_t>(end - l.at) < size + chunk) break;
        for (std::size_t k = 0; k < size; k += chunk) std::memcpy(l.at + k, from + k, chunk);
        l = {all[i].position, l.at + size};
    }
    return limit[0] != 0;
}

// ---- everything ----------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline result<std::size_t> decode(std::span<std::uint8_t const> input,
                                                         std::span<std::uint8_t> out, note_log* notes) noexcept {
    // Words are loaded up to this byte; what the last one holds is all there is.
    std::uint8_t const* data = input.data();
    std::size_t last_word = input.size() - 8;
    std::uint8_t few[8];
    if (input.size() < 8) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < input.size(); ++i) word |= std::uint64_t{input[i]} << 8 * i;
        store64(few, word);
        data = few;
        last_word = 0;
    }
    std::size_t const bits = input.size() * 8;
    std::uint8_t const* const end = out.data() + out.size();
    lane l{0, out.data()};
    auto const room = [&] { return static_cast<std::size_t>(end - l.at); };

    while (l.position / 8 + lanes * min_segment <= last_word) {
        std::size_t const left = last_word - l.position / 8;
        std::size_t const rounds = (left + lanes * max_segment - 1) / (lanes * max_segment);
        std::size_t const segment = left / (lanes * rounds);
        if (room() < segment_room(segment) || !advance_lanes(l, data, segment, end)) break;
    }
    while (l.position / 8 < last_word && room() >= group_room)
        if (!advance(l, data)) break;

    // Look by look, and where room is short symbol by symbol.
    std::size_t word = std::min(l.position / 8, last_word);
    std::uint64_t window = load64(data + word) >> ((l.position - 8 * word) & 63);
    while (l.position < bits) {
        if (word != last_word) {
            word = std::min(l.position / 8, last_word);
            window = load64(data + word) >> (l.position - 8 * word);
        }
        std::uint64_t entry = tables.look[window % tables.look.size()];
        if (count_of(entry) == 0) [[unlikely]] {
            entry = look_at_rest(entry, window);
            if (entry == 0) {
                l.position += table.codes[end_symbol].length;
                if (l.position > bits) break;
                note_rest(input, (l.position + 7) / 8, notes);
                return static_cast<std::size_t>(l.at - out.data());
            }
        }
        if (room() >= 8) [[likely]] {
            put(entry, l.at);
            l.position += bits_of(entry);
            window >>= entry & 63;
        } else {
            auto const symbol = static_cast<std::uint8_t>(entry >> 8);
            l.position += table.codes[symbol].length;
            window >>= table.codes[symbol].length;
            if (l.position > bits) break;
            if (l.at == end) return failure{errc::output_full, (l.position + 7) / 8};
            *l.at++ = symbol;
        }
    }
    return failure{errc::truncated, input.size()};
}

// ---- several short inputs ------------------------------------------------------------------------------------------

// The same as advance(), without a branch for a long code.
[[gnu::always_inline]] inline bool advance_either(lane& l, std::uint8_t const* data) noexcept {
    std::uint64_t window = window_at(data, l.position);
    std::uint8_t* at = l.at;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 1 < steps; ++i) sum += step(window, at);
    std::uint64_t const last = step_any(window, at);
    l.at = at;
    l.position += bits_of(sum + last);
    return last != 0;
}

// One lane for each, four at a time. That a lane which has come to its end takes the next one was tried: it was slower.
[[gnu::always_inline]] inline void decode_short(std::span<kernels::huffman_piece> pieces) noexcept {
    using kernels::huffman_piece;
    constexpr std::size_t behind = group_bits / 8 + 8; // the last group begins within the input
    std::uint8_t copies[lanes][huffman_piece::max_bytes + behind];
    static_assert(huffman_piece::out_bytes >= huffman_piece::max_bytes * 8 + group_room);
    for (; !pieces.empty(); pieces = pieces.subspan(std::min(lanes, pieces.size()))) {
        std::size_t const n = std::min(lanes, pieces.size());
        lane all[lanes] = {};
        std::uint8_t const* data[lanes];
        std::size_t limit[lanes] = {}; // bits; 0 once an end symbol was met
        bool ended[lanes] = {};
        for (std::size_t i = 0; i < n; ++i) {
            huffman_piece const& p = pieces[i];
            assert(p.input.size() <= huffman_piece::max_bytes);
            data[i] = p.input.data();
            if (p.behind < behind) {
                data[i] = copies[i];
                std::copy(p.input.begin(), p.input.end(), copies[i]);
                std::fill_n(copies[i] + p.input.size(), behind, std::uint8_t{0});
            }
            limit[i] = p.input.size() * 8;
            all[i].at = p.out;
        }
        for (bool more = true; more;) {
            more = false;
#pragma GCC unroll 4
            for (std::size_t i = 0; i < lanes; ++i) {
                if (all[i].position >= limit[i]) continue;
                if (!advance_either(all[i], data[i])) [[unlikely]] {
                    limit[i] = 0;
                    ended[i] = true;
                }
                more = true;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            huffman_piece& p = pieces[i];
            std::size_t const end = all[i].position + table.codes[end_symbol].length;
            bool const good = ended[i] && end <= p.input.size() * 8;
            p.size = good ? static_cast<std::size_t>(all[i].at - p.out) : 0;
            p.used = good ? (end + 7) / 8 : 0;
        }
    }
}

} // namespace
} // namespace teewire::huffman

namespace teewire::kernels {

result<std::size_t> scalar::huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out,
                                           note_log* notes) noexcept {
    return huffman::decode(input, out, notes);
}

void scalar::huffman_decode_short(std::span<huffman_piece> pieces) noexcept { huffman::decode_short(pieces); }

#if defined(__x86_64__)
// Shifts by any number of bits are all that it needs of its level.
[[gnu::target("bmi2")]] result<std::size_t>
avx2::huffman_decode(std::span<std::uint8_t const> input, std::span<std::uint8_t> out, note_log* notes) noexcept {
    return huffman::decode(input, out, notes);
}
[[gnu::target("bmi2")]] void avx2::huffman_decode_short(std::span<huffman_piece> pieces) noexcept {
    huffman::decode_short(pieces);
}
#endif

} // namespace teewire::kernels
