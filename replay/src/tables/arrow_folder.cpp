#include "tables/arrow_folder.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"

#include <teewire/schema.hpp>

#include <fmt/ranges.h>

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

using enum arrow_type;

std::vector<arrow_field> const tick_fields{{"recording", int32}, {"tick", int32}, {"keyframe", boolean}};
std::vector<arrow_field> const player_fields{{"recording", int32},       {"client_id", int32},
                                             {"first_tick", int32},      {"last_tick", int32},
                                             {"name", arrow_type::text}, {"clan", arrow_type::text}};
std::vector<arrow_field> const message_fields{
    {"recording", int32}, {"number", int32}, {"tick", int32}, {"kind", word}, {"fields", arrow_type::text}};
std::vector<arrow_field> const event_fields{{"recording", int32},
                                            {"number", int32},
                                            {"kind", word},
                                            {"known", word},
                                            {"tick", int32},
                                            {"seconds", real},
                                            {"client", int32},
                                            {"name", arrow_type::text},
                                            {"target", int32},
                                            {"target_name", arrow_type::text},
                                            {"weapon", word},
                                            {"killer_seen", boolean},
                                            {"team", int32},
                                            {"time_ms", int64},
                                            {"difference_ms", int64},
                                            {"server_time_ms", int64},
                                            {"record", word},
                                            {"x", int32},
                                            {"y", int32},
                                            {"text", arrow_type::text}};
std::vector<arrow_field> const other_fields{{"recording", int32}, {"type", word},
                                            {"id", int32},        {"first_tick", int32},
                                            {"last_tick", int32}, {"ints", arrow_type::text}};
std::vector<arrow_field> const recording_fields{{"recording", int32},
                                                {"sha256", arrow_type::text},
                                                {"connection", arrow_type::text},
                                                {"part", int32},
                                                {"file", arrow_type::text},
                                                {"bytes", int64},
                                                {"protocol", word},
                                                {"map", word},
                                                {"map_crc", word},
                                                {"map_sha256", word},
                                                {"map_bytes", int64},
                                                {"timestamp", arrow_type::text},
                                                {"began", int64},
                                                {"first_tick", int32},
                                                {"last_tick", int32},
                                                {"snapshots", int64},
                                                {"messages", int64},
                                                {"lost", int64},
                                                {"damage", arrow_type::text}};

constexpr std::size_t key_columns = 4;

arrow_type type_of(field_kind kind) {
    switch (kind) {
    case field_kind::integer:
    case field_kind::tick:
    case field_kind::flags: return int32;
    case field_kind::boolean: return boolean;
    case field_kind::enumeration: return word;
    case field_kind::text: return arrow_type::text;
    }
    return int32;
}

std::vector<arrow_field> fields_of(item_table const& table) {
    std::vector<arrow_field> fields{
        {"recording", int32}, {"id", int32}, {"first_tick", int32}, {"last_tick", int32}};
    for (item_column const& c : table.columns) fields.push_back({c.name, type_of(c.kind)});
    fields.push_back({"more", arrow_type::text});
    return fields;
}

std::string ints_json(std::span<std::int32_t const> ints) { return fmt::format("[{}]", fmt::join(ints, ",")); }

void write_if_full(arrow_file& file, std::size_t text_bytes = 0) {
    if (file.pending_rows() >= batch_rows || text_bytes >= most_text_bytes) file.add_batch();
}

} // namespace

