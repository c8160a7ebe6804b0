#include "tables/database.hpp"

#include "base/errors.hpp"
#include "base/interrupts.hpp"
#include "base/os/files.hpp"
#include "tables/schema.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace teewire::replay {
namespace {

constexpr int application_id = 0x74656577; // "teew"
// Larger than SQLite's own choice: a quarter more rows a second, as pages are filled from one end to the other.
constexpr int page_bytes = 16384;
constexpr int cache_kibibytes = 64 << 10;
constexpr int patience_milliseconds = 60'000; // with others who write to it
constexpr int longest_row = 64 << 20;         // bytes
constexpr int steps_between_looks = 10'000;   // for signals

std::string sql_name(std::string_view name) { return fmt::format("\"{}\"", name); }
std::string spans_of(std::string_view table) { return fmt::format("\"{}_spans\"", table); }

std::string_view sql_type(field_kind kind) {
    // A value without a name stays a number.
    return kind == field_kind::text ? "TEXT" : kind == field_kind::enumeration ? "" : "INTEGER";
}

std::string_view sql_type(column_type type) {
    return type == column_type::real                                ? "REAL"
           : type == column_type::text || type == column_type::word ? "TEXT"
                                                                    : "INTEGER";
}

constexpr std::string_view of_recording = " NOT NULL REFERENCES recordings";

// The recording is the key of its own table, and the first column of every other.
std::string create_table(table const& t) {
    bool const is_key = t.name == recordings_table.name;
    std::string text;
    for (column const& c : t.columns)
        text += fmt::format("{}\n    {} {}{}", text.empty() ? "" : ",", c.name, sql_type(c.type),
                            text.empty() ? (is_key ? " PRIMARY KEY" : of_recording)
                            : c.required ? " NOT NULL"
                                         : "");
    if (!t.constraint.empty()) text += fmt::format(",\n    {}", t.constraint);
    text = fmt::format("CREATE TABLE {} ({}){};\n", t.name, text,
                       t.constraint.starts_with("PRIMARY KEY") ? " WITHOUT ROWID" : "");
    if (!t.index_columns.empty())
        text += fmt::format("CREATE INDEX {0}_{1} ON {0} ({2});\n", t.name, t.indexed, t.index_columns);
    return text;
}

// Binds a row value by value.
struct row_binder {
    sql_statement& to;

    void null(column const&) { to.bind_null(); }
    void number(column const& c, std::int64_t value) {
        if (c.type == column_type::tick && value < 0) to.bind_null();
        else to.bind(value);
    }
    void real(column const&, double value) { to.bind_real(value); }
    void flag(column const& c, bool value) { number(c, value ? 1 : 0); }
    void text(column const& c, std::string_view value) {
        if (value.empty() && !c.required) to.bind_null();
        else to.bind(value);
    }
};

int look_for_signals(void*) { return interrupted(); }

[[noreturn]] void fail(sqlite3* db, std::string const& name, int code) {
    switch (code & 0xff) {
    case SQLITE_BUSY: throw output_error{fmt::format("{}: another program is writing to it", name)};
    case SQLITE_NOTADB: throw usage_error{fmt::format("{}: is not a database", name)};
    case SQLITE_ERROR: // tables that are not there, or others than they should be
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT: throw bad_input{fmt::format("{}: is damaged: {}", name, sqlite3_errmsg(db))};
    default: throw output_error{fmt::format("{}: cannot be written: {}", name, sqlite3_errmsg(db))};
    }
}

} // namespace

// ---- rows that SQLite fetches --------------------------------------------------------------------------------------

// A table that exists while rows are added, and has these: INSERT INTO ... SELECT ... takes half the time of a statement
// for each row.
struct database::row_source {
    table_rows const* rows = nullptr;
    item_layout const* layout = nullptr;
    std::vector<std::uint32_t> order;
    std::string scratch;

    static constexpr char const* name = "rows_to_add";
    static constexpr int key_columns = 4;
    static constexpr std::size_t ahead = 4; // rows of an id lie apart

    struct cursor {
        sqlite3_vtab_cursor base;
        std::size_t at;
        item_row row;
    };
    struct table {
        sqlite3_vtab base;
        row_source* source;
    };

    static row_source& of(sqlite3_vtab_cursor* c) { return *reinterpret_cast<table*>(c->pVtab)->source; }

