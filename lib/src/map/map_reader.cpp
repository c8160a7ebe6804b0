#include "item_layout.hpp"
#include "text.hpp"

#include "teewire/map/map.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>

namespace teewire {

namespace {

using namespace map_detail;

// Where something was found.
struct place {
    std::int32_t type = -1;
    std::int32_t item = -1;
    std::size_t position = 0;
    std::int32_t group = -1;
    std::int32_t layer = -1;
};

// Larger blocks are decompressed once for their true size before memory is asked for.
constexpr std::size_t trusted_block_bytes = std::size_t{16} << 20;

// What all parts of reading share: reporting, and loading blocks within a budget.
class loader {
public:
    loader(datafile const& file, std::size_t max_bytes, map_report report)
        : file_{file}, report_{report}, budget_{max_bytes}, memory_{new inflate_memory} {}

    [[nodiscard]] datafile const& file() const noexcept { return file_; }
    [[nodiscard]] map_problem const& first_error() const noexcept { return first_error_; }
    [[nodiscard]] bool has_error() const noexcept { return first_error_.code != map_errc::ok; }

    void report(map_problem problem, place const& at) {
        problem.item_type = at.type;
        problem.item = at.item;
        problem.group = at.group;
        problem.layer = at.layer;
        if (problem.position == 0) problem.position = at.position;
        if (problem.severity == map_severity::error && !has_error()) first_error_ = problem;
        report_(problem);
    }
    void report(map_errc code, place const& at, std::int64_t value = 0, std::int64_t expected = 0,
                std::int32_t block = -1) {
        report(code, severity_of(code), at, value, expected, block);
    }
    void report(map_errc code, map_severity severity, place const& at, std::int64_t value = 0,
                std::int64_t expected = 0, std::int32_t block = -1) {
        map_problem problem;
        problem.code = code;
        problem.severity = severity;
        problem.block = block;
        problem.value = value;
        problem.expected = expected;
        report(problem, at);
    }

    // Takes what is about to be allocated off the budget. False, with a report, if there is not enough.
    bool spend(std::size_t bytes, std::int32_t block, place const& at, map_severity worst) {
        if (bytes <= budget_) {
            budget_ -= bytes;
            return true;
        }
        report(map_errc::too_large, worst, at, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(budget_),
               block);
        return false;
    }

    // Fills `out` with as many whole or begun elements as the block has bytes for. Gives the bytes, or nothing, with a
    // report.
    template <class Element>
    std::optional<std::size_t> load(std::int32_t block, std::vector<Element>& out, place const& at,
                                    map_severity worst = map_severity::damage) {
        auto size = file_.block_size(block);
        // What is stored counts as well: a long stream can hold next to nothing, and be asked for again and again.
        if (size &&
            !spend(std::max(*size, file_.block(static_cast<std::size_t>(block)).stored.size()), block, at, worst))
            return {};
        if (size && *size > trusted_block_bytes) size = file_.check_block(block, *memory_);
        if (size) {
            out.resize((*size + sizeof(Element) - 1) / sizeof(Element));
            auto const bytes = std::span{reinterpret_cast<std::uint8_t*>(out.data()), *size};
            auto const target = [&](map_problem const& note) { report(note, at); };
            auto const read = file_.read_block(block, bytes, *memory_, target);
            if (read) return *size;
            out = {};
            size = read.error();
        }
        map_problem problem = size.error();
        problem.severity = worst;
        report(problem, at);
        return {};
    }

private:
    datafile const& file_;
    map_report report_;
    std::size_t budget_;
    std::unique_ptr<inflate_memory> memory_;
    map_problem first_error_{};
};

raw_ints copy(item_ints ints) {
    raw_ints raw(ints.size());
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = ints[i];
    return raw;
}

// The ints of an item, with what is meant where it is too short.
class fields {
public:
    explicit fields(raw_ints const& raw) : raw_{raw} {}
    std::int32_t operator()(std::size_t i, std::int32_t missing) const noexcept {
        return i < raw_.size() ? raw_[i] : missing;
    }

private:
    raw_ints const& raw_;
};

// A name of `count` ints from int `at` on. DDNet refuses tile layers whose names are not text, and empties others.
std::string read_name(loader& from, raw_ints const& raw, std::size_t at, std::size_t count, map_severity severity,
                      place const& where) {
    if (raw.size() < at + count) return {};
    auto text = unpack_name(std::span{raw}.subspan(at, count));
    if (!text) from.report(map_errc::bad_name_encoding, severity, where);
    return text ? std::move(*text) : std::string{};
}

// ---- tile layers ---------------------------------------------------------------------------------------------------

bool is_tile_kind(std::int32_t flags) noexcept {
    return flags == 0 || (flags > 0 && flags <= 32 && std::has_single_bit(static_cast<unsigned>(flags)));
}

// Puts what is behind the first `count` cells into `surplus`.
template <class Cell>
void cut_cells(std::vector<Cell>& cells, std::size_t count, std::size_t bytes, std::vector<std::uint8_t>& surplus) {
    auto const* const all = reinterpret_cast<std::uint8_t const*>(cells.data());
    surplus.assign(all + count * sizeof(Cell), all + bytes);
    cells.resize(count);
}

// The bits that are set in any tile.
tile all_bits(std::span<tile const> tiles) noexcept {
    std::uint32_t bits = 0;
    for (tile const& t : tiles) {
        std::uint32_t word;
        std::memcpy(&word, &t, sizeof word);
        bits |= word;
    }
    return std::bit_cast<tile>(bits);
}

class tile_layer_reader {
public:
    tile_layer_reader(loader& from, place const& where) : from_{from}, where_{where} {}

