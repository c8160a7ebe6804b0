// Real demos: what they decode to, that they can be written again byte for byte, that seeking equals playing, and that
// damage is found and survived.
#include "corpus.hpp"
#include "random.hpp"

#include "workloads.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/demo_writer.hpp>
#include <teewire/varint.hpp>

#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <utility>

using namespace teewire;

namespace {

std::uint64_t hash(snapshot_view snapshot) { return bench::fnv1a64(snapshot.ints()); }

std::string checksum_line(std::int32_t tick, snapshot_view s) {
    char line[96];
    std::snprintf(line, sizeof line, "%" PRId32 " %zu %zu %08" PRIx32 " %016" PRIx64, tick, s.size(), s.data_size(),
                  s.checksum(), hash(s));
    return line;
}

struct opened_demo {
    explicit opened_demo(std::vector<std::uint8_t> const& bytes, demo_player_memory& memory)
        : reader{*demo_reader::open(bytes)}, sizes{*detect_size_table(reader, memory).sizes} {}
    demo_reader reader;
    size_table sizes;
};

} // namespace

TEST_CASE("every demo decodes to what two other decoders say") {
    auto const memory = std::make_unique<demo_player_memory>();
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto const bytes = corpus::read_bytes(path);
        opened_demo demo{bytes, *memory};
        demo_player player{demo.reader, *memory, {&demo.sizes, decoding::lenient, nullptr}};
        std::ifstream expected{corpus::folder() / "expected/demos" / (path.stem().string() + ".txt")};
        REQUIRE(expected);
        std::string line;
        demo_event event;
        std::size_t differences = 0;
        while (player.next(event)) {
            if (event.kind != demo_event_kind::snapshot) continue;
            if (!std::getline(expected, line)) line.clear();
            differences += line != checksum_line(event.tick, player.state());
        }
        CHECK(differences == 0);
        CHECK_FALSE(std::getline(expected, line)); // none is missing
        bool const cut = path.stem() == "b11_server-player-demo_0.7-client_nomap" ||
                         path.stem() == "b11_server_killed" || path.stem() == "derived_b7_truncated_mid_chunk";
        CHECK(player.error().what.code == (cut ? errc::truncated : errc::ok));
    }
}

TEST_CASE("strict decoding refuses nothing but negative types") {
    auto const memory = std::make_unique<demo_player_memory>();
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto const bytes = corpus::read_bytes(path);
        opened_demo demo{bytes, *memory};
        demo_player player{demo.reader, *memory, {&demo.sizes, decoding::strict, nullptr}};
        for (demo_event event; player.next(event);) {
        }
        auto const code = player.error().what.code;
        if (path.stem() == "s8_server_Tsunami_200757") CHECK(code == errc::bad_type);
        else CHECK((code == errc::ok || code == errc::truncated));
    }
}

TEST_CASE("the size table is found whatever the header says") {
    auto const memory = std::make_unique<demo_player_memory>();
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto const bytes = corpus::read_bytes(path);
        auto const reader = *demo_reader::open(bytes);
        auto const& found = detect_size_table(reader, *memory);
        if (path.stem() == "b11_server-player-demo_0.7-client_nomap") CHECK(found.name == "0.7-recorded");
        else CHECK(found.name == (reader.header().says_07() ? "0.7" : "0.6"));
    }
}

namespace {

// The file up to its damage, written again from ints and messages.
std::vector<std::uint8_t> write_again(std::vector<std::uint8_t> const& bytes, huffman_end ending,
                                      demo_player_memory& memory, demo_encoder_memory& encoder_memory) {
    auto reader = *demo_reader::open(bytes);
    std::vector<std::uint8_t> written(reader.header().size());
    REQUIRE(*write_demo_header(reader.header(), written) == written.size());
    written.insert(written.end(), reader.map().begin(), reader.map().end());
    demo_encoder encoder{encoder_memory, reader.header().version, ending};
    std::vector<std::uint8_t> out(demo_encoder::max_bytes);
    for (demo_chunk chunk; reader.next(chunk);) {
        result<std::size_t> size = failure{errc::truncated, 0};
        if (chunk.kind == demo_chunk_kind::tick) {
            size = encoder.write_tick(chunk.tick, chunk.keyframe, out);
        } else {
            auto const packed = huffman_decode(chunk.payload, memory.packed);
            REQUIRE(packed);
            auto const count =
                decode_varints(std::span{memory.packed}.first(*packed), memory.ints, decoding::strict);
            REQUIRE(count);
            auto const ints = std::span{memory.ints}.first(*count);
            size = chunk.kind == demo_chunk_kind::message
                       ? encoder.write_message(message_bytes(ints, memory.message), out)
                       : encoder.write_ints(chunk.kind, ints, out);
        }
        REQUIRE(size);
        written.insert(written.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*size));
    }
    return written;
}

} // namespace