arrow_folder::arrow_folder(std::string folder, bool force) : folder_{std::move(folder)}, force_{force} {
    if (folder_ == "-") throw usage_error{"a folder of files cannot be written to standard output: -o FOLDER"};
    std::error_code error;
    if (name_taken(folder_) && !fs::is_directory(folder_, error))
        throw usage_error{fmt::format("{}: exists, and is no folder", folder_)};
    bool const made = fs::create_directory(folder_, error);
    if (error) throw output_error{fmt::format("{}: cannot be written: {}", folder_, error.message())};
    if (made) unfinished_.emplace(folder_);
    auto const refuse = [&](std::string_view name) {
        std::string const path = path_of(name);
        if (!force_ && name_taken(path)) throw usage_error{fmt::format("{}: exists; --force replaces it", path)};
    };
    for (std::string_view const name : {"recordings", "ticks", "players", "messages", "events", "other_items"})
        refuse(name);
    for (item_table const& t : item_tables()) refuse(t.name);
    items_.resize(item_tables().size());
    ticks_ = make("ticks", tick_fields);
    players_ = make("players", player_fields);
    message_table_ = make("messages", message_fields);
    events_ = make("events", event_fields);
}

arrow_folder::~arrow_folder() {
    for (auto* const file : {&ticks_, &players_, &message_table_, &events_, &others_}) file->reset();
    items_.clear();
    std::error_code ignored; // if there are files in it
    if (unfinished_) fs::remove(folder_, ignored);
}

std::string arrow_folder::path_of(std::string_view name) const { return fmt::format("{}/{}.arrow", folder_, name); }

std::unique_ptr<arrow_file> arrow_folder::make(std::string_view name, std::vector<arrow_field> fields) {
    std::string const path = path_of(name);
    written_.push_back(path);
    return std::make_unique<arrow_file>(output_choice{path, force_}, std::move(fields));
}

arrow_file& arrow_folder::items_of(std::size_t table) {
    if (!items_[table]) items_[table] = make(item_tables()[table].name, fields_of(item_tables()[table]));
    return *items_[table];
}

void arrow_folder::begin(recording_row const& recording) {
    recordings_.push_back({file_, recording, {}});
    messages_ = event_number_ = 0;
}

void arrow_folder::add(new_rows const& rows) {
    auto const recording = static_cast<std::int32_t>(recordings_.size());
    for (tick_row const& t : rows.ticks) {
        ticks_->column(0).add(recording);
        ticks_->column(1).add(t.tick);
        ticks_->column(2).add(static_cast<std::int32_t>(t.keyframe));
        write_if_full(*ticks_);
    }
    for (message_row const& m : rows.messages) {
        message_table_->column(0).add(recording);
        message_table_->column(1).add(messages_++);
        if (m.tick >= 0) message_table_->column(2).add(m.tick);
        else message_table_->column(2).add_null();
        message_table_->column(3).add(std::string_view{m.kind});
        message_table_->column(4).add(std::string_view{m.fields});
        write_if_full(*message_table_, message_table_->column(4).text_bytes());
    }
    for (game_event const& e : rows.events) add_event(recording, e);
    for (player_row const& p : rows.players) {
        players_->column(0).add(recording);
        players_->column(1).add(p.client_id);
        players_->column(2).add(p.first_tick);
        players_->column(3).add(p.last_tick);
        players_->column(4).add(std::string_view{p.name});
        players_->column(5).add(std::string_view{p.clan});
        write_if_full(*players_);
    }
    for (std::size_t n = 0; n < items_.size(); ++n)
        if (rows.items.rows(n).size() != 0) add_items(items_of(n), rows.items.rows(n), *rows.items.layout(n));
    if (rows.items.other_count() != 0 && !others_) others_ = make("other_items", other_fields);
    for (std::size_t n = 0; n < rows.items.other_count(); ++n) {
        other_item const o = rows.items.other(n);
        others_->column(0).add(recording);
        others_->column(1).add(o.type);
        others_->column(2).add(o.row.id);
        others_->column(3).add(o.row.first_tick);
        others_->column(4).add(o.row.last_tick);
        others_->column(5).add(std::string_view{ints_json(o.row.ints)});
        write_if_full(*others_, others_->column(5).text_bytes());
    }
    item_rows_added_ += rows.items.other_count();
}

