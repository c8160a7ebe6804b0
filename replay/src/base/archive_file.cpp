#include "base/archive_file.hpp"

#include "base/errors.hpp"
#include "base/output_file.hpp"
#include "base/parallel_ordered.hpp"
#include "base/text.hpp"

#include <teewire/archive.hpp>
#include <teewire/sha256.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

// Memory that threads take in turns, as each needs megabytes.
template <class Memory>
class spare_memory {
public:
    std::unique_ptr<Memory> take() {
        std::lock_guard const lock{mutex_};
        if (spare_.empty()) return std::unique_ptr<Memory>{new Memory}; // not set to zero
        auto taken = std::move(spare_.back());
        spare_.pop_back();
        return taken;
    }
    void give_back(std::unique_ptr<Memory> memory) {
        std::lock_guard const lock{mutex_};
        spare_.push_back(std::move(memory));
    }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Memory>> spare_;
};

using give_piece = std::function<bool(std::span<std::uint8_t const> piece, std::size_t taken)>;

// Encodes blocks and gives them away in their order.
class packing final : public ordered_work {
public:
    /// `shared`: a map in the file that is not packed.
    packing(std::span<std::uint8_t const> file, std::span<std::uint8_t const> shared,
            std::vector<archive_block>& blocks, give_piece const& give)
        : file_{file}, blocks_{blocks}, give_{give}, packed_(blocks.size()) {
        if (shared.empty()) return;
        map_.sha256 = sha256(shared);
        map_begin_ = static_cast<std::size_t>(shared.data() - file.data());
        map_end_ = map_begin_ + shared.size();
    }

    outcome make(std::size_t number, ordered_turn& turn) override {
        if (turn.stopped() || stopped_) return outcome::stopped;
        archive_block& block = blocks_[number];
        auto memory = memory_.take();
        std::vector<std::uint8_t> out(archive_entry_bytes + block.size);
        auto const packed = std::span{out}.subspan(archive_entry_bytes);
        out.resize(archive_entry_bytes + (is_shared(block) ? place(block, packed)
                                                           : *encode_archive_block(file_, block, *memory, packed)));
        static_cast<void>(write_archive_entry(block, out));
        packed_[number] = std::move(out);
        memory_.give_back(std::move(memory));
        return outcome::more;
    }
    void deliver(std::size_t number, bool /*complete*/) override {
        auto const packed = std::move(packed_[number]);
        archive_block const& block = blocks_[number];
        if (!stopped_ && !give_(packed, static_cast<std::size_t>(block.begin + block.size))) stopped_ = true;
    }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

private:
    [[nodiscard]] bool is_shared(archive_block const& block) const noexcept {
        return block.begin >= map_begin_ && block.begin < map_end_ && block.size > archive_map_place_bytes;
    }
    std::size_t place(archive_block& block, std::span<std::uint8_t> out) const noexcept {
        auto const begin = static_cast<std::size_t>(block.begin);
        archive_map_place piece = map_;
        piece.offset = static_cast<std::uint32_t>(begin - map_begin_);
        block.coding = archive_coding::map;
        block.packed_size = archive_map_place_bytes;
        block.checksum = archive_checksum(file_.subspan(begin, block.size));
        return *write_archive_map_place(piece, out);
    }

    std::span<std::uint8_t const> file_;
    archive_map_place map_;
    std::size_t map_begin_ = 0;
    std::size_t map_end_ = 0;
    std::vector<archive_block>& blocks_;
    give_piece const& give_;
    std::vector<std::vector<std::uint8_t>> packed_;
    spare_memory<archive_encoder_memory> memory_;
    std::atomic<bool> stopped_ = false;
};

// A block's piece of the map; what cannot be read is missing.
std::vector<std::uint8_t> read_shared_map(std::string const& archive, archive_block const& block,
                                          std::span<std::uint8_t const> packed) {
    auto const place = read_archive_map_place(packed);
    auto const file = place ? stored_file::open(shared_map_name(archive, place->sha256)) : nullptr;
    std::vector<std::uint8_t> piece(file ? block.size : 0);
    if (file) piece.resize(file->read(place->offset, piece));
    return piece;
}

