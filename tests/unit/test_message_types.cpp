#include "check.hpp"
#include "message_list.hpp"
#include "random.hpp"

#include "teewire/message_types.hpp"

#include <algorithm>
#include <memory>
#include <set>

using namespace teewire;
using test::error_of;
using test::from_hex;
using test::hex;

namespace {

constexpr protocol protocols[] = {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07};

template <class T>
test::bytes encoded(T const& value, protocol p) {
    test::bytes memory(4096);
    auto const written = encode(value, p, memory);
    REQUIRE(written);
    return test::copy_of(*written);
}

template <class T>
T decoded(test::bytes const& bytes, protocol p) {
    auto const m = parse_message(bytes);
    REQUIRE(m);
    REQUIRE((identify(*m, p) == T::type));
    auto const value = decode<T>(*m, p);
    REQUIRE(value);
    return *value;
}

/// Something in every field.
template <class T>
T filled() {
    return {};
}
std::array<std::uint8_t, 32> const sha = {1, 2, 3, 4};
std::array<std::uint8_t, 5> const map_bytes = {0, 255, 1, 0, 9};
template <>
messages::map_change filled() {
    return {"dm1", 0xf2159e6e, 5805, 8, 1384, sha};
}
template <>
messages::map_data filled() {
    return {true, 0xf2159e6e, 6, map_bytes};
}
template <>
messages::map_details filled() {
    return {"dm1", sha, 0xf2159e6e, 5805, "https://maps"};
}
template <>
messages::input filled() {
    messages::input in{100, 103, 10, {}, 7};
    for (std::size_t i = 0; i < 10; ++i) in.data[i] = static_cast<std::int32_t>(1000 * i) - 3000;
    return in;
}
template <>
messages::tune_params filled() {
    messages::tune_params t;
    t.count = 33;
    for (std::size_t i = 0; i < t.count; ++i) t.values[i] = static_cast<std::int32_t>(100 * i);
    return t;
}
messages::skin filled_skin() {
    return {
        {"standard", "", "twinbopp", "standard", "standard", "negative"}, {1, 0, 1, 0, 1, 0}, {-1, 2, 3, 4, 5, 6}};
}
template <>
messages::client_info filled() {
    return {3, true, -1, "nameless tee", "clan", 276, filled_skin(), true};
}
template <>
messages::start_info filled() {
    return {"name", "clan", 276, "coala", true, 255, 65408, filled_skin()};
}

} // namespace

TEST_CASE("message types: every one has a name, and is known by its number or UUID") {
    std::set<std::string> seen;
    std::size_t plain_06 = 0;
    std::size_t plain_07 = 0;
    for (std::size_t i = 0; i < message_type_count; ++i) {
        auto const type = static_cast<message_type>(i);
        auto const& d = describe(type);
        CHECK((d.type == type));
        CHECK_FALSE(d.name.empty());
        CAPTURE(std::string{d.name});
        if (type == message_type::unknown) continue;
        bool const extended = d.extended != uuid{};
        CHECK(extended == (d.id_06 == 0 && d.id_07 == 0));
        for (protocol const p : protocols) {
            message m;
            m.system = d.system;
            m.extended = d.extended;
            m.id = extended ? 0 : p == protocol::teeworlds_07 ? d.id_07 : d.id_06;
            if (m.id == 0 && !extended) continue;
            CHECK((identify(m, p) == type));
            m.system = !d.system;
            CHECK((identify(m, p) != type));
        }
        plain_06 += d.id_06 != 0;
        plain_07 += d.id_07 != 0;
        seen.insert(std::string{d.name} +
                    (extended       ? " by uuid"
                     : d.id_06 != 0 ? ""
                                    : " of 0.7") +
                    (d.system ? " system" : ""));
    }
    CHECK(seen.size() == message_type_count - 1);
    CHECK(plain_06 == 21 + 30);
    CHECK(plain_07 == 25 + 39);
    message m;
    CHECK((identify(m, protocol::ddnet) == message_type::unknown)); // no UUID
    for (std::int32_t const id : {-1, 64, 63, 1 << 30}) {
        m.id = id;
        CHECK((identify(m, protocol::ddnet) == message_type::unknown));
    }
    CHECK(describe(static_cast<message_type>(255)).name == "unknown");
}

