// The unit that limits per address count.
#pragma once

#include <boost/asio/ip/address.hpp>

namespace teewire::replay {

/// The whole of an IPv4 address, and the first 64 bits of an IPv6 address: a host can use any of the others.
[[nodiscard]] boost::asio::ip::address network_of(boost::asio::ip::address const& host);

} // namespace teewire::replay
