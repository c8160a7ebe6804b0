#include "base/json.hpp"
#include "base/output.hpp"
#include "game/item_text.hpp"
#include "game/message_fields.hpp"
#include "verbs/verbs.hpp"

#include <memory>

namespace teewire::replay {
namespace {

struct types_options {
    output_choice to;
    std::string format = "text";
    std::string protocol; ///< empty: all
};

constexpr protocol protocols[] = {protocol::teeworlds_06, protocol::ddnet, protocol::teeworlds_07};

std::string_view kind_name(field_kind kind) {
    switch (kind) {
    case field_kind::integer: return "int";
    case field_kind::tick: return "tick";
    case field_kind::boolean: return "bool";
    case field_kind::enumeration: return "enumeration";
    case field_kind::flags: return "flags";
    case field_kind::text: return "text";
    }
    return "";
}

bool is_zero(uuid const& id) { return id == uuid{}; }

// ---- text ----------------------------------------------------------------------------------------------------------

std::string number_text(std::int64_t number, uuid const& id) {
    return is_zero(id) ? fmt::format("{}", number) : uuid_text(id);
}

std::string field_text(field const& f) {
    std::string text = fmt::format("    {:24} {}", f.name, kind_name(f.kind));
    if (f.ints > 1) text += fmt::format(" of {} ints", f.ints);
    if (f.count > 1) text += fmt::format(", {} of them", f.count);
    if (f.values == nullptr) return text;
    text += ":";
    for (std::size_t i = 0; i < f.values->names.size(); ++i)
        if (!f.values->names[i].empty())
            text += fmt::format("{} {} {}", i == 0 ? "" : ",", f.values->first + static_cast<std::int32_t>(i),
                                f.values->names[i]);
    return text;
}

void print_text(output& out, protocol p, object const& item) {
    out.print("{} item {} {}: {} ints\n", name(p), item.name, number_text(item.type, item.extended), item.ints);
    for (field const& f : item.fields) out.print("{}\n", field_text(f));
}

void print_text(output& out, protocol p, message_description const& d, std::int32_t id,
                message_layout const& layout) {
    out.print("{} message {} {}: {}{}, from {}\n", name(p), d.name, number_text(id, d.extended),
              d.system ? "system" : "game", d.vital ? "" : ", not vital", name(layout.sender));
    for (message_field const& f : layout.fields) {
        out.print("    {:24} {}", f.name, name(f.kind));
        if (f.count > 1) out.print(", {} of them", f.count);
        if (f.optional) out.print(", may be left out");
        out.print("\n");
    }
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

void write_head(object_writer& line, protocol p, std::string_view kind, std::string_view type_name,
                std::string_view number_name, std::int64_t number, uuid const& id) {
    line.text("protocol", name(p));
    line.text("kind", kind);
    line.text("name", type_name);
    line.number_or_null(number_name, is_zero(id) ? std::optional{number} : std::nullopt);
    line.text_or_null("uuid", is_zero(id) ? "" : uuid_text(id));
}

void print_json(output& out, protocol p, object const& item) {
    json_line{}.print(out, [&](object_writer& line) {
        write_head(line, p, "item", item.name, "type", item.type, item.extended);
        line.number("ints", item.ints);
        line.number("min_ints", item.min_ints);
        line.objects("fields", item.fields, [](object_writer& of_field, field const& f) {
            of_field.text("name", f.name);
            of_field.text("type", kind_name(f.kind));
            of_field.number("offset", f.offset);
            of_field.number("ints", f.ints);
            of_field.number("count", f.count);
            if (f.values == nullptr) return;
            object_writer values = of_field.object("values");
            for (std::size_t i = 0; i < f.values->names.size(); ++i)
                if (std::string_view const name = f.values->names[i]; !name.empty())
                    values.text(fmt::format("{}", f.values->first + static_cast<std::int32_t>(i)), name);
        });
    });
}

void print_json(output& out, protocol p, message_description const& d, std::int32_t id,
                message_layout const& layout) {
    json_line{}.print(out, [&](object_writer& line) {
        write_head(line, p, "message", d.name, "id", id, d.extended);
        line.flag("system", d.system);
        line.flag("vital", d.vital);
        line.text("from", name(layout.sender));
        line.objects("fields", layout.fields, [](object_writer& of_field, message_field const& f) {
            of_field.text("name", f.name);
            of_field.text("type", replay::name(f.kind));
            of_field.number("count", f.count);
            of_field.flag("optional", f.optional);
        });
    });
}

// ---- protocols -----------------------------------------------------------------------------------------------------

void print_items(output& out, protocol p, std::span<object const> items, bool json) {
    for (object const& item : items)
        if (json) print_json(out, p, item);
        else print_text(out, p, item);
}

void print(output& out, protocol p, bool json) {
    print_items(out, p, plain_objects(p), json);
    if (p != protocol::teeworlds_06) print_items(out, p, extended_objects(), json);
    for (std::size_t i = 1; i < message_type_count; ++i) {
        auto const type = static_cast<message_type>(i);
        auto const layout = find_layout(type, p);
        if (!layout) continue;
        message_description const& d = describe(type);
        std::int32_t const id = p == protocol::teeworlds_07 ? d.id_07 : d.id_06;
        if (json) print_json(out, p, d, id, *layout);
        else print_text(out, p, d, id, *layout);
    }
}

int types(types_options const& options) {
    output out{options.to};
    for (protocol const p : protocols)
        if (options.protocol.empty() || options.protocol == name(p)) print(out, p, options.format == "ndjson");
    return out.finish(exit_ok);
}

} // namespace

verb const types_verb{
    "types", "List all types of items and messages with their fields",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<types_options>();
        options.choice("--protocol", chosen->protocol, {"0.6", "ddnet", "0.7"}, "list only types of this protocol");
        options.output(chosen->to);
        options.format(chosen->format, {"text", "ndjson"}, "text, or ndjson: one object per type");
        options.examples(
            {"types --protocol ddnet", "types --format ndjson | jq 'select(.kind == \"item\") | .name'"});
        return [chosen] { return types(*chosen); };
    }};

} // namespace teewire::replay
