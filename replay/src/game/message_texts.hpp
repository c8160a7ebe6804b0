// Texts inside of messages, for tools that change them.
#pragma once

#include "game/message_fields.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// Replaces each text of a message by what `change` returns for it, and keeps all other bytes. `change` is called with the
/// field and its text, as sent. Nothing if the protocol has no such message, or it has other fields than it should.
[[nodiscard]] std::optional<std::vector<std::uint8_t>>
rewrite_texts(std::span<std::uint8_t const> bytes, protocol p,
              std::function<std::string(message_field const& field, std::string_view text)> const& change);

} // namespace teewire::replay
