#include "cli/examine_files.hpp"
#include "map/document.hpp"
#include "map/json_info.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <optional>

namespace teewire::replay {
namespace {

struct map_info_options {
    std::vector<std::string> files;
    output_choice to;
    std::string format = "text";
    std::optional<shard> part;
};

void line(text_buffer& out, std::string_view label, std::string const& value) {
    out.print("{:11}{}\n", label, value);
}

void print_problems(text_buffer& out, problem_list const& problems) {
    if (problems.empty()) return line(out, "problems", "none");
    constexpr std::size_t shown = 10;
    for (std::size_t i = 0; i < std::min(problems.size(), shown); ++i)
        line(out, i == 0 ? "problems" : "",
             fmt::format("{}: {}", name(problems[i].severity), problem_text(problems[i])));
    if (problems.size() > shown)
        line(out, "", fmt::format("and {} more, which `teewire map check` shows", problems.size() - shown));
}

void print_head(text_buffer& out, map_source const& source, std::string const& format) {
    line(out, "file", printable(source.name()));
    if (!source.name_in_demo().empty()) line(out, "map", fmt::format("{}, in the demo", source.name_in_demo()));
    line(out, "format", fmt::format("{}, {}", format, size_text(source.bytes().size())));
    line(out, "crc", crc32_text(source.bytes()));
    line(out, "sha256", sha256_text(source.bytes()));
}

// ---- Teeworlds and DDNet -------------------------------------------------------------------------------------------

std::string in_quotes(std::string const& name) {
    return name.empty() ? "" : fmt::format(" \"{}\"", printable(name));
}

std::string layer_text(map_layer const& layer, game_map const& map) {
    auto const image = [&](std::int32_t index) -> std::string {
        if (index < 0 || static_cast<std::size_t>(index) >= map.images.size()) return "";
        return fmt::format(", image {}", printable(map.images[static_cast<std::size_t>(index)].name.text));
    };
    std::string text;
    if (tile_layer const* const tiles = layer.tiles())
        text = fmt::format("{} {} x {}{}", name(tiles->kind), tiles->width, tiles->height, image(tiles->image));
    else if (quad_layer const* const quads = layer.quads())
        text = counted(quads->quads.size(), "quad") + image(quads->image);
    else if (sound_layer const* const sounds = layer.sounds())
        text = counted(sounds->sources.size(), "sound source");
    else text = "unknown layer";
    constexpr std::int32_t detail = 1;
    return text + in_quotes(layer.name) + ((layer.flags & detail) != 0 ? ", detail" : "");
}

// How often the tiles occur that decide how a map is played.
std::string game_tiles_text(tile_layer const& game) {
    struct kind {
        std::uint8_t index;
        std::string_view name;
        bool entity; ///< to be counted, not measured
    };
    constexpr kind kinds[] = {{game_tile::solid, "hookable", false},
                              {game_tile::unhookable, "unhookable", false},
                              {game_tile::death, "death", false},
                              {game_tile::freeze, "freeze", false},
                              {11, "unfreeze", false},
                              {33, "start", false},
                              {34, "finish", false},
                              {192, "spawn", true},
                              {193, "red spawn", true},
                              {194, "blue spawn", true},
                              {195, "red flag", true},
                              {196, "blue flag", true}};
    std::string text;
    for (kind const& k : kinds) {
        auto const count = static_cast<std::uint64_t>(
            std::count_if(game.tiles.begin(), game.tiles.end(), [&](tile const& t) { return t.index == k.index; }));
        if (count == 0) continue;
        text += text.empty() ? "" : ", ";
        text += k.entity ? counted(count, k.name) : fmt::format("{} {}", count, k.name);
    }
    return text;
}

void print_map(text_buffer& out, game_map const& map) {
    if (map.info) {
        std::pair<char const*, map_text const*> const texts[] = {{"author", &map.info->author},
                                                                 {"version", &map.info->map_version},
                                                                 {"credits", &map.info->credits},
                                                                 {"license", &map.info->license}};
        for (auto const& [label, text] : texts)
            if (!text->text.empty()) line(out, label, printable(text->text));
        for (std::size_t i = 0; i < map.info->settings.size(); ++i)
            line(out, i == 0 ? "settings" : "", printable(map.info->settings[i]));
    }
    if (tile_layer const* const game = map.find(tile_kind::game)) {
        line(out, "size", fmt::format("{} x {} tiles", game->width, game->height));
        line(out, "game tiles", game_tiles_text(*game));
    }
    for (std::size_t i = 0; i < map.images.size(); ++i) {
        map_image const& image = map.images[i];
        line(out, i == 0 ? "images" : "",
             fmt::format("{:3} {}, {} x {}, {}", i, printable(image.name.text), image.width, image.height,
                         image.external ? "external" : "embedded"));
    }
    for (std::size_t i = 0; i < map.sounds.size(); ++i)
        line(out, i == 0 ? "sounds" : "",
             fmt::format("{:3} {}, {}", i, printable(map.sounds[i].name.text),
                         size_text(map.sounds[i].data.size())));
    if (!map.envelopes.empty())
        line(out, "envelopes", fmt::format("{}, {}", map.envelopes.size(), counted(map.points.size(), "point")));
    for (std::size_t i = 0; i < map.groups.size(); ++i) {
        map_group const& group = map.groups[i];
        line(out, i == 0 ? "groups" : "",
             fmt::format("{:3}{}, parallax {} {}{}", i, in_quotes(group.name), group.parallax_x, group.parallax_y,
                         group.clipping ? ", clipped" : ""));
        for (map_layer const& layer : map.layers_of(group)) line(out, "", "      " + layer_text(layer, map));
    }
}

void print_text(text_buffer& out, map_source const& source, map_document const& document) {
    print_head(out, source,
               document.container ? fmt::format("datafile version {}, {}, {}", document.container->version(),
                                                counted(document.container->item_count(), "item"),
                                                counted(document.container->block_count(), "block"))
                                  : "damaged datafile");
    if (document.map) print_map(out, *document.map);
    print_problems(out, document.problems);
}

// ---- xVector -------------------------------------------------------------------------------------------------------

void print_text(text_buffer& out, map_source const& source, xvector_document const& document) {
    if (!document.header) {
        print_head(out, source, "damaged xVector map");
        return print_problems(out, document.problems);
    }
    xvector_header const& h = *document.header;
    print_head(out, source,
               fmt::format("xVector map, revision {}{}", h.version,
                           h.layout == xvector_layout::original_program ? ", layout of the original program" : ""));
    line(out, "name", printable(h.name));
    line(out, "size",
         fmt::format("{} x {} tiles, {}, players in layer {}", h.width, h.height, counted(h.depth, "layer"),
                     h.player_depth));
    line(out, "tiles", fmt::format("{} of {} cells", document.tiles.size(), h.cells()));
    std::pair<char const*, std::string_view> const borders[] = {
        {"north", h.north}, {"east", h.east}, {"south", h.south}, {"west", h.west}};
    for (auto const& [label, text] : borders)
        if (!text.empty()) line(out, label, printable(text));
    if (!h.background.empty())
        line(out, "background",
             fmt::format("{}, scroll {} {}, parallax {} {}{}", printable(h.background), h.scroll_x, h.scroll_y,
                         h.parallax_x, h.parallax_y,
                         h.background_ignored() ? ", not used next to other maps" : ""));
    if (h.stripped()) line(out, "stripped", "data that only servers need has been removed");
    print_problems(out, document.problems);
}

// ---- files ---------------------------------------------------------------------------------------------------------

template <class Document, class WriteJson>
report to_report(map_source const& source, Document const& document, bool usable, map_info_options const& options,
                 WriteJson write_json) {
    text_buffer out;
    if (options.format == "ndjson") {
        json_line{}.print(out, [&](object_writer& line) { write_json(line, source, document); });
    } else {
        print_text(out, source, document);
    }
    return {usable ? exit_ok : exit_bad_input, std::string{out.view()}, {}};
}

report describe_map(std::string const& file, map_info_options const& options) {
    map_source const source{file};
    if (source.format() == map_format::xvector) {
        auto const document = read_xvector(source);
        return to_report(source, document, document.header && !any_error(document.problems), options,
                         write_xvector_json);
    }
    known_blocks known;
    auto const learn = [&](std::int32_t block, std::span<std::uint8_t const> content) {
        if (options.format == "ndjson" && !interrupted() && !known.contains(block))
            known.emplace(block, facts_of(content));
    };
    auto const document = read_document(source, learn);
    return to_report(source, document, document.container.has_value(), options,
                     [&](object_writer& line, map_source const& from, map_document const& of) {
                         write_map_json(line, from, of, known);
                     });
}

int map_info(map_info_options options) {
    if (options.part && !take_part(*options.part, options.files, options.to)) return exit_ok;
    output out{options.to, options.files};
    return out.finish(
        examine_files(options.files, 0, out, [&](std::size_t i, workers&, std::atomic<std::uint64_t>&) {
            report r = describe_map(options.files[i], options);
            if (options.format == "text" && i + 1 != options.files.size()) r.out += "\n";
            return r;
        }));
}

} // namespace

verb const map_info_verb{
    "info", "Show what is in maps", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<map_info_options>();
        options.files(chosen->files, folder_content::maps,
                      "maps, folders of maps, demos (for the map in them), or - for standard input");
        options.output(chosen->to);
        options.format(chosen->format, {"text", "ndjson"}, "text, or ndjson: one object per file");
        options.part(chosen->part);
        options.examples({"map info dm1.map", "map info --format ndjson *.map | jq .crc32"});
        return [chosen] { return map_info(*chosen); };
    }};

} // namespace teewire::replay
