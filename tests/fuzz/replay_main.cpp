// Runs inputs through fuzz targets without a fuzzer: seeds, stored findings, and whatever a fuzzer has left.
//   fuzz-replay TARGET [FILE or FOLDER]...       without any: standard input
#include "cpu_level.hpp"
#include "fuzz.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

namespace {

namespace fs = std::filesystem;
using bytes = std::vector<std::uint8_t>;

bytes read(std::istream& from) { return {std::istreambuf_iterator<char>{from}, {}}; }

void run_file(fuzz::target const& target, fs::path const& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(2);
    }
    bytes const content = read(file);
    // Exactly sized, as a fuzzer gives it; and the name available if it ends the program.
    std::cerr << path.string() << '\n';
    fuzz::exact<std::uint8_t> const input{std::span<std::uint8_t const>{content}};
    target.run(input.view());
}

std::size_t run_all(fuzz::target const& target, fs::path const& path) {
    if (!fs::is_directory(path)) {
        run_file(target, path);
        return 1;
    }
    std::vector<fs::path> inside;
    for (auto const& entry : fs::directory_iterator{path}) inside.push_back(entry.path());
    std::sort(inside.begin(), inside.end());
    std::size_t count = 0;
    for (auto const& p : inside) count += run_all(target, p);
    return count;
}

} // namespace

int main(int argc, char** argv) {
    test::cap_cpu_level_from_environment();
    fuzz::target const* target = fuzz::target::first;
    while (target != nullptr && (argc < 2 || target->name != argv[1])) target = target->next;
    if (target == nullptr) {
        std::cerr << "usage: fuzz-replay TARGET [FILE or FOLDER]...\ntargets:";
        for (auto const* t = fuzz::target::first; t != nullptr; t = t->next) std::cerr << ' ' << t->name;
        std::cerr << '\n';
        return 2;
    }
    if (argc == 2) {
        bytes const content = read(std::cin);
        fuzz::exact<std::uint8_t> const input{std::span<std::uint8_t const>{content}};
        target->run(input.view());
        return 0;
    }
    std::size_t count = 0;
    for (int i = 2; i < argc; ++i) count += run_all(*target, argv[i]);
    std::cout << target->name << ' ' << count << '\n';
    return count > 0 ? 0 : 1;
}
