// Damaged demos, and what of them is still intact: found by where each byte came from, not by reading what is damaged.
#pragma once

#include "check.hpp"
#include "random.hpp"
#include "temporary_file.hpp"

#include "edit/repair.hpp"

#include <teewire/demo_reader.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace test {

using bytes_view = std::span<std::uint8_t const>;

/// FNV-1a 64 over the ints: equal for equal snapshots.
inline std::uint64_t state_hash(teewire::snapshot_view state) {
    std::uint64_t h = 14695981039346656037U;
    for (std::int32_t const value : state.ints()) h = (h ^ static_cast<std::uint32_t>(value)) * 1099511628211U;
    return h;
}

/// The states of a demo at all of its ticks, as one player finds them.
struct tick_states {
    std::map<std::int32_t, std::uint64_t> states;
    std::size_t messages = 0;
    bool complete = false; ///< without damage
};
inline tick_states play_ticks(bytes_view demo, teewire::size_table const& sizes) {
    tick_states all;
    auto const reader = teewire::demo_reader::open(demo);
    if (!reader) return all;
    auto const memory = std::make_unique<teewire::demo_player_memory>();
    teewire::demo_player player{*reader, *memory, {&sizes, teewire::decoding::lenient, nullptr}};
    for (teewire::demo_event event; player.next(event);) {
        if (event.kind == teewire::demo_event_kind::message) ++all.messages;
        else if (player.has_state()) all.states[event.tick] = state_hash(player.state());
    }
    all.complete = player.error().what.code == teewire::errc::ok;
    return all;
}

/// A recording that is in order, and where in it each tick is.
class whole_demo {
public:
    /// False for demos that it says nothing about: damaged ones, and those whose ticks are not each there once.
    [[nodiscard]] static std::unique_ptr<whole_demo> read(bytes file) {
        auto const reader = teewire::demo_reader::open(file);
        if (!reader) return {};
        auto demo = std::unique_ptr<whole_demo>{new whole_demo};
        auto const memory = std::make_unique<teewire::demo_player_memory>();
        demo->sizes = teewire::detect_size_table(*reader, *memory).sizes;
        demo->original = play_ticks(file, *demo->sizes);
        teewire::demo_reader chunks = *reader;
        std::size_t keyframe = SIZE_MAX;
        std::int32_t last = -1;
        place* open = nullptr;
        for (teewire::demo_chunk chunk; chunks.next(chunk);) {
            if (chunk.kind == teewire::demo_chunk_kind::tick) {
                if (open != nullptr) open->end = chunks.position(); // nothing changed, which the next marker shows
                open = nullptr;
                if (chunk.tick <= last) return {};
                last = chunk.tick;
                if (chunk.keyframe && chunk.absolute) keyframe = chunk.position;
                if (keyframe != SIZE_MAX) {
                    demo->places.push_back({chunk.tick, keyframe, chunks.position()});
                    open = &demo->places.back();
                }
            } else if (open != nullptr) {
                // A message shows as well that nothing changed.
                open->end = chunks.position();
                open = nullptr;
            }
        }
        demo->file = std::move(file);
        return demo->original.complete && !demo->places.empty() ? std::move(demo) : nullptr;
    }

    struct place {
        std::int32_t tick;
        std::size_t keyframe; ///< byte of the marker that its state can be played from
        std::size_t end;      ///< of the last byte that is needed
    };
    bytes file;
    teewire::size_table const* sizes = nullptr;
    tick_states original;
    std::vector<place> places;

private:
    whole_demo() = default;
};

/// Ways to damage a file.
enum class damage : std::uint8_t { cut, change, remove, repeat };
inline constexpr char const* damage_names[] = {"cut", "changed bytes", "removed blocks", "repeated blocks"};

/// A file and where its bytes come from: the byte of the original, or npos.
class damaged_demo {
public:
    static constexpr std::size_t npos = SIZE_MAX;

    damaged_demo(whole_demo const& of, damage kind, random& rng) : bytes_{of.file}, origin_(of.file.size()) {
        for (std::size_t i = 0; i < origin_.size(); ++i) origin_[i] = i;
        if (kind == damage::cut) resize(1 + rng.below(bytes_.size()));
        for (std::size_t times = 1 + rng.below(4); times > 0 && kind != damage::cut; --times) {
            std::size_t const at = rng.below(bytes_.size());
            std::size_t const size =
                std::min(1 + rng.below(std::max<std::size_t>(bytes_.size() / 8, 2)), bytes_.size() - at);
            if (kind == damage::change) change(at, rng);
            else if (kind == damage::remove && size < bytes_.size()) remove(at, size);
            else if (kind == damage::repeat)
                repeat(at, size, rng.chance(50) ? at + size : rng.below(bytes_.size()));
        }
    }

    [[nodiscard]] bytes const& file() const noexcept { return bytes_; }

