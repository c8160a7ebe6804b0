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
/// a resend fills the gap, or until acknowledgements say that the receiver had what the capture has not. As captures can
/// be out of order themselves, that is believed when it still holds some packets later.
class vital_stream {
public:
    using receiver = std::function<void(std::span<std::uint8_t const>)>;

    /// Takes a chunk and delivers what follows from it.
    vital_place receive(chunk const& c, receiver const& deliver);
    /// Takes the acknowledge of a packet of the other side.
    void acknowledge(std::uint16_t ack, receiver const& deliver);
    /// Ends the stream: delivers the chunks held back, without those that are missing.
    void finish(receiver const& deliver);
    /// A connection begins: the next number is 1.
    void begin();
    /// The known order is wrong: forgets it.
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
    void skip_to(std::uint16_t sequence, receiver const& deliver);

    static constexpr std::uint16_t window = sequence_modulus / 2;
    static constexpr std::size_t max_held_bytes = 256 << 10;
    static constexpr int patience = 32; // acknowledges until a gap is given up

    std::optional<std::uint16_t> last_; // none: the next chunk says
    std::map<std::uint16_t, std::vector<std::uint8_t>> held_;
    std::size_t held_bytes_ = 0;
    std::optional<std::uint16_t> acknowledged_; // but not here
    int patience_ = 0;
    std::uint64_t missing_ = 0;
};

} // namespace teewire::replay
