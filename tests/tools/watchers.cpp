// Viewers of a broadcast, any number of them, each on a connection of its own: fetches fragment after fragment as
// lib/doc/format/broadcast.md says, and compares what each one got.
//   watchers HOST PORT ORIGIN_PORT VIEWERS SECONDS [FILE]
// HOST:PORT is the address for viewers, and ORIGIN_PORT that of the relay on this machine, used only for `sync`. FILE gets
// the joined recording. Prints one line of JSON: ages are from the oldest tick in a fragment to the moment when it is
// there, without the relay's delay, in seconds.
#include <utility> // which some versions of the next one forget

#include <boost/asio.hpp>
#include <rapidjson/document.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using error_code = boost::system::error_code;
using clock_type = std::chrono::system_clock;

struct answer {
    int status = 0;
    std::string body;
};

// One request after the other on a connection, which is made again when it is gone.
class link {
public:
    link(asio::io_context& io, tcp::endpoint const& to) : socket_{io}, timer_{io}, to_{to} {}

    template <class Done>
    void get(std::string const& path, Done done) {
        request_ = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if (socket_.is_open()) return send(std::move(done));
        socket_.async_connect(to_, [this, done](error_code failed) {
            if (failed) return fail(done);
            send(done);
        });
    }
    template <class Next>
    void wait(int milliseconds, Next next) {
        timer_.expires_after(std::chrono::milliseconds{milliseconds});
        timer_.async_wait([next](error_code) { next(); });
    }
    std::uint64_t failures = 0;

private:
    template <class Done>
    void send(Done done) {
        asio::async_write(socket_, asio::buffer(request_), [this, done](error_code failed, std::size_t) {
            if (failed) return fail(done);
            asio::async_read_until(socket_, asio::dynamic_buffer(in_), "\r\n\r\n",
                                   [this, done](error_code broken, std::size_t head) {
                                       if (broken) return fail(done);
                                       read_body(head, done);
                                   });
        });
    }
    template <class Done>
    void read_body(std::size_t head, Done done) {
        std::string_view const text = std::string_view{in_}.substr(0, head);
        int const status = std::atoi(in_.c_str() + 9);
        std::size_t size = 0;
        for (char const* const name : {"Content-Length: ", "content-length: "})
            if (auto const at = text.find(name); at != std::string_view::npos)
                size = static_cast<std::size_t>(std::atoll(in_.c_str() + at + 16));
        std::size_t const whole = head + size;
        auto const complete = [this, head, whole, status, done](error_code failed, std::size_t) {
            if (failed) return fail(done);
            answer a{status, in_.substr(head, whole - head)};
            in_.erase(0, whole);
            done(std::move(a));
        };
        if (in_.size() >= whole) return complete({}, 0);
        asio::async_read(socket_, asio::dynamic_buffer(in_), asio::transfer_exactly(whole - in_.size()), complete);
    }
    template <class Done>
    void fail(Done done) {
        ++failures;
        error_code ignored;
        socket_.close(ignored);
        in_.clear();
        wait(200, [done] { done(answer{}); });
    }

    tcp::socket socket_;
    asio::steady_timer timer_;
    tcp::endpoint to_;
    std::string request_;
    std::string in_;
};

struct known_fragment {
    std::string bytes;   // as the first one got it
    double complete = 0; // in seconds since 1970, at the origin
};

struct shared {
    std::string id;
    std::uint64_t last = 0;
    bool ended = false;
    std::map<std::uint64_t, known_fragment> fragments;
    std::vector<std::pair<std::uint64_t, double>> arrivals; // of which fragment, and when
    std::uint64_t bytes = 0, wrong = 0, not_there = 0, watching = 0;
};

double now() { return std::chrono::duration<double>(clock_type::now().time_since_epoch()).count(); }

// Looks at `sync` all the time: when each fragment was complete.
class observer {
public:
    observer(asio::io_context& io, tcp::endpoint const& origin, shared& all) : link_{io, origin}, all_{all} {}
    void look() {
        link_.get("/sync", [this](answer a) {
            rapidjson::Document json;
            if (a.status == 200 && !json.Parse(a.body.data(), a.body.size()).HasParseError()) take(json);
            link_.wait(20, [this] { look(); });
        });
    }

private:
    void take(rapidjson::Document const& json) {
        auto const& list = json["recordings"];
        if (list.Empty()) return;
        auto const& one = all_.id.empty() ? list[list.Size() - 1] : list[0];
        if (all_.id.empty()) all_.id = one["id"].GetString();
        if (all_.id != one["id"].GetString()) return;
        all_.last = one["last"].GetUint64();
        all_.ended = one["ended"].GetBool();
        auto& f = all_.fragments[all_.last];
        if (f.complete == 0) f.complete = json["time_ms"].GetDouble() / 1000;
    }
    link link_;
    shared& all_;
};

