#include "edit/merged_items.hpp"

#include "game/race.hpp"

#include <algorithm>

namespace teewire::replay {

bool concerns_one_client(object const& o) {
    return o.name == "spectator_info" || o.name == "ddnet_spectator_info" || o.name == "spectator_count";
}

bool belongs_to_player(object const& o) {
    constexpr std::string_view names[] = {"character",       "player_info",  "client_info", "player_info_race",
                                          "ddnet_character", "ddnet_player", "spec_char"};
    return std::find(std::begin(names), std::end(names), o.name) != std::end(names);
}

bool is_event(object const& o) { return o.name.starts_with("event_") || o.name == "my_own_event"; }

std::optional<point> place_of(ints_view data, object const& what) {
    std::optional<std::size_t> x, y;
    for (field const& f : what.fields)
        if (f.name == "x" || f.name == "to_x") x = f.offset;
        else if (f.name == "y" || f.name == "to_y") y = f.offset;
    if (!x || !y || *x >= data.size() || *y >= data.size()) return {};
    return point{static_cast<double>(data[*x]), static_cast<double>(data[*y])};
}

type_table::type_table(protocol spoken) : p{spoken} {
    for (object const& o : plain_objects(p))
        if (o.type < plain.size()) plain[o.type] = {&o, concerns_one_client(o), !is_event(o)};
    auto const type = [&](char const* name) { return find_object(p, name)->type; };
    character = type("character");
    player_info = type("player_info");
    client_info = type("client_info");
    spectator_info = type("spectator_info");
    game_info = type("game_info");
}

ints_view as_for_everybody(std::int32_t key, ints_view data, type_table const& types,
                           std::vector<std::int32_t>& room) {
    std::uint16_t const type = key_type(key);
    auto const copy = [&] { room.assign(data.begin(), data.end()); };
    if (type == types.local_type() && !data.empty() && data[0] != 0) {
        copy();
        room[0] = 0;
        return room;
    }
    // In 0.6 the clock of the client's own race is in the place of the warmup.
    if (type == types.game_info && !types.is_07()) {
        object const& what = *types.plain[type].known;
        if (auto const clock = race_start_offset(data, what)) {
            copy();
            room[*clock] = 0;
            for (field const& f : what.fields)
                if (f.name == "game_state_flags") room[f.offset] &= ~racetime_flag;
            return room;
        }
    }
    return data;
}

} // namespace teewire::replay
