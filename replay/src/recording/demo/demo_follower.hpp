// A demo that is still being written, as a stream.
#pragma once

#include "base/unique_fd.hpp"
#include "recording/demo/demo_document.hpp"
#include "recording/stream/event.hpp"

#include <functional>
#include <optional>
#include <string>

namespace teewire::replay {

/// Memory for bytes that arrive one after another. Bytes that were read can be freed without moving the rest.
class growing_bytes {
public:
    /// Address space for so many. Throws io_error if there is none.
    explicit growing_bytes(std::size_t most);
    growing_bytes(growing_bytes const&) = delete;
    growing_bytes& operator=(growing_bytes const&) = delete;
    ~growing_bytes();

    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return {begin_, size_}; }
    /// Free memory after them, at most so many bytes; none if there can be no more. Throws io_error.
    [[nodiscard]] std::span<std::uint8_t> room(std::size_t bytes);
    void add(std::size_t bytes) noexcept { size_ += bytes; }
    /// The bytes [first, last) are not needed any more: they become zeros.
    void forget(std::size_t first, std::size_t last) noexcept;

private:
    std::uint8_t* begin_ = nullptr;
    std::size_t most_;
    std::size_t size_ = 0;
};

/// Waits at the end of a file for more of it: a pipe until it is closed, a file until the program is interrupted. Bytes
/// that were read are not kept. Item sizes are those that the header suggests. A recording begins with its first
/// snapshot.
class demo_follower final : public event_source {
public:
    /// "-" is standard input. `before_waiting` is called when everything present has been read. Throws io_error; next()
    /// does so too, and bad_input if it is not a demo.
    demo_follower(std::string name, std::function<void()> before_waiting);

    bool next(stream_event& out) override;
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] std::string error() const override;
    [[nodiscard]] std::uint64_t done_bytes() const override { return player_ ? player_->position() : 0; }

private:
    [[nodiscard]] bool read_more();
    [[nodiscard]] bool open();
    [[nodiscard]] bool play(stream_event& out);

    std::string name_;
    std::function<void()> before_waiting_;
    unique_fd file_;
    bool is_stream_ = false;
    bool ended_ = false; // of a stream
    growing_bytes bytes_;
    std::size_t kept_ = 0;      // header and map
    std::size_t forgotten_ = 0; // up to there
    std::unique_ptr<demo_player_memory> memory_;
    std::optional<demo_player> player_;
    note_log notes_;
    recording_info begun_;
    bool has_begun_ = false;
    std::optional<stream_event> first_; // the snapshot with which it began
};

} // namespace teewire::replay
