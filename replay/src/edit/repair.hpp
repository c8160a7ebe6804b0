// Writes the intact parts of a damaged demo as a valid demo.
//
// A demo is read in segments, each of which begins with a keyframe and is decoded by itself. After damage, reading
// continues at the next keyframe that proves itself, at any byte: a marker with an absolute tick, followed by a full
// snapshot that can be decoded to its last bit, whose items have their sizes. Those segments are kept whose ticks
// increase in the order of the file and that have most snapshots together, so that a segment with a wrong tick, or a
// repeated one, displaces no others; and where ticks within a segment run past the next, it ends before that.
#pragma once

#include "base/output_file.hpp"
#include "edit/segment_choice.hpp"

#include <teewire/demo_format.hpp>
#include <teewire/schema.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// A part that is not in the result.
struct demo_loss {
    std::size_t begin = 0;    ///< byte of the file where reading stopped
    std::size_t end = 0;      ///< and where it went on
    std::int32_t after = -1;  ///< the last tick before it that is kept; -1 if there is none
    std::int32_t before = -1; ///< the next that is kept; -1 if there is none
    std::string reason;       ///< "delta: ..."
};

/// The intact parts of a demo.
class demo_repair {
public:
    /// Finds what can be kept. Everything else needs it to have found a snapshot. The file must outlive it. Linear in the
    /// bytes of the file. Ends early when interrupted. `progress` gets the bytes done.
    explicit demo_repair(std::span<std::uint8_t const> file, std::function<void(std::uint64_t)> progress = {});
    demo_repair(demo_repair const&) = delete;
    demo_repair& operator=(demo_repair const&) = delete;
    ~demo_repair();

    [[nodiscard]] bool has_snapshots() const noexcept { return snapshots_ != 0; }
    /// In the order of the file.
    [[nodiscard]] std::vector<demo_loss> const& losses() const noexcept { return losses_; }
    /// Problems of header and map, and how they are corrected.
    [[nodiscard]] std::vector<std::string> const& remarks() const noexcept { return remarks_; }
    /// As they were, mended: version, map, its hash, the markers that are within the recording.
    [[nodiscard]] demo_header const& header() const noexcept { return header_; }
    /// Empty if there is none that can be trusted.
    [[nodiscard]] std::span<std::uint8_t const> map() const noexcept { return map_; }

    struct counts {
        std::uint64_t snapshots = 0;
        std::uint64_t messages = 0;
        std::uint64_t refused = 0; ///< snapshots that no demo can hold
    };
    /// Re-encodes it as that version, with a keyframe every 5 seconds. Ends early when interrupted. Throws
    /// output_error. The file still has to be finished.
    counts write(output_file& out, std::uint8_t version) const;

private:
    void read_header();
    void find_begin();
    void read_map();
    void mend_texts();
    [[nodiscard]] std::vector<segment> scan(std::uint32_t refused);
    [[nodiscard]] std::vector<segment> scan_twice();
    [[nodiscard]] std::int64_t last_by_header(segment const& first) const;
    // The greater it is, the likelier is the version that a demo was read as.
    struct intactness {
        std::size_t segments;
        bool begins_well;
        friend auto operator<=>(intactness const&, intactness const&) = default;
    };
    [[nodiscard]] intactness measure_intactness(std::vector<segment> const& found) const;
    [[nodiscard]] std::vector<segment> scan_versions();
    [[nodiscard]] std::optional<std::size_t> find_keyframe(std::size_t from, std::uint32_t refused);
    void end_before(segment& s, std::int32_t limit);
    void clip_overruns(std::span<segment> found, segment_gaps const& gaps);
    void choose(std::vector<segment> found);
    void keep(std::span<segment const> found, std::vector<bool> const& kept);
    void settle_open_tick();

    std::span<std::uint8_t const> file_;
    std::function<void(std::uint64_t)> progress_;
    std::vector<std::uint8_t> mended_; // the file with another header, if its own cannot be read
    std::unique_ptr<segment_memory> memory_;
    demo_header header_;
    bool map_matches_ = false;
    std::span<std::uint8_t const> map_;
    std::size_t begin_ = 0; // of the chunks
    std::uint64_t search_left_ = 0;
    size_table const* sizes_ = nullptr;
    std::uint32_t refused_ = 0; // kinds of quirks that are taken for damage
    std::vector<segment> kept_;
    std::uint64_t snapshots_ = 0;
    std::vector<demo_loss> losses_;
    std::vector<std::string> remarks_;
};

} // namespace teewire::replay
