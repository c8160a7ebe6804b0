#include "base/output.hpp"
#include "map/document.hpp"
#include "map/mapres.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace teewire::replay {
namespace {

struct map_convert_options {
    std::string file;
    output_choice to;
    std::optional<int> datafile; ///< version, 3 or 4
    std::string packing;         ///< "0.6" or "0.7"; empty for neither
    std::optional<int> level;    ///< zlib's
    std::string mapres;          ///< a folder of images
};

using bytes = std::vector<std::uint8_t>;

[[noreturn]] void refuse(map_source const& source, map_problem const& problem) {
    throw bad_input{fmt::format("{}: {}; nothing was written", source.name(), problem_text(problem))};
}

// Nothing but a fault of this program leads here.
[[noreturn]] void not_the_same(map_source const& source, std::string const& what) {
    throw std::logic_error{
        fmt::format("{}: the result differs from the original: {}; nothing was written", source.name(), what)};
}

bool same_ints(item_ints const& a, item_ints const& b) {
    return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

// ---- another container, the same content ---------------------------------------------------------------------------

bytes repack(map_source const& source, datafile const& file, datafile_write_options const& how,
             bool compress_anew) {
    datafile_writer writer{how};
    std::vector<std::int32_t> ints;
    for (std::size_t i = 0; i < file.item_count(); ++i) {
        datafile_item const item = file.item(i);
        ints.clear();
        for (std::size_t k = 0; k < item.ints.size(); ++k) ints.push_back(item.ints[k]);
        writer.add_item(item.type, item.id, ints);
    }
    progress shown{file.block_count()};
    for (std::size_t i = 0; i < file.block_count() && !interrupted(); ++i) {
        shown.update(i, "converting");
        datafile_block const block = file.block(i);
        bool const as_it_is = file.version() == 4 && how.version == 4 && (!compress_anew || block.size == 0);
        if (as_it_is) {
            writer.add_stored_block(block.stored, block.size);
            continue;
        }
        try {
            bytes const content = read_block(file, static_cast<std::int32_t>(i));
            if (content.empty())
                throw usage_error{
                    fmt::format("{}: block {} holds nothing, which version 3 cannot store; nothing was written",
                                source.name(), i)};
            writer.add_block(content);
        } catch (map_problem const& p) {
            refuse(source, p);
        }
    }
    return writer.finish();
}

void compare(map_source const& source, datafile const& before, datafile const& after) {
    if (before.item_count() != after.item_count() || before.type_count() != after.type_count())
        not_the_same(source, "number of items");
    // Types come out sorted.
    for (std::size_t t = 0; t < before.type_count(); ++t) {
        datafile_type const type = before.type(t);
        datafile_type const again = after.find_type(type.type);
        if (type.count != again.count) not_the_same(source, fmt::format("items of type {:#x}", type.type));
        for (std::uint32_t i = 0; i < type.count; ++i) {
            datafile_item const a = before.item(type.first + i);
            datafile_item const b = after.item(again.first + i);
            if (a.id != b.id || !same_ints(a.ints, b.ints))
                not_the_same(source, fmt::format("item {:#x} {}", a.type, a.id));
        }
    }
    if (before.block_count() != after.block_count()) not_the_same(source, "number of blocks");
    for (std::size_t i = 0; i < before.block_count() && !interrupted(); ++i) {
        datafile_block const a = before.block(i);
        datafile_block const b = after.block(i);
        bool const copied = a.stored.size() == b.stored.size() && before.version() == after.version() &&
                            std::equal(a.stored.begin(), a.stored.end(), b.stored.begin());
        auto const number = static_cast<std::int32_t>(i);
        if (!copied && read_block(before, number) != read_block(after, number))
            not_the_same(source, fmt::format("block {}", i));
    }
}

// ---- another game --------------------------------------------------------------------------------------------------

// Fields that say nothing, or what the rest says already, may have been put right.
bool same_meaning(std::optional<map_info> info, std::optional<map_info> other) {
    if (info) info->raw = {};
    if (other) other->raw = {};
    return info == other;
}
bool same_meaning(map_group group, map_group other) {
    group.raw = other.raw = {};
    return group == other;
}
bool same_meaning(map_sound const& a, map_sound const& b) {
    return a.version == b.version && a.external == b.external && a.name.text == b.name.text && a.data == b.data;
}

// RGB may have become RGBA.
bool same_meaning(map_image const& a, map_image const& b) {
    return a.name.text == b.name.text && a.width == b.width && a.height == b.height &&
           (a.variant == b.variant ? a.pixels == b.pixels : rgba_pixels(a) == rgba_pixels(b));
}

template <class T>
bool same_meaning(std::vector<T> const& a, std::vector<T> const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](T const& x, T const& y) { return same_meaning(x, y); });
}

