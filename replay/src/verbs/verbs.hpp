// All verbs. Each is defined where its work is done.
#pragma once

#include "cli/verb.hpp"

#include <span>

namespace teewire::replay {

extern verb const info_verb;
extern verb const dump_verb;
extern verb const events_verb;
extern verb const stats_verb;
extern verb const du_verb;
extern verb const export_verb;
extern verb const verify_verb;
extern verb const play_verb;
extern verb const compress_verb;
extern verb const decompress_verb;
extern verb const cut_verb;
extern verb const join_verb;
extern verb const merge_verb;
extern verb const redact_verb;
extern verb const types_verb;
extern verb const record_verb;
extern verb const serve_verb;
extern verb const relay_verb;
extern verb const capture_verb;
extern verb const diff_verb;
extern verb const repair_verb;
extern verb const index_verb;
extern verb const picture_verb;
extern verb const video_verb;
extern verb const web_verb;

// Of `teewire map`.
extern verb const map_info_verb;
extern verb const map_extract_verb;
extern verb const map_render_verb;
extern verb const map_convert_verb;
extern verb const map_check_verb;

struct verb_group {
    char const* title;
    std::span<verb const* const> verbs;
};
/// Those of this program.
[[nodiscard]] std::span<verb_group const> verb_groups();
[[nodiscard]] std::span<verb const* const> all_map_verbs();

} // namespace teewire::replay
