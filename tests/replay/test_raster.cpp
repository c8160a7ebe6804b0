// Draw lists as pixels.
#include "video/encoder.hpp"
#include "video/raster.hpp"
#include "video/text.hpp"

#include "check.hpp"
#include "maps.hpp"
#include "random.hpp"

#include <teewire/scene/draw_list.hpp>

#include <limits>

using namespace teewire;
using namespace teewire::replay;

namespace {

constexpr color red{255, 0, 0, 255}, green{0, 255, 0, 255}, blue{0, 0, 255, 255}, white{255, 255, 255, 255};

struct drawing {
    std::vector<scene::vertex> vertices = std::vector<scene::vertex>(4096);
    std::vector<scene::draw_command> commands = std::vector<scene::draw_command>(256);
    scene::draw_list list{vertices, commands};
    raster_pictures pictures;
    text_layout texts{{}, ""};
    frame to;

    drawing(std::int32_t width, std::int32_t height) : to{width, height} {
        list.set_view({0, 0, static_cast<float>(width), static_cast<float>(height)});
    }
    void draw(std::int32_t first = 0, std::int32_t end = INT32_MAX) {
        texts.place(list, to);
        draw_rows(list, pictures, texts, to, first, std::min(end, to.height));
    }
    // A letter for each pixel.
    [[nodiscard]] std::string shown() const {
        std::string out;
        for (std::size_t n = 0; n < to.pixels.size(); ++n) {
            color const c = to.pixels[n];
            if (n > 0 && n % static_cast<std::size_t>(to.width) == 0) out += ' ';
            out += c == color{} ? '.'
                   : c == red   ? 'r'
                   : c == green ? 'g'
                   : c == blue  ? 'b'
                   : c == white ? 'w'
                                : '?';
        }
        return out;
    }
};

constexpr scene::rgba all_red = 0xff0000ff, half_red = 0x800000ff;

picture four() {
    picture p{2, 2};
    p.pixels = {red, green, blue, white};
    return p;
}

mip_picture const& textured() {
    static mip_picture const made{four()};
    return made;
}

// 16 by 16 tiles of 2 by 2 pixels; tile 1 is like four().
picture sheet() {
    picture p{32, 32, {0, 0, 0, 0}};
    p.at(2, 0) = red;
    p.at(3, 0) = green;
    p.at(2, 1) = blue;
    p.at(3, 1) = white;
    return p;
}

} // namespace

TEST_CASE("raster: boxes cover the pixels whose middles they have") {
    drawing d{4, 3};
    d.list.sprite(scene::no_texture, {}, 2, 1.5F, 2, 1, 0, all_red);
    d.draw();
    CHECK(d.shown() == ".... .rr. ....");
    drawing shifted{4, 3};
    shifted.list.sprite(scene::no_texture, {}, 2.4F, 1.9F, 2, 1, 0, all_red);
    shifted.draw();
    CHECK(shifted.shown() == ".... .rr. ....");
    drawing out{4, 3};
    out.list.sprite(scene::no_texture, {}, -5, 1, 200, 0.2F, 0, all_red); // between two rows
    out.list.sprite(scene::no_texture, {}, 1e30F, 1, 200, 200, 0, all_red);
    out.list.sprite(scene::no_texture, {}, std::numeric_limits<float>::quiet_NaN(), 1, 200, 200, 0, all_red);
    out.draw();
    CHECK(out.shown() == ".... .... ....");
}

TEST_CASE("raster: the clip, and bands of rows") {
    drawing d{4, 4};
    d.list.set_clip({0.25F, 0, 0.75F, 0.5F});
    d.list.sprite(scene::no_texture, {}, 2, 2, 8, 8, 0, all_red);
    d.draw();
    CHECK(d.shown() == ".rr. .rr. .... ....");
    drawing band{4, 4};
    band.list.sprite(scene::no_texture, {}, 2, 2, 8, 8, 0, all_red);
    band.draw(1, 3);
    CHECK(band.shown() == ".... rrrr rrrr ....");
}

TEST_CASE("raster: the two triangles of a quad meet between its first and its last corner") {
    drawing d{8, 8};
    scene::rgba const black = scene::rgba_of(0, 0, 0);
    d.list.quad(
        scene::no_texture, false,
        {{{0, 0, 0, 0, scene::white}, {8, 0, 0, 0, black}, {0, 8, 0, 0, black}, {8, 8, 0, 0, scene::white}}});
    d.draw();
    for (std::size_t n = 0; n < 8; ++n) {
        CHECK(d.to.pixels[n * 8 + n].r > 245);     // along it
        CHECK(d.to.pixels[n * 8 + 7 - n].r < 230); // across
    }
}

TEST_CASE("raster: each pixel of a turned quad is drawn once") {
    drawing d{64, 64};
    for (float angle = 0; angle < 3; angle += 0.37F) {
        d.to = frame{64, 64};
        d.list = {d.vertices, d.commands};
        d.list.set_view({0, 0, 64, 64});
        d.list.sprite(scene::no_texture, {}, 31.3F, 32.7F, 50, 30, angle, half_red);
        d.draw();
        std::size_t drawn = 0;
        for (pixel const p : d.to.pixels) {
            if (p.r == 0) continue;
            ++drawn;
            REQUIRE(p.r == 128); // twice would be more
        }
        CHECK(drawn > 1400);
        CHECK(drawn < 1600);
    }
}

