#include "teewire/delta.hpp"
#include "teewire/varint.hpp"

#include <algorithm>

namespace teewire {

bool delta_reader::next_with_quirks(update& out) noexcept {
    if (error_.code != errc::ok) return false;
    if (read_ == updates_) {
        if (at_ != delta_.size() && delta_[1] >= 0 && notes_ != nullptr) {
            notes_->add(note::update_count, at_);
            notes_ = nullptr; // however often it is asked
        }
        return false;
    }
    std::size_t const start = at_;
    if (delta_.size() - at_ < 2) return fail(errc::truncated, delta_.size());
    std::int32_t type = delta_[at_];
    std::int32_t id = delta_[at_ + 1];
    if (type < 0 || type > last_alias || id < 0 || id > 0xffff) {
        bool const type_fits = type >= INT16_MIN && type <= UINT16_MAX;
        bool const id_fits = id >= INT16_MIN && id <= UINT16_MAX;
        if (mode_ == decoding::strict ? type < 0 || type > last_alias : !type_fits)
            return fail(errc::bad_type, at_);
        if (mode_ == decoding::strict || !id_fits) return fail(errc::bad_id, at_ + 1);
        if (notes_ != nullptr) notes_->add(note::unsigned_key_half, at_);
        type &= 0xffff;
        id &= 0xffff;
    }
    at_ += 2;
    std::size_t size = (*sizes_)[static_cast<std::uint32_t>(type)];
    if (size == 0) {
        if (at_ == delta_.size()) return fail(errc::truncated, delta_.size());
        if (delta_[at_] < 0 || delta_[at_] > INT32_MAX / 4) return fail(errc::bad_item_size, at_);
        size = static_cast<std::size_t>(delta_[at_++]);
    }
    if (size > delta_.size() - at_) return fail(errc::truncated, delta_.size());
    out.key = make_key(static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(id));
    out.data = delta_.subspan(at_, size);
    out.position = start;
    at_ += size;
    ++read_;
    return true;
}

result<delta_usage> inspect_delta(std::span<std::int32_t const> delta, size_table const& sizes,
                                  std::span<type_usage> out, decoding mode) noexcept {
    auto const opened = delta_reader::open(delta, sizes, mode);
    if (!opened) return opened.error();
    delta_reader reader = *opened;
    delta_usage usage;
    usage.removed = static_cast<std::uint32_t>(reader.removed_keys().size());
    usage.removed_bytes = static_cast<std::uint32_t>(varint_size(reader.removed_keys()));
    std::size_t types = 0;
    for (delta_reader::update update; reader.next(update);) {
        auto const end = static_cast<std::size_t>(update.data.data() + update.data.size() - delta.data());
        auto const bytes =
            static_cast<std::uint32_t>(varint_size(delta.subspan(update.position, end - update.position)));
        ++usage.updates;
        usage.update_bytes += bytes;
        auto const known = std::find_if(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(types),
                                        [&](type_usage const& t) { return t.type == key_type(update.key); });
        if (known == out.end()) {
            ++usage.unlisted_updates;
            continue;
        }
        if (known == out.begin() + static_cast<std::ptrdiff_t>(types)) {
            *known = {key_type(update.key), 0, 0};
            ++types;
        }
        ++known->updates;
        known->bytes += bytes;
    }
    if (reader.error().code != errc::ok) return reader.error();
    usage.types = out.first(types);
    return usage;
}

} // namespace teewire
