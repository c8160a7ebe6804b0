// A server that shows a game to real clients, without socket and clock.
//
// As doc/format/session.md#serving-a-recording says. Safe on an open port: an address gets no memory before it has
// proven by a token that it can receive, and no answer larger than its request; packets cost no allocation; everything
// that a client can make the server keep is bounded.
#pragma once

#include "base/rate_limit.hpp"
#include "serve/show.hpp"
#include "serve/watcher_table.hpp"

#include <teewire/connection.hpp>
#include <teewire/handshake.hpp>
#include <teewire/history.hpp>
#include <teewire/server_info.hpp>
#include <teewire/snapshot_sender.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace teewire::replay {

/// Where datagrams go.
class packet_sink {
public:
    virtual void send(endpoint const& to, std::span<std::uint8_t const> datagram) = 0;

protected:
    ~packet_sink() = default;
};

struct server_limits {
    std::size_t viewers = 64;
    std::size_t viewers_per_address = 16;
};

struct server_settings {
    std::string name{};               ///< in the browser
    std::string game_type = "replay"; ///< there too; one that clients know has to have the tuning they know
    std::string password{};           ///< empty: no password
    server_limits limits{};
};

class replay_server final : private show_listener {
public:
    /// Opens `shown`, which must outlive it.
    replay_server(show& shown, server_settings settings, std::array<std::uint8_t, 16> const& secret,
                  packet_sink& sink, milliseconds now);
    ~replay_server();
    replay_server(replay_server const&) = delete;
    replay_server& operator=(replay_server const&) = delete;

    void receive(std::span<std::uint8_t const> datagram, endpoint const& from, milliseconds now);
    /// Goes on, sends what is due, ends what is over. To be called at next_tick(), or later.
    void tick(milliseconds now);
    [[nodiscard]] milliseconds next_tick() const noexcept { return next_tick_; }
    /// Says good-bye to all clients.
    void close(std::string_view reason, milliseconds now);

    struct counters {
        std::uint64_t received = 0;  // datagrams
        std::uint64_t ignored = 0;   // of no use, or too many
        std::uint64_t answered = 0;  // without a connection
        std::uint64_t snapshots = 0; // sent
        std::uint64_t encoded = 0;   // deltas
        std::uint64_t joined = 0;
        std::uint64_t too_large = 0; // messages of the game that no client can be sent
        std::uint64_t refused = 0;   // by a password, or the wrong protocol
    };
    [[nodiscard]] counters const& count() const noexcept { return count_; }
    [[nodiscard]] std::size_t viewers() const noexcept { return viewers_.all().size(); }
    [[nodiscard]] std::size_t watching() const noexcept;
    /// Events since the last call, one line each.
    [[nodiscard]] std::vector<std::string> take_news() { return std::exchange(news_, {}); }

private:
    void answer(std::span<std::uint8_t const> datagram, endpoint const& from, milliseconds now);
    void answer_connless(std::span<std::uint8_t const> datagram, endpoint const& from, milliseconds now);
    watcher* accept(server_gate::decision const& d, endpoint const& from, milliseconds now);
    void drop(watcher& v, std::string_view why);

    // ---- audience

    void on_begin(milliseconds now) override;
    void on_message(std::span<std::uint8_t const> message) override;
    void on_snapshot(std::int32_t tick, snapshot_view const* snapshot, milliseconds now) override;
    void on_end(std::string_view why, milliseconds now) override;

    void read_show();
    // Why connections of this format cannot watch, or empty.
    [[nodiscard]] std::string_view obstacle(wire_format format) const noexcept;
    void load(watcher& v, milliseconds now);
    void receive(watcher& v, chunk const& c, milliseconds now);
    void receive_system(watcher& v, message const& m, message_type type, bool vital, milliseconds now);
    void receive_game(watcher& v, message const& m, message_type type, milliseconds now);
    void enter(watcher& v);
    void watch(watcher& v, std::int32_t id);
    template <class T>
    void say(watcher& v, T const& value, milliseconds now);
    // A vital message. False if there is no room for it.
    bool give(watcher& v, std::span<std::uint8_t const> message, milliseconds now);
    void pump(watcher& v, milliseconds now);
    bool pump_map(watcher& v, milliseconds now);
    void poll(watcher& v, milliseconds now);

    [[nodiscard]] bool can_be_sent(std::span<std::uint8_t const> message) const noexcept;
    void add_roster_changes();
    [[nodiscard]] static bool is_due(watcher& v, std::int32_t tick) noexcept;
    void send_snapshots(milliseconds now);
    void poll_viewers(milliseconds now);
    [[nodiscard]] std::string label(watcher const& v) const;

    show& shown_;
    server_settings settings_;
    std::string map_name_;
    std::span<std::uint8_t const> map_;
    std::uint32_t map_crc_ = 0;
    std::array<std::uint8_t, 32> map_sha256_{};
    server_gate gate_;
    packet_sink& sink_;

    watcher_table viewers_;
    host_rate_limit accepts_;
    host_rate_limit answers_;
    rate_limit infos_{100};

    // Snapshots of the last three seconds, for all viewers.
    std::vector<history::entry> entries_;
    std::vector<std::int32_t> block_;
    history past_;
    snapshot_encoding encoding_;
    std::unique_ptr<snapshot_scratch> scratch_;
    std::vector<std::int32_t> variant_, base_variant_;
    struct due {
        std::int32_t base_tick;
        std::int32_t watched;
        watcher* to;
    };
    std::vector<due> due_;

    // Vital messages for all, numbered through.
    std::deque<std::vector<std::uint8_t>> log_;
    std::uint64_t log_begin_ = 0;
    std::uint64_t log_due_ = 0; // those after it are sent with the next snapshot
    roster announced_;          // what the messages in the log amount to

    milliseconds next_tick_;
    bool polled_ = false; // in this tick
    std::unique_ptr<packet_memory> out_;
    std::unique_ptr<payload_memory> payload_;
    counters count_;
    std::vector<std::string> news_;
};

} // namespace teewire::replay
