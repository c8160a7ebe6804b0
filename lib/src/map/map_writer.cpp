#include "item_layout.hpp"
#include "stored_form.hpp"

#include "teewire/map/map.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace teewire {

namespace {

using namespace map_detail;

// The ints of an item: what was read, with the fields put over it.
class item_builder {
public:
    explicit item_builder(raw_ints const& raw) : ints_{raw}, is_new_{raw.empty()} {}

    [[nodiscard]] raw_ints const& ints() const noexcept { return ints_; }
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }
    [[nodiscard]] bool has(std::size_t i) const noexcept { return i < ints_.size(); }
    [[nodiscard]] std::int32_t operator[](std::size_t i) const noexcept { return ints_[i]; }

    void set(std::size_t i, std::int32_t value) {
        if (!has(i)) ints_.resize(i + 1, -1); // what lies between are numbers of things that are not there
        ints_[i] = value;
    }
    void set_flag(std::size_t i, bool value) {
        if (!has(i) || (ints_[i] != 0) != value) set(i, value ? 1 : 0);
    }
    // Names that mean the same are not changed.
    void set_name(std::size_t i, std::size_t count, std::string const& name) {
        if (has(i + count - 1)) {
            auto const packed = std::span{ints_}.subspan(i, count);
            if (unpack_name(packed).value_or("") == name) return;
        }
        set(i + count - 1, 0);
        pack_name(name, std::span{ints_}.subspan(i, count));
    }
    void insert_name(std::size_t i, std::size_t count, std::string const& name) {
        ints_.insert(ints_.begin() + static_cast<std::ptrdiff_t>(i), count, 0);
        pack_name(name, std::span{ints_}.subspan(i, count));
    }
    void erase(std::size_t i, std::size_t count) {
        auto const first = ints_.begin() + static_cast<std::ptrdiff_t>(i);
        ints_.erase(first, first + static_cast<std::ptrdiff_t>(count));
    }
    void cut(std::size_t size) { ints_.resize(std::min(size, ints_.size())); }

private:
    raw_ints ints_;
    bool is_new_;
};

template <class Cell>
map_bytes bytes_of(std::vector<Cell> const& cells) noexcept {
    return {reinterpret_cast<std::uint8_t const*>(cells.data()), cells.size() * sizeof(Cell)};
}

void put_int(std::vector<std::uint8_t>& out, std::int32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
        out.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(value) >> shift));
}

// The blocks of the new file. Existing ones keep their numbers, new ones follow.
class block_table {
public:
    block_table(game_map const& map, datafile_write_options const& options)
        : options_{options}, read_count_(static_cast<std::size_t>(std::max(map.block_count, 0))),
          blocks_(read_count_) {}

    // If not, the number is unused, even where a new block has got it.
    [[nodiscard]] bool was_read(std::int32_t number) const noexcept {
        return number >= 0 && static_cast<std::size_t>(number) < read_count_;
    }
    [[nodiscard]] bool has(std::int32_t number) const noexcept {
        return was_read(number) && blocks_[static_cast<std::size_t>(number)].used;
    }

    // Gives the number. The block with the wanted number is shared if its content is the same.
    std::int32_t put(std::int32_t wanted, map_bytes content) {
        block made{true, content.size(), stored_form(content, options_)};
        if (has(wanted)) {
            if (blocks_[static_cast<std::size_t>(wanted)] == made) return wanted;
            wanted = -1;
        }
        if (!was_read(wanted)) {
            wanted = static_cast<std::int32_t>(blocks_.size());
            blocks_.emplace_back();
        }
        blocks_[static_cast<std::size_t>(wanted)] = std::move(made);
        return wanted;
    }
    void put_stored(std::int32_t wanted, std::vector<std::uint8_t> const& stored, std::size_t size) {
        if (was_read(wanted)) blocks_[static_cast<std::size_t>(wanted)] = {true, size, stored};
    }

    void write_to(datafile_writer& out) {
        constexpr std::uint8_t nothing[] = {0};
        for (block& b : blocks_) {
            if (b.used && options_.version == 4) out.add_stored_block(b.stored, b.size);
            else out.add_block(b.used ? map_bytes{b.stored} : map_bytes{nothing});
            b.stored = {};
        }
    }

private:
    struct block {
        bool used = false;
        std::size_t size = 0;
        std::vector<std::uint8_t> stored;
        friend bool operator==(block const&, block const&) = default;
    };
    datafile_write_options options_;
    std::size_t read_count_; // of them, the first ones
    std::vector<block> blocks_;
};