TEST_CASE("raster: textures, as they are, enlarged, and repeated") {
    drawing d{2, 2};
    d.pictures.textures.push_back(&textured());
    d.list.sprite(0, {}, 1, 1, 2, 2);
    d.draw();
    CHECK(d.shown() == "rg bw");
    drawing mirrored{2, 2};
    mirrored.pictures.textures.push_back(&textured());
    mirrored.list.sprite(0, {}, 1, 1, -2, 2);
    mirrored.draw();
    CHECK(mirrored.shown() == "gr wb");
    drawing repeated{6, 2};
    repeated.pictures.textures.push_back(&textured());
    repeated.list.quad(0, true,
                       {{{0, 0, 0, 0, scene::white},
                         {6, 0, 3, 0, scene::white},
                         {0, 2, 0, 1, scene::white},
                         {6, 2, 3, 1, scene::white}}});
    repeated.draw();
    CHECK(repeated.shown() == "rgrgrg bwbwbw");
    drawing clamped{6, 2};
    clamped.pictures.textures.push_back(&textured());
    clamped.list.quad(0, false,
                      {{{0, 0, 0, 0, scene::white},
                        {6, 0, 3, 0, scene::white},
                        {0, 2, 0, 1, scene::white},
                        {6, 2, 3, 1, scene::white}}});
    clamped.draw();
    CHECK(clamped.shown() == "rggggg bwwwww");
    drawing large{8, 8};
    large.pictures.textures.push_back(&textured());
    large.list.sprite(0, {}, 4, 4, 8, 8);
    large.draw();
    CHECK(large.to.pixels[0] == red);
    CHECK(large.to.pixels[63] == white);
    color const middle = large.to.pixels[4 * 8 + 3];
    CHECK((middle.r > 60 && middle.r < 200));
    // A texture that is not there is nothing.
    drawing none{2, 2};
    none.list.sprite(7, {}, 1, 1, 2, 2);
    none.draw();
    CHECK(none.shown() == ".. ..");
}

TEST_CASE("raster: colours between the corners") {
    drawing d{256, 1};
    d.list.quad(scene::no_texture, false,
                {{{0, 0, 0, 0, 0xff000000},
                  {256, 0, 0, 0, 0xff0000ff},
                  {0, 1, 0, 0, 0xff000000},
                  {256, 1, 0, 0, 0xff0000ff}}});
    d.draw();
    for (std::size_t x = 0; x < 256; ++x) {
        CHECK(std::abs(d.to.pixels[x].r - static_cast<int>(x)) <= 2);
        CHECK(d.to.pixels[x].a >= 254);
    }
}

TEST_CASE("raster: tiles turn and mirror as their flags say, and go on beyond the layer") {
    struct {
        std::uint8_t flags;
        char const* shown;
    } const cases[] = {{0, "rg bw"},
                       {tile_flag::mirror_x, "gr wb"},
                       {tile_flag::mirror_y, "bw rg"},
                       {tile_flag::rotate, "br wg"},
                       {tile_flag::rotate | tile_flag::mirror_x, "wg br"}};
    for (auto const& c : cases) {
        CAPTURE(int{c.flags});
        game_map map = test::small_map(1, 1);
        map.layers[0].tiles()->kind = tile_kind::tiles;
        map.layers[0].tiles()->image = 0;
        map.layers[0].tiles()->tiles[0] = {1, c.flags, 0, 0};
        tile_sheet const tiles{sheet()};
        drawing d{2, 2};
        d.pictures.map = &map;
        d.pictures.sheets = {&tiles};
        d.list.set_view({0, 0, 32, 32});
        d.list.tiles(0, scene::white);
        d.draw();
        CHECK(d.shown() == c.shown);
        drawing beyond{2, 2};
        beyond.pictures = d.pictures;
        beyond.list.set_view({320, -640, 32, 32});
        beyond.list.tiles(0, scene::white);
        beyond.draw();
        CHECK(beyond.shown() == c.shown);
    }
}

TEST_CASE("raster: any list is drawn, and in bands as at once") {
    test::random rng{3};
    for (int round = 0; round < 60; ++round) {
        drawing whole{61, 47}, bands{61, 47};
        for (auto* d : {&whole, &bands}) d->pictures.textures.push_back(&textured());
        auto const place = [&](float range) {
            return (static_cast<float>(rng.below(20001)) / 10000 - 1) * (rng.below(8) == 0 ? 1e7F : range);
        };
        for (int n = 0; n < 30; ++n) {
            std::array<scene::vertex, 4> corners;
            for (auto& v : corners)
                v = {place(80), place(80), place(3), place(3), static_cast<scene::rgba>(rng.next())};
            if (rng.below(2) == 0)
                for (auto& v : corners) v.color = corners[0].color;
            bool const textured = rng.below(2) == 0, repeats = rng.below(2) == 0;
            for (auto* d : {&whole, &bands}) d->list.quad(textured ? 0 : scene::no_texture, repeats, corners);
        }
        whole.draw();
        for (std::int32_t y = 0; y < 47; y += 5) bands.draw(y, std::min(y + 5, 47));
        CHECK(whole.to.pixels == bands.to.pixels);
    }
}
