// The pictures that a scene is drawn with: those of a game's folder, and our own where they are missing.
#pragma once

#include "video/raster.hpp"

#include <teewire/scene/pictures.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// Loads pictures when they are first asked for. A picture that cannot be read counts as missing.
class picture_sheets final : public scene::picture_source {
public:
    /// `folders`: of games, the first one before the others; may be empty.
    explicit picture_sheets(std::vector<std::string> folders);

    /// Loads the images of a map, and decides which of its layers can be drawn. The map must outlive this.
    void take_map(game_map const& map, bool is_07);

    [[nodiscard]] raster_pictures const& loaded() const noexcept { return loaded_; }
    /// A texture for each image of the map, as draw_map takes them.
    [[nodiscard]] std::span<scene::texture const> images() const noexcept { return images_; }

    scene::skin_textures skin(std::string_view name) noexcept override;
    scene::texture part(scene::skin_part what, std::string_view name) noexcept override;

private:
    [[nodiscard]] std::optional<picture> find(std::string const& path) const;
    [[nodiscard]] picture find_or(std::string const& path, std::span<unsigned char const> own) const;
    scene::texture add(picture const& p);
    scene::skin_textures add_skin(picture const& p);
    [[nodiscard]] std::optional<picture> map_image(map_image const& image, bool is_07) const;

    std::vector<std::string> folders_;
    raster_pictures loaded_;
    std::vector<scene::texture> images_;
    std::deque<tile_sheet> sheets_;
    std::map<std::string, scene::skin_textures, std::less<>> skins_;
    std::map<std::string, scene::texture, std::less<>> parts_;
};

} // namespace teewire::replay
