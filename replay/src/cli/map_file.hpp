// The map that a user names with --map.
#pragma once

#include "base/input.hpp"
#include "game/served_map.hpp"

namespace teewire::replay {

class map_file {
public:
    /// Throws io_error if the file cannot be read, bad_input if it is damaged, usage_error if it is of another kind.
    explicit map_file(std::string const& path);

    [[nodiscard]] std::string const& name() const noexcept { return file_.name(); }
    [[nodiscard]] std::span<std::uint8_t const> bytes() const noexcept { return file_.bytes(); }
    /// Why it is another map than that of `demo`; empty if it is the same.
    [[nodiscard]] std::string other_than(served_map const& map, std::string const& demo) const;
    /// Throws usage_error if it is another map than that of `demo`.
    void expect_map_of(served_map const& map, std::string const& demo) const;

private:
    input file_;
};

} // namespace teewire::replay
