#include "snapshot_functions.hpp"

namespace teewire {

bool plain::apply_updates(kernels::in_place_state& c, delta_reader& reader, delta_reader::update& update) noexcept {
    while (reader.next(update)) {
        detail::live_slot* const slot = c.find(update.key);
        if (slot == nullptr || slot->now != detail::live_slot::live || slot->size != update.data.size() ||
            slot->delta == c.delta_number)
            return true;
        slot->delta = c.delta_number;
        slot->position = static_cast<std::uint32_t>(update.data.data() - c.delta);
        std::int32_t* data = c.pool + slot->begin + 1;
        for (std::int32_t const difference : update.data) {
            *data = static_cast<std::int32_t>(static_cast<std::uint32_t>(*data) +
                                              static_cast<std::uint32_t>(difference));
            ++data;
            c.sum += static_cast<std::uint32_t>(difference);
        }
    }
    return false;
}

} // namespace teewire
