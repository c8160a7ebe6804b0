/// @file
/// Messages: a concatenation of variable-length ints, zero-terminated strings and raw bytes. See
/// doc/format/message.md#fields.
#pragma once

#include "teewire/varint.hpp"

#include <string_view>

namespace teewire {

/// Reads the fields of a message in order. After the first error every further read gives 0 or "" and the error
/// stays, so that a whole message can be read and checked once. Borrowed: strings point into the message.
class unpacker {
public:
    /// Begins at the first byte of `message`.
    constexpr explicit unpacker(std::span<std::uint8_t const> message) noexcept : bytes_{message} {}

    /// Errors: truncated. Reads like DDNet: over-long forms are accepted.
    std::int32_t read_int() noexcept;
    /// A text up to its terminator, which is not part of the result; its bytes may be invalid UTF-8. Errors: bad_text
    /// without a terminator, truncated at the end of the message.
    std::string_view read_string() noexcept;
    /// Exactly `size` bytes. Errors: truncated.
    std::span<std::uint8_t const> read_raw(std::size_t size) noexcept;

    /// The bytes that were not read yet.
    [[nodiscard]] std::span<std::uint8_t const> rest() const noexcept { return bytes_.subspan(at_); }
    /// Bytes read so far.
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    /// Whether there was no error.
    [[nodiscard]] bool ok() const noexcept { return error_.code == errc::ok; }
    /// The first error and its byte.
    [[nodiscard]] failure error() const noexcept { return error_; }

private:
    void fail(errc code) noexcept {
        if (ok()) error_ = {code, at_};
    }

    std::span<std::uint8_t const> bytes_;
    std::size_t at_ = 0;
    failure error_{};
};

/// Writes fields in order into the caller's memory. After the first field that does not fit, nothing more is written.
class packer {
public:
    /// Writes to the start of `out`.
    constexpr explicit packer(std::span<std::uint8_t> out) noexcept : out_{out} {}

    /// 1 to 5 bytes.
    packer& add_int(std::int32_t value) noexcept;
    /// Writes the text and a terminator. Asserts that the text holds no terminator of its own.
    packer& add_string(std::string_view text) noexcept;
    /// Adds the bytes unchanged.
    packer& add_raw(std::span<std::uint8_t const> bytes) noexcept;

    /// The written bytes. Error: output_full with the size reached.
    [[nodiscard]] result<std::span<std::uint8_t const>> finish() const noexcept;

private:
    bool fits(std::size_t size) noexcept {
        full_ = full_ || size > out_.size() - at_;
        return !full_;
    }

    std::span<std::uint8_t> out_;
    std::size_t at_ = 0;
    bool full_ = false;
};

} // namespace teewire
