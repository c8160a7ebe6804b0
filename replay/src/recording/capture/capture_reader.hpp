// The frames of a capture file: pcap, with microseconds, nanoseconds or the longer frame heads of some old kernels, and
// pcapng, where each interface has its own link layer and clock. Both in either byte order.
#pragma once

#include "recording/capture/capture_source.hpp"
#include "recording/capture/frame.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Borrowed: the bytes hold until the next frame is read.
struct captured_frame {
    std::uint64_t number = 0;       ///< in the file, from 1
    std::int64_t time = 0;          ///< nanoseconds since 1970, before the year 2107
    std::size_t original_size = 0;  ///< as it was on the wire
    std::optional<link_layer> link; ///< none: of a kind that is not read
    std::span<std::uint8_t const> bytes;
};

class capture_reader {
public:
    /// `name`: for messages. Throws bad_input if it is not a capture, or begins with an unsupported network.
    capture_reader(open_capture from, std::string const& name);
    explicit capture_reader(capture_source const& source) : capture_reader{source.open(), source.name()} {}

    /// False at the end, and where the file is damaged.
    bool next(captured_frame& out);
    /// The damage and its position; empty if there is none.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }

    /// The link layers of the interfaces so far, each once: "Ethernet", "Linux cooked v1".
    [[nodiscard]] std::vector<std::string> const& links() const noexcept { return links_; }
    /// Frames among those so far with an impossible time; they have that of the frame before.
    [[nodiscard]] std::uint64_t untimed() const noexcept { return untimed_; }
    /// Bytes of the file so far, or 0 if that is not known.
    [[nodiscard]] std::uint64_t position() const;

    /// Limits of memory.
    static constexpr std::size_t max_frame = std::size_t{256} << 10;
    static constexpr std::size_t max_block = std::size_t{16} << 20; ///< of a pcapng file
    static constexpr std::size_t max_interfaces = 10000;

private:
    struct interface {
        std::optional<link_layer> link;
        std::uint32_t snap_length = 0;   // 0: none
        std::uint64_t units = 1'000'000; // of its clock in a second
        std::int64_t offset = 0;         // seconds
    };

    bool next_record(captured_frame& out);
    bool next_frame_block(captured_frame& out);
    std::uint32_t next_block();
    void begin_section();
    void add_interface();
    void add_link(unsigned type, std::uint32_t snap_length);
    void take_frame_block(std::uint32_t type, captured_frame& out);
    void give(captured_frame& out, interface const& from, std::optional<std::int64_t> time, std::size_t at,
              std::size_t size);
    [[nodiscard]] bool read(std::size_t size, std::size_t at = 0);
    [[nodiscard]] std::uint16_t get16(std::size_t at) const;
    [[nodiscard]] std::uint32_t get32(std::size_t at) const;

    open_file file_;
    std::shared_ptr<std::string const> damage_;
    std::vector<std::uint8_t> block_; // the record or block that was read last
    std::vector<interface> interfaces_;
    std::vector<std::string> links_;     // at most a few
    bool blocks_ = false;                // pcapng
    bool big_endian_ = false;            // the file, or this section of it
    std::size_t head_ = 16;              // bytes before each frame of a pcap file
    std::uint64_t at_ = 0;               // bytes read, decompressed
    std::uint64_t begin_ = 0;            // of the record or block that is read
    std::optional<std::uint32_t> ahead_; // the type of the block in block_, if it is still to be taken
    std::uint64_t frames_ = 0;
    std::uint64_t untimed_ = 0;
    std::int64_t time_ = 0; // of the last frame
    std::string error_;
};

} // namespace teewire::replay
