// Prints events as lines for people and for programs.
#pragma once

#include "base/text.hpp"
#include "events/game_event.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

class event_printer {
public:
    virtual ~event_printer() = default;
    /// The text before the first event.
    [[nodiscard]] virtual std::string head() const { return {}; }
    virtual void print(text_buffer& out, game_event const& event) = 0;
    /// Prints the rest at the end.
    virtual void finish(text_buffer&) {}
};

enum class event_format : std::uint8_t {
    ndjson, ///< an object for each
    csv,    ///< a row for each
    text,   ///< a line for each
    srt,    ///< subtitles
};
/// `file`: name of the recording, for all but subtitles. `texts`: form of the texts in CSV.
[[nodiscard]] std::unique_ptr<event_printer> make_event_printer(event_format format,
                                                                std::optional<std::string> file, csv_texts texts);

} // namespace teewire::replay
