// A demo being written: under a temporary name until it is complete.
#pragma once

#include "live/game_client.hpp"
#include "live/roster.hpp"

#include "interrupts.hpp"

#include <teewire/demo_writer.hpp>
#include <teewire/snapshot_builder.hpp>

#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace teewire::replay {

/// Writes what a client receives, as the clients of the games do. Throws io_error.
class demo_file {
public:
    /// `p`: 0.7 or DDNet, which stands for 0.6 too. `recorded`: when, by default now.
    demo_file(std::string path, protocol p, served_map const& map, std::span<std::uint8_t const> map_bytes,
              std::time_t recorded = std::time(nullptr));
    demo_file(demo_file const&) = delete;
    demo_file& operator=(demo_file const&) = delete;
    /// Without finish(), nothing stays.
    ~demo_file();

    /// False if it was refused, which happens to snapshots that no demo can hold; the file goes on without it.
    bool write_snapshot(std::int32_t tick, snapshot_view snapshot);
    /// A game message. Those that 0.7's clients do not record change what is added to its snapshots.
    void write_message(message const& m, message_type type, std::span<std::uint8_t const> bytes, bool vital);

    /// Gives the file its name. False if there was nothing to keep.
    bool finish();

    /// What the server has told; of 0.7 alone.
    [[nodiscard]] roster const& players() const noexcept { return roster_; }

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// Taken, of which those that are equal to the one before are not stored: readers find a tick alone.
    [[nodiscard]] std::uint64_t snapshots() const noexcept { return snapshots_; }
    [[nodiscard]] std::uint64_t unchanged() const noexcept { return writer_.unchanged(); }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::int32_t first_tick() const noexcept { return first_tick_; }
    [[nodiscard]] std::int32_t last_tick() const noexcept { return last_tick_; }

private:
    struct memory {
        demo_writer_memory writer;
        std::array<std::uint8_t, demo_writer::max_bytes> out;
        snapshot_builder_memory<> builder;
        std::array<std::int32_t, snapshot_limits{}.ints()> sorted;
    };

    void write(std::span<std::uint8_t const> bytes);
    void write_header();
    void write_join(message const& m, bool enters);
    snapshot_view add_roster(snapshot_view snapshot);
    [[noreturn]] void fail(std::string_view what) const;

    std::string path_;
    std::string temporary_;
    unfinished_name unfinished_;
    std::FILE* file_ = nullptr;
    protocol protocol_;
    demo_header header_;
    std::unique_ptr<memory> memory_;
    demo_writer writer_;
    snapshot_builder builder_;
    roster roster_; // 0.7
    std::uint64_t size_ = 0;
    std::uint64_t snapshots_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t refused_ = 0;
    std::int32_t first_tick_ = -1;
    std::int32_t last_tick_ = -1;
};

} // namespace teewire::replay
