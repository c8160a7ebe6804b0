#include "game/item_text.hpp"

#include <array>

namespace teewire::replay {
namespace {

std::string read_text(std::span<std::int32_t const> ints) {
    std::array<char, 4 * UINT8_MAX> bytes;
    return valid_utf8(decode_text(ints, bytes));
}

bool holds(item const& i, field const& f) { return f.offset + std::size_t{f.ints} * f.count <= i.data.size(); }

std::vector<std::string> flag_names(std::int32_t value, value_set const& set) {
    std::vector<std::string> names;
    for (std::int32_t bit = 0; bit < 32; ++bit) {
        if ((static_cast<std::uint32_t>(value) >> bit & 1) == 0) continue;
        std::string_view const known = set[bit];
        names.push_back(known.empty() ? fmt::format("bit_{}", bit) : std::string{known});
    }
    return names;
}

void write_value(json_writer& json, field const& f, std::span<std::int32_t const> ints) {
    std::int32_t const value = ints[0];
    switch (f.kind) {
    case field_kind::integer:
    case field_kind::tick: json.Int(value); break;
    case field_kind::boolean:
        if (value == 0 || value == 1) json.Bool(value == 1);
        else json.Int(value);
        break;
    case field_kind::enumeration:
        if (auto const known = (*f.values)[value]; !known.empty()) write_string(json, known);
        else json.Int(value);
        break;
    case field_kind::flags:
        json.StartArray();
        for (std::string const& flag : flag_names(value, *f.values)) write_string(json, flag);
        json.EndArray();
        break;
    case field_kind::text: write_string(json, read_text(ints)); break;
    }
}

// All but texts.
std::string value_text(field const& f, std::span<std::int32_t const> ints) {
    if (f.kind == field_kind::flags) return fmt::format("{}", fmt::join(flag_names(ints[0], *f.values), "|"));
    if (f.kind == field_kind::enumeration)
        if (auto const known = (*f.values)[ints[0]]; !known.empty()) return std::string{known};
    return fmt::format("{}", ints[0]);
}

field const* find_field(object const& known, std::string_view name) {
    for (field const& f : known.fields)
        if (f.name == name) return &f;
    return nullptr;
}

} // namespace

std::string uuid_text(uuid const& id) {
    std::string text = hex(id.bytes);
    for (std::size_t const at : {8, 13, 18, 23}) text.insert(at, 1, '-');
    return text;
}

type_name name_extended(uuid const& id) {
    object const* const known = find_object(id);
    return {known, known != nullptr ? std::string{known->name} : "uuid_" + uuid_text(id)};
}

type_name name_type(snapshot_view snapshot, std::uint16_t type, protocol p) {
    if (type == type_ex) return {nullptr, "extended_type"};
    if (type >= first_alias && type <= last_alias) {
        if (auto const id = find_extended_type(snapshot, type)) return name_extended(*id);
    } else if (object const* const known = find_object(p, type)) {
        return {known, std::string{known->name}};
    }
    return {nullptr, fmt::format("type_{}", type)};
}

void write_fields(object_writer& to, item const& i, object const* known) {
    std::size_t described = 0;
    if (known != nullptr) {
        for (field const& f : known->fields) {
            if (!holds(i, f)) continue;
            json_writer& json = to.member(f.name);
            if (f.count > 1) json.StartArray();
            for (std::size_t k = 0; k < f.count; ++k)
                write_value(json, f, i.data.subspan(f.offset + k * f.ints, f.ints));
            if (f.count > 1) json.EndArray();
            described = f.offset + std::size_t{f.ints} * f.count;
        }
    } else if (i.type() == type_ex && i.data.size() >= 4) {
        to.text("uuid", uuid_text(uuid::from_ints(i.data.first<4>())));
        described = 4;
    }
    if (described != i.data.size()) to.numbers("data", i.data.subspan(described));
}

std::string csv_columns(object const& known) {
    std::string columns;
    for (field const& f : known.fields)
        for (std::size_t k = 0; k < f.count; ++k) {
            columns += fmt::format(",{}.{}", known.name, f.name);
            if (f.count > 1) columns += fmt::format("_{}", k);
        }
    return columns;
}

void write_csv_values(text_buffer& out, item const& i, object const& known, csv_texts form) {
    for (field const& f : known.fields)
        for (std::size_t k = 0; k < f.count; ++k) {
            std::size_t const at = f.offset + k * f.ints;
            out.write(",");
            if (at + f.ints > i.data.size()) continue;
            auto const ints = i.data.subspan(at, f.ints);
            out.write(f.kind == field_kind::text ? csv_text(read_text(ints), form) : value_text(f, ints));
        }
}

std::vector<item_part> parts_of(std::size_t ints, object const* known) {
    std::vector<item_part> parts;
    std::size_t described = 0;
    if (known != nullptr)
        for (field const& f : known->fields) {
            if (f.offset + std::size_t{f.ints} * f.count > ints) continue;
            for (std::size_t k = 0; k < f.count; ++k) parts.push_back({f.offset + k * f.ints, f.ints, &f});
            described = f.offset + std::size_t{f.ints} * f.count;
        }
    for (std::size_t at = described; at < ints; ++at) parts.push_back({at, 1, nullptr});
    return parts;
}

std::string part_name(item_part const& part) {
    if (part.described == nullptr) return fmt::format("[{}]", part.at);
    field const& f = *part.described;
    return f.count > 1 ? fmt::format("{}_{}", f.name, (part.at - f.offset) / f.ints) : std::string{f.name};
}

std::string part_text(item_part const& part, std::span<std::int32_t const> ints) {
    if (part.described == nullptr) return fmt::format("{}", ints[0]);
    return part.described->kind == field_kind::text ? fmt::format("\"{}\"", printable(read_text(ints)))
                                                    : value_text(*part.described, ints);
}

void write_part(json_writer& json, item_part const& part, std::span<std::int32_t const> ints) {
    if (part.described == nullptr) json.Int(ints[0]);
    else write_value(json, *part.described, ints);
}

std::string changes_text(item const& i, std::span<std::int32_t const> differences, object const* known) {
    std::string text;
    auto const difference = [&](std::size_t at) { return at < differences.size() ? differences[at] : 0; };
    for (item_part const& part : parts_of(i.data.size(), known)) {
        bool changed = differences.empty();
        for (std::size_t k = 0; k < part.ints; ++k) changed = changed || difference(part.at + k) != 0;
        if (!changed) continue;
        text += fmt::format(" {} {}", part_name(part), part_text(part, i.data.subspan(part.at, part.ints)));
        if (part.ints == 1 && difference(part.at) != 0) text += fmt::format(" ({:+})", difference(part.at));
    }
    return text;
}

std::string text_field(item const& i, object const& known, std::string_view field_name) {
    field const* const f = find_field(known, field_name);
    return f != nullptr && holds(i, *f) ? printable(read_text(i.data.subspan(f->offset, f->ints))) : std::string{};
}

std::int32_t int_field(item const& i, object const& known, std::string_view field_name, std::int32_t otherwise) {
    field const* const f = find_field(known, field_name);
    return f != nullptr && holds(i, *f) ? i.data[f->offset] : otherwise;
}

} // namespace teewire::replay
