#include "rows.hpp"

#include "teewire/message_types.hpp"
#include "teewire/schema.hpp"

#include <algorithm>

using namespace teewire;
using namespace teewire::c;

namespace {

// ---- rows ----------------------------------------------------------------------------------------------------------

// Which types of a snapshot stand for an extended one. Each is what the first item says that describes it.
class aliases {
public:
    aliases(snapshot_view state, uuid const& wanted) noexcept {
        for (item const i : state) {
            if (i.type() != type_ex || i.id() < first_alias || i.id() > last_alias) continue;
            std::size_t const number = i.id() - first_alias;
            std::uint64_t const bit = std::uint64_t{1} << number % 64;
            if ((described_[number / 64] & bit) != 0) continue;
            described_[number / 64] |= bit;
            if (i.data.size() >= 4 && uuid::from_ints(i.data.first<4>()) == wanted) meant_[number / 64] |= bit;
        }
    }
    [[nodiscard]] bool operator[](std::uint16_t type) const noexcept {
        if (type < first_alias || type > last_alias) return false;
        std::size_t const number = type - first_alias;
        return (meant_[number / 64] >> number % 64 & 1) != 0;
    }

private:
    static constexpr std::size_t words = (last_alias - first_alias + 1) / 64;
    std::array<std::uint64_t, words> described_{};
    std::array<std::uint64_t, words> meant_{};
};

void fill(teewire_column const& column, std::uint64_t row, std::span<item const> items, std::size_t fewest_ints,
          std::int32_t tick, bool keyframe) noexcept {
    std::int32_t* const out = column.values + row;
    switch (column.place) {
    case TEEWIRE_COLUMN_TICK: std::fill_n(out, items.size(), tick); return;
    case TEEWIRE_COLUMN_KEYFRAME: std::fill_n(out, items.size(), std::int32_t{keyframe}); return;
    case TEEWIRE_COLUMN_ID:
        for (std::size_t i = 0; i < items.size(); ++i) out[i] = items[i].id();
        return;
    case TEEWIRE_COLUMN_INTS:
        for (std::size_t i = 0; i < items.size(); ++i) out[i] = count(items[i].data.size());
        return;
    default: break;
    }
    auto const at = static_cast<std::uint32_t>(column.place);
    if (at < fewest_ints) {
        for (std::size_t i = 0; i < items.size(); ++i) out[i] = items[i].data.data()[at];
    } else {
        for (std::size_t i = 0; i < items.size(); ++i) out[i] = at < items[i].data.size() ? items[i].data[at] : 0;
    }
}

// Gathers items, and writes them column by column.
class row_writer {
public:
    row_writer(teewire_table const& to, std::int32_t tick, bool keyframe) noexcept
        : to_{to}, tick_{tick}, keyframe_{keyframe} {}
    void add(item const& i) noexcept {
        if (gathered_ == items_.size()) write();
        items_[gathered_++] = i;
        fewest_ints_ = std::min(fewest_ints_, i.data.size());
    }
    void write() noexcept {
        std::uint64_t const row = to_.rows + added_;
        added_ += gathered_;
        if (row <= to_.capacity && gathered_ <= to_.capacity - row)
            for (teewire_column const& column : std::span{to_.columns, to_.column_count})
                fill(column, row, std::span{items_}.first(gathered_), fewest_ints_, tick_, keyframe_);
        gathered_ = 0;
        fewest_ints_ = SIZE_MAX;
    }
    [[nodiscard]] std::size_t added() const noexcept { return added_; }

private:
    teewire_table const& to_;
    std::int32_t tick_;
    bool keyframe_;
    std::array<item, 128> items_;
    std::size_t gathered_ = 0;
    std::size_t fewest_ints_ = SIZE_MAX;
    std::size_t added_ = 0;
};

} // namespace

std::size_t teewire::c::add_rows(snapshot_view state, std::int32_t tick, bool keyframe,
                                 teewire_table& to) noexcept {
    row_writer rows{to, tick, keyframe};
    if (to.uuid != nullptr) {
        aliases const meant{state, uuid_of(to.uuid)};
        for (item const i : state)
            if (meant[i.type()]) rows.add(i);
    } else if (to.type == TEEWIRE_SNAPSHOT_ROWS) {
        rows.add({});
    } else {
        for (item const i : state)
            if (i.type() == to.type) rows.add(i);
    }
    rows.write();
    if (rows.added() > to.capacity - to.rows) return rows.added();
    to.rows += rows.added();
    if (rows.added() > 0) to.tick = tick;
    return rows.added();
}

std::int32_t teewire_snapshot_rows(teewire_snapshot const* snapshot, std::int32_t tick, std::int32_t keyframe,
                                   teewire_table* table, teewire_failure* failure) {
    teewire_table given;
    if (!read_table(table, given)) return bad_argument(failure);
    std::uint64_t const before = given.rows;
    std::size_t const added = add_rows(view_of(snapshot), tick, keyframe != 0, given);
    if (given.rows - before != added)
        return c::fail({errc::output_full, static_cast<std::size_t>(before + added)}, failure);
    write_struct(given, table);
    return count(added);
}

