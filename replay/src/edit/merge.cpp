#include "edit/merge.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "edit/message_union.hpp"
#include "game/item_text.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/snapshot_builder.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

// Further names are counted together, because the input chooses the names of types.
constexpr std::size_t max_fields = 1000;

// ---- items of one tick ---------------------------------------------------------------------------------------------

struct candidate {
    std::int32_t key;   // in the result
    std::uint32_t from; // number of the recording
    bool held;          // from the snapshot before
    type_table::meaning const* meaning;
    ints_view data;
};

// The authority of a recording over an item: the smallest one decides.
struct authority {
    int rank = 0;
    double distance = 0; // squared

    friend auto operator<=>(authority const&, authority const&) = default;
};

} // namespace

class merged_stream::work {
public:
    explicit work(std::span<merge_input const> inputs) : inputs_{inputs}, result_ints_(snapshot_limits{}.ints()) {
        for (merge_input const& i : inputs) {
            all_.push_back(std::make_unique<merge_source>(*i.source, result_.parts.size()));
            result_.parts.push_back({i.name, 0, 0, {}});
        }
    }

    bool next(stream_event& out) {
        if (!begun_) {
            begun_ = true;
            begin();
            out = {};
            out.kind = event_kind::begin;
            out.begun = &recording_;
            return true;
        }
        while (!interrupted()) {
            if (tick_ >= 0 && messages_.next(out)) {
                out.state = state_;
                return true;
            }
            if (!find_tick()) return false;
            if (!make_snapshot()) continue;
            out = {};
            out.kind = event_kind::snapshot;
            out.tick = tick_;
            out.state = state_;
            return true;
        }
        return false;
    }

    [[nodiscard]] std::uint64_t done_bytes() const {
        std::uint64_t bytes = 0;
        for (auto const& r : all_) bytes += r->source.done_bytes();
        return bytes;
    }
    [[nodiscard]] merge_result const& result() const noexcept { return result_; }

private:
    [[nodiscard]] std::string const& name(merge_source const& r) const { return inputs_[r.part].name; }

    // ---- beginnings

    void begin() {
        bool first = true;
        for (auto const& r : all_) {
            if (!r->reader.next() || !r->reader.begins()) {
                end(*r);
                continue;
            }
            recording_info const& begun = r->reader.begun();
            served_map const& map = begun.map;
            if (first) {
                first = false;
                first_name_ = name(*r);
                recording_.version = begun.version;
                recording_.map = map;
                recording_.first_tick = begun.first_tick;
                recording_.last_tick = begun.last_tick;
            } else {
                expect_same(begun, map, name(*r));
            }
            if (begun.version == protocol::ddnet) recording_.version = begun.version;
            if (begun.began != 0 && (recording_.began == 0 || begun.began < recording_.began))
                recording_.began = begun.began;
            take_map(begun);
            if (!recording_.map.sha256) recording_.map.sha256 = map.sha256;
            if (begun.first_tick >= 0 && (recording_.first_tick < 0 || begun.first_tick < recording_.first_tick))
                recording_.first_tick = begun.first_tick;
            recording_.last_tick = std::max(recording_.last_tick, begun.last_tick);
            markers_.insert(markers_.end(), begun.markers.begin(), begun.markers.end());
        }
        std::sort(markers_.begin(), markers_.end());
        markers_.erase(std::unique(markers_.begin(), markers_.end()), markers_.end());
        recording_.one_receiver = false;
        recording_.map_bytes = map_bytes_;
        recording_.markers = markers_;
        types_.emplace(recording_.version);
        messages_.begin(recording_.version);
    }

    void expect_same(recording_info const& begun, served_map const& map, std::string const& who) const {
        if ((begun.version == protocol::teeworlds_07) != (recording_.version == protocol::teeworlds_07))
            throw usage_error{fmt::format("{}: was recorded by a client of {}, but {} by one of {}", who,
                                          teewire::name(begun.version), first_name_,
                                          teewire::name(recording_.version))};
        if (!is_same_map(recording_.map, map))
            throw usage_error{fmt::format("{}: was recorded on {}, but {} on {}", who, replay::describe(map),
                                          first_name_, replay::describe(recording_.map))};
    }

