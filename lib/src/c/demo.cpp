#include "rows.hpp"

#include "teewire/demo_reader.hpp"
#include "teewire/demo_writer.hpp"

#include <algorithm>

using namespace teewire;
using namespace teewire::c;

namespace {

struct reader_state {
    reader_state(demo_reader const& opened, demo_player::options const& chosen, std::uint32_t passed_kinds) noexcept
        : reader{opened}, options{complete(chosen)}, passed{passed_kinds}, player{opened, memory, options} {}
    demo_player::options complete(demo_player::options options) noexcept {
        if (options.sizes == nullptr) options.sizes = detect_size_table(reader, memory).sizes;
        return options;
    }
    void begin_anew() noexcept {
        ::new (&player) demo_player{reader, memory, options};
        waiting = false;
    }
    demo_reader reader; // at the first chunk
    demo_player_memory memory;
    demo_player::options options;
    std::uint32_t passed; // bits of teewire_demo_kind
    demo_player player;
    demo_event last;      // event
    bool waiting = false; // that event is a snapshot that a table had no room for
    std::span<demo_keyframe> keyframes;
};

struct writer_state {
    explicit writer_state(demo_writer::options const& options) noexcept : writer{memory, options} {}
    demo_writer_memory memory;
    demo_writer writer;
};

static_assert(sizeof(reader_state) <= TEEWIRE_DEMO_READER_SIZE);
static_assert(sizeof(writer_state) <= TEEWIRE_DEMO_WRITER_SIZE);
static_assert(sizeof(demo_keyframe) <= 16);
static_assert(TEEWIRE_MAX_DEMO_BYTES == demo_writer::max_bytes);
static_assert(TEEWIRE_MAX_DEMO_HEADER_BYTES == max_demo_header_bytes);
static_assert(TEEWIRE_STAGE_INPUT == static_cast<int>(demo_stage::chunk) &&
              TEEWIRE_STAGE_HUFFMAN == static_cast<int>(demo_stage::huffman) &&
              TEEWIRE_STAGE_VARINT == static_cast<int>(demo_stage::varint) &&
              TEEWIRE_STAGE_SNAPSHOT == static_cast<int>(demo_stage::snapshot) &&
              TEEWIRE_STAGE_DELTA == static_cast<int>(demo_stage::delta));

std::int32_t kind_of(demo_event const& event) noexcept {
    switch (event.kind) {
    case demo_event_kind::tick: return TEEWIRE_DEMO_TICK;
    case demo_event_kind::snapshot: return TEEWIRE_DEMO_SNAPSHOT;
    case demo_event_kind::message: break;
    }
    return TEEWIRE_DEMO_MESSAGE;
}

reader_state& state_of(teewire_demo_reader* reader) noexcept {
    assert(reader != nullptr);
    return *reinterpret_cast<reader_state*>(reader);
}
demo_reader const& reader_of(teewire_demo_reader const* reader) noexcept {
    assert(reader != nullptr);
    return reinterpret_cast<reader_state const*>(reader)->reader;
}
demo_writer& writer_of(teewire_demo_writer* writer) noexcept {
    assert(writer != nullptr);
    return reinterpret_cast<writer_state*>(writer)->writer;
}

template <class From, class To>
void copy_array(From const& from, To& to) noexcept {
    static_assert(sizeof(From) == sizeof(To));
    std::copy(std::begin(from), std::end(from), std::begin(to));
}

std::int32_t fail(demo_failure const& error, teewire_failure* out) noexcept {
    return c::fail(error.what, out, static_cast<std::int32_t>(error.stage), error.position);
}

// No event comes after the last one.
std::int32_t end_of(demo_player const& player, teewire_failure* out) noexcept {
    return player.error().what.code == errc::ok ? 0 : fail(player.error(), out);
}

void write_header(demo_header const& header, teewire_demo_header* out) {
    teewire_demo_header given = {};
    given.version = header.version;
    given.map_size = header.map_size;
    given.map_crc = header.map_crc;
    given.length = header.length;
    given.marker_count = static_cast<std::uint32_t>(header.markers().size());
    given.has_sha256 = header.has_sha256;
    copy_array(header.marker_ticks, given.marker_ticks);
    copy_array(header.sha256, given.sha256);
    copy_array(header.net_version, given.net_version);
    copy_array(header.map_name, given.map_name);
    copy_array(header.type, given.type);
    copy_array(header.timestamp, given.timestamp);
    write_struct(given, out);
}

} // namespace

// ---- header --------------------------------------------------------------------------------------------------------

std::int32_t teewire_demo_header_read(std::uint8_t const* file, std::uint64_t file_size, teewire_demo_header* out,
                                      teewire_failure* failure) {
    std::size_t const size = std::min<std::uint64_t>(file_size, TEEWIRE_MAX_DEMO_HEADER_BYTES);
    auto const header = parse_demo_header({file, size});
    if (!header) return c::fail(header.error(), failure);
    write_header(*header, out);
    return count(header->size());
}

