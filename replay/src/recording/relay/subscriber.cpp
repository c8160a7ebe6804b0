#include "recording/relay/subscriber.hpp"

#include "base/errors.hpp"
#include "base/rate_limit.hpp"
#include "base/text.hpp"
#include "base/udp.hpp"
#include "recording/demo/demo_stream.hpp"
#include "recording/relay/broadcast_index.hpp"
#include "recording/stream/early_messages.hpp"
#include "recording/stream/event_queue.hpp"
#include "recording/stream/whole_ticks.hpp"

#include <teewire/demo_reader.hpp>
#include <teewire/sha256.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t max_start = std::size_t{64} << 10;
constexpr std::size_t max_fragment = std::size_t{64} << 20;
// An answer's header, or the header and the trailer of a piece of its body.
constexpr std::size_t max_around = std::size_t{128} << 10;
constexpr auto answer_patience = std::chrono::seconds{20};
constexpr milliseconds look_again = 200;
constexpr milliseconds first_wait = 500;
constexpr milliseconds longest_wait = 5000;
constexpr milliseconds tick_milliseconds = 1000 / ticks_per_second;
// Fragments come in their time, but not at the millisecond.
constexpr milliseconds spare = 300;
constexpr milliseconds most_ahead = 5000;
constexpr milliseconds most_behind = 2000;

} // namespace

