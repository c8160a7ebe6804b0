// The published workloads and delta vectors: our bytes are those of the reference.
#include "corpus.hpp"

#include "workloads.hpp"

#include <teewire/delta.hpp>
#include <teewire/huffman.hpp>
#include <teewire/varint.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <sstream>

using namespace teewire;

namespace {

std::vector<std::int32_t> read_ints(std::filesystem::path const& path) {
    auto const bytes = corpus::read_bytes(path);
    REQUIRE(!bytes.empty());
    std::vector<std::int32_t> ints(bytes.size() / 4);
    for (std::size_t i = 0; i < ints.size(); ++i) {
        std::uint32_t word = 0;
        for (std::size_t b = 4; b-- > 0;) word = word << 8 | bytes[4 * i + b];
        ints[i] = static_cast<std::int32_t>(word);
    }
    return ints;
}

bool equal(std::span<std::int32_t const> a, std::span<std::int32_t const> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::vector<bench::workload> workloads() {
    auto all = bench::synthetic_workloads();
    for (auto& recorded : bench::recorded_workloads(corpus::beside("workloads")))
        all.push_back(std::move(recorded));
    return all;
}

// What DDNet's return codes are here.
bool same_refusal(int ddnet, errc code) {
    switch (ddnet) {
    case -101:
    case -102:
    case -103:
    case -205: return code == errc::truncated;
    case -201: return code == errc::bad_count;
    case -202: return code == errc::bad_type;
    case -203: return code == errc::bad_id;
    case -204: return code == errc::bad_item_size;
    case -206:
    case -207: return code == errc::size_mismatch;
    case -301:
    case -302: return code == errc::too_many_items || code == errc::too_large;
    default: return false;
    }
}

} // namespace

TEST_CASE("deltas, packed bytes and Huffman bytes equal the reference's") {
    auto const memory = std::make_unique<delta_memory<>>();
    auto const all = workloads();
    CHECK(all.size() == 8);
    for (auto const& w : all) {
        CAPTURE(w.name);
        auto const reference = corpus::beside("workloads") / "reference";
        auto const from = *snapshot_view::parse(w.from);
        auto const to = *snapshot_view::parse(w.to);

        std::vector<std::int32_t> out(delta_bound(from, to));
        auto const created = create_delta(from, to, sizes_06, *memory, out);
        REQUIRE(created);
        std::vector<std::int32_t> delta(created->begin(), created->end());
        if (delta.empty()) delta.assign(3, 0); // how an idle delta is stored there
        CHECK(equal(delta, read_ints(reference / (w.name + ".delta.bin"))));

        std::vector<std::int32_t> applied_ints(16384);
        auto const applied = apply_delta(from, delta, sizes_06, *memory, applied_ints);
        REQUIRE(applied);
        CHECK(equal(applied->ints(), read_ints(reference / (w.name + ".applied.bin"))));
        CHECK(applied->checksum() == to.checksum());

        std::vector<std::uint8_t> packed(varint_bound(delta.size()));
        packed.resize(*encode_varints(delta, packed));
        CHECK(packed == corpus::read_bytes(reference / (w.name + ".packed.bin")));
        for (auto const ending : {huffman_end::exact, huffman_end::padded}) {
            std::vector<std::uint8_t> coded(huffman_bound(packed.size()));
            coded.resize(*huffman_encode(packed, coded, ending));
            char const* const name = ending == huffman_end::exact ? ".huffman-ddnet.bin" : ".huffman-vanilla.bin";
            CHECK(coded == corpus::read_bytes(reference / (w.name + name)));
        }
    }
}

TEST_CASE("all delta vectors give DDNet's result or are refused where it refuses") {
    auto const memory = std::make_unique<delta_memory<>>();
    auto const all = workloads();
    auto const ints = read_ints(corpus::beside("spec") / "vectors/delta/cases.bin");
    std::ifstream verdicts{corpus::beside("spec") / "vectors/delta/cases.txt"};
    std::vector<std::int32_t> out(16384);
    std::size_t cases = 0;
    std::size_t refused = 0;
    std::string line;
    for (std::size_t at = 0; at < ints.size(); ++cases) {
        REQUIRE(std::getline(verdicts, line));
        CAPTURE(line);
        auto const pair = static_cast<std::size_t>(ints[at + 1]);
        auto const size = static_cast<std::size_t>(ints[at + 2]);
        std::span<std::int32_t const> const delta = std::span{ints}.subspan(at + 3, size);
        at += 3 + size;

        std::istringstream words{line};
        std::size_t number = 0;
        std::size_t listed_pair = 0;
        std::size_t listed_size = 0;
        int first = 0; // bytes of the result, or DDNet's return code
        words >> number >> listed_pair >> listed_size >> first;
        REQUIRE(number == cases);
        REQUIRE(listed_pair == pair);
        REQUIRE(listed_size == size);

        auto const applied = apply_delta(*snapshot_view::parse(all[pair].from), delta, sizes_06, *memory, out);
        REQUIRE(applied.has_value() == (first >= 0));
        if (first < 0) {
            ++refused;
            CHECK(same_refusal(first, applied.error().code));
            CHECK(applied.error().position <= delta.size());
            continue;
        }
        std::size_t items = 0;
        std::size_t data_size = 0;
        std::string checksum;
        std::string hash;
        words >> items >> data_size >> checksum >> hash;
        CHECK(applied->ints().size() * 4 == static_cast<std::size_t>(first));
        CHECK(applied->size() == items);
        CHECK(applied->data_size() == data_size);
        CHECK(applied->checksum() == std::stoul(checksum, nullptr, 16));
        CHECK(bench::fnv1a64(applied->ints()) == std::stoull(hash, nullptr, 16));
    }
    CHECK(cases == 2168);
    CHECK(refused > 1000);
}
