#include "check.hpp"

#include <teewire/cpu.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>
#include <string>

using namespace teewire;

namespace {

std::string digest(std::string_view text) {
    auto const bytes = sha256({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()});
    std::string all = test::hex(bytes);
    std::erase(all, ' ');
    return all;
}

} // namespace

TEST_CASE("SHA-256 of the messages of FIPS 180") {
    CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                 "mnopqrstnopqrstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    CHECK(digest(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 of every length around the ends of blocks") {
    // The digest of the digests of 0 to 129 times "x", from another implementation.
    std::string all;
    for (std::size_t size = 0; size < 130; ++size) all += digest(std::string(size, 'x'));
    CHECK(digest(all) == "199af942eba7fa5d1e16d475169eb24018b14e69339c93d26a9ea6d873b4ace6");
}

TEST_CASE("SHA-256 of pieces is that of the whole, however it is cut") {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37);
    auto const bytes = std::span{reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
    auto const whole = sha256(bytes);
    for (std::size_t piece = 1; piece <= 130; ++piece) {
        sha256_hash hash;
        for (auto rest = bytes; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size())))
            hash.add(rest.first(std::min(piece, rest.size())));
        CHECK(hash.finish() == whole);
    }
}

TEST_CASE("SHA-256 is the same on every level of the processor") {
    cpu_level const used = used_cpu_level();
    std::string text(10'000, 0);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i >> 3);
    for (std::size_t const size : {0, 55, 56, 64, 119, 120, 128, 1000, 9999}) {
        CAPTURE(size);
        // From an odd address, too.
        std::string_view const bytes = std::string_view{text}.substr(1, size);
        cap_cpu_level(cpu_level::scalar);
        std::string const plain = digest(bytes);
        cap_cpu_level(used);
        CHECK(digest(bytes) == plain);
    }
}
