// Recordings without what identifies people.
#pragma once

#include "edit/stand_ins.hpp"
#include "game/message_fields.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/demo/demo_output.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teewire::replay {

/// Why something is not in the redacted demo.
enum class redaction_reason : std::uint8_t {
    chat,       ///< a player wrote it
    server,     ///< the server wrote it
    secret,     ///< it holds a password, or what works like one
    snapshot,   ///< it holds a snapshot for a single client
    unknown,    ///< it is not in the tables, and so could hold anything
    unreadable, ///< its bytes are not those of a message, or not those of this one
    unstorable, ///< a demo cannot hold it
};
/// "chat", "server", "secret", ...
[[nodiscard]] std::string_view name(redaction_reason reason) noexcept;

struct redacted {
    std::size_t names = 0; ///< replaced
    std::size_t clans = 0;
    std::size_t skins = 0;
    /// How many items and messages were left out, by the reason and their kind, such as "chat" or "type_30".
    std::map<std::pair<redaction_reason, std::string>, std::uint64_t> left_out;
    /// How many of their texts were emptied, where the rest stays.
    std::map<std::pair<redaction_reason, std::string>, std::uint64_t> emptied;

    /// All that was left out for a reason.
    [[nodiscard]] std::uint64_t count(redaction_reason reason) const noexcept;
};

/// Copies a demo and keeps only what the tables of items and messages mark as harmless. Snapshots for single clients,
/// which a server's recording has within its messages, are left out: nothing plays them, and most build on snapshots
/// from before the recording. Reads the demo twice: for the names, and to write it. The same name becomes the same
/// words in the whole recording. Damage ends it, as in other readers; everything before it is written.
class redactor {
public:
    /// Borrowed arguments must outlive it.
    redactor(demo_document& demo, redaction const& what);

    /// Reads it. `progress`: called with the bytes done.
    void find_names(std::function<void(std::uint64_t)> const& progress);
    /// The players that were found, sorted.
    [[nodiscard]] std::vector<std::string> names() const { return people_.names(); }
    /// Writes it. Throws output_error. The file still has to be finished.
    redacted write(output_file& out, std::function<void(std::uint64_t)> const& progress);
    /// "NAME: tick ..., byte ...: REASON" of what ended the reading, or empty.
    [[nodiscard]] std::string error() const { return error_; }

private:
    using enum redaction_reason;

    using message_bytes = std::vector<std::uint8_t>;

    [[nodiscard]] demo_player make_player(demo_player_memory& memory) const;
    template <class State, class Message>
    void play(demo_player& player, State&& state, Message&& message) const;

    void learn(snapshot_view state);
    void learn(std::span<std::uint8_t const> message);
    void meet(message_type type, message_layout const& layout, message const& m);
    [[nodiscard]] bool goes(field_content content, std::optional<std::int32_t> author, std::string_view text) const;
    [[nodiscard]] object const* find_known(snapshot_view state, std::uint16_t type);
    [[nodiscard]] snapshot_view change(snapshot_view state, redacted& counts);
    void change(std::span<std::int32_t> data, object const& known);
    /// Nothing: it is left out.
    [[nodiscard]] std::optional<message_bytes> change(std::span<std::uint8_t const> message, redacted& counts);

    demo_document& demo_;
    redaction const& what_;
    stand_ins people_;
    std::map<std::int32_t, std::string> present_; // names by client id
    std::set<std::string, std::less<>> skins_;    // replaced
    std::int32_t length_ = 0;                     // seconds
    std::string error_;

    // For the snapshot that is being changed.
    std::vector<std::pair<std::uint16_t, object const*>> aliases_;
    std::vector<std::int32_t> offsets_, items_, whole_;
};

} // namespace teewire::replay
