#include "map/json_info.hpp"

#include "base/interrupts.hpp"
#include "base/text.hpp"
#include "map/block_facts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace teewire::replay {
namespace {

using bytes = std::vector<std::uint8_t>;

// ---- items ---------------------------------------------------------------------------------------------------------

std::vector<datafile_item> items_of(datafile const& file, std::uint16_t type) {
    datafile_type const entry = file.find_type(type);
    std::vector<datafile_item> items;
    for (std::uint32_t i = 0; i < entry.count; ++i) items.push_back(file.item(entry.first + i));
    return items;
}

std::vector<std::int32_t> range(item_ints const& ints, std::size_t begin, std::size_t end) {
    std::vector<std::int32_t> found;
    for (std::size_t i = begin; i < std::min(end, ints.size()); ++i) found.push_back(ints[i]);
    return found;
}

// UTF-8 of any bytes: of those that are not, as Latin-1, so that they can be shown.
std::string latin_text(std::string const& bytes) {
    if (valid_utf8(bytes) == bytes) return bytes;
    std::string text;
    for (char const c : bytes) {
        auto const byte = static_cast<std::uint8_t>(c);
        if (byte >= 0x80) text += static_cast<char>(0xc0 | byte >> 6);
        text += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    return text;
}

// A packed name, valid or not.
struct packed_name {
    std::string text;
    bool canonical = true; ///< padded as real editors pad
};
packed_name unpack(item_ints const& ints, std::size_t begin, std::size_t count) {
    std::string raw;
    for (std::size_t i = begin; i < begin + count; ++i)
        for (int shift = 24; shift >= 0; shift -= 8)
            raw += static_cast<char>((static_cast<std::uint32_t>(ints[i]) >> shift) - 128);
    bool const last_is_zero = raw.back() == static_cast<char>(-128);
    raw.pop_back();
    std::string const name = raw.substr(0, raw.find('\0'));
    bool const padded = raw.find_first_not_of('\0', name.size()) == std::string::npos;
    return {latin_text(name), last_is_zero && padded};
}

std::string uuid_string(uuid const& id) {
    auto const text = to_text(id);
    return {text.data(), text.size()};
}

/// The names of types that current maps can have.
std::string_view current_name(uuid const& id) { return id == group_extension_uuid ? std::string_view{} : name(id); }

// ---- the map -------------------------------------------------------------------------------------------------------

class map_printer {
public:
    map_printer(map_document const& document, object_writer& top, known_blocks const& known)
        : document_{document}, file_{*document.container}, top_{top},
          versions_{items_of(file_, map_item_type::version)}, blocks_{file_, known} {}

    void container() {
        {
            object_writer o = top_.object("datafile");
            o.text("magic", file_.magic());
            o.number("version", file_.version());
            o.number("size", file_.stated_size());
            o.number("swaplen", file_.stated_swaplen());
            o.text("header_kind", file_.has_old_header_sizes() ? "legacy-minus-4*num_data" : "exact");
            o.number("num_item_types", file_.type_count());
            o.number("num_items", file_.item_count());
            o.number("num_data", file_.block_count());
            o.number("item_size", file_.item_bytes());
            o.number("data_size", file_.data_bytes());
        }
        std::vector<datafile_type> types;
        for (std::size_t i = 0; i < file_.type_count(); ++i) {
            types.push_back(file_.type(i));
            type_counts_.try_emplace(types.back().type, types.back().count);
        }
        top_.objects("item_types", types, [&](object_writer& o, datafile_type const& t) { item_type(o, t); });
        top_.objects("uuid_items", items_of(file_, uuid_index_type),
                     [&](object_writer& o, datafile_item const& i) { uuid_item(o, i); });
    }

    // The layout from before 2008 uses the same numbers for other things.
    [[nodiscard]] bool is_map() const {
        bool const old = file_.find_type(0x8001).count != 0 || file_.find_type(0x8002).count != 0;
        bool const named = file_.uuid_of(0x8001) || file_.uuid_of(0x8002);
        bool const empty = file_.find_type(map_item_type::group).count == 0 && versions_.empty();
        return !empty && (!old || named);
    }

    void contents() {
        if (versions_.empty() || versions_.front().ints.size() == 0) top_.null("map_version");
        else top_.number("map_version", versions_.front().ints[0]);
        info();
        items("images", map_item_type::image, 6, &map_printer::image);
        items("envelopes", map_item_type::envelope, 4, &map_printer::envelope);
        envelope_points();
        if (auto const type = file_.type_of(bezier_uuid)) bezier(*type);
        items("groups", map_item_type::group, 7, &map_printer::group);
        items("layers", map_item_type::layer, 3, &map_printer::layer);
        items("sounds", map_item_type::sound, 4, &map_printer::sound);
        auto const mappers = file_.type_of(auto_mapper_uuid);
        if (mappers) items("auto_mappers", *mappers, 6, &map_printer::mapper);
        else top_.list("auto_mappers", std::vector<datafile_item>{}, [](json_writer&, datafile_item const&) {});
    }

    void blocks() {
        std::vector<std::int32_t> numbers(file_.block_count());
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
        top_.list("data", numbers, [&](json_writer& json, std::int32_t i) {
            if (interrupted()) {
                json.Null();
                return;
            }
            datafile_block const block = file_.block(static_cast<std::size_t>(i));
            object_writer o{json};
            o.number("compressed", block.stored.size());
            o.number("size", block.size);
            block_facts const& facts = *blocks_[i];
            if (facts.problem) return o.text("error", problem_text(*facts.problem));
            o.text("sha256", facts.sha256);
            if (file_.version() == 4) o.text("zlib_header", hex(block.stored.first(2)));
        });
    }

private:
    using item_printer = void (map_printer::*)(object_writer&, item_ints const&);

    // Those with fewer ints than `needed` are only counted.
    void items(std::string_view key, std::uint16_t type, std::size_t needed, item_printer print) {
        number_ = 0;
        top_.objects(key, items_of(file_, type), [&](object_writer& o, datafile_item const& i) {
            o.number("id", i.id);
            o.number(type == map_item_type::layer ? "item_ints" : "ints", i.ints.size());
            if (i.ints.size() < needed) o.flag("too_short", true);
            else (this->*print)(o, i.ints);
            ++number_;
        });
    }

    void item_type(object_writer& o, datafile_type const& t) {
        constexpr std::string_view names[] = {"version", "info",  "image",     "envelope",
                                              "group",   "layer", "envpoints", "sound"};
        o.number("type", t.type);
        if (t.type < std::size(names)) o.text("name", names[t.type]);
        else if (t.type == uuid_index_type) o.text("name", "uuid_index");
        else o.null("name");
        o.number("start", t.first);
        o.number("num", t.count);
        std::vector<std::uint16_t> ids;
        std::set<std::size_t> sizes;
        bool in_order = true;
        for (std::uint32_t i = 0; i < t.count; ++i) {
            datafile_item const item = file_.item(t.first + i);
            in_order = in_order && item.id == i;
            ids.push_back(item.id);
            sizes.insert(item.ints.size());
        }
        if (in_order) o.text("ids", "0..n-1");
        else o.numbers("ids", ids);
        o.numbers("ints", sizes);
    }

    void uuid_item(object_writer& o, datafile_item const& i) {
        o.number("type_id", i.id);
        o.number("ints", i.ints.size());
        if (i.ints.size() < 4) return;
        uuid const id = read_uuid(i.ints);
        o.text("uuid", uuid_string(id));
        if (auto const known = current_name(id); known.empty()) o.null("name");
        else o.text("name", known);
        auto const of = type_counts_.find(i.id);
        o.number("items", of != type_counts_.end() ? of->second : 0);
    }

    // ---- blocks that items refer to

    // Null if it cannot be read.
    block_facts const* content(std::int32_t block) {
        block_facts const* const found = blocks_[block];
        return found != nullptr && !found->problem ? found : nullptr;
    }
    std::optional<std::size_t> size(std::int32_t block) {
        if (block < 0 || static_cast<std::size_t>(block) >= file_.block_count()) return {};
        return file_.block(static_cast<std::size_t>(block)).size;
    }

    void string(object_writer& o, std::string_view key, std::int32_t block) {
        if (block == -1) return o.null(key);
        object_writer s = o.object(key);
        s.number("index", block);
        block_facts const* const found = content(block);
        if (found == nullptr) return s.text("error", "the block cannot be read");
        s.text("text", found->text);
        if (found->text.size() != found->text_size) s.flag("cut", true);
        s.number("bytes", found->size);
        if (found->text_size + 1 != found->size) s.flag("malformed", true);
        if (valid_utf8(found->text) != found->text) s.flag("invalid_utf8", true);
    }

    // Real programs hold 128 bytes at most.
    void name_in_block(object_writer& o, std::int32_t block) {
        block_facts const* const found = content(block);
        if (found == nullptr) return o.null("name");
        constexpr std::size_t max_name = 1024;
        o.text("name", std::string_view{found->text}.substr(0, max_name));
        if (found->text_size > max_name) o.flag("name_cut", true);
    }

    void packed(object_writer& o, item_ints const& ints, std::size_t begin, std::size_t count) {
        packed_name const name = unpack(ints, begin, count);
        o.text("name", name.text);
        if (!name.canonical) o.flag("name_noncanonical", true);
    }

    // ---- items

    void info() {
        auto const found = items_of(file_, map_item_type::info);
        if (found.empty() || found.front().ints.size() < 5) return top_.null("info");
        item_ints const d = found.front().ints;
        object_writer o = top_.object("info");
        o.number("version", d[0]);
        o.number("ints", d.size());
        string(o, "author", d[1]);
        string(o, "map_version", d[2]);
        string(o, "credits", d[3]);
        string(o, "license", d[4]);
        if (d.size() <= 5 || content(d[5]) == nullptr) return o.null("settings");
        bytes const settings = read_block(file_, d[5]); // the only ones that are needed as a whole
        std::vector<std::string_view> lines;
        std::string_view rest{reinterpret_cast<char const*>(settings.data()), settings.size()};
        bool const terminated = rest.ends_with('\0');
        for (std::size_t end; (end = rest.find('\0')) != std::string_view::npos; rest = rest.substr(end + 1))
            lines.push_back(rest.substr(0, end));
        o.list("settings", lines,
               [](json_writer& json, std::string_view line) { write_string(json, valid_utf8(line)); });
        o.flag("settings_terminated", terminated);
    }

    void image(object_writer& o, item_ints const& d) {
        o.number("version", d[0]);
        o.number("width", d[1]);
        o.number("height", d[2]);
        o.number("external", d[3]);
        name_in_block(o, d[4]);
        o.number("data", d[5]);
        if (d.size() > 6) o.number("variant", d[6]);
        if (auto const n = size(d[5])) {
            o.number("data_bytes", *n);
            auto const wanted =
                static_cast<std::uint64_t>(std::max(d[1], 0)) * static_cast<std::uint64_t>(std::max(d[2], 0));
            o.flag("data_ok", *n % 4 == 0 && *n / 4 == wanted);
        }
    }

    void envelope(object_writer& o, item_ints const& d) {
        o.number("version", d[0]);
        o.number("channels", d[1]);
        o.number("start", d[2]);
        o.number("num", d[3]);
        if (d.size() >= 12) {
            if (d[4] == -1) o.null("name");
            else packed(o, d, 4, 8);
        } else if (d.size() > 4) {
            o.number("name_int", d[4]);
        }
        if (d[0] >= 2 && d.size() > 12) o.number("synchronized", d[12]);
    }

    void envelope_points() {
        auto const envelopes = items_of(file_, map_item_type::envelope);
        auto const found = items_of(file_, map_item_type::envelope_points);
        bool const with_tangents = std::any_of(envelopes.begin(), envelopes.end(), [](datafile_item const& e) {
            return e.ints.size() > 0 && e.ints[0] >= 3;
        });
        std::size_t const stride = with_tangents ? 22 : 6;
        object_writer o = top_.object("envpoints");
        o.number("items", found.size());
        o.number("ints", found.empty() ? 0 : found.front().ints.size());
        o.number("stride", stride);
        if (found.empty()) return;
        item_ints const d = found.front().ints;
        std::size_t const points = d.size() / stride;
        o.number("points", points);
        o.number("remainder", d.size() % stride);
        std::vector<std::int64_t> descents; // points that are earlier than the one before
        for (std::size_t k = 1; k < points; ++k)
            if (d[k * stride] < d[(k - 1) * stride]) descents.push_back(static_cast<std::int64_t>(k));
        std::int64_t needed = 0;
        std::int64_t backward = 0;
        for (datafile_item const& e : envelopes) {
            if (e.ints.size() < 4) continue;
            std::int64_t const first = e.ints[2];
            std::int64_t const end = first + e.ints[3];
            needed = std::max(needed, end);
            auto const descent =
                std::upper_bound(descents.begin(), descents.end(), std::max<std::int64_t>(first, 0));
            backward += descent != descents.end() && *descent < end;
        }
        o.number("needed", needed);
        std::map<std::string, std::int64_t> curves;
        for (std::size_t k = 0; k < points; ++k) ++curves[fmt::format("{}", d[k * stride + 1])];
        {
            object_writer c = o.object("curves");
            for (auto const& [curve, count] : curves) c.number(curve, count);
        }
        o.number("non_monotonic_envelopes", backward);
    }

    void bezier(std::uint16_t type) {
        auto const found = items_of(file_, type);
        std::vector<std::size_t> ints;
        std::vector<std::size_t> points;
        for (datafile_item const& i : found) {
            ints.push_back(i.ints.size());
            points.push_back(i.ints.size() / 16);
        }
        object_writer o = top_.object("bezier");
        o.number("items", found.size());
        o.numbers("ints", ints);
        o.numbers("points", points);
    }

    void group(object_writer& o, item_ints const& d) {
        o.number("version", d[0]);
        o.numbers("offset", range(d, 1, 3));
        o.numbers("parallax", range(d, 3, 5));
        o.number("start", d[5]);
        o.number("num", d[6]);
        if (d[0] >= 2 && d.size() >= 12) o.numbers("clipping", range(d, 7, 12));
        if (d[0] >= 3 && d.size() >= 15) o.text("name", unpack(d, 12, 3).text);
    }

    void layer(object_writer& o, item_ints const& d) {
        o.number("base_version", d[0]);
        o.number("type", d[1]);
        o.number("flags", d[2]);
        switch (d[1]) {
        case map_layer_type::tiles: return tile_layer_fields(o, d);
        case map_layer_type::quads: return quad_layer_fields(o, d);
        case map_layer_type::sounds:
        case map_layer_type::deprecated_sounds: return sound_layer_fields(o, d);
        default: o.text("kind", "unknown");
        }
    }

    void tile_layer_fields(object_writer& o, item_ints const& d) {
        if (d.size() < 15 || (d[3] >= 3 && d.size() < 18)) {
            o.text("kind", "unknown");
            return o.flag("too_short", true);
        }
        struct kind {
            std::int32_t flag;
            tile_kind what;
            std::size_t slot; ///< among the ints after the name; none for the game layer
            std::size_t tile_bytes;
        };
        constexpr std::size_t no_slot = SIZE_MAX;
        constexpr kind kinds[] = {{1, tile_kind::game, no_slot, 4}, {2, tile_kind::tele, 0, 2},
                                  {4, tile_kind::speedup, 1, 6},    {8, tile_kind::front, 2, 4},
                                  {16, tile_kind::switches, 3, 4},  {32, tile_kind::tune, 4, 2}};
        kind chosen{0, tile_kind::tiles, no_slot, 4};
        for (kind const& k : kinds)
            if ((d[6] & k.flag) != 0) chosen = k;
        o.text("kind", name(chosen.what));
        o.number("version", d[3]);
        o.number("width", d[4]);
        o.number("height", d[5]);
        o.number("tilemap_flags", d[6]);
        o.numbers("color", range(d, 7, 11));
        o.number("color_env", d[11]);
        o.number("color_env_offset", d[12]);
        o.number("image", d[13]);
        o.number("data", d[14]);
        std::size_t const extension = d[3] >= 3 ? 18 : 15;
        if (d[3] >= 3) packed(o, d, 15, 3);
        o.numbers("extension", range(d, extension, d.size()));
        o.number("extension_at", extension);
        std::optional<std::int32_t> block;
        if (chosen.slot == no_slot) block = d[14];
        else if (extension + chosen.slot < d.size()) block = d[extension + chosen.slot];
        if (block) o.number("tile_data", *block);
        else o.null("tile_data");
        if (block_facts const* const cells = block ? content(*block) : nullptr) {
            o.number("tile_bytes", cells->size);
            bool const possible = d[4] >= 0 && d[5] >= 0;
            auto const wanted =
                possible ? static_cast<std::uint64_t>(d[4]) * static_cast<std::uint64_t>(d[5]) : UINT64_MAX;
            tile_values(o, *block, *cells, wanted, chosen.what, chosen.tile_bytes, d[3]);
        }
        if (chosen.slot == no_slot) return;
        if (block_facts const* const zeros = content(d[14])) {
            o.number("dummy_bytes", zeros->size);
            o.flag("dummy_all_zero", zeros->zero);
        }
    }

    void tile_values(object_writer& o, std::int32_t block, block_facts const& content, std::uint64_t wanted,
                     tile_kind kind, std::size_t tile_bytes, std::int32_t version) {
        if (version >= 4 && (kind == tile_kind::tiles || kind == tile_kind::game)) {
            o.number("packed_tiles", content.size / 4);
            o.number("unpacked_tiles", content.unpacked);
            // They were unpacked when the map was read, if they make sense.
            bool const typed = document_.map && number_ < document_.map->layers.size();
            tile_layer const* const unpacked = typed ? document_.map->layers[number_].tiles() : nullptr;
            if (unpacked != nullptr && !unpacked->tiles.empty()) {
                std::string& sum = unpacked_sums_[{block, unpacked->tiles.size()}];
                auto const* const first = reinterpret_cast<std::uint8_t const*>(unpacked->tiles.data());
                if (sum.empty()) sum = sha256_text({first, unpacked->tiles.size() * sizeof(tile)});
                o.text("unpacked_sha256", sum);
            }
            return o.flag("size_ok", content.unpacked == wanted);
        }
        o.flag("size_ok", content.size % tile_bytes == 0 && content.size / tile_bytes == wanted);
        if (kind != tile_kind::tiles && kind != tile_kind::game && kind != tile_kind::front) return;
        o.number("nonzero_skip", content.skips);
        o.number("nonzero_reserved", content.reserved);
    }

    void element_bytes(object_writer& o, std::int32_t block, std::int32_t count, std::uint64_t each) {
        block_facts const* const found = content(block);
        if (found == nullptr) return;
        o.number("data_bytes", found->size);
        o.flag("size_ok", count >= 0 && found->size == static_cast<std::uint64_t>(count) * each);
    }

    void quad_layer_fields(object_writer& o, item_ints const& d) {
        o.text("kind", "quads");
        if (d.size() < 7) return o.flag("too_short", true);
        o.number("version", d[3]);
        o.number("num", d[4]);
        o.number("data", d[5]);
        o.number("image", d[6]);
        if (d[3] >= 2 && d.size() >= 10) o.text("name", unpack(d, 7, 3).text);
        constexpr std::uint64_t quad_bytes = 152;
        element_bytes(o, d[5], d[4], quad_bytes);
    }

    void sound_layer_fields(object_writer& o, item_ints const& d) {
        bool const deprecated = d[1] == map_layer_type::deprecated_sounds;
        o.text("kind", deprecated ? "sounds_deprecated" : "sounds");
        if (d.size() < 7) return o.flag("too_short", true);
        o.number("version", d[3]);
        o.number("num", d[4]);
        o.number("data", d[5]);
        o.number("sound", d[6]);
        if (d.size() >= 10) o.text("name", unpack(d, 7, 3).text);
        element_bytes(o, d[5], d[4], deprecated ? 36 : 52);
    }

    void sound(object_writer& o, item_ints const& d) {
        o.number("version", d[0]);
        o.number("external", d[1]);
        name_in_block(o, d[2]);
        o.number("data", d[3]);
        if (d.size() > 4) o.number("data_size_field", d[4]);
        else o.null("data_size_field");
        if (block_facts const* const found = content(d[3])) {
            o.number("data_bytes", found->size);
            o.text("magic", found->magic);
        }
    }

    void mapper(object_writer& o, item_ints const& d) {
        o.number("version", d[0]);
        o.number("group", d[1]);
        o.number("layer", d[2]);
        o.number("config", d[3]);
        o.number("seed", d[4]);
        o.number("flags", d[5]);
    }

    map_document const& document_;
    datafile const& file_;
    object_writer& top_;
    std::vector<datafile_item> versions_;
    block_reader blocks_;
    std::map<std::pair<std::int32_t, std::size_t>, std::string> unpacked_sums_; // of a block and a number of tiles
    std::map<std::uint16_t, std::uint32_t> type_counts_;                        // of the first entry of each type
    std::size_t number_ = 0; ///< of the item, among those of its type
};

void write_head(object_writer& top, map_source const& source, std::string_view format) {
    top.text("file", source.name());
    if (!source.name_in_demo().empty()) top.text("map_in_demo", source.name_in_demo());
    top.text("format", format);
    top.number("bytes", source.bytes().size());
    top.text("sha256", sha256_text(source.bytes()));
    top.text("crc32", crc32_text(source.bytes()));
}

} // namespace

void write_map_json(object_writer& top, map_source const& source, map_document const& document,
                    known_blocks const& known) {
    write_head(top, source, "datafile");
    if (document.container) {
        map_printer printer{document, top, known};
        printer.container();
        if (printer.is_map()) printer.contents();
        else top.text("layout", "pre-0.5 (not the documented map item set)");
        printer.blocks();
    } else {
        top.text("error", problem_text(document.problems.back()));
    }
    top.objects("problems", document.problems, write_problem);
}

void write_xvector_json(object_writer& top, map_source const& source, xvector_document const& document) {
    write_head(top, source, "xvector");
    if (document.header) {
        xvector_header const& h = *document.header;
        bool const original = h.layout == xvector_layout::original_program;
        top.text("layout", original ? "original_program" : "revision_1");
        top.number("version", h.version);
        if (!original) top.number("min_version", h.min_version);
        top.number("content_flags", h.content_flags);
        top.flag("stripped", h.stripped());
        top.text("name", h.name);
        top.number("width", h.width);
        top.number("height", h.height);
        top.number("depth", h.depth);
        top.number("player_depth", h.player_depth);
        top.text("north", h.north);
        top.text("east", h.east);
        top.text("south", h.south);
        top.text("west", h.west);
        top.text("background", h.background);
        if (!original) {
            top.numbers("scroll", std::array{h.scroll_x, h.scroll_y});
            top.list("parallax", std::array{h.parallax_x, h.parallax_y}, [](json_writer& json, float rate) {
                std::isfinite(rate) ? json.Double(double{rate}) : json.Null(); // JSON has no infinity
            });
        }
        top.flag("background_ignored", h.background_ignored());
        top.list("tiles", document.tiles, [](json_writer& json, xvector_tile const& t) {
            json.StartArray();
            for (std::uint32_t const n : {t.x, t.y, t.z, t.sprite}) json.Uint(n);
            json.EndArray();
        });
    } else {
        top.text("error", problem_text(document.problems.back()));
    }
    top.objects("problems", document.problems, write_problem);
}

} // namespace teewire::replay
