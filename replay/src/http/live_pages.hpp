// A broadcast as pages of a web server: lib/doc/format/broadcast.md.
#pragma once

#include "events/event_printer.hpp"
#include "events/game_event_reader.hpp"
#include "http/broadcast.hpp"
#include "http/scoreboard.hpp"
#include "http/web_server.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace teewire::replay {

/// Makes a broadcast of a stream, and answers those who ask for its files.
class live_pages final : public event_sink, private broadcast_listener {
public:
    live_pages(std::string title, milliseconds delay, milliseconds window);

    /// From now on that server gets every change, and the events of its feeds are handled here.
    void attach(web_server& server);
    void put(stream_event const& event) override;
    /// To be called a few times a second.
    void proceed(milliseconds now);
    /// The stream has ended: what there is can still be had.
    void finish();

    /// Paths are those of a broadcast, without a slash at the beginning.
    [[nodiscard]] web_answer get(std::string_view path) const;
    [[nodiscard]] broadcast& offer() noexcept { return offer_; }
    [[nodiscard]] broadcast const& offer() const noexcept { return offer_; }

private:
    void add(std::string const&, shared_bytes const&) override {}
    void remove(std::string const&) override {}
    void remove_folder(std::string const&) override {}
    void change(shared_bytes const& sync) override;
    void tell(game_event const& event);

    scoreboard scores_;
    std::string players_ = "[]"; // as JSON, of the last fragment
    broadcast offer_;
    fragmenter fragments_;
    std::unique_ptr<event_printer> printer_;
    game_event_reader happenings_;
    web_server* web_ = nullptr;
};

} // namespace teewire::replay
