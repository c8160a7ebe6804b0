// What `teewire web` shows: the viewer, and what it reads.
#pragma once

#include "base/workers.hpp"
#include "http/web_server.hpp"
#include "web/recording_folder.hpp"
#include "web/viewer_assets.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace teewire::replay {

/// Where indexes and pictures are kept from one time to the next: what cannot be written there is kept in memory.
class kept_files {
public:
    kept_files();
    [[nodiscard]] std::string path(std::string const& name) const {
        return folder_.empty() ? "" : folder_ + "/" + name;
    }
    /// With nothing in it if there is none.
    [[nodiscard]] web_answer find(std::string const& name) const;
    void keep(std::string const& name, std::vector<std::uint8_t> bytes);

private:
    std::string folder_;
    std::map<std::string, std::shared_ptr<std::vector<std::uint8_t> const>> in_memory_;
};

/// What `recordings.json` says of all of them. `with_pictures`: those of a game are there. `feed`: the name of one that
/// pages are to read, or empty.
[[nodiscard]] std::string list_of(recording_folder& shown, std::string const& name, bool with_pictures,
                                  std::string_view feed = {});
/// The page that has that list.
[[nodiscard]] std::string_view list_page() noexcept;
/// The list entry of a broadcast. `from`: the address of the relay that it comes from, where a page that can reach it
/// sees everything earlier; may be empty.
[[nodiscard]] std::string list_of_broadcast(std::string const& name, std::string const& from, bool with_pictures);

/// Recordings as pages of a web server. Long work is done on a thread of its own.
class recordings_site final : public web_pages {
public:
    /// Borrowed arguments must outlive it.
    recordings_site(boost::asio::io_context& io, recording_folder& shown, viewer_assets const& files,
                    game_pictures const& pictures, std::string name);
    recordings_site(recordings_site const&) = delete;
    recordings_site& operator=(recordings_site const&) = delete;

    void attach(web_server& server) { web_ = &server; }
    /// Pages hold a feed of the server as long as they are open.
    void have_pages_stay() { pages_stay_ = true; }
    /// `draw` makes a picture of the middle of a recording as PNG, on the thread for long work; nothing if it cannot.
    void draw_previews(std::function<std::vector<std::uint8_t>(std::string const& file)> draw) {
        draw_ = std::move(draw);
    }
    [[nodiscard]] web_answer get(page_request const& asked) override;

private:
    web_answer get_page(std::string const& path, page_request const& asked);
    web_answer get_view(page_request const& asked);
    web_answer get_preview(std::string const& path);
    web_answer get_drawn(std::string const& name, std::string_view cache,
                         std::function<std::vector<std::uint8_t>()> draw);
    web_answer get_recording(std::string const& path);
    web_answer get_index(std::string const& path);
    web_answer get_picture(std::string_view sha256);
    web_answer get_map(std::string_view sum);
    void scan_sometimes();
    void index_all();
    void begin_index(std::string const& path, bool first);
    /// The work says whether it has begun, and calls work_on() in the end.
    void begin(std::function<bool()> work, bool first);
    void work_on();
    [[nodiscard]] std::string kept_index(std::string const& path, shown_demo const& demo) const;

    boost::asio::io_context& io_;
    recording_folder& shown_;
    viewer_assets const& files_;
    game_pictures const& pictures_;
    std::string name_;
    web_server* web_ = nullptr;
    bool pages_stay_ = false;
    kept_files kept_;
    std::chrono::steady_clock::time_point next_scan_;
    std::deque<std::function<bool()>> waiting_; // for the thread
    bool busy_ = false;
    std::set<std::string, std::less<>> drawing_;    // names of kept pictures
    std::set<std::string, std::less<>> no_picture_; // the same, of those that cannot be drawn
    std::function<std::vector<std::uint8_t>(std::string const&)> draw_;
    workers thread_{1}; // the last, as its work uses the others
};

} // namespace teewire::replay
