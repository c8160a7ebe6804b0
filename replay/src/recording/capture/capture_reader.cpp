#include "recording/capture/capture_reader.hpp"

#include "base/file_kind.hpp"
#include "base/interrupts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace teewire::replay {
namespace {

struct damage {
    std::string why;
};

// Link types by the numbers of https://www.tcpdump.org/linktypes.html.
struct link_type {
    unsigned number;
    std::optional<link_layer> layer;
    std::string_view name;
};
constexpr link_type link_types[] = {
    {0, link_layer::loopback, "loopback"},
    {1, link_layer::ethernet, "Ethernet"},
    {12, link_layer::raw_ip, "raw IP"}, // as some systems number it
    {14, link_layer::raw_ip, "raw IP"},
    {101, link_layer::raw_ip, "raw IP"},
    {108, link_layer::loopback, "loopback"},
    {113, link_layer::cooked_1, "Linux cooked v1"},
    {228, link_layer::raw_ip, "raw IP"},
    {229, link_layer::raw_ip, "raw IP"},
    {276, link_layer::cooked_2, "Linux cooked v2"},
    {9, {}, "PPP"},
    {105, {}, "802.11"},
    {127, {}, "802.11 with radiotap"},
    {189, {}, "USB"},
    {201, {}, "Bluetooth"},
    {220, {}, "USB"},
    {249, {}, "USB"},
};

link_type const* find_link(unsigned number) {
    auto const found = std::find_if(std::begin(link_types), std::end(link_types),
                                    [&](link_type const& l) { return l.number == number; });
    return found == std::end(link_types) ? nullptr : found;
}

constexpr std::uint32_t block_section = 0x0a0d0d0a, block_interface = 1, block_old_frame = 2,
                        block_simple_frame = 3, block_frame = 6;
constexpr bool is_frame(std::uint32_t type) {
    return type == block_frame || type == block_old_frame || type == block_simple_frame;
}
constexpr std::uint32_t magic_micro = 0xa1b2c3d4, magic_nano = 0xa1b23c4d, magic_long_heads = 0xa1b2cd34;
constexpr std::uint32_t magic_section = 0x1a2b3c4d;

// Seconds have 32 bits in pcap files. Captures from other years do not exist, and without them the difference of any
// two times fits into the same type.
constexpr std::int64_t second = 1'000'000'000; // nanoseconds
constexpr std::int64_t max_seconds = UINT32_MAX;

// `part`: of a second, in nanoseconds.
std::optional<std::int64_t> time_of(std::int64_t seconds, std::uint64_t part) {
    if (seconds < -max_seconds || seconds > max_seconds || part >= std::uint64_t{second}) return {};
    return seconds * second + static_cast<std::int64_t>(part);
}

// `units`: a power of ten or of two.
std::uint64_t nanoseconds_of(std::uint64_t part, std::uint64_t units) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 34; // the largest whose product fits
    while (units > limit) {
        std::uint64_t const shrink = units % 10 == 0 ? 10 : 2;
        part /= shrink;
        units /= shrink;
    }
    return part * std::uint64_t{second} / units;
}

// The units in a second that if_tsresol says. 0 if that is none.
std::uint64_t units_of(unsigned resolution) {
    unsigned const exponent = resolution & 0x7f;
    if ((resolution & 0x80) != 0) return exponent < 64 ? std::uint64_t{1} << exponent : 0;
    if (exponent > 19) return 0;
    std::uint64_t units = 1;
    for (unsigned i = 0; i < exponent; ++i) units *= 10;
    return units;
}

constexpr std::string_view readable = "only Ethernet, Linux cooked, raw IP and loopback can";

} // namespace

