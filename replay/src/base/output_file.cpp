#include "base/output_file.hpp"

#include "base/errors.hpp"
#include "base/os/console.hpp"
#include "base/os/files.hpp"
#include "base/output.hpp"
#include "base/part_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <unistd.h>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

constexpr unsigned most_tries = 1000;

bool same_file(os::file_facts const& a, os::file_facts const& b) {
    return a.volume == b.volume && a.number == b.number;
}

void refuse_inputs(std::string const& name, os::file_facts const& output, std::span<std::string const> inputs) {
    for (std::string const& input : inputs) {
        os::file_facts const read = input == "-" ? os::facts_of(STDIN_FILENO) : os::facts_of(input);
        if (read.type == os::file_type::regular && same_file(read, output))
            throw usage_error{name, "is an input and cannot also be the output"};
    }
}

} // namespace

std::string numbered(std::string const& name, unsigned number) {
    fs::path path{name};
    std::string const extension = path.extension().string();
    path.replace_extension();
    return fmt::format("{}_{}{}", path.string(), number, extension);
}

output_file::output_file(output_choice const& to, content what, std::span<std::string const> inputs)
    : name_{to.name}, force_{to.force} {
    if (name_ == "-") {
        name_ = "standard output";
        descriptor_ = STDOUT_FILENO;
        if (what == content::binary && os::is_terminal(STDOUT_FILENO))
            throw usage_error{"refusing to write binary data to a terminal; use -o FILE"};
        os::file_facts const facts = os::facts_of(STDOUT_FILENO);
        if (facts.type == os::file_type::regular) refuse_inputs(name_, facts, inputs);
        return;
    }
    os::file_facts const facts = os::facts_of(name_);
    bool const exists = facts.type != os::file_type::none;
    if (!exists && errno != ENOENT) fail(errno);
    if (!exists && os::name_taken(name_)) throw usage_error{name_, "is a dangling symlink and is not replaced"};
    if (facts.type == os::file_type::folder) fail(EISDIR);
    if (facts.type == os::file_type::other) {
        endless_wait const opening; // a pipe may never get a reader
        descriptor_ = os::open_to_write(name_).release();
        if (descriptor_ < 0) fail(errno);
        return;
    }
    if (exists) {
        refuse_inputs(name_, facts, inputs);
        if (!force_) throw usage_error{name_, "exists; --force replaces it"};
    }
    std::error_code error;
    fs::path const resolved = fs::canonical(name_, error); // a link stays one
    path_ = error ? name_ : resolved.string();
    open_temporary(path_, exists ? std::optional{facts.mode} : std::nullopt);
}

output_file::~output_file() {
    if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) os::remove_file(temporary_);
}

void output_file::open_temporary(std::string const& path, std::optional<unsigned> mode) {
    part_file made = make_part_file(path);
    if (!made.descriptor) fail(errno);
    descriptor_ = made.descriptor.release();
    temporary_ = std::move(made.name);
    unfinished_ = std::move(made.unfinished);
    if (mode && !os::set_mode(descriptor_, *mode)) fail(errno);
}

void output_file::fail(int error) const {
    if (error == EPIPE && descriptor_ == STDOUT_FILENO) throw closed_pipe{};
    throw output_error{name_, fmt::format("cannot be written: {}", std::strerror(error))};
}

void output_file::write(std::span<std::uint8_t const> bytes) {
    while (!bytes.empty()) {
        constexpr std::size_t most = 1 << 30; // that each system takes at once
        auto const written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most));
        if (written < 0 && errno != EINTR) fail(errno);
        if (written <= 0) continue;
        size_ += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

std::string output_file::name_beside() const {
    if (!temporary_.empty()) return temporary_ + "2";
    std::error_code failed;
    fs::path const folder = fs::temp_directory_path(failed);
    if (failed)
        throw output_error{name_, fmt::format("there is no folder for temporary files: {}", failed.message())};
    part_file const unique = make_part_file((folder / "x").string());
    if (!unique.descriptor) fail(errno);
    os::remove_file(unique.name);
    return unique.name + "2";
}

bool output_file::overwrite_begin(std::span<std::uint8_t const> bytes) {
    if (path_.empty()) return false;
    for (std::uint64_t at = 0; !bytes.empty();) {
        std::int64_t const written = os::write_at(descriptor_, at, bytes);
        if (written < 0 && errno != EINTR) fail(errno);
        if (written <= 0) continue;
        at += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

void output_file::close() {
    if (descriptor_ == STDOUT_FILENO) return;
    // Some file systems report only now that there is no room.
    bool const synced = path_.empty() || os::sync(descriptor_);
    int const error = errno;
    bool const closed = ::close(descriptor_) == 0;
    descriptor_ = -1;
    if (!synced) fail(error);
    if (!closed) fail(errno);
}

std::string output_file::finish() {
    close();
    if (path_.empty()) return name_;
    std::string named = name_;
    if (force_) {
        if (int const error = os::replace(temporary_, path_); error != 0) fail(error);
    } else {
        int error = os::rename_to_free(temporary_, path_);
        for (unsigned number = 2; error == EEXIST && number <= most_tries; ++number) {
            error = os::rename_to_free(temporary_, numbered(path_, number));
            named = numbered(name_, number);
        }
        if (error != 0) fail(error);
    }
    temporary_.clear();
    unfinished_.reset();
    return named;
}

void output_file::finish_as_named() {
    if (std::string const named = finish(); named != name_)
        throw output_error{name_, fmt::format("was created in the meantime; the output is in {}", named)};
}

void write_whole(output_file& file, std::span<std::uint8_t const> bytes) {
    constexpr std::size_t block_bytes = 1 << 20;
    for (; !bytes.empty() && !interrupted(); bytes = bytes.subspan(std::min(bytes.size(), block_bytes)))
        file.write(bytes.first(std::min(bytes.size(), block_bytes)));
    if (!interrupted()) file.finish_as_named();
}

} // namespace teewire::replay
