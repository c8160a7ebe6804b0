// The program ffmpeg, and the files that it reads and writes.
#pragma once

#include "base/interrupts.hpp"
#include "base/os/process.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// A file that is needed for a while: the name is free, and the file goes with this.
class temporary_file {
public:
    explicit temporary_file(std::string path) : name_{std::move(path)}, unfinished_{name_} {}
    temporary_file(temporary_file const&) = delete;
    temporary_file& operator=(temporary_file const&) = delete;
    ~temporary_file();

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// For ffmpeg, which takes names with a colon for something else.
    [[nodiscard]] std::string argument() const { return "file:" + name_; }

private:
    std::string name_;
    unfinished_name unfinished_;
};

/// ffmpeg with these arguments. It says what fails on standard error, and nothing else. Throws output_error if it cannot be
/// started, and usage_error, which says how to install it, if it is not there. `for_what`: what needs it.
[[nodiscard]] std::unique_ptr<os::child_process> start_ffmpeg(std::vector<std::string> const& arguments,
                                                              std::string_view for_what);

} // namespace teewire::replay
