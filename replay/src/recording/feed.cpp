#include "recording/feed.hpp"

#include "base/input.hpp"
#include "base/output.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/relay/subscriber.hpp"
#include "recording/server/server_source.hpp"
#include "recording/stream/whole_ticks.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <optional>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;

class server_feed final : public feed {
public:
    server_feed(service_loop& loop, host_port const& server, spectator_options const& options, event_sink& to,
                std::function<void()> ended)
        : options_{options}, reader_{loop, options_, server, to, std::move(ended)} {}

    void start() override { reader_.start(); }
    void stop() override { reader_.stop(); }
    [[nodiscard]] bool failed() const override { return reader_.outcome().failed; }

private:
    spectator_options options_;
    server_reader reader_;
};

// Each event when its tick has come.
class demo_feed final : public feed {
public:
    demo_feed(service_loop& loop, std::string const& name, feed_options const& options, event_sink& to,
              std::function<void()> ended)
        : file_{name}, options_{options}, to_{to}, ended_{std::move(ended)}, timer_{loop.io()} {
        demo_.emplace(file_);
    }

    void start() override {
        stream_.emplace(*demo_);
        anchor_tick_ = -1;
        given_ = 0;
        play();
    }
    void stop() override {
        timer_.cancel();
        if (!std::exchange(over_, true)) ended_();
    }
    [[nodiscard]] bool failed() const override { return failed_; }
    [[nodiscard]] bool is_remote() const noexcept override { return false; }

private:
    static constexpr double longest_gap = 60'000; // milliseconds, the longest wait

    // When it is due, in milliseconds.
    double due(std::int32_t tick) {
        auto const time = static_cast<double>(now());
        if (anchor_tick_ < 0) {
            anchor_tick_ = tick;
            anchor_ = time;
        }
        double const at =
            anchor_ + (static_cast<double>(tick) - anchor_tick_) * 1000 / ticks_per_second / options_.speed;
        if (at - time <= longest_gap) return at;
        anchor_tick_ = tick;
        return anchor_ = time;
    }

    void play() {
        constexpr int at_once = 1000; // others want to work, too
        for (int i = 0; i < at_once; ++i) {
            if (!next_) {
                stream_event e;
                if (!stream_->next(e)) return end();
                next_ = e;
            }
            if (next_->kind == event_kind::tick || next_->kind == event_kind::snapshot) {
                auto const at = static_cast<milliseconds>(due(next_->tick));
                if (at > now()) return play_at(at);
            }
            ++given_;
            to_.put(*next_);
            next_.reset();
        }
        play_at(now());
    }

    void play_at(milliseconds time) {
        timer_.expires_at(to_time(time));
        timer_.async_wait([this](boost::system::error_code cancelled) {
            if (!cancelled && !over_) play();
        });
    }

    void end() {
        if (std::string const why = stream_->error(); !why.empty()) {
            complain(fmt::format("{}: {}", file_.name(), why));
            failed_ = true;
        }
        to_.finish(demo_->player().state());
        if (!options_.loop || given_ <= 1) return stop();
        demo_.emplace(file_);
        start();
    }

    input file_;
    std::optional<demo_document> demo_;
    feed_options options_;
    whole_ticks to_;
    std::function<void()> ended_;
    asio::steady_timer timer_;
    std::optional<demo_stream> stream_;
    std::optional<stream_event> next_; // not due yet
    std::uint64_t given_ = 0;
    std::int32_t anchor_tick_ = -1;
    double anchor_ = 0; // when that tick was given
    bool over_ = false;
    bool failed_ = false;
};

class broadcast_feed final : public feed {
public:
    broadcast_feed(service_loop& loop, std::string const& name, web_address const& from, event_sink& to,
                   std::function<void()> ended)
        : ended_{std::move(ended)}, from_{loop, from, to, [name](std::string const& line) {
                                              say("{}\n", printable(fmt::format("{}: {}", name, line)));
                                          }} {}

    void start() override { from_.start(); }
    void stop() override {
        from_.stop();
        ended_();
    }
    [[nodiscard]] bool failed() const override { return false; }

private:
    std::function<void()> ended_;
    subscriber from_;
};

} // namespace

std::unique_ptr<feed> open_feed(service_loop& loop, std::string const& name, feed_options const& options,
                                event_sink& to, std::function<void()> ended) {
    if (auto const web = web_address::parse(name))
        return std::make_unique<broadcast_feed>(loop, name, *web, to, std::move(ended));
    if (auto const server = parse_server(name))
        return std::make_unique<server_feed>(loop, *server, options.spectating, to, std::move(ended));
    return std::make_unique<demo_feed>(loop, name, options, to, std::move(ended));
}

} // namespace teewire::replay
