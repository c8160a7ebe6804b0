// Datagrams that IP took apart, put together again.
#pragma once

#include "recording/capture/frame.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace teewire::replay {

class fragment_buffer {
public:
    /// Takes a part of a datagram, captured at `time`, in nanoseconds. The UDP packet once it is complete, which holds
    /// until the next call. One whose parts overlap is dropped, as RFC 5722 demands.
    [[nodiscard]] std::optional<std::span<std::uint8_t const>> add(std::int64_t time, ip_fragment const& part);
    /// Parts whose datagrams did not become complete.
    [[nodiscard]] std::uint64_t left_out() const noexcept { return parts_ - used_; }

    /// Limits of memory: about 40 MiB in all.
    static constexpr std::size_t max_datagrams = 256;
    static constexpr std::size_t max_bytes = 65535; ///< of a datagram
    static constexpr std::size_t max_parts = 1024;  ///< of a datagram
    static constexpr std::int64_t max_wait =
        30'000'000'000; ///< nanoseconds from a datagram's first part to its last

private:
    struct datagram {
        udp_address from, to;
        std::uint32_t id = 0;
        std::int64_t begun = 0;
        std::optional<std::size_t> size;
        std::vector<std::pair<std::size_t, std::size_t>> parts; // from, to; sorted
        std::vector<std::uint8_t> bytes;
        std::uint64_t taken = 0; // parts, with repeated ones
    };
    [[nodiscard]] std::list<datagram>::iterator find(std::int64_t time, ip_fragment const& part);

    std::list<datagram> open_; // the oldest first
    std::vector<std::uint8_t> whole_;
    std::uint64_t parts_ = 0, used_ = 0;
};

} // namespace teewire::replay
