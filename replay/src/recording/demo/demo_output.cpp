#include "recording/demo/demo_output.hpp"

#include <algorithm>

namespace teewire::replay {

demo_output::demo_output(byte_sink& to, demo_header const& header, std::span<std::uint8_t const> map,
                         size_table const& sizes)
    : to_{to}, header_{header}, memory_{std::make_unique<memory>()}, writer_{memory_->writer,
                                                                             {header.version, huffman_end::exact,
                                                                              &sizes}} {
    header_.version = std::min(header.version, max_demo_version);
    put(encoded_header());
    put(map);
}

std::span<std::uint8_t const> demo_output::encoded_header() {
    return std::span{memory_->header}.first(*write_demo_header(header_, memory_->header));
}

void demo_output::put(std::span<std::uint8_t const> bytes) {
    constexpr std::size_t block_bytes = 64 << 10;
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    if (to_.is_stream() || waiting_.size() >= block_bytes) flush();
}

void demo_output::flush() {
    to_.write(waiting_);
    written_ += waiting_.size();
    waiting_.clear();
}

bool demo_output::put(result<std::size_t> const& written) {
    if (written) put(std::span{memory_->out}.first(*written));
    return static_cast<bool>(written);
}

bool demo_output::write_snapshot(std::int32_t tick, snapshot_view state) {
    bool const written = put(writer_.write_snapshot(tick, state, memory_->out));
    snapshots_ += written;
    return written;
}

bool demo_output::write_message(std::span<std::uint8_t const> bytes) {
    return put(writer_.write_message(bytes, memory_->out));
}

std::size_t demo_output::finish(std::span<std::int32_t const> markers) {
    flush();
    writer_.finish(header_);
    std::size_t const kept = header_.version < 4 ? 0 : std::min(markers.size(), max_demo_markers);
    header_.marker_count = static_cast<std::int32_t>(kept);
    header_.marker_ticks = {};
    std::copy_n(markers.begin(), kept, header_.marker_ticks.begin());
    to_.overwrite_begin(encoded_header());
    return kept;
}

} // namespace teewire::replay
