#include "base/compression.hpp"
#include "base/errors.hpp"
#include "base/file_kind.hpp"
#include "base/input.hpp"
#include "base/interrupts.hpp"
#include "base/output.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace teewire::replay {
namespace {

struct compress_options {
    std::string file;
    output_choice to;
    std::string method;
    std::optional<unsigned> level;
};

compression kind_of(compress_options const& options) {
    std::string const& to = options.to.name;
    if (options.method == "zstd") return compression::zstd;
    if (options.method == "gzip" || to.ends_with(".gz")) return compression::gzip;
    if (to.ends_with(".zst")) return compression::zstd;
    throw usage_error{fmt::format("{}: name ends in neither .zst nor .gz; use --method", to)};
}

int compress(compress_options const& options) {
    compression const kind = kind_of(options);
    int const most = max_compression_level(kind);
    int const level = options.level ? static_cast<int>(*options.level) : std::min(12, most);
    if (level > most) throw usage_error{fmt::format("--level: {} has levels 1 to {}", name(kind), most)};
    output_file out{options.to, content::binary, {&options.file, 1}};
    input const source{options.file};
    if (file_kind const found = identify(source.bytes());
        found == file_kind::unknown || found == file_kind::database)
        refuse_kind(source.name(), source.bytes(), "a demo, a packet capture or a map");
    progress shown{source.bytes().size()};
    compress(source.bytes(), kind, level, [&](std::span<std::uint8_t const> piece, std::size_t taken) {
        out.write(piece);
        shown.update(taken, source.name());
        return !interrupted();
    });
    shown.clear();
    if (interrupted()) return exit_interrupted;
    out.finish_as_named();
    remark(fmt::format("{}: {} of {}, {:.0f} %", out.name(), size_text(out.size()),
                       size_text(source.bytes().size()),
                       100.0 * static_cast<double>(out.size()) / static_cast<double>(source.bytes().size())));
    if (source.damage().empty()) return exit_ok;
    complain(fmt::format("{}: {}; everything before it is kept", source.name(), source.damage()));
    return exit_bad_input;
}

} // namespace

verb const compress_verb{
    "compress", "Compress a recording or a map, in a form that teewire reads",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<compress_options>();
        options.file(chosen->file, "a demo, a pcap or pcapng file or a map, or - for standard input");
        options.output(chosen->to, option_set::presence::required,
                       "file to write, named .zst or .gz; -: standard output");
        options.choice("--method", chosen->method, {"zstd", "gzip"}, "method, whatever the name is");
        options.number("--level", chosen->level, 1, 19, "compression level: 1 to 9 for gzip, 1 to 19 for zstd");
        options.examples({"compress game.demo -o game.demo.zst", "compress game.demo -o - --method gzip | wc -c"});
        return [chosen] { return compress(*chosen); };
    }};

} // namespace teewire::replay
