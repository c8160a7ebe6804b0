#include "recording/open_recording.hpp"

#include "base/file_kind.hpp"
#include "base/output.hpp"

#include <teewire/sha256.hpp>

#include <array>
#include <cassert>
#include <cstdio>

namespace teewire::replay {
open_recording::open_recording(std::string const& name, std::string const& connection,
                               progress_function const& done, size_detection when)
    : name_{name}, done_{done} {
    if (identify(first_bytes(name)) == file_kind::capture) {
        capture_.emplace(name, true);
        read_capture(connection);
        return;
    }
    bytes_.emplace(name);
    name_ = bytes_->name();
    switch (identify(bytes_->bytes())) {
    case file_kind::capture:
        capture_.emplace(*bytes_);
        read_capture(connection);
        return;
    case file_kind::demo: break;
    default: refuse_kind(name_, bytes_->bytes(), "a demo or a packet capture");
    }
    if (!connection.empty()) throw usage_error{fmt::format("{}: --connection is for packet captures", name_)};
    demo_.emplace(*bytes_, when);
}

void open_recording::read_capture(std::string const& connection) {
    first_pass_.emplace(*capture_, maps_);
    first_pass_->read_all([&](std::uint64_t bytes) {
        first_half_ = bytes / 2;
        if (done_) done_(first_half_);
    });
    if (!interrupted()) choose(connection);
}

void open_recording::choose(std::string const& connection) {
    auto const all = first_pass_->connections();
    chosen_ = all[choose_connection(all, connection, name_)];
    chosen_from_.clear();
    if (connection.empty() && all.size() > 1)
        chosen_from_ =
            fmt::format("{}: of {} connections, that of {} is taken, which has most snapshots; --connection takes "
                        "another one",
                        name_, all.size(), address_text(chosen_->client()));
}

std::array<std::uint8_t, 32> open_recording::sha256() const {
    if (bytes_) return teewire::sha256(bytes_->bytes());
    open_capture const from = capture_->open();
    std::array<std::uint8_t, 1 << 16> piece;
    sha256_hash hash;
    for (std::size_t size = 1; size != 0 && !interrupted();) {
        size = std::fread(piece.data(), 1, piece.size(), from.file.get());
        hash.add(std::span{piece}.first(size));
    }
    if (std::ferror(from.file.get()) != 0) throw io_error{fmt::format("{}: cannot be read", name_)};
    return hash.finish();
}

std::unique_ptr<event_source> open_recording::events(std::optional<std::int32_t> from) {
    if (demo_) return std::make_unique<demo_stream>(*demo_, from);
    if (chosen_ == nullptr) return nullptr;
    if (!chosen_from_.empty()) complain(chosen_from_);
    return std::make_unique<capture_stream>(*capture_, chosen_->first_frame, chosen_->stays, maps_);
}

std::string open_recording::read_all(event_sink& to) {
    constexpr std::uint64_t piece_bytes = 64 << 10;
    assert(done_);
    auto const stream = events();
    if (!stream) return {};
    std::uint64_t next = piece_bytes;
    for (stream_event event; stream->next(event);) {
        to.put(event);
        if (stream->done_bytes() < next) continue;
        next = stream->done_bytes() + piece_bytes;
        done_(demo_ ? stream->done_bytes() : first_half_ + stream->done_bytes() / 2);
    }
    return stream->error();
}

int open_recording::exit_code() const {
    return first_pass_ && chosen_ != nullptr ? exit_code_of(*first_pass_, {&chosen_, 1}, name_) : exit_ok;
}

} // namespace teewire::replay
