#include "recording/demo/demo_follower.hpp"

#include "base/file_kind.hpp"
#include "base/interrupts.hpp"
#include "base/os/files.hpp"
#include "base/os/process.hpp"
#include "base/os/signals.hpp"
#include "recording/demo/demo_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace teewire::replay {
namespace {

constexpr int look_interval = 10;                          // milliseconds; snapshots are 20 apart and more
constexpr std::size_t forget_bytes = std::size_t{1} << 20; // at once
constexpr std::size_t page_bytes = std::size_t{64} << 10;  // of any machine

} // namespace

growing_bytes::growing_bytes(std::size_t most) : most_{most} {
    begin_ = os::reserve_memory(most);
    if (begin_ == nullptr) throw io_error{fmt::format("no address space for {} MiB", most >> 20)};
}

std::span<std::uint8_t> growing_bytes::room(std::size_t bytes) {
    bytes = std::min(bytes, most_ - size_);
    if (!os::commit_memory(begin_ + size_, bytes)) throw io_error{"not enough memory"};
    return {begin_ + size_, bytes};
}

growing_bytes::~growing_bytes() { os::release_memory(begin_, most_); }

void growing_bytes::forget(std::size_t first, std::size_t last) noexcept {
    first = (first + page_bytes - 1) / page_bytes * page_bytes;
    last = last / page_bytes * page_bytes;
    if (first < last) os::clear_memory(begin_ + first, last - first);
}

demo_follower::demo_follower(std::string name, std::function<void()> before_waiting)
    : name_{std::move(name)}, before_waiting_{std::move(before_waiting)}, bytes_{max_stream_bytes},
      memory_{std::make_unique<demo_player_memory>()} {
    if (name_ == "-") {
        name_ = "standard input";
        file_ = unique_fd{::dup(STDIN_FILENO)};
    } else {
        endless_wait const opening; // a pipe may never get a writer
        file_ = os::open_to_read(name_);
    }
    os::file_type const type = file_ ? os::facts_of(file_.get()).type : os::file_type::none;
    if (type == os::file_type::none) throw io_error{name_, errno == ENOENT ? "no such file" : std::strerror(errno)};
    if (type == os::file_type::folder) throw io_error{name_, "is a directory"};
    is_stream_ = type == os::file_type::other;
}

// Waits for it. False at the end of a stream and when the program is interrupted.
bool demo_follower::read_more() {
    constexpr std::size_t block = std::size_t{256} << 10;
    for (bool told = false; !ended_ && !interrupted();) {
        auto const room = bytes_.room(block);
        if (room.empty()) throw io_error{name_, fmt::format("more than {} GiB", max_stream_bytes >> 30)};
        if (!is_stream_ || os::wait_to_read(file_.get(), 0)) {
            // Without this, Windows' C library remembers where the file ended once.
            if (!is_stream_) ::lseek(file_.get(), 0, SEEK_CUR);
            auto const n = ::read(file_.get(), room.data(), room.size());
            if (n > 0) {
                bytes_.add(static_cast<std::size_t>(n));
                return true;
            }
            if (n < 0 && errno != EINTR && errno != EAGAIN)
                throw io_error{name_, fmt::format("cannot be read: {}", std::strerror(errno))};
            ended_ = n == 0 && is_stream_;
            if (ended_) break;
        }
        if (!told) before_waiting_();
        told = true;
        if (is_stream_) static_cast<void>(os::wait_to_read(file_.get(), -1));
        else os::wait_for_signal(look_interval);
    }
    return false;
}

// Header and map. False if they are not there at the end.
bool demo_follower::open() {
    for (;;) {
        auto const reader = demo_reader::open(bytes_.bytes(), &notes_);
        if (reader) {
            kept_ = forgotten_ = reader->position();
            size_table const& sizes = reader->header().says_07() ? sizes_07 : sizes_06;
            player_.emplace(*reader, *memory_, demo_player::options{&sizes, decoding::lenient, &notes_});
            begun_.version = reader->header().says_07() ? protocol::teeworlds_07 : protocol::teeworlds_06;
            begun_.map = map_of(reader->header());
            begun_.one_receiver = text(reader->header().type) == "client";
            return true;
        }
        notes_ = {};
        bool const more_helps =
            reader.error().code == errc::truncated &&
            (bytes_.bytes().size() < file_kind_bytes || identify(bytes_.bytes()) == file_kind::demo);
        if (more_helps && read_more()) continue;
        if (interrupted()) return false;
        if (identify(bytes_.bytes()) != file_kind::demo) refuse_kind(name_, bytes_.bytes(), "a demo");
        throw bad_input{name_, fmt::format("byte {}: {}", reader.error().position, describe(reader.error().code))};
    }
}

bool demo_follower::play(stream_event& out) {
    for (;;) {
        player_->extend(bytes_.bytes());
        if (demo_event found; player_->next(found)) {
            out = to_stream_event(found, player_->state());
            return true;
        }
        if (player_->position() - forgotten_ >= forget_bytes) {
            bytes_.forget(std::max(kept_, forgotten_ - page_bytes), player_->position());
            forgotten_ = player_->position();
        }
        errc const why = player_->error().what.code;
        bool const more_helps =
            why == errc::ok || (why == errc::truncated && player_->error().stage == demo_stage::chunk);
        if (!more_helps || !read_more()) return false;
    }
}

bool demo_follower::next(stream_event& out) {
    if (!player_ && !open()) return false;
    if (first_) {
        out = *first_;
        first_.reset();
        return true;
    }
    do {
        if (!play(out)) return false;
    } while (!has_begun_ && out.kind != event_kind::snapshot);
    if (has_begun_) return true;
    // DDNet's servers describe extended types in every snapshot.
    for (item const i : out.state)
        if (begun_.version == protocol::teeworlds_06 && i.type() == type_ex && i.id() >= first_alias)
            begun_.version = protocol::ddnet;
    has_begun_ = true;
    begun_.map_bytes = bytes_.bytes().first(kept_).last(begun_.map.size);
    begun_.first_tick = out.tick;
    first_ = out;
    out = {};
    out.kind = event_kind::begin;
    out.begun = &begun_;
    return true;
}

std::string demo_follower::error() const {
    if (!player_) return {};
    // A chunk that is still being written is not damage.
    demo_failure const& failed = player_->error();
    bool const unfinished = failed.what.code == errc::truncated && failed.stage == demo_stage::chunk && !ended_;
    if (failed.what.code != errc::ok && !unfinished) return explain(failed);
    if (signs_of_wrong_sizes(notes_) != 0)
        return "the item sizes are not those that the header suggests; it can be read without --follow";
    return {};
}

} // namespace teewire::replay