    // That which the recordings name, or else another that one of them holds.
    void take_map(recording_info const& from) {
        bool const named = !from.map_bytes.empty() && !has_named_map_ && is_map(from.map, from.map_bytes);
        has_named_map_ = has_named_map_ || named;
        if (named || map_bytes_.empty()) map_bytes_.assign(from.map_bytes.begin(), from.map_bytes.end());
    }

    void end(merge_source& r) {
        r.over = true;
        merged_part& part = result_.parts[r.part];
        std::string const why = r.reader.error();
        if (part.damage.empty() && !why.empty()) part.damage = fmt::format("{}: {}", name(r), why);
    }

    // ---- ticks

    // The next tick that one of them has, and those who have it go there.
    bool find_tick() {
        std::optional<std::int32_t> nearest;
        for (auto const& r : all_) {
            r->current = false;
            if (r->over) continue;
            auto const tick = peek(*r);
            if (tick && (!nearest || *tick < *nearest)) nearest = tick;
        }
        if (!nearest) return finish();
        tick_ = *nearest;
        bool common = false, any = false;
        for (auto const& r : all_) {
            if (r->over || peek(*r) != tick_) continue;
            if (!r->reader.next()) {
                end(*r);
                continue;
            }
            r->tick = tick_;
            r->current = r->reader.has_state();
            r->view.reset();
            common = common || (any && r->current);
            any = any || r->current;
            result_.parts[r->part].ticks += r->current;
        }
        messages_.begin_tick(tick_);
        result_.common_ticks += common;
        return true;
    }

    // The tick to which it can go. Ends it if there is none.
    std::optional<std::int32_t> peek(merge_source& r) {
        auto const tick = r.reader.peek();
        if (!tick) {
            // A recording that restarts counts its ticks from the start.
            if (r.reader.error().empty() && r.reader.next() && r.reader.begins())
                throw usage_error{fmt::format(
                    "{}: holds several recordings; capture --format demo makes a demo of each", name(r))};
            end(r);
        } else if (*tick < r.tick) {
            result_.parts[r.part].damage = fmt::format("{}: tick {}: ticks go back to {}", name(r), r.tick, *tick);
            end(r);
            return {};
        }
        return tick;
    }

    bool finish() {
        expect_same_players(true);
        return false;
    }

    // ---- items

    // Lists the recording's items of this tick, or those of a recent one.
    void list_items(merge_source& r, std::uint32_t number) {
        bool const held = !r.current;
        if (held) {
            if (r.over || !r.reader.has_state() || r.tick < 0) return;
            auto const tick = r.reader.peek();
            if (!tick || *tick <= tick_ || std::int64_t{*tick} - r.tick > max_gap) return;
        }
        for (item const i : r.reader.state()) {
            if (i.type() == type_ex) continue;
            type_table::meaning const* meaning = &unknown_;
            std::int32_t key = i.key;
            if (i.type() < sized_types) {
                meaning = &types_->plain[i.type()];
            } else if (i.type() >= first_alias && i.type() <= last_alias) {
                auto const found = r.extended.find(i.type());
                std::uint16_t type = i.type();
                if (found != r.extended.end()) {
                    meaning = &found->second.meaning;
                    type = builder_.alias_of(found->second.id);
                } else if (type >= first_used_alias_) {
                    // DDNet's servers describe a type one snapshot late. It keeps its number unless another one has it.
                    type = 0;
                }
                if (type == 0 && !meaning->for_one) result_.undescribed += !held;
                if (type == 0) continue;
                key = make_key(type, i.id());
            }
            r.players_are_items = r.players_are_items || i.type() == types_->client_info;
            if (meaning->for_one || (held && !meaning->lasts)) continue;
            candidates_.push_back({key, number, held, meaning, i.data});
        }
        if (types_->is_07() && !r.players_are_items) add_roster(r, number, held);
        return;
    }