class viewer {
public:
    viewer(asio::io_context& io, tcp::endpoint const& to, shared& all) : link_{io, to}, all_{all} {}

    void begin() {
        if (all_.id.empty()) return link_.wait(50, [this] { begin(); });
        next_ = all_.last;
        ++all_.watching;
        go_on();
    }
    [[nodiscard]] std::uint64_t failures() const { return link_.failures; }
    [[nodiscard]] std::uint64_t seen() const { return seen_; }

private:
    void go_on() {
        link_.get("/" + all_.id + "/" + std::to_string(next_) + ".frag", [this](answer a) {
            if (a.status != 200) {
                ++all_.not_there;
                return link_.wait(200, [this] { go_on(); });
            }
            auto& f = all_.fragments[next_];
            if (f.bytes.empty()) f.bytes = std::move(a.body);
            else all_.wrong += f.bytes != a.body;
            all_.bytes += f.bytes.size();
            // The age of fragments that were there before this viewer says nothing.
            if (seen_++ > 0) all_.arrivals.emplace_back(next_, now());
            ++next_;
            go_on();
        });
    }
    link link_;
    shared& all_;
    std::uint64_t next_ = 0;
    std::uint64_t seen_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 6) return 2;
    asio::io_context io{1};
    tcp::endpoint const seen{asio::ip::make_address(argv[1]), static_cast<std::uint16_t>(std::atoi(argv[2]))};
    tcp::endpoint const origin{asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::atoi(argv[3]))};
    auto const count = static_cast<std::size_t>(std::atoll(argv[4]));
    double const seconds = std::atof(argv[5]);
    shared all;
    observer watch{io, origin, all};
    watch.look();
    std::vector<std::unique_ptr<viewer>> viewers;
    asio::steady_timer starter{io}, end{io};
    // Not all at the same moment, as in reality.
    std::function<void()> const start = [&] {
        for (int i = 0; i < 50 && viewers.size() < count; ++i) {
            viewers.push_back(std::make_unique<viewer>(io, seen, all));
            viewers.back()->begin();
        }
        if (viewers.size() == count) return;
        starter.expires_after(std::chrono::milliseconds{20});
        starter.async_wait([&](error_code) { start(); });
    };
    start();
    end.expires_after(std::chrono::milliseconds{static_cast<std::int64_t>(1000 * seconds)});
    end.async_wait([&](error_code) { io.stop(); });
    io.run();

    // A fragment is a second long when it is complete.
    std::vector<double> ages;
    for (auto const& [number, when] : all.arrivals)
        if (double const complete = all.fragments[number].complete; complete != 0)
            ages.push_back(when - complete + 1);
    std::sort(ages.begin(), ages.end());
    auto const part = [&](double p) {
        return ages.empty() ? 0 : ages[static_cast<std::size_t>(p * static_cast<double>(ages.size() - 1))];
    };
    std::uint64_t failures = 0, least = UINT64_MAX;
    for (auto const& v : viewers) {
        failures += v->failures();
        least = std::min(least, v->seen());
    }
    std::printf(
        "{\"viewers\":%zu,\"fragments\":%zu,\"least\":%llu,\"wrong\":%llu,\"failures\":%llu,\"not_there\":%llu,"
        "\"age_p50\":%.3f,\"age_p99\":%.3f,\"age_max\":%.3f,\"bytes_per_viewer_second\":%.0f}\n",
        viewers.size(), ages.size(), static_cast<unsigned long long>(least),
        static_cast<unsigned long long>(all.wrong), static_cast<unsigned long long>(failures),
        static_cast<unsigned long long>(all.not_there), part(0.5), part(0.99), part(1),
        static_cast<double>(all.bytes) / static_cast<double>(std::max<std::size_t>(count, 1)) / seconds);
    if (argc > 6) {
        std::ofstream file{argv[6], std::ios::binary};
        for (auto const& [number, f] : all.fragments) file << f.bytes;
    }
    return all.wrong != 0;
}
