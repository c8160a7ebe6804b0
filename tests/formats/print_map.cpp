#include "printers.hpp"

#include <teewire/map/map.hpp>
#include <teewire/map/xvector.hpp>

#include <memory>

namespace examples {

using namespace teewire;

namespace {

std::string problem_text(map_problem const& p) {
    return say(name(p.severity), " at ", p.position, ": ", describe(p.code));
}

struct problems {
    lines found;
    void operator()(map_problem const& p) { found.push_back(problem_text(p)); }
};

lines print_datafile(bytes const& data) {
    problems report;
    datafile_options options;
    options.report = report;
    auto const file = datafile::open(data, options);
    if (!file) return {problem_text(file.error())};
    lines out{say("version ", file->version(), ", ", file->magic(), ", crc ", std::hex, map_crc32(data))};
    for (std::size_t i = 0; i < file->item_count(); ++i) {
        auto const item = file->item(i);
        std::string ints;
        for (std::size_t n = 0; n < item.ints.size(); ++n) ints += say(" ", item.ints[n]);
        out.push_back(say(item.position, ": type ", item.type, ", id ", item.id, ":", ints));
    }
    auto const memory = std::make_unique<inflate_memory>();
    for (std::size_t i = 0; i < file->block_count(); ++i) {
        auto const block = file->block(i);
        auto const number = static_cast<std::int32_t>(i);
        auto const size = file->block_size(number);
        bytes plain(size ? *size : 0);
        auto const read = file->read_block(number, plain, *memory, report);
        out.push_back(say(block.position, ": block ", i, ": ", read ? hex(*read) : problem_text(read.error())));
    }
    out.insert(out.end(), report.found.begin(), report.found.end());
    return out;
}

std::string layer_text(map_layer const& layer) {
    if (auto const* const t = layer.tiles()) {
        std::string cells;
        for (auto const& cell : t->tiles) cells += say(" ", int{cell.index});
        return say(name(t->kind), " ", t->width, " x ", t->height, " ", quoted(layer.name), ":", cells);
    }
    if (auto const* const q = layer.quads()) return say(q->quads.size(), " quads ", quoted(layer.name));
    if (auto const* const s = layer.sounds()) return say(s->sources.size(), " sources ", quoted(layer.name));
    return "unknown";
}

lines print_game_map(bytes const& data) {
    problems report;
    auto const file = datafile::open(data);
    if (!file) return {problem_text(file.error())};
    game_map map;
    map_read_options options;
    options.report = report;
    if (auto const problem = read_map(*file, map, options); problem.code != map_errc::ok)
        return {problem_text(problem)};
    lines out;
    if (map.info) out.push_back("author " + quoted(map.info->author.text));
    for (auto const& i : map.images)
        out.push_back(
            say("image ", quoted(i.name.text), ", ", i.width, " x ", i.height, i.external ? ", external" : ""));
    for (auto const& e : map.envelopes)
        out.push_back(say("envelope ", quoted(e.name), ", ", e.channels, " channels, ", e.point_count, " points"));
    for (auto const& g : map.groups) {
        out.push_back(say("group ", quoted(g.name), ", parallax ", g.parallax_x, " ", g.parallax_y));
        for (auto const& layer : map.layers_of(g)) out.push_back("  " + layer_text(layer));
    }
    out.insert(out.end(), report.found.begin(), report.found.end());
    return out;
}

std::vector<tile> tiles_of(bytes const& data) {
    std::vector<tile> tiles;
    for (std::size_t i = 0; i + 4 <= data.size(); i += 4)
        tiles.push_back({data[i], data[i + 1], data[i + 2], data[i + 3]});
    return tiles;
}

lines print_packed(bytes const& data, std::size_t cells) {
    std::vector<tile> out(cells);
    auto const overshoot = expand_tiles(tiles_of(data), out);
    if (!overshoot) return {say("tile ", overshoot.error().position, ": ", describe(overshoot.error().code))};
    std::string text;
    for (auto const& t : out)
        text += say(text.empty() ? "" : " ", int{t.index}, t.flags != 0 ? say("/", int{t.flags}) : "");
    if (*overshoot != 0) text += say(", ", *overshoot, " too many");
    return {text};
}

// Ints of a name, little-endian as in the file.
lines print_name(bytes const& data) {
    item_ints const stored{data};
    std::vector<std::int32_t> ints;
    for (std::size_t i = 0; i < stored.size(); ++i) ints.push_back(stored[i]);
    auto const name = unpack_name(ints);
    return {name ? quoted(*name) : "not UTF-8"};
}

lines print_xvector(bytes const& data) {
    problems report;
    xvector_options options;
    options.report = report;
    auto const opened = xvector_reader::open(data, options);
    if (!opened) return {problem_text(opened.error())};
    xvector_reader reader = *opened;
    auto const& h = reader.header();
    lines out{say(h.layout == xvector_layout::revision_1 ? "Revision 1" : "the original program's layout", ", ",
                  quoted(h.name), ", ", h.width, " x ", h.height, " x ", h.depth, ", players at ", h.player_depth,
                  h.stripped() ? ", stripped" : "")};
    if (!h.background.empty())
        out.push_back(say("background ", quoted(h.background), ", scroll ", h.scroll_x, " ", h.scroll_y,
                          ", parallax ", h.parallax_x, " ", h.parallax_y));
    for (xvector_tile t; reader.next(t);)
        out.push_back(say("tile ", t.x, " ", t.y, " ", t.z, ": sprite ", t.sprite));
    if (reader.error().code != map_errc::ok) out.push_back(problem_text(reader.error()));
    out.insert(out.end(), report.found.begin(), report.found.end());
    return out;
}

} // namespace

std::optional<lines> print_map(std::vector<std::string> const& words, bytes const& data) {
    auto const& kind = words.at(0);
    if (kind == "datafile") return print_datafile(data);
    if (kind == "map") return print_game_map(data);
    if (kind == "tiles") return print_packed(data, std::stoul(words.at(1)));
    if (kind == "name") return print_name(data);
    if (kind == "xvector") return print_xvector(data);
    return std::nullopt;
}

} // namespace examples
