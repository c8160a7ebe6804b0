// Demos, whole files in memory: chunks, player, seeking; and what was read written again and read once more. The first
// byte chooses the agreed sizes, the second one how it is written; the file follows.
#include "demo_mutator.hpp"
#include "snapshot/snapshot_functions.hpp"
#include "world.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/demo_writer.hpp>

#include <map>

using namespace teewire;
using fuzz::exact;
using fuzz::same;

namespace {

using bytes = std::vector<std::uint8_t>;
using sorted_items = std::vector<fuzz::loose_item>;

auto& player_memory = fuzz::lasting<demo_player_memory>();
auto& writer_memory = fuzz::lasting<demo_writer_memory>();
auto& writer_out = fuzz::lasting<std::array<std::uint8_t, demo_writer::max_bytes>>();

void check_header(fuzz::bytes_view file) {
    auto const header = parse_demo_header(file);
    if (!header) return FUZZ_REQUIRE(header.error().position <= file.size());
    FUZZ_REQUIRE(header->markers().size() <= max_demo_markers);
    exact<std::uint8_t> const out{header->size()};
    auto const size = write_demo_header(*header, out.span());
    FUZZ_REQUIRE(size && *size == header->size());
    auto const again = parse_demo_header(out.view());
    FUZZ_REQUIRE(again && *again == *header);
    exact<std::uint8_t> const tight{header->size() - 1};
    FUZZ_REQUIRE(!write_demo_header(*header, tight.span()));
}

// Only the headers.
void check_chunks(demo_reader reader, std::span<demo_keyframe> keyframes, demo_overview& overview) {
    overview = scan_demo(reader, keyframes);
    std::array<std::size_t, 5> counts{};
    std::size_t at = reader.position();
    std::int32_t tick = -1;
    for (demo_chunk c; reader.next(c);) {
        FUZZ_REQUIRE(c.position == at && reader.position() > at);
        at = reader.position();
        ++counts[static_cast<std::size_t>(c.kind)];
        if (c.kind == demo_chunk_kind::tick) tick = c.tick;
        FUZZ_REQUIRE(c.tick == tick && c.payload.size() <= max_demo_chunk_bytes);
    }
    FUZZ_REQUIRE(reader.error() == overview.error && tick == overview.last_tick);
    for (std::size_t i = 0; i < counts.size(); ++i) FUZZ_REQUIRE(counts[i] == overview.kinds[i].chunks);
    FUZZ_REQUIRE(overview.keyframes <= overview.ticks);
}

struct event {
    demo_event_kind kind;
    std::int32_t tick;
    std::uint64_t content; // a hash
    friend bool operator==(event const&, event const&) = default;
};
struct playing {
    std::vector<event> events;
    demo_failure error;
    note_log notes;
};

template <class T>
std::uint64_t hash(std::span<T const> data) {
    std::uint64_t h = 14695981039346656037U;
    for (T const value : data) h = (h ^ static_cast<std::make_unsigned_t<T>>(value)) * 1099511628211U;
    return h;
}

template <class Use>
playing play(demo_reader const& reader, size_table const& sizes, decoding mode, Use use) {
    playing p;
    demo_player player{reader, player_memory, {&sizes, mode, &p.notes}};
    for (demo_event e; player.next(e);) {
        auto const content = e.kind == demo_event_kind::snapshot  ? hash(player.state().ints())
                             : e.kind == demo_event_kind::message ? hash(e.message)
                                                                  : 0;
        if (e.kind == demo_event_kind::snapshot)
            FUZZ_REQUIRE(player.state().checksum() == plain::checksum(player.state()));
        p.events.push_back({e.kind, e.tick, content});
        use(e, player);
    }
    p.error = player.error();
    FUZZ_REQUIRE(!name(p.error.stage).empty() && player.position() >= reader.position());
    if (!player.has_state()) FUZZ_REQUIRE(player.state().empty());
    return p;
}

// A jump gives what playing up to there gives.
void check_seek(demo_reader const& reader, size_table const& sizes, std::span<demo_keyframe const> keyframes,
                playing const& played, std::uint8_t choice) {
    if (keyframes.empty() || played.notes[note::tick_order].count > 0) return;
    std::vector<std::int32_t> ticks;
    for (auto const& e : played.events)
        if (e.kind == demo_event_kind::tick && e.tick >= keyframes[0].tick) ticks.push_back(e.tick);
    if (ticks.empty()) return;
    std::int32_t const target = ticks[choice % ticks.size()];
    std::uint64_t expected = 0;
    for (auto const& e : played.events)
        if (e.kind == demo_event_kind::snapshot && e.tick <= target) expected = e.content;
    demo_player player{reader, player_memory, {&sizes, decoding::lenient, nullptr}};
    demo_event first;
    if (choice % 2 == 0)
        for (int i = 0; i < 5; ++i) static_cast<void>(player.next(first)); // from somewhere else
    FUZZ_REQUIRE(player.seek(target, keyframes));
    FUZZ_REQUIRE(hash(player.state().ints()) == expected);
    FUZZ_REQUIRE(player.seek(ticks.front(), keyframes) && player.seek(target, keyframes));
    FUZZ_REQUIRE(hash(player.state().ints()) == expected);
}

sorted_items sorted(snapshot_view view) {
    auto items = fuzz::items_of(view);
    std::stable_sort(items.begin(), items.end(), [](auto const& a, auto const& b) { return a.key < b.key; });
    return items;
}

struct written_demo {
    bytes file;
    std::map<std::int32_t, sorted_items> snapshots;
    std::vector<bytes> messages;
};

// Records what `reader` plays, as far as a recorder takes it.
written_demo write(demo_reader const& reader, size_table const& sizes, std::uint8_t choice, playing& played) {
    written_demo w;
    auto header = reader.header();
    header.version = static_cast<std::uint8_t>(min_demo_version + choice % 4);
    header.has_sha256 = header.version == 6;
    header.map_size = 0;
    w.file.resize(header.size());
    huffman_end const ending = choice & 4 ? huffman_end::padded : huffman_end::exact;
    demo_writer writer{writer_memory, {header.version, ending, &sizes}};
    auto const keep = [&](result<std::size_t> const& size) {
        if (!size) return false;
        FUZZ_REQUIRE(*size <= writer_out.size());
        w.file.insert(w.file.end(), writer_out.begin(), writer_out.begin() + static_cast<std::ptrdiff_t>(*size));
        return true;
    };
    played = play(reader, sizes, decoding::lenient, [&](demo_event const& e, demo_player& player) {
        if (e.kind == demo_event_kind::snapshot) {
            // Data that does not fit is not recorded, and may be tried again.
            if (choice & 16) {
                auto const cut = writer.write_snapshot(e.tick, player.state(), std::span{writer_out}.first(7));
                if (keep(cut)) return static_cast<void>(w.snapshots[e.tick] = sorted(player.state()));
            }
            auto const size = writer.write_snapshot(e.tick, player.state(), writer_out);
            if (keep(size)) w.snapshots[e.tick] = sorted(player.state());
            else FUZZ_REQUIRE(size.error().code == errc::bad_tick || size.error().code == errc::too_large);
            if (choice & 8) writer.add_marker();
        } else if (e.kind == demo_event_kind::message) {
            if (keep(writer.write_message(e.message, writer_out)))
                w.messages.emplace_back(e.message.begin(), e.message.end());
        }
    });
    writer.finish(header);
    FUZZ_REQUIRE(write_demo_header(header, w.file));
    return w;
}

void read_again(written_demo const& w, size_table const& sizes) {
    note_log notes;
    auto const reader = demo_reader::open(w.file, &notes);
    FUZZ_REQUIRE(reader);
    std::map<std::int32_t, sorted_items> snapshots;
    std::vector<bytes> messages;
    sorted_items state;
    auto const played = play(*reader, sizes, decoding::lenient, [&](demo_event const& e, demo_player& player) {
        if (e.kind == demo_event_kind::message) messages.emplace_back(e.message.begin(), e.message.end());
        if (e.kind == demo_event_kind::snapshot) state = sorted(player.state());
        if (e.kind != demo_event_kind::message) snapshots[e.tick] = state;
    });
    FUZZ_REQUIRE(played.error.what.code == errc::ok && played.notes[note::tick_order].count == 0);
    FUZZ_REQUIRE(snapshots == w.snapshots);
    FUZZ_REQUIRE(messages == w.messages);
}

void run_target(fuzz::bytes_view data) {
    fuzz::input in{data};
    std::uint8_t const what = in.byte();
    std::uint8_t const choice = in.byte();
    exact<std::uint8_t> const file{in.rest()};
    check_header(file.view());
    auto const reader = demo_reader::open(file.view());
    if (!reader) return FUZZ_REQUIRE(reader.error().position <= file.view().size());
    FUZZ_REQUIRE(reader->map().size() == reader->header().map_size);
    std::array<demo_keyframe, 16> keyframe_memory;
    demo_overview overview;
    check_chunks(*reader, keyframe_memory, overview);
    auto const keyframes =
        std::span<demo_keyframe const>{keyframe_memory}.first(std::min(overview.keyframes, keyframe_memory.size()));

    size_table const& sizes = what % 8 < size_tables.size() ? *size_tables[what % 8].sizes
                                                            : *detect_size_table(*reader, player_memory).sizes;
    auto const nothing = [](demo_event const&, demo_player&) {};
    auto const strict = play(*reader, sizes, decoding::strict, nothing);
    playing lenient;
    auto const w = write(*reader, sizes, choice, lenient);
    if (strict.error.what.code == errc::ok)
        FUZZ_REQUIRE(lenient.error.what.code == errc::ok && strict.events == lenient.events);
    read_again(w, sizes);
    if (lenient.error.what.code == errc::ok) check_seek(*reader, sizes, keyframes, lenient, choice);
}

} // namespace

FUZZ_TARGET("demo", run_target)
FUZZ_MUTATOR(2, fuzz::mutate_demo)
FUZZ_CROSSOVER(2, fuzz::cross_demos)
