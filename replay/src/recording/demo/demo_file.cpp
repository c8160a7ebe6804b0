#include "recording/demo/demo_file.hpp"

#include "base/errors.hpp"
#include "base/os/files.hpp"

#include <fmt/format.h>

#include <utility>

namespace teewire::replay {

demo_target::demo_target(output_choice to, std::span<std::string const> inputs)
    : to_{std::move(to)}, first_{std::make_unique<output_file>(to_, content::binary, inputs)},
      is_stream_{first_->is_stream()} {}

std::unique_ptr<output_file> demo_target::next() {
    ++number_;
    if (first_ != nullptr) return std::move(first_);
    if (is_stream_) throw usage_error{to_.name, "can hold only one demo"};
    output_choice own = to_;
    for (; number_ > 1; ++number_) {
        own.name = numbered(to_.name, number_);
        if (to_.force || !os::name_taken(own.name)) break;
    }
    return std::make_unique<output_file>(own, content::binary);
}

demo_file::demo_file(std::unique_ptr<output_file> file, protocol p, served_map const& map,
                     std::span<std::uint8_t const> map_bytes, std::int64_t recorded)
    : demo_file{std::move(file), recording_info{p, map, map_bytes, recorded}} {}

demo_file::demo_file(std::unique_ptr<output_file> file, recording_info const& what)
    : demo_recorder{*file, what}, file_{std::move(file)}, path_{file_->name()} {}

bool demo_file::finish() {
    if (snapshots() == 0) return false;
    demo_recorder::finish();
    path_ = file_->finish();
    return true;
}

} // namespace teewire::replay
