#include "base/file_kind.hpp"
#include "base/os/files.hpp"
#include "base/output.hpp"
#include "base/part_file.hpp"
#include "cli/examine_files.hpp"
#include "cli/exit_codes.hpp"
#include "recording/open_recording.hpp"
#include "tables/arrow_folder.hpp"
#include "tables/database.hpp"
#include "verbs/verbs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

struct export_options {
    std::vector<std::string> files;
    std::string to;
    std::string format = "sqlite";
    bool force = false;
    std::string connection; ///< of captures
    std::optional<shard> part;
};

file_row describe(open_recording& source, std::string const& file, std::string const& connection) {
    file_row f;
    f.sha256 = source.sha256();
    f.connection = connection;
    f.name = source.name();
    f.bytes = total_size({file});
    if (demo_document const* const demo = source.demo()) {
        f.bytes = demo->file_size();
        f.timestamp = text(demo->header().timestamp);
    }
    return f;
}

// ---- where recordings go -------------------------------------------------------------------------------------------

// Throws as a database does.
class collection {
public:
    virtual ~collection() = default;
    /// The report on the file's damage, if the collection has that file already.
    [[nodiscard]] virtual std::optional<std::string> find(file_row const& file) = 0;
    virtual table_sink& begin(file_row const& file) = 0;
    /// All of the file is there, or all that can be had.
    virtual void keep(std::string_view damage) = 0;
    /// Something else went wrong. False if what came of the file cannot be taken back.
    virtual bool take_back() noexcept = 0;
    /// Adds another collection of this kind.
    virtual database::merged merge(std::string const& from) = 0;
    virtual void finish() = 0;
};

// Appears with the first file that can be read.
class database_collection final : public collection {
public:
    explicit database_collection(std::string name) : name_{std::move(name)} {
        if (name_ == "-") throw usage_error{"a database cannot be written to standard output; use -o FILE"};
        if (os::name_taken(name_)) database_.emplace(name_);
    }
    ~database_collection() override {
        database_.reset();
        drop_part();
    }
    database_collection(database_collection const&) = delete;
    database_collection& operator=(database_collection const&) = delete;
    std::optional<std::string> find(file_row const& file) override { return open().find(file); }
    table_sink& begin(file_row const& file) override {
        open().begin_file(file);
        return *database_;
    }
    void keep(std::string_view damage) override {
        database_->commit(damage);
        publish();
    }
    bool take_back() noexcept override {
        database_->rollback();
        return true;
    }
    database::merged merge(std::string const& from) override {
        database::merged const found = open().merge(from);
        if (found.added != 0) publish();
        return found;
    }
    void finish() override {}

private:
    database& open() {
        if (database_) return *database_;
        part_file made = make_part_file(name_);
        if (!made.descriptor) fail(errno);
        part_ = path_of_database(made.name);
        unfinished_ = std::move(made.unfinished);
        unfinished_journal_.emplace(part_ + "-journal");
        made.descriptor = {}; // before SQLite has locks on the file, which would go
        return database_.emplace(name_, part_);
    }
    // It has something, and gets its name. Where another program has made one meanwhile, that one gets it all.
    void publish() {
        if (part_.empty()) return;
        database_.reset();
        int const failed = os::rename_to_free(part_, path_of_database(name_));
        if (failed != 0 && failed != EEXIST) fail(failed);
        database_.emplace(name_);
        if (failed == EEXIST) static_cast<void>(database_->merge(part_));
        drop_part();
    }
    [[noreturn]] void fail(int error) const {
        throw output_error{name_, fmt::format("cannot be written: {}", std::strerror(error))};
    }
    void drop_part() noexcept {
        if (part_.empty()) return;
        os::remove_file(part_ + "-journal");
        os::remove_file(part_);
        part_.clear();
        unfinished_.reset();
        unfinished_journal_.reset();
    }

    std::string name_;
    std::string part_; // while it is not complete
    std::unique_ptr<unfinished_name> unfinished_;
    std::optional<unfinished_name> unfinished_journal_;
    std::optional<database> database_;
};

class arrow_collection final : public collection {
public:
    explicit arrow_collection(export_options const& options, std::string const& name)
        : folder_{name, options.force} {}
    std::optional<std::string> find(file_row const& file) override {
        auto const known = damages_.find({file.sha256, file.connection});
        return known != damages_.end() ? std::optional{known->second} : std::nullopt;
    }
    table_sink& begin(file_row const& file) override {
        file_ = file;
        folder_.begin_file(file);
        return folder_;
    }
    void keep(std::string_view damage) override {
        folder_.end_file(damage);
        damages_.emplace(std::pair{file_.sha256, file_.connection}, damage);
    }
    bool take_back() noexcept override { return false; }
    database::merged merge(std::string const& from) override {
        throw usage_error{from, "this is a database, which can only be added to another database"};
    }
    void finish() override { folder_.finish(); }

private:
    arrow_folder folder_;
    file_row file_;
    std::map<std::pair<std::array<std::uint8_t, 32>, std::string>, std::string> damages_;
};

