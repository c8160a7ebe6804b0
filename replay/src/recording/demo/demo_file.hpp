// Demos being written, and where they go.
#pragma once

#include "base/output_file.hpp"
#include "game/served_map.hpp"
#include "recording/demo/demo_recorder.hpp"

#include <memory>
#include <string>

namespace teewire::replay {

/// Where the demos of one recording go: the first has the name that was chosen, further ones have NAME_2.demo,
/// NAME_3.demo, ..., of which those that are there already are left out unless they may be replaced.
class demo_target {
public:
    /// Throws as output_file does, so that it is known from the beginning whether the first one can be written.
    explicit demo_target(output_choice to, std::span<std::string const> inputs = {});

    /// For the next demo. Throws as output_file does. A stream is given once.
    [[nodiscard]] std::unique_ptr<output_file> next();
    /// The last one was not kept: its name is for the next.
    void reuse() noexcept { --number_; }
    [[nodiscard]] bool is_stream() const noexcept { return is_stream_; }

private:
    output_choice to_;
    std::unique_ptr<output_file> first_;
    bool is_stream_;
    unsigned number_ = 0; // of the last one
};

/// A demo that is being written to a file.
class demo_file final : public demo_recorder {
public:
    /// `p`: 0.7 or DDNet, which stands for 0.6 too. `recorded`: in seconds since 1970; 0 is now.
    demo_file(std::unique_ptr<output_file> file, protocol p, served_map const& map,
              std::span<std::uint8_t const> map_bytes, std::int64_t recorded = 0);
    /// The same, and what the header says of length and markers, which a stream keeps.
    demo_file(std::unique_ptr<output_file> file, recording_info const& what);

    /// Gives the file its name. False if there was nothing to keep; without finish(), nothing stays either. Where the
    /// output is a stream, its header does not know how long the demo became.
    bool finish();

    /// The chosen path, and after finish() the real one.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }

private:
    std::unique_ptr<output_file> file_;
    std::string path_;
};

} // namespace teewire::replay
