#include "check.hpp"
#include "random.hpp"

#include "teewire/schema.hpp"

#include <set>

using namespace teewire;

namespace {

struct known_object {
    std::string_view name;
    std::size_t ints;
};

constexpr known_object names_06[] = {
    {"player_input", 10},
    {"projectile", 6},
    {"laser", 5},
    {"pickup", 4},
    {"flag", 3},
    {"game_info", 8},
    {"game_data", 4},
    {"character_core", 15},
    {"character", 22},
    {"player_info", 5},
    {"client_info", 17},
    {"spectator_info", 3},
    {"event_common", 2},
    {"event_explosion", 2},
    {"event_spawn", 2},
    {"event_hammer_hit", 2},
    {"event_death", 3},
    {"event_sound_global", 3},
    {"event_sound_world", 3},
    {"event_damage_ind", 3},
};
constexpr known_object names_07[] = {
    {"player_input", 10},
    {"projectile", 6},
    {"laser", 5},
    {"pickup", 3},
    {"flag", 3},
    {"game_data", 3},
    {"game_data_team", 2},
    {"game_data_flag", 4},
    {"character_core", 15},
    {"character", 22},
    {"player_info", 3},
    {"spectator_info", 4},
    {"client_info", 58},
    {"game_info", 5},
    {"tune_params", 32},
    {"event_common", 2},
    {"event_explosion", 2},
    {"event_spawn", 2},
    {"event_hammer_hit", 2},
    {"event_death", 3},
    {"event_sound_world", 3},
    {"event_damage", 7},
    {"player_info_race", 1},
    {"game_data_race", 3},
};
struct known_extended {
    std::string_view uuid;
    std::string_view name;
    std::size_t ints;
    std::size_t min_ints;
};
constexpr known_extended names_ddnet[] = {
    {"0dc77a02-bfee-3a53-ac8e-0bb0241bd722", "my_own_object", 1, 1},
    {"76ce455b-f9eb-3a48-add7-e04b941d045c", "ddnet_character", 11, 0},
    {"22ca938d-1380-3e2b-9e7b-d2558ea6be11", "ddnet_player", 4, 2},
    {"933dea6a-da79-30ea-a98f-8af03689a945", "game_info_ex", 5, 0},
    {"0e6db85c-2b61-386f-bbf2-d0d0471b9272", "ddrace_projectile", 6, 6},
    {"29de68a2-6928-31b8-8360-a2307e0d844f", "ddnet_laser", 10, 7},
    {"6550fbce-f317-3b31-8ffe-d2b37f3ab40e", "ddnet_projectile", 10, 10},
    {"ea5e4a51-58fb-3684-96e4-e0d267f4ca65", "ddnet_pickup", 6, 5},
    {"d13307b2-9a19-37cb-8f8c-07c718521883", "ddnet_spectator_info", 5, 4},
    {"5e5ca96f-c728-30fd-bfb3-155b07692556", "spectator_count", 1, 1},
    {"1fd35746-6263-358c-b4d6-6ef60e0efaaa", "event_birthday", 2, 2},
    {"68bf8939-ef55-3878-9082-13527eb0a597", "event_finish", 2, 2},
    {"0c4fd27d-47e3-3871-a226-9f417486a311", "my_own_event", 1, 1},
    {"4b801c74-e24c-3ce0-b92c-b754d02cfc8a", "spec_char", 2, 2},
    {"ec15e669-ce11-3367-ae8e-b90e5b27b9d5", "switch_state", 17, 0},
    {"2de9aec3-32e4-3986-8f7e-e7459da7f535", "entity_ex", 3, 3},
    {"9ebfc6ed-bf50-30ca-988a-0ce8921ad85f", "map_best_time", 2, 2},
    {"54ecad2e-bfad-3be5-8903-621ba052458e", "event_map_sound_world", 3, 3},
};

constexpr protocol protocols[] = {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07};

std::span<known_object const> known(protocol p) {
    return p == protocol::teeworlds_07 ? std::span<known_object const>{names_07} : names_06;
}

// The fields must cover the item's ints without gap or overlap.
void check_fields(object const& o) {
    CAPTURE(std::string{o.name});
    std::set<std::string_view> names;
    std::size_t at = 0;
    for (field const& f : o.fields) {
        CAPTURE(std::string{f.name});
        CHECK(f.offset == at);
        CHECK(f.count >= 1);
        CHECK(f.ints >= 1);
        CHECK((f.ints == 1 || f.kind == field_kind::text));
        CHECK((f.values != nullptr) == (f.kind == field_kind::enumeration || f.kind == field_kind::flags));
        if (f.values != nullptr) CHECK_FALSE(f.values->names.empty());
        if (f.values != nullptr && f.kind == field_kind::flags) {
            CHECK(f.values->first == 0);
            CHECK(f.values->names.size() <= 32);
        }
        names.insert(f.name);
        at += std::size_t{f.ints} * f.count;
    }
    CHECK(at == o.ints);
    CHECK(names.size() == o.fields.size());
    CHECK(o.min_ints <= o.ints);
}

field const& field_of(object const& o, std::string_view name) {
    for (field const& f : o.fields)
        if (f.name == name) return f;
    FAIL("no field ", std::string{name});
    return o.fields.front();
}

} // namespace

