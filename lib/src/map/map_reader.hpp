// Reads a datafile as a map. Layers are in layer_reader.cpp, all else in map_reader.cpp.
#pragma once

#include "item_layout.hpp"
#include "map_loader.hpp"

#include <array>

namespace teewire::map_detail {

class map_reader {
public:
    map_reader(datafile const& file, game_map& out, map_read_options const& options)
        : file_{file}, map_{out}, from_{file, options}, strict_{options.mode == decoding::strict},
          whole_{options.contents == map_contents::all}, layers_{options.contents != map_contents::physics},
          used_(file.block_count()), tiles_(file.block_count()) {}

    map_problem read();

private:
    // Calls read(item, place) for all items of a type.
    template <class Read>
    void each(datafile_type type, Read&& read, std::size_t from = 0) {
        for (std::size_t i = from; i < type.count; ++i) {
            datafile_item const item = file_.item(type.first + i);
            read(item, place{type.type, static_cast<std::int32_t>(i), item.position});
        }
    }
    template <class Read>
    void each(std::uint16_t type, Read&& read) {
        each(file_.find_type(type), read);
    }

    // Whether the item has as many ints.
    bool long_enough(item_ints ints, std::size_t needed, place const& where,
                     map_severity severity = map_severity::error);
    void mark(std::int32_t block);
    map_problem read_version();
    // The first index item of a number decides what it means.
    void read_uuids();
    [[nodiscard]] std::optional<uuid> name_of(std::uint16_t type) const;
    map_text read_text(std::int32_t block, std::size_t most, place const& where);
    void read_info();
    void read_settings(std::int32_t block, map_info& info, place const& where);
    void read_images();
    void read_pixels(map_image& image, place const& where);
    void read_envelopes();
    void read_points(bool wide);
    void read_bezier_item(bool wide);
    void check_points();
    void read_groups();
    void read_layers();
    void read_tile_layer(map_layer& layer, place const& where);
    void check_zero_block(tile_layer& tiles, place const& where);
    // So that the block need not be kept.
    bool is_zero(std::int32_t block, place const& where);
    // The block of a layer without quads or sources: what writers put there need not be kept.
    void read_empty_block(std::int32_t block, std::size_t element, place const& where);
    void read_quads(map_layer& layer, place const& where);
    void read_sources(map_layer& layer, place const& where);
    /// The highest number of an envelope in the layer.
    void check_envelope(std::int32_t index, place const& where);
    bool supported(std::int32_t version, place const& where);
    bool long_enough_raw(raw_ints const& raw, std::size_t needed, place const& where);
    template <class Element>
    void read_elements(std::int32_t stated, std::int32_t block, std::vector<Element>& out,
                       std::vector<std::uint8_t>& surplus, std::size_t ints, Element (*read)(item_ints),
                       map_errc too_small, place const& where) {
        if (!layers_) return;
        if (stated == 0) return read_empty_block(block, 4 * ints, where);
        std::vector<std::uint8_t> bytes;
        if (!from_.load(block, bytes, where)) return;
        std::size_t count = stated < 0 ? 0 : static_cast<std::size_t>(stated);
        if (stated < 0 || bytes.size() / (4 * ints) < count) {
            from_.report(too_small, where, static_cast<std::int64_t>(bytes.size()),
                         std::int64_t{stated} * static_cast<std::int64_t>(4 * ints), block);
            count = bytes.size() / (4 * ints);
        }
        out.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            out.push_back(read(item_ints{map_bytes{bytes}.subspan(4 * ints * i, 4 * ints)}));
        surplus.assign(bytes.begin() + static_cast<std::ptrdiff_t>(4 * ints * count), bytes.end());
        if (count != 0) mark(block);
        else surplus = {}; // the block is kept unchanged
    }

    // Checks the relations of the layers.
    void check_layers();
    void read_sounds();
    void read_auto_mappers();
    [[nodiscard]] bool is_mapped(auto_mapper const& mapper) const;
    void keep_items(datafile_type type, std::size_t from);
    void read_unknown();
    void keep_blocks();

    datafile const& file_;
    game_map& map_;
    loader from_;
    bool strict_;
    bool whole_;
    bool layers_;
    bool tried_game_ = false;
    std::vector<bool> used_;             // blocks whose content the typed form holds
    std::vector<bool> tiles_;            // blocks that are the cells of a layer
    std::vector<std::int32_t> group_of_; // of each layer
    std::vector<uuid_type> names_;       // by number
    std::optional<std::uint16_t> auto_mappers_;
    std::optional<std::uint16_t> beziers_;
};

} // namespace teewire::map_detail
