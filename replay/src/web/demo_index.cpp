#include "web/demo_index.hpp"

#include "base/compression.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "events/game_event_reader.hpp"
#include "game/message_fields.hpp"
#include "game/players.hpp"
#include "recording/demo/demo_stream.hpp"

#include <teewire/sha256.hpp>

#include <rapidjson/encodedstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <bitset>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

namespace teewire::replay {
namespace {

constexpr int version = 1;
constexpr std::size_t end_bytes = 64 << 10;
constexpr std::uint64_t progress_bytes = 64 << 10;

// The events on a timeline. If they do not all fit, the last kinds are left out first.
constexpr game_event_kind kinds[] = {
    game_event_kind::kill,       game_event_kind::finish,      game_event_kind::chat,
    game_event_kind::map_change, game_event_kind::team_chat,   game_event_kind::join,
    game_event_kind::leave,      game_event_kind::name_change, game_event_kind::vote,
    game_event_kind::vote_end,   game_event_kind::team_change, game_event_kind::server_message,
};
constexpr std::size_t no_kind = std::size(kinds);
constexpr std::size_t most_tunings = 32; // that all servers have

std::size_t place_of(game_event_kind k) {
    return static_cast<std::size_t>(std::find(std::begin(kinds), std::end(kinds), k) - std::begin(kinds));
}

struct indexed_event {
    std::int32_t tick;
    std::size_t kind;
    std::optional<std::size_t> client; // among the people
    std::optional<std::size_t> target;
    std::optional<std::int64_t> value;
    std::string text;
};

// Names and events of a demo, as it is read.
class index_collector {
public:
    explicit index_collector(protocol p)
        : messages_{messages_of(p)}, reader_{[this](game_event const& e) { add(e); }} {}

    void put(stream_event const& event) {
        reader_.put(event);
        if (event.kind == event_kind::message) find_tuning(event);
        if (event.kind != event_kind::snapshot) return;
        ++snapshots_;
        find_players(event);
    }
    void finish() { reader_.finish(); }

    struct person {
        std::int32_t id;
        std::string name;
        std::string clan;
    };
    struct appearance {
        std::size_t person;
        std::int32_t tick;
    };
    struct tuning {
        std::int32_t tick;
        std::vector<std::int32_t> values;
    };
    /// Without those that change nothing.
    [[nodiscard]] std::vector<tuning> const& tunings() const noexcept { return tunings_; }
    [[nodiscard]] std::vector<person> const& people() const noexcept { return people_; }
    [[nodiscard]] std::vector<appearance> const& players() const noexcept { return players_; }
    [[nodiscard]] std::vector<indexed_event> const& events() const noexcept { return events_; }
    [[nodiscard]] std::size_t snapshots() const noexcept { return snapshots_; }

private:
    std::size_t find(std::int32_t id, std::string const& name) {
        auto const [place, is_new] = known_.try_emplace({id, name}, people_.size());
        if (is_new) people_.push_back({id, name, {}});
        return place->second;
    }

    void find_tuning(stream_event const& event) {
        auto const m = parse_message(event.message);
        if (!m || m->system || identify(*m, messages_) != message_type::tune_params) return;
        std::vector<std::int32_t> values;
        for (unpacker in{m->fields}; values.size() < most_tunings;) {
            std::int32_t const value = in.read_int();
            if (!in.ok()) break;
            values.push_back(value);
        }
        if (tunings_.empty() || tunings_.back().values != values)
            tunings_.push_back({event.tick, std::move(values)});
    }

    // Snapshots rarely differ in who is there.
    void find_players(stream_event const& event) {
        auto const& players = reader_.now().players;
        bool const same = names_version_ == reader_.names_version() &&
                          std::equal(players.begin(), players.end(), present_.begin(), present_.end(),
                                     [](present_player const& p, std::int32_t id) { return p.client_id == id; });
        if (same) return;
        names_version_ = reader_.names_version();
        present_.clear();
        for (present_player const& p : players) {
            present_.push_back(p.client_id);
            std::string const name = reader_.names().name(p.client_id);
            std::size_t const who = find(p.client_id, name);
            if (auto const* const known = reader_.names().find(p.client_id);
                known != nullptr && known->name == name)
                people_[who].clan = known->clan;
            if (!appeared_.try_emplace(who, event.tick).second) continue;
            players_.push_back({who, event.tick});
        }
    }

