#include "web/recording_folder.hpp"

#include "base/errors.hpp"
#include "base/file_kind.hpp"
#include "base/input.hpp"
#include "base/interrupts.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "map/drawing.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/demo/map_file_search.hpp"

#include <teewire/sha256.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t picture_side = 480; // pixels
constexpr auto settling = std::chrono::seconds{30};

std::string sha256_of(stored_file const& file) {
    std::array<std::uint8_t, 1 << 16> piece;
    sha256_hash hash;
    for (std::uint64_t at = 0; !interrupted();) {
        std::size_t const size = file.read(at, piece);
        hash.add(std::span{piece}.first(size));
        at += size;
        if (size < piece.size()) break;
    }
    return hex(hash.finish());
}

bool fits(index_facts const& facts, stored_file const& index, stored_file const& demo) {
    // Restoring an archive to compare its ends would take too long.
    if (auto const archive = peek_archive(demo))
        return facts.size == archive->size && index.modified() >= demo.modified();
    if (facts.size != demo.size()) return false;
    // A file that was written to afterwards may have changed between its ends.
    return index.modified() >= demo.modified() ? facts.ends_sha256 == ends_sha256(demo)
                                               : facts.sha256 == sha256_of(demo);
}

std::optional<found_index> read_if_fits(std::string const& name, stored_file const& demo) {
    auto const file = stored_file::open(name);
    auto const archive = peek_archive(demo);
    if (!file || file->size() > 2 * most_index_bytes(archive ? archive->size : demo.size())) return {};
    auto facts = read_index(name);
    if (!facts || !fits(*facts, *file, demo)) return {};
    return found_index{std::move(*facts), file->read_all(), false};
}

} // namespace

recording_folder::recording_folder(std::string const& source) {
    std::error_code failed;
    if (source == "-") throw usage_error{"standard input cannot be read in parts"};
    if (fs::is_directory(source, failed)) {
        folder_ = fs::canonical(source, failed).string();
        if (failed) throw io_error{source, failed.message()};
        scan();
        return;
    }
    auto const file = stored_file::open(source);
    if (!file)
        throw io_error{source,
                       fs::exists(source, failed) ? "cannot be read, or is not a regular file" : "no such file"};
    std::array<std::uint8_t, 16> begin{};
    auto there = std::span{begin}.first(file->read(0, begin));
    if (is_packed(there)) {
        input const packed{source};
        if (!packed.damage().empty()) complain(fmt::format("{}: {}", source, packed.damage()));
        restored_ = stored_file::restore(*file, packed.bytes());
        if (!restored_)
            throw io_error{source, "cannot be restored: there is no room for it in the folder for temporary files"};
        there = std::span{begin}.first(restored_->read(0, begin));
    }
    if (identify(there) != file_kind::demo) refuse_kind(source, there, "a demo");
    fs::path const path = fs::absolute(source);
    folder_ = path.parent_path().string();
    only_ = path.filename().string();
    look_at(only_);
    if (all_.empty())
        throw bad_input{source,
                        fmt::format("byte {}: the header ends too early", (restored_ ? restored_ : file)->size())};
}

std::shared_ptr<stored_file const> recording_folder::open(std::string const& path) const {
    if (is_folder()) return stored_file::open(folder_, path);
    if (path != only_) return nullptr;
    return restored_ ? restored_ : stored_file::open(full_path(path));
}

void recording_folder::look_at(std::string const& path) {
    auto const file = open(path);
    auto const known = all_.find(path);
    if (!file) {
        if (known != all_.end()) all_.erase(known);
        return;
    }
    if (known != all_.end() && known->second.tag == file->tag()) return;
    bool const changed = known != all_.end();
    if (changed) all_.erase(known);
    std::vector<std::uint8_t> begin(max_demo_header_bytes);
    begin.resize(file->read(0, begin));
    if (is_archive(begin)) {
        auto archive = peek_archive(*file);
        if (!archive) return;
        begin = std::move(archive->beginning);
    }
    auto const header = parse_demo_header(begin);
    if (!header) return;
    shown_demo& made = all_[path];
    made.tag = file->tag();
    made.bytes = file->size();
    made.modified = file->modified();
    made.header = *header;
    if (changed) made.settled = std::chrono::steady_clock::now() + settling;
}

void recording_folder::scan() {
    if (!is_folder()) return look_at(only_);
    std::vector<std::string> there;
    std::size_t const before = (fs::path{folder_} / "").string().size(); // the root ends with a slash already
    std::error_code failed;
    fs::recursive_directory_iterator at{folder_, fs::directory_options::skip_permission_denied, failed};
    for (; !failed && at != fs::recursive_directory_iterator{} && there.size() < most_files && !interrupted();
         at.increment(failed)) {
        std::error_code ignored;
        bool const hidden = at->path().filename().string().starts_with('.');
        bool const link = at->is_symlink(ignored);
        if (at->is_directory(ignored) && (hidden || link || at.depth() >= deepest)) at.disable_recursion_pending();
        if (hidden || link || !at->is_regular_file(ignored)) continue;
        there.push_back(at->path().generic_string().substr(before));
    }
    std::sort(there.begin(), there.end());
    std::erase_if(all_,
                  [&](auto const& known) { return !std::binary_search(there.begin(), there.end(), known.first); });
    for (std::string const& path : there) look_at(path);
}

found_index find_index(std::string const& demo, std::string const& kept) {
    auto const file = stored_file::open(demo);
    if (!file) throw io_error{demo, "no such file"};
    if (auto found = read_if_fits(index_name(demo), *file)) return std::move(*found);
    if (auto found = read_if_fits(kept, *file)) return std::move(*found);
    input const source{demo};
    demo_document opened{source};
    demo_index made = make_index(opened);
    return {std::move(made.facts), std::move(made.bytes), true};
}

std::vector<std::uint8_t> read_map(std::string const& name, stored_file const& demo, demo_header const& header) {
    if (peek_archive(demo)) {
        // The map, and as little as there can be of the rest.
        input const restored{name, {[](demo_ticks whole) { return demo_ticks{whole.first, whole.first}; }, true}};
        auto const bytes = restored.bytes();
        if (header.map_size > max_map_bytes || header.size() + std::uint64_t{header.map_size} > bytes.size())
            return {};
        auto const map = bytes.subspan(header.size(), header.map_size);
        return {map.begin(), map.end()};
    }
    if (header.map_size > max_map_bytes || header.size() + std::uint64_t{header.map_size} > demo.size()) return {};
    std::vector<std::uint8_t> map(header.map_size);
    map.resize(demo.read(header.size(), map));
    return map;
}

std::vector<std::uint8_t> draw_small(std::string const& name, std::vector<std::uint8_t> map,
                                     std::string const& mapres) {
    map_source const source{name, std::move(map)};
    drawing_options how;
    how.mapres = mapres;
    how.side = 2 * picture_side;
    picture const drawn = draw_map(source, how);
    std::size_t const longer = std::max(drawn.width, drawn.height);
    if (longer <= picture_side) return encode_png(drawn);
    auto const shrunk = [&](std::size_t side) { return std::max<std::size_t>(side * picture_side / longer, 1); };
    return encode_png(scaled(drawn, 0, 0, drawn.width, drawn.height, shrunk(drawn.width), shrunk(drawn.height)));
}

} // namespace teewire::replay
