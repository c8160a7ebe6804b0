#include "map/source.hpp"

#include "base/file_kind.hpp"
#include "base/text.hpp"
#include "recording/demo/demo_document.hpp"

#include <teewire/demo_reader.hpp>

#include <fmt/format.h>

namespace teewire::replay {

map_source::map_source(std::string const& name) : file_{name}, name_{file_->name()}, bytes_{file_->bytes()} {
    file_kind kind = identify(bytes_);
    if (kind != file_kind::demo) file_->require_all();
    if (kind == file_kind::demo) {
        auto const demo = demo_reader::open(bytes_);
        if (!demo) {
            file_->require_all();
            // Chunks may be damaged, but the map comes before them.
            throw bad_input{
                fmt::format("{}: byte {}: {}", this->name(), demo.error().position, describe(demo.error().code))};
        }
        if (demo->map().empty())
            throw usage_error{fmt::format("{}: this demo includes no map (it was recorded on {})", this->name(),
                                          printable(text(demo->header().map_name)))};
        bytes_ = demo->map();
        name_in_demo_ = printable(text(demo->header().map_name));
        kind = identify(bytes_);
        if (kind != file_kind::datafile && kind != file_kind::xvector)
            throw bad_input{fmt::format("{}: byte 0 of the map in it: not a map", this->name())};
    }
    if (kind == file_kind::xvector) format_ = map_format::xvector;
    else if (kind != file_kind::datafile) refuse_kind(this->name(), bytes_, "a map or demo");
}

map_source::map_source(std::string name, std::vector<std::uint8_t> map)
    : given_{std::move(map)}, name_{std::move(name)}, bytes_{given_} {
    file_kind const kind = identify(bytes_);
    if (kind == file_kind::xvector) format_ = map_format::xvector;
    else if (kind != file_kind::datafile) throw bad_input{fmt::format("{}: not a map", name_)};
}

std::string place_text(map_problem const& p) {
    constexpr std::string_view types[] = {"version", "info",  "image",           "envelope",
                                          "group",   "layer", "envelope points", "sound"};
    std::string place;
    auto const add = [&](std::string_view what, std::int64_t number) {
        if (number >= 0) place += fmt::format("{}{} {}", place.empty() ? "" : ", ", what, number);
    };
    add("group", p.group);
    add("layer", p.layer);
    if (p.item_type < 0) add("tile", p.item); // xVector, which has no items
    else if (static_cast<std::size_t>(p.item_type) >= std::size(types))
        add(fmt::format("type {:#x} item", p.item_type), p.item);
    else if (p.group < 0 && p.layer < 0) add(types[p.item_type], p.item);
    add("block", p.block);
    return place;
}

std::string problem_text(map_problem const& p) {
    std::string const place = place_text(p);
    std::string text =
        fmt::format("byte {}: {}{}{}", p.position, place, place.empty() ? "" : ": ", describe(p.code));
    if (p.value != p.expected) {
        text += fmt::format(" (found {}", p.value);
        text += p.expected != 0 ? fmt::format(", expected {})", p.expected) : ")";
    }
    return text;
}

} // namespace teewire::replay
