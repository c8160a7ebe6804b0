#include "web/site.hpp"

#include "base/archive_file.hpp"
#include "base/compression.hpp"
#include "base/errors.hpp"
#include "base/json.hpp"
#include "base/os/process.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "http/web_request.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/demo/map_file_search.hpp"
#include "web/about_page.hpp"

#include <list_page.hpp> // generated

#include <teewire/sha256.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr auto scan_pause = seconds{1};
constexpr auto work_patience = seconds{300}; // what has to be read for an index takes as long as it takes
constexpr std::string_view for_ever = "public, max-age=31536000, immutable";
constexpr std::string_view index_end = ".index";
constexpr std::string_view feed_of_pages = "open";

std::string sum_of(std::string_view text) {
    return hex(sha256({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()}));
}

web_answer stored(std::shared_ptr<stored_file const> file, std::string_view type, std::string_view cache) {
    web_answer found;
    found.what = file ? web_answer::kind::file : web_answer::kind::none;
    found.stored = std::move(file);
    found.type = type;
    found.cache = cache;
    return found;
}

web_answer made_text(std::string_view text, std::string_view type) {
    web_answer found;
    found.what = web_answer::kind::file;
    found.body = to_body(text);
    found.type = type;
    found.cache = checked_each_time;
    return found;
}

web_answer worked_on() {
    web_answer found;
    found.what = web_answer::kind::later;
    found.patience = work_patience;
    return found;
}

bool to_be_indexed(shown_demo const& demo) {
    return demo.index == shown_demo::progress::unknown && demo.settled <= std::chrono::steady_clock::now();
}

void write_demo(object_writer& one, std::string const& path, shown_demo const& demo) {
    index_facts const& facts = demo.facts;
    bool const known = demo.index == shown_demo::progress::known;
    demo_header const& header = demo.header;
    one.text("path", "recordings/" + encode_path(path));
    one.text("name", path);
    one.number("bytes", demo.bytes);
    one.number("modified_ms", demo.modified / 1'000'000);
    one.text_or_null("protocol", known ? facts.protocol : "");
    one.text("date", text(header.timestamp));
    one.text("type", text(header.type));
    {
        object_writer map = one.object("map");
        map.text("name", text(header.map_name));
        map.text("crc", fmt::format("{:08x}", header.map_crc));
        map.number("size", header.map_size);
        map.text_or_null("sha256", known ? facts.map_sha256 : header.has_sha256 ? hex(header.sha256) : "");
        map.flag("embedded", header.map_size != 0);
    }
    bool const has_picture = known && header.map_size != 0 && !facts.map_sha256.empty();
    one.text_or_null("picture", has_picture ? fmt::format("pictures/{}.png", facts.map_sha256) : "");
    one.real("seconds", known ? (std::int64_t{facts.last_tick} - facts.first_tick) / double{ticks_per_second}
                              : std::max(header.length, 0));
    if (known)
        one.list("players", facts.players,
                 [](json_writer& list, std::string const& name) { write_string(list, valid_utf8(name)); });
    else one.null("players");
    one.text_or_null("error", known ? facts.error : demo.error);
}

} // namespace

// ---- kept_files ----------------------------------------------------------------------------------------------------

kept_files::kept_files() {
    folder_ = os::cache_folder();
    if (folder_.empty()) return;
    folder_ += "/teewire";
    std::error_code failed;
    fs::create_directories(folder_, failed);
}

web_answer kept_files::find(std::string const& name) const {
    if (auto const here = in_memory_.find(name); here != in_memory_.end()) {
        web_answer found;
        found.what = web_answer::kind::file;
        found.body = here->second;
        return found;
    }
    return folder_.empty() ? web_answer{} : stored(stored_file::open(path(name)), "", "");
}

void kept_files::keep(std::string const& name, std::vector<std::uint8_t> bytes) {
    try {
        if (folder_.empty()) throw output_error{"it has no folder"};
        output_file file{{path(name), true}, content::binary};
        write_whole(file, bytes);
    } catch (std::runtime_error const&) {
        in_memory_[name] = std::make_shared<std::vector<std::uint8_t> const>(std::move(bytes));
    }
}

// ---- the list ------------------------------------------------------------------------------------------------------

std::string list_of(recording_folder& shown, std::string const& name, bool with_pictures, std::string_view feed) {
    auto const& all = shown.all();
    rapidjson::StringBuffer text;
    json_writer json{text};
    {
        object_writer list{json};
        list.number("version", 1);
        list.text("kind", "recordings");
        list.text("name", name);
        list.flag("data", with_pictures);
        if (!feed.empty()) list.text("open", feed);
        list.flag("complete", std::none_of(all.begin(), all.end(), [](auto const& known) {
                      return to_be_indexed(known.second) || known.second.index == shown_demo::progress::working;
                  }));
        list.objects("recordings", all,
                     [](object_writer& one, auto const& known) { write_demo(one, known.first, known.second); });
    }
    return {text.GetString(), text.GetSize()};
}