    void add(game_event const& e) {
        std::size_t const kind = place_of(e.kind);
        if (kind == no_kind) return;
        auto const person = [&](std::optional<participant> const& p) -> std::optional<std::size_t> {
            if (!p) return {};
            return find(p->client_id, p->name);
        };
        std::optional<std::int64_t> value;
        if (e.kind == game_event_kind::kill) value = e.weapon;
        else if (e.kind == game_event_kind::team_change) value = e.team;
        else if (e.kind == game_event_kind::finish) value = e.time;
        events_.push_back({e.tick, kind, person(e.client), person(e.target), value, e.text});
    }

    std::vector<person> people_;
    std::map<std::pair<std::int32_t, std::string>, std::size_t> known_;
    std::vector<appearance> players_;
    std::map<std::size_t, std::int32_t> appeared_;
    std::vector<std::int32_t> present_;
    std::uint64_t names_version_ = std::numeric_limits<std::uint64_t>::max();
    std::vector<indexed_event> events_;
    std::vector<tuning> tunings_;
    std::size_t snapshots_ = 0;
    protocol messages_;
    game_event_reader reader_; // feeds the collector
};

// How much of everything there is room for.
struct share {
    bool tunings = true;
    std::size_t kinds = no_kind; // the first ones
    std::size_t every = 1;       // of the keyframes
    bool names = true;
};

class index_text {
public:
    index_text(demo_document const& demo, index_collector const& found, index_facts const& facts)
        : demo_{demo}, found_{found}, facts_{facts} {}

    std::string_view write(share const& room) {
        text_.Clear();
        json_writer json{text_};
        {
            object_writer all{json};
            all.number("version", version);
            write_header(all);
            write_keyframes(all, room.every);
            all.numbers("markers", demo_.header().markers());
            write_people(json, all, room);
            write_events(json, all, room);
            if (room.tunings) write_tunings(json, all);
            all.text_or_null("error", facts_.error);
        }
        return {text_.GetString(), text_.GetSize()};
    }

private:
    void write_header(object_writer& all) {
        demo_header const& header = demo_.header();
        {
            object_writer file = all.object("file");
            file.number("size", facts_.size);
            file.text("sha256", facts_.sha256);
            file.text("ends_sha256", facts_.ends_sha256);
        }
        all.text("protocol", facts_.protocol);
        all.number("demo_version", header.version);
        all.text("type", text(header.type));
        all.text("net_version", text(header.net_version));
        all.text("date", text(header.timestamp));
        {
            object_writer map = all.object("map");
            map.text("name", text(header.map_name));
            map.text("crc", fmt::format("{:08x}", header.map_crc));
            map.number("size", header.map_size);
            map.text_or_null("sha256", facts_.map_sha256);
            map.number("offset", demo_.first_chunk() - demo_.map().size());
        }
        all.number("chunks", demo_.first_chunk());
        all.tick_or_null("first_tick", facts_.first_tick);
        all.tick_or_null("last_tick", facts_.last_tick);
        all.number("snapshots", found_.snapshots());
    }

    // Ticks of damaged demos may go back: what is not above the one before is of no use to anybody.
    void write_keyframes(object_writer& all, std::size_t every) {
        std::vector<std::int64_t> ticks;
        std::vector<std::uint64_t> offsets;
        std::int64_t tick = 0;
        std::uint64_t offset = 0;
        std::size_t number = 0;
        for (demo_keyframe const& k : demo_.keyframes()) {
            if (!ticks.empty() && k.tick <= tick) continue;
            if (number++ % every != 0) continue;
            ticks.push_back(k.tick - std::exchange(tick, k.tick));
            offsets.push_back(k.position - std::exchange(offset, k.position));
        }
        object_writer keyframes = all.object("keyframes");
        keyframes.numbers("ticks", ticks);
        keyframes.numbers("offsets", offsets);
    }

    void write_people(json_writer& json, object_writer& all, share const& room) {
        std::vector<index_collector::person> const none;
        all.list("people", room.names ? found_.people() : none,
                 [](json_writer& list, index_collector::person const& p) {
                     list.StartArray();
                     list.Int64(p.id);
                     write_string(list, valid_utf8(p.name));
                     if (!p.clan.empty()) write_string(list, valid_utf8(p.clan));
                     list.EndArray();
                 });
        all.member("players").StartArray();
        if (room.names)
            for (auto const& p : found_.players()) {
                json.StartArray();
                json.Uint64(p.person);
                json.Int64(p.tick);
                json.EndArray();
            }
        json.EndArray();
    }

