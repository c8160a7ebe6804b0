#include "recording/demo/demo_document.hpp"

#include "base/file_kind.hpp"
#include "base/lent.hpp"

#include <fmt/format.h>

namespace teewire::replay {
namespace {

std::string behind(std::string const& damage) { return damage.empty() ? damage : "; " + damage; }

demo_reader open(input const& source, note_log& notes) {
    auto const reader = demo_reader::open(source.bytes(), &notes);
    if (!reader && identify(source.bytes()) != file_kind::demo)
        refuse_kind(source.name(), source.bytes(), "a demo");
    if (!reader && reader.error().code == errc::bad_version)
        throw usage_error{source.name(), fmt::format("demo version {} is not supported, only 3 to 6",
                                                     source.bytes()[demo_version_offset])};
    if (!reader)
        throw bad_input{source.name(), fmt::format("byte {}: {}{}", reader.error().position,
                                                   describe(reader.error().code), behind(source.damage()))};
    demo_reader quiet = *reader; // the header's quirks are noted here; the player notes those of the chunks
    quiet.set_notes(nullptr);
    return quiet;
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

demo_document::demo_document(input const& source, size_detection when)
    : source_{source}, reader_{open(source, header_notes_)} {
    // Few demos have keyframes closer to each other than this; they are scanned twice.
    constexpr std::size_t usual_keyframe_bytes = 1024;
    keyframes_.resize((file_size() - first_chunk()) / usual_keyframe_bytes + 16);
    overview_ = scan_demo(reader_, keyframes_);
    bool const all = overview_.keyframes <= keyframes_.size();
    keyframes_.resize(overview_.keyframes);
    if (!all) scan_demo(reader_, keyframes_);
    keyframes_.shrink_to_fit();
    if (auto const& part = source.part()) {
        if (overview_.error.code != errc::ok || overview_.restarts != 0 ||
            part->ticks != demo_ticks{overview_.first_tick, overview_.last_tick})
            throw bad_input{source.name(), "the index of the archive does not fit its blocks"};
        overview_.first_tick = part->whole.first;
        overview_.last_tick = part->whole.last;
    }

    if (when == size_detection::assume && header().says_07()) {
        // The one that detect_size_table tries first, and takes if nothing speaks against it.
        sizes_ = &size_tables[1];
        sizes_assumed_ = true;
        protocol_ = protocol::teeworlds_07;
    } else {
        detect_sizes();
    }
}

void demo_document::detect_sizes() {
    lent<demo_player_memory> memory;
    sizes_ = &detect_size_table(reader_, *memory);
    sizes_assumed_ = false;
    protocol_ = detect_protocol(reader_, *memory, *sizes_->sizes);
}

demo_reader demo_document::reader(std::size_t begin, std::size_t end) const noexcept {
    demo_reader part = *demo_reader::open(source_.bytes().first(end)); // succeeds like that of the whole file
    part.seek(begin, -1);
    return part;
}

demo_player& demo_document::player() {
    if (!player_) {
        memory_ = std::make_unique<demo_player_memory>();
        player_ = std::make_unique<demo_player>(reader_, *memory_,
                                                demo_player::options{sizes_->sizes, decoding::lenient, nullptr});
    }
    return *player_;
}

std::string demo_document::end_text(demo_failure const& failed) const {
    if (failed.what.code == errc::ok) return source_.damage();
    demo_failure found = failed;
    if (auto const& part = source_.part(); part && found.position >= part->chunks_begin)
        found.position += static_cast<std::size_t>(part->skipped);
    return explain(found) + behind(source_.damage());
}

std::string demo_document::error_text(demo_failure const& failed) const {
    std::string const end = end_text(failed);
    return end.empty() ? end : fmt::format("{}: {}", name(), end);
}

} // namespace teewire::replay
