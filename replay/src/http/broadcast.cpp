#include "http/broadcast.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace teewire::replay {
namespace {

std::string path_of(broadcast_info const& what, std::uint64_t number) {
    return fmt::format("{}/{}.frag", what.id, number);
}
std::string state_path(broadcast_info const& what, std::uint64_t number) {
    return fmt::format("{}/{}.state", what.id, number);
}
std::string start_path(broadcast_info const& what) { return what.id + "/start"; }

// "17.frag"
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view end) {
    if (!name.ends_with(end)) return {};
    name.remove_suffix(end.size());
    std::uint64_t number = 0;
    auto const [last, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || last != name.data() + name.size() || (name.size() > 1 && name[0] == '0')) return {};
    return number;
}

} // namespace

void broadcast::begin(broadcast_info const& what) {
    std::string const& map = what.map_path;
    bool const known =
        std::any_of(shown_.begin(), shown_.end(), [&](shown const& s) { return s.what.map_path == map; });
    shown_.push_back({what, {}, false, 0});
    if (!map.empty() && !known) map_bytes_ += what.bytes->size();
    for (broadcast_listener* const to : listeners_) {
        if (!map.empty() && !known) to->add(map, what.bytes);
        to->add(start_path(what), what.start);
    }
    drop_what_is_too_much();
}

void broadcast::put(fragment const& f) {
    shown& current = shown_.back();
    current.fragments.push_back({f, now_});
    current.next = f.number + 1;
    bytes_ += f.bytes->size();
    if (has_own_state(current.fragments, current.fragments.size() - 1)) bytes_ += f.state->size();
    last_tick_ = f.last_tick;
    ++fragments_;
    for (broadcast_listener* const to : listeners_) {
        if (f.state != nullptr) to->add(state_path(current.what, f.number), f.state);
        to->add(path_of(current.what, f.number), f.bytes);
    }
    drop_what_is_too_much();
    write_sync();
}

// Fragments one after the other may share theirs, which is then counted with the last of them.
bool broadcast::has_own_state(std::deque<kept> const& all, std::size_t at) {
    shared_bytes const& state = all[at].what.state;
    return state != nullptr && (at == 0 || all[at - 1].what.state != state);
}

void broadcast::end() {
    shown_.back().ended = true;
    write_sync();
}

void broadcast::proceed(milliseconds now) {
    now_ = now;
    std::size_t const before = bytes_;
    while (!shown_.empty()) {
        shown const& oldest = shown_.front();
        // A late viewer should find something, even when nothing has come for long.
        bool const last = shown_.size() == 1 && oldest.fragments.size() <= 1;
        if (last || (!oldest.fragments.empty() && oldest.fragments.front().since + window_ > now)) break;
        drop_oldest();
    }
    if (bytes_ != before) write_sync();
}

void broadcast::drop_what_is_too_much() {
    auto const others_map_bytes = [&] {
        broadcast_info const& newest = shown_.back().what;
        return map_bytes_ - (newest.bytes != nullptr ? newest.bytes->size() : 0);
    };
    while (bytes_ > most_bytes_ || (shown_.size() > 1 && others_map_bytes() > most_bytes_)) drop_oldest();
}

// The oldest fragment, and a recording that has none any more.
void broadcast::drop_oldest() {
    shown& oldest = shown_.front();
    if (!oldest.fragments.empty()) {
        fragment const& gone = oldest.fragments.front().what;
        bytes_ -= gone.bytes->size();
        for (broadcast_listener* const to : listeners_) {
            to->remove(path_of(oldest.what, gone.number));
            if (gone.state != nullptr) to->remove(state_path(oldest.what, gone.number));
        }
        bool const shared = oldest.fragments.size() > 1 && oldest.fragments[1].what.state == gone.state;
        if (gone.state != nullptr && !shared) bytes_ -= gone.state->size();
        oldest.fragments.pop_front();
    }
    if (!oldest.fragments.empty() || !oldest.ended) return;
    std::string const map = oldest.what.map_path;
    bool const needed =
        std::any_of(shown_.begin() + 1, shown_.end(), [&](shown const& s) { return s.what.map_path == map; });
    for (broadcast_listener* const to : listeners_) {
        to->remove(start_path(oldest.what));
        if (!map.empty() && !needed) to->remove(map);
        to->remove_folder(oldest.what.id);
    }
    if (!map.empty() && !needed) map_bytes_ -= oldest.what.bytes->size();
    shown_.pop_front();
}

shared_bytes broadcast::find(std::string_view path) const {
    for (shown const& s : shown_) {
        if (path == s.what.map_path) return s.what.bytes;
        if (!path.starts_with(s.what.id) || path.size() <= s.what.id.size() || path[s.what.id.size()] != '/')
            continue;
        std::string_view const name = path.substr(s.what.id.size() + 1);
        if (name == "start") return s.what.start;
        bool const state = name.ends_with(".state");
        auto const number = number_in(name, state ? ".state" : ".frag");
        if (!number || s.fragments.empty() || *number < s.fragments.front().what.number || *number >= s.next)
            return {};
        fragment const& found =
            s.fragments[static_cast<std::size_t>(*number - s.fragments.front().what.number)].what;
        return state ? found.state : found.bytes;
    }
    return {};
}

bool broadcast::expects(std::string_view path) const {
    return !shown_.empty() && !shown_.back().ended && path == path_of(shown_.back().what, shown_.back().next);
}

void broadcast::write_sync() {
    broadcast_state const state = state_();
    rapidjson::StringBuffer text;
    json_writer json{text};
    {
        object_writer all{json};
        auto const seconds = [](milliseconds value) { return static_cast<double>(value) / 1000; };
        all.number("version", 1);
        all.text("name", state.name);
        all.number("time_ms", std::chrono::duration_cast<std::chrono::milliseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count());
        all.real("delay", seconds(state.delay));
        all.real("window", seconds(state.window));
        all.number("tick", last_tick_);
        all.list("recordings", shown_, [](json_writer& list, shown const& s) {
            if (s.fragments.empty()) return;
            object_writer one{list};
            one.text("id", s.what.id);
            one.text("protocol", name(s.what.version));
            one.text("start", start_path(s.what));
            one.number("first", s.fragments.front().what.number);
            one.number("last", s.fragments.back().what.number);
            one.number("first_tick", s.fragments.front().what.first_tick);
            one.number("last_tick", s.fragments.back().what.last_tick);
            one.flag("ended", s.ended);
            object_writer map = one.object("map");
            map.text("name", s.what.map.name);
            map.text("crc", fmt::format("{:08x}", s.what.map.crc));
            map.number("size", s.what.map.size);
            if (s.what.map.sha256) map.text("sha256", hex(*s.what.map.sha256));
            if (s.what.bytes != nullptr) map.text("path", s.what.map_path);
        });
        all.member("players").RawValue(state.players.data(), state.players.size(), rapidjson::kArrayType);
    }
    std::string_view const whole{text.GetString(), text.GetSize()};
    sync_ = std::make_shared<std::vector<std::uint8_t> const>(whole.begin(), whole.end());
    for (broadcast_listener* const to : listeners_) to->change(sync_);
}

} // namespace teewire::replay
