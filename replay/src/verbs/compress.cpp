#include "base/archive_file.hpp"
#include "base/compression.hpp"
#include "base/errors.hpp"
#include "base/file_kind.hpp"
#include "base/input.hpp"
#include "base/interrupts.hpp"
#include "base/os/files.hpp"
#include "base/output.hpp"
#include "base/stored_file.hpp"
#include "verbs/verbs.hpp"

#include <teewire/archive.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace teewire::replay {
namespace {

// The end of a name and of a compressed form.
struct packed_form {
    std::string_view method;
    std::string_view ending;
    compression kind; ///< none: an archive
};
constexpr std::array<packed_form, 3> forms = {
    {{"tda", ".tda", compression::none}, {"zstd", ".zst", compression::zstd}, {"gzip", ".gz", compression::gzip}}};

packed_form const* form_of_name(std::string const& name) {
    auto const found =
        std::find_if(forms.begin(), forms.end(), [&](packed_form const& f) { return name.ends_with(f.ending); });
    return found != forms.end() ? &*found : nullptr;
}

// The name of the original.
std::string without_ending(std::string const& name) {
    packed_form const* const form = form_of_name(name);
    return form == nullptr ? name : name.substr(0, name.size() - form->ending.size());
}

struct packing_options {
    std::vector<std::string> files;
    output_choice to{"", false};
    std::string method;
    std::optional<unsigned> level;
    unsigned jobs = 0;
    bool share_maps = false;
    bool remove = false;
};

void check_output(packing_options const& options) {
    if (options.to.name.empty()) {
        if (std::find(options.files.begin(), options.files.end(), "-") != options.files.end())
            throw usage_error{"standard input has no name to make the output's name of; use -o"};
    } else if (options.files.size() > 1) {
        throw usage_error{"-o is for one file"};
    }
}

// Each file by itself: one that is damaged does not stop the others.
template <class Work>
int for_each_file(packing_options const& options, Work work) {
    int worst = exit_ok;
    for (std::string const& file : options.files) {
        if (options.files.size() == 1) return work(file);
        try {
            worst = std::max(worst, work(file));
        } catch (output_error const&) {
            throw;
        } catch (...) {
            exit_reason const failed = current_exit_reason();
            complain(failed.text);
            worst = std::max(worst, failed.code);
        }
        if (interrupted()) return exit_interrupted;
    }
    return worst;
}

// ---- compress ------------------------------------------------------------------------------------------------------

packed_form const& chosen_form(packing_options const& options) {
    for (packed_form const& form : forms)
        if (options.method == form.method) return form;
    if (options.to.name.empty()) return forms[0];
    if (packed_form const* const named = form_of_name(options.to.name)) return *named;
    throw usage_error{fmt::format("{}: name ends in neither .tda, .zst nor .gz; use --method", options.to.name)};
}

bool is_done(std::string const& name, std::span<std::uint8_t const> file) {
    auto const made = stored_file::open(name);
    if (made == nullptr || !is_archive(first_bytes(name))) return false;
    return is_archive_of(name, made->read_all(), file);
}

int compress_file(std::string const& file, packing_options const& options, packed_form const& form) {
    output_choice to = options.to;
    bool const beside = to.name.empty();
    if (beside && is_archive(first_bytes(file))) { // a folder has both
        remark(fmt::format("{}: is an archive already", file));
        return exit_ok;
    }
    if (beside) to.name = without_ending(file) + std::string{form.ending};
    input const source{file};
    if (options.remove && source.was_packed())
        throw usage_error{source.name(), "--remove would delete a file that the archive does not restore"};
    if (file_kind const found = identify(source.bytes());
        found == file_kind::unknown || found == file_kind::database)
        refuse_kind(source.name(), source.bytes(), "a demo, a packet capture or a map");
    if (options.share_maps) keep_shared_map(to.name, source.bytes());
    if (beside && form.kind == compression::none && is_done(to.name, source.bytes())) {
        remark(fmt::format("{}: is there already", to.name));
    } else {
        output_file out{to, content::binary, {&file, 1}};
        progress shown{source.bytes().size()};
        auto const give = [&](std::span<std::uint8_t const> piece, std::size_t taken) {
            out.write(piece);
            shown.update(taken, source.name());
            return !interrupted();
        };
        if (form.kind == compression::none) {
            pack_archive(source.bytes(), options.share_maps ? map_home::shared : map_home::archive, options.jobs,
                         give);
        } else {
            int const most = max_compression_level(form.kind);
            int const level = options.level ? static_cast<int>(*options.level) : std::min(12, most);
            compress(source.bytes(), form.kind, level, give);
        }
        shown.clear();
        if (interrupted()) return exit_interrupted;
        out.finish_as_named();
        remark(fmt::format("{}: {} of {}, {:.0f} %", out.name(), size_text(out.size()),
                           size_text(source.bytes().size()),
                           100.0 * static_cast<double>(out.size()) / static_cast<double>(source.bytes().size())));
    }
    if (source.damage().empty()) {
        if (options.remove) os::remove_file(file);
        return exit_ok;
    }
    complain(fmt::format("{}: {}; everything before it is kept", source.name(), source.damage()));
    return exit_bad_input;
}

int compress(packing_options const& options) {
    check_output(options);
    packed_form const& form = chosen_form(options);
    if (options.level) {
        if (form.kind == compression::none) throw usage_error{"--level: archives have no levels"};
        int const most = max_compression_level(form.kind);
        if (static_cast<int>(*options.level) > most)
            throw usage_error{fmt::format("--level: {} has levels 1 to {}", name(form.kind), most)};
    }
    if (options.share_maps && (form.kind != compression::none || options.to.name == "-"))
        throw usage_error{"--share-maps is for archives in a folder"};
    if (options.remove && (form.kind != compression::none || !options.to.name.empty()))
        throw usage_error{"--remove is for archives next to their originals"};
    return for_each_file(options, [&](std::string const& file) { return compress_file(file, options, form); });
}

// ---- decompress ----------------------------------------------------------------------------------------------------

int decompress_file(std::string const& file, packing_options const& options) {
    output_choice to = options.to;
    if (to.name.empty()) {
        to.name = without_ending(file);
        if (to.name == file) throw usage_error{file, "name ends in neither .tda, .zst nor .gz; use -o"};
    }
    output_file out{to, content::binary, {&file, 1}};
    input const source{file};
    if (!source.was_packed()) throw usage_error{source.name(), "byte 0: not compressed"};
    write_whole(out, source.bytes());
    if (interrupted()) return exit_interrupted;
    if (!source.damage().empty()) {
        complain(fmt::format("{}: {}; everything before it is kept", source.name(), source.damage()));
        return exit_bad_input;
    }
    if (options.remove) os::remove_file(file);
    return exit_ok;
}

int decompress(packing_options const& options) {
    check_output(options);
    if (options.remove && !options.to.name.empty()) throw usage_error{"--remove is not for a file with -o"};
    return for_each_file(options, [&](std::string const& file) { return decompress_file(file, options); });
}

} // namespace

