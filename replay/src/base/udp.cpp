#include "base/udp.hpp"

#include "base/errors.hpp"

#include <fmt/format.h>

#include <charconv>

namespace teewire::replay {

host_port host_port::parse(std::string const& text) {
    host_port out;
    std::string port;
    if (text.starts_with('[')) {
        std::size_t const end = text.find(']');
        if (end == std::string::npos) throw usage_error{fmt::format("{}: missing ]", text)};
        out.host = text.substr(1, end - 1);
        if (end + 1 < text.size()) {
            if (text[end + 1] != ':') throw usage_error{fmt::format("{}: expected a colon after the ]", text)};
            port = text.substr(end + 2);
        }
    } else if (std::size_t const colon = text.find(':'); colon == text.rfind(':') && colon != std::string::npos) {
        out.host = text.substr(0, colon);
        port = text.substr(colon + 1);
    } else {
        out.host = text; // a name, or an address of IPv6
        return out;
    }
    if (out.host.empty()) throw usage_error{fmt::format("{}: missing host name", text)};
    if (port.empty() && !text.ends_with(':')) return out;
    auto const [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc{} || end != port.data() + port.size() || out.port == 0)
        throw usage_error{fmt::format("{}: {} is not a port number", text, port.empty() ? "nothing" : port)};
    return out;
}

boost::asio::ip::address parse_address(std::string const& text) {
    boost::system::error_code failed;
    auto address = boost::asio::ip::make_address(text, failed);
    if (failed) throw usage_error{fmt::format("{}: not an address", text)};
    return address;
}

std::string endpoint_text(boost::asio::ip::udp::endpoint const& endpoint) {
    auto const address = endpoint.address();
    std::string const text = address.to_string();
    return address.is_v6() ? fmt::format("[{}]:{}", text, endpoint.port())
                           : fmt::format("{}:{}", text, endpoint.port());
}

void widen(boost::asio::ip::udp::socket& socket) {
    constexpr int bytes = 4 << 20;
    boost::system::error_code ignored;
    socket.set_option(boost::asio::socket_base::receive_buffer_size{bytes}, ignored);
    socket.set_option(boost::asio::socket_base::send_buffer_size{bytes}, ignored);
}

} // namespace teewire::replay