TEST_CASE("message types: known bytes") {
    auto const v06 = protocol::ddnet;
    auto const v07 = protocol::teeworlds_07;
    CHECK(hex(encoded(messages::info{}, v06)) ==
          "03 30 2e 36 20 36 32 36 66 63 65 39 61 37 37 38 64 66 34 64 34 00 00");
    CHECK(hex(encoded(messages::info{}, v07)) ==
          "03 30 2e 37 20 38 30 32 66 31 62 65 36 30 61 30 35 36 36 35 66 00 00 85 1c");
    CHECK(hex(encoded(messages::input_timing{11717, 59}, v06)) == "13 85 b7 01 3b");
    CHECK(hex(encoded(messages::input_timing{17693, 58}, v07)) == "15 9d 94 02 3a");
    CHECK(hex(encoded(messages::motd{}, v07)) == "02 00");
    CHECK(hex(encoded(messages::server_settings{1, 0, 1, 0, 1, 8}, v07)) == "22 01 00 01 00 01 08");
    CHECK(hex(encoded(messages::con_ready{}, v07)) == "0b");
    CHECK(hex(encoded(messages::con_ready{}, v06)) == "09");
    CHECK(hex(encoded(messages::ping{}, v06)) == "2d");
    CHECK(hex(encoded(messages::ping_reply{}, v07)) == "37");
    CHECK(hex(encoded(messages::capabilities{5, 31}, v06)) ==
          "01 f6 21 a5 a1 f5 85 37 75 8e 73 41 be ee 79 f2 b2 05 1f");
    CHECK(hex(encoded(messages::request_map_data{3}, v06)) == "27 03");
    CHECK(hex(encoded(messages::request_map_data{3}, v07)) == "2f");
    CHECK(hex(encoded(messages::set_team{-1}, v06)) == "24 40");
    CHECK(hex(encoded(messages::set_team{-1}, v07)) == "32 40");
    CHECK(hex(encoded(messages::input{-1, 3, 2, {7, 8}, 9}, v06)) == "21 40 03 08 07 08");
    CHECK(hex(encoded(messages::input{-1, 3, 2, {7, 8}, 9}, v07)) == "29 40 03 08 07 08 09");
}

namespace {

// Written, read and written again; cut anywhere it gives an error inside, or a message that leaves out optional parts.
template <class T>
void check_round_trip(protocol p) {
    auto const& what = describe(T::type);
    CAPTURE(std::string{what.name});
    CAPTURE(std::string{name(p)});
    test::bytes memory(4096);
    auto const value = filled<T>();
    auto const written = encode(value, p, memory);
    std::uint8_t const id = p == protocol::teeworlds_07 ? what.id_07 : what.id_06;
    if (id == 0 && what.extended == uuid{}) {
        CHECK(error_of(written) == failure{errc::bad_type, 0});
        return;
    }
    REQUIRE(written);
    auto const bytes = test::copy_of(*written);
    CHECK(hex(encoded(decoded<T>(bytes, p), p)) == hex(bytes));
    test::check_output_sizes<std::uint8_t>(bytes.size(),
                                           [&](std::span<std::uint8_t> out) { return encode(value, p, out); });
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        auto const exact = std::make_unique<std::uint8_t[]>(size);
        std::copy_n(bytes.begin(), size, exact.get());
        auto const m = parse_message({exact.get(), size});
        if (!m) continue;
        auto const again = decode<T>(*m, p);
        if (!again) CHECK(again.error().position <= m->fields.size());
    }
    auto longer = bytes;
    longer.insert(longer.end(), 3, 0); // as in demos
    if constexpr (T::type != message_type::map_data && T::type != message_type::tune_params)
        CHECK(hex(encoded(decoded<T>(longer, p), p)) == hex(bytes));
}

template <std::size_t... i>
void check_all(std::index_sequence<i...>) {
    for (protocol const p : protocols) (check_round_trip<std::tuple_element_t<i, test::typed_messages>>(p), ...);
}

} // namespace

