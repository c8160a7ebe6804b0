// Text inside maps.
#pragma once

#include <cstddef>
#include <string_view>

namespace teewire::map_detail {

/// Without overlong forms and surrogates, up to U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

} // namespace teewire::map_detail
