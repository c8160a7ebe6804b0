#include "base/output.hpp"
#include "map/document.hpp"
#include "map/picture.hpp"
#include "verbs/verbs.hpp"

#include <charconv>

namespace teewire::replay {
namespace {

struct map_extract_options {
    std::string file;
    output_choice to;
    std::optional<std::string> image; ///< name or number, as sound
    std::optional<std::string> sound;
    std::optional<std::int32_t> block;
};

// The part that the user names: by number, or else by name.
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
    throw usage_error{fmt::format("{}: there is no {} \"{}\"{}{}", source.name(), what, printable(wanted),
                                  names.empty() ? "; it has none" : "; there are: ", names)};
}

usage_error not_inside(map_source const& source, std::string_view what, std::string const& name,
                       std::string_view extension) {
    return usage_error{fmt::format("{}: {} {} is not in the map, which only names it (mapres/{}.{})", source.name(),
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
        throw usage_error{fmt::format("{}: has no block {}; it has {}", source.name(), block, file->block_count())};
    try {
        return read_block(*file, block);
    } catch (map_problem const& p) {
        throw bad_input{fmt::format("{}: {}", source.name(), problem_text(p))};
    }
}

// Without image, sound and block, the map itself.
int map_extract(map_extract_options const& options) {
    output_file out{options.to, content::binary, {&options.file, 1}};
    map_source const source{options.file};
    std::vector<std::uint8_t> part;
    bool const whole = !options.image && !options.sound && !options.block;
    if (!whole && source.format() == map_format::xvector)
        throw usage_error{fmt::format("{}: an xVector map has no images, sounds or blocks", source.name())};
    if (options.block) {
        part = block_content(source, *options.block);
    } else if (!whole) {
        map_document const document = read_document(source);
        game_map const& map = map_of(document, source);
        part = options.image ? image_file(map, *options.image, source) : sound_file(map, *options.sound, source);
    }
    write_whole(out, whole ? source.bytes() : part);
    return interrupted() ? exit_interrupted : exit_ok;
}

} // namespace

verb const map_extract_verb{
    "extract", "Extract the map from a demo, or an image, sound or block from a map",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<map_extract_options>();
        options.file(chosen->file, "a map, a demo (for the map in it), or - for standard input");
        options.output(chosen->to, option_set::presence::required);
        options.text("--image", chosen->image, "image as PNG, by name or number", "IMAGE");
        options.text("--sound", chosen->sound, "sound as Opus, by name or number", "SOUND");
        options.number("--block", chosen->block, INT32_MIN, INT32_MAX, "data block, decompressed, by number");
        options.exclusive({"--image", "--sound", "--block"});
        options.examples(
            {"map extract game.demo -o dm1.map", "map extract dm1.map --image grass_main -o grass.png"});
        return [chosen] { return map_extract(*chosen); };
    }};

} // namespace teewire::replay
