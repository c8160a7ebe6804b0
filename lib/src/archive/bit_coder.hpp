// Binary arithmetic coding: bits with their probabilities become bytes, and the reverse. See
// doc/format/archive.md#bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::archive {

// The interval that both sides divide. Its bounds differ in their first byte whenever a bit is coded.
struct bit_interval {
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;

    // The last number of the part for a one; `one` of 65536 is its probability, neither 0 nor 65536.
    [[nodiscard]] std::uint32_t middle(std::uint32_t one) const noexcept {
        return low + static_cast<std::uint32_t>(std::uint64_t{high - low} * one >> 16);
    }
    [[nodiscard]] bool has_byte() const noexcept { return ((low ^ high) >> 24) == 0; }
    void drop_byte() noexcept {
        low <<= 8;
        high = high << 8 | 0xff;
    }
};

class bit_encoder {
public:
    static constexpr bool decodes = false;

    // At most so many steps.
    bit_encoder(std::span<std::uint8_t> out, std::uint64_t steps) noexcept : out_{out}, steps_{steps} {}

    bool code(bool bit, std::uint32_t one) noexcept {
        steps_ -= steps_ != 0;
        std::uint32_t const middle = interval_.middle(one);
        if (bit) interval_.high = middle;
        else interval_.low = middle + 1;
        for (; interval_.has_byte(); interval_.drop_byte()) put(interval_.low >> 24);
        return bit;
    }
    // Bytes written, or more than there is room for. One byte is enough, as zeros follow it.
    [[nodiscard]] std::size_t finish() noexcept {
        put((interval_.low >> 24) + 1);
        return at_;
    }
    // Whether the bytes so far exceed the room, or no step is left.
    [[nodiscard]] bool failed() const noexcept { return at_ > out_.size() || steps_ == 0; }

private:
    void put(std::uint32_t byte) noexcept {
        if (at_ < out_.size()) out_[at_] = static_cast<std::uint8_t>(byte);
        ++at_;
    }

    std::span<std::uint8_t> out_;
    std::size_t at_ = 0;
    std::uint64_t steps_;
    bit_interval interval_;
};

class bit_decoder {
public:
    static constexpr bool decodes = true;

    bit_decoder(std::span<std::uint8_t const> in, std::uint64_t steps) noexcept : in_{in}, steps_{steps} {
        for (int i = 0; i < 4; ++i) take();
    }

    bool code(bool /*unknown*/, std::uint32_t one) noexcept {
        steps_ -= steps_ != 0;
        std::uint32_t const middle = interval_.middle(one);
        bool const bit = value_ <= middle;
        if (bit) interval_.high = middle;
        else interval_.low = middle + 1;
        for (; interval_.has_byte(); interval_.drop_byte()) take();
        return bit;
    }
    // Whether more was read than an encoder writes, or no step is left.
    [[nodiscard]] bool failed() const noexcept { return at_ > in_.size() + 4 || steps_ == 0; }
    // Whether no zeros after the input were read.
    [[nodiscard]] bool is_within_input() const noexcept { return at_ <= in_.size(); }

private:
    void take() noexcept {
        value_ = value_ << 8 | (at_ < in_.size() ? in_[at_] : 0U);
        ++at_;
    }

    std::span<std::uint8_t const> in_;
    std::size_t at_ = 0;
    std::uint32_t value_ = 0;
    std::uint64_t steps_;
    bit_interval interval_;
};

} // namespace teewire::archive
