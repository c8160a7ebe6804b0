// Snapshots made of named fields, and demos of them.
#pragma once

#include "temporary_file.hpp"

#include "base/input.hpp"
#include "events/timeline.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <teewire/demo_writer.hpp>
#include <teewire/snapshot_builder.hpp>

#include <map>
#include <memory>

namespace test {

using namespace teewire;

// A snapshot made of named fields.
class scene {
public:
    explicit scene(protocol p) : protocol_{p} {}

    struct value {
        std::string_view field;
        std::int32_t number;
    };
    void add(std::string_view type, std::uint16_t id, std::initializer_list<value> values,
             std::string_view name = {}, std::string_view clan = {}) {
        object const& known = *find_object(protocol_, type);
        std::uint16_t const number = known.is_extended() ? describe(known) : known.type;
        auto const data = *builder_.add(number, id, known.ints);
        for (field const& f : known.fields) {
            for (value const& v : values)
                if (v.field == f.name) data[f.offset] = v.number;
            if (f.name == "name") encode_text(name, data.subspan(f.offset, f.ints));
            if (f.name == "clan") encode_text(clan, data.subspan(f.offset, f.ints));
        }
    }
    snapshot_view finish() { return builder_.finish(); }

private:
    // The number that stands for an extended object.
    std::uint16_t describe(object const& known) {
        auto const [place, is_new] =
            aliases_.try_emplace(&known, static_cast<std::uint16_t>(last_alias - aliases_.size()));
        if (is_new) {
            auto const data = *builder_.add(type_ex, place->second, 4);
            auto const ints = known.extended.ints();
            std::copy(ints.begin(), ints.end(), data.begin());
        }
        return place->second;
    }

    protocol protocol_;
    std::map<object const*, std::uint16_t> aliases_;
    std::unique_ptr<snapshot_builder_memory<>> memory_ = std::make_unique<snapshot_builder_memory<>>();
    snapshot_builder builder_{*memory_};
};

// A demo in the making.
class script {
public:
    explicit script(std::string_view type = "server", protocol p = protocol::teeworlds_06) {
        demo_header header;
        set_text(header.type, type);
        if (p == protocol::teeworlds_07) set_text(header.net_version, net_version_07);
        demo_writer::options options;
        if (p == protocol::teeworlds_07) options.sizes = &sizes_07;
        writer_ = std::make_unique<demo_writer>(*memory_, options);
        size_ = *write_demo_header(header, file_);
    }

    void snapshot(std::int32_t tick, scene& s) { size_ += *writer_->write_snapshot(tick, s.finish(), rest()); }
    void message(std::vector<std::uint8_t> const& bytes) { size_ += *writer_->write_message(bytes, rest()); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<std::uint8_t const> bytes() const { return std::span{file_}.first(size_); }
    /// The result for its first bytes.
    [[nodiscard]] replay::timeline read(std::size_t size) const {
        temporary_file const file{bytes().first(size)};
        replay::input const source{file.path()};
        replay::demo_document demo{source};
        return replay::read_timeline(demo);
    }
    /// A line "TICK TEXT" for everything that happens.
    [[nodiscard]] std::string events() const {
        std::string lines;
        for (replay::timeline_event const& h : read(size_).events) lines += fmt::format("{} {}\n", h.tick, h.text);
        return lines;
    }

private:
    std::span<std::uint8_t> rest() { return std::span{file_}.subspan(size_); }

    std::unique_ptr<demo_writer_memory> memory_ = std::make_unique<demo_writer_memory>();
    std::unique_ptr<demo_writer> writer_;
    std::vector<std::uint8_t> file_ = std::vector<std::uint8_t>(500'000);
    std::size_t size_ = 0;
};

} // namespace test
