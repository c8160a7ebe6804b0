#include "base/part_file.hpp"

#include "base/os/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <string_view>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

constexpr unsigned most_tries = 1000;
constexpr std::time_t silence = 600; // seconds
constexpr std::string_view prefix = ".teewire-";
constexpr std::string_view suffix = ".part";
constexpr std::string_view journal = "-journal"; // SQLite's, of a database that is not complete

bool is_part_name(std::string_view name) {
    if (name.ends_with(journal)) name.remove_suffix(journal.size());
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    return name.size() == 8 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_abandoned(std::string const& name) {
    constexpr std::int64_t second = 1'000'000'000;
    return os::facts_of(name).modified / second < std::time(nullptr) - silence && !os::is_in_use(name);
}

// Before this process has files there: it would not see its own locks, and would lose them.
void remove_abandoned(fs::path const& folder) {
    static std::mutex access;
    static std::set<std::string> done;
    std::lock_guard const lock{access};
    if (!done.insert(folder.string()).second) return;
    std::error_code failed;
    for (fs::directory_iterator file{folder.empty() ? "." : folder, failed}, end; !failed && file != end;
         file.increment(failed)) {
        std::string const name = file->path().string();
        if (!is_part_name(file->path().filename().string()) || !is_abandoned(name)) continue;
        os::remove_file(name);
        os::remove_file(name + std::string{journal});
    }
}

} // namespace

part_file make_part_file(std::string const& beside) {
    fs::path const path{beside};
    remove_abandoned(path.parent_path());
    std::random_device random;
    part_file made;
    for (unsigned i = 0; i < most_tries; ++i) {
        made.name = fs::path{path}.replace_filename(fmt::format("{}{:08x}{}", prefix, random(), suffix)).string();
        made.unfinished = std::make_unique<unfinished_name>(made.name);
        made.descriptor = os::create(made.name);
        if (made.descriptor || errno != EEXIST) break;
    }
    return made;
}

} // namespace teewire::replay
