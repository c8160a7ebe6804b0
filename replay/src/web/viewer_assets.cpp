#include "web/viewer_assets.hpp"

#include "base/errors.hpp"
#include "base/json.hpp"
#include "base/os/process.hpp"
#include "base/text.hpp"
#include "web/viewer_files.hpp"

#include <teewire/sha256.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view skin_list = "skins.json";

// Regular files without links, and without those whose names begin with a dot.
std::vector<std::string> list(std::string const& folder) {
    std::vector<std::string> paths;
    std::error_code failed;
    fs::recursive_directory_iterator at{folder, fs::directory_options::skip_permission_denied, failed};
    for (; !failed && at != fs::recursive_directory_iterator{}; at.increment(failed)) {
        std::error_code ignored;
        bool const hidden = at->path().filename().string().starts_with('.');
        if (hidden) at.disable_recursion_pending();
        if (hidden || at->is_symlink(ignored) || !at->is_regular_file(ignored)) continue;
        paths.push_back(at->path().lexically_relative(folder).generic_string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool is_picture(std::string_view path) { return path.ends_with(".png"); }

// Folders in that of a game, and what the viewer calls them. Others, such as screenshots, are private.
constexpr std::string_view skins = "skins/";
constexpr std::pair<std::string_view, std::string_view> shown_folders[] = {
    {"skins/", skins}, {"downloadedskins/", skins}, {"mapres/", "mapres/"}};

// Where in the folder of a game a picture may be that the viewer asks for.
std::vector<std::string> places_of(std::string_view path) {
    if (!is_picture(path)) return {};
    if (path.find('/') == std::string_view::npos) return {std::string{path}};
    std::vector<std::string> places;
    for (auto const& [there, shown] : shown_folders)
        if (path.starts_with(shown)) places.push_back(fmt::format("{}{}", there, path.substr(shown.size())));
    return places;
}

} // namespace

std::string_view content_type(std::string_view path) noexcept {
    constexpr std::pair<std::string_view, std::string_view> types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".wasm", "application/wasm"},
        {".png", "image/png"},
        {".svg", "image/svg+xml"},
    };
    for (auto const& [end, type] : types)
        if (path.ends_with(end)) return type;
    return "application/octet-stream";
}

std::shared_ptr<std::vector<std::uint8_t> const> to_body(std::string_view text) {
    return std::make_shared<std::vector<std::uint8_t> const>(text.begin(), text.end());
}

viewer_assets::viewer_assets(std::string folder) : folder_{std::move(folder)} {
    if (!folder_.empty()) {
        if (!stored_file::open(folder_, "index.html"))
            throw usage_error{fmt::format("--viewer: {}: has no index.html", folder_)};
        return;
    }
    for (viewer_file const& file : viewer_files()) {
        web_answer& made = built_in_[std::string{file.path}];
        made.what = web_answer::kind::file;
        made.body = std::make_shared<std::vector<std::uint8_t> const>(file.packed.begin(), file.packed.end());
        made.packed = true;
        made.type = content_type(file.path);
        made.cache = checked_each_time;
        auto const sum = sha256(*made.body);
        made.tag = hex(std::span{sum}.first(8));
    }
    if (built_in_.empty())
        throw usage_error{"this teewire was built without the viewer for browsers: `meson setup -Dweb=true` or "
                          "`replay/run web` builds one with it, and --viewer FOLDER takes one from elsewhere"};
}

web_answer viewer_assets::get(std::string_view path) const {
    if (!folder_.empty()) {
        web_answer found;
        found.stored = stored_file::open(folder_, path);
        found.what = found.stored ? web_answer::kind::file : web_answer::kind::none;
        found.type = content_type(path);
        found.cache = checked_each_time;
        return found;
    }
    auto const found = built_in_.find(path);
    return found == built_in_.end() ? web_answer{} : found->second;
}

std::vector<std::string> viewer_assets::paths() const {
    if (!folder_.empty()) return list(folder_);
    std::vector<std::string> paths;
    for (auto const& [path, answer] : built_in_) paths.push_back(path);
    return paths;
}

game_pictures::game_pictures(std::vector<std::string> folders) : folders_{std::move(folders)} {
    std::error_code failed;
    for (std::string const& folder : folders_)
        if (!fs::is_directory(folder, failed)) throw usage_error{fmt::format("--data: {} is not a folder", folder)};
    if (!folders_.empty()) return;
    for (std::string const& usual : os::game_data_folders())
        if (fs::is_directory(usual, failed)) folders_.push_back(usual);
}

std::string game_pictures::mapres() const {
    std::error_code failed;
    for (std::string const& folder : folders_)
        if (fs::is_directory(folder + "/mapres", failed)) return folder + "/mapres";
    return {};
}

web_answer game_pictures::get(std::string_view path) const {
    web_answer found;
    if (!any()) return found;
    found.cache = checked_each_time;
    found.type = content_type(path);
    if (path == skin_list) {
        std::set<std::string> names;
        for (std::string const& file : paths())
            if (file.starts_with(skins) && file.find('/', skins.size()) == std::string::npos)
                names.insert(file.substr(skins.size(), file.size() - skins.size() - 4));
        rapidjson::StringBuffer text;
        json_writer json{text};
        {
            object_writer all{json};
            all.list("skins", names,
                     [](json_writer& to, std::string const& s) { write_string(to, valid_utf8(s)); });
        }
        found.what = web_answer::kind::file;
        found.body = to_body({text.GetString(), text.GetSize()});
    } else {
        for (std::string const& folder : folders_)
            for (std::string const& place : places_of(path))
                if (!found.stored) found.stored = stored_file::open(folder, place);
        if (found.stored) found.what = web_answer::kind::file;
    }
    return found;
}

std::vector<std::string> game_pictures::paths() const {
    if (!any()) return {};
    std::set<std::string> paths{std::string{skin_list}};
    std::error_code failed;
    for (std::string const& folder : folders_) {
        fs::directory_iterator at{folder, failed};
        for (; !failed && at != fs::directory_iterator{}; at.increment(failed)) {
            std::error_code ignored;
            std::string name = at->path().filename().string();
            if (is_picture(name) && !at->is_symlink(ignored) && at->is_regular_file(ignored))
                paths.insert(std::move(name));
        }
        for (auto const& [there, shown] : shown_folders)
            for (std::string const& path : list(fmt::format("{}/{}", folder, there)))
                if (is_picture(path)) paths.insert(fmt::format("{}{}", shown, path));
    }
    return {paths.begin(), paths.end()};
}

} // namespace teewire::replay
