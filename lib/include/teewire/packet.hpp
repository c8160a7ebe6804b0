/// @file
/// Packets: the datagrams of 0.6, DDNet and 0.7, their chunks and control messages, read and written.
///
/// A packet is a header and a payload, which may be compressed. The payload is either a number of chunks, each with one
/// message, or one control message. Connectionless packets are another form. See doc/format/packet.md. What DDNet
/// refuses, strict decoding refuses.
#pragma once

#include "teewire/error.hpp"
#include "teewire/huffman.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire {

/// How the packets of one connection are laid out.
enum class wire_format : std::uint8_t {
    v06,       ///< 0.6 without tokens
    v06_token, ///< 0.6.5: a token after the header, the server's in both directions
    ddnet,     ///< 0.6 with DDNet's token at the end of the payload, inside the compression
    v07,       ///< 0.7: the receiver's token in the header
};
/// "0.6", "0.6.5", "ddnet", "0.7".
[[nodiscard]] std::string_view name(wire_format format) noexcept;

inline constexpr std::size_t max_packet_bytes = 1400; ///< every datagram, header included
/// The bytes that every receiver has room for after decompression, DDNet's token included: 0.6.5 is the narrowest.
inline constexpr std::size_t max_payload_bytes = 1390;
/// The bytes that receivers here accept, as DDNet.
inline constexpr std::size_t max_read_payload_bytes = 1397;
inline constexpr std::size_t max_chunk_head = 3;      ///< bytes before the data of a chunk
inline constexpr std::size_t max_packet_chunks = 255; ///< what the header of a packet can count
/// Bytes of one chunk's data at most: 1023 in 0.6, otherwise what fits a packet.
[[nodiscard]] constexpr std::size_t max_chunk_bytes(wire_format format) noexcept {
    return format == wire_format::v07 ? max_payload_bytes - max_chunk_head : 1023;
}
/// Sequence numbers of vital chunks and acknowledgements count modulo this.
inline constexpr std::uint16_t sequence_modulus = 1024;

/// "Not known", in 0.7 headers and in DDNet's connect; not a token that anybody may choose.
inline constexpr std::uint32_t no_token = 0xffffffff;

// ---- reading -------------------------------------------------------------------------------------------------------

/// A packet that belongs to a connection, or wants to begin one. Borrowed: the payload points into the datagram.
struct packet {
    bool control = false;                  ///< the payload is a control message
    bool compressed = false;               ///< the payload is compressed
    bool resend = false;                   ///< asks for all vital chunks again
    std::uint16_t ack = 0;                 ///< last vital chunk that was received in order
    std::uint8_t chunks = 0;               ///< as stated; 0 for control messages
    bool has_token = false;                ///< 0.7 and 0.6.5
    std::uint32_t token = 0;               ///< of the header
    std::size_t header = 0;                ///< bytes before the payload
    std::span<std::uint8_t const> payload; ///< as in the datagram
};

/// Whether the datagram is connectionless, in any format: then it is for parse_connless.
[[nodiscard]] constexpr bool is_connless(std::span<std::uint8_t const> datagram) noexcept {
    return !datagram.empty() && (datagram[0] & 0x20) != 0;
}

/// Reads the header. The choice between the 0.6 formats matters only for strict decoding. Errors, with the byte:
/// truncated; too_large (beyond 1400 bytes); bad_flags for connectionless packets, and with strict decoding for
/// everything that DDNet refuses: unknown flags, control messages with chunks, compression or without payload, other
/// packets without chunks unless they ask for a resend. Lenient decoding adds the note packet_flags.
result<packet> parse_packet(std::span<std::uint8_t const> datagram, wire_format format,
                            decoding mode = decoding::strict, note_log* notes = nullptr) noexcept;

/// Memory for one decompressed payload.
using payload_memory = std::array<std::uint8_t, max_read_payload_bytes>;

/// The payload as it was before compression: inside the datagram or inside `memory`. Errors as huffman_decode.
result<std::span<std::uint8_t const>> decode_payload(packet const& p, payload_memory& memory,
                                                     note_log* notes = nullptr) noexcept;

/// One message inside a packet. Borrowed.
struct chunk {
    bool vital = false;                 ///< will be repeated until it is acknowledged
    bool resend = false;                ///< was sent before
    std::uint16_t sequence = 0;         ///< of vital chunks: 1, 2, ... 1023, 0, 1, ...
    std::span<std::uint8_t const> data; ///< the message
};

/// Walks through the chunks of a payload.
class chunk_reader {
public:
    /// Nothing to read.
    constexpr chunk_reader() noexcept = default;
    /// `chunks`: as the packet states.
    constexpr chunk_reader(std::span<std::uint8_t const> payload, std::size_t chunks, wire_format format) noexcept
        : payload_{payload}, left_{chunks}, format_{format} {}

    /// The next chunk. False after the last one, and on the error truncated: then the stated number of chunks was
    /// wrong, and receivers keep those before.
    bool next(chunk& out) noexcept;
    /// Why next() gave false; ok after the last one.
    [[nodiscard]] failure error() const noexcept { return error_; }

    /// Byte of the payload where the next chunk begins.
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    /// The bytes after the chunks read so far. After all of them: DDNet's token, or nothing.
    [[nodiscard]] std::span<std::uint8_t const> rest() const noexcept { return payload_.subspan(at_); }

private:
    std::span<std::uint8_t const> payload_;
    std::size_t at_ = 0;
    std::size_t left_ = 0;
    wire_format format_ = wire_format::v06;
    failure error_{};
};

// ---- control messages ----------------------------------------------------------------------------------------------

