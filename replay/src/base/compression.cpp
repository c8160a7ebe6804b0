#include "base/compression.hpp"

#include <fmt/format.h>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

namespace teewire::replay {

std::string_view name(compression kind) noexcept {
    switch (kind) {
    case compression::none: return "none";
    case compression::gzip: return "gzip";
    case compression::zstd: return "zstd";
    }
    return "";
}

compression find_compression(std::span<std::uint8_t const> begin) noexcept {
    constexpr std::array<std::uint8_t, 3> gzip_magic = {0x1f, 0x8b, 8};
    constexpr std::array<std::uint8_t, 4> zstd_magic = {0x28, 0xb5, 0x2f, 0xfd};
    constexpr std::array<std::uint8_t, 3> skippable_magic = {0x2a, 0x4d, 0x18}; // after 0x50 to 0x5f
    auto const begins = [](std::span<std::uint8_t const> bytes, auto const& magic) {
        return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
    };
    if (begins(begin, gzip_magic)) return compression::gzip;
    if (begins(begin, zstd_magic)) return compression::zstd;
    if (!begin.empty() && (begin[0] & 0xf0) == 0x50 && begins(begin.subspan(1), skippable_magic))
        return compression::zstd;
    return compression::none;
}

struct decompressor::engine {
    virtual ~engine() = default;
    virtual step run(std::span<std::uint8_t const> in, std::span<std::uint8_t> out, std::string& error) = 0;
    bool complete = false; // a member has ended, and no other has begun
};

struct decompressor::gzip_engine final : engine {
    gzip_engine() {
        constexpr int gzip_alone = 15 + 16; // window bits
        if (inflateInit2(&stream, gzip_alone) != Z_OK) throw std::bad_alloc{};
    }
    gzip_engine(gzip_engine const&) = delete;
    gzip_engine& operator=(gzip_engine const&) = delete;
    ~gzip_engine() override { inflateEnd(&stream); }

    step run(std::span<std::uint8_t const> in, std::span<std::uint8_t> out, std::string& error) override {
        constexpr std::size_t most = 1U << 30; // of what zlib counts in 32 bits
        step done{0, 0};
        if (complete) { // tapes and disks fill up with zeros
            while (done.taken < in.size() && in[done.taken] == 0) ++done.taken;
            if (done.taken == in.size()) return done;
            static_cast<void>(inflateReset(&stream));
            complete = false;
            first = false;
        }
        in = in.subspan(done.taken);
        stream.next_in = const_cast<std::uint8_t*>(in.data()); // zlib does not change it
        stream.avail_in = static_cast<uInt>(std::min(in.size(), most));
        stream.next_out = out.data();
        stream.avail_out = static_cast<uInt>(std::min(out.size(), most));
        auto const in_before = stream.avail_in;
        auto const out_before = stream.avail_out;
        int const code = inflate(&stream, Z_NO_FLUSH);
        done.taken += in_before - stream.avail_in;
        done.given = out_before - stream.avail_out;
        complete = code == Z_STREAM_END;
        if (code == Z_MEM_ERROR) throw std::bad_alloc{};
        if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return done;
        error = stream.msg != nullptr ? stream.msg : "it is damaged";
        if (!first && error == "incorrect header check") error = "the file continues after the gzip data";
        return done;
    }

    z_stream stream{};
    bool first = true; // member
};

struct decompressor::zstd_engine final : engine {
    zstd_engine() {
        if (context == nullptr) throw std::bad_alloc{};
    }
    zstd_engine(zstd_engine const&) = delete;
    zstd_engine& operator=(zstd_engine const&) = delete;
    ~zstd_engine() override { ZSTD_freeDCtx(context); }

