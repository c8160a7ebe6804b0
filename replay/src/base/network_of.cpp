#include "base/network_of.hpp"

#include <algorithm>

namespace teewire::replay {

boost::asio::ip::address network_of(boost::asio::ip::address const& host) {
    using namespace boost::asio::ip;
    if (host.is_v4()) return host;
    address_v6 const v6 = host.to_v6();
    if (v6.is_v4_mapped()) return make_address_v4(v4_mapped, v6);
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return address_v6{bytes};
}

} // namespace teewire::replay
