// A file with snapshots in it, whatever its kind: a demo, or what one client received in a capture.
#pragma once

#include "base/input.hpp"
#include "recording/capture/capture_stream.hpp"
#include "recording/demo/demo_stream.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace teewire::replay {

class open_recording {
public:
    /// What is done so far, in bytes of the file, of which a capture is read twice. May be empty.
    using progress_function = std::function<void(std::uint64_t)>;

    /// "-" is standard input. `connection`: of a capture, as for choose_connection. `when`: of a demo. Throws io_error,
    /// usage_error for other files and connections that are not there, and bad_input if there is nothing to read.
    open_recording(std::string const& name, std::string const& connection = {}, progress_function const& done = {},
                   size_detection when = size_detection::now);

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// Of the file's bytes, or if it is compressed of what is in it. Reads a capture again. Throws io_error.
    [[nodiscard]] std::array<std::uint8_t, 32> sha256() const;
    /// The demo, for those that decode it on several threads. Null if it is a capture.
    [[nodiscard]] demo_document* demo() noexcept { return demo_ ? &*demo_ : nullptr; }
    [[nodiscard]] bool is_capture() const noexcept { return capture_.has_value(); }
    /// Of a capture, another connection than that of the constructor. Before events(). Throws as that does.
    void choose(std::string const& connection);
    /// From the beginning, or so that nothing after tick `from` is missing. To be called once.
    [[nodiscard]] std::unique_ptr<event_source> events(std::optional<std::int32_t> from = {});
    /// Hands over everything, and tells `done`, which there has to be, how far it is. What is wrong with the file: "NAME:
    /// tick 1234, byte 5678: REASON", or empty. To be called once, instead of events().
    [[nodiscard]] std::string read_all(event_sink& to);
    /// exit_bad_input if what was found is damaged: snapshots that nobody can have, an end that is missing. Says why.
    [[nodiscard]] int exit_code() const;

private:
    void read_capture(std::string const& connection);

    std::string name_;
    progress_function done_;
    std::uint64_t first_half_ = 0; // of a capture, in bytes done
    std::optional<input> bytes_;   // of a capture only if it cannot be read twice
    std::optional<demo_document> demo_;
    // Of a capture:
    std::optional<capture_source> capture_;
    map_collector maps_;
    std::optional<capture_pass> first_pass_;
    connection_stats const* chosen_ = nullptr;
    std::string chosen_from_; // what has to be said of the choice
};

} // namespace teewire::replay