capture_reader::capture_reader(open_capture from, std::string const& name)
    : file_{std::move(from.file)}, damage_{std::move(from.damage)} {
    endless_wait const beginning; // of which there is nothing to report
    try {
        bool const whole = read(file_kind_bytes);
        if (!whole) block_.resize(static_cast<std::size_t>(at_));
        if (block_.empty() && damage_ != nullptr && !damage_->empty()) throw bad_input{name, *damage_};
        if (identify(block_) != file_kind::capture) refuse_kind(name, block_, "a packet capture");
        if (!whole) throw damage{"truncated file header"};
        blocks_ = get32(0) == block_section; // the same in both byte orders
        if (blocks_) {
            begin_section();
            // The first frame decides whether there is anything to read.
            while (!ahead_ && (interfaces_.empty() || !interfaces_.back().link)) {
                std::uint32_t const type = next_block();
                if (type == 0) break;
                if (type == block_interface) add_interface();
                if (is_frame(type)) ahead_ = type;
            }
        } else {
            std::uint32_t const swapped = get32(0);
            big_endian_ = true;
            std::uint32_t const magic = get32(0);
            big_endian_ = magic == magic_micro || magic == magic_nano || magic == magic_long_heads;
            std::uint32_t const is = big_endian_ ? magic : swapped;
            if (is == magic_long_heads) head_ = 24;
            if (!read(24, file_kind_bytes)) throw damage{"truncated file header"};
            if (get16(4) != 2) throw damage{fmt::format("pcap version {}.{} is unknown", get16(4), get16(6))};
            constexpr unsigned type_bits = 0x03ff'ffff; // the rest says how long the check sequence of frames is
            add_link(get32(20) & type_bits, 0);
            if (is == magic_nano) interfaces_[0].units = std::uint64_t{second};
        }
    } catch (damage const& d) {
        throw bad_input{name, fmt::format("byte {}: {}", begin_, d.why)};
    }
    if (!interfaces_.empty() &&
        std::none_of(interfaces_.begin(), interfaces_.end(), [](interface const& i) { return i.link.has_value(); }))
        throw usage_error{
            name, fmt::format("a capture of {}, which are unreadable: {}", fmt::join(links_, " and "), readable)};
}

std::uint64_t capture_reader::position() const { return file_->position(); }

bool capture_reader::next(captured_frame& out) {
    if (!error_.empty()) return false;
    try {
        return blocks_ ? next_frame_block(out) : next_record(out);
    } catch (damage const& d) {
        if (interrupted()) return false; // which ends streams anywhere
        bool const packed = damage_ != nullptr && !damage_->empty();
        error_ = packed ? fmt::format("frame {}: {}", frames_ + 1, *damage_)
                        : fmt::format("frame {} at byte {}: {}", frames_ + 1, begin_, d.why);
        return false;
    }
}

bool capture_reader::next_record(captured_frame& out) {
    begin_ = at_;
    if (!read(head_)) {
        if (at_ == begin_ && (damage_ == nullptr || damage_->empty())) return false;
        throw damage{"the file ends in its head"};
    }
    std::uint32_t const seconds = get32(0), part = get32(4), size = get32(8);
    out.original_size = get32(12);
    if (size > max_frame) throw damage{fmt::format("{} bytes, and at most {} are possible", size, max_frame)};
    if (!read(head_ + size, head_)) throw damage{fmt::format("the file ends within its {} bytes", size)};
    interface const& from = interfaces_.front();
    std::uint64_t const scale = from.units == std::uint64_t{second} ? 1 : 1000;
    give(out, from, time_of(seconds, part * scale), head_, size);
    return true;
}

bool capture_reader::next_frame_block(captured_frame& out) {
    for (;;) {
        std::uint32_t const type = ahead_ ? *ahead_ : next_block();
        ahead_.reset();
        if (type == 0) return false;
        if (type == block_interface) add_interface();
        if (is_frame(type)) { // the others are names, statistics and comments
            take_frame_block(type, out);
            return true;
        }
    }
}

// Its type, or 0 at the end of the file. A section's head is taken here.
std::uint32_t capture_reader::next_block() {
    for (;;) {
        begin_ = at_;
        if (!read(8)) {
            if (at_ == begin_ && (damage_ == nullptr || damage_->empty())) return 0;
            throw damage{"the file ends in a block's head"};
        }
        std::uint32_t const type = get32(0);
        if (type == block_section) {
            begin_section();
            continue;
        }
        std::uint32_t const size = get32(4);
        if (size < 12 || size % 4 != 0 || size > max_block) throw damage{fmt::format("a block of {} bytes", size)};
        if (!read(size, 8)) throw damage{fmt::format("the file ends within a block of {} bytes", size)};
        if (get32(size - 4) != size)
            throw damage{fmt::format("a block of {} bytes says {} at its end", size, get32(size - 4))};
        if (type != 0) return type;
    }
}

// After the first 8 bytes, whose byte order is known only from what follows.
void capture_reader::begin_section() {
    if (!read(12, 8)) throw damage{"the file ends in the head of a section"};
    big_endian_ = false;
    big_endian_ = get32(8) != magic_section;
    if (get32(8) != magic_section) throw damage{"the byte order of a section is unknown"};
    std::uint32_t const size = get32(4);
    if (size < 28 || size % 4 != 0 || size > max_block)
        throw damage{fmt::format("a section's head of {} bytes", size)};
    if (!read(size, 12)) throw damage{"the file ends in the head of a section"};
    if (get16(12) != 1) throw damage{fmt::format("pcapng version {}.{} is unknown", get16(12), get16(14))};
    interfaces_.clear();
}

