// Vital chunks of one direction, as its receiver took them.
#pragma once

#include <teewire/packet.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace teewire::replay {

enum class vital_place : std::uint8_t {
    next,     ///< is delivered
    repeated, ///< was there before
    held,     ///< comes when the gap before it is closed
};

/// Puts vital chunks in order by the rules of their receiver: repeated ones are dropped and later ones held back until
/// a resend fills the gap, or until an acknowledge tells that the receiver had what the capture has not.
class vital_stream {
public:
    using receiver = std::function<void(std::span<std::uint8_t const>)>;

    /// Takes a chunk and delivers what follows from it.
    vital_place receive(chunk const& c, receiver const& deliver);
    /// Takes the acknowledge of a packet of the other side.
    void acknowledge(std::uint16_t ack, receiver const& deliver);
    /// A connection begins: the next number is 1.
    void begin();
    /// What is known of the order is wrong.
    void forget();

    [[nodiscard]] bool expects(std::uint16_t sequence) const noexcept { return !last_ || ahead(sequence) == 1; }
    /// Chunks that their receiver had and the capture has not.
    [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

private:
    [[nodiscard]] std::uint16_t ahead(std::uint16_t sequence) const noexcept {
        return static_cast<std::uint16_t>((sequence_modulus + sequence - *last_) % sequence_modulus);
    }
    void release(receiver const& deliver);
    void skip(receiver const& deliver);

    static constexpr std::uint16_t window = sequence_modulus / 2;
    static constexpr std::size_t max_held_bytes = 256 << 10;

    std::optional<std::uint16_t> last_; // none: the next chunk tells
    std::map<std::uint16_t, std::vector<std::uint8_t>> held_;
    std::size_t held_bytes_ = 0;
    std::uint64_t missing_ = 0;
};

} // namespace teewire::replay
