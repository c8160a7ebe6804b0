#include "http/web_server.hpp"

#include "base/compression.hpp"
#include "base/errors.hpp"
#include "base/network_of.hpp"
#include "base/rate_limit.hpp"
#include "base/udp.hpp"
#include "http/web_request.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace teewire::replay {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::seconds;

constexpr std::uint32_t max_header = 8192;
constexpr auto request_time = seconds{30};  // from the answer before to the end of the next header
constexpr auto least_time = seconds{20};    // to send an answer
constexpr std::size_t slowest_bytes = 4096; // a second
constexpr auto feed_time = seconds{30};     // to take what was published
constexpr std::size_t max_behind = std::size_t{256} << 10;
constexpr std::size_t body_piece = 64 << 10;                  // of a stored file
constexpr auto accept_pause = std::chrono::milliseconds{100}; // where there are no more descriptors

std::string_view to_view(beast::string_view text) { return {text.data(), text.size()}; }
beast::string_view to_beast(std::string_view text) { return {text.data(), text.size()}; }

// Whether a list of tags has it: `"a", W/"b"`, or a star.
bool names_tag(std::string_view list, std::string_view tag) {
    return list == "*" || list.find(fmt::format("\"{}\"", tag)) != std::string_view::npos;
}

} // namespace

struct web_server::state {
    state(asio::io_context& context, web_pages& from, web_limits const& most)
        : io{context}, pages{from}, limits{most}, acceptor{context}, pause{context}, rates{
                                                                                         most.requests_per_address,
                                                                                         most.requests} {}

    void accept(std::shared_ptr<state> const& self);

    asio::io_context& io;
    web_pages& pages;
    web_limits limits;
    tcp::acceptor acceptor;
    asio::steady_timer pause;
    host_rate_limit rates;
    counters count;
    std::set<session*> sessions;
    std::map<asio::ip::address, std::size_t> of_network;
    std::set<session*> waiting; // for something to change
    std::set<session*> feeds;
};

class web_server::session final : public std::enable_shared_from_this<session> {
public:
    session(std::shared_ptr<state> const& server, tcp::socket&& socket, asio::ip::address from)
        : server_{server}, stream_{std::move(socket)}, timer_{server->io}, from_{std::move(from)}, buffer_{
                                                                                                       2 *
                                                                                                       max_header} {
        server_->sessions.insert(this);
        ++server_->of_network[from_];
    }
    ~session() {
        forget();
        server_->sessions.erase(this);
        auto const mine = server_->of_network.find(from_);
        if (--mine->second == 0) server_->of_network.erase(mine);
    }
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    void read() {
        parser_.emplace();
        parser_->header_limit(max_header);
        parser_->body_limit(0);
        stream_.expires_after(request_time);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](error_code failed, std::size_t) { self->take(failed); });
    }

    /// Asks once more.
    void retry(bool last) {
        web_answer const found = server_->pages.get({path_, query_, address_});
        if (found.what == web_answer::kind::later && !last) return;
        server_->waiting.erase(this);
        timer_.cancel();
        answer(found);
    }

    void publish(std::shared_ptr<std::string const> const& text) {
        behind_ += text->size();
        if (behind_ > max_behind) return close();
        feed_.push_back(text);
        if (feed_.size() == 1) write_feed();
    }

    void close() {
        forget();
        timer_.cancel();
        stream_.close();
    }

