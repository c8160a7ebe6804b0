/// @file
/// Texts and signs over the picture: chat, kills, the clock, health, and the keys that a player presses.
#pragma once

#include "teewire/scene/pictures.hpp"
#include "teewire/scene/scene.hpp"

#include <array>
#include <span>
#include <string_view>

namespace teewire::scene {

/// Places are in units of which so many are the height of the picture, as in the games.
inline constexpr float hud_height = 300;
/// Ticks for which a line of chat is shown.
inline constexpr std::int32_t chat_ticks = 600;
/// Ticks for which a kill is shown.
inline constexpr std::int32_t kill_ticks = 400;

/// A line of chat.
struct said_line {
    enum class audience : std::uint8_t { everyone, team, server }; ///< `server`: it says so itself
    std::int32_t tick = 0;
    audience to = audience::everyone;
    std::string_view who; ///< empty for the server
    std::string_view text;
};

/// A kill.
struct kill_line {
    std::int32_t tick = 0;
    std::string_view killer; ///< that of the victim: a death without a killer
    std::string_view victim;
    std::int32_t weapon = -1; ///< below 0: none
};

/// Which parts are shown.
struct hud_parts {
    bool chat = true;
    bool kills = true;
    bool clock = true;  ///< and the scores of teams
    bool status = true; ///< health, armor and ammunition of the chosen player, but not in races
    bool keys = false;  ///< that the chosen player presses, as far as snapshots show them
    bool speed = false; ///< of the chosen player
};

struct hud {
    hud_parts parts;
    std::int32_t selected = -1;       ///< the chosen player
    std::span<said_line const> said;  ///< of the last chat_ticks, in their order
    std::span<kill_line const> kills; ///< of the last kill_ticks, in their order
};

/// Measures texts. The host's.
class text_measure {
public:
    /// Width of a text that is `size` units high, in units.
    [[nodiscard]] virtual float width(std::string_view text, float size) noexcept = 0;

protected:
    ~text_measure() = default;
};

/// Memory for texts that are made for a picture.
struct hud_texts {
    std::array<char, 256> bytes{};
    std::size_t used = 0;
};

/// Draws them over what is in the list. `aspect`: width of the picture by its height. The texts must live as long as the
/// list. O(lines).
void draw_hud(moment const& at, seen_tees const& tees, hud const& shown, float aspect, picture_source& pictures,
              text_measure& measure, hud_texts& texts, draw_list& out) noexcept;

} // namespace teewire::scene
