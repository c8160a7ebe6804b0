// Makes a small fixture out of a recording: a range of ticks, without the map and without system messages.
//   cut_demo IN.demo OUT.demo FROM TO [VERSION]
#include <teewire/demo_reader.hpp>
#include <teewire/demo_writer.hpp>
#include <teewire/message.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

using namespace teewire;

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fputs("usage: cut_demo IN.demo OUT.demo FROM TO [VERSION]\n", stderr);
        return 2;
    }
    std::ifstream file{argv[1], std::ios::binary};
    std::vector<std::uint8_t> const bytes{std::istreambuf_iterator<char>{file}, {}};
    auto const reader = demo_reader::open(bytes);
    if (!reader) {
        std::fprintf(stderr, "%s: not a demo\n", argv[1]);
        return 1;
    }
    std::int32_t const from = std::atoi(argv[3]);
    std::int32_t const to = std::atoi(argv[4]);

    demo_header header = reader->header();
    if (argc > 5) header.version = static_cast<std::uint8_t>(std::atoi(argv[5]));
    header.map_size = 0;
    header.has_sha256 = header.version >= 6;
    auto const player_memory = std::make_unique<demo_player_memory>();
    auto const writer_memory = std::make_unique<demo_writer_memory>();
    size_table const& sizes = *detect_size_table(*reader, *player_memory).sizes;
    demo_player player{*reader, *player_memory, {&sizes, decoding::lenient, nullptr}};
    // As the programs of the time ended their codes.
    huffman_end const ending = header.version >= 6 ? huffman_end::exact : huffman_end::padded;
    demo_writer writer{*writer_memory, {header.version, ending, &sizes}};

    std::vector<std::uint8_t> chunks;
    std::vector<std::uint8_t> out(demo_writer::max_bytes);
    bool started = false;
    for (demo_event event; player.next(event) && event.tick <= to;) {
        if (event.tick < from) continue;
        result<std::size_t> size = std::size_t{0};
        if (event.kind == demo_event_kind::snapshot) {
            size = writer.write_snapshot(event.tick, player.state(), out);
            started = true;
        } else if (event.kind == demo_event_kind::message && started) {
            auto const m = parse_message(event.message);
            if (m && !m->system) size = writer.write_message(event.message, out);
        }
        if (!size) {
            std::fprintf(stderr, "tick %d: error %d\n", static_cast<int>(event.tick),
                         static_cast<int>(size.error().code));
            return 1;
        }
        chunks.insert(chunks.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*size));
    }
    writer.finish(header);
    std::vector<std::uint8_t> head(header.size());
    static_cast<void>(write_demo_header(header, head));
    std::ofstream result{argv[2], std::ios::binary};
    result.write(reinterpret_cast<char const*>(head.data()), static_cast<std::streamsize>(head.size()));
    result.write(reinterpret_cast<char const*>(chunks.data()), static_cast<std::streamsize>(chunks.size()));
    return result ? 0 : 1;
}