void capture_reader::add_interface() {
    std::size_t const end = block_.size() - 4;
    if (end < 16) throw damage{"the description of an interface is too short"};
    if (interfaces_.size() >= max_interfaces) throw damage{fmt::format("more than {} interfaces", max_interfaces)};
    add_link(get16(8), get32(12));
    interface& made = interfaces_.back();
    constexpr unsigned end_of_options = 0, resolution = 9, offset = 14;
    for (std::size_t at = 16; end - at >= 4;) {
        unsigned const code = get16(at);
        std::size_t const size = get16(at + 2);
        at += 4;
        if (code == end_of_options || size > end - at) break;
        if (code == resolution && size == 1) made.units = units_of(block_[at]);
        if (code == offset && size == 8) {
            std::uint64_t const low = get32(at + (big_endian_ ? 4 : 0)), high = get32(at + (big_endian_ ? 0 : 4));
            made.offset = static_cast<std::int64_t>(high << 32 | low);
        }
        at += std::min((size + 3) / 4 * 4, end - at);
    }
}

void capture_reader::add_link(unsigned type, std::uint32_t snap_length) {
    link_type const* const known = find_link(type);
    interface made;
    if (known != nullptr) made.link = known->layer;
    made.snap_length = snap_length;
    interfaces_.push_back(made);
    constexpr std::size_t most_names = 20;
    std::string name = known != nullptr ? std::string{known->name} : fmt::format("link type {}", type);
    if (links_.size() < most_names && std::find(links_.begin(), links_.end(), name) == links_.end())
        links_.push_back(std::move(name));
}

void capture_reader::take_frame_block(std::uint32_t type, captured_frame& out) {
    std::size_t const head = type == block_simple_frame ? 12 : 28, end = block_.size() - 4;
    if (end < head) throw damage{fmt::format("a frame in a block of {} bytes", block_.size())};
    std::size_t const number = type == block_frame ? get32(8) : type == block_old_frame ? get16(8) : 0;
    if (number >= interfaces_.size())
        throw damage{fmt::format("of interface {}, of which the file has {}", number, interfaces_.size())};
    interface const& from = interfaces_[number];
    if (type == block_simple_frame) {
        out.original_size = get32(8);
        std::size_t size = std::min(out.original_size, end - head);
        if (from.snap_length != 0) size = std::min(size, std::size_t{from.snap_length});
        return give(out, from, {}, head, size);
    }
    std::size_t const size = get32(20);
    if (size > end - head || size > max_frame)
        throw damage{fmt::format("{} bytes in a block of {}", size, block_.size())};
    out.original_size = get32(24);
    std::uint64_t const units = std::uint64_t{get32(12)} << 32 | get32(16);
    std::optional<std::int64_t> time;
    if (from.units != 0 && units / from.units <= std::uint64_t{UINT32_MAX} && from.offset >= -max_seconds &&
        from.offset <= max_seconds)
        time = time_of(static_cast<std::int64_t>(units / from.units) + from.offset,
                       nanoseconds_of(units % from.units, from.units));
    give(out, from, time, head, size);
}

void capture_reader::give(captured_frame& out, interface const& from, std::optional<std::int64_t> time,
                          std::size_t at, std::size_t size) {
    out.number = ++frames_;
    if (time) time_ = *time;
    else ++untimed_;
    out.time = time_;
    out.link = from.link;
    out.bytes = std::span{block_}.subspan(at, size);
}

// Into block_, which keeps the bytes before `at` and then has `size`. False if the file ends before.
bool capture_reader::read(std::size_t size, std::size_t at) {
    block_.resize(size);
    std::size_t const n = file_->read(std::span{block_}.subspan(at));
    at_ += n;
    if (n != size - at && file_->error() != 0)
        throw damage{fmt::format("cannot be read: {}", std::strerror(file_->error()))};
    return n == size - at;
}

std::uint16_t capture_reader::get16(std::size_t at) const {
    unsigned const first = block_[at], then = block_[at + 1];
    return static_cast<std::uint16_t>(big_endian_ ? first << 8 | then : then << 8 | first);
}

std::uint32_t capture_reader::get32(std::size_t at) const {
    std::uint32_t const first = get16(at), then = get16(at + 2);
    return big_endian_ ? first << 16 | then : then << 16 | first;
}

} // namespace teewire::replay
