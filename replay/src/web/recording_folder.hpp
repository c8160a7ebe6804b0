// The demos in a folder, as those see them who choose one in a browser.
#pragma once

#include "base/stored_file.hpp"
#include "web/demo_index.hpp"

#include <teewire/demo_format.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

struct shown_demo {
    enum class progress : std::uint8_t { unknown, working, known, failed };

    std::string tag; ///< of the file
    std::uint64_t bytes = 0;
    std::int64_t modified = 0; ///< nanoseconds since 1970
    demo_header header;
    progress index = progress::unknown;
    bool urgent = false; ///< a client waits for the index
    index_facts facts;   ///< if it is known
    /// The demo may still be growing: only a direct request makes an index before this time.
    std::chrono::steady_clock::time_point settled{};
    std::string error; ///< why there is no index
};

class recording_folder {
public:
    /// A folder, or a demo. Throws io_error, usage_error and bad_input as other readers do.
    explicit recording_folder(std::string const& source);

    [[nodiscard]] bool is_folder() const noexcept { return only_.empty(); }
    [[nodiscard]] std::string const& folder() const noexcept { return folder_; }
    /// By path below the folder. Archives are; demos that gzip or zstd have compressed are not, unless one was named.
    [[nodiscard]] std::map<std::string, shown_demo>& all() noexcept { return all_; }
    /// Looks for the current files, without links, and without those whose names begin with a dot.
    void scan();
    /// Null if it is not there any more.
    [[nodiscard]] std::shared_ptr<stored_file const> open(std::string const& path) const;
    [[nodiscard]] std::string full_path(std::string const& path) const { return folder_ + "/" + path; }

    static constexpr std::size_t most_files = 100'000;
    static constexpr int deepest = 16; ///< folders

private:
    void look_at(std::string const& path);

    std::string folder_;
    std::string only_;                            // what was named, if it is a file
    std::shared_ptr<stored_file const> restored_; // its contents, if it is compressed
    std::map<std::string, shown_demo> all_;
};

// The rest may run on any thread.

struct found_index {
    index_facts facts;
    std::vector<std::uint8_t> bytes;
    bool made = false; ///< now
};
/// That beside the demo if it fits, that of an earlier time in the file `kept`, or a new one. Throws io_error and bad_input.
[[nodiscard]] found_index find_index(std::string const& demo, std::string const& kept);

/// The bytes of the map that is in a demo or its archive, which has that name; none if there is none.
[[nodiscard]] std::vector<std::uint8_t> read_map(std::string const& name, stored_file const& demo,
                                                 demo_header const& header);
/// A small PNG picture of a map. `mapres`: as for drawing. Throws bad_input.
[[nodiscard]] std::vector<std::uint8_t> draw_small(std::string const& name, std::vector<std::uint8_t> map,
                                                   std::string const& mapres);

} // namespace teewire::replay
