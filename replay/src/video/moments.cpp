#include "video/moments.hpp"

#include "game/message_fields.hpp"

#include <teewire/packer.hpp>

#include <algorithm>
#include <cmath>

namespace teewire::replay {

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
    now_.tuning = tuning_;
    now_.on = on_;
    return true;
}

// Reads up to the next snapshot that can be seen.
bool moment_reader::read_snapshot(double wanted) {
    auto const read = [&](std::int32_t tick, snapshot_view snapshot) {
        auto made = spare_ ? std::move(spare_) : std::make_unique<scene::world>();
        reader_.read(tick, snapshot, on_, *made);
        for (scene::event const& e : made->events) events_.push_back(e);
        return made;
    };
    // A snapshot that has been passed over is the last one before what is read next.
    auto const read_passed = [&] {
        if (passed_.has_value()) before_ = read(passed_tick_, passed_.view());
        passed_.clear();
    };
    for (demo_event event; player_.next(event);) {
        if (event.kind == demo_event_kind::message) take_message(event);
        if (event.kind != demo_event_kind::snapshot) continue;
        constexpr int margin = 10; // ticks between two snapshots, usually
        if (event.tick < wanted - scene::event_ticks - margin) {
            passed_.assign(player_.state());
            passed_tick_ = event.tick;
            continue;
        }
        read_passed();
        after_ = read(event.tick, player_.state());
        return true;
    }
    read_passed();
    damage_ = demo_.end_text(player_.error());
    return false;
}

void moment_reader::take_message(demo_event const& event) {
    auto const m = parse_message(event.message);
    if (!m || m->system) return;
    auto const type = identify(*m, messages_);
    if (type == message_type::emoticon) {
        if (auto const shown = decode<messages::emoticon>(*m, messages_))
            emoticons_.push_back({shown->client_id, event.tick, shown->emoticon});
    } else if (type == message_type::tune_params) {
        std::array<std::int32_t, 32> values{};
        std::size_t count = 0;
        for (unpacker in{m->fields}; count < values.size(); ++count) {
            values[count] = in.read_int();
            if (!in.ok()) break;
        }
        tuning_ = scene::tuning_of(std::span{values}.first(count));
    }
}

void moment_reader::forget_old(double tick) {
    std::erase_if(events_, [&](scene::event const& e) { return e.tick < tick - scene::event_ticks; });
    std::erase_if(emoticons_, [&](scene::emoticon const& e) { return e.tick < tick - scene::emoticon_ticks; });
}

} // namespace teewire::replay