class unpacking final : public ordered_work {
public:
    unpacking(std::string const& name, std::span<std::uint8_t const> archive, std::span<archive_block const> blocks,
              std::span<std::uint8_t> out)
        : name_{name}, archive_{archive}, blocks_{blocks}, out_{out}, failures_(blocks.size()) {}

    outcome make(std::size_t number, ordered_turn& turn) override {
        if (turn.stopped() || damaged_ != SIZE_MAX) return outcome::stopped;
        archive_block const& block = blocks_[number];
        auto memory = memory_.take();
        auto packed = bytes_of(block);
        std::vector<std::uint8_t> map;
        if (block.coding == archive_coding::map) {
            map = read_shared_map(name_, block, packed);
            packed = map;
        }
        auto const whole = decode_archive_block(block, packed, *memory,
                                                out_.subspan(static_cast<std::size_t>(block.begin), block.size));
        memory_.give_back(std::move(memory));
        if (!whole) failures_[number] = whole.error();
        return outcome::more;
    }
    void deliver(std::size_t number, bool /*complete*/) override {
        if (failures_[number].code != errc::ok && damaged_ == SIZE_MAX) damaged_ = number;
    }
    /// The first block that is damaged, or SIZE_MAX.
    [[nodiscard]] std::size_t damaged() const noexcept { return damaged_; }
    [[nodiscard]] failure failure_of(std::size_t number) const noexcept { return failures_[number]; }
    /// Its bytes, as many as there are.
    [[nodiscard]] std::span<std::uint8_t const> bytes_of(archive_block const& block) const noexcept {
        auto const from = archive_.subspan(static_cast<std::size_t>(block.position));
        return from.first(std::min<std::size_t>(from.size(), block.packed_size));
    }

private:
    std::string const& name_;
    std::span<std::uint8_t const> archive_;
    std::span<archive_block const> blocks_;
    std::span<std::uint8_t> out_;
    std::vector<failure> failures_;
    spare_memory<archive_memory> memory_;
    std::atomic<std::size_t> damaged_ = SIZE_MAX;
};

void do_in_order(std::size_t steps, unsigned jobs, ordered_work& work) {
    if (steps == 0) return;
    workers team{steps == 1 ? 1 : jobs};
    parallel_ordered(team, {steps, 2 * std::size_t{team.count()} + 1, SIZE_MAX}, work);
}

result<archive_index> open_index(std::span<std::uint8_t const> archive) noexcept {
    if (archive.size() < archive_header_bytes) return failure{errc::truncated, archive.size()};
    if (archive[archive_magic.size()] != archive_version) return failure{errc::bad_version, archive_magic.size()};
    return archive_index::open(archive, archive.size());
}

std::vector<archive_block> blocks_of(archive_index index) {
    std::vector<archive_block> blocks;
    for (archive_block block; index.next(block);) blocks.push_back(block);
    return blocks;
}

// Why an archive did not open.
std::string describe_in_archive(failure const& found) {
    std::string_view const what = found.code == errc::bad_version ? "" : "its index is missing or damaged: ";
    return fmt::format("byte {} of the archive: {}{}", found.position, what, describe(found.code));
}

} // namespace

void pack_archive(std::span<std::uint8_t const> file, map_home home, unsigned jobs, give_piece const& give) {
    std::vector<archive_block> blocks;
    auto const memory = std::unique_ptr<demo_player_memory>{new demo_player_memory};
    archive_divider divider{file, *memory};
    for (archive_block block; divider.next(block);) blocks.push_back(block);
    std::vector<std::uint8_t> ends(std::max(archive_header_bytes, archive_index_bytes(blocks.size())));
    if (!give(std::span{ends}.first(*write_archive_header(ends)), 0)) return;
    auto const shared = home == map_home::shared ? divider.map() : std::span<std::uint8_t const>{};
    packing work{file, shared, blocks, give};
    do_in_order(blocks.size(), jobs, work);
    if (!work.stopped()) give(std::span{ends}.first(*write_archive_index(blocks, ends)), file.size());
}

std::string shared_map_name(std::string const& archive, std::span<std::uint8_t const> sha256) {
    return (fs::path{archive}.parent_path() / "maps" / (hex(sha256) + ".map")).generic_string();
}

