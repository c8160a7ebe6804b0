// The messages of several recordings, each of them once.
#pragma once

#include "base/keyed_hash.hpp"
#include "edit/merge.hpp"
#include "edit/merge_source.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace teewire::replay {

class message_union {
public:
    /// Borrowed arguments must outlive it. Counts in the result what happens to messages.
    message_union(merge_sources& all, merge_result& result) : all_{all}, result_{result} {}

    /// The protocol of all recordings.
    void begin(protocol version) noexcept { version_ = version; }
    /// The recordings that have the tick have reached it.
    void begin_tick(std::int32_t tick);
    /// The next message of the tick, from the recordings that have it, in their order. Does not change the state. May
    /// take recordings to further steps of the tick.
    bool next(stream_event& out);

private:
    struct said_message {
        std::uint64_t hash = 0;
        std::uint32_t occurrence = 0; // of the same one in this step, from 0
        std::uint32_t from = 0;       // number of the recording
        std::uint32_t number = 0;     // in its step
        friend auto operator<=>(said_message const&, said_message const&) = default;
    };
    struct planned_message {
        std::uint32_t from = 0;
        std::uint32_t number = 0;
        friend auto operator<=>(planned_message const&, planned_message const&) = default;
    };

    // A message that a recording has had.
    struct heard_message {
        std::uint64_t hash = 0;
        std::int32_t tick = -1;
        std::vector<std::uint32_t> by; // numbers of recordings
    };

    void plan_more_messages();
    void listen(merge_source& r, std::uint32_t number);
    void plan();
    [[nodiscard]] bool heard_before(std::span<said_message const> now);
    [[nodiscard]] std::span<std::uint8_t const> for_everybody(std::span<std::uint8_t const> bytes);

    static constexpr std::size_t none = SIZE_MAX;

    merge_sources& all_;
    merge_result& result_;
    protocol version_ = protocol::ddnet;
    std::int32_t tick_ = -1;
    std::size_t speaker_ = none; // number of the recording whose further steps of this tick are read
    std::vector<said_message> said_by_;
    std::vector<planned_message> planned_;
    std::size_t said_ = 0; // of these
    std::deque<heard_message> heard_;
    keyed_hash hash_;
    std::array<std::uint8_t, 1024> encoded_;
};

} // namespace teewire::replay