// ---- what items mean -----------------------------------------------------------------------------------------------

namespace {

static_assert(TEEWIRE_FIELD_INTEGER == static_cast<int>(field_kind::integer) &&
              TEEWIRE_FIELD_TICK == static_cast<int>(field_kind::tick) &&
              TEEWIRE_FIELD_BOOLEAN == static_cast<int>(field_kind::boolean) &&
              TEEWIRE_FIELD_ENUMERATION == static_cast<int>(field_kind::enumeration) &&
              TEEWIRE_FIELD_FLAGS == static_cast<int>(field_kind::flags) &&
              TEEWIRE_FIELD_TEXT == static_cast<int>(field_kind::text));

object const* object_at(std::int32_t chosen, std::uint32_t number) noexcept {
    protocol version{};
    if (!read_protocol(chosen, version)) return nullptr;
    auto const plain = plain_objects(version);
    if (number < plain.size()) return &plain[number];
    auto const extended = extended_objects();
    number -= static_cast<std::uint32_t>(plain.size());
    return number < extended.size() ? &extended[number] : nullptr;
}

field const* field_at(std::int32_t chosen, std::uint32_t number, std::uint32_t wanted) noexcept {
    object const* const found = object_at(chosen, number);
    return found != nullptr && wanted < found->fields.size() ? &found->fields[wanted] : nullptr;
}

std::size_t words_of(field const& f) noexcept { return f.values != nullptr ? f.values->names.size() : 0; }

} // namespace

// Names are literals, which have a terminator.
std::int32_t teewire_item_type_at(std::int32_t protocol, std::uint32_t number, teewire_item_type* out) {
    object const* const found = object_at(protocol, number);
    if (found == nullptr) return TEEWIRE_NOT_FOUND;
    teewire_item_type given = {};
    given.type = found->type;
    given.name = found->name.data();
    std::copy(found->extended.bytes.begin(), found->extended.bytes.end(), given.uuid);
    given.ints = found->ints;
    given.min_ints = found->min_ints;
    write_struct(given, out);
    return count(found->fields.size());
}

std::int32_t teewire_field_at(std::int32_t protocol, std::uint32_t number, std::uint32_t field,
                              teewire_field* out) {
    teewire::field const* const found = field_at(protocol, number, field);
    if (found == nullptr) return TEEWIRE_NOT_FOUND;
    teewire_field given = {};
    given.kind = static_cast<std::int32_t>(found->kind);
    given.name = found->name.data();
    given.offset = found->offset;
    given.ints = found->ints;
    given.count = found->count;
    given.first_word = found->values != nullptr ? found->values->first : 0;
    write_struct(given, out);
    return count(words_of(*found));
}

char const* teewire_field_word(std::int32_t protocol, std::uint32_t number, std::uint32_t field,
                               std::uint32_t word) {
    teewire::field const* const found = field_at(protocol, number, field);
    return found != nullptr && word < words_of(*found) ? found->values->names[word].data() : nullptr;
}

std::int32_t teewire_text_decode(std::int32_t const* ints, std::uint32_t count, std::uint8_t* out) {
    std::span const text{reinterpret_cast<char*>(out), std::size_t{4} * count};
    return c::count(decode_text({ints, count}, text).size());
}

// ---- what messages mean --------------------------------------------------------------------------------------------

std::int32_t teewire_message_read(std::uint8_t const* message, std::uint32_t size, std::int32_t protocol,
                                  teewire_message* out, teewire_failure* failure) {
    teewire::protocol version{};
    if (!read_protocol(protocol, version)) return bad_argument(failure);
    auto const head = parse_message({message, size});
    if (!head) return c::fail(head.error(), failure);
    teewire_message given = {};
    given.id = head->id;
    given.system = head->system;
    std::copy(head->extended.bytes.begin(), head->extended.bytes.end(), given.uuid);
    message_type const type = identify(*head, version);
    given.name = type != message_type::unknown ? describe(type).name.data() : nullptr;
    given.fields = head->fields.data();
    given.fields_size = static_cast<std::uint32_t>(head->fields.size());
    auto const fields = decode_game_message(*head, version);
    bool const common = fields && fields->kind != message_kind::other;
    auto const give = [](std::string_view text, char const*& data, std::uint32_t& bytes) {
        data = text.data();
        bytes = static_cast<std::uint32_t>(text.size());
    };
    game_message const said = common ? *fields : game_message{};
    given.client_id = said.client_id;
    given.victim = said.victim;
    given.weapon = said.weapon;
    given.team = said.team;
    given.target = said.target;
    give(said.text, given.text, given.text_size);
    give(said.name, given.sender, given.sender_size);
    give(said.clan, given.clan, given.clan_size);
    write_struct(given, out);
    return common;
}
