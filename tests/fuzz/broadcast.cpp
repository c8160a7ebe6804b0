// A relay of an untrusted demo, and untrusted data for programs that follow and serve broadcasts and recordings. The first
// byte chooses: a demo, a `sync`, a request, or the index of a demo.
#include "demo_mutator.hpp"
#include "program.hpp"

#include "base/input.hpp"
#include "http/broadcast.hpp"
#include "http/scoreboard.hpp"
#include "http/web_request.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/relay/broadcast_index.hpp"
#include "recording/stream/event_queue.hpp"
#include "recording/stream/whole_ticks.hpp"
#include "web/demo_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

using namespace teewire;
using namespace teewire::replay;

namespace {

// Their order may be another: a delta can remove an item and add it again.
using items = std::vector<std::vector<std::int32_t>>;

// The content of a demo at its ticks.
class ticks_shown final : public event_sink {
public:
    void put(stream_event const& event) override {
        lost_ += event.kind == event_kind::lost;
        if (event.kind != event_kind::snapshot) return;
        auto const [place, is_new] = all_.try_emplace(event.tick);
        if (!is_new) return; // a damaged demo has a tick twice, one that is recorded does not
        items& shown = place->second;
        for (item const i : event.state) {
            auto& one = shown.emplace_back(1, i.key);
            one.insert(one.end(), i.data.begin(), i.data.end());
        }
        std::sort(shown.begin(), shown.end());
    }
    [[nodiscard]] auto const& all() const noexcept { return all_; }
    [[nodiscard]] std::size_t lost() const noexcept { return lost_; }

private:
    std::map<std::int32_t, items> all_;
    std::size_t lost_ = 0;
};

// Delayed events come later, and are the same unless the queue reports that something did not fit.
class delayed_ticks final : public event_sink {
public:
    void put(stream_event const& event) override {
        waiting_.add(event, now_ + delay);
        // Starts of recordings and losses are still reported.
        FUZZ_REQUIRE(waiting_.bytes() <= most_bytes + 4 * sizeof(stream_event));
        waiting_.release(++now_, shown_);
    }
    [[nodiscard]] ticks_shown const& finish() {
        waiting_.release(now_ + delay, shown_);
        FUZZ_REQUIRE(!waiting_.next() && waiting_.bytes() == 0);
        return shown_;
    }

private:
    static constexpr milliseconds delay = 20;
    static constexpr std::size_t most_bytes = 20'000;

    event_queue waiting_{most_bytes};
    ticks_shown shown_;
    milliseconds now_ = 0;
};

// Everything that was ever offered.
class everything final : public broadcast_listener {
public:
    void add(std::string const& path, shared_bytes const& bytes) override {
        FUZZ_REQUIRE(files_.emplace(path, bytes).second);
    }
    void remove(std::string const& path) override { FUZZ_REQUIRE(files_.contains(path)); }
    void remove_folder(std::string const&) override {}
    void change(shared_bytes const& sync) override { sync_ = sync; }

