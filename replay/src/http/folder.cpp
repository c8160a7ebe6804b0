#include "http/folder.hpp"

#include "base/errors.hpp"
#include "base/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace teewire::replay {
namespace {

namespace fs = std::filesystem;

bool is_id(std::string const& name) {
    return name.size() == 16 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_map(std::string const& name) {
    return name.size() == 68 && name.ends_with(".map") && name.find_first_not_of("0123456789abcdef") == 64;
}

} // namespace

broadcast_folder::broadcast_folder(std::string path, std::function<void(std::string const&)> say)
    : path_{std::move(path)}, say_{std::move(say)} {
    std::error_code failed;
    fs::create_directories(fs::path{path_} / "map", failed);
    if (failed) throw output_error{fmt::format("{}: {}", path_, failed.message())};
}

void broadcast_folder::write(std::string const& path, shared_bytes const& bytes) {
    std::string const name = fmt::format("{}/{}", path_, path);
    try {
        std::error_code failed;
        fs::create_directories(fs::path{name}.parent_path(), failed);
        output_file file{{name, true}, content::binary};
        file.write(*bytes);
        static_cast<void>(file.finish());
        if (std::exchange(failing_, false)) say_(fmt::format("{}: can be written again", path_));
    } catch (output_error const& e) {
        fail(e.what());
    } catch (usage_error const& e) {
        fail(e.what());
    }
}

void broadcast_folder::fail(std::string const& why) {
    ++failures_;
    if (!std::exchange(failing_, true)) say_(why);
}

void broadcast_folder::add(std::string const& path, shared_bytes const& bytes) {
    std::error_code failed;
    // A map has the name of its contents.
    if (path.starts_with("map/") && fs::file_size(fs::path{path_} / path, failed) == bytes->size() && !failed)
        return fs::last_write_time(fs::path{path_} / path, fs::file_time_type::clock::now(), failed);
    write(path, bytes);
}

void broadcast_folder::remove(std::string const& path) {
    std::error_code failed;
    fs::remove(fs::path{path_} / path, failed);
}

void broadcast_folder::remove_folder(std::string const& path) { remove(path); }

void broadcast_folder::change(shared_bytes const& sync) { write("sync", sync); }

void broadcast_folder::sweep(broadcast const& now, milliseconds window) {
    auto const oldest = fs::file_time_type::clock::now() - std::chrono::milliseconds{window};
    auto const each = [&](fs::path const& folder, auto const& look) {
        std::error_code failed;
        std::vector<fs::path> names;
        for (fs::directory_iterator i{folder, failed}, end; !failed && i != end; i.increment(failed))
            names.push_back(i->path());
        for (fs::path const& name : names)
            if (auto const written = fs::last_write_time(name, failed); !failed && written < oldest) look(name);
    };
    each(path_, [&](fs::path const& name) {
        std::string const id = name.filename().string();
        std::error_code failed;
        if (!is_id(id) || now.find(id + "/start") != nullptr || !fs::is_regular_file(name / "start", failed))
            return;
        each(name, [&](fs::path const& file) { fs::remove(file, failed); });
        fs::remove(name, failed); // unless another program has written there
    });
    each(fs::path{path_} / "map", [&](fs::path const& name) {
        std::string const file = name.filename().string();
        std::error_code failed;
        if (is_map(file) && now.find("map/" + file) == nullptr) fs::remove(name, failed);
    });
}

} // namespace teewire::replay
