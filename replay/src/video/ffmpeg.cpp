#include "video/ffmpeg.hpp"

#include "base/errors.hpp"
#include "base/os/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace teewire::replay {

temporary_file::~temporary_file() { os::remove_file(name_); }

std::unique_ptr<os::child_process> start_ffmpeg(std::vector<std::string> const& arguments,
                                                std::string_view for_what) {
    std::vector<std::string> all{"ffmpeg", "-hide_banner", "-v", "error", "-y"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    try {
        return std::make_unique<os::child_process>(all);
    } catch (std::system_error const& e) {
        if (e.code().value() != ENOENT)
            throw output_error{fmt::format("ffmpeg cannot be started: {}", e.code().message())};
        throw usage_error{
            fmt::format("{} needs the program ffmpeg, which is not installed: `sudo apt install ffmpeg`, or "
                        "`winget install ffmpeg` on Windows; --format y4m does without",
                        for_what)};
    }
}

} // namespace teewire::replay