private:
    void forget() {
        server_->waiting.erase(this);
        server_->feeds.erase(this);
    }

    void take(error_code failed) {
        if (failed == beast::error::timeout) ++server_->count.timeouts;
        bool const malformed = failed.category() == make_error_code(http::error::end_of_stream).category() &&
                               failed != http::error::end_of_stream && failed != http::error::partial_message;
        if (failed && !malformed) return stream_.close();
        ++server_->count.requests;
        if (failed) {
            ++server_->count.refused;
            bool const large = failed == http::error::header_limit || failed == http::error::buffer_overflow;
            bool const body = failed == http::error::unexpected_body || failed == http::error::body_limit;
            keep_ = false;
            head_ = false;
            return refuse(large  ? http::status::request_header_fields_too_large
                          : body ? http::status::payload_too_large
                                 : http::status::bad_request);
        }
        auto const& request = parser_->get();
        keep_ = request.keep_alive();
        version_ = request.version();
        head_ = request.method() == http::verb::head;
        if (!server_->rates.try_acquire(from_, now())) {
            ++server_->count.refused;
            keep_ = false;
            return refuse(http::status::too_many_requests);
        }
        if (request.method() == http::verb::options) return refuse(http::status::no_content);
        if (!head_ && request.method() != http::verb::get) {
            ++server_->count.refused;
            return refuse(http::status::method_not_allowed);
        }
        if (request.version() == 11 && request.count(http::field::host) != 1) {
            ++server_->count.refused;
            return refuse(http::status::bad_request);
        }
        request_target const target = request_target::parse(to_view(request.target()));
        if (server_->limits.local && !is_local_host(target.host.value_or(asked(http::field::host)))) {
            ++server_->count.refused;
            return refuse(http::status::misdirected_request);
        }
        path_ = target.path;
        query_ = target.query;
        bool const by_proxy = to_view(request["X-Forwarded-Proto"]) == "https";
        address_ =
            fmt::format("{}://{}/", by_proxy ? "https" : "http", target.host.value_or(asked(http::field::host)));
        web_answer const found = server_->pages.get({path_, query_, address_});
        if (found.what != web_answer::kind::later) return answer(found);
        server_->waiting.insert(this);
        stream_.expires_never();
        timer_.expires_after(found.patience);
        timer_.async_wait([self = shared_from_this()](error_code cancelled) {
            if (!cancelled && self->server_->waiting.contains(self.get())) self->retry(true);
        });
    }

    void answer(web_answer const& found) {
        switch (found.what) {
        case web_answer::kind::file: return send(found);
        case web_answer::kind::feed: return head_ ? answer_feed_head() : begin_feed();
        case web_answer::kind::later:
        case web_answer::kind::none: break;
        }
        ++server_->count.not_found;
        refuse(http::status::not_found);
    }

    // One kind of body for all of them, as each costs seconds to compile.
    using reply_body = http::span_body<std::uint8_t const>;
    using reply_message = http::response<reply_body>;

    [[nodiscard]] std::shared_ptr<reply_message> make_reply(http::status status) const {
        auto reply = std::make_shared<reply_message>();
        reply->result(status);
        reply->version(version_);
        reply->keep_alive(keep_);
        reply->set("X-Content-Type-Options", "nosniff");
        if (server_->limits.local) reply->set("Cross-Origin-Resource-Policy", "same-origin");
        else reply->set(http::field::access_control_allow_origin, "*");
        return reply;
    }

    void refuse(http::status why) {
        auto const reply = make_reply(why);
        reply->set(http::field::cache_control, "no-store");
        reply->set(http::field::allow, "GET, HEAD, OPTIONS");
        if (why == http::status::no_content) {
            reply->set(http::field::access_control_allow_methods, "GET, HEAD, OPTIONS");
            reply->set(http::field::access_control_allow_headers, "*");
        } else if (!head_) {
            std::string const text = std::string{http::obsolete_reason(why)} + "\n";
            body_ = std::make_shared<std::vector<std::uint8_t> const>(text.begin(), text.end());
            reply->set(http::field::content_type, "text/plain");
            reply->body() = {body_->data(), body_->size()};
        }
        reply->prepare_payload();
        write(reply);
    }

    [[nodiscard]] std::string_view asked(http::field field) const { return to_view(parser_->get()[field]); }

    void send(web_answer const& found) {
        body_ = found.body;
        stored_ = found.stored;
        bool const packed =
            found.packed && asked(http::field::accept_encoding).find("gzip") != std::string_view::npos;
        if (found.packed && !packed) body_ = std::make_shared<std::vector<std::uint8_t> const>(unpack_gzip(*body_));
        std::uint64_t const all = stored_ ? stored_->size() : body_->size();
        std::string const tag =
            (stored_ ? stored_->tag() : found.tag) + (packed && !found.tag.empty() ? "-gzip" : "");
        auto const make = [&](http::status status) {
            auto reply = make_reply(status);
            reply->set(http::field::access_control_expose_headers, "Accept-Ranges, Content-Range, ETag");
            reply->set(http::field::cache_control, to_beast(found.cache));
            if (!tag.empty()) reply->set(http::field::etag, fmt::format("\"{}\"", tag));
            if (found.packed) reply->set(http::field::vary, "Accept-Encoding");
            return reply;
        };
        if (!tag.empty() && names_tag(asked(http::field::if_none_match), tag)) {
            forget_body();
            return write(make(http::status::not_modified));
        }
        // Parts belong to what they were part of before, or to nothing.
        std::string_view const only_of = asked(http::field::if_range);
        bool const parts =
            !head_ && !packed && (only_of.empty() || (!tag.empty() && only_of == fmt::format("\"{}\"", tag)));
        byte_range const range = byte_range::parse(parts ? asked(http::field::range) : "", all);
        if (range.what == byte_range::kind::beyond) {
            auto const reply = make(http::status::range_not_satisfiable);
            reply->set(http::field::content_range, fmt::format("bytes */{}", all));
            reply->content_length(0);
            forget_body();
            return write(reply);
        }
        bool const part = range.what == byte_range::kind::part;
        auto const reply = make(part ? http::status::partial_content : http::status::ok);
        reply->set(http::field::content_type, to_beast(found.type));
        reply->set(http::field::accept_ranges, packed ? "none" : "bytes");
        if (packed) reply->set(http::field::content_encoding, "gzip");
        if (part)
            reply->set(http::field::content_range,
                       fmt::format("bytes {}-{}/{}", range.begin, range.begin + range.size - 1, all));
        reply->content_length(range.size);
        if (head_) {
            forget_body();
        } else {
            server_->count.bytes += range.size;
            at_ = range.begin;
            left_ = range.size;
            if (!stored_) reply->body() = {body_->data() + range.begin, static_cast<std::size_t>(range.size)};
        }
        write(reply);
    }

    void write(std::shared_ptr<reply_message> const& reply) {
        std::size_t const size = body_ ? body_->size() : 0;
        stream_.expires_after(least_time + seconds{size / slowest_bytes});
        // A response to HEAD ends after its header, whatever that says; and a stored file is written piece by piece.
        auto const serializer = std::make_shared<http::response_serializer<reply_body>>(*reply);
        auto const done = [self = shared_from_this(), reply, serializer](error_code failed, std::size_t) {
            self->body_.reset();
            if (!failed && self->stored_) return self->write_piece();
            self->finish_answer(failed);
        };
        if (head_ || stored_) http::async_write_header(stream_, *serializer, done);
        else http::async_write(stream_, *serializer, done);
    }

    void write_piece() {
        if (left_ == 0) return finish_answer({});
        piece_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left_, body_piece)));
        if (stored_->read(at_, piece_) < piece_.size())
            return close(); // it was cut, and less has come than promised
        at_ += piece_.size();
        left_ -= piece_.size();
        stream_.expires_after(least_time);
        asio::async_write(stream_, asio::buffer(piece_),
                          [self = shared_from_this()](error_code failed, std::size_t) {
                              if (failed) self->finish_answer(failed);
                              else self->write_piece();
                          });
    }

    void finish_answer(error_code failed) {
        forget_body();
        if (failed == beast::error::timeout) ++server_->count.timeouts;
        if (failed || !keep_) return end();
        read();
    }
    void forget_body() {
        body_.reset();
        stored_.reset();
        piece_ = {};
    }

    void end() {
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.close();
    }

    void answer_feed_head() {
        keep_ = false;
        auto const reply = make_reply(http::status::ok);
        reply->set(http::field::content_type, "text/event-stream");
        reply->set(http::field::cache_control, "no-store");
        write(reply);
    }

    void begin_feed() {
        server_->feeds.insert(this);
        publish(std::make_shared<std::string const>(
            fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
                        "{}X-Accel-Buffering: no\r\nConnection: close\r\n\r\n",
                        server_->limits.local ? "" : "Access-Control-Allow-Origin: *\r\n")));
        watch_end();
    }

    void write_feed() {
        stream_.expires_after(feed_time);
        asio::async_write(stream_, asio::buffer(*feed_.front()),
                          [self = shared_from_this()](error_code failed, std::size_t) {
                              if (failed) return self->close();
                              self->behind_ -= self->feed_.front()->size();
                              self->feed_.pop_front();
                              self->stream_.expires_never();
                              if (!self->feed_.empty()) self->write_feed();
                          });
    }

    // A client sends nothing on a feed but its end.
    void watch_end() {
        stream_.socket().async_wait(tcp::socket::wait_read,
                                    [self = shared_from_this()](error_code) { self->close(); });
    }

    std::shared_ptr<state> server_;
    beast::tcp_stream stream_;
    asio::steady_timer timer_;
    asio::ip::address from_; // as network_of() has it
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::empty_body>> parser_;
    std::string path_;
    std::string query_;
    std::string address_; // of this server, as the browser has it
    std::shared_ptr<std::vector<std::uint8_t> const> body_;
    std::shared_ptr<stored_file const> stored_; // instead of a body
    std::uint64_t at_ = 0;                      // what comes next of it
    std::uint64_t left_ = 0;
    std::vector<std::uint8_t> piece_;
    unsigned version_ = 11;
    bool keep_ = false;
    bool head_ = false;
    std::deque<std::shared_ptr<std::string const>> feed_;
    std::size_t behind_ = 0; // bytes
};

