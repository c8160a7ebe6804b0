#include "video/sound.hpp"

#include "base/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace teewire::replay {
namespace {

// The files of a sound: NAME-01.wv and so on, or NAME.wv if there is one only.
struct sound_files {
    std::string_view name;
    int count;
};
// By number of the sound, as in items and messages.
constexpr sound_files files[] = {
    {"wp_gun_fire", 3},
    {"wp_shotty_fire", 3},
    {"wp_flump_launch", 3},
    {"wp_hammer_swing", 3},
    {"wp_hammer_hit", 3},
    {"wp_ninja_attack", 3},
    {"wp_flump_explo", 3},
    {"wp_ninja_hit", 3},
    {"wp_laser_fire", 3},
    {"wp_laser_bnce", 3},
    {"wp_switch", 3},
    {"vo_teefault_pain_short", 12},
    {"vo_teefault_pain_long", 2},
    {"foley_land", 4},
    {"foley_dbljump", 3},
    {"foley_foot_left", 4},
    {"foley_body_splat", 4},
    {"vo_teefault_spawn", 7},
    {"sfx_skid", 4},
    {"vo_teefault_cry", 2},
    {"hook_loop", 2},
    {"hook_attach", 3},
    {"foley_body_impact", 3},
    {"hook_noattach", 2},
    {"sfx_pickup_hrt", 2},
    {"sfx_pickup_arm", 4},
    {"sfx_pickup_launcher", 1},
    {"sfx_pickup_sg", 1},
    {"sfx_pickup_ninja", 1},
    {"sfx_spawn_wpn", 3},
    {"wp_noammo", 5},
    {"sfx_hit_weak", 2},
    {"sfx_msg-server", 1},
    {"sfx_msg-client", 1},
    {"sfx_msg-highlight", 1},
    {"sfx_ctf_drop", 1},
    {"sfx_ctf_rtn", 1},
    {"sfx_ctf_grab_pl", 1},
    {"sfx_ctf_grab_en", 1},
    {"sfx_ctf_cap_pl", 1},
};
constexpr std::size_t hammer_hit_sound = 4, spawn_sound = 17;

constexpr std::size_t longest = std::size_t{3} * sound_track::rate; // of a sample
constexpr std::size_t most_voices = 64;
constexpr float audible = 1500;  // units
constexpr float loudness = 0.5F; // so that several together are not too loud for the file

// How loud a place is, on the left and on the right, for someone at (0, 0).
std::array<float, 2> gain_of(float x, float y) noexcept {
    float const distance = std::hypot(x, y);
    if (!(distance < audible)) return {0, 0};
    float const near = 1 - distance / audible, side = 1 - std::abs(x) / audible;
    return {near * (x > 0 ? side : 1), near * (x > 0 ? 1 : side)};
}

// Samples, one after another, each as long as the longest. Empty if ffmpeg cannot read one.
std::vector<std::uint8_t> decode(std::span<std::string const> names, std::string const& to) {
    temporary_file const made{to};
    std::vector<std::string> arguments;
    std::string graph, joined;
    for (std::size_t n = 0; n < names.size(); ++n) {
        arguments.insert(arguments.end(), {"-i", "file:" + names[n]});
        graph += fmt::format("[{}:a]aresample={},aformat=s16:channel_layouts=mono,apad,atrim=end_sample={}[{}];", n,
                             sound_track::rate, longest, n);
        joined += fmt::format("[{}]", n);
    }
    graph += fmt::format("{}concat=n={}:v=0:a=1", joined, names.size());
    arguments.insert(arguments.end(), {"-filter_complex", graph, "-f", "s16le", made.argument()});
    auto const ffmpeg = start_ffmpeg(arguments, "sound");
    if (ffmpeg->finish() != 0) return {};
    auto const file = stored_file::open(made.name());
    if (!file || file->size() != names.size() * longest * 2) return {};
    return file->read_all();
}

} // namespace