    void describe(merge_source& r) {
        for (item const i : r.reader.state()) {
            if (i.type() != type_ex) continue;
            if (i.data.size() < 4 || i.id() < first_alias || i.id() > last_alias) {
                ++result_.refused;
                continue;
            }
            uuid const id = uuid::from_ints(i.data.first<4>());
            auto [place, is_new] = r.extended.try_emplace(i.id());
            if (is_new || place->second.id != id) {
                object const* const known = find_object(id);
                place->second = {id,
                                 {known, known != nullptr && concerns_one_client(*known),
                                  known != nullptr && !is_event(*known)}};
            }
            // A type that no other client gets needs no description.
            if (place->second.meaning.for_one) continue;
            if (auto const alias = builder_.extended_type(id))
                first_used_alias_ = std::min(first_used_alias_, *alias);
        }
    }

    // A server of 0.7 sends these in messages; demos have them as items.
    void add_roster(merge_source const& r, std::uint32_t number, bool held) {
        auto const add = [&](std::uint16_t type, std::size_t id, ints_view data) {
            candidates_.push_back(
                {make_key(type, static_cast<std::uint16_t>(id)), number, held, &types_->plain[type], data});
        };
        for (std::size_t i = 0; i < max_clients_07; ++i)
            if (r.players.clients[i]) add(type_client_info_07, i, *r.players.clients[i]);
        if (r.players.game) add(type_game_info_07, 0, *r.players.game);
        if (r.players.tuning && *r.players.tuning != standard_tuning_07)
            add(type_tune_params_07, 0, *r.players.tuning);
    }

    bool make_snapshot() {
        if (std::none_of(all_.begin(), all_.end(), [](auto const& r) { return r->current; })) return false;
        candidates_.clear();
        chosen_.clear();
        builder_.start();
        for (auto const& r : all_)
            if (r->current) describe(*r);
        for (std::uint32_t n = 0; n < all_.size(); ++n) {
            merge_source& r = *all_[n];
            // Those of captures are known before the first snapshot.
            if (r.current && types_->is_07() && !std::exchange(r.has_players, true))
                for (tick_message const& said : r.reader.messages())
                    if (auto const m = parse_message(said.bytes)) static_cast<void>(r.players.receive(*m));
            list_items(r, n);
        }
        sort_candidates();
        shared_ = strange_ = false;
        for (auto begin = candidates_.begin(); begin != candidates_.end();) {
            auto const end =
                std::find_if(begin, candidates_.end(), [&](candidate const& c) { return c.key != begin->key; });
            choose({&*begin, static_cast<std::size_t>(end - begin)});
            begin = end;
        }
        shared_ticks_ += shared_;
        strange_ticks_ += strange_;
        expect_same_players(false);
        build();
        return true;
    }

    // By key, then those of this tick, then by recording: the first of several in one snapshot counts.
    void sort_candidates() {
        std::sort(candidates_.begin(), candidates_.end(), [](candidate const& a, candidate const& b) {
            if (a.key != b.key) return static_cast<std::uint32_t>(a.key) < static_cast<std::uint32_t>(b.key);
            if (a.held != b.held) return b.held;
            return a.from != b.from ? a.from < b.from : std::less{}(a.data.data(), b.data.data());
        });
        auto const repeated = std::unique(candidates_.begin(), candidates_.end(), [](auto const& a, auto const& b) {
            return a.key == b.key && a.from == b.from;
        });
        result_.refused += static_cast<std::uint64_t>(candidates_.end() - repeated);
        candidates_.erase(repeated, candidates_.end());
    }

    // Chooses one of all with the same key.
    void choose(std::span<candidate const> same) {
        candidate const* best = same.data();
        if (best->held) {
            for (candidate const& c : same)
                if (all_[c.from]->tick > all_[best->from]->tick) best = &c;
            if (!would_be_seen(*best)) chosen_.push_back(best);
            return;
        }
        std::size_t members = 0;
        bool differ = false;
        for (; members < same.size() && !same[members].held; ++members)
            differ = differ || !equal(*best, same[members]);
        if (members == 1) ++result_.parts[best->from].only_here;
        else if (key_type(best->key) == types_->client_info) shared_ = true;
        if (differ) best = resolve(same);
        chosen_.push_back(best);
    }

