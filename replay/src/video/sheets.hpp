// The pictures that a scene is drawn with: those of a game's folder, and our own where they are missing.
#pragma once

#include "base/workers.hpp"
#include "map/document.hpp"
#include "video/raster.hpp"

#include <teewire/scene/pictures.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teewire::replay {

/// Finds pictures when they are first asked for, and loads them when they are first drawn. A picture that cannot be read
/// counts as missing.
class picture_sheets final : public scene::picture_source {
public:
    /// `folders`: of games, the first one before the others; may be empty.
    explicit picture_sheets(std::vector<std::string> folders);

    /// Finds the images of a map, whose layers can be drawn then. The document, which need not have pixels, must outlive
    /// this.
    void take_map(map_document const& document, bool is_07);
    /// A texture for each image of the map, as draw_map takes them.
    [[nodiscard]] std::span<scene::texture const> images() const noexcept { return images_; }

    /// Loads the pictures of a list that are not loaded yet. False if one of them cannot be read: then the list has to be
    /// made again, without it.
    [[nodiscard]] bool load(scene::draw_list const& list, workers& team);
    [[nodiscard]] raster_pictures const& loaded() const noexcept { return loaded_; }

    scene::skin_textures skin(std::string_view name) noexcept override;
    scene::texture part(scene::skin_part what, std::string_view name) noexcept override;

private:
    using source = std::function<std::optional<picture>()>; // called by any thread
    template <class Made>
    struct lazy {
        source from;
        std::function<void()> forget; // the picture cannot be read
        std::unique_ptr<Made> made{};
        bool wanted = false;
    };

    [[nodiscard]] bool is_there(std::string const& path) const;
    [[nodiscard]] std::optional<picture> find(std::string const& path) const;
    [[nodiscard]] picture find_or(std::string const& path, std::span<unsigned char const> own) const;
    scene::texture add(source from, std::function<void()> forget = {});
    scene::skin_textures add_skin(source const& from, std::function<void()> const& forget = {});
    [[nodiscard]] source map_image(map_document const& document, std::size_t number, bool is_07,
                                   std::uint64_t& budget) const;

    std::vector<std::string> folders_;
    raster_pictures loaded_;
    std::vector<scene::texture> images_;
    std::deque<lazy<mip_picture>> textures_;
    std::deque<lazy<tile_sheet>> sheets_; // the physics layers', and one for each image of the map
    std::map<std::string, scene::skin_textures, std::less<>> skins_;
    std::map<std::string, scene::texture, std::less<>> parts_;
};

} // namespace teewire::replay
