// Files, as each system has them. Names are UTF-8; where a function fails, errno says why.
#pragma once

#include "base/unique_fd.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace teewire::replay::os {

enum class file_type : std::uint8_t { none, regular, folder, other };

struct file_facts {
    file_type type = file_type::none; ///< none: there is no such file, or it cannot be looked at
    std::uint64_t size = 0;
    std::int64_t modified = 0; ///< nanoseconds since 1970
    std::uint64_t volume = 0;  ///< with `number`, the same for two names of one file
    std::uint64_t number = 0;
    unsigned mode = 0; ///< permissions; always 0 on Windows
};

/// Follows links.
[[nodiscard]] file_facts facts_of(std::string const& name) noexcept;
[[nodiscard]] file_facts facts_of(int descriptor) noexcept;
/// Whether anything has that name, including a dangling link.
[[nodiscard]] bool name_taken(std::string const& name) noexcept;

/// Descriptors are binary and are not inherited. Others may rename and delete the file meanwhile. Folders can be opened to
/// read, for facts_of().
[[nodiscard]] unique_fd open_to_read(std::string const& name) noexcept;
/// The same, without waiting for the writer of a pipe.
[[nodiscard]] unique_fd open_at_once(std::string const& name) noexcept;
/// A file below a folder, whose parts are separated by slashes. Links below the folder, "..", and names that begin with a
/// dot are refused.
[[nodiscard]] unique_fd open_below(std::string const& folder, std::string_view path) noexcept;
/// A device or pipe that exists.
[[nodiscard]] unique_fd open_to_write(std::string const& name) noexcept;
/// A new file, for reading and writing, that others see is in use.
[[nodiscard]] unique_fd create(std::string const& name) noexcept;
/// A new file without a name.
[[nodiscard]] unique_fd create_temporary() noexcept;
/// Whether a program has such a file from create() open, or that cannot be known.
[[nodiscard]] bool is_in_use(std::string const& name) noexcept;

/// Bytes read or written; negative: failed. They do not use the position of the descriptor.
[[nodiscard]] std::int64_t read_at(int descriptor, std::uint64_t offset, std::span<std::uint8_t> to) noexcept;
[[nodiscard]] std::int64_t write_at(int descriptor, std::uint64_t offset,
                                    std::span<std::uint8_t const> from) noexcept;
/// Reads on until all of it is read, the file ends, or reading fails. Returns how many bytes were read.
[[nodiscard]] inline std::size_t read_fully(int descriptor, std::uint64_t offset,
                                            std::span<std::uint8_t> to) noexcept {
    std::size_t done = 0;
    while (done < to.size()) {
        std::int64_t const n = read_at(descriptor, offset + done, to.subspan(done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}
/// Has the system write everything to the disk.
[[nodiscard]] bool sync(int descriptor) noexcept;
[[nodiscard]] bool set_mode(int descriptor, unsigned mode) noexcept;

/// Renames without replacing anything. 0, or the error: EEXIST if something has the name.
[[nodiscard]] int rename_to_free(std::string const& from, std::string const& to) noexcept;
/// Renames; a file that has the name is replaced, and is never missing. 0, or the error.
[[nodiscard]] int replace(std::string const& from, std::string const& to) noexcept;
void remove_file(std::string const& name) noexcept;

/// A name for a file of ours, from a text that others chose: what the system does not allow in it becomes "-", or gets
/// a "_".
[[nodiscard]] std::string allowed_name(std::string name);

} // namespace teewire::replay::os