    // False if the attributes make no sense.
    bool read_attributes(raw_ints const& raw, tile_layer& out) {
        if (raw.size() < 4) return fail(map_errc::item_too_short, static_cast<std::int64_t>(raw.size()), 15);
        out.version = raw[3];
        if (out.version < 2 || out.version > 4) return fail(map_errc::unsupported_layer_version, raw[3], 3);
        std::size_t const slots = tile_layer_slots(out.version);
        if (raw.size() < slots)
            return fail(map_errc::item_too_short, static_cast<std::int64_t>(raw.size()),
                        static_cast<std::int64_t>(slots));
        out.width = raw[4];
        out.height = raw[5];
        if (!is_tile_kind(raw[6])) return fail(map_errc::bad_tilemap_flags, raw[6], 0);
        out.kind = static_cast<tile_kind>(raw[6]);
        for (std::size_t i = 0; i < 4; ++i) out.color[i] = raw[7 + i];
        out.color_envelope = raw[11];
        out.color_envelope_offset = raw[12];
        out.image = raw[13];
        out.tiles_block = raw[14];
        if (auto const slot = tile_layer_slot(out.kind)) {
            if (raw.size() <= slots + *slot)
                return fail(map_errc::item_too_short, static_cast<std::int64_t>(raw.size()),
                            static_cast<std::int64_t>(slots + *slot + 1));
            out.zero_block = raw[14];
            out.tiles_block = raw[slots + *slot];
        }
        constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
        if (out.width < 2) return fail(map_errc::bad_dimensions, out.width, 2);
        if (out.height < 2) return fail(map_errc::bad_dimensions, out.height, 2);
        std::uint64_t const cells = static_cast<std::uint64_t>(out.width) * static_cast<std::uint64_t>(out.height);
        if (cells * cell_bytes(out.kind) > most)
            return fail(map_errc::bad_dimensions, static_cast<std::int64_t>(cells),
                        static_cast<std::int64_t>(most));
        if (out.kind == tile_kind::tiles)
            for (std::int32_t const c : out.color)
                if (c < 0 || c > 255) {
                    from_.report(map_errc::bad_color, where_, c, 255);
                    break;
                }
        return true;
    }

    // False if the cells cannot be used. They are left empty then.
    bool read_cells(tile_layer& out) {
        // A map without a usable game layer is refused; any other layer would just be missing.
        severity_ = out.kind == tile_kind::game ? map_severity::error : map_severity::damage;
        if (from_.file().block_size(out.tiles_block).has_value() == false) {
            map_problem problem = from_.file().block_size(out.tiles_block).error();
            problem.severity = problem.code == map_errc::bad_data_index ? map_severity::error : severity_;
            from_.report(problem, where_);
            return false;
        }
        if (out.version == 4 && out.kind != tile_kind::game && out.kind != tile_kind::tiles)
            return fail_data(map_errc::packed_physics_layer, out.tiles_block, out.version, 3);
        switch (out.kind) {
        case tile_kind::tiles:
        case tile_kind::game: return out.version == 4 ? read_packed(out) : read_tiles(out);
        case tile_kind::front: return read_tiles(out);
        case tile_kind::tele: return read_plain(out, out.tele);
        case tile_kind::speedup: return read_plain(out, out.speedup);
        case tile_kind::switches: return read_plain(out, out.switches);
        case tile_kind::tune: return read_plain(out, out.tune);
        }
        return false;
    }

private:
    bool fail(map_errc code, std::int64_t value, std::int64_t expected) {
        from_.report(code, where_, value, expected);
        return false;
    }
    bool fail_data(map_errc code, std::int32_t block, std::int64_t value, std::int64_t expected) {
        from_.report(code, severity_, where_, value, expected, block);
        return false;
    }

    template <class Cell>
    bool read_plain(tile_layer& out, std::vector<Cell>& cells) {
        std::size_t const needed = out.cell_count() * sizeof(Cell);
        // Before anything is decompressed: the size is known.
        if (auto const size = *from_.file().block_size(out.tiles_block); size < needed)
            return fail_data(map_errc::tile_data_too_small, out.tiles_block, static_cast<std::int64_t>(size),
                             static_cast<std::int64_t>(needed));
        auto const bytes = from_.load(out.tiles_block, cells, where_, severity_);
        if (!bytes) return false;
        cut_cells(cells, out.cell_count(), *bytes, out.surplus);
        return true;
    }

