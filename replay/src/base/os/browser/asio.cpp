// The parts of Boost.Asio that write addresses. The rest, in base/asio.cpp, needs a network.
#include <boost/asio/detail/impl/socket_ops.ipp>
#include <boost/asio/detail/impl/throw_error.ipp>
#include <boost/asio/impl/error.ipp>
#include <boost/asio/ip/impl/address_v4.ipp>
#include <boost/asio/ip/impl/address_v6.ipp>