std::string list_of_broadcast(std::string const& name, std::string const& from, bool with_pictures) {
    rapidjson::StringBuffer text;
    json_writer json{text};
    {
        object_writer list{json};
        list.number("version", 1);
        list.text("kind", "broadcast");
        list.text("name", name);
        list.text("live", "live/");
        if (!from.empty()) list.text("from", from);
        list.flag("data", with_pictures);
        list.flag("complete", true);
        list.member("recordings").StartArray();
        json.EndArray();
    }
    return {text.GetString(), text.GetSize()};
}

std::string_view list_page() noexcept {
    return {reinterpret_cast<char const*>(std::begin(list_page_bytes)), std::size(list_page_bytes)};
}

// ---- recordings_site -----------------------------------------------------------------------------------------------

recordings_site::recordings_site(boost::asio::io_context& io, recording_folder& shown, viewer_assets const& files,
                                 game_pictures const& pictures, std::string name)
    : io_{io}, shown_{shown}, files_{files}, pictures_{pictures}, name_{std::move(name)} {}

web_answer recordings_site::get(page_request const& asked) {
    auto const decoded = decode_path(asked.path);
    return decoded ? get_page(*decoded, asked) : web_answer{};
}

// The viewer, with what others show beside a link to a recording.
web_answer recordings_site::get_view(page_request const& asked) {
    web_answer page = files_.get("index.html");
    constexpr std::string_view folder = "recordings/";
    std::string name = query_value(asked.query, "demo");
    if (name.starts_with(folder)) name.erase(0, folder.size());
    else if (name.empty() && !shown_.is_folder()) name = shown_.all().begin()->first;
    if (shown_.is_folder() && !shown_.all().contains(name)) scan_sometimes();
    auto const demo = shown_.all().find(name);
    if (demo == shown_.all().end() || page.what != web_answer::kind::file) return page;
    if (to_be_indexed(demo->second)) begin_index(name, false);
    auto const bytes = page.stored ? page.stored->read_all() : page.packed ? unpack_gzip(*page.body) : *page.body;
    std::string const picture = draw_ ? fmt::format("previews/{}.png", encode_path(name)) : "";
    return made_text(page_about({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, demo->second,
                                asked.address, picture, asked.query),
                     "text/html; charset=utf-8");
}

web_answer recordings_site::get_page(std::string const& path, page_request const& asked) {
    auto const below = [&](std::string_view folder) -> std::optional<std::string> {
        if (!path.starts_with(folder)) return {};
        return path.substr(folder.size());
    };
    if (path.empty() || path == "index.html")
        return shown_.is_folder() ? made_text(list_page(), "text/html; charset=utf-8") : get_view(asked);
    if (path == "view.html") return get_view(asked);
    if (pages_stay_ && path == feed_of_pages) {
        web_answer found;
        found.what = web_answer::kind::feed;
        return found;
    }
    if (path == "recordings.json") {
        scan_sometimes();
        index_all();
        return made_text(list_of(shown_, name_, pictures_.any(), pages_stay_ ? feed_of_pages : ""),
                         "application/json");
    }
    if (auto const name = below("recordings/")) return get_recording(*name);
    if (auto const name = below("pictures/"); name && name->ends_with(".png"))
        return get_picture(std::string_view{*name}.substr(0, name->size() - 4));
    if (auto const name = below("previews/"); name && name->ends_with(".png"))
        return get_preview(name->substr(0, name->size() - 4));
    if (auto const name = below("maps/"); name && name->ends_with(".map"))
        return get_map(std::string_view{*name}.substr(0, name->size() - 4));
    if (auto const name = below("data/")) return pictures_.get(*name);
    return files_.get(path);
}

void recordings_site::scan_sometimes() {
    auto const now = std::chrono::steady_clock::now();
    if (now < next_scan_) return;
    shown_.scan();
    next_scan_ = std::chrono::steady_clock::now() + scan_pause;
}

web_answer recordings_site::get_recording(std::string const& path) {
    auto& all = shown_.all();
    bool const index = path.ends_with(index_end);
    std::string const demo = index ? path.substr(0, path.size() - index_end.size()) : path;
    if (!all.contains(path) && !(index && all.contains(demo))) scan_sometimes();
    if (all.contains(path) || is_shared_map(path))
        return stored(shown_.open(path), "application/octet-stream", checked_each_time);
    return index && all.contains(demo) ? get_index(demo) : web_answer{};
}

std::string recordings_site::kept_index(std::string const& path, shown_demo const& demo) const {
    return sum_of(shown_.full_path(path) + '\0' + demo.tag) + ".index";
}

web_answer recordings_site::get_index(std::string const& path) {
    // It may have changed since the folder was looked at.
    auto const file = shown_.open(path);
    if (!file || file->tag() != shown_.all().at(path).tag) shown_.scan();
    auto const known = shown_.all().find(path);
    if (known == shown_.all().end()) return {};
    shown_demo const& demo = known->second;
    if (demo.index == shown_demo::progress::failed) return {};
    web_answer found;
    if (demo.index == shown_demo::progress::known) found = kept_.find(kept_index(path, demo));
    if (found.what != web_answer::kind::file) { // or the file was removed
        begin_index(path, true);
        return worked_on();
    }
    found.type = "application/octet-stream";
    found.cache = checked_each_time;
    if (found.body) found.tag = demo.tag;
    return found;
}

void recordings_site::index_all() {
    for (auto const& [path, demo] : shown_.all())
        if (to_be_indexed(demo)) begin_index(path, false);
}

void recordings_site::begin_index(std::string const& path, bool first) {
    using progress = shown_demo::progress;
    shown_demo& demo = shown_.all().at(path);
    if (demo.index == progress::working && (!first || demo.urgent)) return;
    demo.index = progress::working;
    demo.urgent = first;
    auto work = [this, path, tag = demo.tag, full = shown_.full_path(path), name = kept_index(path, demo)] {
        auto const known = shown_.all().find(path);
        bool const wanted =
            known != shown_.all().end() && known->second.tag == tag && known->second.index == progress::working;
        if (!wanted) return false; // it has been asked for twice, or has gone
        thread_.post([this, path, tag, full, name, kept = kept_.path(name)] {
            auto found = std::make_shared<found_index>();
            auto why = std::make_shared<std::string>();
            try {
                *found = find_index(full, kept);
            } catch (...) {
                *why = current_exit_reason().reason; // the browser must not see paths of this machine
            }
            if (interrupted()) return;
            boost::asio::post(io_, [this, path, tag, name, found, why] {
                auto const demo = shown_.all().find(path);
                if (demo != shown_.all().end() && demo->second.tag == tag) {
                    bool const good = why->empty();
                    demo->second.index = good ? progress::known : progress::failed;
                    demo->second.error = *why;
                    if (good) {
                        demo->second.facts = found->facts;
                        kept_.keep(name, std::move(found->bytes));
                    }
                }
                work_on();
            });
        });
        return true;
    };
    begin(std::move(work), first);
}

web_answer recordings_site::get_picture(std::string_view sha256) {
    std::string const sum{sha256};
    auto const& all = shown_.all();
    auto const demo = std::find_if(all.begin(), all.end(), [&](auto const& known) {
        return known.second.header.map_size != 0 && known.second.facts.map_sha256 == sum;
    });
    if (sum.empty() || demo == all.end()) return {};
    return get_drawn(sum_of(sum + '\0' + pictures_.mapres()) + ".png", for_ever,
                     [this, sum, path = demo->first, header = demo->second.header,
                      full = shown_.full_path(demo->first), file = shown_.open(demo->first)] {
                         auto map = file ? read_map(full, *file, header) : std::vector<std::uint8_t>{};
                         if (hex(teewire::sha256(map)) != sum) return std::vector<std::uint8_t>{};
                         return draw_small(path, std::move(map), pictures_.mapres());
                     });
}

web_answer recordings_site::get_preview(std::string const& path) {
    auto const demo = shown_.all().find(path);
    if (demo == shown_.all().end() || !draw_) return {};
    std::string const full = shown_.full_path(path);
    return get_drawn(sum_of(full + '\0' + demo->second.tag + '\0' + pictures_.mapres()) + ".preview.png",
                     checked_each_time, [this, full] { return draw_(full); });
}

// One that is kept under a name, or will be as soon as it is drawn.
web_answer recordings_site::get_drawn(std::string const& name, std::string_view cache,
                                      std::function<std::vector<std::uint8_t>()> draw) {
    if (no_picture_.contains(name)) return {};
    if (web_answer found = kept_.find(name); found.what == web_answer::kind::file) {
        found.type = "image/png";
        found.cache = cache;
        return found;
    }
    if (!drawing_.insert(name).second) return worked_on();
    auto work = [this, name, draw = std::move(draw)] {
        thread_.post([this, name, draw] {
            auto drawn = std::make_shared<std::vector<std::uint8_t>>();
            try {
                *drawn = draw();
            } catch (std::exception const&) { // there is no picture then
            }
            if (interrupted()) return;
            boost::asio::post(io_, [this, name, drawn] {
                drawing_.erase(name);
                if (drawn->empty()) no_picture_.insert(name);
                else kept_.keep(name, std::move(*drawn));
                work_on();
            });
        });
        return true;
    };
    begin(std::move(work), true);
    return worked_on();
}

web_answer recordings_site::get_map(std::string_view sum) {
    for (auto const& [path, demo] : shown_.all()) {
        demo_header const& header = demo.header;
        if (header.map_size != 0) continue;
        if (sum != map_id(map_of(header))) continue;
        return stored(find_map_file(header, shown_.folder(), pictures_.folders()), "application/octet-stream",
                      checked_each_time);
    }
    return {};
}

void recordings_site::begin(std::function<bool()> work, bool first) {
    if (first) waiting_.push_front(std::move(work));
    else waiting_.push_back(std::move(work));
    if (!busy_) work_on();
}

void recordings_site::work_on() {
    if (std::exchange(busy_, true) && web_ != nullptr) web_->change();
    for (busy_ = false; !busy_ && !waiting_.empty();) {
        auto const work = std::move(waiting_.front());
        waiting_.pop_front();
        busy_ = work();
    }
}

} // namespace teewire::replay
