#include "video/ghost.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"
#include "game/race.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace teewire::replay {
namespace {

race_run run_of(demo_document& demo, std::string const& player) {
    auto const found = longest_run(demo, player);
    if (!found) throw bad_input{demo.name(), "there is no race in it, or none whose clock it shows"};
    return *found;
}

bool has_name(scene::world const& world, std::int32_t client, std::string const& name) {
    scene::player const* const found = world.find_player(client);
    return found != nullptr && found->known && found->name.view() == name;
}

} // namespace

std::optional<race_run> longest_run(demo_document& demo, std::string const& player) {
    struct candidate : race_run {
        bool preferred = false;
        [[nodiscard]] std::int64_t ticks() const noexcept { return std::int64_t{last} - first; }
    };
    std::vector<candidate> running;
    std::optional<candidate> best;
    scene::world_reader const reader{demo.item_protocol()};
    auto const world = std::make_unique<scene::world>();
    auto const memory = std::make_unique<demo_player_memory>();
    demo_player from{demo.reader(demo.first_chunk(), demo.file_size()), *memory, {demo.sizes().sizes}};
    for (demo_event event; from.next(event);) {
        if (event.kind != demo_event_kind::snapshot) continue;
        auto const races = read_races(from.state(), demo.item_protocol());
        std::vector<candidate> now;
        for (running_race const& r : races) {
            auto const is_it = [&](candidate const& c) {
                return c.client == r.client_id && c.first == r.start_tick;
            };
            auto const before = std::find_if(running.begin(), running.end(), is_it);
            if (before != running.end()) {
                now.push_back(*before);
            } else {
                reader.read(event.tick, from.state(), nullptr, *world);
                now.push_back({{r.client_id, r.start_tick, 0}, has_name(*world, r.client_id, player)});
            }
            candidate& c = now.back();
            c.last = event.tick;
            if (!best || c.preferred > best->preferred ||
                (c.preferred == best->preferred && c.ticks() > best->ticks()))
                best = c;
        }
        running = std::move(now);
    }
    return best;
}

ghost::ghost(std::string const& file, demo_document& beside, std::string const& followed)
    : source_{file}, demo_{source_}, run_{run_of(demo_, followed)} {
    race_run const other = run_of(beside, followed);
    shift_ = run_.first - other.first;
    auto const text = [](demo_document const& demo, race_run const& run) {
        double const begin = (double{1} * run.first - demo.overview().first_tick) / ticks_per_second;
        return fmt::format("{} at {}", demo.name(), time_text(std::llround(begin * 1000)));
    };
    found_ = fmt::format("the races begin in {}, and in {}", text(beside, other), text(demo_, run_));
}

scene::ghosts const* ghost::at(double tick, scene::ground const* on) {
    tick += shift_;
    if (tick < demo_.overview().first_tick) return nullptr;
    if (!moments_) moments_ = std::make_unique<moment_reader>(demo_, on);
    if (!moments_->move_to(tick) || tick > demo_.overview().last_tick) return nullptr;
    scene::find_tees(moments_->now(), all_);
    own_.clear();
    for (scene::seen_tee const& t : all_)
        if (t.id == run_.client)
            if (scene::seen_tee* const made = own_.add()) *made = t;
    if (own_.begin() == own_.end()) return nullptr;
    shown_.emplace(scene::ghosts{moments_->now(), own_});
    return &*shown_;
}

} // namespace teewire::replay
