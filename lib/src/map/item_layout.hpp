// How the fixed parts of maps are laid out in ints, for reading and writing.
#pragma once

#include "teewire/map/map.hpp"

#include <cstddef>
#include <optional>

namespace teewire::map_detail {

inline constexpr std::size_t point_ints = 6;
inline constexpr std::size_t tangent_ints = 16;
inline constexpr std::size_t wide_point_ints = point_ints + tangent_ints;
inline constexpr std::size_t quad_ints = 38;
inline constexpr std::size_t source_ints = 13;
inline constexpr std::size_t deprecated_source_ints = 9;

/// Where the DDNet indices of a tile layer begin: after the name if the version has one.
constexpr std::size_t tile_layer_slots(std::int32_t version) noexcept { return version >= 3 ? 18 : 15; }

/// Which of them is the cells of that kind.
constexpr std::optional<std::size_t> tile_layer_slot(tile_kind kind) noexcept {
    switch (kind) {
    case tile_kind::tele: return 0;
    case tile_kind::speedup: return 1;
    case tile_kind::front: return 2;
    case tile_kind::switches: return 3;
    case tile_kind::tune: return 4;
    case tile_kind::tiles:
    case tile_kind::game: break;
    }
    return {};
}

inline bool has_cells(tile_layer const& tiles) noexcept {
    return !(tiles.tiles.empty() && tiles.tele.empty() && tiles.speedup.empty() && tiles.switches.empty() &&
             tiles.tune.empty());
}

constexpr std::size_t cell_bytes(tile_kind kind) noexcept {
    switch (kind) {
    case tile_kind::tele:
    case tile_kind::tune: return 2;
    case tile_kind::speedup: return 6;
    default: return 4;
    }
}

// Calls visit(int) for the ints of a struct in their order, so that reading and writing cannot disagree.

template <class Point, class Visit>
void visit_point(Point& point, Visit&& visit) {
    visit(point.time);
    visit(point.curve);
    for (auto& v : point.values) visit(v);
}

template <class Point, class Visit>
void visit_tangents(Point& point, Visit&& visit) {
    for (auto* tangent : {&point.in_dx, &point.in_dy, &point.out_dx, &point.out_dy})
        for (auto& v : *tangent) visit(v);
}

template <class Quad, class Visit>
void visit_quad(Quad& quad, Visit&& visit) {
    for (auto& corner : quad.corners) visit(corner.x), visit(corner.y);
    visit(quad.pivot.x), visit(quad.pivot.y);
    for (auto& color : quad.colors)
        for (auto& channel : color) visit(channel);
    for (auto& point : quad.texture) visit(point.x), visit(point.y);
    visit(quad.position_envelope), visit(quad.position_envelope_offset);
    visit(quad.color_envelope), visit(quad.color_envelope_offset);
}

template <class Source, class Visit>
void visit_source(Source& source, Visit&& visit) {
    visit(source.position.x), visit(source.position.y);
    visit(source.loop), visit(source.pan), visit(source.delay), visit(source.falloff);
    visit(source.position_envelope), visit(source.position_envelope_offset);
    visit(source.sound_envelope), visit(source.sound_envelope_offset);
    visit(source.shape), visit(source.width), visit(source.height);
}

template <class Source, class Visit>
void visit_deprecated_source(Source& source, Visit&& visit) {
    visit(source.position.x), visit(source.position.y);
    visit(source.loop), visit(source.delay), visit(source.width);
    visit(source.position_envelope), visit(source.position_envelope_offset);
    visit(source.sound_envelope), visit(source.sound_envelope_offset);
}

template <class Get>
void read_point(envelope_point& point, Get&& get) {
    visit_point(point, [&, i = std::size_t{0}](std::int32_t& v) mutable { v = get(i++); });
}
template <class Get>
void read_tangents(envelope_point& point, Get&& get) {
    visit_tangents(point, [&, i = std::size_t{0}](std::int32_t& v) mutable { v = get(i++); });
}
inline map_quad read_quad(item_ints ints) {
    map_quad quad;
    visit_quad(quad, [&, i = std::size_t{0}](std::int32_t& v) mutable { v = ints[i++]; });
    return quad;
}
inline sound_source read_source(item_ints ints) {
    sound_source source;
    visit_source(source, [&, i = std::size_t{0}](std::int32_t& v) mutable { v = ints[i++]; });
    return source;
}
inline sound_source read_deprecated_source(item_ints ints) {
    sound_source source;
    visit_deprecated_source(source, [&, i = std::size_t{0}](std::int32_t& v) mutable { v = ints[i++]; });
    return source;
}

} // namespace teewire::map_detail