TEST_CASE("message types: every struct is written, read and written again") {
    check_all(std::make_index_sequence<std::tuple_size_v<test::typed_messages>>{});
}

TEST_CASE("message types: members that only one protocol has") {
    auto const change_bytes = encoded(filled<messages::map_change>(), protocol::teeworlds_07);
    auto const change = decoded<messages::map_change>(change_bytes, protocol::teeworlds_07);
    CHECK(change.name == "dm1");
    CHECK(change.chunk_size == 1384);
    CHECK(change.sha256.size() == 32);
    auto const old = encoded(filled<messages::map_change>(), protocol::ddnet);
    auto const change_06 = decoded<messages::map_change>(old, protocol::ddnet);
    CHECK(change_06.crc == 0xf2159e6e);
    CHECK(change_06.sha256.empty());
    auto const data = encoded(filled<messages::map_data>(), protocol::ddnet);
    auto const data_06 = decoded<messages::map_data>(data, protocol::ddnet);
    CHECK(data_06.last);
    CHECK(data_06.number == 6);
    CHECK(hex(data_06.data) == hex(map_bytes));
    auto const raw = encoded(filled<messages::map_data>(), protocol::teeworlds_07);
    CHECK(raw.size() == 1 + map_bytes.size());
    auto const start = encoded(filled<messages::start_info>(), protocol::teeworlds_07);
    CHECK(decoded<messages::start_info>(start, protocol::teeworlds_07).skin.parts[5] == "negative");
    // An input without ping correction, as DDNet's clients send it in 0.7
    auto const input = decoded<messages::input>(from_hex("29 40 03 08 07 08"), protocol::teeworlds_07);
    CHECK(input.ack == -1);
    CHECK(input.size == 2);
    CHECK(input.data[1] == 8);
    CHECK(input.ping_correction == 0);
}

TEST_CASE("message types: numbers that no message has") {
    for (protocol const p : protocols) {
        std::set<std::pair<bool, std::int32_t>> known;
        for (std::size_t i = 0; i < message_type_count; ++i) {
            auto const& d = describe(static_cast<message_type>(i));
            if (d.extended != uuid{} || d.type == message_type::unknown) continue;
            known.emplace(d.system, p == protocol::teeworlds_07 ? d.id_07 : d.id_06);
        }
        for (std::int32_t id = -300; id < 300; ++id) {
            for (bool const system : {false, true}) {
                message m;
                m.system = system;
                m.id = id;
                CAPTURE(id);
                bool const expected = id != 0 && known.contains({system, id});
                CHECK((identify(m, p) != message_type::unknown) == expected);
            }
        }
    }
}

TEST_CASE("message types: sizes that cannot be") {
    test::bytes const negative = from_hex("21 40 03 40");
    auto const parsed = parse_message(negative);
    REQUIRE(parsed);
    CHECK(error_of(decode<messages::input>(*parsed, protocol::ddnet)) == failure{errc::bad_count, 2});
    test::bytes const large = from_hex("21 40 03 84 08"); // 516 bytes
    auto const parsed_large = parse_message(large);
    REQUIRE(parsed_large);
    CHECK(error_of(decode<messages::input>(*parsed_large, protocol::ddnet)) == failure{errc::bad_count, 2});
    // As many as there is room for
    messages::input full;
    full.size = 128;
    for (std::size_t i = 0; i < 128; ++i) full.data[i] = static_cast<std::int32_t>(i) + 1;
    std::array<std::uint8_t, 512> memory;
    auto const message = encode(full, protocol::ddnet, memory);
    REQUIRE(message);
    auto const back = decode<messages::input>(*parse_message(*message), protocol::ddnet);
    REQUIRE(back);
    CHECK(back->size == 128);
    CHECK(back->data == full.data);
    test::bytes const map = from_hex("07 00 00 00 40");
    auto const parsed_map = parse_message(map);
    REQUIRE(parsed_map);
    CHECK(error_of(decode<messages::map_data>(*parsed_map, protocol::ddnet)) == failure{errc::bad_count, 3});
    test::bytes const short_map = from_hex("07 00 00 00 05 01 02");
    auto const parsed_short = parse_message(short_map);
    REQUIRE(parsed_short);
    CHECK(error_of(decode<messages::map_data>(*parsed_short, protocol::ddnet)) == failure{errc::truncated, 4});
}

