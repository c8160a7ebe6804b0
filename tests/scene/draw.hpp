// Memory and pictures for draw lists.
#pragma once

#include "teewire/scene/pictures.hpp"

#include <vector>

namespace teewire::scene {

struct room {
    std::vector<vertex> vertices;
    std::vector<draw_command> commands;
    explicit room(std::size_t v = 4096, std::size_t c = 256) : vertices(v), commands(c) {}
    draw_list list() { return {vertices, commands}; }
};

struct pictures final : picture_source {
    pictures() {
        game = 1;
        emoticons = 2;
        particles = 3;
        own_skin = {4, 5};
    }
    skin_textures skin(std::string_view name) noexcept override {
        return name == "known" ? skin_textures{6, 7} : skin_textures{};
    }
    texture part(skin_part what, std::string_view name) noexcept override {
        return name == "known" ? 10 + static_cast<texture>(what) : no_texture;
    }
};

} // namespace teewire::scene
