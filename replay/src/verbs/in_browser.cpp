// The verbs that need neither a network nor a terminal nor other programs.
#include "verbs/verbs.hpp"

namespace teewire::replay {
namespace {

constexpr verb const* reading[] = {&info_verb, &dump_verb, &events_verb,  &stats_verb, &verify_verb,
                                   &du_verb,   &diff_verb, &capture_verb, &types_verb};
constexpr verb const* writing[] = {&cut_verb,    &join_verb,     &merge_verb,     &redact_verb,
                                   &repair_verb, &compress_verb, &decompress_verb};
constexpr verb const* map_verbs[] = {&map_info_verb, &map_extract_verb, &map_render_verb, &map_convert_verb,
                                     &map_check_verb};
constexpr verb_group groups[] = {{"Read recordings", reading}, {"Write demos", writing}};

} // namespace

std::span<verb_group const> verb_groups() { return groups; }
std::span<verb const* const> all_map_verbs() { return map_verbs; }

} // namespace teewire::replay
