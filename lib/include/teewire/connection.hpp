/// @file
/// One side of a connection: handshake, order and repetition of vital chunks, keep-alives and time-outs.
///
/// No socket and no clock: datagrams are handed in and fetched, and every call says what time it is. See
/// doc/format/packet.md#reliability and doc/format/session.md#handshakes.
#pragma once

#include "teewire/packet.hpp"

namespace teewire {

/// A monotonic clock of the caller's, from any origin.
using milliseconds = std::int64_t;

/// Which side a connection is.
enum class connection_role : std::uint8_t {
    client, ///< began it
    server, ///< accepted it
};

/// Where a connection stands.
enum class connection_state : std::uint8_t {
    requesting_token, ///< client of 0.7
    connecting,       ///< client: until the server accepts
    online,           ///< messages go both ways
    closed,           ///< for good: cause()
};

/// Why a connection was closed.
enum class close_cause : std::uint8_t {
    none,           ///< it is not closed
    local,          ///< close() was called
    peer,           ///< the peer closed it: reason()
    no_answer,      ///< the handshake took too long
    silence,        ///< nothing was received for too long
    unacknowledged, ///< a vital chunk was not acknowledged for too long
};
/// "closed here", "closed by the peer", ... Never null.
[[nodiscard]] std::string_view describe(close_cause cause) noexcept;

/// A vital chunk that the peer has not acknowledged.
struct sent_chunk {
    std::uint32_t begin = 0;    ///< in the ring
    std::uint16_t size = 0;     ///< bytes
    std::uint16_t sequence = 0; ///< 0 to 1023
    milliseconds first = 0;     ///< when it was queued
    milliseconds last = 0;      ///< when it was put into a packet
};

/// Memory for the vital chunks that are not acknowledged: 32 KiB as in the reference programs, and 6 KiB for 256 of
/// them. queue() refuses chunks that do not fit.
template <std::size_t bytes = 32768, std::size_t chunks = 256>
struct connection_memory {
    static_assert(bytes >= max_payload_bytes, "one chunk has to fit");
    static_assert(chunks > 0 && chunks < sequence_modulus / 2,
                  "by this receivers distinguish repetitions from gaps");
    std::array<std::uint8_t, bytes> ring; ///< for repetitions
    std::array<sent_chunk, chunks> sent;  ///< what is in it
};

/// The tokens of both sides. In 0.7 each has its own; DDNet and 0.6.5 have one for the connection, which is both `own`
/// and `peer`.
struct connection_tokens {
    std::uint32_t own = no_token;  ///< what the peer has to send
    std::uint32_t peer = no_token; ///< what has to be sent to the peer
};

/// The times of the reference programs.
struct connection_options {
    milliseconds silence = 10'000;           ///< without a valid packet
    milliseconds unacknowledged = 10'000;    ///< a vital chunk
    milliseconds no_answer = 10'000;         ///< to a client's handshake
    huffman_end ending = huffman_end::exact; ///< for connections with a peer that wants padding
};

/// The kind of a received datagram.
enum class received_kind : std::uint8_t {
    chunks,    ///< next_chunk() gives them, maybe none
    online,    ///< a client's handshake is complete
    closed,    ///< the peer closed: reason()
    control,   ///< dealt with
    handshake, ///< to a server, that begins one: answer with a server_gate; changes nothing here
    restart,   ///< to a server: the peer has proven with its token that it restarts; drop this connection
    connless,  ///< for parse_connless
    dropped,   ///< not of this connection, or damaged: error
};

/// The result of receiving a datagram.
struct received {
    received_kind kind = received_kind::dropped; ///< what it was
    failure error{};                             ///< why it was dropped
};

/// 1.8 KiB beside its memory.
class connection {
public:
    /// A client, which begins its handshake with the next poll(). `token` is a random number of the caller's, not 0 and
    /// not no_token; 0.7 and 0.6.5 use it. DDNet's offer turns into plain 0.6 when the server knows no tokens.
    template <std::size_t bytes, std::size_t chunks>
    static connection client(wire_format format, std::uint32_t token, connection_memory<bytes, chunks>& memory,
                             milliseconds now, connection_options const& options = {}) noexcept {
        return {connection_role::client, format, {token, no_token}, memory.ring, memory.sent, now, options};
    }
    /// A server's side of a handshake that a server_gate has accepted.
    template <std::size_t bytes, std::size_t chunks>
    static connection server(wire_format format, connection_tokens tokens, connection_memory<bytes, chunks>& memory,
                             milliseconds now, connection_options const& options = {}) noexcept {
        return {connection_role::server, format, tokens, memory.ring, memory.sent, now, options};
    }

    /// Takes a datagram of the peer's address. Packets that are not of this connection change nothing. `memory` holds
    /// the decompressed payload, and with it the chunks, until it is used again; it may serve many connections.
    /// Errors: those of parse_packet (strict), decode_payload and parse_control; bad_token; bad_sequence; closed.
    received receive(std::span<std::uint8_t const> datagram, milliseconds now, payload_memory& memory) noexcept;

    /// The next chunk of the packet received last: vital ones once and in order, others as they come. Call it until it
    /// gives false before the next receive(), or vital chunks are taken for lost and sent again.
    bool next_chunk(chunk& out) noexcept;

    /// Adds a message to the packet that is being filled. Errors: closed (also before it is online); too_large, larger
    /// than max_chunk_bytes; output_full when the packet has no room: fetch it with poll() and try again; too_many_items when
    /// a vital message finds no room for its repetition: wait until the peer acknowledges, see vital_room().
    failure queue(std::span<std::uint8_t const> message, bool vital, milliseconds now) noexcept;