    bool read_tiles(tile_layer& out) {
        if (!read_plain(out, out.tiles)) return false;
        tile const bits = all_bits(out.tiles);
        map_errc const code = bits.skip != 0       ? map_errc::nonzero_skip
                              : bits.reserved != 0 ? map_errc::nonzero_reserved
                                                   : map_errc::ok;
        if (code == map_errc::ok) return true;
        auto const first = std::find_if(out.tiles.begin(), out.tiles.end(), [&](tile const& t) {
            return code == map_errc::nonzero_skip ? t.skip != 0 : t.reserved != 0;
        });
        auto const cell = first - out.tiles.begin();
        out.tiles = {};
        out.surplus = {};
        return fail_data(code, out.tiles_block, cell, 0);
    }

    bool read_packed(tile_layer& out) {
        std::vector<tile> packed;
        auto const bytes = from_.load(out.tiles_block, packed, where_, severity_);
        if (!bytes) return false;
        if (*bytes % 4 != 0)
            from_.report(map_errc::packed_tiles_unaligned, where_, static_cast<std::int64_t>(*bytes), 0,
                         out.tiles_block);
        cut_cells(packed, *bytes / 4, *bytes, out.surplus);
        // Known before memory is asked for: 256 cells per packed tile at most.
        std::size_t const cells = count_tiles(packed);
        auto failed =
            result<std::size_t, tile_failure>{tile_failure{map_errc::packed_tiles_too_short, packed.size()}};
        if (cells >= out.cell_count()) {
            if (!from_.spend(out.cell_count() * sizeof(tile), out.tiles_block, where_, severity_)) {
                out.surplus = {};
                return false;
            }
            out.tiles.resize(out.cell_count());
            failed = expand_tiles(packed, out.tiles);
        }
        if (!failed) {
            out.tiles = {};
            out.surplus = {};
            return fail_data(failed.error().code, out.tiles_block, static_cast<std::int64_t>(cells),
                             static_cast<std::int64_t>(out.cell_count()));
        }
        if (*failed != 0)
            from_.report(map_errc::packed_run_overshoots, where_, static_cast<std::int64_t>(cells),
                         static_cast<std::int64_t>(out.cell_count()), out.tiles_block);
        return true;
    }

    loader& from_;
    place where_;
    map_severity severity_ = map_severity::damage;
};

// ---- the map -------------------------------------------------------------------------------------------------------

class map_reader {
public:
    map_reader(datafile const& file, game_map& out, map_read_options const& options)
        : file_{file}, map_{out}, from_{file, options.max_bytes, options.report},
          strict_{options.mode == decoding::strict}, whole_{options.contents == map_contents::all},
          used_(file.block_count()), tiles_(file.block_count()) {}

    map_problem read() {
        map_problem const problem = read_version();
        if (problem.code != map_errc::ok) return problem;
        map_.block_count = static_cast<std::int32_t>(file_.block_count());
        read_uuids();
        read_info();
        read_images();
        read_envelopes();
        read_groups();
        read_sounds();
        read_layers();
        check_layers();
        read_auto_mappers();
        read_unknown();
        if (whole_) keep_blocks();
        return strict_ ? from_.first_error() : map_problem{};
    }

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
                     map_severity severity = map_severity::error) {
        if (ints.size() >= needed) return true;
        from_.report(map_errc::item_too_short, severity, where, static_cast<std::int64_t>(ints.size()),
                     static_cast<std::int64_t>(needed));
        return false;
    }

    void mark(std::int32_t block) {
        if (block >= 0 && static_cast<std::size_t>(block) < used_.size())
            used_[static_cast<std::size_t>(block)] = true;
    }

    map_problem read_version() {
        datafile_type const all = file_.find_type(map_item_type::version);
        place where{map_item_type::version, 0, 16};
        if (all.count == 0) {
            from_.report(map_errc::missing_version, where);
            return from_.first_error();
        }
        datafile_item const item = file_.item(all.first);
        where.position = item.position;
        if (!long_enough(item.ints, 1, where)) return from_.first_error();
        if (item.ints[0] != 1) from_.report(map_errc::unsupported_map_version, where, item.ints[0], 1);
        return from_.first_error();
    }

    // The first index item of a number decides what it means.
    void read_uuids() {
        std::vector<bool> seen(0x10000);
        each(uuid_index_type, [&](datafile_item const& item, place const& where) {
            if (item.ints.size() < 4) {
                from_.report(map_errc::short_uuid_index, where, static_cast<std::int64_t>(item.ints.size()), 4);
            } else if (seen[item.id]) {
                from_.report(map_errc::duplicate_uuid_index, where, item.id);
            } else if (item.id > 0x8000 && item.id != uuid_index_type) {
                map_.uuid_types.push_back({item.id, read_uuid(item.ints)});
            }
            seen[item.id] = true;
        });
        names_ = map_.uuid_types;
        std::sort(names_.begin(), names_.end(), [](auto const& a, auto const& b) { return a.type < b.type; });
    }

