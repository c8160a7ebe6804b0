#include "http/live_pages.hpp"

#include "base/text.hpp"

namespace teewire::replay {

live_pages::live_pages(std::string title, milliseconds delay, milliseconds window)
    : offer_{window,
             [this, title = std::move(title), delay, window] {
                 players_ = scores_.json(happenings_);
                 return broadcast_state{title, delay, window, players_};
             }},
      fragments_{offer_}, printer_{make_event_printer(event_format::ndjson, {}, csv_texts::raw)},
      happenings_{[this](game_event const& e) { tell(e); }} {}

void live_pages::attach(web_server& server) {
    if (web_ == nullptr) offer_.listen(*this);
    web_ = &server;
}

void live_pages::put(stream_event const& event) {
    scores_.put(event);
    happenings_.put(event);
    fragments_.put(event); // may ask for the players
}

void live_pages::proceed(milliseconds now) {
    fragments_.settle(now);
    offer_.proceed(now);
}

void live_pages::finish() {
    fragments_.finish();
    happenings_.finish();
}

web_answer live_pages::get(std::string_view path) const {
    constexpr std::string_view for_ever = "public, max-age=31536000, immutable";
    web_answer found;
    if (path == "events") {
        found.what = web_answer::kind::feed;
    } else if (path == "sync") {
        found.what = offer_.sync() == nullptr ? web_answer::kind::later : web_answer::kind::file;
        found.body = offer_.sync();
        found.type = "application/json";
        found.cache = "public, max-age=1";
    } else if (auto bytes = offer_.find(path)) {
        found.what = web_answer::kind::file;
        found.body = std::move(bytes);
        found.cache = for_ever;
    } else if (offer_.expects(path)) {
        found.what = web_answer::kind::later;
    }
    return found;
}

void live_pages::change(shared_bytes const&) {
    web_->change();
    if (web_->feeds() == 0) return;
    web_->publish(
        fmt::format("event: players\ndata: {{\"tick\":{},\"players\":{}}}\n\n", offer_.last_tick(), players_));
}

void live_pages::tell(game_event const& event) {
    if (web_ == nullptr || web_->feeds() == 0) return;
    text_buffer line;
    printer_->print(line, event);
    web_->publish(fmt::format("data: {}\n", line.view()));
}

} // namespace teewire::replay
