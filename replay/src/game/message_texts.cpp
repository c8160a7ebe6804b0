#include "game/message_texts.hpp"

namespace teewire::replay {
std::optional<std::vector<std::uint8_t>>
rewrite_texts(std::span<std::uint8_t const> bytes, protocol p,
              std::function<std::string(message_field const& field, std::string_view text)> const& change) {
    auto const m = parse_message(bytes);
    if (!m) return {};
    auto const layout = find_layout(identify(*m, p), p);
    if (!layout) return {};
    std::vector<std::uint8_t> out{bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(m->fields.size())};
    unpacker in{m->fields};
    auto const text = [&](message_field const& f) {
        std::string const changed = change(f, in.read_string());
        out.insert(out.end(), changed.begin(), changed.end());
        out.push_back(0);
    };
    for (message_field const& f : layout->fields) {
        if (f.optional && in.rest().empty()) break;
        for (std::size_t i = 0; i < f.count && in.ok(); ++i) {
            if (f.kind == message_field_kind::text) {
                text(f);
            } else if (f.kind == message_field_kind::texts) {
                // One that demos have filled up with zeros ends with empty texts.
                while (in.ok() && !in.rest().empty()) text(f);
            } else {
                std::size_t const begin = in.position();
                skip(f, in);
                auto const raw = m->fields.subspan(begin, in.position() - begin);
                out.insert(out.end(), raw.begin(), raw.end());
            }
        }
    }
    if (!at_end(in)) return {};
    return out;
}

} // namespace teewire::replay
