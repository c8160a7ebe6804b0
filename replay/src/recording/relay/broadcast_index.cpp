#include "recording/relay/broadcast_index.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace teewire::replay {
namespace {

constexpr std::size_t max_recordings = 1000;

std::optional<std::array<std::uint8_t, 32>> read_sha256(std::string_view text) {
    std::array<std::uint8_t, 32> out{};
    if (text.size() != 2 * out.size()) return {};
    for (std::size_t i = 0; i < out.size(); ++i) {
        auto const [end, error] = std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, out[i], 16);
        if (error != std::errc{} || end != text.data() + 2 * i + 2) return {};
    }
    return out;
}

} // namespace

std::optional<broadcast_index> broadcast_index::parse(std::span<std::uint8_t const> text) {
    rapidjson::Document json;
    // Without recursion, because the depth is unknown.
    json.Parse<rapidjson::kParseIterativeFlag>(reinterpret_cast<char const*>(text.data()), text.size());
    if (json.HasParseError() || !json.IsObject()) return {};
    auto const member = [](auto const& object, char const* name) -> rapidjson::Value const* {
        auto const found = object.FindMember(name);
        return found == object.MemberEnd() ? nullptr : &found->value;
    };
    auto const* const list = member(json, "recordings");
    if (list == nullptr || !list->IsArray() || list->Size() > max_recordings) return {};
    broadcast_index out;
    for (auto const& one : list->GetArray()) {
        if (!one.IsObject()) return {};
        auto const string = [&](auto const& object, char const* name) -> std::string_view {
            auto const* const value = member(object, name);
            return value != nullptr && value->IsString()
                       ? std::string_view{value->GetString(), value->GetStringLength()}
                       : std::string_view{};
        };
        entry e;
        e.id = string(one, "id");
        if (e.id.size() != 16 || e.id.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
        constexpr std::array versions{protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07};
        auto const version = std::find_if(versions.begin(), versions.end(),
                                          [&](protocol p) { return name(p) == string(one, "protocol"); });
        if (version == versions.end()) return {};
        e.version = *version;
        auto const* const first = member(one, "first");
        auto const* const last = member(one, "last");
        auto const* const ended = member(one, "ended");
        constexpr std::uint64_t most = std::uint64_t{1} << 60;
        if (first == nullptr || last == nullptr || ended == nullptr || !first->IsUint64() || !last->IsUint64() ||
            !ended->IsBool() || first->GetUint64() > last->GetUint64() || last->GetUint64() > most)
            return {};
        e.first = first->GetUint64();
        e.last = last->GetUint64();
        e.ended = ended->GetBool();
        if (auto const* const map = member(one, "map"); map != nullptr && map->IsObject()) {
            e.map.name = string(*map, "name");
            e.map.sha256 = read_sha256(string(*map, "sha256"));
            auto const* const size = member(*map, "size");
            if (size != nullptr && size->IsUint64() && size->GetUint64() <= max_map_bytes)
                e.map.size = static_cast<std::size_t>(size->GetUint64());
            std::string_view const crc = string(*map, "crc");
            static_cast<void>(std::from_chars(crc.data(), crc.data() + crc.size(), e.map.crc, 16));
            e.has_map = e.map.sha256 && !string(*map, "path").empty();
        }
        out.recordings.push_back(std::move(e));
    }
    return out;
}

} // namespace teewire::replay