bool is_shared_map(std::string_view path) {
    auto const slash = path.rfind('/');
    if (slash == std::string_view::npos) return false;
    std::string_view const folder = path.substr(0, slash);
    std::string_view const name = path.substr(slash + 1);
    constexpr std::size_t digits = 64;
    return (folder == "maps" || folder.ends_with("/maps")) && name.size() == digits + 4 && name.ends_with(".map") &&
           name.find_first_not_of("0123456789abcdef") == digits;
}

void keep_shared_map(std::string const& archive, std::span<std::uint8_t const> demo) {
    auto const opened = demo_reader::open(demo);
    if (!opened || opened->map().empty()) return;
    auto const map = opened->map();
    std::string const name = shared_map_name(archive, sha256(map));
    if (auto const there = stored_file::open(name)) {
        auto const bytes = there->size() == map.size() ? there->read_all() : std::vector<std::uint8_t>{};
        if (std::equal(bytes.begin(), bytes.end(), map.begin(), map.end())) return;
    }
    std::string const folder = fs::path{name}.parent_path().string();
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw output_error{folder, fmt::format("cannot be made: {}", failed.message())};
    output_file out{{name, false}, content::binary};
    write_whole(out, map);
}

std::uint64_t archive_contents::size() const noexcept {
    return blocks.empty() ? 0 : blocks.back().begin + blocks.back().size;
}

archive_contents list_archive(std::string const& name, std::span<std::uint8_t const> archive) {
    auto const index = open_index(archive);
    if (index) return {blocks_of(*index), {}};
    archive_contents found;
    found.damage = describe_in_archive(index.error());
    // Without the index, by the entries before the blocks. Those of another version may have another form.
    std::size_t const begin = index.error().code != errc::bad_version ? archive_header_bytes : archive.size();
    for (std::size_t at = begin; at < archive.size();) {
        auto const block = read_archive_entry(archive, at);
        if (!block) break;
        std::uint64_t const restored = found.size();
        found.blocks.push_back(*block);
        found.blocks.back().begin = restored;
        at = static_cast<std::size_t>(block->position + block->packed_size); // or past the end
    }
    if (found.blocks.empty()) throw bad_input{name, found.damage};
    return found;
}

std::vector<archive_block> list_blocks(std::span<std::uint8_t const> end, std::uint64_t size) {
    auto const index = archive_index::open(end, size);
    return index ? blocks_of(*index) : std::vector<archive_block>{};
}

std::optional<archive_part> choose_part(std::span<archive_block const> blocks, part_choice const& wanted) {
    auto const first = std::find_if(blocks.begin(), blocks.end(), [](archive_block const& b) { return b.ordered; });
    if (first == blocks.begin() || first == blocks.end()) return std::nullopt; // a demo begins with its header
    std::int32_t last_tick = -1;
    for (auto b = first; b != blocks.end(); ++b) {
        if (!b->ordered || b->first_tick <= last_tick || b->last_tick < b->first_tick) return std::nullopt;
        last_tick = b->last_tick;
    }
    archive_part part;
    part.whole = {first->first_tick, last_tick};
    demo_ticks const range = wanted.ticks(part.whole);
    // From the last keyframe before it, as a player would.
    auto begin = first;
    for (auto b = first; b != blocks.end() && b->first_tick < range.first; ++b)
        if (b->keyframe) begin = b;
    auto const end =
        std::find_if(begin + 1, blocks.end(), [&](archive_block const& b) { return b.first_tick > range.last; });
    if (wanted.map && begin == first && end == blocks.end()) return std::nullopt;
    part.ticks = {begin->first_tick, (end - 1)->last_tick};
    part.chunks_begin = first->begin;
    part.skipped = begin->begin - first->begin;
    part.blocks.assign(blocks.begin(), wanted.map ? first : blocks.begin() + 1); // the map has blocks of its own
    part.blocks.insert(part.blocks.end(), begin, end);
    for (archive_block& b : part.blocks)
        if (b.begin >= part.chunks_begin) b.begin -= part.skipped;
    return part;
}

