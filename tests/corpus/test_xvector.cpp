// xVector maps: the test vectors, what the original program wrote, and what becomes of both when they are damaged.
#include "corpus.hpp"
#include "random.hpp"

#include <teewire/map/xvector.hpp>

#include <doctest/doctest.h>
#include <rapidjson/document.h>

using namespace teewire;

namespace {

using bytes = std::vector<std::uint8_t>;

std::vector<std::filesystem::path> files(std::filesystem::path const& folder, std::string_view extension) {
    std::vector<std::filesystem::path> paths;
    for (auto const& entry : std::filesystem::directory_iterator{folder})
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::filesystem::path vectors() { return corpus::beside("spec") / "vectors/xvector"; }

// A file as read; of several tiles for one cell, the last. Borrows the file.
struct reading {
    map_problem error;
    xvector_header header;
    std::vector<xvector_tile> tiles;
    std::vector<map_errc> reports;

    [[nodiscard]] bool has(std::string_view report) const {
        return std::any_of(reports.begin(), reports.end(), [&](map_errc c) { return name(c) == report; });
    }
};

reading read(bytes const& file, decoding mode) {
    reading r;
    auto keep = [&](map_problem const& p) { r.reports.push_back(p.code); };
    auto const opened = xvector_reader::open(file, {.mode = mode, .report = keep});
    if (!opened) {
        r.error = opened.error();
        return r;
    }
    xvector_reader cells = *opened;
    r.header = cells.header();
    std::vector<std::uint32_t> sprites(r.header.cells());
    bytes given(sprites.size());
    r.error = read_xvector_cells(cells, sprites, given);

    xvector_reader reader = *xvector_reader::open(file, {.mode = mode});
    for (xvector_tile t; reader.next(t);) r.tiles.push_back(t);
    CHECK(reader.error() == r.error);
    if (r.has("duplicate_tile"))
        for (std::size_t i = 0; i < r.tiles.size();) {
            auto const same = [&](xvector_tile const& o) {
                return o.x == r.tiles[i].x && o.y == r.tiles[i].y && o.z == r.tiles[i].z;
            };
            bool const again = std::find_if(r.tiles.begin() + static_cast<std::ptrdiff_t>(i) + 1, r.tiles.end(),
                                            same) != r.tiles.end();
            if (again) r.tiles.erase(r.tiles.begin() + static_cast<std::ptrdiff_t>(i));
            else ++i;
        }
    for (xvector_tile const& t : r.tiles) CHECK(sprites[r.header.cell(t.x, t.y, t.z)] == t.sprite);
    CHECK(std::count(given.begin(), given.end(), 1) == static_cast<std::ptrdiff_t>(r.tiles.size()));
    return r;
}

// The codes of the specification that have another name here.
std::string_view own_name(std::string_view code) {
    if (code == "bad_utf8") return "bad_name_encoding";
    if (code == "limit_exceeded") return "too_large";
    return code;
}

bytes written(reading const& r) {
    bytes out(xvector_size(r.header, r.tiles.size()));
    bytes cells(r.header.cells());
    auto const size = write_xvector(r.header, r.tiles, out, cells);
    REQUIRE(size);
    CHECK(*size == out.size());
    return out;
}

} // namespace

TEST_CASE("xVector vectors give the listed verdicts") {
    std::ifstream manifest{vectors() / "manifest.json"};
    std::string const text{std::istreambuf_iterator<char>{manifest}, {}};
    rapidjson::Document list;
    list.Parse(text.c_str());
    REQUIRE(list.IsArray());
    CHECK(list.Size() == 25);
    for (auto const& v : list.GetArray()) {
        std::string const file = v["file"].GetString();
        CAPTURE(file);
        auto const content = corpus::read_bytes(vectors() / file);
        auto const r = read(content, decoding::strict);
        std::string_view const expected = v["expect"].GetString();
        bool const other = expected == "other_layout";
        if (!other && expected != "ok" && expected != "ok_or_unsupported_version") {
            CHECK(name(r.error.code) == own_name(expected));
            continue;
        }
        CHECK(name(r.error.code) == name(map_errc::ok));
        CHECK(r.has("other_layout") == other);
        CHECK((r.header.layout == xvector_layout::original_program) == other);
        CHECK(r.has("newer_version") == (expected != "ok" && !other));
        if (v.HasMember("warning")) CHECK(r.has(v["warning"].GetString()));
        if (v.HasMember("reports"))
            for (auto const& report : v["reports"].GetArray()) CHECK(r.has(report.GetString()));
        if (v.HasMember("stripped")) CHECK(r.header.stripped() == v["stripped"].GetBool());
        if (v.HasMember("tiles")) {
            auto const tiles = v["tiles"].GetArray();
            REQUIRE(tiles.Size() == r.tiles.size());
            for (rapidjson::SizeType i = 0; i < tiles.Size(); ++i) {
                CHECK(tiles[i][0].GetUint() == r.tiles[i].x);
                CHECK(tiles[i][1].GetUint() == r.tiles[i].y);
                CHECK(tiles[i][2].GetUint() == r.tiles[i].z);
                CHECK(tiles[i][3].GetUint() == r.tiles[i].sprite);
            }
        }
        if (!v.HasMember("header")) continue;
        auto const& h = v["header"];
        auto const same_text = [&](char const* key, std::string_view ours) {
            CHECK(ours == (h.HasMember(key) ? h[key].GetString() : ""));
        };
        same_text("name", r.header.name);
        same_text("north", r.header.north);
        same_text("east", r.header.east);
        same_text("south", r.header.south);
        same_text("west", r.header.west);
        same_text("background", r.header.background);
        CHECK(r.header.width == h["width"].GetUint());
        CHECK(r.header.height == h["height"].GetUint());
        CHECK(r.header.depth == h["depth"].GetUint());
        CHECK(r.header.player_depth == h["player_depth"].GetUint());
        if (!h.HasMember("scroll")) continue;
        CHECK(r.header.scroll_x == h["scroll"][0].GetInt());
        CHECK(r.header.scroll_y == h["scroll"][1].GetInt());
        CHECK(double{r.header.parallax_x} == h["parallax"][0].GetDouble());
        CHECK(double{r.header.parallax_y} == h["parallax"][1].GetDouble());
        CHECK(r.header.background_ignored() == h["background_ignored"].GetBool());
    }
}

TEST_CASE("files of the original program are read, and written again byte for byte") {
    std::size_t same = 0;
    for (auto const& path : files(corpus::folder() / "xvector", ".map")) {
        std::string const file = path.stem();
        CAPTURE(file);
        auto const content = corpus::read_bytes(path);
        bool const bad = file.starts_with("bad_");
        auto const r = read(content, bad ? decoding::strict : decoding::lenient);
        if (bad) {
            CHECK((r.error.code != map_errc::ok || r.has("tile_out_of_bounds")));
            continue;
        }
        CHECK(name(r.error.code) == name(map_errc::ok));
        CHECK(r.header.layout == xvector_layout::original_program);
        CHECK(r.has("other_layout"));
        CHECK(r.has("trailing_data") == file.starts_with("hand_trailing"));
        CHECK(r.has("missing_end_of_tiles") == file.starts_with("hand_full_without_end"));
        CHECK(r.has("duplicate_tile") == file.starts_with("hand_unordered_duplicate"));
        CHECK(r.has("unknown_flag_bits") == file.starts_with("hand_unknown_tile_flags"));
        CHECK(r.header.stripped() == file.starts_with("r1_stripped"));
        if (!file.starts_with("r1_")) continue;
        // The documented layout holds the same.
        CHECK(written(r) == content);
        reading documented = r;
        documented.header.layout = xvector_layout::revision_1;
        auto const in_other_layout = written(documented);
        auto const again = read(in_other_layout, decoding::strict);
        CHECK(again.error.code == map_errc::ok);
        CHECK(again.header.name == r.header.name);
        CHECK(again.header.background == r.header.background);
        CHECK(again.tiles.size() == r.tiles.size());
        ++same;
    }
    CHECK(same == 9);
}

TEST_CASE("damaged xVector maps are survived") {
    std::size_t mutations = 300;
    if (char const* const chosen = std::getenv("TEEWIRE_MUTATIONS")) mutations = std::strtoul(chosen, nullptr, 10);
    auto paths = files(vectors(), ".xvmap");
    for (auto const& path : files(corpus::folder() / "xvector", ".map")) paths.push_back(path);
    test::random random{3};
    for (auto const& path : paths) {
        auto const whole = corpus::read_bytes(path);
        if (whole.empty() || whole.size() > 20'000) continue;
        for (std::size_t i = 0; i < mutations; ++i) {
            bytes file = whole;
            for (std::size_t n = 0; n <= random.below(3); ++n) {
                std::size_t const at = random.below(file.size());
                std::uint32_t const extremes[] = {0, 1, 0x40000000, 0x7fffffff, 0x80000000, 0xffffffff};
                std::uint32_t const value = extremes[random.below(6)];
                if (random.chance(40) || at + 4 > file.size()) file[at] = random.byte();
                else
                    for (std::size_t k = 0; k < 4; ++k) file[at + k] = static_cast<std::uint8_t>(value >> 8 * k);
            }
            if (random.chance(30)) file.resize(random.below(file.size()));
            file.shrink_to_fit(); // so that a sanitizer sees reads past the end
            bytes out(file.size());
            for (auto const mode : {decoding::strict, decoding::lenient}) {
                auto opened = xvector_reader::open(file, {.mode = mode});
                if (!opened) {
                    CHECK(opened.error().position <= file.size());
                    continue;
                }
                xvector_reader reader = *opened;
                xvector_header const& h = reader.header();
                std::size_t wrong = 0;
                for (xvector_tile t; reader.next(t);) wrong += t.x >= h.width || t.y >= h.height || t.z >= h.depth;
                CHECK(wrong == 0);
                CHECK(reader.error().position <= file.size());
                CHECK(reader.position() <= file.size());
            }
            auto const stripped = strip_xvector(file, out);
            if (!stripped) continue;
            auto const again = xvector_reader::open(std::span{out}.first(*stripped));
            REQUIRE(again);
            CHECK(again->header().stripped());
        }
    }
}