    void write_events(json_writer& json, object_writer& all, share const& room) {
        all.list("kinds", std::span{kinds}.first(room.kinds),
                 [](json_writer& list, game_event_kind k) { write_string(list, name(k)); });
        all.member("events").StartArray();
        std::int64_t last = std::max(0, facts_.first_tick);
        for (indexed_event const& e : found_.events())
            if (e.kind < room.kinds) write_event(json, e, last);
        json.EndArray();
        std::bitset<no_kind> lacking;
        for (indexed_event const& e : found_.events())
            if (e.kind >= room.kinds) lacking.set(e.kind);
        all.member("left_out").StartArray();
        for (std::size_t i = 0; i < no_kind; ++i)
            if (lacking[i]) write_string(json, name(kinds[i]));
        if (!room.names) write_string(json, "players");
        json.EndArray();
    }

    void write_tunings(json_writer& json, object_writer& all) {
        all.member("tunings").StartArray();
        std::int64_t last = std::max(0, facts_.first_tick);
        for (index_collector::tuning const& t : found_.tunings()) {
            json.StartArray();
            json.Int64(t.tick - std::exchange(last, t.tick));
            for (std::int32_t const value : t.values) json.Int(value);
            json.EndArray();
        }
        json.EndArray();
    }

    static void write_event(json_writer& json, indexed_event const& e, std::int64_t& last) {
        json.StartArray();
        json.Int64(e.tick - last);
        last = e.tick;
        json.Uint64(e.kind);
        // Nothing is at the end of a row.
        std::size_t const members = !e.text.empty() ? 4 : e.value ? 3 : e.target ? 2 : e.client ? 1 : 0;
        auto const number = [&](auto const& value) {
            if (value) json.Int64(static_cast<std::int64_t>(*value));
            else json.Null();
        };
        if (members > 0) number(e.client);
        if (members > 1) number(e.target);
        if (members > 2) number(e.value);
        if (members > 3) write_string(json, valid_utf8(e.text));
        json.EndArray();
    }

    demo_document const& demo_;
    index_collector const& found_;
    index_facts const& facts_;
    rapidjson::StringBuffer text_;
};

std::vector<std::uint8_t> pack(std::string_view text) {
    std::vector<std::uint8_t> out;
    compress({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()}, compression::gzip,
             max_compression_level(compression::gzip), [&](std::span<std::uint8_t const> piece, std::size_t) {
                 out.insert(out.end(), piece.begin(), piece.end());
                 return true;
             });
    return out;
}

// Takes what a list needs, and of the rest nothing: whoever has made it, it costs no memory.
class index_parser final : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, index_parser> {
public:
    std::optional<index_facts> take() {
        if (version_ != version || !has_size_) return {};
        // Each once: repeated, a name would cost more memory than it has bytes in the index.
        for (std::uint64_t const person : players_)
            if (person < names_.size())
                if (auto name = std::exchange(names_[static_cast<std::size_t>(person)], {}))
                    facts_.players.push_back(std::move(*name));
        return std::move(facts_);
    }

    bool StartObject() { return enter(); }
    bool EndObject(rapidjson::SizeType) { return leave(); }
    bool StartArray() { return enter(); }
    bool EndArray(rapidjson::SizeType) { return leave(); }
    bool Key(char const* text, rapidjson::SizeType size, bool) {
        if (depth_ == 1) member_.assign(text, size);
        if (depth_ <= 2) below_.assign(depth_ == 2 ? std::string_view{text, size} : std::string_view{});
        return true;
    }
    bool String(char const* text, rapidjson::SizeType size, bool) {
        std::string_view const value{text, size};
        if (depth_ == 1 && member_ == "protocol") facts_.protocol = value;
        if (depth_ == 1 && member_ == "error") facts_.error = value;
        if (depth_ == 2 && member_ == "map" && below_ == "sha256") facts_.map_sha256 = value;
        if (depth_ == 2 && member_ == "file" && below_ == "sha256") facts_.sha256 = value;
        if (depth_ == 2 && member_ == "file" && below_ == "ends_sha256") facts_.ends_sha256 = value;
        if (depth_ == 3 && member_ == "people" && place_ == 1) name_ = value;
        return count();
    }
    bool Int(int value) { return Int64(value); }
    bool Uint(unsigned value) { return Uint64(value); }
    bool Int64(std::int64_t value) { return value < 0 ? count() : Uint64(static_cast<std::uint64_t>(value)); }
    bool Uint64(std::uint64_t value) {
        constexpr auto last_tick = std::numeric_limits<std::int32_t>::max();
        if (depth_ == 1 && member_ == "version") version_ = value;
        if (depth_ == 1 && member_ == "first_tick" && value <= last_tick)
            facts_.first_tick = static_cast<std::int32_t>(value);
        if (depth_ == 1 && member_ == "last_tick" && value <= last_tick)
            facts_.last_tick = static_cast<std::int32_t>(value);
        if (depth_ == 2 && member_ == "file" && below_ == "size") {
            facts_.size = value;
            has_size_ = true;
        }
        if (depth_ == 3 && member_ == "players" && place_ == 0) players_.push_back(value);
        return count() && players_.size() <= most_people;
    }
    bool Default() { return count(); } // other values

private:
    static constexpr unsigned deepest = 8;
    static constexpr std::size_t most_people = 1'000'000;