sound_track::sound_track(std::vector<std::string> const& folders, output_file const& out, double frames_per_second)
    : samples_per_frame_{rate / frames_per_second} {
    std::vector<std::string> names;
    variants_.resize(std::size(files));
    for (std::size_t number = 0; number < std::size(files); ++number)
        for (int variant = 1; variant <= files[number].count; ++variant) {
            std::string const name = files[number].count == 1
                                         ? fmt::format("audio/{}.wv", files[number].name)
                                         : fmt::format("audio/{}-{:02}.wv", files[number].name, variant);
            auto const has = [&](std::string const& folder) { return stored_file::open(folder, name) != nullptr; };
            auto const folder = std::find_if(folders.begin(), folders.end(), has);
            if (folder == folders.end()) continue;
            variants_[number].push_back(names.size());
            names.push_back(fmt::format("{}/{}", *folder, name));
        }
    constexpr std::size_t at_once = 40; // as long as command lines may be
    std::vector<sample> decoded;
    for (std::size_t n = 0; n < names.size(); n += at_once) {
        auto const some = std::span{names}.subspan(n, std::min(at_once, names.size() - n));
        auto const bytes = decode(some, out.name_beside() + ".samples");
        if (bytes.empty()) return;
        for (std::size_t i = 0; i < some.size(); ++i) {
            sample one(longest);
            for (std::size_t k = 0; k < longest; ++k) {
                std::size_t const at = 2 * (i * longest + k);
                one[k] = static_cast<std::int16_t>(bytes[at] | bytes[at + 1] << 8);
            }
            while (!one.empty() && one.back() == 0) one.pop_back();
            one.shrink_to_fit();
            decoded.push_back(std::move(one));
        }
    }
    if (decoded.empty()) return;
    samples_ = std::move(decoded);
    file_ = std::make_unique<temporary_file>(out.name_beside() + ".sound");
    to_ = std::make_unique<output_file>(output_choice{file_->name(), true}, content::binary);
}

void sound_track::begin(std::size_t number, scene::event const& e, float x, float y) {
    if (number >= variants_.size() || variants_[number].empty() || voices_.size() == most_voices) return;
    // Always the same one, but not the same for all.
    auto const place = static_cast<std::size_t>(std::abs(e.x) + std::abs(e.y));
    auto const chosen = (static_cast<std::size_t>(e.tick) * 7 + place) % variants_[number].size();
    bool const everywhere = e.what == scene::event::kind::sound_everywhere;
    sample const* const played = &samples_[variants_[number][chosen]];
    auto const is_same = [&](voice const& v) { return v.everywhere && v.played == played && v.at == 0; };
    if (everywhere && std::any_of(voices_.begin(), voices_.end(), is_same)) return;
    voices_.push_back(
        {played, 0, everywhere, e.x, e.y, everywhere ? std::array{1.0F, 1.0F} : gain_of(e.x - x, e.y - y)});
}

void sound_track::add_frame(float x, float y, std::span<scene::event const> happened) {
    using enum scene::event::kind;
    for (scene::event const& e : happened) {
        if (e.what == sound || e.what == sound_everywhere) begin(static_cast<std::size_t>(e.value), e, x, y);
        else if (e.what == hammer_hit) begin(hammer_hit_sound, e, x, y);
        else if (e.what == spawn) begin(spawn_sound, e, x, y);
    }
    auto const time = [&](std::int64_t frame) {
        return static_cast<std::size_t>(std::llround(static_cast<double>(frame) * samples_per_frame_));
    };
    std::size_t const count = time(frames_ + 1) - time(frames_);
    ++frames_;
    mixed_.assign(2 * count, 0);
    for (voice& v : voices_) {
        auto const next = v.everywhere ? v.gain : gain_of(v.x - x, v.y - y);
        std::size_t const end = std::min(count, v.played->size() - v.at);
        for (std::size_t n = 0; n < end; ++n) {
            float const value = (*v.played)[v.at + n];
            float const share = static_cast<float>(n) / static_cast<float>(count);
            for (std::size_t side = 0; side < 2; ++side)
                mixed_[2 * n + side] += value * (v.gain[side] + (next[side] - v.gain[side]) * share);
        }
        v.at += end;
        v.gain = next;
    }
    std::erase_if(voices_, [](voice const& v) { return v.at == v.played->size(); });
    bytes_.clear();
    for (float const value : mixed_) {
        auto const limited =
            static_cast<std::uint16_t>(std::lround(std::clamp(value * loudness, -32768.0F, 32767.0F)));
        bytes_.push_back(static_cast<std::uint8_t>(limited));
        bytes_.push_back(static_cast<std::uint8_t>(limited >> 8));
    }
    to_->write(bytes_);
}

std::string sound_track::finish() {
    to_->finish_as_named();
    return file_->argument();
}

} // namespace teewire::replay
