// The view of a recorded game for viewers: snapshots with items of their own, and the messages that are for all.
#pragma once

#include "game/retime.hpp"

#include <teewire/message_types.hpp>
#include <teewire/snapshot_builder.hpp>

#include <bitset>
#include <memory>

namespace teewire::replay {

/// Whom a viewer watches.
inline constexpr std::int32_t watch_nobody = -1; ///< looks around freely
inline constexpr std::int32_t watch_chosen = -2; ///< whom the recording watches, or else anybody

inline constexpr std::size_t max_viewed_clients = 64;

/// The client ids that a snapshot has players for.
[[nodiscard]] std::bitset<max_viewed_clients> clients_in(snapshot_view snapshot, protocol p);

/// Whether it is a game message that was not sent only because a player joined, or only to one client.
[[nodiscard]] bool is_for_viewers(message const& m, protocol p);

/// Makes snapshots for viewers out of recorded ones.
class viewed_snapshots {
public:
    /// `p`: of the items.
    explicit viewed_snapshots(protocol p);

    /// For viewers that watch `watch_chosen`; its last item says whom. Until the next build(). The ticks inside of items
    /// are moved by `shift`. `again`: without what has happened. Viewers play with `viewer_id`; with -1 they have no
    /// items of their own.
    snapshot_view build(snapshot_view recorded, std::int32_t shift, bool again, std::int32_t viewer_id);
    /// The same snapshot, or another that build() gave, for viewers that watch another player, in `out`.
    [[nodiscard]] snapshot_view watching(snapshot_view snapshot, std::int32_t watched,
                                         std::span<std::int32_t> out) const;

private:
    void choose_watched(snapshot_view snapshot);
    void add_viewer(std::int32_t viewer_id);

    protocol protocol_;
    bool v07_;
    tick_mover mover_;
    std::unique_ptr<snapshot_builder_memory<>> memory_;
    snapshot_builder builder_;
    std::int32_t chosen_ = watch_nobody;
};

} // namespace teewire::replay
