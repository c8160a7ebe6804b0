#include "tables/arrow_folder.hpp"

#include "base/errors.hpp"
#include "base/os/files.hpp"

#include <algorithm>
#include <filesystem>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

// Rows that are written at once, and rows that are transposed at once, which the processor's caches hold.
constexpr std::size_t batch_rows = std::size_t{1} << 16;
constexpr std::size_t block_rows = 256;
constexpr std::size_t ahead = 16;                               // rows of an id lie apart
constexpr std::size_t most_text_bytes = std::size_t{256} << 20; // in a batch

using enum column_type;

column_type type_of(field_kind kind) {
    switch (kind) {
    case field_kind::integer:
    case field_kind::tick:
    case field_kind::flags: return int32;
    case field_kind::boolean: return boolean;
    case field_kind::enumeration: return word;
    case field_kind::text: return column_type::text;
    }
    return int32;
}

std::vector<column> columns_of(item_table const& table) {
    std::vector<column> columns{span_columns.begin(), span_columns.end()};
    for (item_column const& c : table.columns) columns.push_back({c.name, type_of(c.kind), false});
    columns.push_back(more_column);
    return columns;
}

// Adds a row value by value.
struct row_writer {
    arrow_file& file;
    std::size_t next = 0;

    void null(column const&) { file.at(next++).add_null(); }
    void number(column const& c, std::int64_t value) {
        arrow_column& to = file.at(next++);
        if (c.type == tick && value < 0) to.add_null();
        else if (c.type == int64) to.add_long(value);
        else to.add(static_cast<std::int32_t>(value));
    }
    void real(column const&, double value) { file.at(next++).add_real(value); }
    void flag(column const& c, bool value) { number(c, value ? 1 : 0); }
    void text(column const& c, std::string_view value) {
        if (value.empty() && !c.required) null(c);
        else file.at(next++).add(value);
    }
};

void write_if_full(arrow_file& file) {
    if (file.pending_rows() >= batch_rows || file.text_bytes() >= most_text_bytes) file.add_batch();
}

} // namespace

arrow_folder::arrow_folder(std::string folder, bool force) : folder_{std::move(folder)}, force_{force} {
    if (folder_ == "-") throw usage_error{"Arrow files cannot be written to standard output; use -o FOLDER"};
    std::error_code error;
    if (os::name_taken(folder_) && !fs::is_directory(folder_, error))
        throw usage_error{fmt::format("{}: exists and is not a folder", folder_)};
    bool const made = fs::create_directory(folder_, error);
    if (error) throw output_error{fmt::format("{}: cannot be written: {}", folder_, error.message())};
    if (made) unfinished_.emplace(folder_);
    auto const refuse = [&](std::string_view name) {
        std::string const path = path_of(name);
        if (!force_ && os::name_taken(path))
            throw usage_error{fmt::format("{}: exists; --force replaces it", path)};
    };
    for (table const& t : fixed_tables) refuse(t.name);
    for (item_table const& t : item_tables()) refuse(t.name);
    items_.resize(item_tables().size());
    ticks_ = make(ticks_table);
    players_ = make(players_table);
    message_table_ = make(messages_table);
    events_ = make(events_table);
}

arrow_folder::~arrow_folder() {
    for (auto* const file : {&ticks_, &players_, &message_table_, &events_, &others_}) file->reset();
    items_.clear();
    std::error_code ignored; // if there are files in it
    if (unfinished_) fs::remove(folder_, ignored);
}

std::string arrow_folder::path_of(std::string_view name) const { return fmt::format("{}/{}.arrow", folder_, name); }

std::unique_ptr<arrow_file> arrow_folder::make(std::string_view name, std::vector<column> columns) {
    std::string const path = path_of(name);
    written_.push_back(path);
    return std::make_unique<arrow_file>(output_choice{path, force_}, std::move(columns));
}
std::unique_ptr<arrow_file> arrow_folder::make(table const& t) {
    return make(t.name, {t.columns.begin(), t.columns.end()});
}

arrow_file& arrow_folder::items_of(std::size_t table) {
    if (!items_[table]) items_[table] = make(item_tables()[table].name, columns_of(item_tables()[table]));
    return *items_[table];
}

void arrow_folder::begin(recording_row const& recording) {
    recordings_.push_back({file_, recording, {}});
    messages_ = event_number_ = 0;
}

void arrow_folder::add(new_rows const& rows) {
    auto const recording = static_cast<std::int32_t>(recordings_.size());
    auto const add_row = [](std::unique_ptr<arrow_file> const& file, auto const& put) {
        row_writer to{*file};
        put(to);
        write_if_full(*file);
    };
    for (tick_row const& t : rows.ticks) add_row(ticks_, [&](auto& to) { put_tick(to, recording, t); });
    for (message_row const& m : rows.messages)
        add_row(message_table_, [&](auto& to) { put_message(to, recording, messages_++, m); });
    for (game_event const& e : rows.events)
        add_row(events_, [&](auto& to) { put_event(to, recording, event_number_++, e); });
    for (player_row const& p : rows.players) add_row(players_, [&](auto& to) { put_player(to, recording, p); });
    for (std::size_t n = 0; n < items_.size(); ++n)
        if (rows.items.rows(n).size() != 0) add_items(items_of(n), rows.items.rows(n), *rows.items.layout(n));
    if (rows.items.other_count() != 0 && !others_) others_ = make(other_items_table);
    for (std::size_t n = 0; n < rows.items.other_count(); ++n)
        add_row(others_, [&](auto& to) { put_other_item(to, recording, rows.items.other(n)); });
    item_rows_added_ += rows.items.other_count();
}

