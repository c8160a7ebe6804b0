#include "teewire/connection.hpp"

#include "../codec/bytes.hpp"

#include <algorithm>

namespace teewire {
namespace {

constexpr milliseconds handshake_interval = 500;
constexpr milliseconds flush_interval = 500;
constexpr milliseconds keep_alive_interval = 1000;
constexpr milliseconds repeat_interval = 1000; // of a vital chunk that is not acknowledged
constexpr milliseconds gap_interval = 100;     // between requests to send again, and between answers to them

// How far `b` is ahead of `a`, 0..1023.
constexpr unsigned ahead(std::uint16_t a, std::uint16_t b) noexcept {
    return static_cast<unsigned>(b - a) % sequence_modulus;
}
constexpr std::uint16_t after(std::uint16_t sequence) noexcept {
    return static_cast<std::uint16_t>((sequence + 1) % sequence_modulus);
}

} // namespace

std::string_view describe(close_cause cause) noexcept {
    switch (cause) {
    case close_cause::none: return "open";
    case close_cause::local: return "closed here";
    case close_cause::peer: return "closed by the peer";
    case close_cause::no_answer: return "no answer to the handshake";
    case close_cause::silence: return "nothing received for too long";
    case close_cause::unacknowledged: return "a message was not acknowledged for too long";
    }
    return "unknown cause";
}

connection::connection(connection_role role, wire_format format, connection_tokens tokens,
                       std::span<std::uint8_t> ring, std::span<sent_chunk> sent, milliseconds now,
                       connection_options const& options) noexcept
    : role_{role}, state_{role == connection_role::server ? connection_state::online
                          : format == wire_format::v07    ? connection_state::requesting_token
                                                          : connection_state::connecting},
      format_{format}, tokens_{tokens}, options_{options}, ring_{ring}, sent_{sent}, started_{now},
      last_received_{now}, last_sent_{now}, next_step_{now}, writer_{format} {
    // A server of 0.7 accepts with a message of its own, which the gate has written already.
}

void connection::set_format(wire_format format) noexcept {
    format_ = format;
    writer_.set_format(format);
}

// ---- out -----------------------------------------------------------------------------------------------------------

packet_head connection::head() const noexcept { return {ack_, gap_, tokens_.peer}; }

// Where `size` bytes that stay together go in the ring.
bool connection::place(std::size_t size, std::size_t& begin) const noexcept {
    if (sent_count_ == sent_.size()) return false;
    if (sent_count_ == 0) {
        begin = 0;
        return size <= ring_.size();
    }
    std::size_t const oldest = sent(0).begin;
    sent_chunk const& newest = sent(sent_count_ - 1);
    begin = newest.begin + newest.size;
    if (newest.begin >= oldest) { // the free part is split
        if (size <= ring_.size() - begin) return true;
        begin = 0;
    }
    // Never quite up to the oldest one: an end that meets a begin would look like an empty ring.
    return begin + size < oldest;
}

bool connection::vital_room(std::size_t bytes) const noexcept {
    std::size_t begin = 0;
    return state_ == connection_state::online && place(bytes, begin);
}

failure connection::queue(std::span<std::uint8_t const> message, bool vital, milliseconds now) noexcept {
    if (state_ != connection_state::online) return {errc::closed, 0};
    if (message.size() > max_chunk_bytes(format_)) return {errc::too_large, message.size()};
    std::size_t begin = 0;
    if (vital && !place(message.size(), begin)) return {errc::too_many_items, sent_count_};
    // Chunks that the peer waits for come first, or it would see another gap.
    if (!repeat_asked(now) || !writer_.fits(message.size())) {
        flush_ = true;
        return {errc::output_full, writer_.size()};
    }
    if (writer_.chunks() == 0) filled_since_ = now;
    if (vital) {
        sequence_ = after(sequence_);
        std::copy(message.begin(), message.end(), ring_.begin() + static_cast<std::ptrdiff_t>(begin));
        ++sent_count_;
        sent(sent_count_ - 1) = {static_cast<std::uint32_t>(begin), static_cast<std::uint16_t>(message.size()),
                                 sequence_, now, now};
    }
    writer_.add({vital, false, vital ? sequence_ : std::uint16_t{0}, message});
    return {};
}

// Puts a chunk that was sent before into the packet. False if there is no room.
bool connection::repeat(sent_chunk& c, milliseconds now) noexcept {
    if (!writer_.fits(c.size)) return false;
    if (writer_.chunks() == 0) filled_since_ = now;
    writer_.add({true, true, c.sequence, std::span<std::uint8_t const>{ring_}.subspan(c.begin, c.size)});
    c.last = now;
    flush_ = true;
    ++repeated_;
    return true;
}

bool connection::repeat_asked(milliseconds now) noexcept {
    while (repeat_begin_ < repeat_end_) {
        if (!repeat(sent(repeat_begin_), now)) return false;
        ++repeat_begin_;
    }
    return true;
}

// The packet that is being filled, which may be empty when it asks to send again.
std::span<std::uint8_t const> connection::write(milliseconds now, packet_memory& out) noexcept {
    auto const datagram = writer_.finish(head(), out, options_.ending);
    writer_.clear();
    flush_ = false;
    last_sent_ = now;
    if (gap_) {
        gap_ = false;
        next_gap_ = now + gap_interval;
        ++gaps_;
    }
    return datagram;
}

std::span<std::uint8_t const> connection::write(control_message const& m, milliseconds now,
                                                packet_memory& out) noexcept {
    last_sent_ = now;
    return write_control(m, format_, {ack_, false, tokens_.peer}, out);
}

std::span<std::uint8_t const> connection::poll(milliseconds now, packet_memory& out) noexcept {
    control_message step;
    switch (state_) {
    case connection_state::closed:
        if (!tell_close_) return {};
        tell_close_ = false;
        step.code = control_code::close;
        step.reason = own_reason_;
        return write(step, now, out);
    case connection_state::requesting_token:
    case connection_state::connecting:
        if (now - started_ >= options_.no_answer) {
            fail(close_cause::no_answer);
            return {};
        }
        if (now < next_step_) return {};
        next_step_ = now + handshake_interval;
        step.code = state_ == connection_state::requesting_token ? control_code::token : control_code::connect;
        step.ddnet = format_ == wire_format::ddnet;
        step.token = tokens_.own;
        return write(step, now, out);
    case connection_state::online: break;
    }

    if (now - last_received_ >= options_.silence) fail(close_cause::silence);
    else if (sent_count_ > 0 && now - sent(0).first >= options_.unacknowledged) fail(close_cause::unacknowledged);
    if (state_ == connection_state::closed) return poll(now, out);

    if (answer_) {
        answer_ = false;
        step.code = control_code::connect_accept;
        return write(step, now, out);
    }
    // The server may have missed it, and then ignores everything else. 0.7 and 0.6.5 have no such step.
    if (role_ == connection_role::client && !heard_chunks_ && now >= next_step_ &&
        (format_ == wire_format::ddnet || format_ == wire_format::v06)) {
        next_step_ = now + handshake_interval;
        step.code = control_code::accept;
        return write(step, now, out);
    }

    if (!repeat_asked(now)) return write(now, out);
    // Unacknowledged chunks are sent again, a packet at a time.
    if (now >= next_overdue_) {
        for (std::size_t i = 0; i < sent_count_; ++i) {
            if (now - sent(i).last < repeat_interval) continue;
            if (!repeat(sent(i), now)) return write(now, out);
            next_overdue_ = now + gap_interval;
        }
    }

    bool const waited = writer_.chunks() > 0 && now - filled_since_ >= flush_interval;
    if ((flush_ && writer_.chunks() > 0) || waited || (gap_ && now >= next_gap_)) return write(now, out);
    flush_ = false;
    if (now - last_sent_ >= keep_alive_interval) return write(control_message{}, now, out);
    return {};
}

milliseconds connection::next_poll() const noexcept {
    switch (state_) {
    case connection_state::closed: return tell_close_ ? last_sent_ : INT64_MAX;
    case connection_state::requesting_token:
    case connection_state::connecting: return std::min(next_step_, started_ + options_.no_answer);
    case connection_state::online: break;
    }
    milliseconds next = std::min(last_received_ + options_.silence, last_sent_ + keep_alive_interval);
    if (sent_count_ > 0) next = std::min(next, sent(0).first + options_.unacknowledged);
    for (std::size_t i = 0; i < sent_count_; ++i)
        next = std::min(next, std::max(sent(i).last + repeat_interval, next_overdue_));
    if (writer_.chunks() > 0) next = std::min(next, flush_ ? last_sent_ : filled_since_ + flush_interval);
    if (gap_) next = std::min(next, next_gap_);
    if (repeat_begin_ < repeat_end_ || answer_) next = last_sent_;
    if (role_ == connection_role::client && !heard_chunks_ &&
        (format_ == wire_format::ddnet || format_ == wire_format::v06))
        next = std::min(next, next_step_);
    return next;
}

void connection::close(std::string_view reason) noexcept {
    if (state_ == connection_state::closed) return;
    // Before the server's answer, the other side does not know this connection.
    bool const known = state_ == connection_state::online;
    fail(close_cause::local);
    own_reason_ = reason;
    tell_close_ = known;
}

void connection::fail(close_cause cause) noexcept {
    tell_close_ = cause == close_cause::silence || cause == close_cause::unacknowledged;
    own_reason_ = {};
    state_ = connection_state::closed;
    cause_ = cause;
    writer_.clear();
    chunks_ = {};
    sent_count_ = repeat_begin_ = repeat_end_ = 0;
}

// ---- in ------------------------------------------------------------------------------------------------------------

// Looks for the connection's token, and takes DDNet's off the payload.
bool connection::has_token(packet const& p, std::span<std::uint8_t const>& payload) const noexcept {
    switch (format_) {
    case wire_format::v06: return !p.has_token;
    case wire_format::v06_token:
    case wire_format::v07: return p.has_token && p.token == tokens_.own;
    case wire_format::ddnet: break;
    }
    if (payload.size() < 4 || detail::get_be32(payload, payload.size() - 4) != tokens_.own) return false;
    payload = payload.first(payload.size() - 4);
    return true;
}

// False if the peer cannot have received what it says.
bool connection::acknowledge(std::uint16_t ack) noexcept {
    if (ahead(peer_ack_, ack) > ahead(peer_ack_, sequence_)) return false;
    peer_ack_ = ack;
    while (sent_count_ > 0 && ahead(sent(0).sequence, ack) < sequence_modulus / 2) {
        sent_first_ = (sent_first_ + 1) % sent_.size();
        --sent_count_;
        repeat_begin_ -= repeat_begin_ > 0;
        repeat_end_ -= repeat_end_ > 0;
    }
    return true;
}

void connection::go_online(milliseconds now) noexcept {
    state_ = connection_state::online;
    next_step_ = now; // the accept
}

received connection::receive_handshake(control_message const& m, packet const& p, milliseconds now) noexcept {
    constexpr received control{received_kind::control, {}};
    if (format_ == wire_format::v07) {
        if (p.token != tokens_.own) return {received_kind::dropped, {errc::bad_token, 3}};
        if (m.code == control_code::token && state_ == connection_state::requesting_token) {
            tokens_.peer = m.token;
            state_ = connection_state::connecting;
            started_ = next_step_ = now;
            return control;
        }
        if (m.code != control_code::connect_accept || state_ != connection_state::connecting) return control;
    } else {
        if (m.code != control_code::connect_accept) return control;
        if (format_ == wire_format::v06_token && (!p.has_token || p.token != tokens_.own))
            return {received_kind::dropped, {errc::bad_token, 3}};
        if (format_ == wire_format::v06_token) {
            if (!m.has_token) return {received_kind::dropped, {errc::truncated, p.header + 1}};
            tokens_.own = tokens_.peer = m.token;
        } else if (format_ == wire_format::ddnet && m.ddnet && m.token != 0) {
            tokens_.own = tokens_.peer = m.token;
        } else {
            set_format(wire_format::v06);
            tokens_ = {};
        }
    }
    last_received_ = now;
    go_online(now);
    return {received_kind::online, {}};
}

received connection::receive_control(control_message const& m, packet const& p, milliseconds now) noexcept {
    bool const server = role_ == connection_role::server;
    if (m.code == control_code::close) {
        reason_size_ = std::min(m.reason.size(), reason_.size());
        std::copy_n(m.reason.begin(), reason_size_, reason_.begin());
        fail(close_cause::peer);
        return {received_kind::closed, {}};
    }
    if (server && format_ == wire_format::v07 && m.code == control_code::connect) {
        if (m.token != tokens_.peer) return {received_kind::restart, {}};
        answer_ = true; // the first one was lost
    }
    // A client that was closed without our knowledge connects again from the same address. Its connect proves nothing,
    // the accept does.
    if (server && m.code == control_code::accept && new_handshake_) return {received_kind::restart, {}};
    if (!acknowledge(p.ack)) return {received_kind::dropped, {errc::bad_sequence, 0}};
    last_received_ = now;
    return {received_kind::control, {}};
}

received connection::receive(std::span<std::uint8_t const> datagram, milliseconds now,
                             payload_memory& memory) noexcept {
    auto const drop = [](failure const& error) { return received{received_kind::dropped, error}; };
    chunks_ = {};
    if (state_ == connection_state::closed) return drop({errc::closed, 0});
    if (is_connless(datagram)) return {received_kind::connless, {}};
    auto const p = parse_packet(datagram, format_);
    if (!p) return drop(p.error());

    if (p->control) {
        auto const m = parse_control(p->payload, format_);
        if (!m) return drop({m.error().code, p->header + m.error().position});
        if (state_ != connection_state::online) {
            bool const ours =
                m->code != control_code::close || format_ != wire_format::v07 || p->token == tokens_.own;
            if (m->code == control_code::close && ours && state_ == connection_state::connecting)
                return receive_control(*m, *p, now); // refused
            return receive_handshake(*m, *p, now);
        }
        bool const begins =
            m->code == control_code::token || (m->code == control_code::connect && format_ != wire_format::v07);
        if (begins && role_ == connection_role::server) {
            new_handshake_ = new_handshake_ || m->code == control_code::connect;
            return {received_kind::handshake, {}};
        }
        // Late repetitions of the server's answer do not carry what later packets carry.
        if (role_ == connection_role::client && m->code == control_code::connect_accept)
            return {received_kind::control, {}};
        auto payload = p->payload;
        if (!has_token(*p, payload)) return drop({errc::bad_token, p->header});
        return receive_control(*m, *p, now);
    }

    if (state_ != connection_state::online) return drop({errc::bad_token, 0}); // there is none yet
    // The header's token is looked at before anything costs time.
    if (format_ != wire_format::ddnet) {
        auto none = p->payload;
        if (!has_token(*p, none)) return drop({errc::bad_token, p->header});
    }
    auto const decoded = decode_payload(*p, memory);
    if (!decoded) return drop({decoded.error().code, p->header + decoded.error().position});
    auto payload = *decoded;
    if (format_ == wire_format::ddnet && !has_token(*p, payload)) return drop({errc::bad_token, datagram.size()});
    if (!acknowledge(p->ack)) return drop({errc::bad_sequence, 0});
    last_received_ = now;
    new_handshake_ = false;
    if (p->chunks > 0) heard_chunks_ = true;
    if (p->resend && now >= next_repetition_) {
        repeat_begin_ = 0;
        repeat_end_ = sent_count_;
        next_repetition_ = now + gap_interval;
    }
    chunks_ = chunk_reader{payload, p->chunks, format_};
    return {received_kind::chunks, {}};
}

bool connection::next_chunk(chunk& out) noexcept {
    for (chunk c; chunks_.next(c);) {
        if (c.vital) {
            if (c.sequence != after(ack_)) {
                bool const known = ahead(c.sequence, ack_) < sequence_modulus / 2;
                gap_ = gap_ || !known;
                continue;
            }
            ack_ = c.sequence;
        }
        out = c;
        return true;
    }
    return false;
}

} // namespace teewire