// The parts that players see and feel, which packing must not change.
void compare(map_source const& source, game_map const& before, game_map const& after) {
    bool same = before.images.size() == after.images.size() && before.layers.size() == after.layers.size() &&
                same_meaning(before.groups, after.groups) && same_meaning(before.info, after.info) &&
                same_meaning(before.sounds, after.sounds) && before.points.size() == after.points.size() &&
                before.envelopes.size() == after.envelopes.size();
    if (!same) not_the_same(source, "the number or order of its parts");
    for (std::size_t i = 0; i < before.images.size(); ++i)
        if (!same_meaning(before.images[i], after.images[i])) not_the_same(source, fmt::format("image {}", i));
    for (std::size_t i = 0; i < before.points.size(); ++i)
        if (before.points[i].time != after.points[i].time || before.points[i].curve != after.points[i].curve ||
            before.points[i].values != after.points[i].values)
            not_the_same(source, fmt::format("envelope point {}", i));
    for (std::size_t i = 0; i < before.layers.size(); ++i) {
        map_layer const& a = before.layers[i];
        map_layer const& b = after.layers[i];
        tile_layer const* const x = a.tiles();
        tile_layer const* const y = b.tiles();
        same = a.name == b.name && a.flags == b.flags && (x == nullptr) == (y == nullptr);
        if (x != nullptr && same)
            same = x->width == y->width && x->height == y->height && x->kind == y->kind && x->image == y->image &&
                   x->color == y->color && x->tiles == y->tiles && x->tele == y->tele && x->speedup == y->speedup &&
                   x->switches == y->switches && x->tune == y->tune;
        else if (same && a.quads() != nullptr) same = b.quads() != nullptr && a.quads()->quads == b.quads()->quads;
        if (!same) not_the_same(source, fmt::format("layer {}", i));
    }
}

// A text that cannot be read: programs show the map without it.
bool is_unread_text(game_map const& map, map_problem const& p) {
    if (p.code != map_errc::bad_text && p.code != map_errc::bad_data_index) return false;
    auto const is_of = [&](auto const& all) {
        return p.item >= 0 && static_cast<std::size_t>(p.item) < all.size() &&
               all[static_cast<std::size_t>(p.item)].name.block == p.block;
    };
    switch (p.item_type) {
    case map_item_type::image: return is_of(map.images);
    case map_item_type::sound: return is_of(map.sounds);
    case map_item_type::info: return p.code == map_errc::bad_text;
    default: return false;
    }
}

void report_changes(map_source const& source, problem_list const& problems) {
    for (map_problem const& p : problems) {
        bool const is_left_out = p.code == map_errc::short_uuid_index || p.code == map_errc::duplicate_uuid_index ||
                                 p.code == map_errc::bad_data_index;
        if (is_left_out) remark(fmt::format("{}: left out: {}", source.name(), problem_text(p)));
        if (p.code == map_errc::bad_text) remark(fmt::format("{}: kept: {}", source.name(), problem_text(p)));
    }
}

// Images that the map only names, and that 0.7 does not come with.
void embed_images(map_source const& source, game_map& map, std::string const& mapres) {
    std::set<std::string> missing;
    for (map_image& image : map.images) {
        if (!image.external || image.name.text.empty() || is_mapres_of_07(image.name.text)) continue;
        auto const found = mapres.empty() ? std::nullopt : load_mapres(mapres, image.name.text);
        if (!found) {
            missing.insert(printable(image.name.text));
            continue;
        }
        image.external = false;
        image.width = static_cast<std::int32_t>(found->width);
        image.height = static_cast<std::int32_t>(found->height);
        image.variant = 1;
        image.pixels_block = -1;
        image.pixels.clear();
        for (color const c : found->pixels) image.pixels.insert(image.pixels.end(), {c.r, c.g, c.b, c.a});
    }
    if (missing.empty()) return;
    remark(fmt::format("{}: 0.7 does not have {}{}", source.name(), fmt::join(missing, ", "),
                       mapres.empty() ? "; use --mapres FOLDER to embed them" : ", nor does the folder"));
}