// ---- the work ------------------------------------------------------------------------------------------------------

class exporter {
public:
    explicit exporter(export_options const& options) : options_{options}, files_{options.files}, to_{options.to} {
        if (options.part) {
            files_ = files_of(*options.part, files_);
            to_ = name_of(*options.part, to_);
        }
        for (std::string const& file : files_) {
            std::error_code unknown;
            if (fs::equivalent(file, to_, unknown))
                throw usage_error{to_, "is an input and cannot also be the output"};
        }
    }

    int run() {
        bool const arrow = options_.format == "arrow";
        if (options_.force && !arrow)
            throw usage_error{"--force works only with --format arrow; a database is added to"};
        if (arrow && options_.part && !options_.force && os::name_taken(arrow_folder::last_file(to_))) {
            remark(fmt::format("{}: already complete", to_));
            return exit_ok;
        }
        if (arrow) to_collection_ = std::make_unique<arrow_collection>(options_, to_);
        else to_collection_ = std::make_unique<database_collection>(to_);
        shown_.emplace(total_size(files_));
        for (std::string const& file : files_) {
            try {
                if (identify(first_bytes(file)) == file_kind::database) count(to_collection_->merge(file));
                else add(file);
            } catch (output_error const&) {
                if (!interrupted()) throw;
            } catch (...) {
                if (interrupted()) break;
                exit_reason const failed = current_exit_reason();
                note(failed.code, failed.text);
            }
            if (interrupted()) break;
            before_ += total_size({file});
        }
        shown_->clear();
        if (interrupted()) return exit_interrupted;
        if (worst_ != exit_ok && added_ == 0) return worst_;
        to_collection_->finish();
        remark(fmt::format("{}: {} added, {} already present", to_, counted(added_, "file"), known_));
        return worst_;
    }

private:
    void count(database::merged const& found) {
        added_ += found.added;
        known_ += found.known;
    }
    void note(int code, std::string const& text) {
        shown_->clear();
        worst_ = std::max(worst_, code);
        if (!text.empty()) complain(text);
    }

    void add(std::string const& file) {
        auto const show = [&](std::uint64_t done) { shown_->update(before_ + done, file); };
        open_recording source{file, {options_.connection, show, complain}};
        if (interrupted()) return;
        file_row const about = describe(source, file, options_.connection);
        if (auto const damage = to_collection_->find(about)) {
            ++known_;
            if (!damage->empty()) note(exit_bad_input, fmt::format("{}: {}", source.name(), *damage));
            return;
        }
        if (interrupted()) return;
        tabulator tables{to_collection_->begin(about), rows_};
        try {
            std::string const damage = tabulate(source, tables);
            if (interrupted()) {
                static_cast<void>(to_collection_->take_back());
                return;
            }
            to_collection_->keep(damage);
        } catch (output_error const&) {
            static_cast<void>(to_collection_->take_back());
            throw;
        } catch (std::exception const& e) {
            if (to_collection_->take_back()) throw;
            std::string const why = e.what();
            exit_reason const failed = current_exit_reason();
            tables.finish();
            to_collection_->keep(why);
            note(failed.code, failed.text);
        }
        ++added_;
    }

    // The damage, which was reported already.
    std::string tabulate(open_recording& source, tabulator& tables) {
        std::string const damage = source.read_all(tables);
        if (interrupted()) return {};
        tables.finish();
        if (!damage.empty()) note(exit_bad_input, fmt::format("{}: {}", source.name(), damage));
        shown_->clear();
        int const code = exit_code_of(source);
        note(code, {});
        return damage.empty() && code != exit_ok ? "it is not complete" : damage;
    }

    export_options const& options_;
    std::vector<std::string> files_;
    std::string to_;
    std::unique_ptr<collection> to_collection_;
    std::optional<progress> shown_;
    new_rows rows_;            // memory
    std::uint64_t before_ = 0; // bytes of the files that are done
    std::uint64_t added_ = 0;  // files
    std::uint64_t known_ = 0;
    int worst_ = exit_ok;
};

} // namespace

verb const export_verb{
    "export", "Put recordings into an SQLite database, or into Arrow files",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<export_options>();
        options.files(
            chosen->files, folder_content::recordings,
            "demos, pcap and pcapng files, folders of them, databases written by export, or - for standard input");
        options.collection(chosen->to, "SQLite database to add to, or folder of Arrow files to write");
        options.flag("--force", chosen->force, "arrow: replace existing files");
        options.format(chosen->format, {"sqlite", "arrow"},
                       "sqlite: add to a database; arrow: write a folder with one file per table");
        options.connection(chosen->connection);
        options.part(chosen->part);
        options.examples({"export *.demo -o games.sqlite", "export *.demo --format arrow -o games",
                          "export *.demo -o games.sqlite --shard 2/8",
                          "export games-*-of-8.sqlite -o games.sqlite"});
        return [chosen] { return exporter{*chosen}.run(); };
    }};

} // namespace teewire::replay