std::vector<std::uint8_t> read_archive_index(std::uint64_t size, read_piece const& read) {
    std::vector<std::uint8_t> end(archive_footer_bytes);
    if (size < end.size() || !read(size - end.size(), end)) return {};
    auto const count = count_archive_blocks(end);
    if (!count || archive_index_bytes(*count) > size) return {};
    end.resize(archive_index_bytes(*count));
    if (!read(size - end.size(), end)) return {};
    return end;
}

std::optional<archive_peek> peek_archive(stored_file const& file) {
    std::array<std::uint8_t, archive_header_bytes + archive_entry_bytes> begin{};
    if (file.read(0, begin) < begin.size() || !is_archive(begin) || begin[archive_magic.size()] != archive_version)
        return std::nullopt;
    archive_peek found;
    auto const end = read_archive_index(file.size(), [&](std::uint64_t offset, std::span<std::uint8_t> to) {
        return file.read(offset, to) == to.size();
    });
    if (auto const index = archive_index::open(end, file.size())) found.size = index->original_size();
    auto const first = read_archive_entry(begin, archive_header_bytes);
    if (!first || first->size > max_demo_header_bytes) return found; // headers have a block of their own
    std::vector<std::uint8_t> packed(first->packed_size);
    packed.resize(file.read(begin.size(), packed));
    found.beginning.resize(first->size);
    auto const memory = std::unique_ptr<archive_memory>{new archive_memory};
    if (!decode_archive_block(*first, packed, *memory, found.beginning)) found.beginning.clear();
    return found;
}

std::vector<std::array<std::uint8_t, 32>> shared_maps_of(stored_file const& file) {
    std::vector<std::array<std::uint8_t, 32>> maps;
    std::array<std::uint8_t, archive_header_bytes> begin{};
    if (file.read(0, begin) < begin.size() || !is_archive(begin)) return maps;
    auto const end = read_archive_index(file.size(), [&](std::uint64_t offset, std::span<std::uint8_t> to) {
        return file.read(offset, to) == to.size();
    });
    for (archive_block const& block : list_blocks(end, file.size())) {
        if (block.coding != archive_coding::map) continue;
        std::array<std::uint8_t, archive_map_place_bytes> packed{};
        auto const place = read_archive_map_place(std::span{packed}.first(file.read(block.position, packed)));
        if (place && std::find(maps.begin(), maps.end(), place->sha256) == maps.end())
            maps.push_back(place->sha256);
    }
    return maps;
}

bool is_archive_of(std::string const& name, std::span<std::uint8_t const> archive,
                   std::span<std::uint8_t const> file) {
    if (!is_archive(archive)) return false;
    auto const index = open_index(archive);
    if (!index || index->original_size() != file.size()) return false;
    auto const blocks = blocks_of(*index);
    return std::all_of(blocks.begin(), blocks.end(), [&](archive_block const& b) {
        auto const original = file.subspan(static_cast<std::size_t>(b.begin), b.size);
        if (b.coding != archive_coding::map) return archive_checksum(original) == b.checksum;
        auto const packed = archive.subspan(static_cast<std::size_t>(b.position), b.packed_size);
        auto const map = read_shared_map(name, b, packed);
        return std::equal(map.begin(), map.end(), original.begin(), original.end());
    });
}

std::uint64_t unpack_archive(std::string const& name, std::span<std::uint8_t const> archive,
                             archive_contents& contents, std::span<std::uint8_t> out, unsigned jobs) {
    unpacking work{name, archive, contents.blocks, out};
    do_in_order(contents.blocks.size(), jobs, work);
    if (work.damaged() == SIZE_MAX) return out.size();
    archive_block const& first = contents.blocks[work.damaged()];
    failure const found = work.failure_of(work.damaged());
    if (first.coding == archive_coding::map) {
        if (auto const place = read_archive_map_place(work.bytes_of(first))) {
            std::string const map = shared_map_name(name, place->sha256);
            bool const there = stored_file::open(map) != nullptr;
            contents.damage = there ? map + " is not its map" : "its map is missing: " + map;
            return first.begin;
        }
    }
    // The archive is cut, as has been said.
    if (work.bytes_of(first).size() < first.packed_size) return first.begin + found.position;
    contents.damage =
        fmt::format("byte {} of the archive: a block is damaged: {}", first.position, describe(found.code));
    return first.begin;
}

} // namespace teewire::replay