class map_writer {
public:
    map_writer(game_map const& map, datafile_write_options const& options)
        : map_{map}, version_{options.version}, blocks_{map, options}, out_{options} {}

    map_problem write(std::vector<std::uint8_t>& file) {
        keep_blocks();
        for (uuid_type const& type : map_.uuid_types)
            if (type.type > 0x8000 && type.type != uuid_index_type) out_.name_type(type.type, type.name);
        add_first(map_item_type::version, std::array<std::int32_t, 1>{1});
        if (map_.info) add_info(*map_.info);
        std::uint16_t id = 0;
        for (map_image const& image : map_.images) add_image(image, id++);
        add_envelopes();
        id = 0;
        for (map_group const& group : map_.groups) add_group(group, id++);
        for (std::size_t i = 0; i < map_.layers.size(); ++i) add_layer(i);
        id = 0;
        for (map_sound const& sound : map_.sounds) add_sound(sound, id++);
        // Readers take the first item of a type, so kept items of that type come after it.
        add_points();
        auto const beziers = old_bezier_type();
        add_kept_items([beziers](std::uint16_t type) { return type != beziers; });
        id = 0;
        for (auto_mapper const& mapper : map_.auto_mappers) add_auto_mapper(mapper, id++);
        add_tangents();
        add_kept_items([beziers](std::uint16_t type) { return type == beziers; });
        put_nothing();
        if (failed_.code != map_errc::ok) return failed_;
        blocks_.write_to(out_);
        file = out_.finish();
        if (file.empty()) fail(map_errc::too_large, -1, -1);
        return failed_;
    }

private:
    void fail(map_errc code, std::int32_t layer, std::int32_t block, std::int64_t value = 0,
              std::int64_t expected = 0) {
        if (failed_.code != map_errc::ok) return;
        failed_.code = code;
        failed_.severity = severity_of(code);
        failed_.layer = layer;
        failed_.block = block;
        failed_.value = value;
        failed_.expected = expected;
    }

    void keep_blocks() {
        constexpr std::uint8_t nothing[] = {0};
        for (kept_block const& kept : map_.kept_blocks) {
            if (blocks_.was_read(kept.block)) is_kept_.insert(kept.block);
            if (kept.stored && version_ == 4 && !kept.bytes.empty())
                blocks_.put_stored(kept.block, kept.bytes, kept.stated_size);
            else if (kept.bytes.empty() || (kept.stored && kept.stated_size == 0)) blocks_.put(kept.block, nothing);
            else if (!kept.stored) blocks_.put(kept.block, kept.bytes);
            else fail(map_errc::decompress_failed, -1, kept.block);
        }
    }

    // Nothing to write: what was kept of an unreadable block, or none.
    [[nodiscard]] std::int32_t old_block(std::int32_t number) const noexcept {
        return blocks_.has(number) ? number : -1;
    }

    std::int32_t text_block(map_text const& text) {
        if (text.text.empty() && (blocks_.has(text.block) || !blocks_.was_read(text.block)))
            return old_block(text.block);
        return blocks_.put(text.block,
                           {reinterpret_cast<std::uint8_t const*>(text.text.c_str()), text.text.size() + 1});
    }
    std::int32_t content_block(std::int32_t number, map_bytes content) {
        return content.empty() ? old_block(number) : blocks_.put(number, content);
    }
    // The number is ignored where the content is outside, so it is not changed.
    std::int32_t content_block(std::int32_t number, map_bytes content, bool external) {
        return external && content.empty() ? number : content_block(number, content);
    }

    void add_info(map_info const& info) {
        item_builder item{info.raw};
        item.set(0, info.version);
        item.set(1, text_block(info.author));
        item.set(2, text_block(info.map_version));
        item.set(3, text_block(info.credits));
        item.set(4, text_block(info.license));
        if (info.version == 1 && (item.is_new() || item.has(5) || !info.settings.empty())) {
            std::vector<std::uint8_t> lines;
            for (std::string const& line : info.settings) {
                lines.insert(lines.end(), line.begin(), line.end());
                lines.push_back(0);
            }
            item.set(5, content_block(info.settings_block, lines));
        }
        add_first(map_item_type::info, item.ints());
    }

    void add_image(map_image const& image, std::uint16_t id) {
        item_builder item{image.raw};
        if (item.has(0) && item[0] >= 2 && image.version < 2) item.cut(6); // the variant goes
        item.set(0, image.version);
        item.set(1, image.width);
        item.set(2, image.height);
        item.set_flag(3, image.external);
        item.set(4, text_block(image.name));
        item.set(5, content_block(image.pixels_block, image.pixels, image.external));
        if (image.version >= 2) item.set(6, image.variant);
        out_.add_item(map_item_type::image, id, item.ints());
    }

