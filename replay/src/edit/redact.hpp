// Recordings without what says who plays and what was said.
#pragma once

#include "recording/demo/demo_document.hpp"
#include "recording/demo/demo_output.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

struct redaction {
    bool names = true;  ///< replaced by "player 1", "player 2", ..., wherever they are
    bool clans = true;  ///< replaced by "clan 1", ...
    bool chat = true;   ///< what players say is left out
    bool server = true; ///< lines of the server are left out: chat, broadcasts, message of the day, console
    std::optional<std::set<std::string>> players; ///< only these, by name
    std::set<std::string> keep;                   ///< not of these
};

struct redacted {
    std::size_t names = 0;         ///< replaced
    std::size_t clans = 0;         ///< replaced
    std::uint64_t chat = 0;        ///< messages of players that were left out
    std::uint64_t server = 0;      ///< lines of the server that were left out
    std::uint64_t unreadable = 0;  ///< messages left out because they are unreadable
    std::uint64_t refused = 0;     ///< snapshots and messages that the form of a demo cannot hold
    std::set<std::string> unknown; ///< players and those to keep that are not in the recording
};

/// Reads the demo twice: for the names, and to write it. The same name becomes the same words in the whole recording.
/// Damage ends it, as in other readers; everything before it is written.
class redactor {
public:
    /// Borrowed arguments must outlive it.
    redactor(demo_document& demo, redaction const& what);

    /// Reads it. `progress` gets the bytes done.
    void find_names(std::function<void(std::uint64_t)> const& progress);
    /// Writes it. Throws output_error. The file still has to be finished.
    redacted write(output_file& out, std::function<void(std::uint64_t)> const& progress);
    /// "NAME: tick ..., byte ...: REASON" of what ended the reading, or empty.
    [[nodiscard]] std::string error() const { return error_; }

private:
    struct person {
        std::string name;
        std::string clan;
    };

    [[nodiscard]] demo_player make_player(demo_player_memory& memory) const;
    template <class State, class Message>
    void play(demo_player& player, State&& state, Message&& message) const;
    [[nodiscard]] bool concerns(std::string const& name) const;
    void meet(std::int32_t client_id, std::string_view name, std::string_view clan);
    void meet_all(snapshot_view state);
    void meet_of(std::span<std::uint8_t const> message);
    [[nodiscard]] std::string without_names(std::string_view text) const;
    [[nodiscard]] snapshot_view change(snapshot_view state, std::span<std::int32_t> out) const;
    /// Nothing: it is left out.
    [[nodiscard]] std::optional<std::vector<std::uint8_t>> change(std::span<std::uint8_t const> message,
                                                                  redacted& counts);

    demo_document& demo_;
    redaction const& what_;
    object const& client_info_;
    field const* name_field_ = nullptr;
    field const* clan_field_ = nullptr;
    std::map<std::string, std::string, std::less<>> names_; // what becomes of them; of those that stay, the same
    std::map<std::string, std::string, std::less<>> clans_;
    std::vector<std::string_view> longest_first_; // names that go
    std::map<std::int32_t, person> present_;      // by client id
    std::int32_t length_ = 0;                     // seconds
    std::string error_;
};

} // namespace teewire::replay