TEST_CASE("schema: agreed sizes of 0.6") {
    CHECK(sizes_06[0] == 0);
    for (std::size_t type = 1; type <= 20; ++type)
        CHECK(sizes_06[static_cast<unsigned>(type)] == names_06[type - 1].ints);
    for (unsigned type = 21; type < 300; ++type) CHECK(sizes_06[type] == 0);
}

TEST_CASE("schema: agreed sizes of 0.7") {
    CHECK(sizes_07[0] == 0);
    for (std::size_t type = 1; type <= 22; ++type)
        CHECK(sizes_07[static_cast<unsigned>(type)] == names_07[type - 1].ints);
    for (unsigned type = 23; type < 100; ++type) CHECK(sizes_07[type] == 0);
}

TEST_CASE("schema: size tables by name differ in event_damage") {
    struct {
        char const* name;
        std::size_t event_damage;
        std::size_t event_sound_world;
    } const cases[] = {{"0.7", 7, 3}, {"0.7.0", 3, 3}, {"0.7-documented", 5, 3}, {"0.7-recorded", 0, 0}};
    for (auto const& c : cases) {
        CAPTURE(c.name);
        auto const* const table = find_size_table(c.name);
        REQUIRE(table != nullptr);
        CHECK((*table)[22] == c.event_damage);
        CHECK((*table)[21] == c.event_sound_world);
        for (unsigned type = 0; type <= 20; ++type) CHECK((*table)[type] == sizes_07[type]);
    }
    CHECK(find_size_table("0.6") == &sizes_06);
    CHECK(find_size_table("0.7") == &sizes_07);
    CHECK(find_size_table("0.7.0") == &sizes_07_0);
    CHECK(find_size_table("0.7-documented") == &sizes_07_documented);
    CHECK(find_size_table("0.7-recorded") == &sizes_07_recorded);
    CHECK(find_size_table("") == nullptr);
    CHECK(find_size_table("0.8") == nullptr);
    for (auto const& table : size_tables) CHECK(find_size_table(table.name) == table.sizes);
}

TEST_CASE("schema: a size table of one's own") {
    size_table table;
    CHECK(table == size_table{});
    for (unsigned type = 0; type < 70; ++type) CHECK(table[type] == 0);
    table.set(0, 4);
    table.set(63, 9);
    CHECK(table[0] == 4);
    CHECK(table[63] == 9);
    CHECK(table[64] == 0);
    CHECK(table[UINT32_MAX] == 0);
    CHECK_FALSE(table == size_table{});
    table.set(63, 0);
    table.set(0, 0);
    CHECK(table == size_table{});

    std::uint16_t const sizes[] = {0, 1, 2};
    size_table const from_list{sizes};
    CHECK(from_list[1] == 1);
    CHECK(from_list[2] == 2);
    CHECK(from_list[3] == 0);
    static_assert(sizes_06[9] == 22);
}

