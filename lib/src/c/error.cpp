#include "convert.hpp"

#include "teewire/cpu.hpp"

static_assert(static_cast<int>(teewire::cpu_level::neon) == TEEWIRE_CPU_NEON);

namespace teewire::c {

// The numbers of teewire.h are for ever, those of errc are not.
std::int32_t code_of(errc code) noexcept {
    switch (code) {
    case errc::ok: return TEEWIRE_OK;
    case errc::truncated: return TEEWIRE_TRUNCATED;
    case errc::bad_varint: return TEEWIRE_BAD_VARINT;
    case errc::bad_magic: return TEEWIRE_BAD_MAGIC;
    case errc::bad_version: return TEEWIRE_BAD_VERSION;
    case errc::bad_count: return TEEWIRE_BAD_COUNT;
    case errc::bad_length: return TEEWIRE_BAD_LENGTH;
    case errc::bad_offset: return TEEWIRE_BAD_OFFSET;
    case errc::bad_type: return TEEWIRE_BAD_TYPE;
    case errc::bad_id: return TEEWIRE_BAD_ID;
    case errc::bad_item_size: return TEEWIRE_BAD_ITEM_SIZE;
    case errc::size_mismatch: return TEEWIRE_SIZE_MISMATCH;
    case errc::duplicate_key: return TEEWIRE_DUPLICATE_KEY;
    case errc::bad_tick: return TEEWIRE_BAD_TICK;
    case errc::missing_snapshot: return TEEWIRE_MISSING_SNAPSHOT;
    case errc::bad_text: return TEEWIRE_BAD_TEXT;
    case errc::bad_checksum: return TEEWIRE_BAD_CHECKSUM;
    case errc::output_full: return TEEWIRE_OUTPUT_FULL;
    case errc::too_many_items: return TEEWIRE_TOO_MANY_ITEMS;
    case errc::too_large: return TEEWIRE_TOO_LARGE;
    case errc::too_many_types: return TEEWIRE_TOO_MANY_TYPES;
    case errc::unknown_tick: return TEEWIRE_UNKNOWN_TICK;
    case errc::bad_flags:
    case errc::bad_token:
    case errc::bad_sequence:
    case errc::closed: break;
    }
    return TEEWIRE_BAD_PACKET;
}

std::int32_t fail(failure const& what, teewire_failure* out, std::int32_t stage, std::uint64_t chunk) noexcept {
    std::int32_t const code = code_of(what.code);
    if (out != nullptr) *out = {code, stage, what.position, chunk};
    return code;
}

std::int32_t bad_argument(teewire_failure* out) noexcept {
    if (out != nullptr) *out = {TEEWIRE_BAD_ARGUMENT, TEEWIRE_STAGE_INPUT, 0, 0};
    return TEEWIRE_BAD_ARGUMENT;
}

} // namespace teewire::c

using namespace teewire;
using namespace teewire::c;

char const* teewire_version(void) { return TEEWIRE_VERSION_STRING; }
std::uint32_t teewire_abi_version(void) { return std::uint32_t{TEEWIRE_ABI_MAJOR} << 16 | TEEWIRE_ABI_MINOR; }

std::int32_t teewire_cpu(void) { return static_cast<std::int32_t>(used_cpu_level()); }

std::int32_t teewire_cpu_cap(std::int32_t most) {
    if (most < TEEWIRE_CPU_SCALAR || most > TEEWIRE_CPU_NEON) return TEEWIRE_BAD_ARGUMENT;
    return static_cast<std::int32_t>(cap_cpu_level(static_cast<cpu_level>(most)));
}

char const* teewire_error_text(std::int32_t code) {
    switch (code) {
    case TEEWIRE_NOT_FOUND: return "there is no such item";
    case TEEWIRE_BAD_ARGUMENT: return "an argument or option is out of range, or memory is too small or unaligned";
    case TEEWIRE_BAD_PACKET: return "a packet makes no sense";
    default: break;
    }
    for (unsigned n = 0; n <= UINT8_MAX; ++n) {
        auto const candidate = static_cast<errc>(n);
        if (code_of(candidate) == code) return describe(candidate).data(); // of a literal
    }
    return "unknown code";
}
