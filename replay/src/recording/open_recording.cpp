#include "recording/open_recording.hpp"

#include "base/file_kind.hpp"
#include "base/interrupts.hpp"
#include "base/text.hpp"

#include <teewire/map/datafile.hpp>
#include <teewire/sha256.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace teewire::replay {
namespace {

constexpr std::uint64_t watched_bytes = 64 << 10; // between two looks at how far it is

} // namespace

open_recording::open_recording(std::string const& name, open_options options)
    : name_{name}, options_{std::move(options)} {
    if (options_.only_captures || identify(first_bytes(name)) == file_kind::capture) {
        capture_.emplace_back(name, passes::two);
        for (std::string const& file : options_.further_files) capture_.emplace_back(file, passes::two);
        read_capture();
        return;
    }
    if (options_.part) bytes_.emplace(name, *options_.part);
    else bytes_.emplace(name);
    name_ = bytes_->name();
    switch (identify(bytes_->bytes())) {
    case file_kind::capture:
        capture_.emplace_back(*bytes_);
        read_capture();
        return;
    case file_kind::demo: break;
    default: refuse_kind(name_, bytes_->bytes(), "a demo or a packet capture");
    }
    if (!options_.connection.empty()) throw usage_error{name_, "--connection is for packet captures"};
    demo_.emplace(*bytes_, options_.sizes);
}

void open_recording::read_capture() {
    name_ = capture_.front().name();
    first_pass_.emplace(capture_, maps_);
    first_pass_->read_all([&](std::uint64_t bytes) {
        first_half_ = bytes / 2;
        if (options_.progress) options_.progress(first_half_);
    });
    if (!interrupted()) choose(options_.connection);
}

void open_recording::choose(std::string const& connection) {
    auto const all = first_pass_->connections();
    chosen_ = all[choose_connection(all, connection, name_)];
    stays_ = chosen_->stays;
    chosen_from_.clear();
    if (connection.empty() && all.size() > 1)
        chosen_from_ =
            fmt::format("{}: of {} connections, using that of {}, which has the most snapshots; --connection takes "
                        "another one",
                        name_, all.size(), address_text(chosen_->client()));
}

void open_recording::use_map(std::string const& path, std::span<std::uint8_t const> map) {
    std::uint32_t const crc = map_crc32(map);
    std::string wanted;
    bool used = false;
    for (map_stay& stay : stays_) {
        if (stay.map.name.empty()) {
            stay.map.name = std::filesystem::path{path}.stem().string();
            stay.map.crc = crc;
            stay.map.size = map.size();
        }
        used = used || is_map(stay.map, map);
        wanted += (wanted.empty() ? "" : ", ") + describe(stay.map);
    }
    if (!used) throw usage_error{path, fmt::format("has crc {:08x}, but the connection needs {}", crc, wanted)};
    maps_.add(crc, {map.begin(), map.end()});
}

std::array<std::uint8_t, 32> open_recording::sha256() const {
    if (bytes_) return teewire::sha256(bytes_->bytes());
    std::array<std::uint8_t, 1 << 16> piece;
    sha256_hash hash;
    for (capture_source const& each : capture_) {
        open_capture const from = each.open();
        for (std::size_t size = 1; size != 0 && !interrupted();) {
            size = from.file->read(piece);
            hash.add(std::span{piece}.first(size));
        }
        if (from.file->error() != 0) throw io_error{each.name(), "cannot be read"};
    }
    return hash.finish();
}

std::unique_ptr<event_source> open_recording::events(std::optional<std::int32_t> from) {
    if (demo_) return std::make_unique<demo_stream>(*demo_, from);
    if (chosen_ == nullptr) return nullptr;
    if (options_.remark && !chosen_from_.empty()) options_.remark(chosen_from_);
    return std::make_unique<capture_stream>(capture_, chosen_->first_frame, stays_, maps_);
}

void open_recording::show_progress(event_source const& stream) const {
    std::uint64_t const done = stream.done_bytes();
    if (options_.progress) options_.progress(demo_ ? done : first_half_ + done / 2);
}

std::string open_recording::read_all(event_sink& to) {
    auto const stream = events();
    if (!stream) return {};
    std::uint64_t next = watched_bytes;
    for (stream_event event; stream->next(event);) {
        to.put(event);
        if (stream->done_bytes() < next) continue;
        next = stream->done_bytes() + watched_bytes;
        show_progress(*stream);
    }
    return stream->error();
}

std::string open_recording::read_segments(workers& team,
                                          std::function<std::unique_ptr<segment_sink>()> const& make_sink,
                                          std::function<tick_range(recording_info const&)> const& wanted,
                                          std::atomic<std::uint64_t>& done_bytes) {
    if (demo_) {
        // Delivered events cannot be taken back, so the sizes must be right before.
        if (demo_->sizes_assumed()) static_cast<void>(verify_size_table(*demo_, decode(*demo_, team, {})));
        recording_info const info = recording_info_of(*demo_);
        stream_event begin;
        begin.kind = event_kind::begin;
        begin.begun = &info;
        decode_options how{[&] {
                               auto sink = make_sink();
                               sink->put(begin);
                               return sink;
                           },
                           {},
                           &done_bytes};
        // Without a keyframe before it, everything is decoded and what is too early left out.
        tick_range const range = wanted(info);
        auto const early = [&](demo_keyframe const& k) { return k.tick < range.first; };
        if (std::any_of(demo_->keyframes().begin(), demo_->keyframes().end(), early)) how.after = range.first - 1;
        how.until = range.last;
        return demo_->end_text(decode(*demo_, team, how).error);
    }
    auto const sink = make_sink();
    auto const stream = events();
    if (!stream) return {};
    for (stream_event event; stream->next(event);) {
        sink->put(event);
        if (sink->size() < watched_bytes) continue;
        sink->deliver();
        show_progress(*stream);
    }
    sink->deliver();
    return stream->error();
}

} // namespace teewire::replay
