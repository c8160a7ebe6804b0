#include "teewire/demo_format.hpp"

#include "../codec/bytes.hpp"

#include <algorithm>

namespace teewire {
namespace {

class field_reader {
public:
    explicit field_reader(std::span<std::uint8_t const> bytes) noexcept : bytes_{bytes} {}

    // All zero once the bytes are used up.
    template <class Byte, std::size_t size>
    void read(std::array<Byte, size>& out) noexcept {
        truncated_ = truncated_ || size > bytes_.size() - at_;
        if (truncated_) return;
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), size, out.begin());
        at_ += size;
    }
    std::uint32_t read_number() noexcept {
        std::array<std::uint8_t, 4> b{};
        read(b);
        return detail::get_be32(b, 0);
    }
    [[nodiscard]] bool truncated() const noexcept { return truncated_; }
    [[nodiscard]] std::size_t position() const noexcept { return at_; }

private:
    std::span<std::uint8_t const> bytes_;
    std::size_t at_ = 0;
    bool truncated_ = false;
};

class field_writer {
public:
    explicit field_writer(std::span<std::uint8_t> out) noexcept : out_{out} {}

    template <class Byte, std::size_t size>
    void write(std::array<Byte, size> const& bytes) noexcept {
        std::transform(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_),
                       [](Byte b) { return static_cast<std::uint8_t>(b); });
        at_ += size;
    }
    void write_number(std::uint32_t n) noexcept {
        std::array<std::uint8_t, 4> bytes;
        detail::put_be32(bytes, 0, n);
        write(bytes);
    }

private:
    std::span<std::uint8_t> out_;
    std::size_t at_ = 0;
};

template <std::size_t size>
void check_text(std::array<char, size> const& field, std::size_t position, note_log* notes) noexcept {
    if (notes != nullptr && text(field).size() == size) notes->add(note::header_text, position);
}

} // namespace

std::span<std::int32_t const> demo_header::markers() const noexcept {
    auto const count = std::clamp<std::int32_t>(version < 4 ? 0 : marker_count, 0, max_demo_markers);
    return std::span{marker_ticks}.first(static_cast<std::size_t>(count));
}

bool demo_header::says_07() const noexcept { return text(net_version).starts_with("0.7"); }

result<demo_header> parse_demo_header(std::span<std::uint8_t const> file, note_log* notes) noexcept {
    std::size_t const known = std::min(file.size(), demo_magic.size());
    for (std::size_t i = 0; i < known; ++i)
        if (file[i] != demo_magic[i]) return failure{errc::bad_magic, i};
    if (file.size() <= demo_magic.size()) return failure{errc::truncated, file.size()};

    demo_header header;
    header.version = file[demo_magic.size()];
    if (header.version < min_demo_version || header.version > max_demo_version)
        return failure{errc::bad_version, demo_magic.size()};
    field_reader in{file};
    std::array<char, 8> magic_and_version{};
    in.read(magic_and_version);
    in.read(header.net_version);
    in.read(header.map_name);
    header.map_size = in.read_number();
    header.map_crc = in.read_number();
    in.read(header.type);
    header.length = static_cast<std::int32_t>(in.read_number());
    in.read(header.timestamp);
    if (header.version >= 4) {
        header.marker_count = static_cast<std::int32_t>(in.read_number());
        for (std::int32_t& tick : header.marker_ticks) tick = static_cast<std::int32_t>(in.read_number());
    }
    if (in.truncated()) return failure{errc::truncated, file.size()};
    if (header.version >= 6) {
        // Without the marker the map follows at once, as DDNet reads it. A part of it at the end of the file is one
        // that was cut.
        auto const rest = file.subspan(in.position());
        auto const known = std::min(rest.size(), demo_sha256_marker.size());
        header.has_sha256 = known > 0 && std::equal(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(known),
                                                    demo_sha256_marker.begin());
        if (header.has_sha256) {
            std::array<std::uint8_t, 16> marker{};
            in.read(marker);
            in.read(header.sha256);
            if (in.truncated()) return failure{errc::truncated, file.size()};
        }
    }
    check_text(header.net_version, 8, notes);
    check_text(header.map_name, 72, notes);
    check_text(header.timestamp, 156, notes);
    return header;
}

result<std::size_t> write_demo_header(demo_header const& header, std::span<std::uint8_t> out) noexcept {
    assert(header.version >= min_demo_version);
    if (out.size() < header.size()) return failure{errc::output_full, 0};
    field_writer to{out};
    std::array<char, 8> magic_and_version{};
    std::copy(demo_magic.begin(), demo_magic.end(), magic_and_version.begin());
    magic_and_version[7] = static_cast<char>(header.version);
    to.write(magic_and_version);
    to.write(header.net_version);
    to.write(header.map_name);
    to.write_number(header.map_size);
    to.write_number(header.map_crc);
    to.write(header.type);
    to.write_number(static_cast<std::uint32_t>(header.length));
    to.write(header.timestamp);
    if (header.version >= 4) {
        to.write_number(static_cast<std::uint32_t>(header.marker_count));
        for (std::int32_t const tick : header.marker_ticks) to.write_number(static_cast<std::uint32_t>(tick));
    }
    if (header.version >= 6 && header.has_sha256) {
        to.write(demo_sha256_marker);
        to.write(header.sha256);
    }
    return header.size();
}

} // namespace teewire
