// A file with snapshots in it, whatever its kind: a demo, or what one client received in a capture.
//
// Nothing is printed here: what has to be said is handed over.
#pragma once

#include "base/input.hpp"
#include "game/ticks.hpp"
#include "recording/capture/capture_stream.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/demo/segments.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

struct open_options {
    /// The connection of a capture, as for choose_connection.
    std::string connection{};
    /// Called with the bytes of the file read so far. A capture is read twice, and counts twice.
    std::function<void(std::uint64_t)> progress{};
    /// Called with a remark for the user about the choice of a connection.
    std::function<void(std::string_view)> remark{};
    /// When to find out a demo's item sizes.
    size_detection sizes = size_detection::now;
    /// Refuse everything but captures.
    bool only_captures = false;
    /// Further files of the same capture. With only_captures.
    std::vector<std::string> further_files{};
    /// The part to read of a demo in an archive, if it can be found by the index. Without it, everything.
    std::optional<part_choice> part{};
};

class open_recording {
public:
    /// "-" is standard input. Throws io_error, usage_error for other files and connections that are not there, and
    /// bad_input if there is nothing to read.
    explicit open_recording(std::string const& name, open_options options = {});

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// The SHA-256 of the file's bytes, decompressed. Reads a capture again. Throws io_error.
    [[nodiscard]] std::array<std::uint8_t, 32> sha256() const;
    /// The demo. Null if it is a capture.
    [[nodiscard]] demo_document* demo() noexcept { return demo_ ? &*demo_ : nullptr; }
    /// The first reading of a capture. Null if it is a demo.
    [[nodiscard]] capture_pass const* capture() const noexcept { return first_pass_ ? &*first_pass_ : nullptr; }
    /// The connection of a capture that is read. Null if it is a demo, or the program was interrupted.
    [[nodiscard]] connection_stats const* connection() const noexcept { return chosen_; }

    /// Chooses another connection of a capture than the constructor did. Before events(). Throws as the constructor
    /// does.
    void choose(std::string const& connection);
    /// Takes a map for the recordings of a capture whose map it is, and for those whose map the capture does not name.
    /// `path`: of its file. Throws usage_error if it belongs to none.
    void use_map(std::string const& path, std::span<std::uint8_t const> map);

    /// From the beginning, or so that nothing after tick `from` is missing. Begins with event_kind::begin. Null if the
    /// program was interrupted. To be called once, as one of these three is.
    [[nodiscard]] std::unique_ptr<event_source> events(std::optional<std::int32_t> from = {});
    /// Passes on everything. Returns the damage of the file: "tick 1234, byte 5678: REASON", or empty.
    [[nodiscard]] std::string read_all(event_sink& to);
    /// The same in segments: those of a demo on several threads, a capture as one. Each sink gets the beginning of the
    /// recording first. `wanted`: the ticks of which nothing may be missing. `done_bytes`: gets those of a demo.
    [[nodiscard]] std::string read_segments(workers& team,
                                            std::function<std::unique_ptr<segment_sink>()> const& make_sink,
                                            std::function<tick_range(recording_info const&)> const& wanted,
                                            std::atomic<std::uint64_t>& done_bytes);

private:
    void read_capture();
    void show_progress(event_source const& stream) const;

    std::string name_;
    open_options options_;
    std::uint64_t first_half_ = 0; // of a capture, in bytes done
    std::optional<input> bytes_;   // of a capture only if it cannot be read twice
    std::optional<demo_document> demo_;
    // For a capture:
    std::vector<capture_source> capture_; // its files
    map_collector maps_;
    std::optional<capture_pass> first_pass_;
    connection_stats const* chosen_ = nullptr;
    std::vector<map_stay> stays_; // of that connection
    std::string chosen_from_;     // what has to be said of the choice
};

} // namespace teewire::replay
