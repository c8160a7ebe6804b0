// Texts for output: for people, JSON and CSV.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace teewire::replay {

/// Text in the making. Keeps its memory when it is cleared.
class text_buffer {
public:
    template <class... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        append(format, fmt::make_format_args(arguments...));
    }
    void write(std::string_view text) { buffer_.append(text.data(), text.data() + text.size()); }
    void clear() noexcept { buffer_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
    [[nodiscard]] std::string_view view() const noexcept { return {buffer_.data(), buffer_.size()}; }

private:
    // In one place: what it calls is templates, which every caller would compile again.
    void append(fmt::string_view format, fmt::format_args arguments);

    fmt::memory_buffer buffer_;
};

/// Text for people. Valid UTF-8 without control characters, which move the cursor, and without those that turn the
/// direction of writing, which show a text as another one: they become spaces, and what breaks the rules U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);
/// Valid UTF-8 with every character that it has: for JSON and CSV. Bytes that break the rules become U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// How CSV shows texts.
enum class csv_texts : std::uint8_t {
    safe, ///< with an apostrophe in front of what a spreadsheet would take for a formula
    raw,  ///< unchanged
};
/// A text as a cell of CSV, in quotes.
[[nodiscard]] std::string csv_text(std::string_view text, csv_texts form);

/// Cut or padded with spaces to that width on a terminal. The text must be printable.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns);

/// "1 quad", "2 quads"; "1 frame has", "2 frames have".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {});
/// "812 B", "68.0 KiB", "1.2 MiB", "3.4 GiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// "0badc0de": two digits for each byte.
[[nodiscard]] std::string hex(std::span<std::uint8_t const> bytes, std::string_view between = "");
/// "0b ad c0 de", of more than 16 bytes the first ones and " ...".
[[nodiscard]] std::string first_bytes_text(std::span<std::uint8_t const> bytes);

/// "1:02.5" for ticks.
[[nodiscard]] std::string clock_text(std::int64_t ticks);

} // namespace teewire::replay
