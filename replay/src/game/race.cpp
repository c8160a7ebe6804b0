#include "game/race.hpp"

#include "game/item_text.hpp"

#include <teewire/packer.hpp>

#include <algorithm>
#include <cstdlib>

namespace teewire::replay {
namespace {

constexpr std::int32_t timescore_flag = 1 << 0; // of game_info_ex
constexpr std::int32_t race_flag_07 = 1 << 3;   // of 0.7's game_info
constexpr std::int32_t no_time_07 = -1;         // as a score of 0.7
constexpr std::int32_t not_given = -2;          // as seconds of a ddnet_player: its score has the time
constexpr std::int32_t not_finished = -1;       // as seconds of a ddnet_player

// The type that stands for an extended object in the snapshot, or none.
std::optional<std::uint16_t> find_alias(snapshot_view snapshot, object const& known) {
    for (std::size_t i = 0; i < snapshot.size(); ++i) {
        if (key_type(snapshot.key(i)) != type_ex) continue;
        item const describing = snapshot[i];
        if (describing.data.size() >= 4 && uuid::from_ints(describing.data.first<4>()) == known.extended)
            return describing.id();
    }
    return {};
}

std::int64_t magnitude(std::int32_t value) { return std::abs(std::int64_t{value}); }

} // namespace

std::string time_text(std::int64_t milliseconds) {
    std::int64_t const all = std::abs(milliseconds) / 10;
    std::string const rest = fmt::format("{:02}.{:02}", all / 100 % 60, all % 100);
    std::string_view const sign = milliseconds < 0 ? "-" : "";
    std::int64_t const minutes = all / 6000;
    if (minutes >= 60) return fmt::format("{}{}:{:02}:{}", sign, minutes / 60, minutes % 60, rest);
    return fmt::format("{}{}:{}", sign, minutes, rest);
}

// ---- scores --------------------------------------------------------------------------------------------------------

score_reader::score_reader(snapshot_view snapshot, protocol p) {
    static object const& info_ex = *find_object(protocol::ddnet, "game_info_ex");
    static object const& ddnet_player = *find_object(protocol::ddnet, "ddnet_player");
    bool const v07 = p == protocol::teeworlds_07;
    auto const info_ex_type = find_alias(snapshot, info_ex);
    auto const player_type = find_alias(snapshot, ddnet_player);
    object const& game = *find_object(p, "game_info");
    std::uint16_t const race_type = v07 ? find_object(p, "game_data_race")->type : 0;
    for (std::size_t i = 0; i < snapshot.size(); ++i) {
        std::uint16_t const type = key_type(snapshot.key(i));
        if (type == info_ex_type)
            times_ = times_ || (int_field(snapshot[i], info_ex, "flags") & timescore_flag) != 0;
        if (v07 && type == game.type)
            times_ = times_ || (int_field(snapshot[i], game, "game_flags") & race_flag_07) != 0;
        if (v07 && type == race_type) times_ = true; // no other game has it
    }
    milliseconds_ = v07;
    if (!times_ || !player_type) return;
    for (std::size_t i = 0; i < snapshot.size(); ++i) {
        if (key_type(snapshot.key(i)) != player_type) continue;
        item const found = snapshot[i];
        std::int32_t const seconds = int_field(found, ddnet_player, "finish_time_seconds", not_given);
        if (seconds == not_given) continue;
        finish& f = exact_.emplace_back(finish{found.id(), {}});
        if (seconds != not_finished)
            f.time =
                magnitude(seconds) * 1000 + magnitude(int_field(found, ddnet_player, "finish_time_millis")) % 1000;
    }
}

std::optional<std::int64_t> score_reader::time(std::int32_t client_id, std::int32_t score) const {
    if (!times_) return {};
    auto const found =
        std::find_if(exact_.begin(), exact_.end(), [&](finish const& f) { return f.client_id == client_id; });
    if (found != exact_.end()) return found->time;
    if (score == (milliseconds_ ? no_time_07 : no_time)) return {};
    return magnitude(score) * (milliseconds_ ? 1 : 1000);
}

// ---- clocks --------------------------------------------------------------------------------------------------------

std::int32_t followed_client(snapshot_view snapshot, protocol p) {
    object const& info = *find_object(p, p == protocol::teeworlds_07 ? "client_info" : "player_info");
    object const& spectator = *find_object(p, "spectator_info");
    std::int32_t local = -1;
    for (item const i : snapshot) {
        if (i.type() == spectator.type)
            if (std::int32_t const watched = int_field(i, spectator, "spectator_id", -1); watched >= 0)
                return watched;
        if (i.type() == info.type && int_field(i, info, "local") != 0)
            local = int_field(i, info, "client_id", i.id());
    }
    return local;
}

std::optional<std::size_t> race_start_offset(std::span<std::int32_t const> data, object const& described) {
    if (described.name != "game_info") return {};
    item const i{0, data};
    if ((int_field(i, described, "game_state_flags") & racetime_flag) == 0) return {};
    auto const timer = std::find_if(described.fields.begin(), described.fields.end(),
                                    [](field const& f) { return f.name == "warmup_timer"; });
    // It is negative, which old clients take for no warmup.
    if (timer == described.fields.end() || timer->offset >= data.size()) return {};
    if (data[timer->offset] >= 0 || data[timer->offset] == INT32_MIN) return {};
    return timer->offset;
}

std::vector<running_race> read_races(snapshot_view snapshot, protocol p) {
    std::vector<running_race> races;
    if (p == protocol::teeworlds_07) {
        object const& race = *find_object(p, "player_info_race");
        for (item const i : snapshot)
            if (i.type() == race.type) races.push_back({i.id(), int_field(i, race, "race_start_tick")});
        return races;
    }
    object const& game = *find_object(p, "game_info");
    std::int32_t start = -1;
    for (item const i : snapshot) {
        if (i.type() != game.type) continue;
        if (auto const offset = race_start_offset(i.data, game)) start = -i.data[*offset];
    }
    std::int32_t const client_id = start >= 0 ? followed_client(snapshot, p) : -1;
    if (client_id >= 0) races.push_back({client_id, start});
    return races;
}

bool is_race_clock(std::string_view broadcast) {
    auto const digits = [](std::string_view part) {
        return part.size() >= 2 &&
               std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    std::size_t const colon = broadcast.find(':');
    return colon != std::string_view::npos && digits(broadcast.substr(0, colon)) && broadcast.size() == colon + 3 &&
           digits(broadcast.substr(colon + 1));
}

// ---- messages ------------------------------------------------------------------------------------------------------

std::optional<race_news> read_race_news(message const& m, protocol p) {
    using kind = race_news::kind;
    unpacker in{m.fields};
    race_news news{};
    switch (identify(m, p)) {
    case message_type::race_time:
    case message_type::race_time_legacy: { // in hundredths
        news.time = std::int64_t{in.read_int()} * 10;
        std::int32_t const difference = in.read_int();
        bool const finished = in.read_int() != 0;
        if (difference != 0) news.difference = std::int64_t{difference} * 10;
        if (!finished && !news.difference) return {};
        news.what = finished ? kind::finish : kind::checkpoint;
        break;
    }
    case message_type::race_finish:
    case message_type::race_finish_07: {
        news.what = kind::finish;
        news.client_id = in.read_int();
        news.time = in.read_int();
        std::int32_t const difference = in.read_int();
        if (difference != 0) news.difference = difference;
        news.personal_record = in.read_int() != 0;
        if (!in.ok()) return {};
        news.server_record = in.read_int() != 0; // older servers do not say
        return news;
    }
    case message_type::checkpoint:
        news.what = kind::checkpoint;
        news.difference = in.read_int();
        break;
    case message_type::record:
    case message_type::record_legacy: { // in hundredths
        news.what = kind::records;
        if (std::int32_t const best = in.read_int(); best > 0) news.server_best = std::int64_t{best} * 10;
        if (std::int32_t const best = in.read_int(); best > 0) news.own_best = std::int64_t{best} * 10;
        if (!news.server_best && !news.own_best) return {};
        break;
    }
    default: return {};
    }
    if (!in.ok()) return {};
    return news;
}

} // namespace teewire::replay