    static int connect(sqlite3* db, void* source, int, char const* const*, sqlite3_vtab** out, char**) {
        std::size_t most = 0;
        for (item_table const& t : item_tables()) most = std::max(most, t.columns.size());
        std::string columns = "c0"; // the recording, which is the same for all
        for (std::size_t c = 1; c < key_columns + most + 1; ++c) columns += fmt::format(",c{}", c);
        if (int const code = sqlite3_declare_vtab(db, fmt::format("CREATE TABLE x({})", columns).c_str());
            code != SQLITE_OK)
            return code;
        *out = &(new table{{}, static_cast<row_source*>(source)})->base;
        return SQLITE_OK;
    }
    static int disconnect(sqlite3_vtab* t) {
        delete reinterpret_cast<table*>(t);
        return SQLITE_OK;
    }
    static int best_index(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }
    static int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
        *out = &(new cursor{})->base;
        return SQLITE_OK;
    }
    static int close(sqlite3_vtab_cursor* c) {
        delete reinterpret_cast<cursor*>(c);
        return SQLITE_OK;
    }
    static void fetch(sqlite3_vtab_cursor* c) {
        auto& at = *reinterpret_cast<cursor*>(c);
        row_source const& s = of(c);
        if (at.at + ahead < s.order.size()) s.rows->prefetch(s.order[at.at + ahead]);
        if (at.at < s.order.size()) at.row = s.rows->row_at(s.order[at.at]);
    }
    static int filter(sqlite3_vtab_cursor* c, int, char const*, int, sqlite3_value**) {
        reinterpret_cast<cursor*>(c)->at = 0;
        fetch(c);
        return SQLITE_OK;
    }
    static int next(sqlite3_vtab_cursor* c) {
        ++reinterpret_cast<cursor*>(c)->at;
        fetch(c);
        return SQLITE_OK;
    }
    static int eof(sqlite3_vtab_cursor* c) { return reinterpret_cast<cursor*>(c)->at >= of(c).order.size(); }
    static int column(sqlite3_vtab_cursor* c, sqlite3_context* to, int number) {
        item_row const& row = reinterpret_cast<cursor*>(c)->row;
        row_source& s = of(c);
        switch (number) {
        case 1: sqlite3_result_int(to, row.id); return SQLITE_OK;
        case 2: sqlite3_result_int(to, row.first_tick); return SQLITE_OK;
        case 3: sqlite3_result_int(to, row.last_tick); return SQLITE_OK;
        default: break;
        }
        auto const place = static_cast<std::size_t>(number - key_columns);
        if (place == s.layout->columns.size()) {
            if (row.ints.size() > s.layout->described) {
                std::string const more = ints_json(row.ints.subspan(s.layout->described));
                sqlite3_result_text(to, more.data(), static_cast<int>(more.size()), SQLITE_TRANSIENT);
            }
            return SQLITE_OK;
        }
        column_place const& from = s.layout->columns[place];
        if (from.described == nullptr || from.at >= row.ints.size()) return SQLITE_OK;
        if (from.described->kind != field_kind::text && from.described->kind != field_kind::enumeration) {
            sqlite3_result_int(to, row.ints[from.at]);
            return SQLITE_OK;
        }
        cell const value = read_cell(from, row.ints, s.scratch);
        if (value.is == cell::kind::integer) sqlite3_result_int(to, value.integer);
        else if (value.is == cell::kind::text)
            sqlite3_result_text(to, value.text.data(), static_cast<int>(value.text.size()),
                                value.text.data() == s.scratch.data() ? SQLITE_TRANSIENT : SQLITE_STATIC);
        return SQLITE_OK;
    }
    static int row_id(sqlite3_vtab_cursor* c, sqlite3_int64* out) {
        *out = static_cast<sqlite3_int64>(reinterpret_cast<cursor*>(c)->at);
        return SQLITE_OK;
    }

    // Null for what makes tables: it is there without that.
    static constexpr sqlite3_module module = [] {
        sqlite3_module m{};
        m.xConnect = connect;
        m.xBestIndex = best_index;
        m.xDisconnect = disconnect;
        m.xOpen = open;
        m.xClose = close;
        m.xFilter = filter;
        m.xNext = next;
        m.xEof = eof;
        m.xColumn = column;
        m.xRowid = row_id;
        return m;
    }();
};

// ---- statements ----------------------------------------------------------------------------------------------------

void sql_statement::finalizer::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

sql_statement::sql_statement(sqlite3* in, std::string name, std::string_view text)
    : in_{in}, name_{std::move(name)} {
    sqlite3_stmt* made = nullptr;
    check(sqlite3_prepare_v3(in_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT, &made,
                             nullptr));
    statement_.reset(made);
}

void sql_statement::check(int code) const {
    if (code != SQLITE_OK) fail(in_, name_, code);
}

sql_statement& sql_statement::bind(std::int64_t value) {
    check(sqlite3_bind_int64(statement_.get(), ++bound_, value));
    return *this;
}
sql_statement& sql_statement::bind(std::string_view text) {
    check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}
