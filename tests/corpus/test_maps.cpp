// Real maps and the published vectors: what they hold, that they can be written again, and that damage is survived
// without asking for more memory than a file can need.
#include "corpus.hpp"
#include "maps.hpp"
#include "random.hpp"

#include <teewire/map/map.hpp>
#include <teewire/sha256.hpp>

#include <doctest/doctest.h>
#include <malloc.h>
#include <rapidjson/document.h>

#include <cstdio>
#include <limits>
#include <new>

using namespace teewire;
using test::bytes;

// ---- memory that operator new gave -----------------------------------------------------------------------------------

namespace {

std::size_t live = 0;
std::size_t peak = 0;

void* count(void* block) {
    if (block == nullptr) std::abort();
    live += malloc_usable_size(block);
    peak = std::max(peak, live);
    return block;
}
void uncount(void* block) noexcept {
    live -= block != nullptr ? malloc_usable_size(block) : 0;
    std::free(block);
}

} // namespace

void* operator new(std::size_t size) { return count(std::malloc(size)); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return count(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    auto const a = static_cast<std::size_t>(alignment);
    return count(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* block) noexcept { uncount(block); }
void operator delete(void* block, std::size_t) noexcept { uncount(block); }
void operator delete(void* block, std::nothrow_t const&) noexcept { uncount(block); }
void operator delete(void* block, std::align_val_t) noexcept { uncount(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { uncount(block); }

namespace {

std::vector<std::filesystem::path> files(std::filesystem::path const& folder, std::string_view extension = ".map") {
    std::vector<std::filesystem::path> paths;
    for (auto const& entry : std::filesystem::directory_iterator{folder})
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    REQUIRE_FALSE(paths.empty());
    return paths;
}

std::vector<std::filesystem::path> maps() {
    auto all = files(corpus::folder() / "maps");
    for (auto& path : files(corpus::folder() / "maps-handmade")) all.push_back(path);
    return all;
}

// Files from before 2008 are datafiles, but not maps of the kind that is known.
bool is_old(std::filesystem::path const& path) {
    return path.stem() == "hist-65ea2ce91f6d" || path.stem() == "hist-c48d84ac868f";
}

rapidjson::Document json(std::filesystem::path const& path) {
    auto const text = corpus::read_bytes(path);
    rapidjson::Document document;
    document.Parse(reinterpret_cast<char const*>(text.data()), text.size());
    REQUIRE_FALSE(document.HasParseError());
    return document;
}

std::string hash(map_bytes content) {
    std::string text = test::hex(sha256(content));
    std::erase(text, ' ');
    return text;
}
template <class Cell>
std::string hash_of(std::vector<Cell> const& cells) {
    return hash({reinterpret_cast<std::uint8_t const*>(cells.data()), cells.size() * sizeof(Cell)});
}

std::optional<bytes> block(datafile const& file, std::int32_t number) {
    auto const memory = std::make_unique<inflate_memory>();
    auto const size = file.block_size(number);
    if (!size) return {};
    bytes out(*size);
    if (!file.read_block(number, out, *memory)) return {};
    return out;
}

bool is_null(rapidjson::Value const& object, char const* name) {
    return !object.HasMember(name) || object[name].IsNull();
}
std::string text_of(rapidjson::Value const& object, char const* name) {
    if (is_null(object, name)) return {};
    rapidjson::Value const& value = object[name];
    return value.IsObject() ? value["text"].GetString() : value.GetString();
}

void check_same(rapidjson::Value const& expected, datafile const& file, game_map const& map) {
    // info
    CHECK(map.info.has_value() == !expected["info"].IsNull());
    if (map.info) {
        auto const& info = expected["info"];
        CHECK(map.info->version == info["version"].GetInt());
        CHECK(map.info->raw.size() == info["ints"].GetUint());
        CHECK(map.info->author.text == text_of(info, "author"));
        CHECK(map.info->map_version.text == text_of(info, "map_version"));
        CHECK(map.info->credits.text == text_of(info, "credits"));
        CHECK(map.info->license.text == text_of(info, "license"));
        if (!info["credits"].IsNull()) CHECK(map.info->credits.block == info["credits"]["index"].GetInt());
        std::vector<std::string> settings;
        if (!info["settings"].IsNull())
            for (auto const& line : info["settings"].GetArray()) settings.emplace_back(line.GetString());
        CHECK(map.info->settings == settings);
    }
    REQUIRE(map.images.size() == expected["images"].Size());
    for (std::size_t i = 0; i < map.images.size(); ++i) {
        auto const& wanted = expected["images"][static_cast<unsigned>(i)];
        auto const& image = map.images[i];
        CHECK(image.version == wanted["version"].GetInt());
        CHECK(image.width == wanted["width"].GetInt());
        CHECK(image.height == wanted["height"].GetInt());
        CHECK(image.external == (wanted["external"].GetInt() != 0));
        CHECK(image.name.text == text_of(wanted, "name"));
        CHECK(image.pixels_block == wanted["data"].GetInt());
        if (wanted.HasMember("variant")) CHECK(image.variant == wanted["variant"].GetInt());
        if (!wanted.HasMember("data_bytes")) continue;
        CHECK(image.pixels.size() == wanted["data_bytes"].GetUint());
        CHECK(wanted["data_ok"].GetBool() == (rgba_pixels(image) == image.pixels));
    }
    REQUIRE(map.envelopes.size() == expected["envelopes"].Size());
    for (std::size_t i = 0; i < map.envelopes.size(); ++i) {
        auto const& wanted = expected["envelopes"][static_cast<unsigned>(i)];
        auto const& envelope = map.envelopes[i];
        CHECK(envelope.version == wanted["version"].GetInt());
        CHECK(envelope.raw.size() == wanted["ints"].GetUint());
        CHECK(envelope.channels == wanted["channels"].GetInt());
        CHECK(envelope.first_point == wanted["start"].GetInt());
        CHECK(envelope.point_count == wanted["num"].GetInt());
        if (!is_null(wanted, "name") && unpack_name(std::span{envelope.raw}.subspan(4, 8)))
            CHECK(envelope.name == wanted["name"].GetString());
        if (wanted.HasMember("synchronized"))
            CHECK(envelope.synchronized == (wanted["synchronized"].GetInt() != 0));
    }
    auto const& points = expected["envpoints"];
    if (points["items"].GetInt() != 0) {
        CHECK(map.points.size() == points["points"].GetUint());
        CHECK(map.surplus_points.size() == points["remainder"].GetUint());
        for (auto const& curve : points["curves"].GetObject()) {
            auto const is_same = [&](envelope_point const& p) {
                return std::to_string(p.curve) == curve.name.GetString();
            };
            CHECK(std::count_if(map.points.begin(), map.points.end(), is_same) == curve.value.GetInt());
        }
    }
    CHECK(map.bezier_item == expected.HasMember("bezier"));
    REQUIRE(map.groups.size() == expected["groups"].Size());
    for (std::size_t i = 0; i < map.groups.size(); ++i) {
        auto const& wanted = expected["groups"][static_cast<unsigned>(i)];
        auto const& group = map.groups[i];
        CHECK(group.version == wanted["version"].GetInt());
        CHECK(group.offset_x == wanted["offset"][0].GetInt());
        CHECK(group.offset_y == wanted["offset"][1].GetInt());
        CHECK(group.parallax_x == wanted["parallax"][0].GetInt());
        CHECK(group.parallax_y == wanted["parallax"][1].GetInt());
        CHECK(group.first_layer == wanted["start"].GetInt());
        CHECK(group.layer_count == wanted["num"].GetInt());
        if (wanted.HasMember("name")) CHECK(group.name == wanted["name"].GetString());
        if (!wanted.HasMember("clipping")) continue;
        CHECK(group.clipping == (wanted["clipping"][0].GetInt() != 0));
        CHECK(group.clip_x == wanted["clipping"][1].GetInt());
        CHECK(group.clip_height == wanted["clipping"][4].GetInt());
    }
    REQUIRE(map.layers.size() == expected["layers"].Size());
    for (std::size_t i = 0; i < map.layers.size(); ++i) {
        auto const& wanted = expected["layers"][static_cast<unsigned>(i)];
        map_layer const& layer = map.layers[i];
        CAPTURE(i);
        CHECK(layer.raw.size() == wanted["item_ints"].GetUint());
        CHECK(layer.raw[0] == wanted["base_version"].GetInt());
        CHECK(layer.raw[1] == wanted["type"].GetInt());
        CHECK(layer.flags == wanted["flags"].GetInt());
        CHECK(layer.name == text_of(wanted, "name"));
        std::string const kind = wanted["kind"].GetString();
        if (quad_layer const* const quads = layer.quads()) {
            CHECK(kind == "quads");
            CHECK(quads->version == wanted["version"].GetInt());
            CHECK(quads->quads.size() == wanted["num"].GetUint());
            CHECK(quads->quads_block == wanted["data"].GetInt());
            CHECK(quads->image == wanted["image"].GetInt());
        } else if (sound_layer const* const sounds = layer.sounds()) {
            CHECK(kind == (sounds->deprecated ? "sounds_deprecated" : "sounds"));
            CHECK(sounds->sources.size() == wanted["num"].GetUint());
            CHECK(sounds->sources_block == wanted["data"].GetInt());
            CHECK(sounds->sound == wanted["sound"].GetInt());
        } else {
            REQUIRE(layer.tiles() != nullptr);
            tile_layer const& tiles = *layer.tiles();
            CHECK(kind == name(tiles.kind));
            CHECK(tiles.version == wanted["version"].GetInt());
            CHECK(tiles.width == wanted["width"].GetInt());
            CHECK(tiles.height == wanted["height"].GetInt());
            for (unsigned c = 0; c < 4; ++c) CHECK(tiles.color[c] == wanted["color"][c].GetInt());
            CHECK(tiles.color_envelope == wanted["color_env"].GetInt());
            CHECK(tiles.color_envelope_offset == wanted["color_env_offset"].GetInt());
            CHECK(tiles.image == wanted["image"].GetInt());
            CHECK(tiles.tiles_block == wanted["tile_data"].GetInt());
            if (wanted.HasMember("dummy_bytes")) CHECK(tiles.zero_block == wanted["data"].GetInt());
            bool const readable = wanted["size_ok"].GetBool();
            std::string const found = !tiles.tiles.empty()      ? hash_of(tiles.tiles)
                                      : !tiles.tele.empty()     ? hash_of(tiles.tele)
                                      : !tiles.speedup.empty()  ? hash_of(tiles.speedup)
                                      : !tiles.switches.empty() ? hash_of(tiles.switches)
                                                                : hash_of(tiles.tune);
            if (!readable) CHECK(found == hash({}));
            else if (wanted.HasMember("unpacked_sha256")) CHECK(found == wanted["unpacked_sha256"].GetString());
            else CHECK(found == hash(*block(file, tiles.tiles_block)));
        }
    }
    REQUIRE(map.sounds.size() == expected["sounds"].Size());
    for (std::size_t i = 0; i < map.sounds.size(); ++i) {
        auto const& wanted = expected["sounds"][static_cast<unsigned>(i)];
        CHECK(map.sounds[i].name.text == text_of(wanted, "name"));
        CHECK(map.sounds[i].data_block == wanted["data"].GetInt());
        CHECK(map.sounds[i].data.size() == wanted["data_bytes"].GetUint());
    }
    REQUIRE(map.auto_mappers.size() == expected["auto_mappers"].Size());
    for (std::size_t i = 0; i < map.auto_mappers.size(); ++i) {
        auto const& wanted = expected["auto_mappers"][static_cast<unsigned>(i)];
        auto const& mapper = map.auto_mappers[i];
        CHECK(mapper.version == wanted["version"].GetInt());
        CHECK(mapper.group == wanted["group"].GetInt());
        CHECK(mapper.layer == wanted["layer"].GetInt());
        CHECK(mapper.configuration == wanted["config"].GetInt());
        CHECK(mapper.seed == wanted["seed"].GetInt());
        CHECK(mapper.flags == wanted["flags"].GetInt());
    }
}

} // namespace

TEST_CASE("every map holds what an independent reader found") {
    for (auto const& path : files(corpus::folder() / "maps")) {
        CAPTURE(path.filename().string());
        auto const file = corpus::read_bytes(path);
        auto const expected = json(corpus::folder() / "expected/maps" / (path.stem().string() + ".json"));
        auto const opened = datafile::open(file);
        REQUIRE(opened);
        auto const& container = expected["datafile"];
        char checksum[9];
        std::snprintf(checksum, sizeof checksum, "%08x", map_crc32(file));
        CHECK(checksum == std::string_view{expected["crc32"].GetString()});
        CHECK(opened->magic() == container["magic"].GetString());
        CHECK(opened->version() == container["version"].GetInt());
        CHECK(opened->stated_size() == container["size"].GetInt());
        CHECK(opened->stated_swaplen() == container["swaplen"].GetInt());
        CHECK(opened->has_old_header_sizes() != (container["header_kind"] == "exact"));
        CHECK(opened->item_bytes() == container["item_size"].GetUint());
        CHECK(opened->data_bytes() == container["data_size"].GetUint());
        REQUIRE(opened->type_count() == expected["item_types"].Size());
        for (std::size_t i = 0; i < opened->type_count(); ++i) {
            auto const& wanted = expected["item_types"][static_cast<unsigned>(i)];
            CHECK(opened->type(i).type == wanted["type"].GetUint());
            CHECK(opened->type(i).first == wanted["start"].GetUint());
            CHECK(opened->type(i).count == wanted["num"].GetUint());
        }
        for (auto const& wanted : expected["uuid_items"].GetArray()) {
            auto const name = opened->uuid_of(static_cast<std::uint16_t>(wanted["type_id"].GetUint()));
            REQUIRE(name);
            auto const text = to_text(*name);
            CHECK(std::string_view{text.data(), text.size()} == wanted["uuid"].GetString());
        }
        REQUIRE(opened->block_count() == expected["data"].Size());
        for (std::size_t i = 0; i < opened->block_count(); ++i) {
            auto const& wanted = expected["data"][static_cast<unsigned>(i)];
            CHECK(opened->block(i).stored.size() == wanted["compressed"].GetUint());
            auto const content = block(*opened, static_cast<std::int32_t>(i));
            REQUIRE(content);
            CHECK(content->size() == wanted["size"].GetUint());
            CHECK(hash(*content) == wanted["sha256"].GetString());
        }
        game_map map;
        auto const problem = read_map(*opened, map);
        CHECK((problem.code == map_errc::missing_version) == is_old(path));
        CHECK(is_old(path) == expected.HasMember("layout"));
        if (problem.code == map_errc::ok) check_same(expected, *opened, map);

        // What DDNet refuses, and only that, is refused when asked for.
        bool const accepted = expected["readers"]["ddnet"] == "accepts";
        game_map strict;
        auto const strictly = datafile::open(file, {.mode = decoding::strict});
        CHECK(accepted ==
              (strictly && read_map(*strictly, strict, {.mode = decoding::strict}).code == map_errc::ok));
    }
}

TEST_CASE("every map that can be read is written and read back equal, in both versions") {
    std::size_t read = 0;
    for (auto const& path : corpus::some(maps())) {
        CAPTURE(path.filename().string());
        auto const file = corpus::read_bytes(path);
        auto const opened = datafile::open(file);
        REQUIRE(opened);
        game_map map;
        if (read_map(*opened, map).code != map_errc::ok) {
            CHECK(is_old(path));
            continue;
        }
        ++read;
        for (int const version : {4, 3}) {
            auto const again = test::written(map, {.version = version, .level = 1});
            auto const reopened = datafile::open(again, {.mode = decoding::strict});
            REQUIRE(reopened);
            game_map back;
            REQUIRE(read_map(*reopened, back).code == map_errc::ok);
            CHECK(back == map);
            // Not only the typed form: every item and block that was there is still there.
            for (std::size_t i = 0; i < opened->item_count(); ++i) {
                auto const item = opened->item(i);
                if (item.type == uuid_index_type) continue;
                auto const number = i - opened->find_type(item.type).first;
                auto const same = reopened->item(reopened->find_type(item.type).first + number);
                CHECK(std::equal(item.ints.bytes().begin(), item.ints.bytes().end(), same.ints.bytes().begin(),
                                 same.ints.bytes().end()));
            }
            REQUIRE(reopened->block_count() == opened->block_count());
            for (std::size_t i = 0; i < opened->block_count(); ++i) {
                auto const number = static_cast<std::int32_t>(i);
                CHECK((block(*opened, number) == block(*reopened, number)));
            }
        }
    }
    CHECK(read > 50 / corpus::share());
}

TEST_CASE("every map survives the way to 0.7 and back") {
    for (auto const& path : corpus::some(maps())) {
        CAPTURE(path.filename().string());
        auto const file = corpus::read_bytes(path);
        game_map map;
        if (read_map(*datafile::open(file), map).code != map_errc::ok) continue;
        game_map moved = map;
        convert_to_07(moved);
        moved = test::read(test::written(moved, {.version = 3}));
        for (auto const& layer : moved.layers)
            if (layer.tiles() != nullptr && layer.tiles()->kind == tile_kind::game)
                CHECK(layer.tiles()->version == 4);
        convert_to_06(moved);
        test::problems found;
        moved = test::read(test::written(moved, {.version = 3}), found);
        REQUIRE(moved.layers.size() == map.layers.size());
        for (std::size_t i = 0; i < map.layers.size(); ++i) {
            if (map.layers[i].tiles() == nullptr) continue;
            CHECK(moved.layers[i].tiles()->tiles == map.layers[i].tiles()->tiles);
            CHECK(moved.layers[i].name == map.layers[i].name);
        }
        for (std::size_t i = 0; i < map.images.size(); ++i) CHECK(moved.images[i].pixels == map.images[i].pixels);
        if (moved.bezier_item) CHECK(moved.points == map.points);
    }
}

// ---- vectors -------------------------------------------------------------------------------------------------------

TEST_CASE("datafile vectors give the listed verdict") {
    auto const folder = corpus::beside("spec") / "vectors/datafile";
    auto const manifest = json(folder / "manifest.json");
    for (auto const& entry : manifest.GetArray()) {
        std::string const file_name = entry["file"].GetString();
        CAPTURE(file_name);
        auto const file = corpus::read_bytes(folder / file_name);
        test::problems found;
        auto const opened = datafile::open(file, {.mode = decoding::strict, .report = found});
        CHECK(std::string_view{entry["expect"].GetString()} == (opened ? "ok" : name(opened.error().code)));
        if (!opened) continue;
        if (entry.HasMember("version")) CHECK(opened->version() == entry["version"].GetInt());
        if (entry.HasMember("header")) CHECK(opened->has_old_header_sizes() == (entry["header"] == "legacy"));
        CHECK(found.names() == (entry.HasMember("warning")       ? entry["warning"].GetString()
                                : opened->has_old_header_sizes() ? "old_header_sizes"
                                                                 : ""));
        if (entry.HasMember("items")) {
            REQUIRE(opened->item_count() == entry["items"].Size());
            for (std::size_t i = 0; i < opened->item_count(); ++i) {
                auto const& wanted = entry["items"][static_cast<unsigned>(i)];
                auto const item = opened->item(i);
                CHECK(item.type == wanted[0].GetUint());
                CHECK(item.id == wanted[1].GetUint());
                REQUIRE(item.ints.size() == wanted[2].Size());
                for (unsigned n = 0; n < wanted[2].Size(); ++n) CHECK(item.ints[n] == wanted[2][n].GetInt());
            }
        }
        if (entry.HasMember("uuid_types"))
            for (auto const& wanted : entry["uuid_types"].GetArray()) {
                auto const text =
                    to_text(*opened->uuid_of(static_cast<std::uint16_t>(wanted["type_id"].GetUint())));
                CHECK(std::string_view{text.data(), text.size()} == wanted["uuid"].GetString());
            }
        inflate_memory memory;
        for (std::size_t i = 0; i < opened->block_count(); ++i) {
            auto const checked = opened->check_block(static_cast<std::int32_t>(i), memory);
            std::string const number = std::to_string(i);
            bool const bad = entry.HasMember("data_errors") && entry["data_errors"].HasMember(number.c_str());
            CHECK(std::string_view{bad ? entry["data_errors"][number.c_str()].GetString() : "ok"} ==
                  (checked ? "ok" : name(checked.error().code)));
            if (!checked || !entry.HasMember("data")) continue;
            auto const& wanted = entry["data"][static_cast<unsigned>(i)];
            CHECK(*checked == wanted["size"].GetUint());
            if (wanted.HasMember("sha256"))
                CHECK(hash(*block(*opened, static_cast<std::int32_t>(i))) == wanted["sha256"].GetString());
        }
    }
    CHECK(manifest.Size() == 54);
}

TEST_CASE("map vectors give the listed verdict") {
    auto const folder = corpus::beside("spec") / "vectors/map";
    auto const manifest = json(folder / "manifest.json");
    for (auto const& entry : manifest.GetArray()) {
        std::string const file_name = entry["file"].GetString();
        CAPTURE(file_name);
        auto const file = corpus::read_bytes(folder / file_name);
        test::problems found;
        auto const opened = datafile::open(file, {.mode = decoding::strict, .report = found});
        REQUIRE(opened);
        game_map map;
        auto const problem = read_map(*opened, map, {.report = found});
        CHECK(found.first_fault() == entry["expect"].GetString());
        if (entry.HasMember("warning")) CHECK(found.names() == entry["warning"].GetString());
        else if (entry["expect"] == "ok") CHECK(found.names() == "");
        game_map refused;
        bool const is_refused = read_map(*opened, refused, {.mode = decoding::strict}).code != map_errc::ok;
        CHECK(is_refused == (entry["expect"] != "ok"));
        if (problem.code != map_errc::ok) continue;

        auto const dump = folder / "dump" / (std::filesystem::path{file_name}.stem().string() + ".json");
        if (std::filesystem::exists(dump)) check_same(json(dump), *opened, map);
        if (entry.HasMember("game_tiles_sha256"))
            CHECK(hash_of(physics_of(map).game->tiles) == entry["game_tiles_sha256"].GetString());
        if (entry.HasMember("speedup_first")) {
            speedup_tile const first = physics_of(map).speedup->speedup.front();
            CHECK(first.force == entry["speedup_first"]["force"].GetInt());
            CHECK(first.type == entry["speedup_first"]["type"].GetInt());
            CHECK(first.angle() == entry["speedup_first"]["angle"].GetInt());
        }
        auto const check_tangents = [](std::array<std::int32_t, 4> const& tangents,
                                       rapidjson::Value const& wanted) {
            for (unsigned i = 0; i < 4; ++i) CHECK(tangents[i] == wanted[i].GetInt());
        };
        if (entry.HasMember("bezier")) {
            check_tangents(map.points[2].out_dx, entry["bezier"]["point2_out_dx"]);
            check_tangents(map.points[2].out_dy, entry["bezier"]["point2_out_dy"]);
            check_tangents(map.points[3].in_dx, entry["bezier"]["point3_in_dx"]);
            check_tangents(map.points[3].in_dy, entry["bezier"]["point3_in_dy"]);
        }
        if (entry.HasMember("out_dx")) {
            check_tangents(map.points[0].out_dx, entry["out_dx"]);
            check_tangents(map.points[0].out_dy, entry["out_dy"]);
            check_tangents(map.points[1].in_dx, entry["in_dx"]);
            check_tangents(map.points[1].in_dy, entry["in_dy"]);
        }
        if (entry.HasMember("info")) {
            CHECK(map.info->author.text == entry["info"]["author"].GetString());
            CHECK(map.info->license.text == entry["info"]["license"].GetString());
        }
    }
    CHECK(manifest.Size() > 45);
}

// ---- damage --------------------------------------------------------------------------------------------------------

namespace {

// The most memory that a file's content can need, however it is read: the file a few times over, and its good blocks
// decompressed; tiles may be packed.
std::size_t justified(datafile const& file, game_map const& map) {
    auto const memory = std::make_unique<inflate_memory>();
    std::size_t all = 16 * file.bytes().size();
    for (std::size_t i = 0; i < file.block_count(); ++i)
        if (auto const size = file.check_block(static_cast<std::int32_t>(i), *memory)) all += *size;
    for (map_layer const& layer : map.layers)
        if (layer.tiles() != nullptr && layer.tiles()->version == 4)
            all += layer.tiles()->tiles.size() * sizeof(tile);
    return all;
}

constexpr std::size_t allowed_beyond = std::size_t{64} << 20;
std::size_t most_beyond = 0;

void survive(bytes const& file, bool write) {
    std::size_t found = 0;
    bool inside = true;
    auto count_problems = [&](map_problem const& p) {
        ++found;
        inside = inside && p.position <= file.size() && p.code != map_errc::ok;
    };
    std::size_t const before = live;
    peak = live;
    auto const opened = datafile::open(file, {.report = count_problems});
    CHECK(peak == before); // opening takes no memory
    if (!opened) {
        CHECK(opened.error().position <= file.size());
        return;
    }
    game_map map;
    auto const problem = read_map(*opened, map, {.report = count_problems});
    CHECK(inside);
    std::size_t const used = peak - before;
    if (used > allowed_beyond / 4) { // what it may be takes time to find out
        std::size_t const needed = justified(*opened, map);
        if (used > needed) most_beyond = std::max(most_beyond, used - needed);
        CHECK(used <= needed + allowed_beyond);
    }
    tile_layer game;
    static_cast<void>(read_game_layer(*opened, game));
    static_cast<void>(physics_of(map));
    if (problem.code != map_errc::ok || !write) return;
    // Whatever was read can be written, unless it says why not, and what was written can be read.
    bytes out;
    if (write_map(map, out, {.level = 1}).code != map_errc::ok) return;
    game_map back;
    auto const again = datafile::open(out, {.mode = decoding::strict});
    REQUIRE(again);
    CHECK(read_map(*again, back).code == map_errc::ok);
}

} // namespace

TEST_CASE("maps cut anywhere and changed anywhere are survived, with no more memory than they need") {
    char const* const chosen = std::getenv("TEEWIRE_MUTATIONS");
    int const mutations = chosen != nullptr ? std::atoi(chosen) : 20;
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t extremes[] = {
        0,     1,     -1,    2,    3,        4,        36,    255,       256,       1024,       32767,
        65535, 65536, 65537, most, most - 1, most - 3, -most, -most - 1, 0x1000000, 0x40000000, 0x7fff0000};
    for (auto const& path : corpus::some(maps())) {
        CAPTURE(path.filename().string());
        auto const whole = corpus::read_bytes(path);
        auto const data = whole.size() - datafile::open(whole)->data_bytes();
        test::random random{whole.size()};
        for (int i = 0; i < mutations; ++i) {
            CAPTURE(i);
            bytes file = whole;
            switch (i % 4) {
            case 0: file.resize(random.below(whole.size())); break;
            case 1: // one byte of the blocks, or a few
                for (std::size_t n = 1 + random.below(3); n > 0; --n)
                    file[data + random.below(file.size() - data)] = random.byte();
                break;
            case 2: file[random.below(data)] = random.byte(); break;
            case 3: // one number before the blocks, or a few: header, tables and items
                for (std::size_t n = 1 + random.below(3); n > 0; --n)
                    test::set_int(file, 4 * random.below(data / 4), extremes[random.below(std::size(extremes))]);
                break;
            }
            survive(file, i % 8 == 3 && whole.size() < 50'000);
        }
        // Every number of the header and every stated size, set to the extremes.
        for (std::size_t at = 4; at < 36; at += 4)
            for (std::int32_t const value : extremes) {
                bytes file = whole;
                test::set_int(file, at, value);
                survive(file, false);
            }
    }
    MESSAGE("most memory beyond what was needed: " << most_beyond << " bytes");
}
