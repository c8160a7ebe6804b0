// Items as people and programs read them: names of types and fields, values as words.
#pragma once

#include "base/json.hpp"
#include "base/text.hpp"

#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace teewire::replay {

/// "76ce455b-f9eb-3a48-add7-e04b941d045c"
[[nodiscard]] std::string uuid_text(uuid const& id);

/// The meaning of a type number in a snapshot.
struct type_name {
    object const* known = nullptr; ///< null for types that are not in the tables
    std::string text;              ///< "character", "type_30", "uuid_..." or "extended_type" for describing items
};
[[nodiscard]] type_name name_type(snapshot_view snapshot, std::uint16_t type, protocol p);

/// Writes the fields as members of an object. Ints that no field describes become the array "data".
void write_fields(object_writer& to, item const& i, object const* known);

/// Column names of an object, and an item's values for them; empty where a short item has none.
[[nodiscard]] std::string csv_columns(object const& known);
void write_csv_values(text_buffer& out, item const& i, object const& known, csv_texts form);

/// The meaning of an alias whose UUID is known.
[[nodiscard]] type_name name_extended(uuid const& id);

/// A part of an item with a name of its own: a field, an element of one, or an int that no field describes.
struct item_part {
    std::size_t at = 0; ///< int
    std::size_t ints = 1;
    field const* described = nullptr; ///< null for ints that no field describes
};
/// All parts of an item of so many ints.
[[nodiscard]] std::vector<item_part> parts_of(std::size_t ints, object const* known);
/// "x", "skin_parts_2", "[12]"
[[nodiscard]] std::string part_name(item_part const& part);
/// The value, for people, and as JSON has it. `ints`: those of the part.
[[nodiscard]] std::string part_text(item_part const& part, std::span<std::int32_t const> ints);
void write_part(json_writer& json, item_part const& part, std::span<std::int32_t const> ints);

/// " x 123 (+4) y 56 (-1)": the fields in which `differences` is not zero, or all of them if there are none. Ints that
/// no field describes are called by their offset.
[[nodiscard]] std::string changes_text(item const& i, std::span<std::int32_t const> differences,
                                       object const* known);

/// The text of the field with that name, to be printed; empty if there is none.
[[nodiscard]] std::string text_field(item const& i, object const& known, std::string_view field_name);
/// The value of the integer field with that name, or `otherwise`.
[[nodiscard]] std::int32_t int_field(item const& i, object const& known, std::string_view field_name,
                                     std::int32_t otherwise = 0);

} // namespace teewire::replay
