#include "capture/to_demo.hpp"

namespace teewire::replay {
namespace {

// How long a snapshot may come late and still find its place: no base is older.
constexpr std::int32_t patience = snapshot_pacing::keep_ticks;

} // namespace

void map_collector::map_complete(connection_stats const&, map_stay const& stay, std::vector<std::uint8_t>&& bytes) {
    maps_.try_emplace(stay.map.crc, std::move(bytes));
}

std::span<std::uint8_t const> map_collector::find(served_map const& map) const {
    auto const found = maps_.find(map.crc);
    if (found == maps_.end()) return {};
    return found->second;
}

demo_recorder::demo_recorder(demo_target& target, std::uint64_t first_frame, std::vector<map_stay> const& stays,
                             map_collector const& maps)
    : target_{target}, first_frame_{first_frame}, stays_{stays}, maps_{maps} {}

void demo_recorder::stay_begins(connection_stats const& stats, map_stay const&) {
    if (stats.first_frame != first_frame_ || stay_ >= stays_.size()) return;
    end_demo();
    ++stay_;
    protocol_ = stats.version();
}

void demo_recorder::open(connection_stats const& stats) {
    map_stay const& stay = stays_[stay_ - 1];
    written_demo demo;
    demo.map = stay.map;
    if (demo.map.name.empty()) demo.map.name = "unknown";
    auto const bytes = maps_.find(stay.map);
    demo.has_map = !bytes.empty();
    file_ =
        std::make_unique<demo_file>(target_.next(), protocol_, demo.map, bytes, stats.last_time / 1'000'000'000);
    written_.push_back(std::move(demo));
    newest_ = written_tick_ = -1;
}

void demo_recorder::snapshot(connection_stats const& stats, std::int32_t tick, snapshot_view snapshot) {
    if (!records(stats)) return;
    if (file_ == nullptr) open(stats);
    if (tick <= written_tick_) {
        ++written_.back().left_out;
        return;
    }
    pending_tick& place = pending_[tick];
    place.snapshot.assign(snapshot.ints().begin(), snapshot.ints().end());
    place.distinct_keys = snapshot.distinct_keys();
    newest_ = std::max(newest_, tick);
    while (!pending_.empty() && pending_.begin()->first < newest_ - patience) {
        auto const first = pending_.extract(pending_.begin());
        write(first.key(), first.mapped());
    }
}

void demo_recorder::game_message(connection_stats const& stats, message const& m, message_type type,
                                 std::span<std::uint8_t const> bytes, bool vital) {
    // Players of demos would take the first kind for an invitation.
    if (!records(stats) || type == message_type::ready_to_enter) return;
    static_cast<void>(m);
    pending_message copy{{bytes.begin(), bytes.end()}, type, vital};
    if (newest_ < 0) early_.push_back(std::move(copy));
    else pending_[newest_].messages.push_back(std::move(copy));
}

void demo_recorder::write(pending_message const& m) {
    if (auto const parsed = parse_message(m.bytes)) file_->write_message(*parsed, m.type, m.bytes, m.vital);
}

void demo_recorder::write(std::int32_t tick, pending_tick const& what) {
    std::vector<pending_message> after;
    for (pending_message& m : early_) {
        // What 0.7 says about players has to be known for the first snapshot; the rest follows it, as players begin with
        // a snapshot.
        roster probe;
        auto const parsed = parse_message(m.bytes);
        bool const first = protocol_ == protocol::teeworlds_07 && parsed && probe.receive(*parsed);
        if (first) write(m);
        else after.push_back(std::move(m));
    }
    early_.clear();
    if (!what.snapshot.empty()) {
        auto const snapshot = snapshot_view::trusted(what.snapshot, what.distinct_keys);
        written_.back().left_out += !file_->write_snapshot(tick, snapshot);
    }
    for (pending_message const& m : after) write(m);
    for (pending_message const& m : what.messages) write(m);
    written_tick_ = tick;
}

void demo_recorder::end_demo() {
    for (auto const& [tick, what] : pending_)
        if (file_ != nullptr) write(tick, what);
    pending_.clear();
    early_.clear();
    newest_ = written_tick_ = -1;
    if (file_ == nullptr) return;
    written_.back().snapshots = file_->snapshots();
    written_.back().unchanged = file_->unchanged();
    written_.back().messages = file_->messages();
    complete_.push_back(std::move(file_));
}

std::vector<written_demo> demo_recorder::finish() {
    end_demo();
    for (std::size_t i = 0; i < complete_.size(); ++i)
        if (complete_[i]->finish()) written_[i].path = complete_[i]->path();
    // The others are those of which no demo could hold any snapshot.
    std::erase_if(written_, [](written_demo const& demo) { return demo.path.empty(); });
    return written_;
}

} // namespace teewire::replay
