#include "printers.hpp"

#include <teewire/demo_reader.hpp>

#include <memory>

namespace examples {

using namespace teewire;

namespace {

std::string header_text(demo_header const& h) {
    std::string out = say("version ", int{h.version}, ", ", text(h.net_version), ", map ", text(h.map_name), " of ",
                          h.map_size, " bytes, ", text(h.type), ", ", h.length, " s, ", text(h.timestamp));
    for (auto const tick : h.markers()) out += say(", marker ", tick);
    return out;
}

lines play(std::span<std::uint8_t const> file, std::size_t origin) {
    auto const reader = demo_reader::open(file);
    if (!reader) return {say("refused at ", reader.error().position, ": ", describe(reader.error().code))};
    lines out;
    if (origin == 0) out.push_back(header_text(reader->header()));
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player player{*reader, *memory, {}};
    for (demo_event e; player.next(e);) {
        std::string const at = say(e.position - origin, ": ");
        switch (e.kind) {
        case demo_event_kind::tick: out.push_back(say(at, e.keyframe ? "keyframe, tick " : "tick ", e.tick)); break;
        case demo_event_kind::message: out.push_back(say(at, "message ", hex(e.message))); break;
        case demo_event_kind::snapshot: {
            auto const state = player.state();
            out.push_back(say(at, e.keyframe ? "full snapshot, " : "delta, ", state.size(), " items, checksum ",
                              static_cast<std::int32_t>(state.checksum())));
            break;
        }
        }
    }
    if (auto const& error = player.error(); error.what.code != errc::ok)
        out.push_back(
            say(error.position - origin, ": refused: ", name(error.stage), ": ", describe(error.what.code)));
    return out;
}

} // namespace

std::optional<lines> print_demo(std::vector<std::string> const& words, bytes const& data) {
    if (words.at(0) == "demo") return play(data, 0);
    if (words.at(0) != "chunks") return std::nullopt;
    // Chunks of a file of that version, whose header is not shown.
    demo_header header;
    header.version = static_cast<std::uint8_t>(std::stoi(words.at(1)));
    header.has_sha256 = header.version == 6;
    set_text(header.net_version, "0.6 626fce9a778df4d4");
    bytes file(header.size());
    if (!write_demo_header(header, file)) throw std::runtime_error{"no header of version " + words[1]};
    std::size_t const origin = file.size();
    file.insert(file.end(), data.begin(), data.end());
    return play(file, origin);
}

} // namespace examples
