#include "base/stored_file.hpp"

#include "base/os/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace teewire::replay {

stored_file::stored_file(unique_fd descriptor, std::uint64_t size, std::int64_t modified, std::string tag)
    : descriptor_{std::move(descriptor)}, size_{size}, modified_{modified}, tag_{std::move(tag)} {}

std::shared_ptr<stored_file const> stored_file::take(unique_fd descriptor) {
    if (!descriptor) return nullptr;
    os::file_facts const facts = os::facts_of(descriptor.get());
    if (facts.type != os::file_type::regular) return nullptr;
    return std::shared_ptr<stored_file const>{
        new stored_file{std::move(descriptor), facts.size, facts.modified,
                        fmt::format("{:x}-{:x}-{:x}", facts.number, facts.modified, facts.size)}};
}

std::shared_ptr<stored_file const> stored_file::open(std::string const& file) {
    return take(os::open_at_once(file));
}

std::shared_ptr<stored_file const> stored_file::open(std::string const& folder, std::string_view path) {
    return take(os::open_below(folder, path));
}

std::shared_ptr<stored_file const> stored_file::restore(stored_file const& packed,
                                                        std::span<std::uint8_t const> bytes) {
    unique_fd file = os::create_temporary();
    for (std::size_t done = 0; file && done < bytes.size();) {
        std::int64_t const n = os::write_at(file.get(), done, bytes.subspan(done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return nullptr;
        done += static_cast<std::size_t>(n);
    }
    if (!file) return nullptr;
    return std::shared_ptr<stored_file const>{
        new stored_file{std::move(file), bytes.size(), packed.modified(), packed.tag()}};
}

std::vector<std::uint8_t> stored_file::read_all(std::uint64_t from) const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size_ - std::min(from, size_)));
    bytes.resize(read(from, bytes));
    return bytes;
}

std::size_t stored_file::read(std::uint64_t offset, std::span<std::uint8_t> to) const noexcept {
    return os::read_fully(descriptor_.get(), offset, to);
}

} // namespace teewire::replay
