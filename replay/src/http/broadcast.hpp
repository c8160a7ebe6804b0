// The current content of a broadcast, as files: lib/doc/format/broadcast.md.
#pragma once

#include "http/fragmenter.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// Facts for viewers apart from the fragments, sent again with each of them.
struct broadcast_state {
    std::string name; ///< of the source
    milliseconds delay = 0;
    milliseconds window = 0;    ///< how long fragments are kept
    std::string players = "[]"; ///< JSON
};

/// Receives the files of a broadcast as they come and go.
class broadcast_listener {
public:
    /// Never changes.
    virtual void add(std::string const& path, shared_bytes const& bytes) = 0;
    virtual void remove(std::string const& path) = 0;
    /// Removes the folder of a recording that has become empty.
    virtual void remove_folder(std::string const& path) = 0;
    /// Another `sync`.
    virtual void change(shared_bytes const& sync) = 0;

protected:
    ~broadcast_listener() = default;
};

class broadcast final : public fragment_sink {
public:
    /// Limit of all fragments, and of maps other than the newest recording's, whatever the window.
    static constexpr std::size_t max_bytes = std::size_t{512} << 20;

    /// `state` is asked for `sync`.
    broadcast(milliseconds window, std::function<broadcast_state()> state, std::size_t most_bytes = max_bytes)
        : window_{window}, state_{std::move(state)}, most_bytes_{most_bytes} {}

    void listen(broadcast_listener& to) { listeners_.push_back(&to); }
    /// The clock of all that follows, which never goes back; and what is too old goes.
    void proceed(milliseconds now);

    void begin(broadcast_info const& what) override;
    void put(fragment const& f) override;
    void end() override;

    /// The file at a path without its first slash; null if there is none.
    [[nodiscard]] shared_bytes find(std::string_view path) const;
    /// Whether the path is that of the next fragment, or the first of a recording that has begun.
    [[nodiscard]] bool expects(std::string_view path) const;
    [[nodiscard]] shared_bytes const& sync() const noexcept { return sync_; }

    [[nodiscard]] std::uint64_t fragments() const noexcept { return fragments_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t recordings() const noexcept { return shown_.size(); }
    [[nodiscard]] std::int32_t last_tick() const noexcept { return last_tick_; }

private:
    struct kept {
        fragment what;
        milliseconds since;
    };
    struct shown {
        broadcast_info what;
        std::deque<kept> fragments;
        bool ended = false;
        std::uint64_t next = 0;
    };

    [[nodiscard]] static bool has_own_state(std::deque<kept> const& all, std::size_t at);
    void drop_oldest();
    void drop_what_is_too_much();
    void write_sync();

    milliseconds window_;
    std::function<broadcast_state()> state_;
    std::size_t most_bytes_;
    std::vector<broadcast_listener*> listeners_;
    std::deque<shown> shown_; // the last one goes on, unless it has ended
    milliseconds now_ = 0;
    std::size_t bytes_ = 0;
    std::size_t map_bytes_ = 0; // of all recordings, each map once
    std::uint64_t fragments_ = 0;
    std::int32_t last_tick_ = -1;
    shared_bytes sync_;
};

} // namespace teewire::replay
