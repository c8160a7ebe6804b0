#include "http/web_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace teewire::replay {
namespace {

// Only digits. A number that is too large counts as the largest.
std::optional<std::uint64_t> read_offset(std::string_view text) noexcept {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
    std::uint64_t value = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc{} ? value : UINT64_MAX;
}

int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// `start`: in small letters.
bool starts_with_in_any_case(std::string_view text, std::string_view start) noexcept {
    return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) {
               return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
           });
}

} // namespace

byte_range byte_range::parse(std::string_view header, std::uint64_t all) noexcept {
    constexpr std::string_view unit = "bytes=";
    byte_range const whole{kind::whole, 0, all};
    if (!header.starts_with(unit)) return whole;
    header.remove_prefix(unit.size());
    std::size_t const dash = header.find('-');
    if (dash == std::string_view::npos) return whole;
    auto const from = read_offset(header.substr(0, dash));
    auto const to = read_offset(header.substr(dash + 1));
    if (dash == 0) { // the last ones
        if (!to) return whole;
        std::uint64_t const size = std::min(*to, all);
        if (size == 0) return {kind::beyond, 0, 0};
        return {kind::part, all - size, size};
    }
    bool const open = dash + 1 == header.size();
    if (!from || (!to && !open) || (to && *to < *from)) return whole;
    if (*from >= all) return {kind::beyond, 0, 0};
    std::uint64_t const last = open ? all - 1 : std::min(*to, all - 1);
    return {kind::part, *from, last - *from + 1};
}

request_target request_target::parse(std::string_view target) noexcept {
    constexpr std::string_view scheme = "http://";
    request_target out;
    if (starts_with_in_any_case(target, scheme)) {
        target.remove_prefix(scheme.size());
        std::size_t const host_end = std::min(target.find_first_of("/?"), target.size());
        out.host = target.substr(0, host_end);
        target.remove_prefix(host_end);
    }
    std::size_t const end = std::min(target.find('?'), target.size());
    out.query = target.substr(std::min(end + 1, target.size()));
    target = target.substr(0, end);
    out.path = target.starts_with('/') ? target.substr(1) : target;
    return out;
}

bool is_local_host(std::string_view host) noexcept {
    for (std::string_view const name : {"localhost", "127.0.0.1", "[::1]"})
        if (starts_with_in_any_case(host, name) && (host.size() == name.size() || host[name.size()] == ':'))
            return true;
    return false;
}

std::optional<std::string> decode_path(std::string_view path) {
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '\0') return {};
        if (path[i] != '%') {
            out += path[i];
            continue;
        }
        int const high = i + 2 < path.size() ? hex_digit(path[i + 1]) : -1;
        int const low = high >= 0 ? hex_digit(path[i + 2]) : -1;
        if (low < 0 || (high == 0 && low == 0)) return {};
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

std::string encode_path(std::string_view path) {
    constexpr std::string_view plain = "-._~/!$'()*,;@";
    std::string out;
    for (char const c : path) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || plain.find(c) != std::string_view::npos) out += c;
        else out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

} // namespace teewire::replay
