// What happens, as lines for people and for programs.
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
    /// What comes before everything else.
    [[nodiscard]] virtual std::string head() const { return {}; }
    virtual void print(text_buffer& out, game_event const& event) = 0;
    /// What is left at the end.
    virtual void finish(text_buffer&) {}
};

enum class event_format : std::uint8_t {
    ndjson, ///< an object for each
    csv,    ///< a row for each
    text,   ///< a line for each
    srt,    ///< subtitles
};
/// `file`: where it happens, for all but subtitles. `texts`: of CSV.
[[nodiscard]] std::unique_ptr<event_printer> make_event_printer(event_format format,
                                                                std::optional<std::string> file, csv_texts texts);

} // namespace teewire::replay
