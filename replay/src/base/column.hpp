// Columns of tables, and the values of a row.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace teewire::replay {

enum class column_type : std::uint8_t {
    int32,
    int64,
    tick, ///< int32; -1 before the first tick, which is null in databases and Arrow files
    real, ///< 64 bits
    boolean,
    text, ///< UTF-8
    word, ///< a text of which there are few different ones
};

struct column {
    std::string_view name;
    column_type type;
    bool required = false; ///< never null; in other columns an empty text of a database or Arrow file is null
};

template <std::size_t N, std::size_t M>
[[nodiscard]] constexpr std::array<column, N + M> operator+(std::array<column, N> const& first,
                                                            std::array<column, M> const& rest) {
    std::array<column, N + M> all{};
    for (std::size_t n = 0; n < N; ++n) all[n] = first[n];
    for (std::size_t n = 0; n < M; ++n) all[N + n] = rest[n];
    return all;
}

/// Writes one value. `to` has the functions null, number, real, flag and text, which get the column and the value.
template <class To, class Value>
void put_value(To& to, column const& c, Value const& value) {
    if constexpr (std::is_same_v<Value, bool>) to.flag(c, value);
    else if constexpr (std::is_integral_v<Value>) to.number(c, static_cast<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<Value>) to.real(c, value);
    else if constexpr (std::is_convertible_v<Value, std::string_view>) to.text(c, std::string_view{value});
    else if (value) put_value(to, c, *value);
    else to.null(c);
}

/// Writes a row: a value for each column, in their order. An empty std::optional is null.
template <std::size_t N, class To, class... Values>
requires(sizeof...(Values) == N) void put_row(std::array<column, N> const& columns, To& to,
                                              Values const&... values) {
    column const* next = columns.data();
    (put_value(to, *next++, values), ...);
}

} // namespace teewire::replay
