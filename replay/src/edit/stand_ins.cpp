#include "edit/stand_ins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace teewire::replay {
namespace {

constexpr std::size_t shortest_within_words = 3;

// Those of Teeworlds 0.6, and the parts of those of 0.7. Other skins are often named after a player.
constexpr std::string_view known_skins[] = {
    "bluekitty", "bluestripe", "brownbear", "cammo",  "cammostripes", "coala",   "default",  "limekitty", "pinky",
    "redbopp",   "redstripe",  "saddo",     "toptri", "twinbop",      "twintri", "warpaint", "x_ninja",
};
constexpr std::string_view known_parts[] = {
    "bat",       "bear",         "beaver",    "belly1",       "belly2",     "blush",       "bug",       "cammo1",
    "cammo2",    "cammostripes", "colorable", "coonfluff",    "dog",        "donny",       "downdony",  "duodonny",
    "force",     "fox",          "hair",      "hipbel",       "hippo",      "kitty",       "koala",     "lowcross",
    "lowpaint",  "marksman",     "mice",      "mixture1",     "mixture2",   "monkey",      "mouse",     "negative",
    "panda1",    "panda2",       "piglet",    "purelove",     "raccoon",    "saddo",       "setisu",    "sidemarks",
    "singu",     "spiky",        "standard",  "standardreal", "stripe",     "striped",     "stripes",   "stripes2",
    "thunder",   "tiger1",       "tiger2",    "toptri",       "triangular", "tricircular", "tripledon", "tritri",
    "twinbelly", "twinbopp",     "twincross", "twinmello",    "twinpen",    "twintri",     "unibop",    "unimelo",
    "unipento",  "uppy",         "warpaint",  "warstripes",   "whisker",    "wildpaint",   "wildpatch", "x_ninja",
    "yinyang",
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_word(char c) {
    char const l = lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
}
bool equal(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

} // namespace

bool stand_ins::concerns(std::string_view name) const {
    return !what_.keep.contains(name) && (!what_.players || what_.players->contains(name));
}

void stand_ins::learn(std::string_view name, std::string_view clan) {
    bool const goes = concerns(name);
    if (!name.empty() && !names_.contains(name))
        names_.emplace(name, goes && what_.names ? fmt::format("player {}", names_.size() + 1) : std::string{name});
    // A clan goes with any of its members.
    if (!clan.empty() && goes && what_.clans && !clans_.contains(clan))
        clans_.emplace(clan, fmt::format("clan {}", clans_.size() + 1));
}

void stand_ins::finish() {
    for (auto const& [name, instead] : names_)
        if (name != instead) longest_first_.push_back({name, instead});
    for (auto const& [clan, instead] : clans_) longest_first_.push_back({clan, instead});
    std::stable_sort(longest_first_.begin(), longest_first_.end(),
                     [](searched const& a, searched const& b) { return a.text.size() > b.text.size(); });
}

std::string stand_ins::name(std::string_view name) const {
    auto const found = names_.find(name);
    return found == names_.end() ? std::string{} : found->second;
}

std::string stand_ins::clan(std::string_view clan, std::string_view owner) const {
    auto const found = clans_.find(clan);
    return found == clans_.end() || !concerns(owner) ? std::string{clan} : found->second;
}

std::string stand_ins::skin(std::string_view skin, std::string_view owner, bool is_part) const {
    auto const known = [&](auto const& list) { return std::binary_search(std::begin(list), std::end(list), skin); };
    bool const stays =
        skin.empty() || !what_.skins || !concerns(owner) || (is_part ? known(known_parts) : known(known_skins));
    return stays ? std::string{skin} : is_part ? "standard" : "default";
}

std::string stand_ins::without_names(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        auto const stands_here = [&](searched const& s) {
            if (!equal(text.substr(at, s.text.size()), s.text)) return false;
            if (s.text.size() >= shortest_within_words) return true;
            std::size_t const end = at + s.text.size();
            return (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
        };
        auto const found = std::find_if(longest_first_.begin(), longest_first_.end(), stands_here);
        if (found == longest_first_.end()) {
            out += text[at++];
            continue;
        }
        out += found->instead;
        at += found->text.size();
    }
    return out;
}

std::vector<std::string> stand_ins::names() const {
    std::vector<std::string> all;
    for (auto const& [name, instead] : names_) all.push_back(name);
    return all;
}

std::size_t stand_ins::replaced_names() const {
    return static_cast<std::size_t>(
        std::count_if(names_.begin(), names_.end(), [](auto const& n) { return n.first != n.second; }));
}

} // namespace teewire::replay