    [[nodiscard]] shared_bytes file(std::string const& path) const {
        auto const found = files_.find(path);
        return found != files_.end() ? found->second : nullptr;
    }
    [[nodiscard]] shared_bytes const& sync() const noexcept { return sync_; }

private:
    std::map<std::string, shared_bytes> files_;
    shared_bytes sync_;
};

std::map<std::int32_t, items> play(std::vector<std::uint8_t> const& demo, protocol version) {
    auto const reader = demo_reader::open(demo);
    FUZZ_REQUIRE(reader.has_value());
    size_table const& sizes = version == protocol::teeworlds_07 ? sizes_07 : sizes_06;
    demo_player player{*reader, fuzz::lasting<demo_player_memory>(), {&sizes, decoding::lenient, nullptr}};
    ticks_shown shown;
    whole_ticks whole{shown};
    for (demo_event e; player.next(e);) whole.put(to_stream_event(e, player.state()));
    whole.finish(player.state());
    FUZZ_REQUIRE(player.error().what.code == errc::ok);
    return shown.all();
}

// Each fragment shows the demo at its ticks, and `sync` lists the ticks.
void relay(fuzz::bytes_view demo) {
    static fuzz::memory_file const& file = *new fuzz::memory_file;
    file.assign(demo);
    everything offered;
    scoreboard scores;
    game_event_reader events{[](game_event const&) {}};
    broadcast offer{1 << 20, [&] { return broadcast_state{.name = "demo", .players = scores.json(events)}; }};
    offer.listen(offered);
    ticks_shown source;
    delayed_ticks delayed;
    try {
        input const opened{file.path()};
        demo_document played{opened};
        fragmenter cut{offer};
        demo_stream stream{played};
        struct all_of_them final : event_sink {
            std::array<event_sink*, 5> sinks;
            explicit all_of_them(std::array<event_sink*, 5> all) : sinks{all} {}
            void put(stream_event const& e) override {
                for (event_sink* const s : sinks) s->put(e);
            }
        } to{{&source, &delayed, &scores, &events, &cut}};
        whole_ticks whole{to};
        for (stream_event e; stream.next(e);) whole.put(e);
        whole.finish(played.player().state());
        cut.finish();
        ticks_shown const& later = delayed.finish();
        FUZZ_REQUIRE(later.lost() > source.lost() || later.all() == source.all());
    } catch (bad_input const&) { // there is nothing to be played
        return;
    } catch (usage_error const&) { // it is something else than a demo
        return;
    }
    if (offered.sync() == nullptr) return;
    auto const index = broadcast_index::parse(*offered.sync());
    FUZZ_REQUIRE(index && index->recordings.size() == 1);
    auto const& one = index->recordings.front();
    FUZZ_REQUIRE(one.ended && one.first == 0 && one.last + 1 == offer.fragments());
    auto const start = offered.file(one.id + "/start");
    FUZZ_REQUIRE(start != nullptr && offer.find(one.id + "/start") == start);
    for (std::uint64_t n = one.first; n <= one.last; ++n) {
        std::string const path = fmt::format("{}/{}.frag", one.id, n);
        auto const fragment = offered.file(path);
        FUZZ_REQUIRE(fragment != nullptr && offer.find(path) == fragment && !offer.expects(path));
        std::vector<std::uint8_t> all = *start;
        all.insert(all.end(), fragment->begin(), fragment->end());
        auto const shown = play(all, one.version);
        FUZZ_REQUIRE(!shown.empty());
        if (one.version == protocol::teeworlds_07) continue; // to whose snapshots the players are added
        for (auto const& [tick, state] : shown) {
            auto const there = source.all().find(tick);
            FUZZ_REQUIRE(there != source.all().end() && there->second == state);
        }
    }
}

void read_sync(fuzz::bytes_view text) {
    auto const index = broadcast_index::parse(text);
    if (!index) return;
    for (auto const& one : index->recordings) {
        FUZZ_REQUIRE(one.id.size() == 16 && one.first <= one.last);
        FUZZ_REQUIRE(one.map.size <= broadcast_index::max_map_bytes && (!one.has_map || one.map.sha256));
    }
}

void read_request(fuzz::bytes_view text) {
    fuzz::input from{text};
    std::uint64_t const size = from.number();
    std::string_view const said{reinterpret_cast<char const*>(from.rest().data()), from.rest().size()};
    auto const range = byte_range::parse(said, size);
    FUZZ_REQUIRE(range.begin <= size && range.size <= size - range.begin);
    FUZZ_REQUIRE((range.what == byte_range::kind::part) <= (range.size != 0));
    if (auto const path = decode_path(said)) FUZZ_REQUIRE(decode_path(encode_path(*path)) == path);
}

void read_index_text(fuzz::bytes_view text) {
    auto const facts = parse_index(text);
    if (!facts) return;
    FUZZ_REQUIRE(facts->first_tick >= -1 && facts->last_tick >= -1);
    std::size_t names = 0;
    for (std::string const& name : facts->players) names += name.size();
    FUZZ_REQUIRE(names + facts->protocol.size() + facts->error.size() <= text.size());
}

void run_target(fuzz::bytes_view data) {
    if (data.empty()) return;
    fuzz::bytes_view const rest = data.subspan(1);
    fuzz::cost_limit const limit{data.size()};
    switch (data[0] % 4) {
    case 0: relay(rest); break;
    case 1: read_sync(rest); break;
    case 2: read_request(rest); break;
    default: read_index_text(rest); break;
    }
    limit.check(0);
}

} // namespace

FUZZ_TARGET("broadcast", run_target)
FUZZ_MUTATOR(1, fuzz::mutate_demo)
FUZZ_CROSSOVER(1, fuzz::cross_demos)
