// Demos being written, and where they go.
#pragma once

#include "demo/demo_output.hpp"
#include "game/roster.hpp"
#include "game/served_map.hpp"
#include "io/output_file.hpp"
#include "stream/event.hpp"

#include <teewire/snapshot_builder.hpp>

#include <ctime>
#include <memory>
#include <optional>
#include <string>

namespace teewire::replay {

/// Where the demos of one recording go: the first has the name that was chosen, further ones have NAME_2.demo,
/// NAME_3.demo, ..., of which those that are there already are left out unless they may be replaced.
class demo_target {
public:
    /// Throws as output_file does, so that it is known from the beginning whether the first one can be written.
    explicit demo_target(output_choice to, std::span<std::string const> inputs = {});

    /// For the next demo. Throws as output_file does. A stream is given once.
    [[nodiscard]] std::unique_ptr<output_file> next();
    /// The last one was not kept: its name is for the next.
    void reuse() noexcept { --number_; }
    [[nodiscard]] bool is_stream() const noexcept { return is_stream_; }

private:
    output_choice to_;
    std::unique_ptr<output_file> first_;
    bool is_stream_;
    unsigned number_ = 0; // of the last one
};

/// Writes what a client receives, as the clients of the games do. Throws output_error.
class demo_file {
public:
    /// `p`: 0.7 or DDNet, which stands for 0.6 too. `recorded`: when, by default now.
    demo_file(std::unique_ptr<output_file> file, protocol p, served_map const& map,
              std::span<std::uint8_t const> map_bytes, std::time_t recorded = std::time(nullptr));
    /// The same, and what the header says of length and markers, which a stream keeps. What `what` borrows is not kept.
    demo_file(std::unique_ptr<output_file> file, recording const& what);
    demo_file(demo_file const&) = delete;
    demo_file& operator=(demo_file const&) = delete;

    /// False if it was refused, which happens to snapshots that no demo can hold; the file goes on without it.
    bool write_snapshot(std::int32_t tick, snapshot_view snapshot);
    /// A game message. Those that 0.7's clients do not record change what is added to its snapshots.
    void write_message(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital);

    /// Gives the file its name. False if there was nothing to keep; without finish(), nothing stays either. Where the
    /// output is a stream, its header does not know how long the demo became.
    bool finish();

    /// What the server has announced; of 0.7 alone.
    [[nodiscard]] roster const& players() const noexcept { return roster_; }

    /// As it was chosen, and after finish() as it is.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return out_->size(); }
    /// Taken, of which those that are equal to the one before are not stored: readers find a tick alone.
    [[nodiscard]] std::uint64_t snapshots() const noexcept { return out_->snapshots(); }
    [[nodiscard]] std::uint64_t unchanged() const noexcept { return out_->unchanged(); }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::int32_t first_tick() const noexcept { return first_tick_; }
    [[nodiscard]] std::int32_t last_tick() const noexcept { return last_tick_; }

private:
    struct memory {
        snapshot_builder_memory<> builder;
        std::array<std::int32_t, snapshot_limits{}.ints()> sorted;
    };

    void write_join(message const& m, bool enters);
    snapshot_view add_roster(snapshot_view snapshot);

    std::unique_ptr<output_file> file_;
    std::string path_;
    protocol protocol_;
    std::unique_ptr<memory> memory_;
    std::optional<demo_output> out_; // from the beginning
    snapshot_builder builder_;
    roster roster_; // 0.7
    std::vector<std::int32_t> markers_;
    std::uint64_t messages_ = 0;
    std::uint64_t refused_ = 0;
    std::int32_t first_tick_ = -1;
    std::int32_t last_tick_ = -1;
};

} // namespace teewire::replay
