// Differences of two recordings: by tick, item and field, and messages in their order.
#pragma once

#include "game/item_text.hpp"
#include "game/ticks.hpp"
#include "recording/stream/event.hpp"

#include <teewire/message_types.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Which of the two.
enum class side : std::uint8_t { a, b };

/// A part of an item that is not the same. Empty where the item is too short to have it.
struct part_difference {
    item_part part;
    std::span<std::int32_t const> a, b;
};

/// A message as it is compared.
struct compared_message {
    std::string name;   ///< "chat"
    std::string fields; ///< for people, or its bytes in hexadecimal
};

/// Receives the differences, in the order of ticks. Borrowed data is valid during the call.
class diff_listener {
public:
    /// A difference of the recordings: "protocol", "map", "crc", "sha256". Or a whole recording that only one has.
    virtual void recording(std::string_view what, std::string const& a, std::string const& b) = 0;
    /// Ticks that only one has: their number from the first to the last. The other may have some between them.
    virtual void ticks(side only, std::int32_t first, std::int32_t last, std::uint64_t count) = 0;
    virtual void item_only(side only, std::int32_t tick, item const& i, type_name const& type) = 0;
    virtual void item(std::int32_t tick, teewire::item const& i, type_name const& type,
                      std::span<part_difference const> parts) = 0;
    /// The message of that number, from 0, at that tick: of a, or of b if a has none. Not both are null.
    virtual void message(std::int32_t tick, std::size_t number, compared_message const* a,
                         compared_message const* b) = 0;

protected:
    ~diff_listener() = default;
};

struct diff_options {
    std::vector<std::string> ignored; ///< "character.x", or "character" for all of it
    bool common_ticks = false;        ///< ticks that only one has do not count
    bool messages = true;
    /// The ticks to be compared of a recording of a. All of them if it is empty.
    std::function<tick_range(recording_info const&)> range;
};

struct diff_result {
    std::uint64_t common_ticks = 0;
    std::uint64_t different_ticks = 0; ///< of these
    std::uint64_t only[2] = {0, 0};    ///< ticks, by side
    std::uint64_t differences = 0;     ///< calls of the listener
    /// Counts by "character.x", "character" (in only one), "message chat".
    std::map<std::string, std::uint64_t, std::less<>> counts;
    /// "NAME: REASON", by side: the two were compared up to there.
    std::string damage[2];
    std::int32_t damage_tick = -1; ///< up to which they were compared

    [[nodiscard]] bool same() const noexcept { return differences == 0; }
};

/// Compares the two tick by tick, each as it is at the end of the tick. Differences are reported at the ticks at which
/// one of them has another snapshot. Ends when one ends with damage. Throws usage_error for a type or field to be
/// ignored that neither has, and io_error. Memory: a few snapshots.
diff_result compare(event_source& a, event_source& b, diff_options const& options, diff_listener& listener);

} // namespace teewire::replay