// A column whose values have names, most of which occur again and again.
void arrow_folder::add_words(arrow_column& to, column_place const& place, std::vector<item_row> const& rows) {
    std::int32_t* const numbers = to.add_ints(rows.size());
    std::int32_t value = 0;
    std::int32_t number = -1; // of that value's word
    for (std::size_t n = 0; n < rows.size(); ++n) {
        if (number < 0 || rows[n].ints[place.at] != value) {
            value = rows[n].ints[place.at];
            cell const named = read_cell(place, rows[n].ints, scratch_);
            number = named.is == cell::kind::text ? to.number_of(named.text) : to.number_of(std::to_string(value));
        }
        numbers[n] = number;
    }
}

void arrow_folder::add_items(arrow_file& to, table_rows const& rows, item_layout const& layout) {
    auto const recording = static_cast<std::int32_t>(recordings_.size());
    std::vector<std::uint32_t> const order = rows.order();
    std::vector<item_row> block;
    for (std::size_t first = 0; first < order.size(); first += block_rows) {
        block.clear();
        std::size_t least = SIZE_MAX; // ints of any
        std::size_t most = 0;
        for (std::size_t n = first; n < std::min(first + block_rows, order.size()); ++n) {
            if (n + ahead < order.size()) rows.prefetch(order[n + ahead]);
            block.push_back(rows.row_at(order[n]));
            least = std::min(least, block.back().ints.size());
            most = std::max(most, block.back().ints.size());
        }
        std::int32_t* const recordings = to.at(0).add_ints(block.size());
        std::int32_t* const ids = to.at(1).add_ints(block.size());
        std::int32_t* const firsts = to.at(2).add_ints(block.size());
        std::int32_t* const lasts = to.at(3).add_ints(block.size());
        for (std::size_t n = 0; n < block.size(); ++n) {
            recordings[n] = recording;
            ids[n] = block[n].id;
            firsts[n] = block[n].first_tick;
            lasts[n] = block[n].last_tick;
        }
        for (std::size_t c = 0; c < layout.columns.size(); ++c) {
            arrow_column& column = to.at(span_columns.size() + c);
            column_place const place = layout.columns[c];
            if (place.described == nullptr) {
                column.add_nulls(block.size());
            } else if (column.type() == int32 && place.at < least) {
                std::int32_t* const values = column.add_ints(block.size());
                for (std::size_t n = 0; n < block.size(); ++n) values[n] = block[n].ints[place.at];
            } else if (column.type() == word && place.at < least) {
                add_words(column, place, block);
            } else {
                for (item_row const& row : block) {
                    cell const value = read_cell(place, row.ints, scratch_);
                    if (value.is == cell::kind::none) column.add_null();
                    else if (value.is == cell::kind::text) column.add(value.text);
                    else if (column.type() == word) column.add(std::string_view{std::to_string(value.integer)});
                    else column.add(value.integer);
                }
            }
        }
        arrow_column& more = to.at(span_columns.size() + layout.columns.size());
        if (most <= layout.described) more.add_nulls(block.size());
        else
            for (item_row const& row : block)
                if (row.ints.size() > layout.described)
                    more.add(std::string_view{ints_json(row.ints.subspan(layout.described))});
                else more.add_null();
        write_if_full(to);
    }
    item_rows_added_ += order.size();
}

void arrow_folder::end(recording_row const& recording) { recordings_.back().row = recording; }

void arrow_folder::end_file(std::string_view damage) {
    for (; first_of_file_ < recordings_.size(); ++first_of_file_) recordings_[first_of_file_].damage = damage;
}

void arrow_folder::write_recordings() {
    auto const file = make(recordings_table);
    std::int32_t number = 0;
    for (auto const& [from, row, damage] : recordings_) {
        row_writer to{*file};
        put_recording(to, ++number, from, row, damage);
    }
    file->finish();
}

void arrow_folder::finish() {
    for (arrow_file* const file :
         {ticks_.get(), players_.get(), message_table_.get(), events_.get(), others_.get()})
        if (file != nullptr) file->finish();
    for (auto const& file : items_)
        if (file) file->finish();
    // Those of other recordings, which were here before.
    for (item_table const& t : item_tables())
        if (std::string const path = path_of(t.name);
            std::find(written_.begin(), written_.end(), path) == written_.end()) {
            std::error_code ignored;
            fs::remove(path, ignored);
        }
    write_recordings();
}

} // namespace teewire::replay
