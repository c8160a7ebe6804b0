#include "session.hpp"

#include <fmt/format.h>

namespace teewire::replay {
namespace {

demo_reader open(input const& source, note_log& notes) {
    auto const reader = demo_reader::open(source.bytes(), &notes);
    if (!reader)
        throw bad_input{
            fmt::format("{}: byte {}: {}", source.name(), reader.error().position,
                        reader.error().code == errc::bad_magic ? "not a demo" : describe(reader.error().code))};
    demo_reader quiet = *reader; // the header's oddities are noted; those of the chunks are the player's business
    quiet.set_notes(nullptr);
    return quiet;
}

// 0.6 or DDNet: DDNet's servers describe extended types in every snapshot.
bool has_extended_types(demo_reader const& reader, demo_player_memory& memory, size_table const& sizes) {
    demo_player player{reader, memory, {&sizes, decoding::lenient, nullptr}};
    demo_event event;
    for (int snapshots = 0; snapshots < 64 && player.next(event);) {
        if (event.kind != demo_event_kind::snapshot) continue;
        ++snapshots;
        for (item const i : player.state())
            if (i.type() == type_describing && i.id() >= first_alias) return true;
    }
    return false;
}

} // namespace

std::string explain(demo_failure const& failed) {
    std::string const tick = failed.tick < 0 ? "before the first tick" : fmt::format("tick {}", failed.tick);
    if (failed.stage == demo_stage::chunk)
        return fmt::format("{}, byte {}: {}", tick, failed.position, describe(failed.what.code));
    bool const in_bytes = failed.stage == demo_stage::huffman || failed.stage == demo_stage::varint;
    return fmt::format("{}, byte {}: {}: {} ({} {})", tick, failed.position, teewire::name(failed.stage),
                       describe(failed.what.code), in_bytes ? "byte" : "int", failed.what.position);
}

session::session(input const& source)
    : name_{source.name()}, reader_{open(source, notes_)}, overview_{scan_demo(reader_, {})},
      keyframes_(overview_.keyframes), memory_{std::make_unique<demo_player_memory>()} {
    scan_demo(reader_, keyframes_);
    sizes_ = &detect_size_table(reader_, *memory_);
    bool const is_06 = sizes_->sizes == &sizes_06;
    protocol_ = !is_06                                            ? protocol::teeworlds_07
                : has_extended_types(reader_, *memory_, sizes_06) ? protocol::ddnet
                                                                  : protocol::teeworlds_06;
    player_ = std::make_unique<demo_player>(reader_, *memory_,
                                            demo_player::options{sizes_->sizes, decoding::lenient, &notes_});
}

std::string session::error_text() const { return fmt::format("{}: {}", name_, explain(player_->error())); }

} // namespace teewire::replay
