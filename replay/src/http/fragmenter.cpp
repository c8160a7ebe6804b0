#include "http/fragmenter.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"

#include <teewire/demo_writer.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace teewire::replay {

// Bytes that a recorder has written and that wait to be fetched. As a stream, it has them at once.
class fragmenter::memory_sink final : public byte_sink {
public:
    void write(std::span<std::uint8_t const> bytes) override {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    bool overwrite_begin(std::span<std::uint8_t const>) override { return false; }
    [[nodiscard]] bool is_stream() const noexcept override { return true; }

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    // The first `count` bytes.
    [[nodiscard]] shared_bytes release(std::size_t count) {
        auto const end = bytes_.begin() + static_cast<std::ptrdiff_t>(count);
        auto taken = std::make_shared<std::vector<std::uint8_t> const>(bytes_.begin(), end);
        bytes_.erase(bytes_.begin(), end);
        return taken;
    }

private:
    std::vector<std::uint8_t> bytes_;
};

fragmenter::fragmenter(fragment_sink& to) : to_{to} {}

fragmenter::~fragmenter() = default;

void fragmenter::put(stream_event const& event) {
    if (event.kind == event_kind::begin) return begin(*event.begun);
    if (recorder_ == nullptr) return;
    if (event.kind == event_kind::snapshot) return take_snapshot(event);
    if (event.kind != event_kind::message) return;
    // A fragment begins with a keyframe.
    if (begun_ && first_tick_ < 0) {
        if (event.vital) early_.add(event.message, true);
        return;
    }
    take_message(event);
}

void fragmenter::take_message(stream_event const& event) {
    in_force_->receive(event.tick, event.message);
    static_cast<void>(recorder_->put(event));
}

// The same bytes for as long as nothing changes.
shared_bytes fragmenter::state_at(std::int32_t tick) {
    auto messages = in_force_->at(tick);
    if (messages == stated_) return state_;
    stated_ = std::move(messages);
    if (stated_.empty()) return nullptr;
    struct memory {
        demo_writer_memory writer;
        std::array<std::uint8_t, demo_writer::max_bytes> out;
    };
    auto const made = std::make_unique<memory>();
    demo_writer writer{made->writer, {}};
    auto chunks = std::make_shared<std::vector<std::uint8_t>>();
    for (auto const& message : stated_)
        if (auto const size = writer.write_message(message, made->out))
            chunks->insert(chunks->end(), made->out.begin(),
                           made->out.begin() + static_cast<std::ptrdiff_t>(*size));
    return chunks;
}

void fragmenter::begin(recording_info const& what) {
    finish();
    recording_info named = what;
    if (named.map.name.empty()) named.map.name = "unknown";
    if (!what.map_bytes.empty()) {
        named.map.sha256 = sha256(what.map_bytes);
        named.map.size = what.map_bytes.size();
    }
    named.map_bytes = {}; // they go their own way
    named.markers = {};
    memory_ = std::make_unique<memory_sink>();
    recorder_ = std::make_unique<demo_recorder>(*memory_, named);
    announced_.emplace();
    auto const random = random_bytes();
    announced_->id = hex(std::span{random}.first(8));
    announced_->version = what.version;
    announced_->map = named.map;
    if (!what.map_bytes.empty()) {
        announced_->map_path = "map/" + hex(*named.map.sha256) + ".map";
        // The same map is kept once.
        if (std::exchange(map_path_, announced_->map_path) != announced_->map_path)
            map_ = std::make_shared<std::vector<std::uint8_t> const>(what.map_bytes.begin(), what.map_bytes.end());
        announced_->bytes = map_;
    }
    announced_->start = memory_->release(memory_->size());
    in_force_.emplace(what.version);
    stated_.clear();
    state_ = nullptr;
    number_ = 0;
}

void fragmenter::take_snapshot(stream_event const& event) {
    bool const another = first_tick_ < 0 || event.tick - std::int64_t{first_tick_} >= fragment_ticks;
    if (another) recorder_->request_keyframe();
    std::size_t const before = memory_->size();
    if (!recorder_->put(event)) return;
    if (another) {
        if (first_tick_ >= 0) to_.put({number_++, first_tick_, last_tick_, memory_->release(before), state_});
        if (std::exchange(begun_, true)) state_ = state_at(event.tick);
        else to_.begin(*announced_); // the first fragment has what came before it
        first_tick_ = event.tick;
        open_since_.reset();
    }
    last_tick_ = event.tick;
    early_.release([&](std::span<std::uint8_t const> bytes, bool) {
        stream_event message = event;
        message.kind = event_kind::message;
        message.message = bytes;
        take_message(message);
    });
}

void fragmenter::cut() {
    to_.put({number_++, std::exchange(first_tick_, -1), last_tick_, memory_->release(memory_->size()), state_});
}

void fragmenter::settle(milliseconds now) {
    if (first_tick_ < 0) return;
    if (!open_since_) open_since_ = now;
    else if (now - *open_since_ >= longest) cut();
}

void fragmenter::finish() {
    if (first_tick_ >= 0) cut();
    if (std::exchange(begun_, false)) to_.end();
    recorder_.reset();
    memory_.reset();
    announced_.reset();
    early_.clear();
}

} // namespace teewire::replay
