// Tile layers of a map: attributes and cells.
#pragma once

#include "item_layout.hpp"
#include "map_loader.hpp"

#include <bit>
#include <cstring>

namespace teewire::map_detail {

inline bool is_tile_kind(std::int32_t flags) noexcept {
    return flags == 0 || (flags > 0 && flags <= 32 && std::has_single_bit(static_cast<unsigned>(flags)));
}

// Puts the bytes after the first `count` cells into `surplus`.
template <class Cell>
void cut_cells(std::vector<Cell>& cells, std::size_t count, std::size_t bytes, std::vector<std::uint8_t>& surplus) {
    auto const* const all = reinterpret_cast<std::uint8_t const*>(cells.data());
    surplus.assign(all + count * sizeof(Cell), all + bytes);
    cells.resize(count);
}

// The bits that are set in any tile.
inline tile all_bits(std::span<tile const> tiles) noexcept {
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

} // namespace teewire::map_detail
