// The database that recordings are exported to: SQLite, with the tables of lib/doc/data.md.
#pragma once

#include "tables/tabulator.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace teewire::replay {

/// The version of the tables; a database of another version is refused.
inline constexpr int database_version = 1;

/// A name as SQLite takes it for that of a file, whatever it is.
[[nodiscard]] std::string path_of_database(std::string const& name);

/// A statement that is prepared. Throws as its database does.
class sql_statement {
public:
    sql_statement() = default;
    sql_statement(sqlite3* in, std::string name, std::string_view text);

    /// For the parameters in their order, from the first one again after run() and the last row. Texts are copied.
    sql_statement& bind(std::int64_t value);
    sql_statement& bind(std::string_view text);
    sql_statement& bind_real(double value);
    sql_statement& bind_null();
    /// Whether there is another row.
    bool next();
    /// For statements that give no rows.
    void run();
    void reset() noexcept;

    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string text(int column) const;

private:
    struct finalizer {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };

    void check(int code) const;

    sqlite3* in_ = nullptr;
    std::string name_;
    std::unique_ptr<sqlite3_stmt, finalizer> statement_;
    int bound_ = 0;
};

/// A file of a recording is added in one transaction: other programs see all of it or nothing, whatever happens.
class database final : public table_sink {
public:
    /// Opens one, or an empty file. `part`: the file that it is in while it is not complete; no other program may open it.
    /// Throws usage_error if the file is something else or of another version, and output_error, as all below does, if it
    /// cannot be read or written.
    explicit database(std::string name, std::string const& part = {});
    database(database const&) = delete;
    database& operator=(database const&) = delete;
    /// Drops a transaction that was not committed.
    ~database();

    /// The report on the file's damage, which may be empty, if the database has that file already.
    [[nodiscard]] std::optional<std::string> find(file_row const& file);

    /// From here up to commit() or rollback(), other programs can read it and not write.
    void begin_file(file_row const& file);
    void begin(recording_row const& recording) override;
    void add(new_rows const& rows) override;
    void end(recording_row const& recording) override;
    /// Keeps what came since begin_file(). `damage`: what is said about it.
    void commit(std::string_view damage);
    void rollback() noexcept;

    /// The result of adding another database.
    struct merged {
        std::uint64_t added = 0; ///< files of recordings
        std::uint64_t known = 0; ///< those that this one has already
    };
    /// Adds what another database has, each file in a transaction of its own. Ends early when interrupted. Throws
    /// usage_error if that is something else or of another version, and bad_input if it is damaged.
    merged merge(std::string const& from);

    /// Rows of items that were added.
    [[nodiscard]] std::uint64_t item_rows_added() const noexcept { return item_rows_added_; }

private:
    struct closer {
        void operator()(sqlite3* db) const noexcept;
    };
    struct row_source;

    void check_name() const;
    void prepare();
    [[nodiscard]] sql_statement& insert_items(std::size_t table, item_layout const& layout, bool more);
    void make_tables();
    void begin_transaction();
    [[nodiscard]] bool has(std::string_view sha256, std::string_view connection);
    merged add_attached(std::string const& from);
    void run(std::string const& text);
    std::int64_t number(std::string const& query);
    std::int64_t number(std::string const& query, std::string const& name);
    void check_version(std::string_view schema, std::string const& name);
    sql_statement statement(std::string_view text) { return {db_.get(), name_, text}; }

    std::string name_;
    std::unique_ptr<row_source> source_; // outlives the statements that read it
    std::unique_ptr<sqlite3, closer> db_;
    bool in_transaction_ = false;
    bool prepared_ = false;
    file_row file_;
    std::int64_t recording_ = 0;       // row of the current one
    std::int64_t first_recording_ = 0; // of the file
    std::int64_t messages_ = 0;        // of the current one, and events
    std::int64_t events_ = 0;
    std::uint64_t item_rows_added_ = 0;
    sql_statement insert_recording_;
    sql_statement insert_tick_;
    sql_statement insert_message_;
    sql_statement insert_player_;
    sql_statement insert_other_;
    sql_statement insert_event_;
    // By table, how its items are laid out, and whether some have more than the known fields.
    std::map<std::tuple<std::size_t, item_layout const*, bool>, sql_statement> insert_items_;
};

} // namespace teewire::replay
