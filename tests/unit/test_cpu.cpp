#include "check.hpp"
#include "codec/codec_functions.hpp"
#include "snapshot/snapshot_functions.hpp"

#include "teewire/cpu.hpp"

using namespace teewire;

namespace {

constexpr cpu_level all_levels[] = {cpu_level::scalar, cpu_level::sse2, cpu_level::avx2, cpu_level::avx512,
                                    cpu_level::neon};

// The level of other tests is that of the whole run.
struct restored {
    cpu_level before = used_cpu_level();
    ~restored() { cap_cpu_level(before); }
};

template <class Functions>
Functions const& functions_of(std::span<kernels::variant<Functions> const> variants, cpu_level level) {
    Functions const* found = nullptr;
    for (auto const& v : variants)
        if (kernels::includes(kernels::required_by(level), v.required)) found = &v.functions;
    REQUIRE(found != nullptr);
    return *found;
}

} // namespace

TEST_CASE("levels have names") {
    for (cpu_level const level : all_levels) CHECK(find_cpu_level(name(level)) == level);
    CHECK(name(cpu_level::avx2) == "avx2");
    CHECK(find_cpu_level("") == std::nullopt);
    CHECK(find_cpu_level("AVX2") == std::nullopt);
    CHECK(find_cpu_level("plain") == std::nullopt);
}

TEST_CASE("a cap chooses the functions of its level, in every layer") {
    restored const after;
    for (cpu_level const most :
         {cpu_level::neon, cpu_level::avx512, cpu_level::scalar, cpu_level::avx2, cpu_level::sse2}) {
        cpu_level const used = cap_cpu_level(most);
        CAPTURE(name(most).data());
        CHECK(used <= most);
        CHECK(used == used_cpu_level());
        CHECK(kernels::supported(used));
        for (cpu_level const level : all_levels)
            if (kernels::supported(level)) CHECK((level <= most) == (level <= used));
        auto const& codec = functions_of(kernels::codec_variants(), used);
        CHECK((kernels::codec.encode_varints == codec.encode_varints));
        CHECK((kernels::codec.huffman_decode == codec.huffman_decode));
        auto const& snapshot = functions_of(kernels::snapshot_variants(), used);
        CHECK((kernels::snapshot.checksum == snapshot.checksum));
        CHECK((kernels::snapshot.create_delta == snapshot.create_delta));
    }
}

TEST_CASE("levels require instruction sets: those of x86-64 build on each other, and no other processor has them") {
    using kernels::required_by;
    CHECK(required_by(cpu_level::scalar) == 0);
    CHECK(kernels::includes(required_by(cpu_level::avx2), required_by(cpu_level::sse2)));
    CHECK(kernels::includes(required_by(cpu_level::avx512), required_by(cpu_level::avx2)));
    CHECK((required_by(cpu_level::neon) & required_by(cpu_level::avx512)) == 0);
    kernels::instruction_sets all = 0;
    for (cpu_level const level : all_levels) all |= required_by(level);
    CHECK(all == kernels::all_instruction_sets);
    CHECK(!kernels::supported(all));
}

TEST_CASE("every machine has a level, x86-64 at least SSE2, and AArch64 NEON") {
    restored const after;
    CHECK(cap_cpu_level(cpu_level::scalar) == cpu_level::scalar);
#if defined(__x86_64__)
    CHECK(cap_cpu_level(cpu_level::sse2) == cpu_level::sse2);
    CHECK(!kernels::supported(cpu_level::neon));
#else
    CHECK(cap_cpu_level(cpu_level::avx512) == cpu_level::scalar);
    for (cpu_level const level : {cpu_level::sse2, cpu_level::avx2, cpu_level::avx512})
        CHECK(!kernels::supported(level));
#endif
#if defined(__aarch64__)
    CHECK(cap_cpu_level(cpu_level::neon) == cpu_level::neon);
#endif
}

TEST_CASE("levels come in order in the lists of variants, the plain twins first") {
    auto const check = [](auto const& variants) {
        CHECK(variants.front().name == "plain");
        for (std::size_t i = 1; i < variants.size(); ++i) {
            auto const level = find_cpu_level(variants[i].name);
            REQUIRE(level.has_value());
            CHECK(variants[i].required == kernels::required_by(*level));
            CHECK((i == 1 || *find_cpu_level(variants[i - 1].name) < *level));
        }
        std::size_t listed = 0;
        for (cpu_level const level : all_levels)
            for (auto const& v : variants.subspan(1)) listed += v.name == name(level) && kernels::supported(level);
        std::size_t supported = 0;
        for (cpu_level const level : all_levels) supported += kernels::supported(level);
        CHECK(listed == supported);
    };
    check(kernels::codec_variants());
    check(kernels::snapshot_variants());
}