    void add_envelopes() {
        std::uint16_t id = 0;
        for (map_envelope const& envelope : map_.envelopes) {
            item_builder item{envelope.raw};
            item.set(0, envelope.version);
            item.set(1, envelope.channels);
            item.set(2, envelope.first_point);
            item.set(3, envelope.point_count);
            // The oldest ones have -1 there and no name.
            bool const nameless = envelope.name.empty() && item.has(4) && item[4] == -1;
            if (!nameless && (item.is_new() || item.has(4) || !envelope.name.empty() || envelope.version >= 2))
                item.set_name(4, 8, envelope.name);
            if (envelope.version >= 2) item.set_flag(12, envelope.synchronized);
            out_.add_item(map_item_type::envelope, id++, item.ints());
        }
    }

    [[nodiscard]] bool has_wide_points() const {
        return std::any_of(map_.envelopes.begin(), map_.envelopes.end(),
                           [](map_envelope const& e) { return e.version >= 3; });
    }

    void add_points() {
        bool const wide = has_wide_points();
        raw_ints points;
        for (envelope_point const& point : map_.points) {
            visit_point(point, [&](std::int32_t v) { points.push_back(v); });
            if (wide) visit_tangents(point, [&](std::int32_t v) { points.push_back(v); });
        }
        points.insert(points.end(), map_.surplus_points.begin(), map_.surplus_points.end());
        add_first(map_item_type::envelope_points, points);
    }

    // The number that the file has for tangents.
    [[nodiscard]] std::optional<std::uint16_t> old_bezier_type() const {
        auto const named = std::find_if(map_.uuid_types.begin(), map_.uuid_types.end(),
                                        [](uuid_type const& type) { return type.name == bezier_uuid; });
        if (named == map_.uuid_types.end()) return {};
        return named->type;
    }

    void add_tangents() {
        if (has_wide_points()) return;
        if (!map_.bezier_item) {
            auto const is_curved = [](envelope_point const& p) { return p.curve == envelope_curve::bezier; };
            if (std::none_of(map_.points.begin(), map_.points.end(), is_curved)) return;
            // Curves that do not fit the points were kept.
            auto const beziers = old_bezier_type();
            auto const is_bezier = [beziers](unknown_item const& item) { return item.type == beziers; };
            if (std::any_of(map_.unknown_items.begin(), map_.unknown_items.end(), is_bezier)) return;
        }
        raw_ints tangents;
        for (envelope_point const& point : map_.points)
            visit_tangents(point, [&](std::int32_t v) { tangents.push_back(v); });
        add_first(out_.number_of(bezier_uuid), tangents);
    }

    // Their ids stay, but for that of the one item that was written of the type.
    template <class Condition>
    void add_kept_items(Condition chosen) {
        std::set<std::pair<std::uint16_t, std::uint16_t>> used;
        for (unknown_item const& item : map_.unknown_items)
            if (chosen(item.type)) used.emplace(item.type, item.id);
        std::map<std::uint16_t, std::uint16_t> last;
        for (unknown_item const& item : map_.unknown_items) {
            if (!chosen(item.type)) continue;
            std::uint16_t id = item.id;
            if (id == 0 && written_once_.contains(item.type)) {
                std::uint16_t& free = last[item.type];
                while (++free != 0 && used.contains({item.type, free})) {
                }
                id = free;
            }
            out_.add_item(item.type, id, item.ints);
        }
    }
    void add_first(std::uint16_t type, std::span<std::int32_t const> ints) {
        out_.add_item(type, 0, ints);
        written_once_.insert(type);
    }

    void add_group(map_group const& group, std::uint16_t id) {
        item_builder item{group.raw};
        item.set(0, group.version);
        item.set(1, group.offset_x);
        item.set(2, group.offset_y);
        item.set(3, group.parallax_x);
        item.set(4, group.parallax_y);
        item.set(5, group.first_layer);
        item.set(6, group.layer_count);
        if (group.version >= 2) {
            item.set_flag(7, group.clipping);
            item.set(8, group.clip_x);
            item.set(9, group.clip_y);
            item.set(10, group.clip_width);
            item.set(11, group.clip_height);
        }
        if (group.version >= 3) item.set_name(12, 3, group.name);
        out_.add_item(map_item_type::group, id, item.ints());
    }

