// The moments of a demo, as a scene shows them.
#pragma once

#include "game/owned_snapshot.hpp"
#include "recording/demo/demo_document.hpp"

#include <teewire/scene/hud.hpp>
#include <teewire/scene/scene.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace teewire::replay {

/// Reads a demo once, from its beginning on.
class moment_reader {
public:
    /// Both must outlive this. `on` may be null.
    moment_reader(demo_document& demo, scene::ground const* on);

    /// Goes on to a tick, which is not before that of the last call. False if there is no snapshot. Before the first one it
    /// shows that, and at the end, and at damage, the last one.
    bool move_to(double tick);
    /// After move_to() gave true; valid until the next call.
    [[nodiscard]] scene::moment const& now() const noexcept { return now_; }
    /// Chat and kills up to then, valid for as long.
    [[nodiscard]] std::span<scene::said_line const> said() const noexcept { return shown_said_; }
    [[nodiscard]] std::span<scene::kill_line const> kills() const noexcept { return shown_kills_; }
    /// Where a client's tee was when it was last seen, in about the time of said().
    struct place {
        float x, y;
    };
    [[nodiscard]] place const* last_place(std::int32_t client) const;
    /// Why there is nothing after what is shown; empty if it is the end of the demo, or has not been reached.
    [[nodiscard]] std::string const& damage() const noexcept { return damage_; }

private:
    struct spoken {
        scene::said_line line;
        std::string who;
        std::string text;
    };
    struct killed {
        scene::kill_line line;
        std::string killer;
        std::string victim;
    };

    bool read_snapshot(double wanted);
    bool take_snapshot(std::int32_t tick, double wanted, bool repeated);
    void read_passed();
    std::unique_ptr<scene::world> read_world(std::int32_t tick, snapshot_view snapshot, bool repeated);
    [[nodiscard]] std::string name_of(std::int32_t client) const;
    void take_chat(message const& m, std::int32_t tick);
    void take_kill(message const& m, std::int32_t tick);
    void take_message(demo_event const& event);
    void forget_old(double tick);

    demo_document& demo_;
    std::unique_ptr<demo_player_memory> memory_{new demo_player_memory};
    demo_player player_;
    scene::ground const* on_;
    scene::world_reader reader_;
    protocol messages_;
    std::unique_ptr<scene::world> before_; // null: there is none
    std::unique_ptr<scene::world> after_;
    std::unique_ptr<scene::world> spare_;
    owned_snapshot passed_; // one that is too old to be looked at, unless it is the last before what is shown
    std::int32_t passed_tick_ = -1;
    std::int32_t open_tick_ = -1; // the last tick, if it has no snapshot yet
    std::vector<scene::event> events_;
    std::vector<scene::emoticon> emoticons_;
    std::vector<std::uint8_t> teams_;
    std::map<std::int32_t, place> last_places_;
    std::vector<spoken> said_; // in their order, as are kills
    std::vector<killed> kills_;
    std::vector<scene::said_line> shown_said_;
    std::vector<scene::kill_line> shown_kills_;
    scene::projectile_tuning tuning_ = scene::usual_tuning;
    scene::moment now_;
    std::string damage_;
    bool ended_ = false;
};

} // namespace teewire::replay
