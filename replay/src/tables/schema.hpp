// The tables of lib/doc/data.md, beside those of item types: their columns, and the rows of each.
#pragma once

#include "base/text.hpp"
#include "events/event_columns.hpp"
#include "tables/tabulator.hpp"

#include <teewire/sha256.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace teewire::replay {

struct table {
    std::string_view name;
    std::span<column const> columns;
    std::string_view constraint;    ///< of SQL; empty if there is none
    std::string_view order;         ///< columns by which rows of a recording are copied
    std::string_view indexed;       ///< as in the name of its index
    std::string_view index_columns; ///< empty if there is no index
};

inline constexpr auto recording_column = std::to_array<column>({{"recording", column_type::int32, true}});
inline constexpr auto number_columns =
    recording_column + std::to_array<column>({{"number", column_type::int32, true}});

inline constexpr auto recording_columns = recording_column + std::to_array<column>({
                                                                 {"sha256", column_type::text, true},
                                                                 {"connection", column_type::text, true},
                                                                 {"part", column_type::int32, true},
                                                                 {"file", column_type::text, true},
                                                                 {"bytes", column_type::int64, true},
                                                                 {"protocol", column_type::word, true},
                                                                 {"map", column_type::word, true},
                                                                 {"map_crc", column_type::word, true},
                                                                 {"map_sha256", column_type::word},
                                                                 {"map_bytes", column_type::int64, true},
                                                                 {"timestamp", column_type::text},
                                                                 {"began", column_type::int64},
                                                                 {"first_tick", column_type::tick},
                                                                 {"last_tick", column_type::tick},
                                                                 {"snapshots", column_type::int64},
                                                                 {"messages", column_type::int64},
                                                                 {"lost", column_type::int64},
                                                                 {"damage", column_type::text},
                                                             });
inline constexpr auto tick_columns = recording_column + std::to_array<column>({
                                                            {"tick", column_type::int32, true},
                                                            {"keyframe", column_type::boolean, true},
                                                        });
inline constexpr auto player_columns = recording_column + std::to_array<column>({
                                                              {"client_id", column_type::int32, true},
                                                              {"first_tick", column_type::int32, true},
                                                              {"last_tick", column_type::int32, true},
                                                              {"name", column_type::text, true},
                                                              {"clan", column_type::text, true},
                                                          });
inline constexpr auto message_columns = number_columns + std::to_array<column>({
                                                             {"tick", column_type::tick},
                                                             {"kind", column_type::word, true},
                                                             {"fields", column_type::text, true},
                                                         });
inline constexpr auto numbered_event_columns = number_columns + event_columns;
inline constexpr auto other_item_columns = recording_column + std::to_array<column>({
                                                                  {"type", column_type::word, true},
                                                                  {"id", column_type::int32, true},
                                                                  {"first_tick", column_type::int32, true},
                                                                  {"last_tick", column_type::int32, true},
                                                                  {"ints", column_type::text, true},
                                                              });
/// The columns of each item type's table before its fields.
inline constexpr auto span_columns = recording_column + std::to_array<column>({
                                                            {"id", column_type::int32, true},
                                                            {"first_tick", column_type::int32, true},
                                                            {"last_tick", column_type::int32, true},
                                                        });
/// The column after them.
inline constexpr column more_column{"more", column_type::text};

inline constexpr table recordings_table{
    "recordings", recording_columns, "UNIQUE (sha256, connection, part)", "", "map", "map"};
inline constexpr table ticks_table{"ticks", tick_columns, "PRIMARY KEY (recording, tick)", "tick", "", ""};
inline constexpr table players_table{
    "players", player_columns, "PRIMARY KEY (recording, client_id, first_tick)", "client_id, first_tick",
    "name",    "name"};
inline constexpr table messages_table{"messages", message_columns, "PRIMARY KEY (recording, number)",
                                      "number",   "kind",          "kind, recording, tick"};
inline constexpr table events_table{"events", numbered_event_columns, "PRIMARY KEY (recording, number)", "number",
                                    "kind",   "kind, recording, tick"};
inline constexpr table other_items_table{
    "other_items", other_item_columns, "", "rowid", "place", "recording, type, id, first_tick"};

/// All of these, recordings first.
inline constexpr std::array fixed_tables{recordings_table, ticks_table,  players_table,
                                         messages_table,   events_table, other_items_table};

// ---- rows ----------------------------------------------------------------------------------------------------------

[[nodiscard]] inline std::string ints_json(std::span<std::int32_t const> ints) {
    return fmt::format("[{}]", fmt::join(ints, ","));
}

template <class To>
void put_recording(To& to, std::int64_t recording, file_row const& file, recording_row const& r,
                   std::string_view damage) {
    put_row(recording_columns, to, recording, hex(file.sha256), file.connection, r.part, valid_utf8(file.name),
            file.bytes, teewire::name(r.version), valid_utf8(r.map.name), fmt::format("{:08x}", r.map.crc),
            r.map.sha256 ? hex(*r.map.sha256) : std::string{}, r.map.size, valid_utf8(file.timestamp),
            r.began != 0 ? std::optional{r.began} : std::nullopt, r.first_tick, r.last_tick, r.snapshots,
            r.messages, r.lost, damage);
}
template <class To>
void put_tick(To& to, std::int64_t recording, tick_row const& t) {
    put_row(tick_columns, to, recording, t.tick, t.keyframe);
}
template <class To>
void put_player(To& to, std::int64_t recording, player_row const& p) {
    put_row(player_columns, to, recording, p.client_id, p.first_tick, p.last_tick, p.name, p.clan);
}
template <class To>
void put_message(To& to, std::int64_t recording, std::int64_t number, message_row const& m) {
    put_row(message_columns, to, recording, number, m.tick, m.kind, m.fields);
}
template <class To>
void put_event(To& to, std::int64_t recording, std::int64_t number, game_event const& e) {
    put_row(number_columns, to, recording, number);
    put_event(e, to);
}
template <class To>
void put_other_item(To& to, std::int64_t recording, other_item const& o) {
    put_row(other_item_columns, to, recording, o.type, o.row.id, o.row.first_tick, o.row.last_tick,
            ints_json(o.row.ints));
}

} // namespace teewire::replay
