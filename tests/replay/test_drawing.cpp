// Drawing of maps, pixel by pixel.
#include "map/canvas.hpp"
#include "map/picture.hpp"

#include "check.hpp"

#include <teewire/map/tiles.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

using namespace teewire;
using namespace teewire::replay;

namespace {

constexpr color black{0, 0, 0, 255}, white{255, 255, 255, 255}, red{255, 0, 0, 255}, green{0, 255, 0, 255},
    blue{0, 0, 255, 255}, nothing{9, 9, 9, 0};

/// A letter for each pixel, rows one after the other.
std::string shown(picture const& p) {
    std::string out;
    for (std::size_t y = 0; y < p.height; ++y) {
        if (y > 0) out += ' ';
        for (std::size_t x = 0; x < p.width; ++x) {
            color const c = p.at(x, y);
            out += c == black ? '.' : c == white ? 'w' : c == red ? 'r' : c == green ? 'g' : c == blue ? 'b' : '?';
        }
    }
    return out;
}

picture four() {
    picture p{2, 2};
    p.pixels = {red, green, blue, white};
    return p;
}

bool near(color a, color b) {
    auto const close = [](int x, int y) { return std::abs(x - y) <= 2; };
    return close(a.r, b.r) && close(a.g, b.g) && close(a.b, b.b) && close(a.a, b.a);
}

vertex at(double x, double y, std::array<double, 4> tint = {255, 255, 255, 255}) { return {x, y, 0, 0, tint}; }

} // namespace

TEST_CASE("boxes are filled inside of the clip, and nowhere else") {
    canvas c{4, 3, black};
    CHECK(shown(c.result()) == ".... .... ....");
    c.fill({1, 1, 3, 2}, red);
    CHECK(shown(c.result()) == ".... .rr. ....");
    c.fill({-5, 2, 100, 100}, green);
    CHECK(shown(c.result()) == ".... .rr. gggg");
    c.fill({2, 2, 2, 3}, white); // empty
    c.fill({3, 0, 1, 1}, white);
    CHECK(shown(c.result()) == ".... .rr. gggg");
    c.set_clip({1, 0, 3, 100});
    c.fill(c.all(), blue);
    CHECK(shown(c.result()) == ".bb. .bb. gbbg");
    c.set_clip({0, 0, 0, 0});
    c.fill(c.all(), white);
    CHECK(shown(c.result()) == ".bb. .bb. gbbg");
    c.set_clip(c.all());
    c.fill(c.all(), nothing);
    CHECK(shown(c.result()) == ".bb. .bb. gbbg");
}

TEST_CASE("what lets light through is blended over what is there") {
    canvas c{2, 1, {100, 200, 0, 255}};
    c.fill({0, 0, 1, 1}, {200, 0, 255, 128});
    CHECK(c.result().at(0, 0) == color{150, 100, 128, 255});
    CHECK(c.result().at(1, 0) == color{100, 200, 0, 255});
    c.fill({1, 0, 2, 1}, {200, 0, 255, 1});
    CHECK(c.result().at(1, 0) == color{100, 199, 1, 255});
    CHECK(multiply({255, 128, 0, 255}, {100, 100, 100, 100}) == color{100, 50, 0, 100});
    CHECK(multiply(white, {1, 2, 3, 4}) == color{1, 2, 3, 4});
}

TEST_CASE("a disc is as large as fits into its box") {
    canvas c{6, 6, black};
    c.fill_disc({0, 0, 6, 6}, red);
    CHECK(shown(c.result()) == ".rrrr. rrrrrr rrrrrr rrrrrr rrrrrr .rrrr.");
    canvas wide{7, 3, black};
    wide.fill_disc({0, 0, 7, 3}, red); // in the middle
    CHECK(shown(wide.result()) == "..rrr.. ..rrr.. ..rrr..");
    canvas cut{6, 6, black};
    cut.set_clip({0, 0, 3, 2});
    cut.fill_disc({0, 0, 6, 6}, red);
    CHECK(shown(cut.result()) == ".rr... rrr... ...... ...... ...... ......");
}

