#include "base/file_kind.hpp"

#include "base/compression.hpp"
#include "base/errors.hpp"

#include <teewire/archive.hpp>
#include <teewire/map/xvector.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace teewire::replay {
namespace {

bool begins_with(std::span<std::uint8_t const> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

bool is_xvector(std::span<std::uint8_t const> begin) {
    std::uint32_t magic = 0;
    for (std::size_t i = 0; i < 4 && i < begin.size(); ++i) magic |= std::uint32_t{begin[i]} << 8 * i;
    return begin.size() >= 4 && magic == xvector_magic;
}

// pcap with microseconds, nanoseconds and as one old program wrote it, in both byte orders; pcapng.
constexpr std::string_view capture_magics[] = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                               "\x4d\x3c\xb2\xa1", "\xa1\xb2\xcd\x34", "\x34\xcd\xb2\xa1",
                                               "\x0a\x0d\x0d\x0a"};

struct description {
    std::string_view is;
    std::string_view reader;
};
constexpr std::array<description, 6> descriptions = {{{"", ""},
                                                      {"a demo", "teewire info"},
                                                      {"a map", "teewire map info"},
                                                      {"an xVector map", "teewire map info"},
                                                      {"a packet capture", "teewire capture"},
                                                      {"a database", "teewire export"}}};

} // namespace

file_kind identify(std::span<std::uint8_t const> begin) noexcept {
    auto const begins = [&](std::string_view magic) { return begins_with(begin, magic); };
    if (begins("TWDEMO")) return file_kind::demo;
    if (begins("DATA") || begins("ATAD")) return file_kind::datafile;
    if (is_xvector(begin)) return file_kind::xvector;
    if (begins("SQLite f")) return file_kind::database;
    if (std::any_of(std::begin(capture_magics), std::end(capture_magics), begins)) return file_kind::capture;
    return file_kind::unknown;
}

std::vector<std::uint8_t> first_bytes(std::string const& name) {
    if (std::error_code failed; name == "-" || !std::filesystem::is_regular_file(name, failed)) return {};
    std::vector<std::uint8_t> bytes(file_kind_bytes);
    std::ifstream file{std::filesystem::path{name}, std::ios::binary};
    file.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

void refuse_kind(std::string const& name, std::span<std::uint8_t const> begin, std::string_view expected) {
    file_kind const kind = identify(begin);
    if (begin.empty()) throw bad_input{name, fmt::format("not {}: it is empty", expected)};
    if (kind == file_kind::unknown) throw usage_error{name, fmt::format("byte 0: not {}", expected)};
    auto const& [is, reader] = descriptions[static_cast<std::size_t>(kind)];
    throw usage_error{name, fmt::format("this is {}, not {}; `{}` reads it", is, expected, reader)};
}

void expect_map(std::string const& name, std::span<std::uint8_t const> begin) {
    file_kind const kind = identify(begin);
    if (kind != file_kind::datafile && kind != file_kind::unknown) refuse_kind(name, begin, "a map of the games");
}

bool is_packed(std::span<std::uint8_t const> begin) {
    return is_archive(begin) || find_compression(begin) != compression::none;
}

void refuse_compressed(std::string const& file, std::span<std::uint8_t const> begin) {
    if (compression const kind = find_compression(begin); kind != compression::none)
        throw usage_error{
            file, fmt::format("is {} data, which cannot be read in parts; decompress it first", name(kind))};
}

} // namespace teewire::replay
