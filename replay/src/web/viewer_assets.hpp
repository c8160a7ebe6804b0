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

/// The folders where games have their pictures, and those that players added. A file is taken from the first that has it.
class game_pictures {
public:
    /// None: those of the games that are installed here. Throws usage_error if one is not a folder.
    explicit game_pictures(std::vector<std::string> folders);

    [[nodiscard]] bool any() const noexcept { return !folders_.empty(); }
    [[nodiscard]] std::vector<std::string> const& folders() const noexcept { return folders_; }
    /// The first folder of pictures for maps; empty if there is none.
    [[nodiscard]] std::string mapres() const;
    /// Pictures that the viewer may ask for, and the list of skins.
    [[nodiscard]] web_answer get(std::string_view path) const;
    [[nodiscard]] std::vector<std::string> paths() const;

private:
    std::vector<std::string> folders_;
};

} // namespace teewire::replay
