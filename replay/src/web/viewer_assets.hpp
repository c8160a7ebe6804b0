// The viewer's files: those that the program was built with, or those in a folder; and pictures of games beside them.
#pragma once

#include "http/web_server.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace teewire::replay {

/// Cache-Control of what may change.
inline constexpr std::string_view checked_each_time = "no-cache";

/// By the end of the name.
[[nodiscard]] std::string_view content_type(std::string_view path) noexcept;
[[nodiscard]] std::shared_ptr<std::vector<std::uint8_t> const> to_body(std::string_view text);

class viewer_assets {
public:
    /// `folder`: replaces the built-in files, if it is not empty. Throws usage_error if there is no viewer.
    explicit viewer_assets(std::string folder);

    [[nodiscard]] web_answer get(std::string_view path) const;
    /// The paths of all files.
    [[nodiscard]] std::vector<std::string> paths() const;

private:
    std::string folder_;
    std::map<std::string, web_answer, std::less<>> built_in_;
};

/// The folder `data` of a game.
class game_pictures {
public:
    /// Empty: the pictures of Debian's packages, or none. Throws usage_error if it is not a folder.
    explicit game_pictures(std::string folder);

    [[nodiscard]] bool any() const noexcept { return !folder_.empty(); }
    [[nodiscard]] std::string const& folder() const noexcept { return folder_; }
    [[nodiscard]] std::string mapres() const { return any() ? folder_ + "/mapres" : ""; }
    /// Pictures, and the list of skins.
    [[nodiscard]] web_answer get(std::string_view path) const;
    [[nodiscard]] std::vector<std::string> paths() const;

private:
    std::string folder_;
};

} // namespace teewire::replay