    [[nodiscard]] std::optional<uuid> name_of(std::uint16_t type) const {
        auto const found = std::lower_bound(names_.begin(), names_.end(), type,
                                            [](uuid_type const& known, std::uint16_t t) { return known.type < t; });
        if (found == names_.end() || found->type != type) return {};
        return found->name;
    }

    map_text read_text(std::int32_t block, std::size_t most, place const& where) {
        map_text text{{}, block};
        if (block == -1) return text;
        std::vector<std::uint8_t> bytes;
        if (!from_.load(block, bytes, where)) return text;
        auto const end = std::find(bytes.begin(), bytes.end(), std::uint8_t{0});
        std::string found{bytes.begin(), end};
        if (bytes.empty() || end + 1 != bytes.end() || !is_utf8(found)) {
            from_.report(map_errc::bad_text, where, static_cast<std::int64_t>(bytes.size()), 0, block);
            return text;
        }
        if (found.size() > most)
            from_.report(map_errc::text_too_long, where, static_cast<std::int64_t>(found.size()),
                         static_cast<std::int64_t>(most), block);
        text.text = std::move(found);
        mark(block);
        return text;
    }

    void read_info() {
        datafile_type const all = file_.find_type(map_item_type::info);
        if (all.count == 0) return;
        datafile_item const item = file_.item(all.first);
        place const where{map_item_type::info, 0, item.position};
        map_info& info = map_.info.emplace();
        info.raw = copy(item.ints);
        long_enough(item.ints, 5, where);
        fields const get{info.raw};
        info.version = get(0, 1);
        info.author = read_text(get(1, -1), 31, where);
        info.map_version = read_text(get(2, -1), 15, where);
        info.credits = read_text(get(3, -1), 127, where);
        info.license = read_text(get(4, -1), 31, where);
        if (info.version == 1) read_settings(get(5, -1), info, where);
    }