TEST_CASE("schema: UUIDs and the ints of their describing items") {
    auto const character = uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045c");
    CHECK(test::hex(character.bytes) == "76 ce 45 5b f9 eb 3a 48 ad d7 e0 4b 94 1d 04 5c");
    CHECK(test::dec(character.ints()) == "1993229659 -102024632 -1378361269 -1810037668");
    CHECK(test::dec(uuid::parse("4b801c74-e24c-3ce0-b92c-b754d02cfc8a").ints()) ==
          "1266687092 -498320160 -1188251820 -802358134");
    CHECK((uuid::from_ints(character.ints()) == character));
    CHECK_FALSE((character == uuid{}));
    test::random rng{8};
    for (int round = 0; round < 100; ++round) {
        uuid id;
        for (auto& byte : id.bytes) byte = rng.byte();
        CHECK((uuid::from_ints(id.ints()) == id));
    }
    static_assert(uuid::parse("00000000-0000-0000-0000-000000000001").bytes[15] == 1);
}

TEST_CASE("schema: names of protocols") {
    CHECK(name(protocol::teeworlds_06) == "0.6");
    CHECK(name(protocol::ddnet) == "ddnet");
    CHECK(name(protocol::teeworlds_07) == "0.7");
}

TEST_CASE("schema: plain objects by type and name") {
    for (protocol const p : protocols) {
        auto const expected = known(p);
        CAPTURE(std::string{name(p)});
        REQUIRE(plain_objects(p).size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            auto const type = static_cast<std::uint16_t>(i + 1);
            auto const* const o = find_object(p, type);
            REQUIRE(o != nullptr);
            CHECK(o == &plain_objects(p)[i]);
            CHECK(o->name == expected[i].name);
            CHECK(o->type == type);
            CHECK(o->ints == expected[i].ints);
            CHECK(o->min_ints == expected[i].ints);
            CHECK_FALSE(o->is_extended());
            CHECK((o->extended == uuid{}));
            CHECK(find_object(p, expected[i].name) == o);
            check_fields(*o);
        }
        CHECK(find_object(p, std::uint16_t{0}) == nullptr);
        CHECK(find_object(p, static_cast<std::uint16_t>(expected.size() + 1)) == nullptr);
        CHECK(find_object(p, std::uint16_t{0xffff}) == nullptr);
        CHECK(find_object(p, "no_such_object") == nullptr);
        CHECK(find_object(p, "") == nullptr);
    }
    CHECK(find_object(protocol::teeworlds_06, "event_damage") == nullptr);
    CHECK(find_object(protocol::teeworlds_07, "event_damage_ind") == nullptr);
}

TEST_CASE("schema: extended objects by UUID and name") {
    REQUIRE(extended_objects().size() == std::size(names_ddnet));
    for (auto const& expected : names_ddnet) {
        CAPTURE(std::string{expected.name});
        auto const* const o = find_object(uuid::parse(expected.uuid));
        REQUIRE(o != nullptr);
        CHECK(o->name == expected.name);
        CHECK(o->type == 0);
        CHECK(o->is_extended());
        CHECK(o->ints == expected.ints);
        CHECK(o->min_ints == expected.min_ints);
        for (protocol const p : protocols) CHECK(find_object(p, expected.name) == o);
        check_fields(*o);
    }
    CHECK(find_object(uuid{}) == nullptr);
    CHECK(find_object(uuid::parse("76ce455b-f9eb-3a48-add7-e04b941d045d")) == nullptr);
}

