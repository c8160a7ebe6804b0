// Writing JSON.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>

namespace teewire::replay {

using json_writer = rapidjson::Writer<rapidjson::StringBuffer>;

/// The text must be UTF-8.
inline void write_string(json_writer& json, std::string_view text) {
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}
inline void write_key(json_writer& json, std::string_view key) {
    json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}

} // namespace teewire::replay
