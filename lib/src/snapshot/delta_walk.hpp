// Faster steps of a delta_reader, for those who apply deltas.
#pragma once

#include "teewire/delta.hpp"

#include <cassert>

namespace teewire {

struct delta_walk {
    // delta_reader::next() for an update without quirks; false where next() must be asked.
    static bool next_ordinary(delta_reader& r, delta_reader::update& out) noexcept { return r.next_ordinary(out); }
    // The key of what next() will give, or -1 where it must be asked.
    [[nodiscard]] static std::int32_t next_key(delta_reader const& r) noexcept { return r.next_key(); }
    // next_ordinary() for an update whose key is next_key(), if it has `size` ints. The processor can go on with this
    // guess; otherwise it knows where the next update begins only when it has read two sizes.
    static bool next_of_size(delta_reader& r, std::int32_t key, std::size_t size,
                             delta_reader::update& out) noexcept {
        assert(key >= 0 && key == r.next_key());
        std::size_t const agreed = (*r.sizes_)[key_type(key)];
        if (agreed != 0) return agreed == size && r.take(key, 2, size, out);
        return static_cast<std::uint32_t>(r.delta_[r.at_ + 2]) == size && r.take(key, 3, size, out);
    }
    // From here on, quirks are tolerated in silence: for a second walk.
    static void forget_notes(delta_reader& r) noexcept { r.notes_ = nullptr; }
};

} // namespace teewire