void web_server::state::accept(std::shared_ptr<state> const& self) {
    acceptor.async_accept([this, self](error_code failed, tcp::socket socket) {
        if (!acceptor.is_open()) return;
        if (failed) {
            pause.expires_after(accept_pause);
            pause.async_wait([this, self](error_code) {
                if (acceptor.is_open()) accept(self);
            });
            return;
        }
        ++count.accepted;
        error_code gone;
        auto const from = network_of(socket.remote_endpoint(gone).address());
        auto const known = of_network.find(from);
        bool const many = sessions.size() >= limits.connections ||
                          (known != of_network.end() && known->second >= limits.connections_per_address);
        if (many) ++count.turned_away;
        else if (!gone) {
            socket.set_option(tcp::no_delay{true}, gone);
            std::make_shared<session>(self, std::move(socket), from)->read();
        }
        accept(self);
    });
}

web_server::web_server(asio::io_context& io, tcp::endpoint const& at, web_pages& pages, web_limits const& limits)
    : state_{std::make_shared<state>(io, pages, limits)} {
    error_code failed;
    auto& acceptor = state_->acceptor;
    acceptor.open(at.protocol(), failed);
    if (!failed) acceptor.set_option(tcp::acceptor::reuse_address{true}, failed);
    if (!failed) acceptor.bind(at, failed);
    if (!failed) acceptor.listen(4096, failed);
    if (failed) throw io_error{fmt::format("{}:{}: {}", at.address().to_string(), at.port(), failed.message())};
    state_->accept(state_);
}