TEST_CASE("tiles are mirrored and turned as their flags say, and stretched") {
    auto const drawn = [](std::uint8_t flags) {
        canvas c{2, 2, black};
        c.draw_tile(c.all(), four(), flags, white);
        return shown(c.result());
    };
    CHECK(drawn(0) == "rg bw");
    CHECK(drawn(tile_flag::mirror_x) == "gr wb");
    CHECK(drawn(tile_flag::mirror_y) == "bw rg");
    CHECK(drawn(tile_flag::rotate) == "br wg"); // a quarter, clockwise
    CHECK(drawn(tile_flag::rotate | tile_flag::mirror_x) == "wg br");
    CHECK(drawn(tile_flag::rotate | tile_flag::mirror_y) == "rb gw");
    CHECK(drawn(tile_flag::mirror_x | tile_flag::mirror_y) == "wb gr");
    CHECK(drawn(tile_flag::opaque) == "rg bw");

    canvas large{5, 4, black};
    large.draw_tile({1, 0, 5, 4}, four(), 0, white);
    CHECK(shown(large.result()) == ".rrgg .rrgg .bbww .bbww");
    canvas outside{3, 3, black};
    outside.draw_tile({-1, -1, 1, 1}, four(), 0, white);
    CHECK(shown(outside.result()) == "w.. ... ...");
    canvas tinted{2, 2, black};
    tinted.draw_tile(tinted.all(), four(), 0, {255, 0, 0, 255});
    CHECK(shown(tinted.result()) == "r. .r");
    canvas unseen{2, 2, red};
    unseen.draw_tile(unseen.all(), picture{2, 2, nothing}, 0, white);
    unseen.draw_tile(unseen.all(), four(), 0, {255, 255, 255, 0});
    CHECK(shown(unseen.result()) == "rr rr");
}

TEST_CASE("triangles that share an edge leave no gap and do not overlap") {
    // Either way round.
    for (bool const turned : {false, true}) {
        CAPTURE(turned);
        canvas c{4, 4, black};
        std::array<double, 4> const half{255, 255, 255, 128};
        auto const a = at(0, 0, half), b = at(4, 0, half), d = at(0, 4, half), e = at(4, 4, half);
        if (turned) c.draw_triangle({a, d, b}, nullptr);
        else c.draw_triangle({a, b, d}, nullptr);
        c.draw_triangle({b, d, e}, nullptr);
        for (color const& pixel : c.result().pixels) CHECK(pixel == color{128, 128, 128, 255}); // once each
    }
    canvas c{4, 4, black};
    c.draw_triangle({at(0, 0), at(3, 0), at(0, 3)}, nullptr); // those on the slope belong to its other side
    CHECK(shown(c.result()) == "ww.. w... .... ....");
    c.draw_triangle({at(0, 0), at(3.5, 0), at(0, 3.5)}, nullptr);
    CHECK(shown(c.result()) == "www. ww.. w... ....");
    canvas flat{2, 2, black};
    flat.draw_triangle({at(0, 0), at(1, 1), at(2, 2)}, nullptr);
    CHECK(shown(flat.result()) == ".. ..");
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()};
    for (double const value : odd) {
        flat.draw_triangle({at(value, 0), at(2, 0), at(0, 2)}, nullptr);
        flat.draw_triangle({at(0, 0), at(2, value), at(0, 2)}, nullptr);
    }
    CHECK(shown(flat.result()) == ".. ..");
    // Far outside: nothing overflows, and what is seen is covered.
    flat.draw_triangle({at(-1e300, -1e300), at(1e300, -1e300), at(0, 1e300)}, nullptr);
    CHECK(shown(flat.result()) == "ww ww");
    canvas clipped{3, 3, black};
    clipped.set_clip({1, 1, 2, 2});
    clipped.draw_triangle({at(-10, -10), at(20, -10), at(0, 20)}, nullptr);
    CHECK(shown(clipped.result()) == "... .w. ...");
}

TEST_CASE("colours and textures go from corner to corner") {
    canvas c{100, 1, black};
    c.draw_triangle({at(0, 0, {0, 0, 0, 255}), at(200, 0, {200, 100, 0, 255}), at(0, 200, {0, 0, 0, 255})},
                    nullptr);
    CHECK(c.result().at(50, 0).r >= 50);
    CHECK(c.result().at(50, 0).r <= 51);
    CHECK(c.result().at(50, 0).g == 25);
    CHECK(c.result().at(50, 0).b == 0);

    texture const paint{four()};
    canvas textured{2, 2, black};
    auto corner = [](double x, double y) { return vertex{2 * x, 2 * y, x, y, {255, 255, 255, 255}}; };
    textured.draw_triangle({corner(0, 0), corner(1, 0), corner(0, 1)}, &paint);
    textured.draw_triangle({corner(1, 0), corner(0, 1), corner(1, 1)}, &paint);
    for (std::size_t i = 0; i < 4; ++i) CHECK(near(textured.result().pixels[i], four().pixels[i]));
    // Much smaller than the texture it is its average.
    CHECK(near(paint.sample(0.3, 0.3, 1), {128, 128, 128, 255}));
    CHECK(paint.sample(0.3, 0.3, 100) == paint.sample(0.7, 0.7, 1));
    CHECK(paint.sample(0.25, 0.25, 0) == red);
    CHECK(paint.sample(-0.75, 2.25, 0) == red); // it repeats
    CHECK(paint.sample(0.5, 0.25, 0) == color{128, 128, 0, 255});
    CHECK(paint.sample(0, 0.25, 0) == color{128, 128, 0, 255}); // across the edge
    picture half{2, 1};
    half.pixels = {{255, 0, 0, 255}, {0, 255, 0, 0}};
    CHECK(texture{half}.sample(0.5, 0.5, 0) == color{255, 0, 0, 128}); // what is not seen gives no colour
    CHECK(texture{picture{2, 2, nothing}}.sample(0.5, 0.5, 0) == color{0, 0, 0, 0});
}

