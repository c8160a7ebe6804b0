#include "cli/folders.hpp"

#include "base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

bool has_end(std::string_view name, std::string_view end) {
    return name.size() > end.size() && std::equal(end.rbegin(), end.rend(), name.rbegin(), [](char e, char c) {
               return e == std::tolower(static_cast<unsigned char>(c));
           });
}

bool is_of(std::string_view name, folder_content content) {
    for (std::string_view const packed : {".gz", ".zst", ".tda"})
        if (has_end(name, packed)) name.remove_suffix(packed.size());
    bool const demo = has_end(name, ".demo");
    bool const capture = has_end(name, ".pcap") || has_end(name, ".pcapng");
    switch (content) {
    case folder_content::demos: return demo;
    case folder_content::captures: return capture;
    case folder_content::recordings: return demo || capture;
    case folder_content::maps: break;
    }
    return has_end(name, ".map") || has_end(name, ".xvmap");
}

std::vector<std::string> files_in(std::string const& folder, folder_content content) {
    std::vector<std::string> found;
    std::error_code failed;
    fs::recursive_directory_iterator at{folder, failed};
    for (; !failed && at != fs::recursive_directory_iterator{}; at.increment(failed)) {
        std::error_code ignored;
        std::string const name = at->path().filename().string();
        bool const hidden = name.starts_with('.');
        if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
        if (!hidden && !at->is_symlink(ignored) && at->is_regular_file(ignored) && is_of(name, content))
            found.push_back(at->path().string());
    }
    if (failed) throw io_error{folder, fmt::format("cannot be read: {}", failed.message())};
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace

void expand_folders(std::vector<std::string>& files, folder_content content) {
    constexpr std::array<std::string_view, 4> names = {"demos", "packet captures", "demos or packet captures",
                                                       "maps"};
    std::vector<std::string> all;
    for (std::string const& name : files) {
        std::error_code failed;
        if (!fs::is_directory(name, failed)) {
            all.push_back(name);
            continue;
        }
        auto const found = files_in(name, content);
        if (found.empty())
            throw usage_error{name, fmt::format("has no {} in it", names[static_cast<std::size_t>(content)])};
        all.insert(all.end(), found.begin(), found.end());
    }
    files = std::move(all);
}

} // namespace teewire::replay