bytes change_game(map_source const& source, datafile const& file, datafile_write_options const& how,
                  map_convert_options const& options) {
    problem_list problems;
    auto keep = [&](map_problem const& p) { problems.push_back(p); };
    game_map map;
    map_problem const failed = read_map(file, map, {.report = keep});
    if (failed.code != map_errc::ok) refuse(source, failed);
    for (map_problem const& p : problems)
        if (p.severity != map_severity::note && !is_unread_text(map, p)) refuse(source, p);
    if (options.packing == "0.7") embed_images(source, map, options.mapres);
    bytes written;
    { // so that only two maps are in memory, not three
        game_map changed = map;
        if (options.packing == "0.7") convert_to_07(changed);
        else convert_to_06(changed);
        map_problem const unwritten = write_map(changed, written, how);
        if (unwritten.code != map_errc::ok) refuse(source, unwritten);
    }

    auto const again = datafile::open(written);
    if (!again) not_the_same(source, problem_text(again.error()));
    game_map reread;
    map_problem const unread = read_map(*again, reread);
    if (unread.code != map_errc::ok) not_the_same(source, problem_text(unread));
    compare(source, map, reread);
    report_changes(source, problems);
    return written;
}

int map_convert(map_convert_options const& options) {
    if (!options.datafile && options.packing.empty() && !options.level)
        throw usage_error{"nothing to convert: use --datafile, --to or --level"};
    if (options.datafile == 3 && options.level) throw usage_error{"--level: version 3 is not compressed"};
    if (!options.mapres.empty() && options.packing != "0.7") throw usage_error{"--mapres: only with --to 0.7"};
    if (!options.mapres.empty() && !std::filesystem::is_directory(options.mapres))
        throw usage_error{fmt::format("--mapres: {} is not a folder", options.mapres)};
    output_file out{options.to, content::binary, {&options.file, 1}};
    map_source const source{options.file};
    if (source.format() == map_format::xvector)
        throw usage_error{fmt::format("{}: an xVector map cannot be converted", source.name())};
    auto const file = datafile::open(source.bytes());
    if (!file) refuse(source, file.error());

    datafile_write_options how;
    how.version = options.datafile.value_or(file->version());
    how.level = options.level.value_or(how.level);
    bytes written;
    if (options.packing.empty()) {
        written = repack(source, *file, how, options.level.has_value());
        if (interrupted()) return exit_interrupted;
        if (written.empty()) throw usage_error{fmt::format("{}: the result would be 2 GiB or more", source.name())};
        auto const again = datafile::open(written);
        if (!again) not_the_same(source, problem_text(again.error()));
        compare(source, *file, *again);
    } else {
        written = change_game(source, *file, how, options);
    }
    if (interrupted()) return exit_interrupted;
    write_whole(out, written);
    if (interrupted()) return exit_interrupted;
    remark(fmt::format("{}: {}, equal in content to the {} before", out.name(), size_text(written.size()),
                       size_text(source.bytes().size())));
    return exit_ok;
}

} // namespace

verb const map_convert_verb{
    "convert", "Convert a map between versions, and check that nothing changes",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<map_convert_options>();
        options.file(chosen->file, "a map, a demo (for the map in it), or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.number("--datafile", chosen->datafile, 3, 4, "container version: 3 (uncompressed) or 4");
        options.choice("--to", chosen->packing, {"0.6", "0.7"},
                       "packing of tiles, images and curves: 0.6 (also DDNet) or 0.7");
        options.text("--mapres", chosen->mapres,
                     "folder of PNG images: embed those that the map refers to and 0.7 does not have", "FOLDER");
        options.number("--level", chosen->level, 1, 9, "recompress: 1 (fast) to 9 (small)");
        options.examples(
            {"map convert dm1.map --to 0.7 -o dm1_07.map", "map convert dm1.map --level 9 -o smaller.map"});
        return [chosen] { return map_convert(*chosen); };
    }};

} // namespace teewire::replay