    step run(std::span<std::uint8_t const> in, std::span<std::uint8_t> out, std::string& error) override {
        constexpr std::size_t piece =
            4096; // a frame that is there as a whole gives nothing of what is before damage
        ZSTD_inBuffer input{in.data(), std::min(in.size(), piece), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        std::size_t const code = ZSTD_decompressStream(context, &output, &input);
        if (ZSTD_isError(code) != 0) error = ZSTD_getErrorName(code);
        else if (input.pos != 0 || output.pos != 0) complete = code == 0;
        return {input.pos, output.pos};
    }

    ZSTD_DCtx* context = ZSTD_createDCtx();
};

decompressor::decompressor(compression kind) : kind_{kind} {
    if (kind == compression::gzip) engine_ = std::make_unique<gzip_engine>();
    else engine_ = std::make_unique<zstd_engine>();
}

decompressor::~decompressor() = default;

decompressor::step decompressor::run(std::span<std::uint8_t const> in, std::span<std::uint8_t> out) {
    step all{0, 0};
    while (error_.empty()) {
        auto const [taken, given] = engine_->run(in.subspan(all.taken), out.subspan(all.given), error_);
        all.taken += taken;
        all.given += given;
        if (all.given == out.size() || (taken == 0 && given == 0)) break;
    }
    taken_ += all.taken;
    return all;
}

std::string decompressor::damage() const {
    if (error_.empty() && engine_->complete) return {};
    return fmt::format("byte {} of the {} data: {}", taken_, name(kind_),
                       error_.empty() ? "it ends too early" : error_);
}

// ---- compressing ---------------------------------------------------------------------------------------------------

int max_compression_level(compression kind) noexcept { return kind == compression::gzip ? 9 : 19; }

namespace {

using take_piece = std::function<bool(std::span<std::uint8_t const> piece, std::size_t taken)>;

// So many bytes at a time, so that whoever takes them can end it.
constexpr std::size_t codec_piece = std::size_t{128} << 10;

void compress_gzip(std::span<std::uint8_t const> bytes, int level, take_piece const& give) {
    constexpr int gzip_window = 15 + 16, memory_level = 9;
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc{};
    std::unique_ptr<z_stream, decltype([](z_stream* s) { deflateEnd(s); })> const ends{&stream};
    gz_header header{};
    header.os = 3; // Unix, so that every system writes the same bytes
    deflateSetHeader(&stream, &header);
    std::vector<std::uint8_t> out(codec_piece);
    int code = Z_OK;
    for (std::size_t taken = 0; code != Z_STREAM_END;) {
        auto const in = bytes.subspan(taken, std::min(codec_piece, bytes.size() - taken));
        stream.next_in = const_cast<std::uint8_t*>(in.data()); // zlib does not change it
        stream.avail_in = static_cast<uInt>(in.size());
        stream.next_out = out.data();
        stream.avail_out = static_cast<uInt>(out.size());
        code = deflate(&stream, taken + in.size() == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        taken += in.size() - stream.avail_in;
        if (!give(std::span{out}.first(out.size() - stream.avail_out), taken)) return;
    }
}

void compress_zstd(std::span<std::uint8_t const> bytes, int level, take_piece const& give) {
    std::unique_ptr<ZSTD_CCtx, decltype([](ZSTD_CCtx* c) { ZSTD_freeCCtx(c); })> const context{ZSTD_createCCtx()};
    if (context == nullptr) throw std::bad_alloc{};
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setPledgedSrcSize(context.get(), bytes.size());
    std::vector<std::uint8_t> out(codec_piece);
    std::size_t left = 1;
    for (std::size_t taken = 0; left != 0;) {
        ZSTD_inBuffer in{bytes.data() + taken, std::min(codec_piece, bytes.size() - taken), 0};
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        bool const last = taken + in.size == bytes.size();
        left = ZSTD_compressStream2(context.get(), &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) != 0) throw std::bad_alloc{}; // nothing else can fail
        if (!last) left = 1;
        taken += in.pos;
        if (!give(std::span{out}.first(to.pos), taken)) return;
    }
}

} // namespace

void compress(std::span<std::uint8_t const> bytes, compression kind, int level, take_piece const& give) {
    (kind == compression::gzip ? compress_gzip : compress_zstd)(bytes, level, give);
}

std::vector<std::uint8_t> unpack_gzip(std::span<std::uint8_t const> packed) {
    std::vector<std::uint8_t> out(4 * packed.size() + 64);
    decompressor reader{compression::gzip};
    std::size_t taken = 0;
    std::size_t given = 0;
    for (;;) {
        auto const step = reader.run(packed.subspan(taken), std::span{out}.subspan(given));
        taken += step.taken;
        given += step.given;
        if (given < out.size()) break;
        out.resize(2 * out.size());
    }
    out.resize(given);
    return out;
}

} // namespace teewire::replay
