// One demo being read: the file, its player, and what the items say about the protocol.
#pragma once

#include "base/input.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/message.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// "tick 1234, byte 5678: delta: an item changes its size (int 17)"
std::string explain(demo_failure const& failed);

/// When to find out the sizes of items. For 0.7 demos that costs as much as decoding them, and the header's suggestion
/// is nearly always right: code that decodes everything anyway, and can start again, learns on the way whether it was.
enum class size_detection { now, assume };

/// A demo whose header and map are in order; chunks may still be damaged.
class demo_document {
public:
    /// The input must outlive the document. Throws bad_input if there is nothing to play.
    explicit demo_document(input const& source, size_detection when = size_detection::now);
    demo_document(demo_document const&) = delete;
    demo_document& operator=(demo_document const&) = delete;

    [[nodiscard]] demo_header const& header() const noexcept { return reader_.header(); }
    [[nodiscard]] std::span<std::uint8_t const> map() const noexcept { return reader_.map(); }
    /// If only a part of the demo is there, it counts that part, but the first and the last tick are those of the demo.
    [[nodiscard]] demo_overview const& overview() const noexcept { return overview_; }
    [[nodiscard]] std::span<demo_keyframe const> keyframes() const noexcept { return keyframes_; }
    /// The protocol of the items, whatever the header says.
    [[nodiscard]] protocol item_protocol() const noexcept { return protocol_; }
    [[nodiscard]] named_size_table const& sizes() const noexcept { return *sizes_; }
    [[nodiscard]] bool sizes_assumed() const noexcept { return sizes_assumed_; }
    void accept_sizes() noexcept { sizes_assumed_ = false; }
    void detect_sizes();
    [[nodiscard]] note_log const& header_notes() const noexcept { return header_notes_; }
    [[nodiscard]] std::string const& name() const noexcept { return source_.name(); }

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return source_.bytes(); }
    [[nodiscard]] std::size_t file_size() const noexcept { return source_.bytes().size(); }
    [[nodiscard]] std::size_t first_chunk() const noexcept { return reader_.position(); }
    /// Reads the chunks from `begin` up to `end`, as if no tick had come before. The header lies before `end`.
    [[nodiscard]] demo_reader reader(std::size_t begin, std::size_t end) const noexcept;
    /// Plays the whole file, with the sizes known at the first call.
    [[nodiscard]] demo_player& player();

    /// Why a reader that has come to the end of what is there, or to an error, has not come to the end of the demo:
    /// "tick ..., byte ...: REASON", or what is wrong with compressed data. Empty if it has.
    [[nodiscard]] std::string end_text(demo_failure const& failed) const;
    /// The same after "NAME: ".
    [[nodiscard]] std::string error_text(demo_failure const& failed) const;

private:
    input const& source_;
    note_log header_notes_;
    demo_reader reader_;
    demo_overview overview_;
    std::vector<demo_keyframe> keyframes_;
    named_size_table const* sizes_ = nullptr;
    bool sizes_assumed_ = false;
    protocol protocol_ = protocol::teeworlds_06;
    std::unique_ptr<demo_player_memory> memory_; // the player's
    std::unique_ptr<demo_player> player_;
};

} // namespace teewire::replay
