// Moves the ticks inside of items, for what is shown or kept at another time than it happened.
#pragma once

#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace teewire::replay {

class tick_mover {
public:
    explicit tick_mover(protocol p) noexcept : protocol_{p} {}

    /// Adds `shift` to the ticks in an item's data, which `what` describes. Values of 0 and below are not ticks and are
    /// kept; a tick is still a tick afterwards.
    void move(std::span<std::int32_t> data, object const& what, std::int32_t shift);
    /// The same in all items of a snapshot, written to `out`, which has room for it.
    [[nodiscard]] snapshot_view move(snapshot_view snapshot, std::int32_t shift, std::span<std::int32_t> out);

private:
    struct places {
        object const* what;
        std::vector<std::size_t> ticks;
    };
    struct alias { // an extended type of a snapshot
        std::uint16_t type;
        object const* what;
    };
    [[nodiscard]] places const& find(object const& what);
    [[nodiscard]] object const* find(std::uint16_t type) const;

    protocol protocol_;
    std::vector<places> known_;
    std::vector<alias> aliases_; // ascending
};

} // namespace teewire::replay
