/// @file
/// The game in a snapshot, whatever the protocol, as far as it can be seen: players, tees, and everything that lies and flies
/// about.
#pragma once

#include "teewire/scene/ground.hpp"
#include "teewire/schema.hpp"
#include "teewire/snapshot.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace teewire::scene {

/// A list in memory of its own. Whatever comes after `most` is left out.
template <class T, std::size_t most>
class bounded_list {
public:
    void clear() noexcept { size_ = 0; }
    /// Null if it is full.
    T* add() noexcept {
        if (size_ == most) return nullptr;
        T& made = items_[size_++];
        made = {};
        return &made;
    }
    /// `size`: not above that of before.
    void resize(std::size_t size) noexcept { size_ = std::min(size, size_); }
    [[nodiscard]] T* begin() noexcept { return items_.data(); }
    [[nodiscard]] T* end() noexcept { return items_.data() + size_; }
    [[nodiscard]] T const* begin() const noexcept { return items_.data(); }
    [[nodiscard]] T const* end() const noexcept { return items_.data() + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::array<T, most> items_;
    std::size_t size_ = 0;
};

/// A character. Speeds are in 256ths of a unit a tick, `angle` in 256ths of a radian.
struct tee {
    std::int32_t id = -1; ///< of the client
    std::int32_t tick = 0;
    float x = 0;
    float y = 0;
    float vel_x = 0;
    float vel_y = 0;
    std::int32_t angle = 0;
    std::int32_t direction = 0;
    std::int32_t jumped = 0;
    std::int32_t hooked_player = -1;
    std::int32_t hook_state = 0;
    float hook_x = 0;
    float hook_y = 0;
    float hook_dx = 0; ///< of length 1
    float hook_dy = 0;
    std::int32_t player_flags = 0; ///< 0.6
    std::int32_t health = 0;
    std::int32_t armor = 0;
    std::int32_t ammo_count = 0;
    std::int32_t weapon = -1;
    std::int32_t emote = 0;
    std::int32_t attack_tick = 0;
    bool is_there = false;    ///< has a character
    bool is_extended = false; ///< DDNet says more of it:
    std::int32_t flags = 0;
    std::int32_t freeze_end = 0; ///< tick; -1: for good

    /// A tee that cannot do anything.
    [[nodiscard]] bool is_frozen(double now) const noexcept {
        return is_extended && (freeze_end == -1 || freeze_end > now);
    }
    /// A tee that cannot touch others.
    [[nodiscard]] bool is_solo() const noexcept { return is_extended && (flags & 1) != 0; }
    [[nodiscard]] bool looks_like_ninja(double now) const noexcept {
        constexpr std::int32_t ninja = 5, in_ninja_flag = 1 << 21;
        return weapon == ninja || is_frozen(now) || (is_extended && (flags & in_ninja_flag) != 0);
    }
};

/// Text of an item, in memory of its own.
template <std::size_t most>
struct short_text {
    std::array<char, most> bytes{};
    std::uint8_t size = 0;
    [[nodiscard]] std::string_view view() const noexcept { return {bytes.data(), size}; }
    void assign(std::span<std::int32_t const> ints) noexcept {
        std::array<char, most + 4> room;
        std::string_view const text = decode_text(ints.first(std::min(ints.size(), most / 4)), room);
        size = static_cast<std::uint8_t>(std::min(text.size(), most));
        std::copy_n(text.begin(), size, bytes.begin());
    }
};

/// Parts of a skin of 0.7, in the order of the items.
enum class skin_part : std::uint8_t { body, marking, decoration, hands, feet, eyes };
inline constexpr std::size_t skin_parts = 6;

struct player {
    std::int32_t id = -1;
    short_text<16> name;
    std::int32_t team = 0;
    std::int32_t race_start = -1; ///< tick; -1: none
    bool dead = false;
    bool local = false;
    bool away = false;         ///< DDNet
    bool known = false;        ///< has a name and looks:
    short_text<24> skin;       ///< 0.6
    bool custom_color = false; ///< 0.6
    std::int32_t body_color = 0;
    std::int32_t feet_color = 0;
    std::array<short_text<24>, skin_parts> parts; ///< 0.7
    std::array<bool, skin_parts> custom_colors{};
    std::array<std::int32_t, skin_parts> part_colors{};
};

/// A shot: where it began, its direction, and the weapon.
struct projectile {
    float x = 0;
    float y = 0;
    float dx = 0;
    float dy = 0;
    std::int32_t type = 0;
    std::int32_t start = 0; ///< tick
};

struct laser {
    float x = 0;
    float y = 0;
    float from_x = 0;
    float from_y = 0;
    std::int32_t type = 0;
    std::int32_t start = 0; ///< tick
};

struct pickup {
    enum class kind : std::uint8_t { health, armor, weapon, ninja };
    float x = 0;
    float y = 0;
    kind what = kind::health;
    std::int32_t weapon = 0;
};

struct flag {
    float x = 0;
    float y = 0;
    std::int32_t team = 0; ///< 0 is red
};

/// Something that happens at once, and is seen for a while.
struct event {
    enum class kind : std::uint8_t {
        explosion,
        spawn,
        hammer_hit,
        death,
        damage,
        finish,
        sound,
        sound_everywhere,
    };
    kind what = kind::explosion;
    std::int32_t tick = 0;
    float x = 0;
    float y = 0;
    std::int32_t value = 0; ///< death: the client; damage: the angle; sounds: their number
};

/// Large: give it memory that lasts.
struct world {
    std::int32_t tick = -1;
    bool is_07 = false;
    bool teams = false;
    std::int32_t round_start = 0; ///< tick
    std::int32_t race_start = -1; ///< of the recording player; tick; -1: none
    std::int32_t warmup = 0;      ///< ticks that are left
    std::int32_t time_limit = 0;  ///< minutes; 0: there is none
    bool over = false;
    bool paused = false;
    bool sudden_death = false;
    bool is_race = false;                 ///< scores are times
    std::array<std::int32_t, 2> scores{}; ///< of the red and the blue team
    std::int32_t viewed = not_viewing;    ///< the client whom the player watches; -1: none, but a place:
    float view_x = 0;
    float view_y = 0;
    std::array<std::int32_t, 2> carriers{-3, -3}; ///< clients that have the red and the blue flag
    bounded_list<tee, 256> tees;                  ///< ids occur once
    bounded_list<player, 256> players;            ///< ids occur once
    bounded_list<projectile, 1024> projectiles;
    bounded_list<laser, 1024> lasers;
    bounded_list<pickup, 1024> pickups;
    bounded_list<flag, 16> flags;
    bounded_list<event, 1024> events; ///< of this snapshot