std::optional<web_address> web_address::parse(std::string const& name) {
    constexpr std::string_view scheme = "http://";
    if (name.starts_with("https://")) throw usage_error{name, "HTTPS is not supported; use a proxy"};
    if (!name.starts_with(scheme)) return {};
    std::string const rest = name.substr(scheme.size());
    std::size_t const slash = rest.find('/');
    std::string const place = rest.substr(0, slash);
    web_address found;
    std::size_t const colon = place.rfind(':');
    bool const has_port = colon != std::string::npos && place.find(']', colon) == std::string::npos;
    found.host = place.substr(0, has_port ? colon : std::string::npos);
    if (has_port) found.port = place.substr(colon + 1);
    if (found.host.size() > 2 && found.host.front() == '[' && found.host.back() == ']')
        found.host = found.host.substr(1, found.host.size() - 2);
    if (slash != std::string::npos) found.path = rest.substr(slash);
    if (!found.path.ends_with('/')) found.path += '/';
    bool const port_right = !found.port.empty() && found.port.size() <= 5 &&
                            found.port.find_first_not_of("0123456789") == std::string::npos;
    bool const path_right =
        std::all_of(found.path.begin(), found.path.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (found.host.empty() || !port_right || !path_right)
        throw usage_error{name, "not of the form http://HOST[:PORT][/PATH]"};
    return found;
}

class subscriber::state final : private event_sink {
public:
    state(service_loop& loop, web_address from, event_sink& to, std::function<void(std::string const&)> say)
        : loop_{loop}, from_{std::move(from)}, to_{to}, say_{std::move(say)}, stream_{loop.io()}, wait_{loop.io()},
          pace_{loop.io()}, buffer_{max_around}, memory_{std::make_unique<demo_player_memory>()} {}

    void start() { get_sync(); }
    void stop() {
        stopped_ = true;
        wait_.cancel();
        pace_.cancel();
        stream_.close();
    }

private:
    using body = std::vector<std::uint8_t>;
    using handler = void (state::*)(unsigned status, body&&);

    // ---- connection

    void connect(std::function<void()> const& then) {
        loop_.resolve(from_.host, from_.port,
                      [this, then](error_code failed, service_loop::endpoints const& found) {
                          if (stopped_) return;
                          if (failed) return lose(failed.message());
                          std::vector<tcp::endpoint> there;
                          for (auto const& e : found) there.emplace_back(e.address(), e.port());
                          stream_.expires_after(answer_patience);
                          stream_.async_connect(there, [this, then](error_code gone, tcp::endpoint const&) {
                              if (stopped_) return;
                              if (gone) return lose(gone.message());
                              connected_ = true;
                              then();
                          });
                      });
    }
    void disconnect() {
        stream_.close();
        buffer_.clear();
        connected_ = used_ = false;
    }

    void lose(std::string const& why) {
        if (stopped_) return;
        disconnect();
        if (why != last_trouble_) say_(fmt::format("{}; trying again", why));
        last_trouble_ = why;
        after(std::exchange(back_off_, std::min(2 * back_off_, longest_wait)), &state::get_sync);
    }

    void after(milliseconds time, void (state::*next)()) {
        wait_.expires_after(std::chrono::milliseconds{time});
        wait_.async_wait([this, next](error_code cancelled) {
            if (!cancelled && !stopped_) (this->*next)();
        });
    }

    void get(std::string const& path, std::size_t most, handler next) {
        if (!connected_) return connect([this, path, most, next] { get(path, most, next); });
        request_ = {};
        request_.method(http::verb::get);
        request_.target(from_.path + path);
        request_.version(11);
        request_.set(http::field::host, from_.host + (from_.port == "80" ? "" : ":" + from_.port));
        request_.set(http::field::user_agent, "teewire");
        parser_.emplace();
        parser_->body_limit(most);
        stream_.expires_after(answer_patience);
        auto const broken = [this, path, most, next](error_code why) {
            // A server may end a connection that it has answered on.
            if (!used_ || why == beast::error::timeout) return lose(why.message());
            disconnect();
            get(path, most, next);
        };
        http::async_write(stream_, request_, [this, next, broken](error_code unsent, std::size_t) {
            if (stopped_) return;
            if (unsent) return broken(unsent);
            http::async_read(stream_, buffer_, *parser_, [this, next, broken](error_code failed, std::size_t) {
                if (stopped_) return;
                if (failed) return broken(failed);
                used_ = true;
                auto& answer = parser_->get();
                unsigned const status = answer.result_int();
                auto const data = answer.body().cdata();
                auto const* const first = static_cast<std::uint8_t const*>(data.data());
                body bytes(first, first + data.size());
                if (!answer.keep_alive()) disconnect();
                (this->*next)(status, std::move(bytes));
            });
        });
    }

    // ---- what to fetch

    void get_sync() { get("sync", broadcast_index::max_bytes, &state::take_sync); }
    void take_sync(unsigned status, body&& text) {
        auto const index = status == 200 ? broadcast_index::parse(text) : std::nullopt;
        if (!index) return lose(fmt::format("there is no broadcast (answer {})", status));
        back_off_ = first_wait;
        if (!std::exchange(last_trouble_, {}).empty()) say_("there again");
        auto const& all = index->recordings;
        auto const mine =
            std::find_if(all.begin(), all.end(), [&](auto const& e) { return current_ && e.id == current_->id; });
        if (mine != all.end() && next_ <= mine->last) {
            if (next_ < mine->first) {
                lost();
                next_ = mine->last;
                return get_state();
            }
            return get_fragment();
        }
        if (mine != all.end() && !mine->ended) return get_fragment();
        bool const continues = mine != all.end() && mine + 1 != all.end();
        if (all.empty() || (mine != all.end() && !continues)) return after(look_again, &state::get_sync);
        if (current_ && !continues) lost();
        current_ = continues ? *(mine + 1) : all.back();
        next_ = continues ? current_->first : current_->last;
        begun_ = false;
        get_start();
    }

    void get_start() { get(current_->id + "/start", max_start, &state::take_start); }
    void take_start(unsigned status, body&& bytes) {
        if (status != 200) {
            current_.reset();
            return after(look_again, &state::get_sync);
        }
        start_ = std::move(bytes);
        early_.clear();
        if (!current_->has_map || map_sha256_ == current_->map.sha256) return get_state();
        get_map();
    }

    void get_map() {
        get("map/" + hex(*current_->map.sha256) + ".map", broadcast_index::max_map_bytes, &state::take_map);
    }
    void take_map(unsigned status, body&& bytes) {
        map_.clear();
        map_sha256_.reset();
        if (status == 200 && sha256(bytes) == *current_->map.sha256) {
            map_ = std::move(bytes);
            map_sha256_ = current_->map.sha256;
        } else {
            say_(fmt::format("the map {} is missing, or is another one", current_->map.name));
        }
        get_state();
    }

    // The lasting messages from before the fragment.
    void get_state() { get(fmt::format("{}/{}.state", current_->id, next_), max_fragment, &state::take_state); }
    void take_state(unsigned status, body&& bytes) {
        state_ = status == 200 ? std::move(bytes) : body{};
        get_fragment();
    }

    void get_fragment() {
        // Fragments that are here already are shown first.
        if (last_due_ > now() + most_ahead) return after(look_again, &state::get_fragment);
        get(fmt::format("{}/{}.frag", current_->id, next_), max_fragment, &state::take_fragment);
    }
    void take_fragment(unsigned status, body&& bytes) {
        if (status != 200) return after(look_again, &state::get_sync);
        std::int32_t const before = last_tick_;
        play(bytes);
        ++next_;
        // A fragment with nothing new must not speed up polling: an untrusted relay could send any number of them.
        if (last_tick_ == before) return after(look_again, &state::get_fragment);
        get_fragment();
    }

    // ---- what is in it

    void lost() {
        stream_event e;
        e.kind = event_kind::lost;
        e.tick = last_tick_;
        if (sent_begin_) add(e, last_due_);
    }

    void play(body const& chunks) {
        body bytes = start_;
        body const before = std::exchange(state_, {});
        bytes.insert(bytes.end(), before.begin(), before.end());
        bytes.insert(bytes.end(), chunks.begin(), chunks.end());
        auto const reader = demo_reader::open(bytes);
        if (!reader) return complain("it is not part of a demo");
        size_table const& sizes = current_->version == protocol::teeworlds_07 ? sizes_07 : sizes_06;
        demo_player player{*reader, *memory_, {&sizes, decoding::lenient, nullptr}};
        whole_ticks whole{*this};
        for (demo_event found; player.next(found);) whole.put(to_stream_event(found, player.state()));
        whole.finish(player.state());
        if (player.error().what.code != errc::ok) complain(explain(player.error()));
    }
    void complain(std::string const& why) {
        if (complaints_.try_acquire(now())) say_(fmt::format("fragment {} is damaged: {}", next_, why));
    }

    void put(stream_event const& e) override {
        if (e.kind == event_kind::snapshot) {
            if (begun_ && e.tick <= last_tick_) return;
            if (!begun_) begin(e.tick);
            last_tick_ = e.tick;
        }
        if (e.kind == event_kind::message && (!begun_ || e.tick < 0)) {
            early_.add(e.message, true);
            return;
        }
        if (begun_) add(e, due(e.tick));
        if (e.kind == event_kind::snapshot) add_early(e);
    }

    // The messages from before a snapshot come with it.
    void add_early(stream_event const& snapshot) {
        early_.release([&](std::span<std::uint8_t const> bytes, bool vital) {
            stream_event e;
            e.kind = event_kind::message;
            e.tick = snapshot.tick;
            e.vital = vital;
            e.message = bytes;
            add(e, last_due_);
        });
    }

    void begin(std::int32_t tick) {
        recording_info what;
        what.version = current_->version;
        what.map = current_->map;
        if (map_sha256_ && map_sha256_ == current_->map.sha256) what.map_bytes = map_;
        what.first_tick = tick;
        stream_event e;
        e.kind = event_kind::begin;
        e.begun = &what;
        anchor_tick_ = tick;
        anchor_ = std::max(now() + spare, last_due_ + tick_milliseconds);
        add(e, anchor_);
        begun_ = sent_begin_ = true;
        last_tick_ = -1;
    }

    // A tick takes its time also where ticks jump: nothing makes a relay come faster than a game.
    milliseconds due(std::int32_t tick) {
        milliseconds const time = now();
        milliseconds at = anchor_ + (std::int64_t{tick} - anchor_tick_) * tick_milliseconds;
        if (at > time + most_ahead || at < time - most_behind) {
            anchor_tick_ = tick;
            at = anchor_ = std::max(time + spare, last_due_ + tick_milliseconds);
        }
        return at;
    }

    void add(stream_event const& e, milliseconds at) {
        last_due_ = std::max(at, last_due_);
        waiting_.add(e, last_due_);
        if (!pacing_) pace();
    }

    void pace() {
        auto const next = waiting_.next();
        pacing_ = next.has_value();
        if (!pacing_) return;
        pace_.expires_at(to_time(*next));
        pace_.async_wait([this](error_code cancelled) {
            if (cancelled || stopped_) return;
            waiting_.release(now(), to_);
            pace();
        });
    }

    service_loop& loop_;
    web_address from_;
    event_sink& to_;
    std::function<void(std::string const&)> say_;
    beast::tcp_stream stream_;
    asio::steady_timer wait_;
    asio::steady_timer pace_;
    beast::flat_buffer buffer_;
    http::request<http::empty_body> request_;
    // Not a body that allocates whatever size the peer announces.
    std::optional<http::response_parser<http::basic_dynamic_body<beast::flat_buffer>>> parser_;
    bool connected_ = false;
    bool used_ = false; // the connection has given an answer
    bool stopped_ = false;
    milliseconds back_off_ = first_wait;
    std::string last_trouble_;
    rate_limit complaints_{1};

    std::optional<broadcast_index::entry> current_;
    std::uint64_t next_ = 0;
    body start_;
    body state_; // of the next fragment, if the viewer begins there
    body map_;
    std::optional<std::array<std::uint8_t, 32>> map_sha256_; // of map_

    std::unique_ptr<demo_player_memory> memory_;
    event_queue waiting_;
    early_messages early_; // before the next snapshot
    bool pacing_ = false;
    bool begun_ = false; // current_
    bool sent_begin_ = false;
    std::int32_t last_tick_ = -1;
    std::int32_t anchor_tick_ = 0;
    milliseconds anchor_ = 0;
    milliseconds last_due_ = 0;
};

subscriber::subscriber(service_loop& loop, web_address from, event_sink& to,
                       std::function<void(std::string const&)> say)
    : state_{std::make_unique<state>(loop, std::move(from), to, std::move(say))} {}
subscriber::~subscriber() = default;
void subscriber::start() { state_->start(); }
void subscriber::stop() { state_->stop(); }

} // namespace teewire::replay
