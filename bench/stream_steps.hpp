// Each step of the codec on every snapshot of a stream, with nothing of a framework for benchmarks.
#pragma once

#include "streams.hpp"

#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/live_snapshot.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

#include <functional>
#include <new>
#include <utility>

namespace teewire::bench {

// Memory that is never given back. Where it lies decides which hash function a table gets, and on which cache lines
// vectors lie.
class arena {
public:
    // At `address` if that is not null; throws std::runtime_error if it cannot be had there.
    explicit arena(void* address);
    arena(arena const&) = delete;
    arena& operator=(arena const&) = delete;
    ~arena();

    template <class T>
    T* make(std::size_t n = 1) {
        return new (take(n * sizeof(T))) T[n];
    }
    template <class T>
    std::span<T const> keep(std::span<T const> values) {
        T* const kept = make<T>(values.size());
        std::copy(values.begin(), values.end(), kept);
        return {kept, values.size()};
    }

private:
    void* take(std::size_t bytes);

    char* begin_;
    std::size_t used_ = 0;
};

class stream_steps {
public:
    // Keeps `memory`.
    stream_steps(stream const& of, arena& memory);
    stream_steps(stream_steps const&) = delete;
    stream_steps& operator=(stream_steps const&) = delete;

    struct step {
        char const* name;
        std::function<void()> run; // for all snapshots
    };
    [[nodiscard]] std::vector<step> const& all() const noexcept { return all_; }
    [[nodiscard]] std::size_t snapshots() const noexcept { return pairs_.size(); }

private:
    // A snapshot and what leads to it from the one before.
    struct pair {
        snapshot_view from, to;
        std::span<std::int32_t const> delta;
        std::span<std::uint8_t const> packed, coded;
    };
    template <class Call>
    void add(char const* name, Call call) {
        all_.push_back({name, [this, call] {
                            for (pair const& p : pairs_) call(p);
                        }});
    }
    [[nodiscard]] snapshot_view kept(std::vector<std::int32_t> const& snapshot);

    arena& memory_;
    size_table const& sizes_;
    delta_memory<>& scratch_;
    live_snapshot live_;
    snapshot_builder builder_;
    std::span<std::int32_t> ints_;
    std::span<std::uint8_t> bytes_;
    std::vector<pair> pairs_;
    std::vector<step> all_;
};

} // namespace teewire::bench
