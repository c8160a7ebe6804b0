// One demo being read: the file, its player, and what the items say about the protocol.
#pragma once

#include "input.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/message.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// A file that is not what it should be: exit code 1. The text names the file, the place and the reason.
struct bad_input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// "tick 1234, byte 5678: delta: an item changes its size (int 17)"
std::string explain(demo_failure const& failed);

/// A demo whose header and map are in order; chunks may still be damaged.
class session {
public:
    /// The input must outlive the session. Throws bad_input if there is nothing to play.
    explicit session(input const& source);
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    [[nodiscard]] demo_header const& header() const noexcept { return reader_.header(); }
    [[nodiscard]] std::span<std::uint8_t const> map() const noexcept { return reader_.map(); }
    [[nodiscard]] demo_overview const& overview() const noexcept { return overview_; }
    [[nodiscard]] std::span<demo_keyframe const> keyframes() const noexcept { return keyframes_; }
    /// What the items say, whatever the header says.
    [[nodiscard]] protocol spoken() const noexcept { return protocol_; }
    [[nodiscard]] named_size_table const& sizes() const noexcept { return *sizes_; }
    [[nodiscard]] note_log const& notes() const noexcept { return notes_; }
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    [[nodiscard]] demo_player& player() noexcept { return *player_; }

    /// "NAME: tick ..., byte ...: REASON" for the player's error.
    [[nodiscard]] std::string error_text() const;
    [[nodiscard]] bool failed() const noexcept { return player_->error().what.code != errc::ok; }

private:
    std::string name_;
    note_log notes_;
    demo_reader reader_;
    demo_overview overview_;
    std::vector<demo_keyframe> keyframes_;
    std::unique_ptr<demo_player_memory> memory_;
    named_size_table const* sizes_ = nullptr;
    protocol protocol_ = protocol::teeworlds_06;
    std::unique_ptr<demo_player> player_;
};

} // namespace teewire::replay