verb const compress_verb{
    "compress", "Compress recordings or maps, in a form that teewire reads",
    [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<packing_options>();
        options.files(chosen->files, folder_content::demos,
                      "demos, folders of demos, pcap or pcapng files, or maps; -: standard input");
        options.output(chosen->to, option_set::presence::optional,
                       "file to write, named .tda, .zst or .gz; -: standard output [default: FILE.tda]");
        options.choice("--method", chosen->method, {"tda", "zstd", "gzip"},
                       "method, whatever the name is; tda: archive, the smallest form of a demo");
        options.number("--level", chosen->level, 1, 19, "compression level: 1 to 9 for gzip, 1 to 19 for zstd");
        options.jobs(chosen->jobs);
        options.flag("--share-maps", chosen->share_maps,
                     "keep each map once, in the folder maps next to the archives, which need it from then on");
        options.flag("--remove", chosen->remove, "delete each original once its archive is complete");
        options.remark(
            "An archive is decoded and compared with the original before it gets its name. Without -o, files "
            "whose archives are complete are skipped, so an interrupted command can be repeated.");
        options.examples({"compress game.demo -o game.demo.tda", "compress recordings/ --share-maps --remove",
                          "compress game.demo -o game.demo.zst", "compress game.demo -o - --method gzip | wc -c"});
        return [chosen] { return compress(*chosen); };
    }};

verb const decompress_verb{
    "decompress", "Restore files that were compressed", [](option_set& options) -> std::function<int()> {
        auto const chosen = std::make_shared<packing_options>();
        options.operands(chosen->files, "PACKED", "archives (.tda), zstd files (.zst) or gzip files (.gz)");
        options.output(chosen->to, option_set::presence::optional,
                       "file to write; -: standard output [default: PACKED without its ending]");
        options.flag("--remove", chosen->remove, "delete each compressed file once its original is complete");
        options.examples({"decompress game.demo.tda", "decompress game.demo.zst -o - | wc -c"});
        return [chosen] { return decompress(*chosen); };
    }};

} // namespace teewire::replay
