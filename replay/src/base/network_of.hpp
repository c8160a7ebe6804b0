// Whom limits on strangers count.
#pragma once

#include <boost/asio/ip/address.hpp>

namespace teewire::replay {

/// An IPv4 address as it is, and the first 64 bits of an IPv6 address: a host chooses the others itself, so whoever has
/// one has them all.
[[nodiscard]] boost::asio::ip::address network_of(boost::asio::ip::address const& host);

} // namespace teewire::replay
