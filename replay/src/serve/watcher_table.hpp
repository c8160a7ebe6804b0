// The viewers of a replay, and the server's state of each.
#pragma once

#include "base/keyed_hash.hpp"
#include "base/rate_limit.hpp"
#include "serve/viewed.hpp"

#include <teewire/connection.hpp>
#include <teewire/snapshot_sender.hpp>

#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace teewire::replay {

using endpoint = boost::asio::ip::udp::endpoint;

/// Address and port: IPv6's, or IPv4's followed by zeros.
using address_bytes = std::array<std::uint8_t, 18>;
[[nodiscard]] address_bytes bytes_of(endpoint const& e) noexcept;

/// How far a viewer has come.
enum class join_step : std::uint8_t { joining, waiting, loading, ready, entering, watching };

struct watcher {
    static constexpr double packets_per_second = 400;

    endpoint address;
    std::optional<connection> link; ///< none: the place is free
    connection_memory<16384, 96> memory;
    rate_limit packets{packets_per_second};
    join_step at = join_step::joining;
    milliseconds since = 0; ///< the last step
    std::size_t index = 0;  ///< in viewer_table::all()

    /// Clients answer each map that they are sent with one `ready`, which may be on its way when the map changes.
    bool map_told = false;
    std::uint32_t maps_told = 0;
    std::uint32_t readies = 0;
    std::size_t since_map = 0; ///< vital messages after the last map_change
    std::size_t map_next = 0;  ///< byte
    std::size_t map_until = 0; ///< chunks that were asked for end there
    std::deque<std::vector<std::uint8_t>>
        welcome; ///< vital messages before those of the log; bounded by the roster
    std::uint64_t log_next = 0;

    snapshot_pacing pacing;
    std::int32_t watched = watch_chosen;
    std::int32_t watched_since = -1; ///< earlier snapshots cannot be bases
    std::int32_t passed_tick = -1;   ///< the last one that was due; -1: the next one is
    std::int32_t input_tick = -1;
    std::array<char, 17> name{};
};

/// Places for so many viewers, who are found by their addresses. A place stays where it is, also when its viewer has gone.
class watcher_table {
public:
    explicit watcher_table(std::size_t places);

    [[nodiscard]] bool full() const noexcept { return free_.empty(); }
    /// In any order. The last one takes the place of one that is removed.
    [[nodiscard]] std::span<watcher* const> all() const noexcept { return used_; }
    /// Null if there is none. Allocates nothing.
    [[nodiscard]] watcher* find(endpoint const& address) const noexcept;
    /// `network`: as network_of() has it.
    [[nodiscard]] std::size_t count_in(boost::asio::ip::address const& network) const;

    /// The table must not be full, nor have the address. The connection is the caller's to make.
    watcher& add(endpoint const& address, milliseconds now);
    void remove(watcher& gone) noexcept;

private:
    struct endpoint_hash {
        keyed_hash hash;
        std::size_t operator()(endpoint const& e) const noexcept {
            return static_cast<std::size_t>(hash(bytes_of(e)));
        }
    };

    std::unique_ptr<watcher[]> places_;
    std::vector<watcher*> free_;
    std::vector<watcher*> used_;
    std::unordered_map<endpoint, watcher*, endpoint_hash> by_address_;
};

} // namespace teewire::replay
