#include "printers.hpp"

#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/schema.hpp>
#include <teewire/varint.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace examples {

using namespace teewire;

std::string hex(std::span<std::uint8_t const> data) {
    std::string all;
    char digits[4];
    for (auto const byte : data) {
        std::snprintf(digits, sizeof digits, all.empty() ? "%02x" : " %02x", byte);
        all += digits;
    }
    return all;
}

std::string joined(std::span<std::int32_t const> ints) {
    std::string all;
    for (auto const value : ints) all += (all.empty() ? "" : " ") + std::to_string(value);
    return all;
}

std::string quoted(std::string_view text) { return say('"', text, '"'); }

namespace {

std::string refused(failure const& error) { return say("refused at ", error.position, ": ", describe(error.code)); }

std::string notes_text(note_log const& notes) {
    std::string all;
    for (std::size_t i = 0; i < notes.entries.size(); ++i)
        if (notes.entries[i].count != 0) all += say(" (", describe(static_cast<note>(i)), ")");
    return all;
}

std::vector<std::int32_t> ints_of(bytes const& data) {
    std::vector<std::int32_t> ints(data.size());
    auto const count = decode_varints(data, ints);
    if (!count) throw std::runtime_error{refused(count.error())};
    ints.resize(*count);
    return ints;
}

size_table const& sizes_named(std::string const& name) {
    auto const* const sizes = find_size_table(name);
    if (sizes == nullptr) throw std::runtime_error{"no size table " + name};
    return *sizes;
}

lines print_varint(bytes const& data) {
    std::vector<std::int32_t> ints(data.size());
    note_log notes;
    auto const count = decode_varints(data, ints, decoding::lenient, &notes);
    if (!count) return {refused(count.error())};
    return {joined(std::span{ints}.first(*count)) + notes_text(notes)};
}

// The text and which encoders make the same bytes of it.
lines print_huffman(bytes const& data) {
    bytes plain(8 * data.size() + 8);
    note_log notes;
    auto const size = huffman_decode(data, plain, &notes);
    if (!size) return {refused(size.error())};
    plain.resize(*size);
    std::string text = plain.empty() ? "nothing" : hex(plain);
    bytes again(huffman_bound(plain.size()));
    for (auto const ending : {huffman_end::exact, huffman_end::padded}) {
        auto const made = huffman_encode(plain, again, ending);
        if (made &&
            std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(*made), data.begin(), data.end()))
            text += ending == huffman_end::exact ? ", exact" : ", padded";
    }
    return {text + notes_text(notes)};
}

std::string item_text(std::int32_t key, std::span<std::int32_t const> data) {
    return say("type ", key_type(key), ", id ", key_id(key), ": ", data.empty() ? "no data" : joined(data));
}

lines print_snapshot(snapshot_view const& view) {
    lines out;
    for (item const& i : view) out.push_back(item_text(i.key, i.data));
    out.push_back(say("checksum ", static_cast<std::int32_t>(view.checksum())));
    return out;
}

// A full snapshot, as demos hold it.
lines print_full(bytes const& data, std::string const& name, snapshots& known) {
    auto const ints = ints_of(data);
    note_log notes;
    auto const view = snapshot_view::parse(ints, decoding::strict, {}, &notes);
    if (!view) return {refused(view.error())};
    known[name] = ints;
    auto out = print_snapshot(*view);
    out.back() += notes_text(notes);
    return out;
}

// The content of a delta, and its result on the base.
lines print_delta(bytes const& data, snapshot_view base, std::string const& name, size_table const& sizes,
                  snapshots& known) {
    auto const delta = ints_of(data);
    auto const opened = delta_reader::open(delta, sizes);
    if (!opened) return {refused(opened.error())};
    delta_reader reader = *opened;
    lines out;
    for (auto const key : reader.removed_keys())
        out.push_back(say("without type ", key_type(key), ", id ", key_id(key)));
    for (delta_reader::update u; reader.next(u);)
        out.push_back((base.find(u.key) ? "changed " : "new ") + item_text(u.key, u.data));
    auto const memory = std::make_unique<delta_memory<>>();
    std::vector<std::int32_t> result(snapshot_limits{}.ints());
    note_log notes;
    auto const made = apply_delta(base, delta, sizes, *memory, result, {decoding::strict, {}, &notes});
    if (!made) {
        out.push_back(refused(made.error()));
        return out;
    }
    known[name].assign(made->ints().begin(), made->ints().end());
    out.push_back(say("makes", notes_text(notes)));
    for (auto const& line : print_snapshot(*made)) out.push_back("  " + line);
    return out;
}