    // ---- layers

    void add_layer(std::size_t number) {
        map_layer const& layer = map_.layers[number];
        item_builder item{layer.raw};
        if (layer.tiles() != nullptr) build_tiles(item, layer, *layer.tiles(), static_cast<std::int32_t>(number));
        else if (layer.quads() != nullptr) build_quads(item, layer, *layer.quads());
        else if (layer.sounds() != nullptr) build_sounds(item, layer, *layer.sounds());
        out_.add_item(map_item_type::layer, static_cast<std::uint16_t>(number), item.ints());
    }

    static void build_head(item_builder& item, std::int32_t type, map_layer const& layer) {
        if (item.is_new()) item.set(0, 0);
        item.set(1, type);
        item.set(2, layer.flags);
    }

    void build_tiles(item_builder& item, map_layer const& layer, tile_layer const& tiles, std::int32_t number) {
        std::size_t const slots = tile_layer_slots(tiles.version);
        if (item.has(14)) { // another version has its name elsewhere
            std::size_t const before = tile_layer_slots(item[3]);
            if (before < slots) item.insert_name(before, slots - before, layer.name);
            if (before > slots) item.erase(slots, before - slots);
        }
        build_head(item, map_layer_type::tiles, layer);
        item.set(3, tiles.version);
        item.set(4, tiles.width);
        item.set(5, tiles.height);
        item.set(6, static_cast<std::int32_t>(tiles.kind));
        for (std::size_t i = 0; i < 4; ++i) item.set(7 + i, tiles.color[i]);
        item.set(11, tiles.color_envelope);
        item.set(12, tiles.color_envelope_offset);
        item.set(13, tiles.image);
        if (tiles.version >= 3) item.set_name(15, 3, layer.name);
        if (item.is_new() && tiles.version == 3) item.set(22, -1); // as DDNet does
        std::int32_t const block = put_cells(tiles, number);
        if (auto const slot = tile_layer_slot(tiles.kind)) {
            item.set(14, put_zeros(tiles));
            item.set(slots + *slot, block);
        } else {
            item.set(14, block);
        }
    }

    std::int32_t put_cells(tile_layer const& tiles, std::int32_t number) {
        switch (tiles.kind) {
        case tile_kind::tiles:
        case tile_kind::game:
            if (tiles.version == 4) {
                std::vector<tile> packed(tiles.tiles.size());
                packed.resize(pack_tiles(tiles.tiles, packed));
                return put_cells(tiles, tiles.tiles.size(), bytes_of(packed), number);
            }
            [[fallthrough]];
        case tile_kind::front: return put_cells(tiles, tiles.tiles.size(), bytes_of(tiles.tiles), number);
        case tile_kind::tele: return put_cells(tiles, tiles.tele.size(), bytes_of(tiles.tele), number);
        case tile_kind::speedup: return put_cells(tiles, tiles.speedup.size(), bytes_of(tiles.speedup), number);
        case tile_kind::switches: return put_cells(tiles, tiles.switches.size(), bytes_of(tiles.switches), number);
        case tile_kind::tune: return put_cells(tiles, tiles.tune.size(), bytes_of(tiles.tune), number);
        }
        return -1;
    }

    std::int32_t put_cells(tile_layer const& tiles, std::size_t cells, map_bytes bytes, std::int32_t number) {
        // Unreadable ones, or those of another layer, stay as they were.
        if (cells == 0 && blocks_.has(tiles.tiles_block)) return tiles.tiles_block;
        if (cells == 0 || cells != tiles.cell_count()) {
            fail(map_errc::tile_data_too_small, number, tiles.tiles_block, static_cast<std::int64_t>(cells),
                 static_cast<std::int64_t>(tiles.cell_count()));
            return -1;
        }
        if (tiles.surplus.empty()) return put_cells(tiles.tiles_block, bytes);
        std::vector<std::uint8_t> all{bytes.begin(), bytes.end()};
        all.insert(all.end(), tiles.surplus.begin(), tiles.surplus.end());
        return put_cells(tiles.tiles_block, all);
    }

    // Readers refuse two layers that share their tiles.
    std::int32_t put_cells(std::int32_t wanted, map_bytes content) {
        std::int32_t const block = blocks_.put(holds_cells_.contains(wanted) ? -1 : wanted, content);
        holds_cells_.insert(block);
        return block;
    }