std::int32_t teewire_demo_header_write(teewire_demo_header const* header, std::uint8_t* out,
                                       std::uint32_t capacity) {
    teewire_demo_header given;
    if (!read_options(header, given) || given.version < min_demo_version || given.version > max_demo_version ||
        given.marker_count > max_demo_markers)
        return TEEWIRE_BAD_ARGUMENT;
    demo_header made;
    made.version = static_cast<std::uint8_t>(given.version);
    made.map_size = given.map_size;
    made.map_crc = given.map_crc;
    made.length = given.length;
    made.marker_count = static_cast<std::int32_t>(given.marker_count);
    made.has_sha256 = given.has_sha256 != 0;
    copy_array(given.marker_ticks, made.marker_ticks);
    copy_array(given.sha256, made.sha256);
    copy_array(given.net_version, made.net_version);
    copy_array(given.map_name, made.map_name);
    copy_array(given.type, made.type);
    copy_array(given.timestamp, made.timestamp);
    auto const size = write_demo_header(made, {out, clip(capacity)});
    return size ? count(*size) : code_of(size.error().code);
}

void teewire_demo_reader_header(teewire_demo_reader const* reader, teewire_demo_header* out) {
    write_header(reader_of(reader).header(), out);
}

// ---- reader --------------------------------------------------------------------------------------------------------

std::uint32_t teewire_demo_reader_size(void) { return sizeof(reader_state); }

std::int32_t teewire_demo_reader_init(teewire_demo_reader** out, void* memory, std::uint32_t size,
                                      std::uint8_t const* file, std::uint64_t file_size,
                                      teewire_demo_reader_options const* options, teewire_failure* failure) {
    teewire_demo_reader_options chosen;
    demo_player::options made;
    if (!read_options(options, chosen) || !read_decoding(chosen.decoding, decoding::lenient, made.mode) ||
        file_size > SIZE_MAX || !suits<reader_state>(memory, size) ||
        (chosen.passed & ~(1U << TEEWIRE_DEMO_TICK | 1U << TEEWIRE_DEMO_SNAPSHOT | 1U << TEEWIRE_DEMO_MESSAGE)) !=
            0)
        return bad_argument(failure);
    auto const opened = demo_reader::open({file, static_cast<std::size_t>(file_size)});
    if (!opened) return c::fail(opened.error(), failure);
    made.sizes = chosen.sizes != nullptr ? &table_of(chosen.sizes) : nullptr;
    *out = reinterpret_cast<teewire_demo_reader*>(::new (memory) reader_state{*opened, made, chosen.passed});
    return TEEWIRE_OK;
}

teewire_sizes const* teewire_demo_reader_sizes(teewire_demo_reader const* reader) {
    assert(reader != nullptr);
    return reinterpret_cast<teewire_sizes const*>(reinterpret_cast<reader_state const*>(reader)->options.sizes);
}

std::int32_t teewire_demo_reader_protocol(teewire_demo_reader* reader) {
    reader_state& state = state_of(reader);
    protocol const found = detect_protocol(state.reader, state.memory, *state.options.sizes);
    state.begin_anew();
    return found == protocol::teeworlds_07   ? TEEWIRE_PROTOCOL_07
           : found == protocol::teeworlds_06 ? TEEWIRE_PROTOCOL_06
                                             : TEEWIRE_PROTOCOL_DDNET;
}

std::int32_t teewire_demo_reader_map(teewire_demo_reader const* reader, std::uint8_t const** map) {
    auto const bytes = reader_of(reader).map();
    if (bytes.size() > INT32_MAX) return TEEWIRE_TOO_LARGE;
    *map = bytes.data();
    return count(bytes.size());
}

std::int32_t teewire_demo_reader_next(teewire_demo_reader* reader, teewire_demo_event* event,
                                      teewire_failure* failure) {
    reader_state& state = state_of(reader);
    demo_event& e = state.last;
    state.waiting = false;
    do {
        if (!state.player.next(e)) return end_of(state.player, failure);
    } while ((state.passed >> kind_of(e) & 1) != 0);
    teewire_demo_event given = {};
    given.tick = e.tick;
    given.position = e.position;
    given.message = e.message.data();
    given.message_size = static_cast<std::uint32_t>(e.message.size());
    given.keyframe = e.keyframe;
    write_struct(given, event);
    return kind_of(e);
}

std::int32_t teewire_demo_reader_rows(teewire_demo_reader* reader, teewire_table* table, teewire_failure* failure) {
    reader_state& state = state_of(reader);
    teewire_table given;
    if (!read_table(table, given)) return bad_argument(failure);
    std::int32_t result = 0;
    for (;;) {
        if (!state.waiting && !state.player.next(state.last)) {
            result = end_of(state.player, failure);
            break;
        }
        state.waiting = false;
        demo_event const& e = state.last;
        if (e.kind == demo_event_kind::tick && e.tick > given.last_tick) break;
        if (e.kind != demo_event_kind::snapshot || e.tick < given.first_tick) continue;
        std::uint64_t const before = given.rows;
        std::size_t const added = add_rows(state.player.state(), e.tick, e.keyframe, given);
        if (given.rows - before == added) continue;
        state.waiting = true;
        result = 1;
        break;
    }
    given.position = state.player.position();
    write_struct(given, table);
    return result;
}

