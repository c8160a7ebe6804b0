// The model of a block: what its parts are and how each is coded. One code for both directions: where it codes a
// value, the encoder gives it and the decoder gets it. See doc/format/archive.md#model.
#pragma once

#include "teewire/demo_format.hpp"
#include "teewire/schema.hpp"

#include "mixer.hpp"
#include "world_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teewire::archive {

enum class part_kind : std::uint8_t { marker, snapshot, message, delta, raw };

struct marker {
    bool keyframe;
    bool absolute;
    std::int32_t step; // ticks since the marker before, or since -1
};

// A delta or a full snapshot, in either direction.
struct item_changes {
    enum change : std::uint8_t { kept, updated, removed };
    struct head {
        std::int32_t key;
        std::uint32_t size;
    };
    std::array<change, max_items> of_place; // the change of each item; the encoder's
    std::array<std::int32_t, max_items> removed_keys;
    std::array<head, max_items> heads; // of those updated, then of those added, or of all in a full snapshot
    std::array<std::int32_t, max_demo_chunk_ints> data;
    std::size_t removed_count, head_count, data_size;

    void start() noexcept {
        of_place.fill(kept);
        heads.fill({});
        data.fill(0);
        removed_count = head_count = data_size = 0;
    }
};

inline std::int32_t plus(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline std::int32_t minus(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
inline std::uint32_t magnitude(std::int32_t value) noexcept {
    return value < 0 ? 0 - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value);
}
// A number for the size and sign of a value.
inline std::uint32_t bucket(std::int32_t value) noexcept {
    auto const bits = static_cast<std::uint32_t>(std::bit_width(magnitude(value)));
    return value < 0 ? 64 + bits : bits;
}

class block_model {
public:
    void start(bool items_of_07) noexcept {
        mixer_.start();
        world_.start();
        first_character_ = items_of_07 ? 9 : 8;
        tick_ = -1;
        step_ = 0;
        stamp_ = 0;
        kinds_ = 0;
        for (auto& c : costs_) c = {};
        last_of_.fill(world_model::none);
        last_id_.fill(0);
        history_.fill(0);
        places_.fill(0);
        history_size_ = 0;
        match_ = 0;
        match_size_ = 0;
        last_size_.fill(0);
        last_counts_.fill(0);
        since_keyframe_ = 0;
        last_type_ = 0;
        padded_ = false;
    }

    template <class Coder>
    part_kind code_kind(Coder& coder, part_kind kind) noexcept {
        set_contexts(kind_set, hash(kind_set, kinds_ & 0xff), hash(kind_set, kinds_ & 0xfffff),
                     hash(kind_set, kinds_ & 0xfffffff), hash(kind_set, step_));
        std::uint32_t const found = code_tree(coder, static_cast<std::uint32_t>(kind), 3, 0);
        kinds_ = kinds_ << 4 | found;
        return static_cast<part_kind>(found);
    }

    template <class Coder>
    marker code_marker(Coder& coder, marker m) noexcept {
        m.keyframe = code_flag(coder, m.keyframe, keyframe_set, since_keyframe_);
        m.absolute = code_flag(coder, m.absolute, absolute_set, m.keyframe);
        set_contexts(tick_set, hash(tick_set, step_), hash(tick_set, kinds_ & 0xff),
                     hash(tick_set, kinds_ & 0xffff), hash(tick_set));
        m.step = plus(step_, code_int(coder, minus(m.step, step_), tick_set));
        step_ = m.step;
        tick_ = plus(tick_, m.step);
        since_keyframe_ = m.keyframe ? 0 : since_keyframe_ + 1;
        return m;
    }

    // Whether there is a zero byte more than needed at the end of a chunk.
    template <class Coder>
    bool code_padding(Coder& coder, bool padded) noexcept {
        padded_ = code_flag(coder, padded, padding_set, padded_);
        return padded_;
    }

    // So many bytes, whose number both sides know.
    template <class Coder>
    void code_bytes(Coder& coder, std::span<std::uint8_t> bytes, std::uint32_t form) noexcept {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = code_byte(coder, bytes[i], form, i);
    }

    // A count of bytes or ints.
    template <class Coder>
    std::int32_t code_count(Coder& coder, std::int32_t count, std::uint32_t form) noexcept {
        auto& last = last_counts_[form];
        std::uint32_t const set = count_set + form;
        set_contexts(set, hash(set, last & 0xffff), hash(set, last), hash(set, kinds_ & 0xfff),
                     hash(set, history_at(1)));
        count = code_int(coder, count, count_set + form);
        last = last << 16 | (static_cast<std::uint32_t>(count) & 0xffff);
        return count;
    }

    // False if it cannot be: then the block is damaged.
    template <class Coder>
    bool code_delta(Coder& coder, item_changes& changes, size_table const& sizes) noexcept {
        ++stamp_;
        std::size_t kept = 0;
        std::size_t next = 0;
        std::size_t removed = 0;
        std::size_t data = 0;
        std::uint32_t before = 0;
        bool group_kept = false;
        std::size_t const live = world_.size;
        for (std::size_t place = 0; place < live; ++place) {
            if (place % item_group == 0) {
                std::size_t const count = std::min(item_group, live - place);
                group_kept = code_group(coder, std::span{changes.of_place}.subspan(place, count),
                                        std::span{world_.order}.subspan(place, count), before);
            }
            std::uint16_t const at = world_.order[place];
            track& t = world_[at];
            auto const change =
                group_kept ? item_changes::kept : code_change(coder, changes.of_place[place], t, before);
            before = before << 2 | change;
            t.touched = static_cast<std::uint8_t>(t.touched << 1 | (change != item_changes::kept));
            if (change == item_changes::removed) {
                t.live = false;
                t.stamp = stamp_;
                changes.removed_keys[removed++] = t.key;
                continue;
            }
            world_.order[kept++] = at;
            if (change == item_changes::kept) continue;
            t.stamp = stamp_;
            changes.heads[next++] = {t.key, t.size};
            if (!code_data(coder, t, changes.data, data, false, true)) return false;
        }
        world_.size = kept;
        changes.removed_count = removed;
        std::int32_t const added =
            code_count(coder, static_cast<std::int32_t>(changes.head_count - next), added_count);
        if (added < 0 || static_cast<std::size_t>(added) > max_items - next) return false;
        std::uint32_t key_before = 0;
        for (std::int32_t i = 0; i < added; ++i) {
            auto& head = changes.heads[next++];
            head.key = code_key(coder, head.key, key_before);
            key_before = static_cast<std::uint32_t>(head.key);
            std::uint32_t const type = key_before >> 16;
            if (sizes[type] != 0) head.size = static_cast<std::uint32_t>(sizes[type]);
            else head.size = code_size(coder, head.size, head.key);
            std::uint16_t at = world_.find(head.key);
            bool const known = at != world_model::none && world_[at].live;
            if (known) {
                if (world_[at].size != head.size || world_[at].stamp == stamp_) return false;
                world_[at].stamp = stamp_;
                world_[at].touched |= 1;
            } else {
                at = bring_in(head);
                if (at == world_model::none || world_.size == max_items) return false;
                world_.order[world_.size++] = at;
            }
            if (!code_data(coder, world_[at], changes.data, data, !known, known)) return false;
        }
        changes.head_count = next;
        changes.data_size = data;
        return true;
    }

    template <class Coder>
    bool code_snapshot(Coder& coder, item_changes& changes) noexcept {
        ++stamp_;
        auto const count = static_cast<std::uint32_t>(
            plus(static_cast<std::int32_t>(world_.size),
                 code_count(coder,
                            static_cast<std::int32_t>(changes.head_count) - static_cast<std::int32_t>(world_.size),
                            item_count)));
        if (count > max_items) return false;
        for (std::size_t place = 0; place < world_.size; ++place) places_of_[world_.order[place]] = place;
        std::size_t data = 0;
        std::size_t expected_place = 0;
        std::uint32_t hits = 0;
        std::uint32_t key_before = 0;
        for (std::size_t i = 0; i < count; ++i) {
            auto& head = changes.heads[i];
            bool hit = false;
            if (expected_place < world_.size) {
                track const& expected = world_[world_.order[expected_place]];
                hit = head.key == expected.key;
                hit = code_flag(coder, hit, successor_set, class_of(expected.key), hits & 7,
                                class_of(static_cast<std::int32_t>(key_before)));
                if (hit) head.key = expected.key;
            }
            hits = hits << 1 | hit;
            if (!hit) head.key = code_key(coder, head.key, key_before);
            key_before = static_cast<std::uint32_t>(head.key);
            std::uint16_t at = world_.find(head.key);
            bool known = at != world_model::none && world_[at].live;
            if (known) {
                bool same_size = head.size == world_[at].size;
                same_size = code_flag(coder, same_size, same_size_set, class_of(head.key));
                if (same_size) head.size = world_[at].size;
                known = same_size;
            }
            if (!known) {
                head.size = code_size(coder, head.size, head.key);
                at = bring_in(head);
                if (at == world_model::none) return false;
            } else {
                if (world_[at].stamp == stamp_) return false;
                world_[at].stamp = stamp_;
                expected_place = places_of_[at] + 1;
            }
            new_order_[i] = at;
            if (!code_data(coder, world_[at], changes.data, data, !known, false)) return false;
        }
        for (std::size_t place = 0; place < world_.size; ++place) world_[world_.order[place]].live = false;
        for (std::size_t i = 0; i < count; ++i) {
            world_.order[i] = new_order_[i];
            world_[new_order_[i]].live = true;
        }
        world_.size = count;
        changes.head_count = count;
        changes.data_size = data;
        return true;
    }

    [[nodiscard]] world_model& world() noexcept { return world_; }
    [[nodiscard]] std::int32_t tick() const noexcept { return tick_; }
    enum count_form : std::uint32_t { message_ints, raw_bytes, added_count, item_count, count_forms };

private:
    // Numbers of contexts and sets of weights.
    enum sets : std::uint32_t {
        kind_set = 1,
        keyframe_set,
        absolute_set,
        padding_set,
        successor_set,
        same_size_set,
        all_same_set,
        type_set,
        id_set,
        size_set,
        match_set,
        group_set,
        tick_set = 0x20,
        count_set = 0x40,
        byte_set = 0x80,
        fields_set = 0x100, // by class
        change_set = 0x200, // by class, two each
        zero_set = 0x800,   // by class and field
        int_set = 0x1000,   // by class, field and step, hashed
    };
    static constexpr std::uint32_t predictors = 6;
    using predictor_costs = std::array<std::uint16_t, predictors>;

    // Hashes whose first number is the set.
    void set_contexts(std::uint32_t set, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                      std::uint32_t d) noexcept {
        mixer_.hashes = {a, b, c, d};
        mixer_.use(set);
    }

    template <class Coder>
    bool code_flag(Coder& coder, bool flag, std::uint32_t set, std::uint32_t a, std::uint32_t b = 0,
                   std::uint32_t c = 0) noexcept {
        set_contexts(set, hash(set, a), hash(set, a, b), hash(set, a, c), hash(set, a, b, c));
        return mixer_.code(coder, flag, 0);
    }

    // So many bits of a value, the highest first, each with a node of its own after `base`.
    template <class Coder>
    std::uint32_t code_tree(Coder& coder, std::uint32_t value, int bits, std::uint32_t base) noexcept {
        std::uint32_t node = 1;
        for (int i = bits - 1; i >= 0; --i)
            node = 2 * node + mixer_.code(coder, (value >> i & 1) != 0, base + node);
        return node - (1U << bits);
    }

    // With the contexts that are set: whether it is zero, its sign, how many bits it has, mostly in three decisions, then
    // these from the top.
    template <class Coder>
    std::int32_t code_int(Coder& coder, std::int32_t value, std::uint32_t set) noexcept {
        std::uint32_t const first = int_set + 4 * set % 0x2ffc;
        mixer_.use(first);
        if (mixer_.code(coder, value == 0, 1)) return 0;
        mixer_.use(first + 1);
        bool const negative = mixer_.code(coder, value < 0, 2);
        mixer_.use(first + 2);
        std::uint32_t const most = magnitude(value);
        auto bits = static_cast<std::uint32_t>(std::bit_width(most)) - 1;
        std::uint32_t const few = code_tree(coder, std::min(bits, 7U), 3, 4);
        bits = few < 7 ? few : code_tree(coder, bits, 5, 32);
        mixer_.use(first + 3);
        std::uint32_t number = 1;
        for (std::uint32_t left = bits; left-- > 0;) {
            bool const bit = (most >> left & 1) != 0;
            if (bits - left <= 3) number = 2 * number + mixer_.code(coder, bit, 64 + bits * 8 + number);
            else number = 2 * number + coder.code(bit, 1U << 15);
        }
        return static_cast<std::int32_t>(negative ? 0 - number : number);
    }

    // Whether all of a group of items are kept.
    template <class Coder>
    bool code_group(Coder& coder, std::span<item_changes::change const> changes,
                    std::span<std::uint16_t const> places, std::uint32_t before) noexcept {
        std::uint32_t last = 0;   // whether each was touched last time
        std::uint32_t any = 0;    // deltas in which one was
        std::uint32_t recent = 0; // those touched in the last three
        for (std::uint16_t const at : places) {
            std::uint32_t const touched = world_[at].touched;
            last = last << 1 | (touched & 1);
            any |= touched;
            recent += (touched & 7) != 0;
        }
        bool kept = true;
        if constexpr (!Coder::decodes)
            for (auto const change : changes) kept = kept && change == item_changes::kept;
        std::int32_t const key = world_[places[0]].key;
        set_contexts(group_set, hash(group_set, last), hash(group_set, class_of(key), any),
                     hash(group_set, key, last != 0), hash(group_set, recent, before & 0xff, any & 3));
        return mixer_.code(coder, kept, 0);
    }

    template <class Coder>
    item_changes::change code_change(Coder& coder, item_changes::change change, track const& t,
                                     std::uint32_t before) noexcept {
        std::uint32_t const c = class_of(t.key);
        auto const age = static_cast<std::uint32_t>(std::clamp(minus(tick_, t.tick), 0, 1000));
        std::uint32_t const set = change_set + c;
        set_contexts(set, hash(set, t.touched, std::min(age, 3U)), hash(set, t.touched & 0xf, before & 0xff),
                     hash(set, t.key, t.touched & 3), hash(set, age, t.touched & 1));
        bool const touched = mixer_.code(coder, change != item_changes::kept, 1);
        if (!touched) return item_changes::kept;
        mixer_.use(change_set + max_classes + c);
        return mixer_.code(coder, change == item_changes::removed, 2) ? item_changes::removed
                                                                      : item_changes::updated;
    }

    template <class Coder>
    std::int32_t code_key(Coder& coder, std::int32_t key, std::uint32_t key_before) noexcept {
        std::uint32_t type = static_cast<std::uint32_t>(key) >> 16;
        std::uint32_t const type_before = key_before >> 16;
        set_contexts(type_set, hash(type_set, type_before), hash(type_set, key_before), hash(type_set, last_type_),
                     hash(type_set, type_before, last_type_));
        type = type_before +
               static_cast<std::uint32_t>(code_int(coder, static_cast<std::int32_t>(type - type_before), type_set));
        type &= 0xffff;
        last_type_ = type;
        std::uint32_t const c = class_of(static_cast<std::int32_t>(type << 16));
        std::uint32_t& last = last_id_[c];
        bool const first = type != type_before || key_before == 0;
        // Events are numbered from 0 in each snapshot.
        std::uint32_t const from = first && type >= 12 && type < 23 ? 0 : last;
        std::uint32_t id = static_cast<std::uint32_t>(key) & 0xffff;
        set_contexts(id_set, hash(id_set, c, first), hash(id_set, c, last), hash(id_set, c, key_before & 0xffff),
                     hash(id_set, c));
        id = from + static_cast<std::uint32_t>(code_int(coder, static_cast<std::int32_t>(id - from), id_set));
        id &= 0xffff;
        last = id;
        return static_cast<std::int32_t>(type << 16 | id);
    }

    template <class Coder>
    std::uint32_t code_size(Coder& coder, std::uint32_t size, std::int32_t key) noexcept {
        std::uint32_t const c = class_of(key);
        std::uint32_t& last = last_size_[c];
        set_contexts(size_set, hash(size_set, c), hash(size_set, c, last),
                     hash(size_set, static_cast<std::uint32_t>(key) >> 16), hash(size_set));
        last += static_cast<std::uint32_t>(code_int(coder, static_cast<std::int32_t>(size - last), size_set));
        return last;
    }

    // A live track for a new item, with what is most like it. None if the item is there already, or too large.
    std::uint16_t bring_in(item_changes::head const& head) noexcept {
        if (head.size > max_demo_chunk_ints) return world_model::none;
        std::uint16_t at = world_.find(head.key);
        bool const remembered = at != world_model::none;
        if (remembered && world_[at].stamp == stamp_) return world_model::none;
        std::uint32_t const c = class_of(head.key);
        if (!remembered) at = world_.add(head.key);
        track& t = world_[at];
        t.live = true;
        t.stamp = stamp_;
        t.tick = tick_;
        t.touched = 1;
        if (!remembered || t.size != head.size) {
            t.size = head.size;
            t.changed = t.changed_before = 0;
            t.steps.fill(0);
            track const* like = last_of_[c] != world_model::none ? &world_[last_of_[c]] : nullptr;
            if (like != nullptr && like != &t && like->size == head.size && class_of(like->key) == c)
                t.values = like->values;
            else if (like != &t) t.values.fill(0);
        }
        last_of_[c] = at;
        return at;
    }

    // The ints of an item: differences, or values.
    template <class Coder>
    bool code_data(Coder& coder, track& t, std::span<std::int32_t> all, std::size_t& used, bool fresh,
                   bool differences) noexcept {
        if (t.size > all.size() - used) return false;
        auto const data = all.subspan(used, t.size);
        used += t.size;
        std::uint32_t const c = class_of(t.key);
        if (!fresh && !differences) { // in a full snapshot
            bool same = true;
            if constexpr (!Coder::decodes)
                for (std::size_t f = 0; f < data.size(); ++f)
                    same = same && data[f] == (f < max_fields ? t.values[f] : 0);
            same = code_flag(coder, same, all_same_set, c, t.touched & 7,
                             static_cast<std::uint32_t>(minus(tick_, t.tick)));
            if (same) {
                for (std::size_t f = 0; f < data.size(); ++f) data[f] = f < max_fields ? t.values[f] : 0;
                return true;
            }
        }
        std::uint64_t changed = 0;
        item_view view{t, c, fresh, static_cast<std::uint32_t>(std::clamp(minus(tick_, t.tick), 0, 20))};
        auto const old_of = [&](std::size_t f) { return f < max_fields ? t.values[f] : 0; };
        if (!fresh && t.changed != 0 && data.size() <= max_fields) {
            bool same = true;
            if constexpr (!Coder::decodes)
                for (std::size_t f = 0; f < data.size(); ++f)
                    same = same && (t.changed >> f & 1) == (data[f] != (differences ? 0 : t.values[f]));
            view.same_fields = code_same_fields(coder, same, view);
        }
        for (std::size_t f = 0; f < data.size(); ++f) {
            std::int32_t const old = old_of(f);
            if (!view.same_fields && f % field_group == 0) {
                view.in_group = std::min(field_group, data.size() - f);
                bool zero = true;
                if constexpr (!Coder::decodes)
                    for (std::size_t g = f; g < f + view.in_group; ++g)
                        zero = zero && data[g] == (differences ? 0 : old_of(g));
                prepare_zero(view, f, changed);
                if (mixer_.code(coder, zero, 1)) {
                    for (std::size_t g = f; g < f + view.in_group; ++g) {
                        if (g < max_fields) view.news[g] = t.values[g];
                        data[g] = differences ? 0 : old_of(g);
                    }
                    f += view.in_group - 1;
                    view.step_before = view.step_before_that = 0;
                    continue;
                }
                view.prepared = true;
            }
            std::int32_t step = differences ? data[f] : minus(data[f], old);
            step = view.same_fields ? code_expected_step(coder, step, view, f)
                                    : code_step(coder, step, view, f, changed);
            data[f] = differences ? step : plus(old, step);
            if (f >= max_fields) continue;
            view.news[f] = plus(old, step);
            changed |= std::uint64_t{step != 0} << f;
        }
        for (std::size_t f = 0; f < std::min<std::size_t>(data.size(), max_fields); ++f) {
            if (view.news[f] != t.values[f]) t.steps[f] = minus(view.news[f], t.values[f]);
            t.values[f] = view.news[f];
        }
        t.changed_before = t.changed;
        t.changed = changed;
        t.tick = tick_;
        return true;
    }

    struct item_view {
        track const& of;
        std::uint32_t item_class;
        bool fresh;
        std::uint32_t age; // ticks since it changed, at most 20
        std::array<std::int32_t, max_fields> news{};
        std::int32_t step_before = 0; // of the field before, and so on
        std::int32_t step_before_that = 0;
        std::int32_t residual_before = 0;
        std::size_t in_group = 0; // fields left of it, of which one has changed
        bool prepared = false;
        bool same_fields = false; // have changed as the last time
        std::array<std::int32_t, 2> moves{};
        std::uint32_t field_class = 0;
    };
    static constexpr std::size_t field_group = 4;
    static constexpr std::size_t item_group = 8;

    // How a character's field moves by itself: see doc/format/archive.md#motion.
    [[nodiscard]] std::array<std::int32_t, 2> motion(item_view const& v, std::size_t f) const noexcept {
        if (v.item_class != first_character_ && v.item_class != first_character_ + 1) return {0, 0};
        auto const& old = v.of.values;
        std::int64_t const ticks = std::clamp(minus(v.news[0], old[0]), 0, 150);
        auto const narrow = [](std::int64_t x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); };
        std::int64_t const fall = 128 * ticks;
        switch (f) {
        case 1: return {narrow(old[3] * ticks / 256), v.of.steps[1]};
        case 2: return {narrow((old[4] * ticks + fall * (ticks + 1) / 2) / 256), narrow(old[4] * ticks / 256)};
        case 3:
            return {ticks != 0 ? narrow((std::int64_t{v.news[1]} - old[1]) * 256 / ticks - old[3]) : 0,
                    minus(0, old[3])};
        case 4:
            return {ticks != 0 ? narrow((std::int64_t{v.news[2]} - old[2]) * 256 / ticks - old[4] + fall / 2) : 0,
                    narrow(fall)};
        case 11: return {minus(v.news[1], old[11]), narrow(old[13] * (80 * ticks) / 256)};
        case 12: return {minus(v.news[2], old[12]), narrow(old[14] * (80 * ticks) / 256)};
        default: return {0, 0};
        }
    }

    // Whether the fields that have changed are those of the last update.
    template <class Coder>
    bool code_same_fields(Coder& coder, bool same, item_view const& v) noexcept {
        track const& t = v.of;
        auto const low = static_cast<std::uint32_t>(t.changed);
        bool const again = t.changed == t.changed_before;
        std::uint32_t const c = v.item_class;
        set_contexts(fields_set + c, hash(fields_set, low, static_cast<std::uint32_t>(t.changed >> 32)),
                     hash(fields_set, c, again, v.age),
                     hash(fields_set, low, static_cast<std::uint32_t>(t.changed_before)),
                     hash(fields_set, t.key, again));
        return mixer_.code(coder, same, 0);
    }

    static std::size_t followed(std::size_t f) noexcept { return std::min(f, max_fields - 1); }

    void prepare_field(item_view& v, std::size_t f) noexcept {
        v.field_class =
            v.item_class << 6 | static_cast<std::uint32_t>(followed(f)) | static_cast<std::uint32_t>(v.fresh) << 13;
        v.moves = motion(v, f);
    }
    // Contexts of whether a field has changed.
    void prepare_zero(item_view& v, std::size_t f, std::uint64_t changed) noexcept {
        track const& t = v.of;
        std::size_t const field = followed(f);
        prepare_field(v, f);
        std::uint32_t const c = v.field_class;
        auto const was =
            static_cast<std::uint32_t>((t.changed >> field & 1) | (t.changed_before >> field & 1) << 1);
        auto const recent = static_cast<std::uint32_t>(changed >> (field < 6 ? 0 : field - 6)) & 0x3f;
        std::uint32_t const set = zero_set + c;
        set_contexts(zero_set + (c & 0x7ff), hash(set, was, v.age > 2), hash(set, recent, was),
                     hash(set, static_cast<std::uint32_t>(changed), static_cast<std::uint32_t>(changed >> 32)),
                     hash(set, bucket(v.moves[0]), bucket(v.moves[1]), v.age));
    }

    template <class Coder>
    std::int32_t code_step(Coder& coder, std::int32_t step, item_view& v, std::size_t f,
                           std::uint64_t changed) noexcept {
        if (!v.prepared) prepare_zero(v, f, changed);
        v.prepared = false;
        // The last of a group that has a change and showed none yet.
        bool const certain = --v.in_group == 0;
        if (!certain && mixer_.code(coder, step == 0, 0)) return no_step(v);
        step = code_changed(coder, step, v, f);
        if (step != 0) v.in_group = SIZE_MAX / 2;
        return step;
    }
    // The field changes if it did in the last update.
    template <class Coder>
    std::int32_t code_expected_step(Coder& coder, std::int32_t step, item_view& v, std::size_t f) noexcept {
        if ((v.of.changed >> f & 1) == 0) return no_step(v);
        prepare_field(v, f);
        return code_changed(coder, step, v, f);
    }

    static std::int32_t no_step(item_view& v) noexcept {
        v.step_before_that = v.step_before;
        v.step_before = 0;
        return 0;
    }

    template <class Coder>
    std::int32_t code_changed(Coder& coder, std::int32_t step, item_view& v, std::size_t f) noexcept {
        track const& t = v.of;
        std::size_t const field = followed(f);
        std::int32_t const old = t.values[field];
        std::int32_t const last = t.steps[field];
        std::uint32_t const c = v.field_class;
        auto const moves = v.moves;
        std::array<std::int32_t, predictors> const guesses = {0,        last,     minus(tick_, old),
                                                              moves[0], moves[1], minus(tick_, t.tick)};
        predictor_costs& costs = costs_[c & 0x3fff];
        std::uint32_t best = 0;
        for (std::uint32_t k = 1; k < predictors; ++k)
            if (costs[k] < costs[best]) best = k;
        std::uint32_t const d = int_set + c * predictors + best;
        set_contexts(int_set, hash(d), hash(d, old), hash(d, bucket(v.step_before), bucket(v.step_before_that)),
                     hash(d, bucket(moves[0]), bucket(last), bucket(v.residual_before)));
        std::int32_t const residual = code_int(coder, minus(step, guesses[best]), c);
        step = plus(residual, guesses[best]);
        for (std::uint32_t k = 0; k < predictors; ++k) {
            auto const cost = static_cast<std::uint32_t>(std::bit_width(magnitude(minus(step, guesses[k])))) << 8;
            costs[k] = static_cast<std::uint16_t>((costs[k] * 15U + cost) / 16);
        }
        v.step_before_that = v.step_before;
        v.step_before = step;
        v.residual_before = residual;
        return step;
    }

    // ---- bytes -----------------------------------------------------------------------------------------------------

    static constexpr std::size_t history_bytes = std::size_t{1} << 20;

    [[nodiscard]] std::uint8_t history_at(std::size_t back) const noexcept {
        return history_[(history_size_ - back) % history_bytes];
    }

    template <class Coder>
    std::uint8_t code_byte(Coder& coder, std::uint8_t byte, std::uint32_t form, std::size_t position) noexcept {
        bool hit = false;
        std::uint8_t expected = 0;
        if (match_size_ != 0) {
            expected = history_[match_ % history_bytes];
            std::uint32_t const size = std::min<std::uint32_t>(match_size_, 32);
            hit = code_flag(coder, byte == expected, match_set, size, expected, form);
            if (hit) byte = expected;
        }
        if (!hit) {
            std::uint32_t const missed = match_size_ != 0 ? 256U + expected : 0;
            std::uint32_t const b1 = history_at(1), b2 = history_at(2);
            auto const at = static_cast<std::uint32_t>(std::min<std::size_t>(position, 255));
            std::uint32_t const set = byte_set + form;
            set_contexts(byte_set, hash(set, missed), hash(set, b1), hash(set, b1, b2), hash(set, at, b1));
            mixer_.use(byte_set + form * 2 + (missed != 0));
            byte = static_cast<std::uint8_t>(code_tree(coder, byte, 8, 0));
        }
        history_[history_size_ % history_bytes] = byte;
        ++history_size_;
        if (hit) {
            ++match_;
            match_size_ = std::min<std::uint32_t>(match_size_ + 1, 65535);
        } else {
            match_size_ = 0;
        }
        if (history_size_ < 5) return byte;
        std::uint32_t const h = hash(history_at(1) | std::uint32_t{history_at(2)} << 8 |
                                         std::uint32_t{history_at(3)} << 16 | std::uint32_t{history_at(4)} << 24,
                                     history_at(5)) >>
                                16;
        if (match_size_ == 0 && places_[h] != 0 && history_size_ - places_[h] < history_bytes) {
            match_ = places_[h];
            match_size_ = 1;
        }
        places_[h] = static_cast<std::uint32_t>(history_size_);
        return byte;
    }

    mixer mixer_;
    world_model world_;
    std::uint32_t first_character_; // the core of one; the type after it is the whole
    std::int32_t tick_;
    std::int32_t step_;
    std::uint32_t since_keyframe_;
    std::uint32_t stamp_;
    std::uint32_t kinds_;
    std::uint32_t last_type_;
    bool padded_;
    std::array<std::uint32_t, count_forms> last_counts_;
    std::array<predictor_costs, 1 << 14> costs_;
    std::array<std::uint16_t, max_classes> last_of_;
    std::array<std::uint32_t, max_classes> last_id_;
    std::array<std::uint32_t, max_classes> last_size_;
    std::array<std::size_t, world_model::tracks> places_of_;
    std::array<std::uint16_t, max_items> new_order_;
    std::array<std::uint8_t, history_bytes> history_;
    std::array<std::uint32_t, 1 << 16> places_;
    std::uint64_t history_size_;
    std::uint64_t match_;
    std::uint32_t match_size_;
};

} // namespace teewire::archive
