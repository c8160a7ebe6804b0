// Prints every packet with its chunks, and the items that snapshots change.
#pragma once

#include "base/output.hpp"
#include "recording/capture/connections.hpp"

namespace teewire::replay {

class packet_printer : public capture_listener {
public:
    /// `only`: the first frame of the connection to print, or 0 for all.
    packet_printer(output& out, std::uint64_t only) : out_{out}, only_{only} {}

    void packet(seen_packet const& seen, teewire::packet const& p, std::span<std::uint8_t const> payload) override;
    void control(seen_packet const& seen, control_message const& m) override;
    void chunk_arrives(seen_packet const& seen, seen_chunk const& chunk) override;
    void no_packet(seen_packet const& seen, std::string_view why) override;

private:
    [[nodiscard]] bool wanted(seen_packet const& seen) const noexcept {
        return only_ == 0 || seen.of.first_frame == only_;
    }
    void print_head(seen_packet const& seen);
    void print_snapshot(seen_packet const& seen, seen_chunk const& chunk);
    void print_delta(seen_packet const& seen, seen_chunk const& chunk);

    output& out_;
    std::uint64_t only_;
    std::int64_t begin_ = -1;
};

} // namespace teewire::replay
