// Files that others fetch parts of, never out of the folder that was named.
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// A regular file, as large as it was when it was opened.
class stored_file {
public:
    /// `path`: below the folder, with slashes between its parts. Links below the folder, ".." and names that begin with
    /// a dot are refused. Null if there is no such file.
    [[nodiscard]] static std::shared_ptr<stored_file const> open(std::string const& folder, std::string_view path);
    /// Follows links. Null if there is no such file.
    [[nodiscard]] static std::shared_ptr<stored_file const> open(std::string const& file);
    /// A file without a name that has these bytes, and otherwise the facts of `packed`, which they were restored from.
    /// Null if they cannot be written.
    [[nodiscard]] static std::shared_ptr<stored_file const> restore(stored_file const& packed,
                                                                    std::span<std::uint8_t const> bytes);

    stored_file(stored_file const&) = delete;
    stored_file& operator=(stored_file const&) = delete;

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// Nanoseconds since 1970.
    [[nodiscard]] std::int64_t modified() const noexcept { return modified_; }
    /// Another one when the file has changed or is another one: "9d3f-17a2c6..."
    [[nodiscard]] std::string const& tag() const noexcept { return tag_; }
    /// The bytes read, fewer than there is room for only at the end or if the file was cut or cannot be read.
    [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::uint8_t> to) const noexcept;
    /// All of it from a byte on, as far as it can be read.
    [[nodiscard]] std::vector<std::uint8_t> read_all(std::uint64_t from = 0) const;

private:
    stored_file(unique_fd descriptor, std::uint64_t size, std::int64_t modified, std::string tag);
    static std::shared_ptr<stored_file const> take(unique_fd descriptor);

    unique_fd descriptor_;
    std::uint64_t size_;
    std::int64_t modified_;
    std::string tag_;
};

} // namespace teewire::replay
