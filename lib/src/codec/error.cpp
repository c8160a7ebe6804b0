#include "teewire/error.hpp"

namespace teewire {

std::string_view describe(errc code) noexcept {
    switch (code) {
    case errc::ok: return "no error";
    case errc::truncated: return "the data ends too early";
    case errc::bad_varint: return "a variable-length int is over-long or has surplus bits";
    case errc::bad_magic: return "not a file of this type";
    case errc::bad_version: return "unsupported version";
    case errc::bad_count: return "a count is negative or above the limit";
    case errc::bad_length: return "the parts do not add up to the stated length";
    case errc::bad_offset: return "an item offset is unaligned, outside the data or not increasing";
    case errc::bad_type: return "an item type is outside 0..32767";
    case errc::bad_id: return "an item id is outside 0..65535";
    case errc::bad_item_size: return "an item size is negative or too large";
    case errc::size_mismatch: return "an item changes its size, or has another than agreed";
    case errc::duplicate_key: return "the same item key occurs twice";
    case errc::bad_tick: return "a tick is out of range or relative to nothing";
    case errc::missing_snapshot: return "a delta comes before any full snapshot";
    case errc::bad_text: return "a text field has no terminator";
    case errc::bad_flags: return "the flags of a packet make no sense";
    case errc::bad_token: return "a packet without the token of its connection";
    case errc::bad_sequence: return "a packet acknowledges what was never sent";
    case errc::bad_checksum: return "a snapshot has another checksum than it was sent with";
    case errc::output_full: return "the output does not fit its memory";
    case errc::too_many_items: return "too many items";
    case errc::too_large: return "larger than the limit";
    case errc::too_many_types: return "too many extended item types";
    case errc::unknown_tick: return "no snapshot of that tick is held";
    case errc::closed: return "the connection is closed";
    }
    return "unknown error";
}

std::string_view describe(note kind) noexcept {
    switch (kind) {
    case note::overlong_varint: return "variable-length int longer than needed";
    case note::dirty_varint: return "surplus bits in the last byte of a variable-length int";
    case note::data_after_end: return "data after the end of compressed data";
    case note::unused_header_int: return "unused header int of a delta is not zero";
    case note::update_count: return "update count of a delta disagrees with its content";
    case note::unknown_removed_key: return "delta removes an item that does not exist";
    case note::repeated_key: return "item key occurs twice";
    case note::unsigned_key_half: return "item type or id outside the legal range, read as unsigned 16 bits";
    case note::gap_before_items: return "first item offset of a snapshot is not zero";
    case note::tick_order: return "tick does not increase";
    case note::early_message: return "message before the first tick";
    case note::header_text: return "header text without terminator";
    case note::unknown_chunk: return "chunk of the unused type 0";
    case note::packet_flags: return "packet flags that make no sense together";
    }
    return "unknown note";
}

} // namespace teewire