/// The purposes of control messages.
enum class control_code : std::uint8_t {
    keep_alive = 0,     ///< nothing but a sign of life
    connect = 1,        ///< a client begins
    connect_accept = 2, ///< 0.7: accept, which is the last step there
    accept = 3,         ///< 0.6 and DDNet
    close = 4,          ///< with a reason, or without
    token = 5,          ///< 0.7
};
/// "keep_alive", "connect", ... or an empty name.
[[nodiscard]] std::string_view name(control_code code) noexcept;

/// Borrowed: the reason points into the payload.
struct control_message {
    control_code code = control_code::keep_alive; ///< which it is
    bool ddnet = false;                           ///< connect, connect_accept: offers or confirms DDNet's tokens
    bool has_token = false;                       ///< the payload holds one
    std::uint32_t token = 0;                      ///< 0.7, 0.6.5: the sender's; DDNet: the connection's
    std::string_view reason;                      ///< close; empty if none was given
};

/// Reads the payload of a control message. DDNet's and 0.6.5's connect and connect_accept are recognised in every 0.6
/// format; in the others of DDNet's messages the token is found when `format` says ddnet. Errors, with the byte:
/// truncated, bad_type (unknown code).
result<control_message> parse_control(std::span<std::uint8_t const> payload, wire_format format) noexcept;

// ---- writing -------------------------------------------------------------------------------------------------------

/// The header of a packet, apart from its content.
struct packet_head {
    std::uint16_t ack = 0; ///< last vital chunk that was received in order
    bool resend = false;   ///< asks for all vital chunks again
    std::uint32_t token =
        no_token; ///< as the format wants it: 0.7 the receiver's, 0.6.5 and DDNet the connection's
};

/// Memory for one packet on its way out. The room beyond max_packet_bytes makes compression fast; nothing of it is
/// sent.
using packet_memory = std::array<std::uint8_t, 7 + huffman_bound(max_payload_bytes)>;

/// Collects chunks for one packet.
class packet_writer {
public:
    /// Empty, for 0.6.
    constexpr packet_writer() noexcept = default;
    /// Empty.
    explicit constexpr packet_writer(wire_format format) noexcept : format_{format} {}

    /// Begins the next packet.
    constexpr void clear() noexcept { used_ = chunks_ = 0; }
    /// For the packets from now on.
    constexpr void set_format(wire_format format) noexcept { format_ = format; }

    /// Chunks so far.
    [[nodiscard]] constexpr std::size_t chunks() const noexcept { return chunks_; }
    /// Bytes of payload so far, without DDNet's token.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return used_; }
    /// Whether a chunk with so many bytes of data still fits.
    [[nodiscard]] constexpr bool fits(std::size_t data) const noexcept {
        return chunks_ < max_packet_chunks && data <= max_chunk_bytes(format_) &&
               used_ + max_chunk_head + data <= max_payload_bytes - (format_ == wire_format::ddnet ? 4 : 0);
    }
    /// Errors: too_large when no packet could take it; output_full when this one cannot any more. The position is
    /// size().
    failure add(chunk const& c) noexcept;

    /// The datagram, compressed if that makes it smaller. It is in `out`. O(size()).
    std::span<std::uint8_t const> finish(packet_head const& head, packet_memory& out,
                                         huffman_end ending = huffman_end::exact) noexcept;

private:
    std::size_t used_ = 0;
    std::size_t chunks_ = 0;
    wire_format format_ = wire_format::v06;
    std::array<std::uint8_t, max_payload_bytes> payload_;
};

/// Writes a packet with a control message. Connects of 0.6.5 and 0.7, and requests for a token (head.token ==
/// no_token), are padded to the 512 bytes that servers insist on, so that their answers are never larger. The reason of
/// a close is cut at 255 bytes.
std::span<std::uint8_t const> write_control(control_message const& m, wire_format format, packet_head const& head,
                                            packet_memory& out) noexcept;

// ---- connectionless packets ----------------------------------------------------------------------------------------

/// How a connectionless packet is marked.
enum class connless_format : std::uint8_t {
    v06,          ///< six bytes ff
    v06_extended, ///< DDNet: "xe" and four bytes of extra data
    v07,          ///< tokens of the receiver and of the sender
};

/// Borrowed.
struct connless_packet {
    connless_format format = connless_format::v06; ///< how it is marked
    std::array<std::uint8_t, 4> extra{};           ///< v06_extended
    std::uint32_t token = no_token;                ///< v07: the receiver's
    std::uint32_t response_token = no_token;       ///< v07: the sender's
    std::span<std::uint8_t const> payload;         ///< everything after the mark
};
inline constexpr std::size_t max_connless_header = 9; ///< of 0.7

/// Errors, with the byte: truncated, too_large, bad_flags (not connectionless), bad_version (0.7's is not 1). Any packet of
/// 0.6 with the flag is taken, as its receivers do; without either mark there is the note packet_flags.
result<connless_packet> parse_connless(std::span<std::uint8_t const> datagram, note_log* notes = nullptr) noexcept;

/// Errors: too_large (beyond 1400 bytes), output_full.
result<std::size_t> write_connless(connless_packet const& p, std::span<std::uint8_t> out) noexcept;

// ---- recognising ---------------------------------------------------------------------------------------------------

/// A guess at the protocol from a datagram of an unknown flow.
enum class packet_guess : std::uint8_t {
    undecided,   ///< could be of either
    foreign,     ///< no packet of these games
    v06,         ///< 0.6, whatever its tokens
    v07,         ///< 0.7
    connless_06, ///< connectionless, of 0.6
    connless_07, ///< connectionless, of 0.7
};

/// Judges one datagram by itself. `foreign` is a packet that none of these programs sends. Stray traffic can look like
/// a packet: ask for several before believing it. O(chunks), nothing is decompressed.
[[nodiscard]] packet_guess guess_packet(std::span<std::uint8_t const> datagram) noexcept;

} // namespace teewire
