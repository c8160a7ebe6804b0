// Events as rows: the columns that `teewire events`, databases and Arrow files have.
#pragma once

#include "base/column.hpp"
#include "base/text.hpp"
#include "events/game_event.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace teewire::replay {

inline constexpr auto event_columns = std::to_array<column>({
    {"kind", column_type::word, true},
    {"known", column_type::word, true},
    {"tick", column_type::tick},
    {"seconds", column_type::real, true},
    {"client", column_type::int32},
    {"name", column_type::text},
    {"target", column_type::int32},
    {"target_name", column_type::text},
    {"weapon", column_type::word},
    {"killer_seen", column_type::boolean},
    {"team", column_type::int32},
    {"time_ms", column_type::int64},
    {"difference_ms", column_type::int64},
    {"server_time_ms", column_type::int64},
    {"record", column_type::word},
    {"x", column_type::int32},
    {"y", column_type::int32},
    {"text", column_type::text},
    {"toucher", column_type::int32},
    {"toucher_name", column_type::text},
});

template <class To>
void put_event(game_event const& e, To& to) {
    using word = std::optional<std::string_view>;
    std::string const weapon = e.weapon ? weapon_text(*e.weapon) : std::string{};
    std::string const text = valid_utf8(e.text);
    auto const member = [](auto const& whole, auto const pointer) {
        return whole ? std::optional{(*whole).*pointer} : std::nullopt;
    };
    auto const name_of = [](std::optional<participant> const& p) { return p ? word{p->name} : word{}; };
    auto const some = [](std::string_view s) { return s.empty() ? word{} : word{s}; };
    put_row(event_columns, to, name(e.kind), name(e.known), e.tick, e.seconds,
            member(e.client, &participant::client_id), name_of(e.client), member(e.target, &participant::client_id),
            name_of(e.target), some(weapon), e.client_seen, e.team, e.time, e.difference, e.server_time,
            some(name(e.record)), member(e.where, &position::x), member(e.where, &position::y), some(text),
            member(e.toucher, &participant::client_id), name_of(e.toucher));
}

} // namespace teewire::replay
