// All typed messages, for tests that treat them alike.
#pragma once

#include "check.hpp"

#include "teewire/message_types.hpp"

#include <optional>
#include <tuple>

namespace test {

namespace m = teewire::messages;
using typed_messages =
    std::tuple<m::info, m::map_change, m::map_data, m::request_map_data, m::server_info, m::con_ready, m::ready,
               m::enter_game, m::ping, m::ping_reply, m::map_reload, m::reconnect, m::input_timing, m::input,
               m::rcon_line, m::what_is, m::i_dont_know, m::it_is, m::capabilities, m::map_details,
               m::client_version, m::ping_ex, m::pong_ex, m::redirect, m::motd, m::broadcast, m::chat, m::team,
               m::kill, m::tune_params, m::ready_to_enter, m::vote_clear_options, m::weapon_pickup, m::emoticon,
               m::server_settings, m::client_info, m::skin_change, m::game_info, m::client_drop, m::say,
               m::set_team, m::set_spectator_mode, m::start_info>;

/// Calls use(value) with the struct of the message's type; false if it has none.
template <class Use, std::size_t... i>
bool with_type(teewire::message_type type, Use&& use, std::index_sequence<i...>) {
    return ((std::tuple_element_t<i, typed_messages>::type == type
                 ? (use(std::tuple_element_t<i, typed_messages>{}), true)
                 : false) ||
            ...);
}
template <class Use>
bool with_type(teewire::message_type type, Use&& use) {
    return with_type(type, use, std::make_index_sequence<std::tuple_size_v<typed_messages>>{});
}

/// Decodes and encodes; nothing if there is no struct, empty if it cannot be decoded.
inline std::optional<bytes> write_again(teewire::message const& message, teewire::protocol p) {
    std::optional<bytes> again;
    with_type(identify(message, p), [&]<class T>(T) {
        again = bytes{};
        auto const decoded = teewire::decode<T>(message, p);
        if (!decoded) return;
        bytes memory(4096);
        auto const written = teewire::encode(*decoded, p, memory);
        REQUIRE(written);
        again = copy_of(*written);
    });
    return again;
}

} // namespace test
