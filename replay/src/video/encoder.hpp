// Videos: frames as YUV4MPEG2, or as what the program ffmpeg makes of that.
#pragma once

#include "base/output_file.hpp"
#include "base/workers.hpp"
#include "video/ffmpeg.hpp"
#include "video/raster.hpp"

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// "y4m", "mp4", "webm" or "gif".
struct video_format {
    std::string_view name;
    std::vector<std::string> encoder; ///< arguments of ffmpeg; none: it is not needed
    std::vector<std::string> sound;   ///< those for sound; none: there is none in it
};
/// Null if there is no such format.
[[nodiscard]] video_format const* find_video_format(std::string_view name);

/// Writes a video. Width and height are even.
class video_encoder {
public:
    /// Throws usage_error if ffmpeg is needed and is not there, and output_error.
    video_encoder(output_file& out, video_format const& format, std::int32_t width, std::int32_t height,
                  double frames_per_second);
    video_encoder(video_encoder const&) = delete;
    video_encoder& operator=(video_encoder const&) = delete;
    ~video_encoder();

    /// Takes a frame, and writes it while the next one is drawn. Throws output_error.
    void add(frame const& drawn, workers& team);
    /// Writes everything to the output, which is not finished by this. `sound`: a file of samples, as a sound_track makes
    /// it; may be empty. Throws output_error.
    void finish(std::string const& sound);

private:
    void write(std::span<std::uint8_t const> bytes);
    void wait();

    output_file& out_;
    video_format const& format_;
    std::unique_ptr<temporary_file> file_; // that ffmpeg writes
    std::unique_ptr<os::child_process> ffmpeg_;
    std::vector<std::uint8_t> made_;    // a frame with its header
    std::vector<std::uint8_t> written_; // the one before
    std::future<void> writing_;
};

} // namespace teewire::replay