TEST_CASE("schema: fields that differ between the protocols") {
    auto const& old_character = *find_object(protocol::teeworlds_06, "character");
    auto const& new_character = *find_object(protocol::teeworlds_07, "character");
    CHECK(field_of(old_character, "health").offset == 16);
    CHECK(field_of(new_character, "health").offset == 15);
    CHECK(field_of(old_character, "weapon").offset == 19);
    CHECK(field_of(new_character, "weapon").offset == 18);
    CHECK(field_of(new_character, "triggered_events").offset == 21);

    auto const& info = *find_object(protocol::teeworlds_06, "client_info");
    CHECK(field_of(info, "skin").offset == 8);
    CHECK(field_of(info, "skin").ints == 6);
    auto const& info_07 = *find_object(protocol::teeworlds_07, "client_info");
    CHECK(field_of(info_07, "skin_part_names").count == 6);
    CHECK(field_of(info_07, "skin_part_names").ints == 6);
    CHECK(field_of(info_07, "skin_part_colors").offset == 52);
    auto const& switches = *find_object(protocol::ddnet, "switch_state");
    CHECK(field_of(switches, "status").count == 8);
    CHECK(field_of(switches, "end_ticks").offset == 13);
}

TEST_CASE("schema: names of values") {
    auto const& character = *find_object(protocol::teeworlds_06, "character");
    auto const& weapon = *field_of(character, "weapon").values;
    CHECK(weapon[-1] == "none");
    CHECK(weapon[0] == "hammer");
    CHECK(weapon[4] == "laser");
    CHECK(weapon[5] == "ninja");
    CHECK(weapon[6].empty());
    CHECK(weapon[-2].empty());
    CHECK(weapon[INT32_MAX].empty());
    CHECK(weapon[INT32_MIN].empty());
    auto const& emote = *field_of(character, "emote").values;
    CHECK(emote[0] == "normal");
    CHECK(emote[5] == "blink");
    auto const& team = *field_of(*find_object(protocol::teeworlds_06, "flag"), "team").values;
    CHECK(team[-1] == "spectators");
    CHECK(team[1] == "blue");
    auto const& sound = *field_of(*find_object(protocol::teeworlds_07, "event_sound_world"), "sound_id").values;
    CHECK(sound[0] == "gun_fire");
    CHECK(sound[40] == "menu");
    CHECK(sound[41].empty());
    auto const& pickup = *field_of(*find_object(protocol::teeworlds_07, "pickup"), "type").values;
    CHECK(pickup[2] == "grenade");
    CHECK(pickup[7] == "hammer");
    auto const& flags = *field_of(*find_object(protocol::ddnet, "ddnet_character"), "flags").values;
    CHECK(flags[0] == "solo");
    CHECK(flags[25] == "invincible");
    CHECK(flags.names.size() == 26);
}

TEST_CASE("schema: text golden vector") {
    test::ints coded(4);
    encode_text("Hi", coded);
    CHECK(test::dec(coded) == "-924221312 -2139062144 -2139062144 -2139062272");
    char out[16];
    CHECK(decode_text(coded, out) == "Hi");
    encode_text("", coded);
    CHECK(test::dec(coded) == "-2139062144 -2139062144 -2139062144 -2139062272");
    CHECK(decode_text(coded, out).empty());
}

TEST_CASE("schema: text is cut to leave room for the terminator") {
    test::ints coded(4);
    char out[16];
    encode_text("123456789012345", coded);
    CHECK(decode_text(coded, out) == "123456789012345");
    encode_text("1234567890123456789", coded);
    CHECK(decode_text(coded, out) == "123456789012345");
    CHECK((static_cast<std::uint32_t>(coded[3]) & 0xff) == 0);

    // The last byte is a terminator whatever it holds.
    test::ints const full(1, static_cast<std::int32_t>(0xc1c1c1c1));
    CHECK(decode_text(full, out) == "AAA");
    CHECK(decode_text({}, {}).empty());
    encode_text("nowhere to go", {});
}

TEST_CASE("schema: random texts come back, and nothing is written beyond") {
    test::random rng{9};
    for (int round = 0; round < 500; ++round) {
        std::size_t const size = 1 + rng.below(6);
        std::string text;
        for (std::size_t n = rng.below(30); n > 0; --n) text += static_cast<char>(1 + rng.below(255));
        test::guarded<std::int32_t> coded{size};
        encode_text(text, coded.span());
        test::guarded<char> out{4 * size};
        CHECK(decode_text(coded.span(), out.span()) == std::string_view{text}.substr(0, 4 * size - 1));
        CHECK(coded.intact());
        CHECK(out.intact());
    }
}
