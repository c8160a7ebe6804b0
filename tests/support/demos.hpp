// Demo files for tests: recorded with the library's writer, or put together from raw chunks.
#pragma once

#include "check.hpp"
#include "records.hpp"
#include "snapshots.hpp"

#include "teewire/demo_reader.hpp"
#include "teewire/demo_writer.hpp"
#include "teewire/huffman.hpp"
#include "teewire/varint.hpp"

#include <memory>

namespace test {

inline void append(bytes& to, std::span<std::uint8_t const> data) { to.insert(to.end(), data.begin(), data.end()); }

/// Version, net version and map; the golden vectors have the same.
inline teewire::demo_header golden_header(std::uint8_t version) {
    using teewire::set_text;
    teewire::demo_header header;
    header.version = version;
    set_text(header.net_version, "0.6 626fce9a778df4d4");
    set_text(header.map_name, "m");
    set_text(header.type, "client");
    set_text(header.timestamp, "2026-08-30_12-00-00");
    header.map_size = 10;
    header.map_crc = 0x11223344;
    header.has_sha256 = version >= 6;
    auto const sha =
        from_hex("39 3f ff 3a ac 2f ad 95 e5 bc 86 d8 8f ea bf d6 62 92 cb 20 75 ca 46 07 93 b8 ce f4 d6 4b "
                 "48 82");
    if (header.has_sha256) std::copy(sha.begin(), sha.end(), header.sha256.begin());
    return header;
}
inline bytes const golden_map = {0x44, 0x41, 0x54, 0x41, 4, 0, 0, 0, 1, 2};

/// Records into memory.
class recorder {
public:
    explicit recorder(teewire::demo_writer::options const& options = {})
        : header_{golden_header(options.version)}, writer_{*memory_, options},
          out_(teewire::demo_writer::max_bytes) {
        put_header();
        append(file_, golden_map);
    }

    teewire::demo_header& header() { return header_; }
    teewire::demo_writer& writer() { return writer_; }
    bytes const& file() const { return file_; }

    /// Returns the bytes written for it.
    bytes snapshot(std::int32_t tick, plain_items const& items) {
        auto const full = layout(items);
        return keep(writer_.write_snapshot(tick, test::view_of(full), out_));
    }
    bytes message(bytes const& message) { return keep(writer_.write_message(message, out_)); }
    bytes const& finish() {
        writer_.finish(header_);
        put_header();
        return file_;
    }

private:
    bytes keep(teewire::result<std::size_t> const& size) {
        REQUIRE(error_of(size) == teewire::failure{});
        bytes const written{out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(*size)};
        append(file_, written);
        return written;
    }
    void put_header() {
        file_.resize(std::max(file_.size(), header_.size()));
        REQUIRE(write_demo_header(header_, file_));
    }

    std::unique_ptr<teewire::demo_writer_memory> memory_ = std::make_unique<teewire::demo_writer_memory>();
    teewire::demo_header header_;
    teewire::demo_writer writer_;
    bytes file_;
    bytes out_;
};

/// S1 and S2 of the golden snapshots.
inline plain_items golden_snapshot(std::string const& title) {
    for (auto const& r : read_records("snapshot.txt"))
        if (r.kind() == "snapshot" && r.title() == title) return parse_items(r.all("item"));
    FAIL("no snapshot ", title);
    return {};
}

/// The file of golden calls: "message HEX", "pattern SIZE", "snapshot TICK NAME", "marker".
inline bytes record_calls(std::uint8_t version, std::vector<std::string> const& calls) {
    recorder to{{version, teewire::huffman_end::exact, &teewire::sizes_06}};
    for (auto const& call : calls) {
        auto const parts = words(call);
        if (parts[0] == "message") {
            to.message(from_hex(std::string_view{call}.substr(7)));
        } else if (parts[0] == "pattern") {
            bytes message(number<std::size_t>(parts[1]));
            for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::uint8_t>(37 * i);
            to.message(message);
        } else if (parts[0] == "snapshot") {
            to.snapshot(number<std::int32_t>(parts[1]), golden_snapshot(std::string{parts[2]}));
        } else {
            REQUIRE(parts[0] == "marker");
            REQUIRE(to.writer().add_marker());
        }
    }
    return to.finish();
}

/// A file without map whose chunks are given.
inline bytes raw_demo(std::uint8_t version, std::span<std::uint8_t const> chunks) {
    auto header = golden_header(version);
    header.map_size = 0;
    bytes file(header.size());
    REQUIRE(write_demo_header(header, file));
    append(file, chunks);
    return file;
}

inline bytes huffman(bytes const& data) {
    bytes coded(teewire::huffman_bound(data.size()));
    coded.resize(*teewire::huffman_encode(data, coded));
    return coded;
}

/// A chunk with that payload, with the longest form of size.
inline bytes raw_chunk(teewire::demo_chunk_kind kind, bytes const& payload) {
    bytes chunk{static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 5 | 31),
                static_cast<std::uint8_t>(payload.size()), static_cast<std::uint8_t>(payload.size() >> 8)};
    chunk.insert(chunk.end(), payload.begin(), payload.end());
    return chunk;
}

inline bytes int_chunk(teewire::demo_chunk_kind kind, ints const& values) {
    bytes packed(teewire::varint_bound(values.size()));
    packed.resize(*teewire::encode_varints(values, packed));
    return raw_chunk(kind, huffman(packed));
}

inline bytes join(std::vector<bytes> const& parts) {
    bytes all;
    for (auto const& part : parts) append(all, part);
    return all;
}

} // namespace test
