// The facts about a recording that programs show beside a link to it: title, description and picture, as Open Graph has them.
#pragma once

#include "web/recording_folder.hpp"

#include <string>
#include <string_view>

namespace teewire::replay {

/// The value of a field in a query, decoded; empty if it is not there.
[[nodiscard]] std::string query_value(std::string_view query, std::string_view name);

/// The viewer's page with the facts about a recording in its head. `address`: of the server. `picture`: of the recording, below
/// the address; empty if there is none. `query`: of the link.
[[nodiscard]] std::string page_about(std::string_view page, shown_demo const& demo, std::string_view address,
                                     std::string_view picture, std::string_view query);

} // namespace teewire::replay
