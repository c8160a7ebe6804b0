#include "base/input.hpp"

#include "base/archive_file.hpp"
#include "base/compression.hpp"
#include "base/interrupts.hpp"
#include "base/os/files.hpp"

#include <teewire/archive.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <unistd.h>

namespace teewire::replay {
namespace {

std::uint64_t most_decompressed_bytes(std::uint64_t packed) noexcept {
    return std::min(max_decompressed_bytes, std::max(always_decompressed_bytes, max_compression_ratio * packed));
}

} // namespace

input::input(std::string name) : name_{std::move(name)} { read(nullptr); }

input::input(std::string name, part_choice const& wanted) : name_{std::move(name)} { read(&wanted); }

void input::read(part_choice const* wanted) {
    endless_wait const reading; // a pipe may never get a writer
    if (name_ == "-") {
        name_ = "standard input";
        static std::mutex first_come; // who comes later finds the end
        std::lock_guard const lock{first_come};
        read_all(STDIN_FILENO);
        decompress();
        return;
    }
    unique_fd const file = os::open_to_read(name_);
    if (!file)
        throw io_error{name_, errno == ENOENT ? "no such file"
                                              : fmt::format("cannot be opened: {}", std::strerror(errno))};
    if (wanted != nullptr && read_part(file.get(), *wanted)) return;
    read_all(file.get());
    decompress();
}

void input::require_all() const {
    if (!damage_.empty()) throw bad_input{name_, damage_};
}

void input::read_all(int file) {
    os::file_facts const facts = os::facts_of(file);
    if (facts.type == os::file_type::none) throw io_error{name_, std::strerror(errno)};
    if (facts.type == os::file_type::folder) throw io_error{name_, "is a directory"};
    bool const regular = facts.type == os::file_type::regular;
    std::uint64_t most = max_stream_bytes;
    if (regular) { // bytes that are still being appended are left out
        auto const begin = static_cast<std::uint64_t>(std::max<off_t>(::lseek(file, 0, SEEK_CUR), 0));
        most = facts.size - std::min(facts.size, begin);
        if (most == 0) return;
    }
    constexpr std::uint64_t first_room = 1 << 16;
    std::uint64_t room = regular ? most : first_room;
    for (make_room(room); size_ < most;) {
        if (size_ == room) make_room(room = std::min(2 * room, most));
        constexpr std::uint64_t block = 1 << 20; // signals come in between
        ssize_t const n =
            ::read(file, bytes_.get() + size_, static_cast<std::size_t>(std::min(room - size_, block)));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw io_error{name_, fmt::format("cannot be read: {}", std::strerror(errno))};
        if (n == 0) break;
        size_ += static_cast<std::size_t>(n);
    }
    if (regular && size_ < most)
        throw io_error{
            name_, fmt::format("byte {}: the file was truncated while it was read, it had {} bytes", size_, most)};
    if (std::uint8_t more = 0; !regular && size_ == most && ::read(file, &more, 1) > 0)
        throw io_error{name_, fmt::format("more than {} GiB, the limit for input that is not a regular file",
                                          max_stream_bytes >> 30)};
}

// False, and nothing has changed, if the file is not an archive that can be read in parts, or any of it is damaged.
bool input::read_part(int file, part_choice const& wanted) {
    os::file_facts const facts = os::facts_of(file);
    if (facts.type != os::file_type::regular || facts.size < archive_header_bytes + archive_footer_bytes)
        return false;
    auto const read = [&](std::uint64_t offset, std::span<std::uint8_t> to) {
        return os::read_fully(file, offset, to) == to.size();
    };
    std::vector<std::uint8_t> begin(archive_header_bytes);
    if (!read(0, begin) || !is_archive(begin) || begin.back() != archive_version) return false;
    auto part = choose_part(list_blocks(read_archive_index(facts.size, read), facts.size), wanted);
    if (!part) return false;

    std::uint64_t const size = part->blocks.back().begin + part->blocks.back().size;
    if (size > most_decompressed_bytes(facts.size)) return false;
    std::vector<std::uint8_t> packed;
    archive_contents contents;
    for (archive_block b : part->blocks) {
        std::size_t const at = packed.size();
        packed.resize(at + b.packed_size);
        if (!read(b.position, std::span{packed}.subspan(at))) return false;
        b.position = at;
        contents.blocks.push_back(b);
    }
    // A map that is left out stays zero, and takes no memory.
    bytes_.reset(static_cast<std::uint8_t*>(std::calloc(static_cast<std::size_t>(size), 1)));
    if (bytes_ == nullptr) return false;
    static_cast<void>(unpack_archive(name_, packed, contents, {bytes_.get(), static_cast<std::size_t>(size)}, 0));
    if (!contents.damage.empty()) { // which is described with the whole file
        bytes_.reset();
        return false;
    }
    size_ = static_cast<std::size_t>(size);
    was_packed_ = true;
    part_ = std::move(part);
    return true;
}

void input::make_room(std::uint64_t bytes) {
    void* const moved = bytes <= SIZE_MAX ? std::realloc(bytes_.get(), static_cast<std::size_t>(bytes)) : nullptr;
    if (moved == nullptr) throw io_error{name_, fmt::format("not enough memory for more than {} bytes", size_)};
    static_cast<void>(bytes_.release());
    bytes_.reset(static_cast<std::uint8_t*>(moved));
}

void input::decompress() {
    if (is_archive(bytes())) return unpack();
    compression const kind = find_compression(bytes());
    if (kind == compression::none) return;
    was_packed_ = true;
    auto const packed_bytes = std::move(bytes_);
    std::span<std::uint8_t const> const packed{packed_bytes.get(), std::exchange(size_, 0)};
    std::uint64_t const most = most_decompressed_bytes(packed.size());
    try {
        decompressor reader{kind};
        std::size_t taken = 0;
        std::uint64_t room = 0;
        for (;;) {
            if (size_ == room) {
                // One byte more than may be there shows whether that is the end.
                room =
                    room == most ? most + 1 : std::min(most, std::max<std::uint64_t>(2 * room, 4 * packed.size()));
                make_room(room);
            }
            auto const step = reader.run(packed.subspan(taken),
                                         std::span{bytes_.get(), static_cast<std::size_t>(room)}.subspan(size_));
            taken += step.taken;
            size_ += step.given;
            if (size_ > most)
                throw bad_input{name_, fmt::format("byte {} of the {} data: it decompresses to more than {} bytes",
                                                   taken, teewire::replay::name(kind), most)};
            if (size_ < room) break;
        }
        damage_ = reader.damage();
    } catch (std::bad_alloc const&) {
        throw io_error{name_, "not enough memory to decompress it"};
    }
    if (size_ == 0) require_all();
    make_room(std::max<std::size_t>(size_, 1));
}

void input::unpack() {
    was_packed_ = true;
    auto const packed_bytes = std::move(bytes_);
    std::span<std::uint8_t const> const packed{packed_bytes.get(), std::exchange(size_, 0)};
    std::uint64_t const most = most_decompressed_bytes(packed.size());
    archive_contents contents = list_archive(name_, packed);
    std::uint64_t const size = contents.size();
    if (size > most)
        throw bad_input{name_, fmt::format("the archive decompresses to {} bytes, more than {}", size, most)};
    make_room(std::max<std::uint64_t>(size, 1));
    try {
        std::span const out{bytes_.get(), static_cast<std::size_t>(size)};
        size_ = static_cast<std::size_t>(unpack_archive(name_, packed, contents, out, 0));
        damage_ = contents.damage;
    } catch (std::bad_alloc const&) {
        throw io_error{name_, "not enough memory to decompress it"};
    }
    if (size_ == 0) require_all();
}

} // namespace teewire::replay
