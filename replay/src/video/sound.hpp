// The sounds of a video: the game's samples, played where its events are.
#pragma once

#include "base/output_file.hpp"
#include "video/ffmpeg.hpp"

#include <teewire/scene/world.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// Mixes what is heard, frame by frame, into a file of 16-bit samples.
class sound_track {
public:
    static constexpr std::int32_t rate = 48000; ///< samples per second, of each of two channels

    /// Decodes the samples in the folders of games, the best first. Temporary files are beside `out`. Throws
    /// output_error, and usage_error if ffmpeg is not there.
    sound_track(std::vector<std::string> const& folders, output_file const& out, double frames_per_second);

    /// False if the folders have no samples, or none that ffmpeg can read: then nothing else is to be called.
    [[nodiscard]] bool any() const noexcept { return !samples_.empty(); }

    /// A frame for someone at this place, in which these things happen. Throws output_error.
    void add_frame(float x, float y, std::span<scene::event const> happened);

    /// The file, with interleaved samples as s16le. Throws output_error.
    std::string finish();

private:
    using sample = std::vector<std::int16_t>;
    struct voice {
        sample const* played;
        std::size_t at;
        bool everywhere;
        float x, y;
        std::array<float, 2> gain; // of the left and the right channel, at the end of the last frame
    };

    void begin(std::size_t number, scene::event const& e, float x, float y);

    std::vector<sample> samples_;
    std::vector<std::vector<std::size_t>> variants_; // by number of the sound: those in samples_
    std::vector<voice> voices_;
    std::vector<float> mixed_;
    std::vector<std::uint8_t> bytes_;
    double samples_per_frame_;
    std::int64_t frames_ = 0;
    std::unique_ptr<temporary_file> file_;
    std::unique_ptr<output_file> to_;
};

} // namespace teewire::replay
