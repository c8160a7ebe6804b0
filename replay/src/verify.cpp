#include "segments.hpp"
#include "verbs.hpp"

#include <algorithm>

namespace teewire::replay {
namespace {

// "6 oddities, the first at byte 123: surplus bits ..."
std::string describe_notes(note_log const& notes) {
    std::uint64_t count = 0;
    std::size_t first = SIZE_MAX;
    note first_kind{};
    for (std::size_t i = 0; i < note_count; ++i) {
        auto const& entry = notes.entries[i];
        count += entry.count;
        // Notes of chunk heads carry the file offset as their position, those from inside a chunk as their origin.
        std::size_t const where = std::max(entry.origin, entry.origin == 0 ? entry.position : 0);
        if (entry.count == 0 || where >= first) continue;
        first = where;
        first_kind = static_cast<note>(i);
    }
    if (count == 0) return {};
    return fmt::format("{} {}, the first at byte {}: {}", count, count == 1 ? "oddity" : "oddities", first,
                       describe(first_kind));
}

report check(std::string const& file, bool strict, workers& team, std::atomic<std::uint64_t>& done_bytes) {
    auto const say = [](int code, std::string line) { return report{code, printable(line) + "\n", {}}; };
    try {
        input const source{file};
        session demo{source, size_detection::presume};
        decoded found = decode(demo, team, {{}, {}, &done_bytes});
        if (!settle_sizes(demo, found)) found = decode(demo, team, {});
        std::string const counts = fmt::format("{} snapshots, {} messages", found.snapshots, found.messages);
        if (found.failed())
            return say(exit_bad_input,
                       fmt::format("{}: bad: {} (after {})", source.name(), explain(found.error), counts));
        std::string const notes = describe_notes(found.notes);
        if (strict && !notes.empty()) return say(exit_bad_input, fmt::format("{}: bad: {}", source.name(), notes));
        return say(exit_ok, fmt::format("{}: ok: {}{}{}", source.name(), counts, notes.empty() ? "" : "; ", notes));
    } catch (bad_input const& e) {
        std::string_view reason = e.what(); // begins with the name
        return say(exit_bad_input, fmt::format("{}: bad: {}", file, reason.substr(reason.find(": ") + 2)));
    } catch (io_error const& e) {
        return say(exit_io, e.what());
    }
}

} // namespace

int verify(verify_options const& options) {
    return examine_files(options.files, options.jobs,
                         [&](std::size_t i, workers& team, std::atomic<std::uint64_t>& done_bytes) {
                             return check(options.files[i], options.strict, team, done_bytes);
                         });
}

} // namespace teewire::replay
