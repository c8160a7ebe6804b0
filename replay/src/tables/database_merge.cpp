#include "tables/database.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "tables/schema.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <utility>

namespace teewire::replay {
namespace {

using steady = std::chrono::steady_clock;

// Limit of copying in one transaction: committing costs the disk more than small recordings do. Up to this much is lost
// if the program is killed.
constexpr auto longest_transaction = std::chrono::milliseconds{500};

// Their columns except the recording.
struct copied_table {
    std::string name;
    std::string columns;
    std::string order;
};
std::string names_except_recording(std::span<column const> columns) {
    std::string names;
    for (column const& c : columns.subspan(1)) names += fmt::format("{}{}", names.empty() ? "" : ", ", c.name);
    return names;
}
std::vector<copied_table> tables_below_recordings() {
    std::vector<copied_table> all;
    for (table const& t : std::span{fixed_tables}.subspan(1))
        all.push_back({std::string{t.name}, names_except_recording(t.columns), std::string{t.order}});
    for (item_table const& t : item_tables()) {
        copied_table made{t.name + "_spans", names_except_recording(span_columns), "id, first_tick"};
        for (item_column const& c : t.columns) made.columns += fmt::format(", \"{}\"", c.name);
        made.columns += fmt::format(", {}", more_column.name);
        all.push_back(std::move(made));
    }
    return all;
}

} // namespace

database::merged database::merge(std::string const& from) {
    sql_statement{db_.get(), from, "ATTACH ? AS other"}.bind(path_of_database(from)).run();
    merged found;
    try {
        found = add_attached(from);
    } catch (...) {
        rollback();
        sqlite3_exec(db_.get(), "DETACH other", nullptr, nullptr, nullptr);
        throw;
    }
    run("DETACH other");
    return found;
}

database::merged database::add_attached(std::string const& from) {
    check_version("other", from);
    auto const make = [&](std::string const& text) { return sql_statement{db_.get(), from, text}; };
    std::vector<std::pair<std::string, std::string>> files;
    sql_statement all =
        make("SELECT sha256, connection FROM other.recordings GROUP BY 1, 2 ORDER BY min(recording)");
    while (all.next()) files.emplace_back(all.text(0), all.text(1));

    merged found;
    sql_statement parts;
    sql_statement add_recording;
    std::vector<sql_statement> add_rows;
    steady::time_point began;
    for (auto const& [sha256, connection] : files) {
        if (interrupted()) break;
        if (has(sha256, connection)) {
            ++found.known;
            continue;
        }
        if (!in_transaction_) {
            begin_transaction();
            began = steady::now();
        }
        if (add_rows.empty()) { // not before there are tables to add to
            parts =
                make("SELECT recording FROM other.recordings WHERE sha256 = ? AND connection = ? ORDER BY part");
            add_recording = make(fmt::format(
                "INSERT INTO main.recordings ({0}) SELECT {0} FROM other.recordings WHERE recording = ?",
                names_except_recording(recording_columns)));
            for (copied_table const& t : tables_below_recordings())
                add_rows.push_back(make(fmt::format("INSERT INTO main.\"{0}\" (recording, {1}) SELECT ?, {1} FROM "
                                                    "other.\"{0}\" WHERE recording = ? ORDER BY {2}",
                                                    t.name, t.columns, t.order)));
        }
        std::vector<std::int64_t> recordings;
        parts.bind(sha256).bind(connection);
        while (parts.next()) recordings.push_back(parts.integer(0));
        for (std::int64_t const recording : recordings) {
            add_recording.bind(recording).run();
            std::int64_t const added = sqlite3_last_insert_rowid(db_.get());
            for (sql_statement& rows : add_rows) rows.bind(added).bind(recording).run();
        }
        ++found.added;
        if (steady::now() - began >= longest_transaction) commit({});
    }
    if (in_transaction_) commit({});
    return found;
}

} // namespace teewire::replay
