// Reads a map and writes it again, unchanged or in another version. Prints what is wrong with it.
//   rewrite_map IN OUT [3|4] [06|07]
#include <teewire/map/map.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

using namespace teewire;

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    std::ifstream in{argv[1], std::ios::binary};
    std::vector<std::uint8_t> const file{std::istreambuf_iterator<char>{in}, {}};
    auto const tell = [](map_problem const& p) {
        if (p.severity != map_severity::note) std::fprintf(stderr, "%s\n", name(p.code).data());
    };
    auto const opened = datafile::open(file);
    game_map map;
    map_problem problem = opened ? read_map(*opened, map, {.report = tell}) : opened.error();
    datafile_write_options options;
    for (int i = 3; i < argc; ++i) {
        std::string_view const wanted = argv[i];
        if (wanted == "3") options.version = 3;
        if (wanted == "06") convert_to_06(map);
        if (wanted == "07") convert_to_07(map);
    }
    std::vector<std::uint8_t> out;
    if (problem.code == map_errc::ok) problem = write_map(map, out, options);
    if (problem.code != map_errc::ok) {
        std::fprintf(stderr, "%s: %s\n", argv[1], describe(problem.code).data());
        return 1;
    }
    std::ofstream to{argv[2], std::ios::binary};
    to.write(reinterpret_cast<char const*>(out.data()), static_cast<std::streamsize>(out.size()));
    return to.flush() ? 0 : 3;
}
