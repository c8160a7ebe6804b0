// Replacements for the names, clans and skins of redacted players.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// The choice of what to remove.
struct redaction {
    bool names = true;         ///< become "player 1", "player 2", ..., wherever they are
    bool clans = true;         ///< become "clan 1", ...
    bool skins = true;         ///< become the default skin, unless they are among those that come with the game
    bool chat = true;          ///< what players wrote is left out
    bool server = true;        ///< what the server wrote is left out: chat, broadcasts, votes, messages of the day
    bool keep_unknown = false; ///< items and messages that are not in the tables stay
    std::optional<std::set<std::string, std::less<>>> players; ///< only these, by name
    std::set<std::string, std::less<>> keep;                   ///< all but these
};

/// The names of a recording, and what replaces them. First learn() them all, then finish(), then ask.
class stand_ins {
public:
    explicit stand_ins(redaction const& what) : what_{what} {}

    /// Whether a player of this name is redacted. The empty name is that of a player whose name is not known.
    [[nodiscard]] bool concerns(std::string_view name) const;

    /// A player of this name, and of this clan, is in the recording. Both may be empty.
    void learn(std::string_view name, std::string_view clan);
    void finish();

    /// The replacement of a name, or the name itself if it stays.
    [[nodiscard]] std::string name(std::string_view name) const;
    /// The same for the clan of a player.
    [[nodiscard]] std::string clan(std::string_view clan, std::string_view owner) const;
    /// The same for a skin of 0.6, or a part of one of 0.7.
    [[nodiscard]] std::string skin(std::string_view skin, std::string_view owner, bool is_part) const;
    /// A text without the names and clans of redacted players, in upper or lower case. Those of less than three bytes are
    /// found only as whole words: otherwise every text would be full of them.
    [[nodiscard]] std::string without_names(std::string_view text) const;

    /// All names, sorted.
    [[nodiscard]] std::vector<std::string> names() const;
    /// How many names and clans are replaced.
    [[nodiscard]] std::size_t replaced_names() const;
    [[nodiscard]] std::size_t replaced_clans() const noexcept { return clans_.size(); }

private:
    redaction const& what_;
    std::map<std::string, std::string, std::less<>> names_; // and what replaces them; the same if they stay
    std::map<std::string, std::string, std::less<>> clans_; // only those that are replaced
    struct searched {
        std::string_view text;
        std::string_view instead;
    };
    std::vector<searched> longest_first_;
};

} // namespace teewire::replay