    // Whether a client that has this tick would have the item if it still existed. Items without a position are sent to
    // all.
    [[nodiscard]] bool would_be_seen(candidate const& c) {
        // The distance that servers show on every side, also in the corners.
        constexpr double near_x = 800, near_y = 700;
        merge_source& r = *all_[c.from];
        auto place = place_of(c.data, *c.meaning->known);
        if (!place && c.meaning->known->is_extended() && belongs_to_player(*c.meaning->known))
            place = character_place(r, key_id(c.key));
        if (!place) return true;
        return std::any_of(all_.begin(), all_.end(), [&](auto const& other) {
            if (!other->current) return false;
            viewpoint const& v = view(*other);
            return v.sees_all || (v.place && std::abs(v.place->x - place->x) <= near_x &&
                                  std::abs(v.place->y - place->y) <= near_y);
        });
    }

    [[nodiscard]] std::optional<point> character_place(merge_source const& r, std::int32_t client_id) const {
        for (item const i : r.reader.state())
            if (i.type() == types_->character && i.id() == client_id)
                return place_of(i.data, *types_->plain[types_->character].known);
        return {};
    }

    [[nodiscard]] bool equal(candidate const& a, candidate const& b) {
        auto const x = as_for_everybody(a.key, a.data, *types_, room_[0]);
        auto const y = as_for_everybody(b.key, b.data, *types_, room_[1]);
        return std::equal(x.begin(), x.end(), y.begin(), y.end());
    }

    candidate const* resolve(std::span<candidate const> same) {
        candidate const* best = nullptr;
        authority highest;
        for (candidate const& c : same) {
            if (c.held) break;
            authority const a = authority_of(c);
            if (best != nullptr && !(a < highest)) continue;
            best = &c;
            highest = a;
        }
        ++result_.conflicts;
        std::vector<std::string> named; // each once for this item
        for (candidate const& c : same) {
            if (c.held) break;
            if (&c != best) note_conflict(*best, c, named);
        }
        return best;
    }

    [[nodiscard]] authority authority_of(candidate const& c) {
        viewpoint const& v = view(*all_[c.from]);
        object const* const what = c.meaning->known;
        std::int32_t const about = what != nullptr && belongs_to_player(*what) ? key_id(c.key) : -1;
        if (about >= 0 && about == v.own) return {0, 0};
        if (about >= 0 && about == v.watched) return {1, 0};
        if (v.sees_all) return {2, 0};
        auto const place = what != nullptr ? place_of(c.data, *what) : std::nullopt;
        if (!v.place || !place) return {4, 0};
        double const x = place->x - v.place->x, y = place->y - v.place->y;
        return {3, x * x + y * y};
    }

    viewpoint const& view(merge_source& r) {
        if (r.view) return *r.view;
        viewpoint& v = r.view.emplace();
        snapshot_view const state = r.reader.state();
        if (types_->is_07())
            for (std::size_t i = 0; i < max_clients_07; ++i)
                if (auto const& c = r.players.clients[i]; c && (*c)[0] != 0) v.own = static_cast<std::int32_t>(i);
        for (item const i : state) {
            if (i.type() == types_->local_type() && !i.data.empty() && i.data[0] != 0) v.own = i.id();
            if (i.type() != types_->spectator_info) continue;
            object const& what = *types_->plain[i.type()].known;
            v.place = place_of(i.data, what);
            v.watched = int_field(i, what, "spectator_id", -1);
        }
        v.sees_all = !r.reader.begun().one_receiver && v.own < 0 && !v.place;
        if (v.own >= 0 && !v.place) v.place = character_place(r, v.own);
        return v;
    }

