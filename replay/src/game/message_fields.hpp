// The fields of every message that is known, for tools that show them.
#pragma once

#include <teewire/message_types.hpp>
#include <teewire/packer.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace teewire::replay {

/// The sender of a message.
enum class message_sender : std::uint8_t { server, client, both, recorder, nobody };
/// "server", "client", "both", "recorder" (only in demos), "nobody".
[[nodiscard]] std::string_view name(message_sender s) noexcept;

enum class message_field_kind : std::uint8_t {
    integer,
    boolean,
    crc, ///< an int, which people see in hexadecimal
    text,
    uuid,
    sha256,
    texts, ///< up to the end, as are ints and data
    ints,
    data,
    sized_data, ///< with the size in bytes before it
    sized_ints, ///< the same
};
/// "int", "bool", "text", ..., "sized_ints"; a crc is an "int".
[[nodiscard]] std::string_view name(message_field_kind kind) noexcept;

struct message_field {
    std::string_view name;
    message_field_kind kind = message_field_kind::integer;
    field_content content = field_content::none; ///< of a text, and of data and UUIDs
    std::size_t count = 1;
    bool optional = false; ///< programs leave it out, and everything after it
};

/// Whose messages to expect in a recording with items of `p`: those of DDNet also where only items of 0.6 were seen.
[[nodiscard]] constexpr protocol messages_of(protocol p) noexcept {
    return p == protocol::teeworlds_06 ? protocol::ddnet : p;
}

/// Null if the protocol has no such message.
struct message_layout {
    message_sender sender;
    std::span<message_field const> fields; ///< in the order in which they are sent
};
[[nodiscard]] std::optional<message_layout> find_layout(message_type type, protocol p);
/// Reads past a field.
void skip(message_field const& f, unpacker& in);
/// Whether nothing is left but the zeros that fill up messages of demos to a multiple of four bytes.
[[nodiscard]] bool at_end(unpacker const& in) noexcept;
/// Whether the protocol has that message.
[[nodiscard]] bool has_message(message_type type, protocol p) noexcept;

/// "chat"; "uuid_..." or "game_60" if it is not known, as unknown items are "type_60".
[[nodiscard]] std::string name_message(message const& m, message_type type);

/// The fields with their values, for people: "timeout 0, description "", reason """. Passwords are not shown. Nothing if
/// the message has other fields than it should; `wrong_at` is then the byte of its fields where that shows.
[[nodiscard]] std::optional<std::string> fields_text(message const& m, message_type type, protocol p,
                                                     std::size_t* wrong_at = nullptr);
/// The same as a JSON object, with all bytes in hexadecimal. {"data": "..."} if they are not known, or others.
[[nodiscard]] std::string fields_json(message const& m, message_type type, protocol p);

} // namespace teewire::replay
