#include "cli/shard.hpp"

#include "base/os/files.hpp"
#include "base/output.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace teewire::replay {
namespace {

// FNV-1a, mixed so that the lowest bits depend on all.
std::uint64_t hash(std::string_view name) {
    std::uint64_t h = 14695981039346656037U;
    for (char const c : name) h = (h ^ static_cast<std::uint8_t>(c)) * 1099511628211U;
    return (h ^ h >> 32) * 0x9e3779b97f4a7c15U >> 32;
}

} // namespace

std::optional<shard> parse_shard(std::string_view text) {
    shard s;
    char const* const end = text.data() + text.size();
    auto const number = std::from_chars(text.data(), end, s.number);
    if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '/') return {};
    auto const count = std::from_chars(number.ptr + 1, end, s.count);
    if (count.ec != std::errc{} || count.ptr != end) return {};
    if (s.number < 1 || s.number > s.count || s.count > most_shards) return {};
    return s;
}

std::vector<std::string> files_of(shard const& part, std::vector<std::string> const& files) {
    std::vector<std::string> chosen;
    for (std::string const& file : files)
        if (hash(file) % part.count == part.number - 1) chosen.push_back(file);
    return chosen;
}

bool take_part(shard const& part, std::vector<std::string>& files, output_choice& to) {
    files = files_of(part, files);
    to.name = name_of(part, to.name);
    if (to.name == "-" || to.force || !os::name_taken(to.name)) return true;
    remark(fmt::format("{}: already complete", to.name));
    return false;
}

std::string name_of(shard const& part, std::string const& name) {
    if (name == "-") return name;
    std::filesystem::path path{name};
    if (!path.has_filename()) path = path.parent_path(); // a folder
    std::string const extension = path.extension().string();
    path.replace_extension();
    return fmt::format("{}-{}-of-{}{}", path.string(), part.number, part.count, extension);
}

} // namespace teewire::replay