    void read_settings(std::int32_t block, map_info& info, place const& where) {
        info.settings_block = block;
        std::vector<std::uint8_t> bytes;
        if (block == -1 || !from_.load(block, bytes, where) || bytes.empty()) return;
        // Strings take more than the bytes that end them.
        auto const count = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), std::uint8_t{0}));
        if (!from_.spend(count * sizeof(std::string), block, where, map_severity::damage)) return;
        mark(block);
        if (bytes.back() != 0) {
            from_.report(map_errc::settings_not_terminated, where, bytes.back(), 0, block);
            bytes.push_back(0);
        }
        for (auto at = bytes.begin(); at != bytes.end();) {
            auto const end = std::find(at, bytes.end(), std::uint8_t{0});
            info.settings.emplace_back(at, end);
            at = end + 1;
        }
    }

    void read_images() {
        each(map_item_type::image, [&](datafile_item const& item, place const& where) {
            map_image& image = map_.images.emplace_back();
            image.raw = copy(item.ints);
            fields const get{image.raw};
            image.version = get(0, 1);
            long_enough(item.ints, image.version >= 2 ? 7 : 6, where);
            image.width = get(1, 0);
            image.height = get(2, 0);
            image.external = get(3, 1) != 0;
            image.name = read_text(get(4, -1), 127, where);
            image.pixels_block = get(5, -1);
            if (image.version >= 2) image.variant = get(6, 1);
            if (image.name.text.find_first_of("/\\") != std::string::npos)
                from_.report(map_errc::unsafe_image_name, where);
            if (image.external && image.name.text.empty()) from_.report(map_errc::missing_image_name, where);
            if (!image.external && whole_) read_pixels(image, where);
        });
    }

    void read_pixels(map_image& image, place const& where) {
        auto const size = file_.block_size(image.pixels_block);
        if (size) {
            auto const area = image.width > 0 && image.height > 0 ? static_cast<std::uint64_t>(image.width) *
                                                                        static_cast<std::uint64_t>(image.height)
                                                                  : 0;
            if (image.variant != 1 && (image.variant != 0 || area == 0 || *size != area * 3)) {
                from_.report(map_errc::unsupported_image_variant, where, image.variant, 1, image.pixels_block);
                return;
            }
            if (area == 0 || (image.variant == 1 && *size < area * 4)) {
                from_.report(map_errc::image_data_too_small, where, static_cast<std::int64_t>(*size),
                             static_cast<std::int64_t>(area * 4), image.pixels_block);
                return;
            }
        }
        if (from_.load(image.pixels_block, image.pixels, where)) mark(image.pixels_block);
    }

    void read_envelopes() {
        bool wide = false; // one envelope of version 3 makes all points wide
        each(map_item_type::envelope, [&](datafile_item const& item, place const& where) {
            map_envelope& envelope = map_.envelopes.emplace_back();
            envelope.raw = copy(item.ints);
            fields const get{envelope.raw};
            envelope.version = get(0, 1);
            long_enough(item.ints, envelope.version >= 2 ? 13 : 4, where);
            wide |= envelope.version >= 3;
            envelope.channels = get(1, 4);
            envelope.first_point = get(2, 0);
            envelope.point_count = get(3, 0);
            if (envelope.channels != 1 && envelope.channels != 3 && envelope.channels != 4)
                from_.report(map_errc::bad_envelope_channels, where, envelope.channels, 4);
            // The oldest ones have a number there, -1.
            if (get(4, -1) != -1) envelope.name = read_name(from_, envelope.raw, 4, 8, map_severity::note, where);
            if (envelope.version >= 2) envelope.synchronized = get(12, 1) != 0;
        });
        read_points(wide);
        check_points();
    }

    void read_points(bool wide) {
        datafile_type const all = file_.find_type(map_item_type::envelope_points);
        if (all.count == 0) return;
        datafile_item const item = file_.item(all.first);
        place const where{map_item_type::envelope_points, 0, item.position};
        std::size_t const stride = wide ? wide_point_ints : point_ints;
        map_.points.resize(item.ints.size() / stride);
        for (std::size_t p = 0; p < map_.points.size(); ++p) {
            read_point(map_.points[p], [&](std::size_t i) { return item.ints[p * stride + i]; });
            if (wide)
                read_tangents(map_.points[p],
                              [&](std::size_t i) { return item.ints[p * stride + point_ints + i]; });
        }
        for (std::size_t i = map_.points.size() * stride; i < item.ints.size(); ++i)
            map_.surplus_points.push_back(item.ints[i]);
        if (!map_.surplus_points.empty())
            from_.report(map_errc::bad_envelope_points, where, static_cast<std::int64_t>(item.ints.size()),
                         static_cast<std::int64_t>(map_.points.size() * stride));
        auto const odd = std::find_if(map_.points.begin(), map_.points.end(), [](envelope_point const& p) {
            return p.curve < envelope_curve::step || p.curve > envelope_curve::bezier;
        });
        if (odd != map_.points.end()) from_.report(map_errc::bad_curve_type, where, odd->curve, 1);

        beziers_ = file_.type_of(bezier_uuid);
        if (!beziers_) return;
        datafile_type const beziers = file_.find_type(*beziers_);
        if (beziers.count == 0) return;
        datafile_item const bezier = file_.item(beziers.first);
        if (wide || bezier.ints.size() != map_.points.size() * tangent_ints) {
            from_.report(map_errc::bezier_count, place{bezier.type, 0, bezier.position},
                         static_cast<std::int64_t>(bezier.ints.size()),
                         static_cast<std::int64_t>(map_.points.size() * tangent_ints));
            return;
        }
        map_.bezier_item = true;
        for (std::size_t p = 0; p < map_.points.size(); ++p)
            read_tangents(map_.points[p], [&](std::size_t i) { return bezier.ints[p * tangent_ints + i]; });
    }

    void check_points() {
        // For each point, the next one that comes before its own predecessor: envelopes may share their points.
        std::vector<std::size_t> backward(map_.points.size(), map_.points.size());
        for (std::size_t i = backward.size(); i-- > 1;)
            backward[i - 1] = map_.points[i].time < map_.points[i - 1].time ? i : backward[i];
        each(map_item_type::envelope, [&](datafile_item const&, place const& where) {
            map_envelope const& envelope = map_.envelopes[static_cast<std::size_t>(where.item)];
            auto const points = map_.points_of(envelope);
            if (envelope.point_count < 0 || points.size() != static_cast<std::size_t>(envelope.point_count))
                from_.report(map_errc::bad_envelope_points, where, envelope.point_count,
                             static_cast<std::int64_t>(points.size()));
            else if (!points.empty()) {
                auto const first = static_cast<std::size_t>(envelope.first_point);
                if (backward[first] < first + points.size())
                    from_.report(map_errc::point_order, where, map_.points[backward[first]].time,
                                 map_.points[backward[first] - 1].time);
            }
        });
    }

    void read_groups() {
        std::size_t const layers = file_.find_type(map_item_type::layer).count;
        group_of_.assign(layers, -1);
        each(map_item_type::group, [&](datafile_item const& item, place where) {
            where.group = where.item;
            map_group& group = map_.groups.emplace_back();
            group.raw = copy(item.ints);
            fields const get{group.raw};
            group.version = get(0, 1);
            if (group.version < 1 || group.version > 3)
                from_.report(map_errc::unsupported_group_version, where, group.version, 3);
            long_enough(item.ints, group.version >= 3 ? 15 : group.version == 2 ? 12 : 7, where);
            group.offset_x = get(1, 0);
            group.offset_y = get(2, 0);
            group.parallax_x = get(3, 100);
            group.parallax_y = get(4, 100);
            group.first_layer = get(5, 0);
            group.layer_count = get(6, 0);
            if (group.version >= 2) {
                group.clipping = get(7, 0) != 0;
                group.clip_x = get(8, 0);
                group.clip_y = get(9, 0);
                group.clip_width = get(10, 0);
                group.clip_height = get(11, 0);
            }
            if (group.version >= 3) group.name = read_name(from_, group.raw, 12, 3, map_severity::note, where);
            auto const end = std::int64_t{group.first_layer} + group.layer_count;
            if (group.first_layer < 0 || group.layer_count < 0 || end > static_cast<std::int64_t>(layers)) {
                from_.report(map_errc::bad_group_range, where, end, static_cast<std::int64_t>(layers));
                return;
            }
            for (auto i = static_cast<std::size_t>(group.first_layer); i < static_cast<std::size_t>(end); ++i) {
                if (group_of_[i] >= 0) {
                    where.layer = static_cast<std::int32_t>(i);
                    from_.report(map_errc::layer_used_twice, where, group_of_[i]);
                    break;
                }
                group_of_[i] = where.group;
            }
        });
    }

    void read_layers() {
        each(map_item_type::layer, [&](datafile_item const& item, place where) {
            where.layer = where.item;
            where.group = group_of_[static_cast<std::size_t>(where.item)];
            map_layer& layer = map_.layers.emplace_back();
            layer.raw = copy(item.ints);
            if (!long_enough(item.ints, 3, where)) return;
            layer.flags = item.ints[2];
            switch (item.ints[1]) {
            case map_layer_type::tiles: read_tile_layer(layer, where); break;
            case map_layer_type::quads: read_quads(layer, where); break;
            case map_layer_type::sounds:
            case map_layer_type::deprecated_sounds: read_sources(layer, where); break;
            default: from_.report(map_errc::unknown_layer_type, where, item.ints[1]); break;
            }
        });
    }

    void read_tile_layer(map_layer& layer, place const& where) {
        tile_layer tiles;
        tile_layer_reader reader{from_, where};
        bool const is_game = layer.raw.size() > 6 && layer.raw[6] == static_cast<std::int32_t>(tile_kind::game);
        tried_game_ |= is_game;
        if (!reader.read_attributes(layer.raw, tiles)) return;
        if (tiles.version >= 3) layer.name = read_name(from_, layer.raw, 15, 3, map_severity::error, where);
        if (tiles.image < -1 || tiles.image >= static_cast<std::int32_t>(map_.images.size())) {
            from_.report(map_errc::bad_image_index, where, tiles.image,
                         static_cast<std::int64_t>(map_.images.size()));
        } else if (tiles.image >= 0) {
            map_image const& image = map_.images[static_cast<std::size_t>(tiles.image)];
            if (image.width % 16 != 0 || image.height % 16 != 0)
                from_.report(map_errc::tile_image_size, where, image.width % 16 != 0 ? image.width : image.height,
                             16);
        }
        if (whole_ || tiles.kind != tile_kind::tiles) {
            auto const block = static_cast<std::size_t>(tiles.tiles_block);
            if (tiles.tiles_block >= 0 && block < tiles_.size() && tiles_[block]) {
                from_.report(map_errc::data_used_twice, where, 0, 0, tiles.tiles_block);
            } else {
                if (reader.read_cells(tiles)) mark(tiles.tiles_block);
                if (tiles.tiles_block >= 0 && block < tiles_.size()) tiles_[block] = true;
            }
            if (tile_layer_slot(tiles.kind)) check_zero_block(tiles, where);
        }
        layer.content = std::move(tiles);
    }

    void check_zero_block(tile_layer& tiles, place const& where) {
        auto const size = file_.block_size(tiles.zero_block);
        if (!size || *size < 4 * tiles.cell_count()) {
            from_.report(map_errc::missing_zero_block, where, size ? static_cast<std::int64_t>(*size) : 0,
                         static_cast<std::int64_t>(4 * tiles.cell_count()), tiles.zero_block);
            tiles.has_zeros = !(tiles.tiles.empty() && tiles.tele.empty() && tiles.speedup.empty() &&
                                tiles.switches.empty() && tiles.tune.empty());
            return;
        }
        if (whole_ && *size == 4 * tiles.cell_count() && is_zero(tiles.zero_block, where)) mark(tiles.zero_block);
    }

    // So that the block need not be kept.
    bool is_zero(std::int32_t block, place const& where) {
        std::vector<std::uint8_t> bytes;
        return from_.load(block, bytes, where) &&
               std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
    }

    // The block of a layer without quads or sources: what writers put there need not be kept.
    void read_empty_block(std::int32_t block, std::size_t element, place const& where) {
        auto const size = file_.block_size(block);
        if (whole_ && size && (*size == 0 || (*size == element && is_zero(block, where)))) mark(block);
    }

    void read_quads(map_layer& layer, place const& where) {
        raw_ints const& raw = layer.raw;
        quad_layer quads;
        if (raw.size() > 3) quads.version = raw[3];
        if (!supported(quads.version, where)) return;
        if (!long_enough_raw(raw, quads.version >= 2 ? 10 : 7, where)) return;
        quads.quads_block = raw[5];
        quads.image = raw[6];
        if (quads.version >= 2) layer.name = read_name(from_, raw, 7, 3, map_severity::note, where);
        if (quads.image < -1 || quads.image >= static_cast<std::int32_t>(map_.images.size()))
            from_.report(map_errc::bad_image_index, where, quads.image,
                         static_cast<std::int64_t>(map_.images.size()));
        read_elements(raw[4], quads.quads_block, quads.quads, quads.surplus, quad_ints, read_quad,
                      map_errc::quad_data_too_small, where);
        layer.content = std::move(quads);
    }

    void read_sources(map_layer& layer, place const& where) {
        raw_ints const& raw = layer.raw;
        sound_layer sounds;
        if (raw.size() > 3) sounds.version = raw[3];
        if (!supported(sounds.version, where) || !long_enough_raw(raw, 10, where)) return;
        sounds.deprecated = raw[1] == map_layer_type::deprecated_sounds;
        sounds.sources_block = raw[5];
        sounds.sound = raw[6];
        layer.name = read_name(from_, raw, 7, 3, map_severity::note, where);
        if (sounds.sound < -1 || sounds.sound >= static_cast<std::int32_t>(map_.sounds.size()))
            from_.report(map_errc::bad_sound_index, where, sounds.sound,
                         static_cast<std::int64_t>(map_.sounds.size()));
        read_elements(raw[4], sounds.sources_block, sounds.sources, sounds.surplus,
                      sounds.deprecated ? deprecated_source_ints : source_ints,
                      sounds.deprecated ? read_deprecated_source : read_source, map_errc::sound_data_too_small,
                      where);
        layer.content = std::move(sounds);
    }

    bool supported(std::int32_t version, place const& where) {
        if (version == 1 || version == 2) return true;
        from_.report(map_errc::unsupported_layer_version, map_severity::damage, where, version, 2);
        return false;
    }
    bool long_enough_raw(raw_ints const& raw, std::size_t needed, place const& where) {
        if (raw.size() >= needed) return true;
        from_.report(map_errc::item_too_short, where, static_cast<std::int64_t>(raw.size()),
                     static_cast<std::int64_t>(needed));
        return false;
    }

    template <class Element>
    void read_elements(std::int32_t stated, std::int32_t block, std::vector<Element>& out,
                       std::vector<std::uint8_t>& surplus, std::size_t ints, Element (*read)(item_ints),
                       map_errc too_small, place const& where) {
        if (!whole_) return;
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
        else surplus = {}; // the block is kept as it is
    }

    // What the layers have to do with each other.
    void check_layers() {
        tile_layer const* const game = map_.find(tile_kind::game);
        if (game == nullptr) {
            if (!tried_game_) from_.report(map_errc::missing_game_layer, place{map_item_type::layer, -1, 16});
            return;
        }
        std::int32_t game_group = -1;
        std::array<int, 33> seen{};
        datafile_type const all = file_.find_type(map_item_type::layer);
        for (std::size_t i = 0; i < map_.layers.size(); ++i)
            if (map_.layers[i].tiles() == game) game_group = group_of_[i];
        for (std::size_t i = 0; i < map_.layers.size(); ++i) {
            tile_layer const* const tiles = map_.layers[i].tiles();
            if (tiles == nullptr || tiles->kind == tile_kind::tiles) continue;
            place const where{map_item_type::layer, static_cast<std::int32_t>(i),
                              file_.item(all.first + i).position, group_of_[i], static_cast<std::int32_t>(i)};
            auto const kind = static_cast<std::size_t>(tiles->kind);
            if (seen[kind]++ != 0) from_.report(map_errc::duplicate_physics_layer, where);
            if (tiles->cell_count() < game->cell_count())
                from_.report(map_errc::physics_layer_too_small, where,
                             static_cast<std::int64_t>(tiles->cell_count()),
                             static_cast<std::int64_t>(game->cell_count()));
            if (group_of_[i] != game_group)
                from_.report(map_errc::physics_layer_place, where, group_of_[i], game_group);
        }
        if (game_group < 0) return;
        map_group const& group = map_.groups[static_cast<std::size_t>(game_group)];
        if (group.offset_x != 0 || group.offset_y != 0 || group.parallax_x != 100 || group.parallax_y != 100 ||
            group.clipping) {
            std::size_t const first = file_.find_type(map_item_type::group).first;
            from_.report(map_errc::game_group_fields,
                         place{map_item_type::group, game_group,
                               file_.item(first + static_cast<std::size_t>(game_group)).position, game_group});
        }
    }

    void read_sounds() {
        each(map_item_type::sound, [&](datafile_item const& item, place const& where) {
            map_sound& sound = map_.sounds.emplace_back();
            sound.raw = copy(item.ints);
            long_enough(item.ints, 5, where, map_severity::damage);
            fields const get{sound.raw};
            sound.version = get(0, 1);
            sound.external = get(1, 1) != 0;
            sound.name = read_text(get(2, -1), 127, where);
            sound.data_block = get(3, -1);
            if (!sound.external && whole_ && from_.load(sound.data_block, sound.data, where))
                mark(sound.data_block);
        });
    }

    void read_auto_mappers() {
        auto_mappers_ = file_.type_of(auto_mapper_uuid);
        if (!auto_mappers_) return;
        each(*auto_mappers_, [&](datafile_item const& item, place where) {
            auto_mapper& mapper = map_.auto_mappers.emplace_back();
            mapper.raw = copy(item.ints);
            bool const whole = long_enough(item.ints, 6, where, map_severity::damage);
            fields const get{mapper.raw};
            mapper.version = get(0, 1);
            mapper.group = get(1, 0);
            mapper.layer = get(2, 0);
            mapper.configuration = get(3, -1);
            mapper.seed = get(4, 0);
            mapper.flags = get(5, 0);
            if (!whole || (mapper.version == 1 && is_mapped(mapper))) return;
            where.group = mapper.group;
            from_.report(map_errc::bad_auto_mapper, where, mapper.version != 1 ? mapper.version : mapper.layer, 1);
        });
    }

    [[nodiscard]] bool is_mapped(auto_mapper const& mapper) const {
        if (mapper.group < 0 || static_cast<std::size_t>(mapper.group) >= map_.groups.size()) return false;
        auto const layers = map_.layers_of(map_.groups[static_cast<std::size_t>(mapper.group)]);
        if (mapper.layer < 0 || static_cast<std::size_t>(mapper.layer) >= layers.size()) return false;
        tile_layer const* const tiles = layers[static_cast<std::size_t>(mapper.layer)].tiles();
        return tiles != nullptr && tiles->kind == tile_kind::tiles;
    }

    void keep_items(datafile_type type, std::size_t from) {
        each(
            type,
            [&](datafile_item const& item, place const&) {
                map_.unknown_items.push_back({item.type, item.id, copy(item.ints)});
            },
            from);
    }

    void read_unknown() {
        for (std::size_t t = 0; t < file_.type_count(); ++t) {
            datafile_type const type = file_.type(t);
            switch (type.type) {
            case map_item_type::image:
            case map_item_type::envelope:
            case map_item_type::group:
            case map_item_type::layer:
            case map_item_type::sound:
            case uuid_index_type: continue;
            case map_item_type::version: // there is one, or there should be
            case map_item_type::info:
            case map_item_type::envelope_points: keep_items(type, 1); continue;
            default: break;
            }
            if (type.type == auto_mappers_) continue;
            if (type.type == beziers_ && map_.bezier_item) {
                keep_items(type, 1);
                continue;
            }
            place const where{type.type, 0, file_.item(type.first).position};
            auto const name = name_of(type.type);
            if (!name) from_.report(map_errc::unknown_item_type, where, type.count);
            else if (teewire::name(*name).empty()) from_.report(map_errc::unknown_uuid, where, type.count);
            keep_items(type, 0);
        }
    }

    void keep_blocks() {
        for (std::size_t i = 0; i < used_.size(); ++i) {
            if (used_[i]) continue;
            kept_block& kept = map_.kept_blocks.emplace_back();
            kept.block = static_cast<std::int32_t>(i);
            datafile_block const block = file_.block(i);
            place const where{-1, -1, block.position};
            if (block.size != 0 && from_.load(kept.block, kept.bytes, where)) continue;
            kept.bytes.assign(block.stored.begin(), block.stored.end());
            kept.stored = file_.version() == 4;
            kept.stated_size = static_cast<std::uint32_t>(block.size);
        }
    }

    datafile const& file_;
    game_map& map_;
    loader from_;
    bool strict_;
    bool whole_;
    bool tried_game_ = false;
    std::vector<bool> used_;             // blocks whose content the typed form holds
    std::vector<bool> tiles_;            // blocks that are the cells of a layer
    std::vector<std::int32_t> group_of_; // of each layer
    std::vector<uuid_type> names_;       // by number
    std::optional<std::uint16_t> auto_mappers_;
    std::optional<std::uint16_t> beziers_;
};

} // namespace

map_problem read_map(datafile const& file, game_map& out, map_read_options const& options) {
    out = {};
    map_problem const problem = map_reader{file, out, options}.read();
    if (problem.code != map_errc::ok) out = {};
    return problem;
}

bool read_game_layer(datafile const& file, tile_layer& out, map_report report) {
    out = {};
    datafile_type const layers = file.find_type(map_item_type::layer);
    for (std::size_t i = layers.count; i-- > 0;) {
        datafile_item const item = file.item(layers.first + i);
        if (item.ints.size() < 7 || item.ints[1] != map_layer_type::tiles ||
            item.ints[6] != static_cast<std::int32_t>(tile_kind::game))
            continue;
        auto const number = static_cast<std::int32_t>(i);
        loader from{file, map_read_options{}.max_bytes, report};
        tile_layer_reader reader{from, place{map_item_type::layer, number, item.position, -1, number}};
        return reader.read_attributes(copy(item.ints), out) && reader.read_cells(out);
    }
    return false;
}

} // namespace teewire