    // The tiles for programs that do not know the kind: ordinary tiles, all empty. A layer without them may claim any
    // size.
    std::int32_t put_zeros(tile_layer const& tiles) {
        if (is_kept_.contains(tiles.zero_block)) return tiles.zero_block;
        if (!tiles.has_zeros) return blocks_.was_read(tiles.zero_block) ? tiles.zero_block : -1;
        return blocks_.put(tiles.zero_block, std::vector<std::uint8_t>(4 * tiles.cell_count()));
    }

    // Quads or sources: one of zeros where there are none, since old programs insist on a block.
    template <class Element, class VisitElement>
    std::int32_t put_elements(std::int32_t number, std::vector<Element> const& elements,
                              std::vector<std::uint8_t> const& surplus, std::size_t ints, VisitElement visit) {
        std::vector<std::uint8_t> bytes;
        bytes.reserve(4 * ints * elements.size() + surplus.size());
        for (Element const& element : elements) visit(element, [&](std::int32_t v) { put_int(bytes, v); });
        if (elements.empty()) {
            bytes.resize(4 * ints);
            if (!blocks_.was_read(number)) return blocks_.put(number, bytes);
            of_nothing_.emplace(number, std::move(bytes));
            return number;
        }
        bytes.insert(bytes.end(), surplus.begin(), surplus.end());
        return blocks_.put(number, bytes);
    }

    // Blocks of layers without content, unless they are something else.
    void put_nothing() {
        for (auto const& [number, zeros] : of_nothing_)
            if (!blocks_.has(number)) blocks_.put(number, zeros);
    }

    // The number of quads or sources; that of unreadable ones stays.
    void set_count(item_builder& item, std::size_t count, std::int32_t number) {
        if (count != 0 || !item.has(4) || !is_kept_.contains(number)) item.set(4, static_cast<std::int32_t>(count));
    }

    void build_quads(item_builder& item, map_layer const& layer, quad_layer const& quads) {
        build_head(item, map_layer_type::quads, layer);
        item.set(3, quads.version);
        set_count(item, quads.quads.size(), quads.quads_block);
        item.set(5, put_elements(quads.quads_block, quads.quads, quads.surplus, quad_ints,
                                 [](map_quad const& q, auto&& put) { visit_quad(q, put); }));
        item.set(6, quads.image);
        if (quads.version >= 2) item.set_name(7, 3, layer.name);
    }

    void build_sounds(item_builder& item, map_layer const& layer, sound_layer const& sounds) {
        build_head(item, sounds.deprecated ? map_layer_type::deprecated_sounds : map_layer_type::sounds, layer);
        item.set(3, sounds.version);
        set_count(item, sounds.sources.size(), sounds.sources_block);
        item.set(5, sounds.deprecated
                        ? put_elements(sounds.sources_block, sounds.sources, sounds.surplus, deprecated_source_ints,
                                       [](sound_source const& s, auto&& put) { visit_deprecated_source(s, put); })
                        : put_elements(sounds.sources_block, sounds.sources, sounds.surplus, source_ints,
                                       [](sound_source const& s, auto&& put) { visit_source(s, put); }));
        item.set(6, sounds.sound);
        item.set_name(7, 3, layer.name);
    }

    void add_sound(map_sound const& sound, std::uint16_t id) {
        item_builder item{sound.raw};
        item.set(0, sound.version);
        item.set_flag(1, sound.external);
        item.set(2, text_block(sound.name));
        item.set(3, content_block(sound.data_block, sound.data, sound.external));
        if (!sound.data.empty() || !item.has(4)) item.set(4, static_cast<std::int32_t>(sound.data.size()));
        out_.add_item(map_item_type::sound, id, item.ints());
    }

    void add_auto_mapper(auto_mapper const& mapper, std::uint16_t id) {
        item_builder item{mapper.raw};
        item.set(0, mapper.version);
        item.set(1, mapper.group);
        item.set(2, mapper.layer);
        item.set(3, mapper.configuration);
        item.set(4, mapper.seed);
        item.set(5, mapper.flags);
        out_.add_item(auto_mapper_uuid, id, item.ints());
    }

    game_map const& map_;
    int version_;
    block_table blocks_;
    std::set<std::uint16_t> written_once_; // types
    std::set<std::int32_t> is_kept_;
    std::set<std::int32_t> holds_cells_;
    std::map<std::int32_t, std::vector<std::uint8_t>> of_nothing_;
    datafile_writer out_;
    map_problem failed_{};
};

} // namespace

map_problem write_map(game_map const& map, std::vector<std::uint8_t>& out, datafile_write_options const& options) {
    out.clear();
    return map_writer{map, options}.write(out);
}

} // namespace teewire
