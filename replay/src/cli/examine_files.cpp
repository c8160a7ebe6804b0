#include "cli/examine_files.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>

namespace teewire::replay {
namespace {

struct finding {
    report said;
    std::exception_ptr thrown; // of the output, without which nothing can go on
};

} // namespace

std::uint64_t total_size(std::vector<std::string> const& files) {
    std::uint64_t total = 0;
    for (std::string const& file : files) {
        std::error_code unknown;
        auto const size = std::filesystem::file_size(file, unknown);
        if (!unknown) total += size;
    }
    return total;
}

int examine_files(std::vector<std::string> const& files, unsigned jobs, output& out, examination const& examine) {
    std::atomic<std::uint64_t> done_bytes = 0;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::optional<finding>> findings(files.size());
    workers team{jobs}; // ends before what its tasks use
    for (std::size_t i = 0; i < files.size(); ++i)
        team.post([&, i] {
            finding f;
            try {
                if (!interrupted()) f.said = examine(i, team, done_bytes);
            } catch (output_error const&) {
                f.thrown = std::current_exception();
            } catch (...) {
                exit_reason const failed = current_exit_reason();
                f.said = {failed.code, {}, error_line(failed.text)};
            }
            std::lock_guard const lock{mutex};
            findings[i] = std::move(f);
            changed.notify_all();
        });

    progress shown{total_size(files)};
    int worst = exit_ok;
    for (std::size_t i = 0; i < files.size(); ++i) {
        finding f;
        {
            std::unique_lock lock{mutex};
            while (!changed.wait_for(lock, std::chrono::milliseconds{100}, [&] { return findings[i].has_value(); }))
                shown.update(done_bytes, files[i]);
            f = std::move(*findings[i]);
        }
        if (interrupted()) break;
        shown.clear();
        if (f.thrown) std::rethrow_exception(f.thrown);
        out.write(f.said.out);
        out.flush();
        write_error(f.said.err);
        worst = std::max(worst, f.said.code);
    }
    team.join();
    return interrupted() ? exit_interrupted : worst;
}

} // namespace teewire::replay
