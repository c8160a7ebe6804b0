// The fields of every message that is known, for tools that show them.
#pragma once

#include <teewire/message_types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// Who sends a message.
enum class message_sender : std::uint8_t { server, client, both, recorder, nobody };
/// "server", "client", "both", "recorder" (it occurs in demos alone), "nobody".
[[nodiscard]] std::string_view name(message_sender s) noexcept;

struct message_field {
    std::string_view name;
    /// "int", "bool", "text", "uuid", "sha256", or with all bytes up to the end "data", "ints" and "texts", or with a size
    /// in bytes before them "sized_data" and "sized_ints".
    std::string_view type;
    std::size_t count = 1;
    bool optional = false; ///< programs leave it out, and everything behind it
};

/// Null if the protocol has no such message.
struct message_layout {
    message_sender sender;
    std::vector<message_field> fields; ///< in the order in which they are sent
};
[[nodiscard]] std::optional<message_layout> find_layout(message_type type, protocol p);
/// Whether the protocol has that message.
[[nodiscard]] bool has_message(message_type type, protocol p) noexcept;

/// "chat"; "uuid_..." or "game_60" if it is not known, as unknown items are "type_60".
[[nodiscard]] std::string name_message(message const& m, message_type type);

/// The fields with their values, for people: "timeout 0, description "", reason """. Nothing if the message has other
/// fields than it should.
[[nodiscard]] std::optional<std::string> fields_text(message const& m, message_type type, protocol p);
/// The same as a JSON object, with all bytes in hexadecimal. {"data": "..."} if they are not known, or others.
[[nodiscard]] std::string fields_json(message const& m, message_type type, protocol p);

} // namespace teewire::replay