web_server::~web_server() {
    try {
        close();
    } catch (...) { // no memory: its connections end with the context
    }
}

void web_server::change() {
    // Answering may change who waits.
    std::vector<std::shared_ptr<session>> waiting;
    waiting.reserve(state_->waiting.size());
    for (session* const s : state_->waiting) waiting.push_back(s->shared_from_this());
    for (auto const& s : waiting) s->retry(false);
}

void web_server::publish(std::string text) {
    auto const shared = std::make_shared<std::string const>(std::move(text));
    std::vector<std::shared_ptr<session>> feeds;
    for (session* const s : state_->feeds) feeds.push_back(s->shared_from_this());
    for (auto const& s : feeds) s->publish(shared);
}

void web_server::close() {
    error_code ignored;
    state_->acceptor.close(ignored);
    state_->pause.cancel();
    std::vector<std::shared_ptr<session>> all;
    for (session* const s : state_->sessions)
        if (auto alive = s->weak_from_this().lock()) all.push_back(std::move(alive));
    for (auto const& s : all) s->close();
}

web_server::counters const& web_server::count() const noexcept { return state_->count; }
std::size_t web_server::connections() const noexcept { return state_->sessions.size(); }
std::size_t web_server::feeds() const noexcept { return state_->feeds.size(); }
tcp::endpoint web_server::address() const { return state_->acceptor.local_endpoint(); }

} // namespace teewire::replay