TEST_CASE("every demo can be written again from its ints and messages, byte for byte") {
    auto const memory = std::make_unique<demo_player_memory>();
    auto const encoder_memory = std::make_unique<demo_encoder_memory>();
    std::size_t only_exact = 0;
    std::size_t only_padded = 0;
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto bytes = corpus::read_bytes(path);
        auto const overview = scan_demo(*demo_reader::open(bytes), {});
        if (overview.error.code != errc::ok) bytes.resize(overview.error.position);
        bool const exact = write_again(bytes, huffman_end::exact, *memory, *encoder_memory) == bytes;
        bool const padded = write_again(bytes, huffman_end::padded, *memory, *encoder_memory) == bytes;
        CHECK((exact || padded));
        only_exact += exact && !padded;
        only_padded += padded && !exact;
    }
    MESSAGE("written with the newer convention: " << only_exact << ", with the older one: " << only_padded);
    CHECK(only_padded > 0);
}

TEST_CASE("seeking anywhere gives the state of linear playback") {
    auto const memory = std::make_unique<demo_player_memory>();
    std::size_t seeks = 0;
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto bytes = corpus::read_bytes(path);
        opened_demo demo{bytes, *memory};
        std::vector<demo_keyframe> keyframes(scan_demo(demo.reader, {}).keyframes);
        auto const overview = scan_demo(demo.reader, keyframes);
        if (keyframes.empty()) continue;

        // The state after each tick, and where its marker is.
        struct state {
            std::int32_t tick;
            std::size_t position;
            std::uint64_t hash;
        };
        std::vector<state> states;
        demo_player player{demo.reader, *memory, {&demo.sizes, decoding::lenient, nullptr}};
        for (demo_event event; player.next(event);) {
            if (event.kind == demo_event_kind::tick) states.push_back({event.tick, event.position, 0});
            if (!states.empty()) states.back().hash = hash(player.state());
        }
        auto const expected = [&](std::int32_t tick) {
            demo_keyframe start = keyframes.front();
            for (auto const& k : keyframes)
                if (k.tick <= tick) start = k;
            tick = std::max(tick, start.tick);
            auto at = std::find_if(states.begin(), states.end(),
                                   [&](state const& s) { return s.position == start.position; });
            REQUIRE(at != states.end());
            while (at + 1 != states.end() && at[1].tick <= tick) ++at;
            return *at;
        };

        test::random random{overview.ticks};
        auto const range = static_cast<std::size_t>(overview.last_tick - overview.first_tick) + 1;
        for (int i = 0; i < 100; ++i) {
            std::int32_t tick = overview.first_tick + static_cast<std::int32_t>(random.below(range));
            if (i % 10 == 0) tick = overview.first_tick - 1 - i;
            if (i % 10 == 5) tick = overview.last_tick + 1 + i;
            if (i % 10 == 7) tick = player.tick() + 3;
            CAPTURE(tick);
            state const wanted = expected(tick);
            // A seek that reaches the damage of a cut file says so, with the state before it.
            bool const reaches_damage =
                overview.error.code != errc::ok && wanted.position == states.back().position;
            CHECK(player.seek(tick, keyframes) == !reaches_damage);
            CHECK(player.tick() == wanted.tick);
            CHECK(hash(player.state()) == wanted.hash);
            ++seeks;
        }
    }
    CHECK(seeks > 4000);
}

namespace {

// Plays to the end; whatever is in the file, there must be an end, and an error must lie inside the file.
void survive(std::vector<std::uint8_t> const& bytes, demo_player_memory& memory) {
    auto const reader = demo_reader::open(bytes);
    if (!reader) {
        CHECK(reader.error().position <= bytes.size());
        return;
    }
    note_log notes;
    demo_player player{*reader, memory, {detect_size_table(*reader, memory).sizes, decoding::lenient, &notes}};
    std::size_t last = 0;
    bool forwards = true;
    for (demo_event event; player.next(event);) {
        forwards = forwards && event.position >= last;
        last = event.position;
    }
    CHECK(forwards);
    if (player.error().what.code != errc::ok) {
        CHECK(player.error().position >= last);
        CHECK(player.error().position < bytes.size());
    }
}

} // namespace

TEST_CASE("demos cut anywhere and changed anywhere are survived") {
    auto const memory = std::make_unique<demo_player_memory>();
    char const* const chosen = std::getenv("TEEWIRE_MUTATIONS");
    int const mutations = chosen != nullptr ? std::atoi(chosen) : 20;
    for (auto const& path : corpus::demos()) {
        CAPTURE(path.filename().string());
        auto whole = corpus::read_bytes(path);
        std::size_t const chunks = demo_reader::open(whole)->position();
        test::random random{whole.size()};
        for (int i = 0; i < mutations; ++i) {
            // A quarter of the places lies in the header and map, which may be a small or a large part of the file.
            std::size_t const at = i % 4 == 0 ? random.below(chunks) : chunks + random.below(whole.size() - chunks);
            survive({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)}, *memory);
            std::uint8_t const before = std::exchange(whole[at], random.byte());
            survive(whole, *memory);
            whole[at] = before;
        }
    }
}