    /// The same, and hands the packets that have to go before to `send(std::span<std::uint8_t const>)`.
    template <class Send>
    failure queue(std::span<std::uint8_t const> message, bool vital, milliseconds now, packet_memory& out,
                  Send&& send) noexcept {
        for (;;) {
            failure const error = queue(message, vital, now);
            if (error.code != errc::output_full) return error;
            send(poll(now, out));
        }
    }

    /// Lets the next poll() give the packet that is being filled. Without it, that happens when it is full, or half a
    /// second after its first message.
    void flush() noexcept { flush_ = true; }

    /// The next datagram to send, in `out`, or an empty span when there is nothing to send by now. Call it until then:
    /// after receive(), queue() and flush(), and when next_poll() has come. Does repetitions, keep-alives, the steps
    /// of the handshake and time-outs.
    std::span<std::uint8_t const> poll(milliseconds now, packet_memory& out) noexcept;
    /// When poll() will have something to do without further calls.
    [[nodiscard]] milliseconds next_poll() const noexcept;

    /// Closes; poll() gives one more datagram that says so to the peer. `reason` has to live until then.
    void close(std::string_view reason = {}) noexcept;

    /// Which side this is.
    [[nodiscard]] connection_role role() const noexcept { return role_; }
    /// Where it stands.
    [[nodiscard]] connection_state state() const noexcept { return state_; }
    /// Why it was closed, or none.
    [[nodiscard]] close_cause cause() const noexcept { return cause_; }
    /// The reason that the peer gave for closing; at most 127 bytes of it, valid UTF-8 or not.
    [[nodiscard]] std::string_view reason() const noexcept { return {reason_.data(), reason_size_}; }
    /// How its packets are laid out; a client of DDNet's falls back to plain 0.6.
    [[nodiscard]] wire_format format() const noexcept { return format_; }
    /// Both tokens, as far as they are known.
    [[nodiscard]] connection_tokens tokens() const noexcept { return tokens_; }

    /// Vital chunks that the peer has not acknowledged.
    [[nodiscard]] std::size_t unacknowledged() const noexcept { return sent_count_; }
    /// Whether queue() would take a vital message of so many bytes, now or after poll().
    [[nodiscard]] bool vital_room(std::size_t bytes) const noexcept;
    /// When the last valid packet came.
    [[nodiscard]] milliseconds last_received() const noexcept { return last_received_; }
    /// Vital chunks sent again, and requests for that sent to the peer.
    [[nodiscard]] std::uint32_t repeated() const noexcept { return repeated_; }
    /// Requests to send again that were sent to the peer.
    [[nodiscard]] std::uint32_t gaps() const noexcept { return gaps_; }

private:
    connection(connection_role role, wire_format format, connection_tokens tokens, std::span<std::uint8_t> ring,
               std::span<sent_chunk> sent, milliseconds now, connection_options const& options) noexcept;

    [[nodiscard]] sent_chunk& sent(std::size_t i) const noexcept { return sent_[(sent_first_ + i) % sent_.size()]; }
    [[nodiscard]] bool place(std::size_t size, std::size_t& begin) const noexcept;
    [[nodiscard]] packet_head head() const noexcept;
    [[nodiscard]] bool has_token(packet const& p, std::span<std::uint8_t const>& payload) const noexcept;
    [[nodiscard]] bool acknowledge(std::uint16_t ack) noexcept;
    received receive_handshake(control_message const& m, packet const& p, milliseconds now) noexcept;
    received receive_control(control_message const& m, packet const& p, milliseconds now) noexcept;
    bool repeat(sent_chunk& c, milliseconds now) noexcept;
    bool repeat_asked(milliseconds now) noexcept;
    void set_format(wire_format format) noexcept;
    void go_online(milliseconds now) noexcept;
    void fail(close_cause cause) noexcept;
    std::span<std::uint8_t const> write(milliseconds now, packet_memory& out) noexcept;
    std::span<std::uint8_t const> write(control_message const& m, milliseconds now, packet_memory& out) noexcept;

    connection_role role_;
    connection_state state_;
    close_cause cause_ = close_cause::none;
    wire_format format_;
    connection_tokens tokens_;
    connection_options options_;

    std::span<std::uint8_t> ring_;
    std::span<sent_chunk> sent_;
    std::size_t sent_first_ = 0;
    std::size_t sent_count_ = 0;
    std::size_t repeat_begin_ = 0; // chunks that the peer has asked for again
    std::size_t repeat_end_ = 0;

    std::uint16_t sequence_ = 0; // of the vital chunk queued last
    std::uint16_t ack_ = 0;      // of the vital chunk received last in order
    std::uint16_t peer_ack_ = 0;

    milliseconds started_ = 0;
    milliseconds last_received_ = 0;
    milliseconds last_sent_ = 0;
    milliseconds filled_since_ = 0;
    milliseconds next_step_ = 0;       // of a client's handshake
    milliseconds next_gap_ = 0;        // before that no request to send again
    milliseconds next_overdue_ = 0;    // before that no further repetition of what is not acknowledged
    milliseconds next_repetition_ = 0; // before that no answer to one

    bool flush_ = false;
    bool gap_ = false;          // a vital chunk is missing
    bool heard_chunks_ = false; // a client of DDNet's repeats its accept until then
    bool answer_ = false;       // a server of 0.7 repeats its accept
    bool tell_close_ = false;
    bool new_handshake_ = false; // a server: a connect came in the middle
    std::string_view own_reason_;
    std::array<char, 127> reason_{};
    std::size_t reason_size_ = 0;
    std::uint32_t repeated_ = 0;
    std::uint32_t gaps_ = 0;

    chunk_reader chunks_;
    packet_writer writer_;
};

} // namespace teewire