void arrow_folder::add_event(std::int32_t recording, game_event const& e) {
    event_cells const cells{e};
    std::size_t c = 0;
    auto const number = [&](auto const& value) {
        arrow_column& column = events_->column(c++);
        if (!value) column.add_null();
        else if (column.type() == int64) column.add_long(*value);
        else column.add(static_cast<std::int32_t>(*value));
    };
    auto const text = [&](std::string_view value) {
        arrow_column& column = events_->column(c++);
        if (value.empty()) column.add_null();
        else column.add(value);
    };
    number(std::optional{recording});
    number(std::optional{event_number_++});
    text(replay::name(e.kind));
    text(replay::name(e.known));
    number(cells.tick);
    events_->column(c++).add_real(e.seconds);
    number(cells.client);
    text(cells.name);
    number(cells.target);
    text(cells.target_name);
    text(cells.weapon);
    number(cells.killer_seen);
    number(e.team);
    number(e.time);
    number(e.difference);
    number(e.server_time);
    text(cells.record);
    number(cells.x);
    number(cells.y);
    text(cells.text);
    write_if_full(*events_, events_->column(c - 1).text_bytes());
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
        std::int32_t* const recordings = to.column(0).add_ints(block.size());
        std::int32_t* const ids = to.column(1).add_ints(block.size());
        std::int32_t* const firsts = to.column(2).add_ints(block.size());
        std::int32_t* const lasts = to.column(3).add_ints(block.size());
        for (std::size_t n = 0; n < block.size(); ++n) {
            recordings[n] = recording;
            ids[n] = block[n].id;
            firsts[n] = block[n].first_tick;
            lasts[n] = block[n].last_tick;
        }
        for (std::size_t c = 0; c < layout.columns.size(); ++c) {
            arrow_column& column = to.column(key_columns + c);
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
        arrow_column& more = to.column(key_columns + layout.columns.size());
        if (most <= layout.described) more.add_nulls(block.size());
        else
            for (item_row const& row : block)
                if (row.ints.size() > layout.described)
                    more.add(std::string_view{ints_json(row.ints.subspan(layout.described))});
                else more.add_null();
        write_if_full(to, more.text_bytes());
    }
    item_rows_added_ += order.size();
}

void arrow_folder::end(recording_row const& recording) { recordings_.back().row = recording; }

void arrow_folder::end_file(std::string_view damage) {
    for (; first_of_file_ < recordings_.size(); ++first_of_file_) recordings_[first_of_file_].damage = damage;
}

void arrow_folder::write_recordings() {
    auto const file = make("recordings", recording_fields);
    for (std::size_t n = 0; n < recordings_.size(); ++n) {
        auto const& [from, row, damage] = recordings_[n];
        std::size_t c = 0;
        auto const number = [&](std::int64_t value) { file->column(c++).add_long(value); };
        auto const text = [&](std::string const& value) { file->column(c++).add(std::string_view{value}); };
        auto const text_or_null = [&](std::string const& value) {
            if (!value.empty()) text(value);
            else file->column(c++).add_null();
        };
        auto const tick = [&](std::int32_t value) {
            if (value >= 0) file->column(c++).add(value);
            else file->column(c++).add_null();
        };
        file->column(c++).add(static_cast<std::int32_t>(n + 1));
        text(hex(from.sha256));
        text(from.connection);
        file->column(c++).add(static_cast<std::int32_t>(row.part));
        text(valid_utf8(from.name));
        number(static_cast<std::int64_t>(from.bytes));
        text(std::string{teewire::name(row.version)});
        text(valid_utf8(row.map.name));
        text(fmt::format("{:08x}", row.map.crc));
        text_or_null(row.map.sha256 ? hex(*row.map.sha256) : std::string{});
        number(static_cast<std::int64_t>(row.map.size));
        text_or_null(valid_utf8(from.timestamp));
        if (row.began != 0) number(row.began);
        else file->column(c++).add_null();
        tick(row.first_tick);
        tick(row.last_tick);
        number(static_cast<std::int64_t>(row.snapshots));
        number(static_cast<std::int64_t>(row.messages));
        number(static_cast<std::int64_t>(row.lost));
        text_or_null(damage);
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