    /// The ticks whose state can be played from intact bytes, one after the other, from a keyframe on.
    [[nodiscard]] std::vector<std::int32_t> intact(whole_demo const& of) const {
        struct piece {
            std::size_t begin, end; // of the original
        };
        std::vector<piece> pieces;
        for (std::size_t i = 0; i < origin_.size(); ++i) {
            if (origin_[i] == npos) continue;
            if (i > 0 && origin_[i - 1] != npos && origin_[i] == origin_[i - 1] + 1) ++pieces.back().end;
            else pieces.push_back({origin_[i], origin_[i] + 1});
        }
        std::vector<std::int32_t> ticks;
        for (auto const& p : of.places) {
            // The last one is recognised only by the end of the file.
            bool const open_end =
                p.end == of.file.size() && (origin_.empty() || origin_.back() + 1 != of.file.size());
            if (!open_end && std::any_of(pieces.begin(), pieces.end(),
                                         [&](piece const& x) { return x.begin <= p.keyframe && p.end <= x.end; }))
                ticks.push_back(p.tick);
        }
        return ticks;
    }

private:
    using offset = std::ptrdiff_t;
    void resize(std::size_t size) {
        bytes_.resize(size);
        origin_.resize(size);
    }
    void change(std::size_t at, random& rng) {
        bytes_[at] = static_cast<std::uint8_t>(bytes_[at] ^ (1 + rng.below(255)));
        origin_[at] = npos;
    }
    void remove(std::size_t at, std::size_t size) {
        bytes_.erase(bytes_.begin() + static_cast<offset>(at), bytes_.begin() + static_cast<offset>(at + size));
        origin_.erase(origin_.begin() + static_cast<offset>(at), origin_.begin() + static_cast<offset>(at + size));
    }
    void repeat(std::size_t at, std::size_t size, std::size_t to) {
        auto const copy = [&](auto& of) {
            std::vector const block(of.begin() + static_cast<offset>(at),
                                    of.begin() + static_cast<offset>(at + size));
            of.insert(of.begin() + static_cast<offset>(to), block.begin(), block.end());
        };
        copy(bytes_);
        copy(origin_);
    }

    bytes bytes_;
    std::vector<std::size_t> origin_;
};

/// The fate of the ticks of damaged demos.
struct repair_tally {
    std::size_t files = 0;
    std::size_t unreadable = 0;    ///< demos with no snapshot left
    std::size_t intact = 0;        ///< ticks
    std::size_t kept = 0;          ///< of these, with their state
    std::size_t wrong = 0;         ///< of these, with another one
    std::size_t touched_same = 0;  ///< ticks that damage touched, with the right state nevertheless
    std::size_t touched_other = 0; ///< with another one, or that the original does not have
    std::size_t refused = 0;       ///< results that a player does not play to their end

    void add(repair_tally const& more) {
        for (auto member : {&repair_tally::files, &repair_tally::unreadable, &repair_tally::intact,
                            &repair_tally::kept, &repair_tally::wrong, &repair_tally::touched_same,
                            &repair_tally::touched_other, &repair_tally::refused})
            this->*member += more.*member;
    }
};

inline bytes repaired(teewire::replay::demo_repair const& demo, std::uint8_t version) {
    scratch_file const to{"repaired.demo"};
    teewire::replay::output_file file{{to.name(), false}, teewire::replay::content::binary};
    static_cast<void>(demo.write(file, version));
    file.finish();
    return to.content();
}

inline repair_tally try_repair(whole_demo const& of, damage kind, random& rng) {
    damaged_demo const hurt{of, kind, rng};
    auto const intact = hurt.intact(of);
    repair_tally tally;
    tally.files = 1;
    tally.intact = intact.size();
    teewire::replay::demo_repair const demo{hurt.file()};
    if (!demo.has_snapshots()) {
        tally.unreadable = 1;
        return tally;
    }
    std::uint8_t version = demo.header().version;
    if (version > 5) version = demo.header().has_sha256 ? std::uint8_t{6} : std::uint8_t{5};
    auto const result = play_ticks(repaired(demo, version), *of.sizes);
    tally.refused = !result.complete;
    for (auto const& [tick, state] : result.states) {
        bool const untouched = std::binary_search(intact.begin(), intact.end(), tick);
        auto const found = of.original.states.find(tick);
        bool const same = found != of.original.states.end() && found->second == state;
        ++(untouched ? same ? tally.kept : tally.wrong : same ? tally.touched_same : tally.touched_other);
    }
    return tally;
}

inline void check_tally(repair_tally const& all, damage kind) {
    std::string const text =
        std::string{damage_names[static_cast<std::size_t>(kind)]} + ": " + std::to_string(all.files) + " files, " +
        std::to_string(all.unreadable) + " without snapshots; " + std::to_string(all.intact) + " ticks intact, " +
        std::to_string(all.kept) + " kept, " + std::to_string(all.wrong) + " wrong; of those touched " +
        std::to_string(all.touched_same) + " right, " + std::to_string(all.touched_other) + " not";
    MESSAGE(text);
    CHECK(all.refused == 0);
    CHECK(all.wrong == 0);
    CHECK(100 * all.kept >= 99 * all.intact);
    // Where bytes are changed or missing in deltas, which have no checksum, what is left may be a delta, too, and give
    // a state that never was.
    CHECK(all.touched_other <= (kind == damage::cut ? 0 : all.kept / 100));
}

} // namespace test
