// What of Boost.Asio and Boost.Beast is no template: compiled here, once, as BOOST_ASIO_SEPARATE_COMPILATION and
// BOOST_BEAST_SEPARATE_COMPILATION ask for, instead of in every file that uses it.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
