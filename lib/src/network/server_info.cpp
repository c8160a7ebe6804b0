#include "teewire/server_info.hpp"

#include "teewire/packer.hpp"

#include <algorithm>
#include <charconv>

namespace teewire {
namespace {

using magic = std::array<std::uint8_t, 8>;
constexpr magic request_info = {0xff, 0xff, 0xff, 0xff, 'g', 'i', 'e', '3'};
constexpr magic request_info_64 = {0xff, 0xff, 0xff, 0xff, 'f', 's', 't', 'd'};
constexpr magic answer_info = {0xff, 0xff, 0xff, 0xff, 'i', 'n', 'f', '3'};
constexpr magic answer_info_64 = {0xff, 0xff, 0xff, 0xff, 'd', 't', 's', 'f'};
constexpr magic answer_extended = {0xff, 0xff, 0xff, 0xff, 'i', 'e', 'x', 't'};

constexpr std::size_t max_clients_06 = 16;
constexpr std::size_t max_clients_64 = 24; // per packet

bool begins_with(std::span<std::uint8_t const> payload, magic const& what) noexcept {
    return payload.size() >= what.size() && std::equal(what.begin(), what.end(), payload.begin());
}

// 0.7 writes variable-length ints where 0.6 writes decimal digits.
class info_writer {
public:
    info_writer(std::span<std::uint8_t> out, bool v07) noexcept : out_{out}, v07_{v07} {}
    info_writer& number(std::int32_t value) noexcept {
        if (v07_) {
            out_.add_int(value);
            return *this;
        }
        // By hand: std::to_chars is not always in a header, and nothing else here needs a C++ library to be linked.
        char digits[12];
        char* const end = digits + sizeof digits;
        char* at = end;
        auto rest = static_cast<std::uint32_t>(value < 0 ? -std::int64_t{value} : value);
        do *--at = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        if (value < 0) *--at = '-';
        out_.add_string({at, static_cast<std::size_t>(end - at)});
        return *this;
    }
    info_writer& text(std::string_view value) noexcept {
        out_.add_string(value);
        return *this;
    }
    info_writer& raw(std::span<std::uint8_t const> bytes) noexcept {
        out_.add_raw(bytes);
        return *this;
    }
    info_writer& plain_int(std::int32_t value) noexcept {
        out_.add_int(value);
        return *this;
    }
    [[nodiscard]] auto finish() const noexcept { return out_.finish(); }

private:
    packer out_;
    bool v07_;
};

class info_reader {
public:
    info_reader(std::span<std::uint8_t const> payload, std::size_t begin, bool v07) noexcept
        : in_{payload.subspan(begin)}, begin_{begin}, v07_{v07} {}
    std::string_view text() noexcept { return in_.read_string(); }
    std::int32_t number() noexcept {
        if (v07_) return in_.read_int();
        std::size_t const at = in_.position();
        std::string_view const digits = in_.read_string();
        std::int32_t value = 0;
        auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        bool const whole = error == std::errc{} && end == digits.data() + digits.size();
        if (in_.ok() && !whole && bad_.code == errc::ok) bad_ = {errc::bad_count, begin_ + at};
        return value;
    }
    [[nodiscard]] failure error() const noexcept {
        if (bad_.code != errc::ok) return bad_;
        return in_.ok() ? failure{} : failure{in_.error().code, begin_ + in_.error().position};
    }

private:
    unpacker in_;
    std::size_t begin_;
    bool v07_;
    failure bad_{};
};

} // namespace

result<server_info_request> parse_server_info_request(connless_packet const& p) noexcept {
    server_info_request r;
    bool const old_64 = begins_with(p.payload, request_info_64);
    if (!begins_with(p.payload, request_info) && !old_64) return failure{errc::bad_magic, 0};
    auto const rest = p.payload.subspan(request_info.size());
    if (rest.empty()) return failure{errc::truncated, p.payload.size()};
    if (p.format == connless_format::v07) {
        unpacker in{rest};
        r.kind = server_info_kind::v07;
        r.token = in.read_int();
        if (!in.ok()) return failure{in.error().code, request_info.size() + in.error().position};
        return r;
    }
    r.token = rest[0];
    if (old_64) {
        r.kind = server_info_kind::v06_64;
    } else if (p.format == connless_format::v06_extended) {
        r.kind = server_info_kind::v06_extended;
        r.token |= p.extra[0] << 16 | p.extra[1] << 8;
    }
    return r;
}

result<std::size_t> write_server_info_request(server_info_request const& request, std::uint32_t server_token,
                                              std::uint32_t own_token, std::span<std::uint8_t> out) noexcept {
    std::array<std::uint8_t, request_info.size() + max_varint_bytes> payload;
    packer packed{payload};
    packed.add_raw(request.kind == server_info_kind::v06_64 ? request_info_64 : request_info);
    auto const low_byte = static_cast<std::uint8_t>(request.token);
    if (request.kind == server_info_kind::v07) packed.add_int(request.token);
    else packed.add_raw({&low_byte, 1});
    connless_packet p;
    p.payload = *packed.finish();
    p.token = server_token;
    p.response_token = own_token;
    if (request.kind == server_info_kind::v07) p.format = connless_format::v07;
    if (request.kind == server_info_kind::v06_extended) {
        p.format = connless_format::v06_extended;
        p.extra = {static_cast<std::uint8_t>(request.token >> 16), static_cast<std::uint8_t>(request.token >> 8)};
    }
    return write_connless(p, out);
}

result<std::size_t> write_server_info(server_info_request const& request, server_description const& server,
                                      std::span<listed_client const> clients,
                                      std::span<std::uint8_t> out) noexcept {
    bool const v07 = request.kind == server_info_kind::v07;
    bool const extended = request.kind == server_info_kind::v06_extended;
    bool const old_64 = request.kind == server_info_kind::v06_64;
    info_writer to{out.first(std::min(out.size(), max_packet_bytes - max_connless_header)), v07};
    to.raw(extended ? answer_extended : old_64 ? answer_info_64 : answer_info).number(request.token);
    to.text(server.version).text(server.name);
    if (v07) to.text(server.host_name);
    to.text(server.map);
    if (extended) to.number(static_cast<std::int32_t>(server.map_crc)).number(server.map_size);
    to.text(server.game_type).number(server.flags);
    if (v07) to.number(server.skill_level);
    to.number(server.players).number(server.max_players).number(server.clients).number(server.max_clients);
    if (extended) to.text({});   // reserved
    if (old_64) to.plain_int(0); // the first client listed
    auto written = to.finish();
    if (!written) return written.error();

    std::size_t const most = old_64                                  ? max_clients_64
                             : request.kind == server_info_kind::v06 ? max_clients_06
                                                                     : clients.size();
    for (auto const& c : clients.first(std::min(most, clients.size()))) {
        to.text(c.name).text(c.clan).number(c.country).number(c.score);
        to.number(v07 ? !c.player : c.player);
        if (extended) to.text({}); // reserved
        auto const more = to.finish();
        if (!more) break;
        written = more;
    }
    return written->size();
}

result<server_info_answer> parse_server_info(connless_packet const& p) noexcept {
    server_info_answer a;
    bool const v07 = p.format == connless_format::v07;
    if (begins_with(p.payload, answer_info)) a.kind = v07 ? server_info_kind::v07 : server_info_kind::v06;
    else if (begins_with(p.payload, answer_info_64)) a.kind = server_info_kind::v06_64;
    else if (begins_with(p.payload, answer_extended)) a.kind = server_info_kind::v06_extended;
    else return failure{errc::bad_magic, 0};
    info_reader in{p.payload, answer_info.size(), v07};
    server_description& s = a.server;
    a.token = in.number();
    s.version = in.text();
    s.name = in.text();
    if (v07) s.host_name = in.text();
    s.map = in.text();
    if (a.kind == server_info_kind::v06_extended) {
        s.map_crc = static_cast<std::uint32_t>(in.number());
        s.map_size = in.number();
    }
    s.game_type = in.text();
    s.flags = in.number();
    if (v07) s.skill_level = in.number();
    for (auto* const number : {&s.players, &s.max_players, &s.clients, &s.max_clients}) *number = in.number();
    if (in.error().code != errc::ok) return in.error();
    return a;
}

} // namespace teewire
