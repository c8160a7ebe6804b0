#include "edit/message_union.hpp"

#include <algorithm>

namespace teewire::replay {

void message_union::begin_tick(std::int32_t tick) {
    tick_ = tick;
    speaker_ = none;
    planned_.clear();
    said_ = 0;
}

bool message_union::next(stream_event& out) {
    for (;; plan_more_messages()) {
        if (said_ < planned_.size()) break;
        if (speaker_ == all_.size()) return false;
    }
    planned_message const& p = planned_[said_++];
    tick_message const said = all_[p.from]->reader.messages()[p.number];
    out = {};
    out.kind = event_kind::message;
    out.tick = tick_;
    out.message = for_everybody(said.bytes);
    out.vital = said.vital;
    return true;
}

// First of all of them together, so that what is in the same tick of two is known for the same, then what was too much
// for the step of one.
void message_union::plan_more_messages() {
    planned_.clear();
    said_ = 0;
    said_by_.clear();
    if (speaker_ == none) {
        for (std::uint32_t n = 0; n < all_.size(); ++n)
            if (merge_source& r = *all_[n]; !r.over && r.tick == tick_) listen(r, n);
        speaker_ = 0;
    } else {
        merge_source& r = *all_[speaker_];
        if (!r.over && r.tick == tick_ && r.reader.peek() == tick_ && r.reader.next())
            listen(r, static_cast<std::uint32_t>(speaker_));
        else ++speaker_;
    }
    plan();
}

// Takes in what is said in the step of a recording.
void message_union::listen(merge_source& r, std::uint32_t number) {
    std::size_t const first = said_by_.size();
    auto const messages = r.reader.messages();
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        auto const m = parse_message(messages[i].bytes);
        if (!m) ++result_.unreadable;
        if (!m || m->system) continue; // of one connection: servers record those of all
        if (version_ == protocol::teeworlds_07) r.players.receive(*m);
        auto bytes = for_everybody(messages[i].bytes);
        // Demos fill messages up with zeros.
        while (!bytes.empty() && bytes.back() == 0) bytes = bytes.first(bytes.size() - 1);
        said_by_.push_back({hash_(bytes), 0, number, i});
    }
    // A message that one client got twice is kept twice.
    auto const said = std::span{said_by_}.subspan(first);
    std::sort(said.begin(), said.end());
    for (std::size_t i = 1; i < said.size(); ++i)
        if (said[i].hash == said[i - 1].hash) said[i].occurrence = said[i - 1].occurrence + 1;
}

void message_union::plan() {
    std::sort(said_by_.begin(), said_by_.end());
    for (auto begin = said_by_.begin(); begin != said_by_.end();) {
        auto const end = std::find_if(begin, said_by_.end(), [&](said_message const& m) {
            return m.hash != begin->hash || m.occurrence != begin->occurrence;
        });
        bool const before = heard_before({&*begin, static_cast<std::size_t>(end - begin)});
        if (!before) planned_.push_back({begin->from, begin->number});
        result_.united += static_cast<std::uint64_t>(end - begin) - !before;
        begin = end;
    }
    std::sort(planned_.begin(), planned_.end());
}

// Whether others have had it, and none of these.
bool message_union::heard_before(std::span<said_message const> now) {
    constexpr std::size_t most = 1024;
    while (!heard_.empty() &&
           (heard_.size() > most || std::int64_t{tick_} - heard_.front().tick > merged_stream::message_window))
        heard_.pop_front();
    auto const is_new_to = [](heard_message const& h, said_message const& m) {
        return std::find(h.by.begin(), h.by.end(), m.from) == h.by.end();
    };
    // The latest one: what was said before, another one may have missed.
    auto found = std::find_if(heard_.rbegin(), heard_.rend(), [&](heard_message const& h) {
        return h.hash == now.front().hash &&
               std::all_of(now.begin(), now.end(), [&](said_message const& m) { return is_new_to(h, m); });
    });
    bool const before = found != heard_.rend();
    if (!before) {
        heard_.push_back({now.front().hash, tick_, {}});
        found = heard_.rbegin();
    }
    for (said_message const& m : now) found->by.push_back(m.from);
    return before;
}

// 0.7 marks the local client in its message.
std::span<std::uint8_t const> message_union::for_everybody(std::span<std::uint8_t const> bytes) {
    auto const m = parse_message(bytes);
    if (version_ != protocol::teeworlds_07 || !m || identify(*m, version_) != message_type::client_info)
        return bytes;
    auto const info = decode<messages::client_info>(*m, version_);
    if (!info || !info->local) return bytes;
    messages::client_info others = *info;
    others.local = false;
    auto const made = encode(others, version_, encoded_);
    return made ? *made : bytes;
}

} // namespace teewire::replay
