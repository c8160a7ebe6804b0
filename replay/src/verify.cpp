#include "output.hpp"
#include "session.hpp"
#include "verbs.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

namespace teewire::replay {
namespace {

struct verdict {
    int code = exit_ok;
    std::string line;
};

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

verdict check(std::string const& file, bool strict, std::atomic<std::uint64_t>& done_bytes) {
    try {
        input const source{file};
        session demo{source};
        std::size_t snapshots = 0;
        std::size_t messages = 0;
        std::size_t reported = 0;
        demo_event event;
        while (!interrupted() && demo.player().next(event)) {
            snapshots += event.kind == demo_event_kind::snapshot;
            messages += event.kind == demo_event_kind::message;
            if (event.kind == demo_event_kind::tick) continue;
            done_bytes += event.position - reported;
            reported = event.position;
        }
        done_bytes += source.bytes().size() - reported;
        std::string const counts = fmt::format("{} snapshots, {} messages", snapshots, messages);
        if (demo.failed())
            return {exit_bad_input,
                    fmt::format("{}: bad: {} (after {})", source.name(), explain(demo.player().error()), counts)};
        std::string const notes = describe_notes(demo.notes());
        if (strict && !notes.empty()) return {exit_bad_input, fmt::format("{}: bad: {}", source.name(), notes)};
        return {exit_ok, fmt::format("{}: ok: {}{}{}", source.name(), counts, notes.empty() ? "" : "; ", notes)};
    } catch (bad_input const& e) {
        std::string_view reason = e.what(); // begins with the name
        return {exit_bad_input, fmt::format("{}: bad: {}", file, reason.substr(reason.find(": ") + 2))};
    } catch (io_error const& e) {
        return {exit_io, e.what()};
    }
}

} // namespace

int verify(verify_options const& options) {
    std::uint64_t total = 0;
    for (std::string const& file : options.files) {
        std::error_code unknown;
        auto const size = std::filesystem::file_size(file, unknown);
        if (!unknown) total += size;
    }
    unsigned const cores = std::max(1U, std::thread::hardware_concurrency());
    boost::asio::thread_pool workers{options.jobs == 0 ? cores : options.jobs};

    std::atomic<std::uint64_t> done_bytes = 0;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::optional<verdict>> verdicts(options.files.size());
    for (std::size_t i = 0; i < options.files.size(); ++i)
        boost::asio::post(workers, [&, i] {
            verdict v = check(options.files[i], options.strict, done_bytes);
            std::lock_guard const lock{mutex};
            verdicts[i] = std::move(v);
            changed.notify_all();
        });

    output out;
    progress shown{total};
    int worst = exit_ok;
    for (std::size_t i = 0; i < options.files.size(); ++i) {
        verdict v;
        {
            std::unique_lock lock{mutex};
            while (!changed.wait_for(lock, std::chrono::milliseconds{100}, [&] { return verdicts[i].has_value(); }))
                shown.update(done_bytes, options.files[i]);
            v = std::move(*verdicts[i]);
        }
        if (interrupted()) break;
        shown.clear();
        out.print("{}\n", v.line);
        out.flush();
        worst = std::max(worst, v.code);
    }
    workers.join();
    return interrupted() ? exit_interrupted : worst;
}

} // namespace teewire::replay