sql_statement& sql_statement::bind_real(double value) {
    check(sqlite3_bind_double(statement_.get(), ++bound_, value));
    return *this;
}
sql_statement& sql_statement::bind_null() {
    check(sqlite3_bind_null(statement_.get(), ++bound_));
    return *this;
}

bool sql_statement::next() {
    int const code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    reset();
    if (code != SQLITE_DONE) check(code);
    return false;
}
void sql_statement::run() { static_cast<void>(next()); }
void sql_statement::reset() noexcept {
    sqlite3_reset(statement_.get());
    bound_ = 0;
}

std::int64_t sql_statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
std::string sql_statement::text(int column) const {
    auto const* const text = reinterpret_cast<char const*>(sqlite3_column_text(statement_.get(), column));
    return text != nullptr
               ? std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))}
               : std::string{};
}

std::string path_of_database(std::string const& name) {
    return std::filesystem::path{name}.has_root_path() ? name : "./" + name;
}

// ---- the database --------------------------------------------------------------------------------------------------

void database::closer::operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }

database::database(std::string name, std::string const& part)
    : name_{std::move(name)}, source_{std::make_unique<row_source>()} {
    if (part.empty()) check_name();
    std::string const path = part.empty() ? path_of_database(name_) : part;
    sqlite3* opened = nullptr;
    int const code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(opened);
    if (code != SQLITE_OK)
        throw output_error{fmt::format("{}: cannot be written: {}", name_,
                                       opened != nullptr ? sqlite3_errmsg(opened) : "not enough memory")};
    // A file from elsewhere may have views that never end, and triggers: none are read or run.
    for (int const off :
         {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
        sqlite3_db_config(opened, off, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest_row);
    sqlite3_busy_timeout(opened, patience_milliseconds);
    sqlite3_progress_handler(opened, steps_between_looks, look_for_signals, nullptr);
    sqlite3_create_module(opened, row_source::name, &row_source::module, source_.get());
    run(fmt::format("PRAGMA page_size = {}; PRAGMA cache_size = -{}; PRAGMA secure_delete = OFF; "
                    "PRAGMA synchronous = NORMAL{}",
                    page_bytes, cache_kibibytes, part.empty() ? "" : "; PRAGMA locking_mode = EXCLUSIVE"));
    if (number("PRAGMA user_version") == 0 && number("SELECT count(*) FROM sqlite_schema") == 0) return;
    check_version("main", name_);
}

void database::check_name() const {
    os::file_type const type = os::facts_of(name_).type;
    if (type != os::file_type::none) {
        if (type != os::file_type::regular)
            throw usage_error{fmt::format("{}: a database must be a regular file", name_)};
    } else if (os::name_taken(name_)) {
        throw usage_error{fmt::format("{}: is a dangling symlink and is not replaced", name_)};
    }
}

void database::check_version(std::string_view schema, std::string const& name) {
    if (number(fmt::format("PRAGMA {}.application_id", schema), name) != application_id)
        throw usage_error{fmt::format("{}: is another program's database", name)};
    std::int64_t const version = number(fmt::format("PRAGMA {}.user_version", schema), name);
    if (version != database_version)
        throw usage_error{fmt::format("{}: its tables have version {}, not {}", name, version, database_version)};
}

database::~database() { rollback(); }

void database::run(std::string const& text) {
    if (int const code = sqlite3_exec(db_.get(), text.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK)
        fail(db_.get(), name_, code);
}

std::int64_t database::number(std::string const& query) { return number(query, name_); }
std::int64_t database::number(std::string const& query, std::string const& name) {
    sql_statement s{db_.get(), name, query};
    return s.next() ? s.integer(0) : 0;
}

void database::make_tables() {
    std::string text;
    for (table const& t : fixed_tables) text += create_table(t);
    for (item_table const& t : item_tables()) {
        std::string columns;
        std::string fields;
        for (item_column const& c : t.columns) {
            columns += fmt::format(", {} {}", sql_name(c.name), sql_type(c.kind));
            fields += fmt::format(", s.{}", sql_name(c.name));
        }
        text += fmt::format(
            "CREATE TABLE {} (recording INTEGER{}, id INTEGER NOT NULL, first_tick INTEGER NOT NULL, "
            "last_tick INTEGER NOT NULL{}, more TEXT, PRIMARY KEY (recording, id, first_tick)) WITHOUT ROWID;\n",
            spans_of(t.name), of_recording, columns);
        // The ticks of a span are few; a range of ticks that is asked for may be long, and has to stay a filter.
        text += fmt::format(
            "CREATE VIEW {} AS SELECT s.recording, +t.tick AS tick, s.id{}, s.more FROM {} s CROSS JOIN "
            "ticks t ON t.recording = s.recording AND t.tick BETWEEN s.first_tick AND s.last_tick;\n",
            sql_name(t.name), fields, spans_of(t.name));
    }
    run(text +
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, database_version));
}

void database::prepare() {
    if (std::exchange(prepared_, true)) return;
    auto const insert = [this](table const& t) {
        std::string values(2 * t.columns.size() - 1, ',');
        for (std::size_t n = 0; n < t.columns.size(); ++n) values[2 * n] = '?';
        return statement(fmt::format("INSERT INTO {} VALUES ({})", t.name, values));
    };
    insert_recording_ = insert(recordings_table);
    insert_tick_ = insert(ticks_table);
    insert_message_ = insert(messages_table);
    insert_player_ = insert(players_table);
    insert_event_ = insert(events_table);
    insert_other_ = insert(other_items_table);
}

// A column that all rows have, or none, is not asked of the source for each row.
sql_statement& database::insert_items(std::size_t table, item_layout const& layout, bool more) {
    auto const [found, is_new] = insert_items_.try_emplace({table, &layout, more});
    if (!is_new) return found->second;
    std::string columns = "?, c1, c2, c3";
    for (std::size_t n = 0; n <= layout.columns.size(); ++n) {
        bool const there = n < layout.columns.size() ? layout.columns[n].described != nullptr : more;
        columns += there ? fmt::format(", c{}", row_source::key_columns + n) : ", NULL";
    }
    return found->second = statement(fmt::format("INSERT INTO {} SELECT {} FROM {}",
                                                 spans_of(item_tables()[table].name), columns, row_source::name));
}

std::optional<std::string> database::find(file_row const& file) {
    if (number("PRAGMA user_version") == 0) return {};
    sql_statement s = statement("SELECT damage FROM recordings WHERE sha256 = ? AND connection = ?");
    s.bind(hex(file.sha256)).bind(file.connection);
    if (!s.next()) return {};
    return s.text(0);
}

bool database::has(std::string_view sha256, std::string_view connection) {
    if (number("PRAGMA user_version") == 0) return false;
    return statement("SELECT 1 FROM recordings WHERE sha256 = ? AND connection = ?")
        .bind(sha256)
        .bind(connection)
        .next();
}

void database::begin_file(file_row const& file) {
    begin_transaction();
    prepare();
    file_ = file;
    recording_ = number("SELECT max(recording) FROM recordings");
    first_recording_ = recording_ + 1;
}

void database::begin_transaction() {
    run("BEGIN IMMEDIATE");
    in_transaction_ = true;
    int moved = 0;
    if (sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0)
        throw output_error{fmt::format("{}: was moved or deleted while open", name_)};
    if (number("PRAGMA user_version") != 0) return;
    make_tables();
}

void database::begin(recording_row const&) {
    ++recording_;
    messages_ = events_ = 0;
}

void database::add(new_rows const& rows) {
    auto const add_row = [](sql_statement& insert, auto const& put) {
        row_binder to{insert};
        put(to);
        insert.run();
    };
    for (tick_row const& t : rows.ticks) add_row(insert_tick_, [&](auto& to) { put_tick(to, recording_, t); });
    for (message_row const& m : rows.messages)
        add_row(insert_message_, [&](auto& to) { put_message(to, recording_, messages_++, m); });
    for (game_event const& e : rows.events)
        add_row(insert_event_, [&](auto& to) { put_event(to, recording_, events_++, e); });
    for (player_row const& p : rows.players)
        add_row(insert_player_, [&](auto& to) { put_player(to, recording_, p); });
    for (std::size_t n = 0; n < item_tables().size(); ++n) {
        table_rows const& added = rows.items.rows(n);
        if (added.size() == 0) continue;
        item_layout const& layout = *rows.items.layout(n);
        source_->rows = &added;
        source_->layout = &layout;
        source_->order = added.order();
        insert_items(n, layout, added.most_ints() > layout.described).bind(recording_).run();
        item_rows_added_ += added.size();
    }
    for (std::size_t n = 0; n < rows.items.other_count(); ++n)
        add_row(insert_other_, [&](auto& to) { put_other_item(to, recording_, rows.items.other(n)); });
    item_rows_added_ += rows.items.other_count();
}

void database::end(recording_row const& r) {
    row_binder to{insert_recording_};
    put_recording(to, recording_, file_, r, {});
    insert_recording_.run();
}

void database::commit(std::string_view damage) {
    if (!damage.empty())
        statement("UPDATE recordings SET damage = ? WHERE recording >= ?")
            .bind(damage)
            .bind(first_recording_)
            .run();
    run("COMMIT");
    in_transaction_ = false;
}

void database::rollback() noexcept {
    if (!std::exchange(in_transaction_, false)) return;
    sqlite3_progress_handler(db_.get(), 0, nullptr, nullptr); // it would be interrupted, too
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

} // namespace teewire::replay
