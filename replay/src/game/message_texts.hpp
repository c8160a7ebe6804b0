// Texts inside of messages, for tools that change them.
#pragma once

#include <teewire/message_types.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// Puts what `change` makes of each text of a message in its place, and keeps all other bytes. `change` gets the name of
/// the field and its text, as sent. Nothing if the protocol has no such message, or it has other fields than it should.
[[nodiscard]] std::optional<std::vector<std::uint8_t>>
rewrite_texts(std::span<std::uint8_t const> bytes, protocol p,
              std::function<std::string(std::string_view field, std::string_view text)> const& change);

} // namespace teewire::replay
