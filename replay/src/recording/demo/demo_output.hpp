// Writes a demo: header, map, and after them snapshots and messages, re-encoded.
#pragma once

#include "base/output_file.hpp"

#include <teewire/demo_writer.hpp>

#include <memory>
#include <span>
#include <vector>

namespace teewire::replay {

class demo_output {
public:
    /// `header` chooses the version to write, 6 instead of later ones. finish() corrects its statements about the
    /// chunks; a stream keeps the first ones. Borrowed arguments must outlive it. Throws output_error, as the others
    /// do.
    demo_output(byte_sink& to, demo_header const& header, std::span<std::uint8_t const> map,
                size_table const& sizes);

    /// A tick, and its snapshot. False if it was refused, because no demo can hold it; the others are not affected.
    bool write_snapshot(std::int32_t tick, snapshot_view state);
    /// For the tick of the last snapshot.
    bool write_message(std::span<std::uint8_t const> bytes);
    /// The next snapshot is written whole.
    void request_keyframe() noexcept { writer_.request_keyframe(); }
    /// Completes the header, with the first of these markers: how many is the result. The file still has to be finished.
    std::size_t finish(std::span<std::int32_t const> markers);

    /// Written so far.
    [[nodiscard]] std::uint64_t size() const noexcept { return written_ + waiting_.size(); }
    [[nodiscard]] std::uint64_t snapshots() const noexcept { return snapshots_; }
    /// Snapshots among these that equal the one before and are not stored: readers find only a tick.
    [[nodiscard]] std::uint64_t unchanged() const noexcept { return writer_.unchanged(); }

private:
    struct memory {
        demo_writer_memory writer;
        std::array<std::uint8_t, demo_writer::max_bytes> out;
        std::array<std::uint8_t, max_demo_header_bytes> header;
    };

    bool put(result<std::size_t> const& written);
    void put(std::span<std::uint8_t const> bytes);
    void flush();
    [[nodiscard]] std::span<std::uint8_t const> encoded_header();

    byte_sink& to_;
    demo_header header_;
    std::unique_ptr<memory> memory_;
    demo_writer writer_;
    std::vector<std::uint8_t> waiting_; // to be written
    std::uint64_t written_ = 0;         // bytes
    std::uint64_t snapshots_ = 0;
};

} // namespace teewire::replay
