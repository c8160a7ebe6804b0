#include "data/database.hpp"
#include "io/output.hpp"
#include "sources/recording_file.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

struct export_options {
    std::vector<std::string> files;
    std::string to;
    std::string connection; ///< of captures
};

std::uint64_t size_of(std::string const& file) {
    std::error_code unknown;
    auto const size = fs::file_size(file, unknown);
    return unknown ? 0 : size;
}

recorded_file describe(recording_file& source, std::string const& file, std::string const& connection) {
    recorded_file f;
    f.sha256 = source.sha256();
    f.connection = connection;
    f.name = source.name();
    f.bytes = size_of(file);
    if (session const* const demo = source.demo()) {
        f.bytes = demo->file_size();
        f.timestamp = text(demo->header().timestamp);
    }
    return f;
}

class exporter {
public:
    explicit exporter(export_options const& options) : options_{options}, shown_{total(options.files)} {
        for (std::string const& file : options.files) {
            std::error_code unknown;
            if (fs::equivalent(file, options.to, unknown))
                throw usage_error{fmt::format("{}: is read, and cannot be written at the same time", options.to)};
        }
        if (name_taken(options.to)) database_.emplace(options.to);
    }

    int run() {
        for (std::string const& file : options_.files) {
            try {
                add(file);
            } catch (output_error const&) {
                if (!interrupted()) throw;
            } catch (usage_error const&) {
                if (!database_) throw; // nothing is there yet
                note_failure();
            } catch (...) {
                note_failure();
            }
            if (interrupted()) return exit_interrupted;
            before_ += size_of(file);
        }
        shown_.clear();
        if (worst_ == exit_ok || added_ > 0)
            complain(fmt::format("{}: {} added, {} there already", options_.to, counted(added_, "file"), known_));
        return worst_;
    }

private:
    static std::uint64_t total(std::vector<std::string> const& files) {
        std::uint64_t sum = 0;
        for (std::string const& file : files) sum += size_of(file);
        return sum;
    }

    void note_failure() {
        exit_reason const failed = current_exit_reason();
        note(failed.code, failed.text);
    }
    void note(int code, std::string const& text) {
        shown_.clear();
        worst_ = std::max(worst_, code);
        if (!text.empty()) complain(text);
    }

    void add(std::string const& file) {
        auto const show = [&](std::uint64_t done) { shown_.update(before_ + done, file); };
        recording_file source{file, options_.connection, show};
        if (interrupted()) return;
        recorded_file const about = describe(source, file, options_.connection);
        if (!database_) database_.emplace(options_.to);
        if (auto const damage = database_->find(about)) {
            ++known_;
            if (!damage->empty()) note(exit_bad_input, fmt::format("{}: {}", source.name(), *damage));
            return;
        }
        auto const events = source.events();
        if (events == nullptr || interrupted()) return;
        database_->begin_file(about);
        try {
            std::string const damage = tabulate(*events, source, show);
            if (interrupted()) return database_->rollback();
            database_->commit(damage);
            ++added_;
        } catch (...) {
            database_->rollback();
            throw;
        }
    }

    // What is damaged, which has been said.
    std::string tabulate(event_source& events, recording_file& source,
                         std::function<void(std::uint64_t)> const& show) {
        bool const is_capture = source.demo() == nullptr;
        tabulator tables{*database_};
        constexpr unsigned often = 64;
        unsigned count = 0;
        for (stream_event event; events.next(event);) {
            tables.take(event);
            if (++count % often == 0)
                show(is_capture ? (size_of(source.name()) + events.done_bytes()) / 2 : events.done_bytes());
        }
        if (interrupted()) return {};
        tables.finish();
        std::string damage = events.error();
        if (!damage.empty()) note(exit_bad_input, damage);
        if (damage.starts_with(source.name() + ": ")) damage.erase(0, source.name().size() + 2);
        shown_.clear();
        int const code = source.judge();
        note(code, {});
        return damage.empty() && code != exit_ok ? "it is not complete" : damage;
    }

    export_options const& options_;
    progress shown_;
    std::optional<database> database_;
    std::uint64_t before_ = 0; // bytes of the files that are done
    std::uint64_t added_ = 0;
    std::uint64_t known_ = 0;
    int worst_ = exit_ok;
};

} // namespace

verb const export_verb{
    "export", "Add recordings to a database", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<export_options>();
        options.files(chosen->files, "demos, pcap and pcapng files, or - for standard input");
        options.collection(chosen->to, "SQLite database to add to; it is made if it is not there");
        options.text("--connection", chosen->connection,
                     "of a capture: its number, or the client's ADDRESS:PORT; otherwise that with most snapshots",
                     "WHICH");
        options.examples({"export *.demo -o games.sqlite"});
        return [chosen] { return exporter{*chosen}.run(); };
    }};

} // namespace teewire::replay
