#include "streams.hpp"

#include <teewire/demo_reader.hpp>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace teewire::bench {

stream recorded_stream(std::filesystem::path const& demo, std::size_t first, std::size_t count) {
    std::ifstream in(demo, std::ios::binary);
    std::vector<std::uint8_t> const file{std::istreambuf_iterator<char>(in), {}};
    auto const reader = demo_reader::open(file);
    if (!in || !reader) throw std::runtime_error("not a demo: " + demo.string());
    auto const memory = std::make_unique<demo_player_memory>();
    stream out{demo.stem().string(), {}, detect_size_table(*reader, *memory).sizes};
    demo_player player{*reader, *memory, {out.sizes}};
    std::size_t number = 0;
    for (demo_event event; out.snapshots.size() < count && player.next(event);) {
        if (event.kind != demo_event_kind::snapshot || number++ < first) continue;
        auto const ints = player.state().ints();
        out.snapshots.emplace_back(ints.begin(), ints.end());
    }
    return out;
}

} // namespace teewire::bench
