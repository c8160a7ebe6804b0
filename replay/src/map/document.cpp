#include "map/document.hpp"

#include "base/interrupts.hpp"
#include "base/keyed_hash.hpp"
#include "base/lent.hpp"
#include "base/text.hpp"

#include <teewire/sha256.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

namespace teewire::replay {
namespace {

// Keeps each problem once. A block is looked at for every item that refers to it, and once more for its own sake.
class problem_keeper {
public:
    explicit problem_keeper(problem_list& list) : list_{list} {}

    void operator()(map_problem const& p) {
        bool const says_less = p.block >= 0 && p.item_type < 0 && p.layer < 0;
        if (says_less && blocks_.contains({p.code, p.block})) return;
        auto const all = std::tuple{p.code,  p.severity, p.position, p.item_type, p.item,
                                    p.group, p.layer,    p.block,    p.value,     p.expected};
        if (!known_.insert(all).second) return;
        blocks_.emplace(p.code, p.block);
        list_.push_back(p);
    }

private:
    problem_list& list_;
    std::set<std::tuple<map_errc, map_severity, std::size_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t,
                        std::int32_t, std::int64_t, std::int64_t>>
        known_;
    std::set<std::pair<map_errc, std::int32_t>> blocks_;
};

} // namespace

bool any_damage(problem_list const& problems) {
    return std::any_of(problems.begin(), problems.end(),
                       [](map_problem const& p) { return p.severity != map_severity::note; });
}
bool any_error(problem_list const& problems) {
    return std::any_of(problems.begin(), problems.end(),
                       [](map_problem const& p) { return p.severity == map_severity::error; });
}

map_document read_document(map_source const& source, map_block_listener on_block, map_contents contents) {
    map_document document;
    problem_keeper keep{document.problems};
    auto const opened = datafile::open(source.bytes(), {.report = keep});
    if (!opened) {
        keep(opened.error());
        return document;
    }
    document.container = *opened;
    game_map map;
    map_problem const failed = read_map(*opened, map, {.contents = contents, .report = keep, .on_block = on_block});
    if (failed.code == map_errc::ok) {
        document.map = std::move(map);
        return document;
    }
    keep(failed);
    lent<inflate_memory> inflating;
    for (std::size_t i = 0; i < opened->block_count() && !interrupted(); ++i) {
        auto const size = opened->check_block(static_cast<std::int32_t>(i), *inflating, keep);
        if (!size) keep(size.error());
    }
    return document;
}

xvector_document read_xvector(map_source const& source) {
    xvector_document document;
    auto keep = [&](map_problem const& p) { document.problems.push_back(p); };
    auto const opened = xvector_reader::open(source.bytes(), {.mode = decoding::lenient, .report = keep});
    if (!opened) {
        keep(opened.error());
        return document;
    }
    document.header = opened->header();
    // Not an array of all cells: a small file may claim any number of them.
    xvector_reader reader = *opened;
    std::unordered_map<std::uint64_t, std::size_t, keyed_hash> places;
    for (xvector_tile tile; reader.next(tile);) {
        auto const [place, is_new] =
            places.try_emplace(reader.header().cell(tile.x, tile.y, tile.z), document.tiles.size());
        if (is_new) {
            document.tiles.push_back(tile);
            continue;
        }
        document.tiles[place->second] = tile; // the last one counts
        keep({.code = map_errc::duplicate_tile,
              .severity = severity_of(map_errc::duplicate_tile),
              .position = reader.position() - xvector_tile_bytes,
              .item = static_cast<std::int32_t>(reader.tiles() - 1)});
    }
    if (reader.error().code != map_errc::ok) keep(reader.error());
    return document;
}

std::span<std::uint8_t const> read_block(datafile const& file, std::int32_t block,
                                         std::vector<std::uint8_t>& memory) {
    auto size = file.block_size(block);
    // The stated size may be a lie, so little memory is risked on it.
    constexpr std::size_t trusted_bytes = 16 << 20;
    lent<inflate_memory> inflating;
    if (size && *size > std::max(trusted_bytes, memory.size())) size = file.check_block(block, *inflating);
    if (!size) throw size.error();
    if (*size > memory.size()) {
        memory.clear(); // rather than copied
        memory.resize(*size);
    }
    auto const read = file.read_block(block, memory, *inflating);
    if (!read) throw read.error();
    return *read;
}

std::vector<std::uint8_t> read_block(datafile const& file, std::int32_t block) {
    std::vector<std::uint8_t> bytes;
    bytes.resize(read_block(file, block, bytes).size());
    return bytes;
}

void write_problem(object_writer& object, map_problem const& p) {
    object.text("severity", name(p.severity));
    object.text("code", name(p.code));
    object.number("position", p.position);
    object.text("place", place_text(p));
    object.number("value", p.value);
    object.number("expected", p.expected);
    object.text("message", describe(p.code));
}

std::string crc32_text(std::span<std::uint8_t const> bytes) { return fmt::format("{:08x}", map_crc32(bytes)); }
std::string sha256_text(std::span<std::uint8_t const> bytes) { return hex(sha256(bytes)); }

} // namespace teewire::replay