std::int32_t teewire_demo_reader_tick(teewire_demo_reader const* reader) {
    assert(reader != nullptr);
    return reinterpret_cast<reader_state const*>(reader)->player.tick();
}

std::int32_t teewire_demo_reader_snapshot(teewire_demo_reader* reader, teewire_snapshot* out) {
    snapshot_view const view = state_of(reader).player.state();
    set(out, view);
    return count(view.size());
}

std::int32_t teewire_demo_reader_index(teewire_demo_reader* reader, void* memory, std::uint32_t size,
                                       teewire_demo_overview* overview) {
    reader_state& state = state_of(reader);
    std::size_t const capacity = size / TEEWIRE_KEYFRAMES_SIZE(1);
    if (capacity > 0 && !suits<demo_keyframe>(memory, size)) return TEEWIRE_BAD_ARGUMENT;
    auto const room = make_array<demo_keyframe>(memory, capacity);
    demo_overview const found = scan_demo(state.reader, room);
    state.keyframes = room.first(std::min(found.keyframes, capacity));

    auto const chunks = [&](demo_chunk_kind kind) {
        return static_cast<std::uint32_t>(found.kinds[static_cast<std::size_t>(kind)].chunks);
    };
    teewire_demo_overview given = {};
    given.first_tick = found.first_tick;
    given.last_tick = found.last_tick;
    given.ticks = static_cast<std::uint32_t>(found.ticks);
    given.snapshots = chunks(demo_chunk_kind::snapshot) + chunks(demo_chunk_kind::delta);
    given.messages = chunks(demo_chunk_kind::message);
    given.keyframes = static_cast<std::uint32_t>(found.keyframes);
    given.damage = code_of(found.error.code);
    given.damage_position = found.error.position;
    given.restarts = static_cast<std::uint32_t>(found.restarts);
    write_struct(given, overview);
    return count(found.keyframes);
}

std::int32_t teewire_demo_reader_seek(teewire_demo_reader* reader, std::int32_t tick, teewire_failure* failure) {
    reader_state& state = state_of(reader);
    state.waiting = false;
    return state.player.seek(tick, state.keyframes) ? TEEWIRE_OK : fail(state.player.error(), failure);
}

// ---- writer --------------------------------------------------------------------------------------------------------

std::uint32_t teewire_demo_writer_size(void) { return sizeof(writer_state); }

std::int32_t teewire_demo_writer_init(teewire_demo_writer** out, void* memory, std::uint32_t size,
                                      teewire_demo_writer_options const* options) {
    teewire_demo_writer_options chosen;
    demo_writer::options made;
    if (!read_options(options, chosen) || !read_ending(chosen.huffman, made.ending)) return TEEWIRE_BAD_ARGUMENT;
    std::uint32_t const version = chosen.version != 0 ? chosen.version : max_demo_version;
    if (version < min_demo_version || version > max_demo_version || !suits<writer_state>(memory, size))
        return TEEWIRE_BAD_ARGUMENT;
    made.version = static_cast<std::uint8_t>(version);
    made.sizes = &table_of(chosen.sizes);
    *out = reinterpret_cast<teewire_demo_writer*>(::new (memory) writer_state{made});
    return TEEWIRE_OK;
}

std::int32_t teewire_demo_writer_snapshot(teewire_demo_writer* writer, std::int32_t tick,
                                          teewire_snapshot const* snapshot, std::uint8_t* out,
                                          std::uint32_t capacity, teewire_failure* failure) {
    auto const size = writer_of(writer).write_snapshot(tick, view_of(snapshot), {out, clip(capacity)});
    return size ? count(*size) : c::fail(size.error(), failure);
}

std::int32_t teewire_demo_writer_message(teewire_demo_writer* writer, std::uint8_t const* message,
                                         std::uint32_t size, std::uint8_t* out, std::uint32_t capacity,
                                         teewire_failure* failure) {
    auto const written = writer_of(writer).write_message({message, size}, {out, clip(capacity)});
    return written ? count(*written) : c::fail(written.error(), failure);
}

std::int32_t teewire_demo_writer_mark(teewire_demo_writer* writer) { return writer_of(writer).add_marker(); }

void teewire_demo_writer_finish(teewire_demo_writer const* writer, teewire_demo_header* header) {
    assert(writer != nullptr);
    demo_header made;
    reinterpret_cast<writer_state const*>(writer)->writer.finish(made);
    teewire_demo_header given = {};
    std::memcpy(&given, header, std::min<std::size_t>(header->size, sizeof given));
    given.length = made.length;
    given.marker_count = static_cast<std::uint32_t>(made.marker_count);
    copy_array(made.marker_ticks, given.marker_ticks);
    write_struct(given, header);
}
