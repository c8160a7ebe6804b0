// Makes a demo as a program newer than all known ones would write it: its tees have ints after the known fields, and some
// have fewer ints than that, as in older programs.
//   make_long_items OUT.demo
#include <teewire/demo_writer.hpp>
#include <teewire/schema.hpp>
#include <teewire/snapshot.hpp>

#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

using namespace teewire;

namespace {

using ints = std::vector<std::int32_t>;

struct made_item {
    std::int32_t key;
    ints data;
};

ints snapshot_of(std::vector<made_item> const& items) {
    ints all{0, static_cast<std::int32_t>(items.size())};
    ints section;
    for (made_item const& i : items) {
        all.push_back(static_cast<std::int32_t>(4 * section.size()));
        section.push_back(i.key);
        section.insert(section.end(), i.data.begin(), i.data.end());
    }
    all[0] = static_cast<std::int32_t>(4 * section.size());
    all.insert(all.end(), section.begin(), section.end());
    return all;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: make_long_items OUT.demo\n", stderr);
        return 2;
    }
    constexpr std::uint16_t alias = last_alias;
    object const& known = *find_object(protocol::ddnet, "ddnet_character");
    auto const meaning = known.extended.ints();
    demo_header header;
    header.version = 6;
    set_text(header.net_version, "0.6 626fce9a778df4d4");
    set_text(header.map_name, "m");
    set_text(header.type, "server");
    header.has_sha256 = true;
    auto const memory = std::make_unique<demo_writer_memory>();
    demo_writer writer{*memory, {}};
    std::vector<std::uint8_t> chunks;
    std::vector<std::uint8_t> out(demo_writer::max_bytes);
    // Ids are by how many ints an item is longer, from two less; the last int changes in every other snapshot.
    for (std::int32_t tick = 100; tick < 110; ++tick) {
        std::vector<made_item> items{{make_key(type_ex, alias), {meaning.begin(), meaning.end()}}};
        for (std::uint16_t id = 0; id < 6; ++id) {
            ints data(known.ints + id - 2U);
            for (std::size_t n = 0; n < data.size(); ++n) data[n] = 1000 * id + static_cast<std::int32_t>(n);
            data.back() = -(tick / 2);
            items.push_back({make_key(alias, id), data});
        }
        ints const all = snapshot_of(items);
        auto const size = writer.write_snapshot(tick, snapshot_view::trusted(all), out);
        if (!size) return 1;
        chunks.insert(chunks.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*size));
    }
    writer.finish(header);
    std::vector<std::uint8_t> head(header.size());
    static_cast<void>(write_demo_header(header, head));
    std::ofstream file{argv[1], std::ios::binary};
    file.write(reinterpret_cast<char const*>(head.data()), static_cast<std::streamsize>(head.size()));
    file.write(reinterpret_cast<char const*>(chunks.data()), static_cast<std::streamsize>(chunks.size()));
    return file.flush() ? 0 : 1;
}