std::string field_text(field const& f, std::span<std::int32_t const> data) {
    std::string text;
    for (std::size_t n = 0; n < f.count; ++n) {
        auto const ints = data.subspan(f.offset + n * f.ints, f.ints);
        std::string value = std::to_string(ints[0]);
        if (f.kind == field_kind::text) {
            std::vector<char> memory(4 * ints.size());
            value = quoted(decode_text(ints, memory));
        } else if (f.kind == field_kind::enumeration && !(*f.values)[ints[0]].empty()) {
            value = std::string{(*f.values)[ints[0]]};
        } else if (f.kind == field_kind::flags) {
            value.clear();
            for (std::size_t bit = 0; bit < f.values->names.size(); ++bit)
                if ((ints[0] >> bit & 1) != 0) value += say(value.empty() ? "" : "+", f.values->names[bit]);
            if (value.empty()) value = "none";
        }
        text += (text.empty() ? "" : " ") + value;
    }
    return text;
}

lines print_fields(bytes const& data, protocol p, std::string const& type) {
    auto const* const object = find_object(p, type);
    if (object == nullptr) throw std::runtime_error{"no object " + type};
    auto const ints = ints_of(data);
    lines out;
    for (field const& f : object->fields)
        if (f.offset + std::size_t{f.ints} * f.count <= ints.size())
            out.push_back(say(f.name, " ", field_text(f, ints)));
    return out;
}

std::string kind_text(field const& f) {
    std::string text;
    switch (f.kind) {
    case field_kind::integer: break;
    case field_kind::tick: text = " tick"; break;
    case field_kind::boolean: text = " bool"; break;
    case field_kind::enumeration: text = say(" enum ", f.values->name); break;
    case field_kind::flags: text = say(" flags ", f.values->name); break;
    case field_kind::text: text = say(" text ", int{f.ints}); break;
    }
    return f.count > 1 ? say(text, " x", int{f.count}) : text;
}

std::string uuid_text(uuid const& id) {
    std::string text;
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        char digits[4];
        std::snprintf(digits, sizeof digits, "%02x", id.bytes[i]);
        text += say(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", digits);
    }
    return text;
}

// All objects with their fields: "9 character, 22 agreed: tick tick, x, y".
lines print_objects(std::span<object const> objects, size_table const& sizes) {
    lines out;
    for (object const& o : objects) {
        std::string text = o.is_extended() ? uuid_text(o.extended) : std::to_string(o.type);
        text += say(" ", o.name, ", ", int{o.ints});
        if (!o.is_extended()) text += sizes[o.type] == o.ints ? " agreed" : " explicit";
        else if (o.min_ints != o.ints) text += say(" (", int{o.min_ints}, ")");
        for (bool first = true; field const& f : o.fields) {
            text += say(first ? ": " : ", ", f.name, kind_text(f));
            first = false;
        }
        out.push_back(text);
    }
    return out;
}

lines print_sets(protocol p) {
    std::map<std::string_view, value_set const*> sets;
    auto const collect = [&](std::span<object const> objects) {
        for (object const& o : objects)
            for (field const& f : o.fields)
                if (f.values != nullptr) sets[f.values->name] = f.values;
    };
    collect(plain_objects(p));
    if (p == protocol::ddnet) collect(extended_objects());
    lines out;
    for (auto const& [name, set] : sets) {
        std::string text = say(name, " from ", set->first, ":");
        for (auto const value : set->names) text += say(" ", value.empty() ? "-" : value);
        out.push_back(text);
    }
    return out;
}

protocol protocol_named(std::string const& name) {
    if (name == "0.6") return protocol::teeworlds_06;
    if (name == "0.7") return protocol::teeworlds_07;
    if (name == "ddnet") return protocol::ddnet;
    throw std::runtime_error{"no protocol " + name};
}

} // namespace

std::optional<lines> print_codec(std::vector<std::string> const& words, bytes const& data, snapshots& known) {
    auto const& kind = words.at(0);
    if (kind == "varint") return print_varint(data);
    if (kind == "huffman") return print_huffman(data);
    if (kind == "snapshot") return print_full(data, words.at(1), known);
    if (kind == "delta") { // PROTOCOL FROM TO
        snapshot_view base;
        if (words.at(2) != "empty") base = snapshot_view::trusted(known.at(words[2]));
        return print_delta(data, base, words.at(3), sizes_named(words.at(1)), known);
    }
    if (kind == "uuid") {
        auto const ints = ints_of(data);
        if (ints.size() != 4) return lines{"not four ints"};
        return lines{uuid_text(uuid::from_ints(std::span<std::int32_t const, 4>{ints}))};
    }
    if (kind == "fields") return print_fields(data, protocol_named(words.at(1)), words.at(2));
    if (kind == "objects" && words.at(1) == "extended") return print_objects(extended_objects(), sizes_06);
    if (kind == "objects") return print_objects(plain_objects(protocol_named(words.at(1))), sizes_named(words[1]));
    if (kind == "sets") return print_sets(protocol_named(words.at(1)));
    return std::nullopt;
}

} // namespace examples
