#include "base/os/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace teewire::replay::os {

std::vector<std::string> begin_process(int argc, char** argv) { return {argv + std::min(argc, 1), argv + argc}; }

void end_by_closed_pipe() noexcept {}

std::string environment(char const*) { return {}; }
std::string cache_folder() { return {}; }
std::vector<std::string> game_data_folders() { return {}; }
std::vector<std::string> font_files() { return {}; }

child_process::child_process(std::vector<std::string> const&) {
    throw std::system_error{ENOENT, std::generic_category()};
}
child_process::~child_process() = default;
bool child_process::write(std::span<std::uint8_t const>) noexcept { return false; }
int child_process::finish() noexcept { return -1; }

void end_children() noexcept {}

std::string open_browser(std::string) { return {}; }

bool local_time(std::time_t time, std::tm& out) noexcept { return ::localtime_r(&time, &out) != nullptr; }

std::optional<std::uint64_t> address_space_limit() noexcept { return std::nullopt; }
void save_address_space() noexcept {}
void allow_descriptors() noexcept {}

std::uint8_t* reserve_memory(std::size_t bytes) noexcept {
    return static_cast<std::uint8_t*>(std::calloc(bytes, 1));
}
void release_memory(std::uint8_t* begin, std::size_t) noexcept { std::free(begin); }
bool commit_memory(std::uint8_t*, std::size_t) noexcept { return true; }
void clear_memory(std::uint8_t* begin, std::size_t bytes) noexcept { std::fill_n(begin, bytes, std::uint8_t{}); }

} // namespace teewire::replay::os
