#include "video/encoder.hpp"

#include "base/errors.hpp"
#include "base/stored_file.hpp"
#include "video/bands.hpp"
#include "video/sound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace teewire::replay {
namespace {

video_format const formats[] = {
    {"y4m", {}, {}},
    {"mp4",
     {"-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-f", "mp4", "-movflags",
      "+faststart"},
     {"-c:a", "aac", "-b:a", "160k", "-f", "mp4", "-movflags", "+faststart"}},
    {"webm",
     {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1", "-crf", "32", "-b:v", "0",
      "-f", "webm"},
     {"-c:a", "libopus", "-b:a", "128k", "-f", "webm"}},
    {"gif", {"-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse", "-f", "gif"}, {}},
};

constexpr std::string_view frame_header = "FRAME\n";

// The colours of HDTV (BT.709), in the range of television.
std::uint8_t luma(std::int32_t r, std::int32_t g, std::int32_t b) noexcept {
    return static_cast<std::uint8_t>(16 + ((47 * r + 157 * g + 16 * b + 128) >> 8));
}

// A row of squares of four pixels: four brightnesses and two colours each.
void convert_rows(frame const& from, std::int32_t pair, std::uint8_t* to) noexcept {
    auto const width = static_cast<std::size_t>(from.width), height = static_cast<std::size_t>(from.height);
    std::size_t const y = 2 * static_cast<std::size_t>(pair);
    pixel const* const top = from.pixels.data() + y * width;
    pixel const* const bottom = top + width;
    std::uint8_t* const luma_top = to + y * width;
    std::uint8_t* const luma_bottom = luma_top + width;
    std::uint8_t* const blue = to + width * height + static_cast<std::size_t>(pair) * (width / 2);
    std::uint8_t* const red = blue + width * height / 4;
    for (std::size_t x = 0; x < width; ++x) {
        luma_top[x] = luma(top[x].r, top[x].g, top[x].b);
        luma_bottom[x] = luma(bottom[x].r, bottom[x].g, bottom[x].b);
    }
    for (std::size_t x = 0; x < width / 2; ++x) {
        auto const sum = [&](std::uint8_t pixel::*part) {
            return top[2 * x].*part + top[2 * x + 1].*part + bottom[2 * x].*part + bottom[2 * x + 1].*part;
        };
        std::int32_t const r = sum(&pixel::r), g = sum(&pixel::g), b = sum(&pixel::b);
        blue[x] = static_cast<std::uint8_t>(128 + ((-26 * r - 86 * g + 112 * b + 512) >> 10));
        red[x] = static_cast<std::uint8_t>(128 + ((112 * r - 102 * g - 10 * b + 512) >> 10));
    }
}

} // namespace

video_format const* find_video_format(std::string_view name) {
    for (video_format const& format : formats)
        if (format.name == name) return &format;
    return nullptr;
}

video_encoder::video_encoder(output_file& out, video_format const& format, std::int32_t width, std::int32_t height,
                             double frames_per_second)
    : out_{out}, format_{format} {
    if (!format.encoder.empty()) {
        file_ = std::make_unique<temporary_file>(out.name_beside() + ".video");
        std::vector<std::string> arguments{"-f", "yuv4mpegpipe", "-i", "-", "-an"};
        arguments.insert(arguments.end(), format.encoder.begin(), format.encoder.end());
        arguments.push_back(file_->argument());
        ffmpeg_ = start_ffmpeg(arguments, fmt::format("a video as {}", format.name));
    }
    // As a fraction.
    auto const thousandths = static_cast<std::int64_t>(std::lround(frames_per_second * 1000));
    std::int64_t const common = std::gcd(thousandths, std::int64_t{1000});
    std::string const header = fmt::format("YUV4MPEG2 W{} H{} F{}:{} Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n", width,
                                           height, thousandths / common, 1000 / common);
    write({reinterpret_cast<std::uint8_t const*>(header.data()), header.size()});
    std::size_t const pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    made_.resize(frame_header.size() + pixels + pixels / 2);
    std::copy(frame_header.begin(), frame_header.end(), made_.begin());
    written_ = made_;
}

video_encoder::~video_encoder() {
    if (!writing_.valid()) return;
    if (ffmpeg_) ffmpeg_.reset(); // which ends the writing
    writing_.wait();
}

void video_encoder::write(std::span<std::uint8_t const> bytes) {
    if (!ffmpeg_) return out_.write(bytes);
    if (!ffmpeg_->write(bytes)) throw output_error{out_.name(), "ffmpeg has ended early"};
}

void video_encoder::wait() {
    if (writing_.valid()) writing_.get();
}

void video_encoder::add(frame const& drawn, workers& team) {
    std::uint8_t* const planes = made_.data() + frame_header.size();
    for_bands(drawn.height / 2, team, [&](std::int32_t first, std::int32_t end) {
        for (std::int32_t pair = first; pair < end; ++pair) convert_rows(drawn, pair, planes);
    });
    wait();
    std::swap(made_, written_);
    writing_ = std::async(std::launch::async, [this] { write(written_); });
}

void video_encoder::finish(std::string const& sound) {
    wait();
    if (!ffmpeg_) return;
    auto const require = [&](int code) {
        if (code != 0) throw output_error{out_.name(), fmt::format("ffmpeg failed with code {}", code)};
    };
    require(ffmpeg_->finish());
    if (!sound.empty()) {
        auto both = std::make_unique<temporary_file>(out_.name_beside() + ".both");
        std::vector<std::string> arguments{"-i",   file_->argument(),
                                           "-f",   "s16le",
                                           "-ar",  fmt::to_string(sound_track::rate),
                                           "-ac",  "2",
                                           "-i",   sound,
                                           "-c:v", "copy"};
        arguments.insert(arguments.end(), format_.sound.begin(), format_.sound.end());
        arguments.push_back(both->argument());
        require(start_ffmpeg(arguments, "sound")->finish());
        file_ = std::move(both);
    }
    auto const made = stored_file::open(file_->name());
    if (!made) throw output_error{out_.name(), "ffmpeg has written nothing"};
    std::vector<std::uint8_t> piece(std::size_t{1} << 20);
    for (std::uint64_t at = 0; at < made->size() && !interrupted();) {
        std::size_t const size = made->read(at, piece);
        if (size == 0) throw output_error{file_->name(), "cannot be read"};
        out_.write(std::span{piece}.first(size));
        at += size;
    }
}

} // namespace teewire::replay
