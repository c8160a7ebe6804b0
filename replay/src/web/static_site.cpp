#include "web/static_site.hpp"

#include "base/archive_file.hpp"
#include "base/compression.hpp"
#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "base/output.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/demo/map_file_search.hpp"
#include "web/site.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

class site_writer {
public:
    site_writer(recording_folder& shown, viewer_assets const& files, game_pictures const& pictures,
                static_site_options const& options)
        : shown_{shown}, files_{files}, pictures_{pictures}, options_{options} {
        std::error_code failed;
        fs::path const to = fs::weakly_canonical(options.folder, failed);
        fs::path const from = fs::canonical(shown.folder(), failed);
        if (shown.is_folder() && std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first == from.end())
            throw usage_error{options.folder,
                              "is inside the folder of recordings, and would be read as one of them next time"};
        if (fs::exists(to, failed) && !fs::is_directory(to, failed))
            throw usage_error{options.folder, "is not a folder"};
        if (!options.force && fs::exists(to, failed) && !fs::is_empty(to, failed))
            throw usage_error{options.folder, "is not empty; --force replaces files"};
    }

    int write(std::string const& name) {
        for (std::string const& path : files_.paths())
            if (path != "index.html") copy(path, files_.get(path));
        copy("view.html", files_.get("index.html"));
        if (options_.with_pictures)
            for (std::string const& path : pictures_.paths()) copy("data/" + path, pictures_.get(path));
        auto const known = shown_.all();
        progress shown{std::max<std::uint64_t>(known.size(), 1)};
        std::uint64_t done = 0;
        for (auto const& [path, demo] : known) {
            if (interrupted()) return exit_interrupted;
            shown.update(done++, path);
            add(path, demo);
        }
        shown.clear();
        if (interrupted()) return exit_interrupted;
        if (shown_.is_folder()) put("index.html", {list_page().begin(), list_page().end()});
        else copy("index.html", files_.get("index.html"));
        std::string const list = list_of(shown_, name, options_.with_pictures);
        put("recordings.json", {list.begin(), list.end()});
        return interrupted() ? exit_interrupted : code_;
    }

private:
    void add(std::string const& path, shown_demo const& before) {
        shown_demo& demo = shown_.all().at(path);
        auto const file = shown_.open(path);
        if (!file) throw io_error{shown_.full_path(path), "is gone"};
        copy("recordings/" + path, *file);
        for (auto const& sum : shared_maps_of(*file)) {
            std::string const map = shared_map_name(path, sum);
            if (!maps_.insert(map).second) continue;
            if (auto const there = shown_.open(map)) copy("recordings/" + map, *there);
            else fail(fmt::format("{}: its map is missing: {}", shown_.full_path(path), shown_.full_path(map)));
        }
        try {
            found_index const found = find_index(shown_.full_path(path), "");
            if (interrupted()) return;
            demo.facts = found.facts;
            demo.index = shown_demo::progress::known;
            put("recordings/" + path + ".index", found.bytes);
            if (!found.facts.error.empty()) fail(fmt::format("{}: {}", shown_.full_path(path), found.facts.error));
        } catch (bad_input const& e) {
            demo.index = shown_demo::progress::failed;
            demo.error = e.reason();
            fail(e.what());
        }
        add_map(path, before, demo, *file);
    }

    void add_map(std::string const& path, shown_demo const& before, shown_demo& demo, stored_file const& file) {
        demo_header const& header = before.header;
        if (header.map_size == 0) {
            std::string const sum = map_id(map_of(header));
            auto const map = find_map_file(header, shown_.folder(), pictures_.folders());
            if (map && maps_.insert(sum).second) copy(fmt::format("maps/{}.map", sum), *map);
            return;
        }
        std::string const& sum = demo.facts.map_sha256;
        if (sum.empty() || !maps_.insert(sum).second) return;
        try {
            put(fmt::format("pictures/{}.png", sum),
                draw_small(path, read_map(shown_.full_path(path), file, header), pictures_.mapres()));
        } catch (bad_input const&) { // the viewer says what is wrong with it
        } catch (usage_error const&) {
        }
    }

    void fail(std::string_view why) {
        complain(why);
        code_ = exit_bad_input;
    }

    std::string prepare(std::string const& path) const {
        fs::path const name = fs::path{options_.folder} / path;
        std::error_code failed;
        fs::create_directories(name.parent_path(), failed);
        if (failed)
            throw output_error{name.parent_path().string(), fmt::format("cannot be made: {}", failed.message())};
        return name.string();
    }
    void put(std::string const& path, std::vector<std::uint8_t> const& bytes) const {
        if (interrupted()) return;
        output_file file{{prepare(path), options_.force}, content::binary};
        write_whole(file, bytes);
    }
    void copy(std::string const& path, stored_file const& from) const {
        if (interrupted()) return;
        output_file file{{prepare(path), options_.force}, content::binary};
        std::vector<std::uint8_t> piece(1 << 20);
        for (std::uint64_t at = 0; at < from.size() && !interrupted();) {
            std::size_t const size = from.read(at, piece);
            if (size == 0) throw io_error{path, "the file was truncated while it was read"};
            file.write(std::span{piece}.first(size));
            at += size;
        }
        if (!interrupted()) file.finish_as_named();
    }
    void copy(std::string const& path, web_answer const& from) const {
        if (from.stored) copy(path, *from.stored);
        else if (from.body) put(path, from.packed ? unpack_gzip(*from.body) : *from.body);
    }

    recording_folder& shown_;
    viewer_assets const& files_;
    game_pictures const& pictures_;
    static_site_options const& options_;
    std::set<std::string> maps_; // that are there, by their sums
    int code_ = exit_ok;
};

} // namespace

int write_site(recording_folder& shown, std::string const& name, viewer_assets const& files,
               game_pictures const& pictures, static_site_options const& options) {
    return site_writer{shown, files, pictures, options}.write(name);
}

} // namespace teewire::replay
