// Plays a demo:  replay FILE
#include <teewire/demo_reader.hpp>
#include <teewire/message.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

constexpr std::uint16_t type_character = 9;

int tell(demo_failure const& error) {
    std::fprintf(stderr, "%s, while reading %s at byte %zu, tick %d\n", describe(error.what.code).data(),
                 name(error.stage).data(), error.position, error.tick);
    return 1;
}

//! [chat]
void print_chat(demo_event const& event, protocol version) {
    auto const m = parse_message(event.message);
    if (!m || m->system) return;
    auto const said = decode_game_message(*m, version);
    if (said && (said->kind == message_kind::chat || said->kind == message_kind::server_message))
        std::printf("tick %d: %d: %.*s\n", event.tick, said->client_id, static_cast<int>(said->text.size()),
                    said->text.data());
}
//! [chat]

} // namespace

int main(int argc, char** argv) {
    std::ifstream in{argc == 2 ? argv[1] : "", std::ios::binary};
    if (!in) return std::fprintf(stderr, "usage: replay FILE\n"), 2;
    //! [open]
    std::vector<std::uint8_t> const file{std::istreambuf_iterator<char>{in}, {}};
    note_log notes; // what is odd in the file, but no damage
    auto const reader = demo_reader::open(file, &notes);
    if (!reader) return tell({reader.error()});
    auto const memory = std::make_unique<demo_player_memory>(); // 0.4 MiB
    // The header may name the wrong protocol: the file itself shows which sizes it was written with.
    named_size_table const& sizes = detect_size_table(*reader, *memory);
    //! [open]
    std::printf("version %d, map %s of %zu bytes, sizes of %s\n", reader->header().version,
                text(reader->header().map_name).data(), reader->map().size(), sizes.name.data());

    //! [play]
    protocol const version = reader->header().says_07() ? protocol::teeworlds_07 : protocol::ddnet;
    demo_player player{*reader, *memory, {.sizes = sizes.sizes, .notes = &notes}};
    std::size_t snapshots = 0, most = 0;
    for (demo_event event; player.next(event);) {
        if (event.kind == demo_event_kind::message) print_chat(event, version);
        if (event.kind != demo_event_kind::snapshot) continue;
        ++snapshots;
        most = std::max(most, player.state().size());
    }
    // At the end, and where the file is damaged. Everything before has been played.
    if (player.error().what.code != errc::ok) return tell(player.error());
    //! [play]
    std::printf("%zu snapshots of up to %zu items\n", snapshots, most);

    //! [seek]
    // First only the chunk headers: the positions where playing can begin.
    std::vector<demo_keyframe> keyframes(scan_demo(*reader, {}).keyframes);
    demo_overview const overview = scan_demo(*reader, keyframes);
    std::int32_t const middle = overview.first_tick + (overview.last_tick - overview.first_tick) / 2;
    if (!player.seek(middle, keyframes)) return tell(player.error());
    for (item const i : player.state())
        if (i.type() == type_character)
            std::printf("tick %d: character %d at %d, %d\n", player.tick(), i.id(), i.data[1], i.data[2]);
    //! [seek]
}