    void note_conflict(candidate const& kept, candidate const& other, std::vector<std::string>& named) {
        auto const a = as_for_everybody(kept.key, kept.data, *types_, room_[0]);
        auto const b = as_for_everybody(other.key, other.data, *types_, room_[1]);
        object const* const what = kept.meaning->known;
        ints_view const longer = a.size() >= b.size() ? a : b;
        for (item_part const& part : parts_of(longer.size(), what)) {
            auto const of = [&](ints_view data) {
                return part.at + part.ints <= data.size() ? data.subspan(part.at, part.ints) : ints_view{};
            };
            auto const in_a = of(a), in_b = of(b);
            if (std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end())) continue;
            std::string const type =
                what != nullptr ? std::string{what->name} : fmt::format("type_{}", key_type(kept.key));
            std::string text = fmt::format("{}.{}", type, part_name(part));
            if (text == "client_info.name") meet_stranger(kept, other, *what);
            if (std::find(named.begin(), named.end(), text) != named.end()) continue;
            named.push_back(text);
            count(std::move(text));
        }
    }

    void count(std::string text) {
        auto found = result_.fields.find(text);
        if (found == result_.fields.end())
            found =
                result_.fields.try_emplace(result_.fields.size() < max_fields ? std::move(text) : "others").first;
        if (found->second.count++ == 0) found->second.first_tick = tick_;
    }

    // ---- whether it is one game

    void meet_stranger(candidate const& a, candidate const& b, object const& info) {
        strange_ = true;
        if (!stranger_.empty()) return;
        auto const called = [&](candidate const& c) {
            return fmt::format("{} in {}", text_field(item{c.key, c.data}, info, "name"), name(*all_[c.from]));
        };
        stranger_ = fmt::format("client {} is {}, but {} at tick {}", key_id(a.key), called(a), called(b), tick_);
    }

    // Where 0.7 says in messages who plays, they come late now and then.
    void expect_same_players(bool at_the_end) const {
        constexpr std::uint64_t enough = 500;
        if (strange_ticks_ * 2 <= shared_ticks_ || (!at_the_end && shared_ticks_ < enough)) return;
        throw usage_error{fmt::format(
            "the recordings are not of one game, or the server gave one client different ids: {}", stranger_)};
    }

    // ---- the snapshot

    void build() {
        bool const all_fit = add_all(nullptr);
        if (!all_fit) {
            // If one snapshot cannot hold all, the last ones are left out, and first of all the held ones.
            std::stable_sort(chosen_.begin(), chosen_.end(), [](candidate const* a, candidate const* b) {
                return a->held != b->held ? b->held : a->from < b->from;
            });
            builder_.start();
            static_cast<void>(add_all(&result_.refused));
        }
        auto const made = builder_.finish(result_ints_, item_order::by_key);
        state_ = made ? *made : snapshot_view{};
        ++result_.ticks;
        result_.items += chosen_.size();
        for (candidate const* const c : chosen_) result_.held += c->held;
    }

    bool add_all(std::uint64_t* refused) {
        bool all = true;
        for (candidate const* const c : chosen_) {
            auto const added = builder_.add(item{c->key, as_for_everybody(c->key, c->data, *types_, room_[0])});
            if (added) continue;
            all = false;
            if (refused != nullptr) ++*refused;
        }
        return all;
    }

    std::span<merge_input const> inputs_;
    merge_result result_;
    merge_sources all_;
    bool begun_ = false;
    recording_info recording_;
    std::string first_name_;
    std::vector<std::uint8_t> map_bytes_;
    bool has_named_map_ = false; // in map_bytes_
    std::vector<std::int32_t> markers_;
    std::optional<type_table> types_; // from the beginning
    type_table::meaning unknown_;

    std::int32_t tick_ = -1;
    std::vector<candidate> candidates_;
    std::vector<candidate const*> chosen_;
    std::vector<std::int32_t> room_[2];
    std::unique_ptr<snapshot_builder_memory<>> memory_ = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder_{*memory_};
    std::uint16_t first_used_alias_ = last_alias + 1; // they are given out downwards
    std::vector<std::int32_t> result_ints_;
    snapshot_view state_;

    bool shared_ = false, strange_ = false; // this tick
    std::uint64_t shared_ticks_ = 0;        // at which two know the same client id
    std::uint64_t strange_ticks_ = 0;       // ticks among these at which it is another player
    std::string stranger_;                  // the first one

    message_union messages_{all_, result_};
};

merged_stream::merged_stream(std::span<merge_input const> inputs) : work_{std::make_unique<work>(inputs)} {}
merged_stream::~merged_stream() = default;
bool merged_stream::next(stream_event& out) { return work_->next(out); }
std::uint64_t merged_stream::done_bytes() const { return work_->done_bytes(); }
merge_result const& merged_stream::result() const noexcept { return work_->result(); }

} // namespace teewire::replay
