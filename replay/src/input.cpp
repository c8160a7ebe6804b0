#include "input.hpp"

#include <boost/interprocess/file_mapping.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <mutex>

namespace teewire::replay {
namespace {

std::vector<std::uint8_t> read_all(std::FILE* file, std::string const& name) {
    std::vector<std::uint8_t> bytes;
    std::array<std::uint8_t, 65536> block;
    while (std::size_t const n = std::fread(block.data(), 1, block.size(), file))
        bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
    if (std::ferror(file)) throw io_error{fmt::format("{}: cannot be read", name)};
    return bytes;
}

} // namespace

input::input(std::string name) : name_{std::move(name)} {
    namespace fs = std::filesystem;
    namespace ipc = boost::interprocess;
    if (name_ == "-") {
        name_ = "standard input";
        static std::mutex first_come; // who comes later finds the end
        std::lock_guard const lock{first_come};
        copy_ = read_all(stdin, name_);
        bytes_ = copy_;
        return;
    }
    std::error_code failed;
    fs::file_status const status = fs::status(name_, failed);
    if (!fs::exists(status)) throw io_error{fmt::format("{}: no such file", name_)};
    if (fs::is_directory(status)) throw io_error{fmt::format("{}: is a directory", name_)};
    if (!fs::is_regular_file(status)) { // a pipe
        std::FILE* const file = std::fopen(name_.c_str(), "rb");
        if (file == nullptr) throw io_error{fmt::format("{}: cannot be opened", name_)};
        copy_ = read_all(file, name_);
        std::fclose(file);
        bytes_ = copy_;
        return;
    }
    if (fs::file_size(name_, failed) == 0 || failed) return; // an empty file cannot be mapped
    try {
        region_ = ipc::mapped_region{ipc::file_mapping{name_.c_str(), ipc::read_only}, ipc::read_only};
    } catch (ipc::interprocess_exception const& e) {
        throw io_error{fmt::format("{}: {}", name_, e.what())};
    }
    bytes_ = {static_cast<std::uint8_t const*>(region_.get_address()), region_.get_size()};
}

} // namespace teewire::replay
