#include "video/moments.hpp"

#include "game/message_fields.hpp"

#include <teewire/packer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace teewire::replay {
namespace {

// The ints of a message that has nothing else, as many as there is room for.
std::span<std::int32_t const> read_ints(message const& m, std::span<std::int32_t> room) {
    std::size_t count = 0;
    for (unpacker in{m.fields}; count < room.size(); ++count) {
        room[count] = in.read_int();
        if (!in.ok()) break;
    }
    return room.first(count);
}

} // namespace

moment_reader::moment_reader(demo_document& demo, scene::ground const* on)
    : demo_{demo}, player_{demo.reader(demo.first_chunk(), demo.file_size()), *memory_, {demo.sizes().sizes}},
      on_{on}, reader_{demo.item_protocol()}, messages_{messages_of(demo.item_protocol())}, spare_{
                                                                                                new scene::world} {}

bool moment_reader::move_to(double tick) {
    while (!ended_ && (!after_ || after_->tick <= tick)) {
        if (after_) {
            std::swap(before_, after_);
            if (after_) spare_ = std::move(after_);
        }
        after_.reset();
        if (!read_snapshot(tick)) ended_ = true;
    }
    if (!before_ && !after_) return false;
    forget_old(tick);
    // Before the first snapshot, it is that one.
    now_.before = before_ ? before_.get() : after_.get();
    now_.after = before_ ? after_.get() : nullptr;
    now_.tick = now_.after != nullptr ? tick : now_.before->tick;
    now_.events = events_;
    now_.emoticons = emoticons_;
    now_.teams = teams_;
    now_.tuning = tuning_;
    now_.on = on_;
    shown_said_.clear();
    for (spoken const& s : said_) {
        if (s.line.tick > tick) break;
        shown_said_.push_back({s.line.tick, s.line.to, s.who, s.text});
    }
    shown_kills_.clear();
    for (killed const& k : kills_) {
        if (k.line.tick > tick) break;
        shown_kills_.push_back({k.line.tick, k.killer, k.victim, k.line.weapon});
    }
    return true;
}

// Takes the player's snapshot as that of a tick. False if it is too old to be looked at: then it is one that has been passed
// over, and matters only if it is the last one before what is read next.
bool moment_reader::take_snapshot(std::int32_t tick, double wanted, bool repeated) {
    constexpr int margin = 10; // ticks between two snapshots, usually
    // So that those who spoke have names.
    if (tick < wanted - std::max(scene::event_ticks, scene::chat_ticks) - margin) {
        passed_.assign(player_.state());
        passed_tick_ = tick;
        return false;
    }
    read_passed();
    after_ = read_world(tick, player_.state(), repeated);
    return true;
}

void moment_reader::read_passed() {
    if (passed_.has_value()) before_ = read_world(passed_tick_, passed_.view(), false);
    passed_.clear();
}

std::unique_ptr<scene::world> moment_reader::read_world(std::int32_t tick, snapshot_view snapshot, bool repeated) {
    auto made = spare_ ? std::move(spare_) : std::make_unique<scene::world>();
    reader_.read(tick, snapshot, on_, *made);
    if (!repeated) events_.insert(events_.end(), made->events.begin(), made->events.end());
    for (scene::tee const& t : made->tees) last_places_[t.id] = {t.x, t.y};
    return made;
}

// Reads up to the next snapshot that can be seen. A tick without one has that of the tick before, in which tees move on.
bool moment_reader::read_snapshot(double wanted) {
    auto const repeat_before = [&](std::int32_t next) {
        std::int32_t const tick = std::exchange(open_tick_, next);
        return tick >= 0 && player_.has_state() && take_snapshot(tick, wanted, true);
    };
    for (demo_event event; player_.next(event);) {
        switch (event.kind) {
        case demo_event_kind::message: take_message(event); break;
        case demo_event_kind::tick:
            if (repeat_before(event.tick)) return true;
            break;
        case demo_event_kind::snapshot:
            open_tick_ = -1;
            if (take_snapshot(event.tick, wanted, false)) return true;
            break;
        }
    }
    damage_ = demo_.end_text(player_.error());
    if (damage_.empty() && repeat_before(-1)) return true;
    read_passed();
    return false;
}

void moment_reader::take_message(demo_event const& event) {
    auto const m = parse_message(event.message);
    if (!m || m->system) return;
    auto const type = identify(*m, messages_);
    if (type == message_type::chat) {
        take_chat(*m, event.tick);
    } else if (type == message_type::kill) {
        take_kill(*m, event.tick);
    } else if (type == message_type::emoticon) {
        if (auto const shown = decode<messages::emoticon>(*m, messages_))
            emoticons_.push_back({shown->client_id, event.tick, shown->emoticon});
    } else if (type == message_type::sound_global) {
        std::array<std::int32_t, 1> number{-1};
        static_cast<void>(read_ints(*m, number));
        events_.push_back({scene::event::kind::sound_everywhere, event.tick, 0, 0, number[0]});
    } else if (type == message_type::tune_params) {
        std::array<std::int32_t, 32> room{};
        tuning_ = scene::tuning_of(read_ints(*m, room));
    } else if (type == message_type::teams_state || type == message_type::teams_state_legacy) {
        std::array<std::int32_t, 256> room{};
        teams_.clear();
        for (std::int32_t const team : read_ints(*m, room)) teams_.push_back(static_cast<std::uint8_t>(team));
    }
}

moment_reader::place const* moment_reader::last_place(std::int32_t client) const {
    auto const found = last_places_.find(client);
    return found != last_places_.end() ? &found->second : nullptr;
}

std::string moment_reader::name_of(std::int32_t client) const {
    for (auto const* const world : {after_.get(), before_.get()})
        if (world != nullptr)
            if (scene::player const* const found = world->find_player(client); found != nullptr && found->known)
                return std::string{found->name.view()};
    return fmt::format("#{}", client);
}

void moment_reader::take_chat(message const& m, std::int32_t tick) {
    auto const read = decode<messages::chat>(m, messages_);
    if (!read) return;
    using enum scene::said_line::audience;
    bool const is_07 = messages_ == protocol::teeworlds_07;
    auto const to = read->client_id < 0 ? server : read->team >= (is_07 ? 2 : 1) ? team : everyone;
    constexpr std::int32_t server_sound = 32, player_sound = 33;
    events_.push_back(
        {scene::event::kind::sound_everywhere, tick, 0, 0, to == server ? server_sound : player_sound});
    said_.push_back(
        {{tick, to, {}, {}}, read->client_id < 0 ? "" : name_of(read->client_id), std::string{read->text}});
}

void moment_reader::take_kill(message const& m, std::int32_t tick) {
    if (auto const read = decode<messages::kill>(m, messages_))
        kills_.push_back({{tick, {}, {}, read->weapon}, name_of(read->killer), name_of(read->victim)});
}

void moment_reader::forget_old(double tick) {
    std::erase_if(said_, [&](spoken const& s) { return s.line.tick < tick - scene::chat_ticks; });
    std::erase_if(kills_, [&](killed const& k) { return k.line.tick < tick - scene::kill_ticks; });
    std::erase_if(events_, [&](scene::event const& e) { return e.tick < tick - scene::event_ticks; });
    std::erase_if(emoticons_, [&](scene::emoticon const& e) { return e.tick < tick - scene::emoticon_ticks; });
}

} // namespace teewire::replay
