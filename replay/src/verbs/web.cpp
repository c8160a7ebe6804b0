#include "base/os/process.hpp"
#include "base/output.hpp"
#include "cli/server_options.hpp"
#include "http/live_pages.hpp"
#include "http/web_request.hpp"
#include "recording/feed.hpp"
#include "recording/relay/subscriber.hpp"
#include "recording/server/server_source.hpp"
#include "verbs/verbs.hpp"
#include "video/drawn_demo.hpp"
#include "web/site.hpp"
#include "web/static_site.hpp"

#include <filesystem>
#include <functional>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

struct web_options {
    std::string source;
    std::string folder; ///< to write to, instead of serving
    bool force = false;
    std::uint16_t port = 8080;
    std::string bind = "127.0.0.1";
    std::vector<std::string> data;
    std::string viewer;
    bool no_open = false;
    bool until_closed = false;
    spectator_options spectating;
};

constexpr std::chrono::milliseconds site_housekeeping{100};
constexpr milliseconds longest_absence = 10'000; // of a page that is loaded again or leads to another one
constexpr milliseconds kept_time = 60'000;       // of fragments

// With a slash at its end, as pages need it; empty if it is none.
std::string relay_address(std::string const& source) {
    if (!web_address::parse(source)) return {};
    return source.ends_with('/') ? source : source + '/';
}

// The live game beside the viewer.
class live_site final : public web_pages {
public:
    live_site(std::string const& name, viewer_assets const& files, game_pictures const& pictures)
        : live_{name, 0, kept_time}, files_{files}, pictures_{pictures},
          list_{to_body(list_of_broadcast(name, relay_address(name), pictures.any()))} {}

    [[nodiscard]] live_pages& live() noexcept { return live_; }

    [[nodiscard]] web_answer get(page_request const& asked) override {
        constexpr std::string_view live = "live/";
        constexpr std::string_view data = "data/";
        auto const decoded = decode_path(asked.path);
        if (!decoded) return {};
        std::string_view const name = *decoded;
        if (name.starts_with(live)) return live_.get(name.substr(live.size()));
        if (name.starts_with(data)) return pictures_.get(name.substr(data.size()));
        if (name == "recordings.json")
            return {web_answer::kind::file, list_, "application/json", checked_each_time};
        return files_.get(name.empty() || name == "view.html" ? "index.html" : name);
    }

private:
    live_pages live_;
    viewer_assets const& files_;
    game_pictures const& pictures_;
    shared_bytes list_;
};

class page_service {
public:
    explicit page_service(web_options const& options) : options_{options} {}

    service_loop& loop() noexcept { return loop_; }

    // Until a signal comes.
    void run(web_pages& pages, std::function<void(web_server&)> const& begin, std::function<void()> const& end) {
        auto const address = parse_address(options_.bind);
        web_limits limits;
        limits.local = address.is_loopback();
        web_server server{loop_.io(), tcp::endpoint{address, options_.port}, pages, limits};
        begin(server);
        auto const at = server.address();
        std::string const url = fmt::format(
            "http://{}/",
            endpoint_text({at.address().is_unspecified() ? loopback_like(at.address()) : at.address(), at.port()}));
        say("showing {} on {}\n", printable(options_.source), url);
        if (!options_.no_open)
            if (auto const why = os::open_browser(url); !why.empty())
                say("no browser was opened, because {}\n", why);
        loop_.on_signal([&] {
            end();
            server.close();
            loop_.stop();
        });
        if (options_.until_closed)
            loop_.every(site_housekeeping, [&] {
                if (server.feeds() != 0) page_seen_ = now();
                if (page_seen_ != 0 && now() - page_seen_ > longest_absence) loop_.stop();
            });
        loop_.run();
        say("{} answered, {} refused, {}\n", counted(server.count().requests, "request"), server.count().refused,
            size_text(server.count().bytes));
    }

private:
    static asio::ip::address loopback_like(asio::ip::address const& any) {
        if (any.is_v6()) return asio::ip::address_v6::loopback();
        return asio::ip::address_v4::loopback();
    }

    web_options const& options_;
    service_loop loop_;
    milliseconds page_seen_ = 0; // 0: not yet
};

