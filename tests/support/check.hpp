// Needed by every unit test: the framework, readable failures, and text forms of bytes and ints.
#pragma once

#include "teewire/error.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doctest {
template <>
struct StringMaker<teewire::failure> {
    static String convert(teewire::failure const& f) {
        return (std::string{teewire::describe(f.code)} + " at " + std::to_string(f.position)).c_str();
    }
};
} // namespace doctest

namespace test {

using bytes = std::vector<std::uint8_t>;
using ints = std::vector<std::int32_t>;

/// The error of a result, or failure{} if it has a value.
template <class T>
teewire::failure error_of(teewire::result<T> const& r) {
    return r ? teewire::failure{} : r.error();
}

/// "a8 b8 01"
inline std::string hex(std::span<std::uint8_t const> data) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::uint8_t const byte : data) {
        if (!text.empty()) text += ' ';
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

/// "56 3 0"
inline std::string dec(std::span<std::int32_t const> data) {
    std::string text;
    for (std::int32_t const value : data) {
        if (!text.empty()) text += ' ';
        text += std::to_string(value);
    }
    return text;
}

inline std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string_view::npos;) {
        std::size_t const end = std::min(text.find(' ', at), text.size());
        found.push_back(text.substr(at, end - at));
        at = end;
    }
    return found;
}

template <class Number>
Number number(std::string_view word, int base = 10) {
    Number value{};
    [[maybe_unused]] auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    REQUIRE_MESSAGE((error == std::errc{} && end == word.data() + word.size()), std::string{word});
    return value;
}

inline bytes from_hex(std::string_view text) {
    bytes data;
    for (auto const word : words(text)) data.push_back(number<std::uint8_t>(word, 16));
    return data;
}

inline ints from_dec(std::string_view text) {
    ints data;
    for (auto const word : words(text)) data.push_back(number<std::int32_t>(word));
    return data;
}

template <class T>
std::vector<std::remove_const_t<T>> copy_of(std::span<T> data) {
    return {data.begin(), data.end()};
}

/// Memory of exactly `size` elements between guards.
template <class T>
class guarded {
public:
    explicit guarded(std::size_t size) : all_(size + 2 * margin, guard) {}

    [[nodiscard]] std::span<T> span() { return std::span{all_}.subspan(margin, all_.size() - 2 * margin); }
    [[nodiscard]] bool intact() const {
        for (std::size_t i = 0; i < margin; ++i)
            if (all_[i] != guard || all_[all_.size() - 1 - i] != guard) return false;
        return true;
    }

private:
    static constexpr std::size_t margin = 8;
    static constexpr T guard = static_cast<T>(0x5a5a5a5b);
    std::vector<T> all_;
};

/// Calls write(out) with every output size from 0 to one more than needed: it must succeed exactly when the size
/// suffices, fail with output_full otherwise, and never write beyond.
template <class T, class Write>
void check_output_sizes(std::size_t needed, Write&& write) {
    for (std::size_t size = 0; size <= needed + 1; ++size) {
        guarded<T> memory{size};
        auto const written = write(memory.span());
        CAPTURE(size);
        CAPTURE(needed);
        CHECK(memory.intact());
        CHECK(error_of(written).code == (size < needed ? teewire::errc::output_full : teewire::errc::ok));
    }
}

} // namespace test
