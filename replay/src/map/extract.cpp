#include "map/document.hpp"
#include "map/picture.hpp"
#include "map/verbs.hpp"
#include "new_file.hpp"
#include "output.hpp"

#include <charconv>

namespace teewire::replay {
namespace {

// What the user calls it: a number, or else a name.
template <class Part>
Part const& find_part(std::vector<Part> const& parts, std::string const& wanted, std::string_view what,
                      map_source const& source) {
    for (Part const& p : parts)
        if (p.name.text == wanted) return p;
    std::size_t number = 0;
    auto const [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (error == std::errc{} && end == wanted.data() + wanted.size() && number < parts.size()) return parts[number];
    std::string names;
    for (std::size_t i = 0; i < parts.size(); ++i)
        names += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, printable(parts[i].name.text));
    throw bad_input{fmt::format("{}: there is no {} \"{}\"{}{}", source.name(), what, printable(wanted),
                                names.empty() ? ", nor any other" : "; there are: ", names)};
}

bad_input not_inside(map_source const& source, std::string_view what, std::string const& name,
                     std::string_view extension) {
    return bad_input{fmt::format("{}: {} {} is not in the map, which only names it (mapres/{}.{})", source.name(),
                                 what, printable(name), printable(name), extension)};
}

game_map const& map_of(map_document const& document, map_source const& source) {
    if (!document.map)
        throw bad_input{fmt::format("{}: {}", source.name(), problem_text(document.problems.back()))};
    return *document.map;
}

std::vector<std::uint8_t> image_file(game_map const& map, std::string const& wanted, map_source const& source) {
    map_image const& image = find_part(map.images, wanted, "image", source);
    if (image.external) throw not_inside(source, "image", image.name.text, "png");
    auto const pixels = rgba_pixels(image);
    if (pixels.empty())
        throw bad_input{fmt::format("{}: image {}: its pixels cannot be read", source.name(), printable(wanted))};
    return encode_png(
        picture_of(static_cast<std::size_t>(image.width), static_cast<std::size_t>(image.height), pixels));
}

std::vector<std::uint8_t> sound_file(game_map const& map, std::string const& wanted, map_source const& source) {
    map_sound const& sound = find_part(map.sounds, wanted, "sound", source);
    if (sound.external) throw not_inside(source, "sound", sound.name.text, "opus");
    if (sound.data.empty())
        throw bad_input{fmt::format("{}: sound {}: it cannot be read", source.name(), printable(wanted))};
    return sound.data;
}

std::vector<std::uint8_t> block_content(map_source const& source, std::int32_t block) {
    auto const file = datafile::open(source.bytes());
    if (!file) throw bad_input{fmt::format("{}: {}", source.name(), problem_text(file.error()))};
    if (block < 0 || static_cast<std::size_t>(block) >= file->block_count())
        throw bad_input{
            fmt::format("{}: there is no block {}; there are {}", source.name(), block, file->block_count())};
    try {
        return read_block(*file, block);
    } catch (map_problem const& p) {
        throw bad_input{fmt::format("{}: {}", source.name(), problem_text(p))};
    }
}

} // namespace

int map_extract(map_extract_options const& options) {
    map_source const source{options.file};
    if (!options.image && !options.sound && !options.block) {
        write_file(options.output, source.bytes());
        return interrupted() ? exit_interrupted : exit_ok;
    }
    if (source.format() == map_format::xvector)
        throw bad_input{fmt::format("{}: an xVector map holds no images, sounds and blocks", source.name())};
    std::vector<std::uint8_t> bytes;
    if (options.block) {
        bytes = block_content(source, *options.block);
    } else {
        map_document const document = read_document(source);
        game_map const& map = map_of(document, source);
        bytes = options.image ? image_file(map, *options.image, source) : sound_file(map, *options.sound, source);
    }
    write_file(options.output, bytes);
    return interrupted() ? exit_interrupted : exit_ok;
}

} // namespace teewire::replay