    static constexpr std::int32_t not_viewing = -2;

    [[nodiscard]] tee const* find_tee(std::int32_t id) const noexcept;
    [[nodiscard]] player const* find_player(std::int32_t id) const noexcept;
};

/// Reads snapshots. Small; knows where the fields of a protocol are.
class world_reader {
public:
    explicit world_reader(protocol p) noexcept;
    /// O(items). Characters are at `tick`, moved on by the rules of the game where there is ground.
    void read(std::int32_t tick, snapshot_view snapshot, ground const* on, world& out) const noexcept;

private:
    enum class role : std::uint8_t {
        none,
        character,
        extended_character,
        player_info,
        client_info,
        extended_player,
        game_info,
        extended_game,
        viewed,
        race,
        teams,
        carriers,
        projectile,
        angled_projectile,
        far_projectile,
        laser,
        far_laser,
        pickup,
        flag,
        explosion,
        spawn,
        hammer_hit,
        death,
        damage,
        finish,
        sound,
        sound_everywhere,
    };
    struct layout {
        role what = role::none;
        std::array<std::uint8_t, 28> at{}; ///< offset of each field that the role needs
    };
    static constexpr std::size_t plain_types = 64;
    static constexpr std::size_t extended_types = 10;

    void know(protocol p, std::string_view name, role what, std::span<std::string_view const> fields) noexcept;
    void add(layout const& l, item const& i, world& out) const noexcept;

    bool is_07_;
    std::array<layout, plain_types> plain_{};
    std::array<layout, extended_types> extended_{};
    std::array<uuid, extended_types> uuids_{};
    std::size_t extended_count_ = 0;
};

/// Speed in units a second, and curvature, of a weapon's projectiles.
struct flight {
    float speed = 2200;
    float curvature = 1.25F;
};
/// By weapon: gun, shotgun and grenade, as servers usually have them.
using projectile_tuning = std::array<flight, 3>;
inline constexpr projectile_tuning usual_tuning = {{{2200, 1.25F}, {2750, 1.25F}, {1000, 7}}};
/// From the ints of a tune_params message, in hundredths.
[[nodiscard]] projectile_tuning tuning_of(std::span<std::int32_t const> ints) noexcept;

} // namespace teewire::scene