TEST_CASE("message types: snapshot messages") {
    auto const snap_of = [](char const* text, protocol p = protocol::ddnet) {
        static test::bytes bytes;
        bytes = from_hex(text);
        auto const m = parse_message(bytes);
        REQUIRE(m);
        return decode_snap(*m, p);
    };
    auto s = snap_of("0d 84 b7 01 02");
    REQUIRE(s);
    CHECK(s->tick == 11716);
    CHECK(s->base_tick == 11714);
    CHECK_FALSE(s->has_checksum);
    CHECK(s->data.empty());
    CHECK(s->parts == 1);
    s = snap_of("0f 0a 0b 41 03 01 02 03"); // base -1
    REQUIRE(s);
    CHECK(s->base_tick == -1);
    CHECK(s->checksum == 0xfffffffe);
    CHECK(hex(s->data) == "01 02 03");
    s = snap_of("0b 0a 03 02 01 05 01 09");
    REQUIRE(s);
    CHECK(s->parts == 2);
    CHECK(s->part == 1);
    s = snap_of("11 0a 03 05 01 09", protocol::teeworlds_07);
    REQUIRE(s);
    CHECK(s->checksum == 5);
    CHECK(snap_of("0d 0a 8a 01")->base_tick == -1); // far before the first tick

    CHECK(error_of(snap_of("0d 40 01")) == failure{errc::bad_tick, 0});
    CHECK(error_of(snap_of("0d 0a 00")) == failure{errc::bad_tick, 1}); // its own base
    CHECK(error_of(snap_of("0d 0a 40")) == failure{errc::bad_tick, 1}); // a base of the future
    CHECK(error_of(snap_of("0b 0a 03 00 00 05 01 09")) == failure{errc::bad_count, 2});
    CHECK(error_of(snap_of("0b 0a 03 81 01 00 05 01 09")) == failure{errc::bad_count, 2}); // 65 parts
    CHECK(error_of(snap_of("0b 0a 03 02 02 05 01 09")) == failure{errc::bad_count, 2});
    CHECK(error_of(snap_of("0b 0a 03 02 40 05 01 09")) == failure{errc::bad_count, 2});
    CHECK(error_of(snap_of("0f 0a 03 05 40")) == failure{errc::bad_count, 3});
    CHECK(error_of(snap_of("0f 0a 03 05 85 0e")) == failure{errc::bad_count, 3}); // 901 bytes
    CHECK(error_of(snap_of("0f 0a 03 05 03 01 02")) == failure{errc::truncated, 4});
    CHECK(error_of(snap_of("0f 0a 03")) == failure{errc::truncated, 2});
}

TEST_CASE("message types: noise gives a value or an error inside it") {
    test::random rng{8};
    std::size_t good = 0;
    for (int round = 0; round < 100'000; ++round) {
        auto const type = static_cast<message_type>(1 + rng.below(message_type_count - 1));
        protocol const p = protocols[rng.below(3)];
        message m;
        auto const& what = describe(type);
        m.system = what.system;
        m.extended = what.extended;
        m.id = what.extended != uuid{} ? 0 : p == protocol::teeworlds_07 ? what.id_07 : what.id_06;
        if (m.id == 0 && what.extended == uuid{}) continue;
        auto const noise = rng.data(rng.below(120), rng.chance(60));
        auto const exact = std::make_unique<std::uint8_t[]>(noise.size());
        std::copy(noise.begin(), noise.end(), exact.get());
        m.fields = {exact.get(), noise.size()};
        test::with_type(type, [&]<class T>(T) {
            auto const value = decode<T>(m, p);
            if (!value) CHECK(value.error().position <= noise.size());
            good += value.has_value();
        });
        if (type == message_type::snap || type == message_type::snap_empty || type == message_type::snap_single) {
            auto const s = decode_snap(m, p);
            if (!s) CHECK(s.error().position <= noise.size());
        }
    }
    CHECK(good > 1000);
}
