// Uses the C++ classes as installed.
#include <teewire/delta.hpp>
#include <teewire/snapshot_builder.hpp>
#include <teewire/varint.hpp>

#include <cstdio>
#include <memory>
#include <vector>

int main() {
    auto const memory = std::make_unique<teewire::snapshot_builder_memory<>>();
    auto const scratch = std::make_unique<teewire::delta_memory<>>();
    teewire::snapshot_builder builder{*memory};
    auto const data = builder.add(4, 7, 4);
    if (!data) return 1;
    (*data)[0] = 1234;
    std::vector<std::int32_t> ints(100);
    auto const delta = teewire::create_delta({}, builder.finish(), teewire::sizes_06, *scratch, ints);
    if (!delta) return 2;
    std::vector<std::uint8_t> bytes(teewire::varint_bound(delta->size()));
    auto const size = teewire::encode_varints(*delta, bytes);
    if (!size) return 3;
    std::printf("%zu bytes, %s\n", *size, teewire::describe(teewire::errc::ok).data());
}