    bool enter() {
        if (++depth_ == 3) {
            place_ = 0;
            name_.reset();
        }
        return depth_ <= deepest;
    }
    bool leave() {
        --depth_;
        return count();
    }
    // A value is complete.
    bool count() {
        if (depth_ == 2 && member_ == "people") names_.push_back(std::exchange(name_, {}));
        if (depth_ == 3) ++place_;
        return names_.size() <= most_people;
    }

    index_facts facts_;
    std::uint64_t version_ = 0;
    bool has_size_ = false;
    unsigned depth_ = 0;
    std::string member_;              // of the whole
    std::string below_;               // of that member
    std::size_t place_ = 0;           // in a row
    std::optional<std::string> name_; // in this one
    std::vector<std::optional<std::string>> names_;
    std::vector<std::uint64_t> players_;
};

} // namespace

std::string index_name(std::string const& demo) { return demo + ".index"; }

std::string ends_sha256(std::span<std::uint8_t const> demo) {
    if (demo.size() <= 2 * end_bytes) return hex(sha256(demo));
    sha256_hash hash;
    hash.add(demo.first(end_bytes));
    hash.add(demo.last(end_bytes));
    return hex(hash.finish());
}

std::string ends_sha256(stored_file const& demo) {
    std::uint64_t const all = demo.size();
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(all, 2 * end_bytes)));
    std::span const room{bytes};
    if (all <= 2 * end_bytes) return hex(sha256(room.first(demo.read(0, room))));
    sha256_hash hash;
    hash.add(room.first(demo.read(0, room.first(end_bytes))));
    hash.add(room.first(demo.read(all - end_bytes, room.first(end_bytes))));
    return hex(hash.finish());
}

demo_index make_index(demo_document& demo, std::function<void(std::uint64_t)> const& done) {
    demo_index made;
    index_facts& facts = made.facts;
    facts.size = demo.file_size();
    facts.sha256 = hex(sha256(demo.bytes()));
    facts.ends_sha256 = ends_sha256(demo.bytes());
    facts.protocol = name(demo.item_protocol());
    if (!demo.map().empty()) facts.map_sha256 = hex(sha256(demo.map()));
    else if (demo.header().has_sha256) facts.map_sha256 = hex(demo.header().sha256);
    facts.first_tick = demo.overview().first_tick;
    facts.last_tick = demo.overview().last_tick;
    index_collector found{demo.item_protocol()};
    demo_stream stream{demo};
    std::uint64_t next = progress_bytes;
    for (stream_event event; stream.next(event);) {
        found.put(event);
        if (!done || stream.done_bytes() < next) continue;
        next = stream.done_bytes() + progress_bytes;
        done(stream.done_bytes());
    }
    found.finish();
    facts.error = stream.error();
    for (auto const& p : found.players()) facts.players.push_back(found.people()[p.person].name);

    index_text out{demo, found, facts};
    std::size_t const most = most_index_bytes(facts.size);
    std::size_t const keyframes = demo.keyframes().size();
    for (share room;;) {
        made.bytes = pack(out.write(room));
        if (made.bytes.size() <= most) break;
        if (room.tunings) room.tunings = false;
        else if (room.kinds > 0) --room.kinds;
        else if (room.every < keyframes) room.every *= 2;
        else if (room.names) room.names = false;
        else break;
    }
    return made;
}

std::optional<index_facts> parse_index(std::span<std::uint8_t const> json) {
    index_parser found;
    rapidjson::MemoryStream text{reinterpret_cast<char const*>(json.data()), json.size()};
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream{text};
    bool const good =
        !rapidjson::Reader{}
             .Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(stream, found)
             .IsError();
    if (!good) return {};
    return found.take();
}

std::optional<index_facts> read_index(std::string const& file) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(file, failed)) return {};
    try {
        input const source{file};
        if (!source.damage().empty()) return {};
        return parse_index(source.bytes());
    } catch (std::runtime_error const&) { // it cannot be read
        return {};
    }
}

} // namespace teewire::replay
