#include "verbs.hpp"
namespace teewire::replay {
verb const types_verb{"types", "List every type of item and message with its fields",
                      [](option_set&) -> std::function<int()> { return [] { return 0; }; }};
}