TEST_CASE("a texture has 16 by 16 parts") {
    picture all{32, 32};
    for (std::size_t y = 0; y < 32; ++y)
        for (std::size_t x = 0; x < 32; ++x)
            all.at(x, y) = {static_cast<std::uint8_t>(x / 2), static_cast<std::uint8_t>(y / 2), 0, 255};
    texture const t{all};
    for (int index = 0; index < 256; ++index) {
        picture const& part = t.part(static_cast<std::uint8_t>(index), 3);
        REQUIRE(part.width == 3);
        REQUIRE(part.height == 3);
        for (color const& c : part.pixels)
            REQUIRE(c ==
                    color{static_cast<std::uint8_t>(index % 16), static_cast<std::uint8_t>(index / 16), 0, 255});
    }
    CHECK(&t.part(5, 3) == &t.part(5, 3));
    CHECK(t.part(5, 4).width == 4);
    texture const tiny{four()}; // fewer pixels than parts
    CHECK(tiny.part(0, 1).at(0, 0) == red);
    CHECK(tiny.part(255, 1).at(0, 0) == white);
    CHECK(tiny.part(1, 1).at(0, 0) == green);
}

TEST_CASE("pictures are scaled by averaging, with regard to what is seen") {
    CHECK(shown(scaled(four(), 0, 0, 2, 2, 4, 4)) == "rrgg rrgg bbww bbww");
    CHECK(shown(scaled(four(), 1, 0, 1, 2, 1, 2)) == "g w");
    CHECK(near(scaled(four(), 0, 0, 2, 2, 1, 1).at(0, 0), {128, 128, 128, 255}));
    picture half{2, 1};
    half.pixels = {{200, 100, 50, 255}, {0, 0, 0, 0}};
    auto const one = scaled(half, 0, 0, 2, 1, 1, 1).at(0, 0);
    CHECK(one.r == 200);
    CHECK(one.g == 100);
    CHECK(one.a >= 127);
    CHECK(one.a <= 128);
    std::uint8_t const rgba[] = {1, 2, 3, 4, 5, 6, 7, 8};
    auto const p = picture_of(1, 2, rgba);
    CHECK(p.at(0, 0) == color{1, 2, 3, 4});
    CHECK(p.at(0, 1) == color{5, 6, 7, 8});
    CHECK(picture{2, 2}.at(1, 1) == color{0, 0, 0, 0});
    CHECK(picture{}.empty());
    CHECK_FALSE(p.empty());
}

TEST_CASE("PNG: written and read, with an alpha channel where it is needed") {
    auto p = four();
    auto const opaque = encode_png(p);
    REQUIRE(opaque.size() > 33);
    CHECK(opaque[25] == 2); // colour type: RGB
    CHECK(decode_png(opaque).pixels == p.pixels);
    CHECK(decode_png(opaque).width == 2);
    p.at(1, 1).a = 254;
    auto const with_alpha = encode_png(p);
    CHECK(with_alpha[25] == 6); // RGBA
    CHECK(decode_png(with_alpha).pixels == p.pixels);
    picture wide{3, 1, {1, 2, 3, 255}};
    CHECK(decode_png(encode_png(wide)).width == 3);
    CHECK(decode_png(encode_png(wide)).height == 1);
    for (std::size_t size = 0; size < opaque.size() - 16; ++size)
        CHECK_THROWS_AS(static_cast<void>(decode_png(std::span{opaque}.first(size))), std::runtime_error);
    auto bad = opaque;
    bad[20] ^= 1;
    CHECK_THROWS_AS(static_cast<void>(decode_png(bad)), std::runtime_error);
}
