#include "game/message_texts.hpp"

#include "game/message_fields.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

// Reads past a field that has no text.
void skip(message_field const& f, unpacker& in) {
    auto const size = [&] { return static_cast<std::size_t>(std::max(0, in.read_int())); };
    if (f.type == "uuid") static_cast<void>(in.read_raw(16));
    else if (f.type == "sha256") static_cast<void>(in.read_raw(32));
    else if (f.type == "data" || f.type == "ints") static_cast<void>(in.read_raw(in.rest().size()));
    else if (f.type == "sized_data") static_cast<void>(in.read_raw(size()));
    else if (f.type == "sized_ints")
        for (std::size_t left = size() / 4; left > 0 && in.ok(); --left) static_cast<void>(in.read_int());
    else static_cast<void>(in.read_int());
}

} // namespace

std::optional<std::vector<std::uint8_t>>
rewrite_texts(std::span<std::uint8_t const> bytes, protocol p,
              std::function<std::string(std::string_view field, std::string_view text)> const& change) {
    auto const m = parse_message(bytes);
    if (!m) return {};
    auto const layout = find_layout(identify(*m, p), p);
    if (!layout) return {};
    std::vector<std::uint8_t> out{bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(m->fields.size())};
    unpacker in{m->fields};
    auto const text = [&](std::string_view field) {
        std::string const changed = change(field, in.read_string());
        out.insert(out.end(), changed.begin(), changed.end());
        out.push_back(0);
    };
    for (message_field const& f : layout->fields) {
        if (f.optional && in.rest().empty()) break;
        for (std::size_t i = 0; i < f.count && in.ok(); ++i) {
            if (f.type == "text") {
                text(f.name);
            } else if (f.type == "texts") {
                // One that demos have filled up with zeros ends with empty texts.
                while (in.ok() && !in.rest().empty()) text(f.name);
            } else {
                std::size_t const begin = in.position();
                skip(f, in);
                auto const raw = m->fields.subspan(begin, in.position() - begin);
                out.insert(out.end(), raw.begin(), raw.end());
            }
        }
    }
    constexpr std::size_t most_padding = 3; // of messages out of demos
    auto const rest = in.rest();
    bool const padding =
        rest.size() <= most_padding && std::all_of(rest.begin(), rest.end(), [](std::uint8_t b) { return b == 0; });
    if (!in.ok() || !padding) return {};
    return out;
}

} // namespace teewire::replay