// The middle of a recording, as large as programs show pictures beside links.
std::vector<std::uint8_t> draw_preview(std::string const& file, std::vector<std::string> const& games) {
    input const source{file};
    demo_document demo{source};
    if (demo.overview().first_tick < 0) return {};
    view_choice view;
    view.width = 1200;
    view.height = 630;
    drawn_demo drawn{demo, {}, games, ""};
    workers one{1};
    frame to{view.width, view.height};
    drawn.draw((double{1} * demo.overview().first_tick + demo.overview().last_tick) / 2, view, one, to);
    return encode_png(picture_of(to));
}

int show_live(web_options const& options, viewer_assets const& files, game_pictures const& pictures) {
    page_service running{options};
    live_site site{options.source, files, pictures};
    feed_options how;
    how.spectating = options.spectating;
    how.spectating.retry = true;
    bool over = false;
    auto const source = open_feed(running.loop(), options.source, how, site.live(), [&] { over = true; });
    bool finished = false;
    auto const finish = [&] {
        if (!std::exchange(finished, true)) site.live().finish();
    };
    auto const keep_house = [&] {
        site.live().proceed(now());
        if (over) finish();
    };
    running.run(
        site,
        [&](web_server& server) {
            site.live().attach(server);
            keep_house();
            running.loop().every(site_housekeeping, keep_house);
            source->start();
        },
        [&] {
            source->stop();
            finish();
        });
    return source->failed() ? exit_io : exit_ok;
}

int web(web_options const& options) {
    viewer_assets const files{options.viewer};
    game_pictures const pictures{options.data};
    bool const live = web_address::parse(options.source).has_value() || parse_server(options.source).has_value();
    if (options.until_closed && (live || !options.folder.empty()))
        throw usage_error{"--until-closed is for recordings that are served"};
    if (live) {
        if (!options.folder.empty())
            throw usage_error{
                "-o writes recordings; use `teewire relay --dir` to write a live broadcast into a folder"};
        return show_live(options, files, pictures);
    }
    recording_folder shown{options.source};
    std::string const name =
        shown.is_folder() ? std::filesystem::path{shown.folder()}.filename().string() : shown.all().begin()->first;
    if (!options.folder.empty())
        return write_site(shown, name, files, pictures, {options.folder, options.force, !options.data.empty()});
    page_service running{options};
    recordings_site site{running.loop().io(), shown, files, pictures, name};
    if (options.until_closed) site.have_pages_stay();
    site.draw_previews([&](std::string const& file) { return draw_preview(file, pictures.folders()); });
    running.run(
        site, [&](web_server& server) { site.attach(server); }, [] {});
    return exit_ok;
}

} // namespace

verb const web_verb{
    "web", "Show recordings or a server in the web browser",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<web_options>();
        options.operand(chosen->source, "SOURCE",
                        "a demo, a folder of demos, HOST:PORT of a server, or http://HOST:PORT of a relay");
        options.number("--port", chosen->port, 0, 65535, "TCP port; 0: any free port");
        options.text("--bind", chosen->bind, "IPv4 or IPv6 address to listen on; 0.0.0.0: all", "ADDRESS");
        options.texts("--data", chosen->data,
                      "folder of a game, for skins, pictures and maps; several are used in their order "
                      "[default: those of the games that are installed]",
                      "FOLDER");
        options.text("--viewer", chosen->viewer, "folder of a viewer to use instead of the built-in one", "FOLDER");
        options.flag("--no-open", chosen->no_open, "do not open a browser");
        options.flag("--until-closed", chosen->until_closed,
                     "stop when a page was opened and all have been closed for 10 seconds");
        options.text("-o,--output", chosen->folder, "write a static site for any web server instead of serving",
                     "FOLDER");
        options.flag("--force", chosen->force, "replace files in that folder");
        server_options(options, chosen->spectating);
        options.remark("Only the named recordings are served. Missing indexes are made when needed, and kept in "
                       "~/.cache/teewire. A static site has the game's pictures only if --data is given.");
        options.examples({"web game.demo", "web ~/.local/share/ddnet/demos", "web localhost:8303 --port 8081",
                          "web recordings -o /var/www/demos"});
        return [chosen] { return web(*chosen); };
    },
    ending::deferred};

} // namespace teewire::replay
