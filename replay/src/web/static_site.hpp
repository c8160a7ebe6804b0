// The same as files, for any web server.
#pragma once

#include "web/recording_folder.hpp"
#include "web/viewer_assets.hpp"

#include <string>

namespace teewire::replay {

struct static_site_options {
    std::string folder;
    bool force = false;         ///< files in it may be replaced
    bool with_pictures = false; ///< those of the game, which have owners
};

/// Writes viewer, recordings with their indexes, maps and pictures of maps, and the list last. The exit code: whether all
/// recordings are good. Throws usage_error if something is in the folder already, output_error and io_error.
int write_site(recording_folder& shown, std::string const& name, viewer_assets const& files,
               game_pictures const& pictures, static_site_options const& options);

} // namespace teewire::replay
