#include "snapshot_functions.hpp"

namespace teewire {

std::uint32_t snapshot_view::checksum() const noexcept { return kernels::snapshot.checksum(*this); }

std::uint32_t plain::checksum(snapshot_view const& snapshot) noexcept {
    std::uint32_t sum = 0;
    for (item const i : snapshot)
        for (std::int32_t const value : i.data) sum += static_cast<std::uint32_t>(value);
    return sum;
}

} // namespace teewire
