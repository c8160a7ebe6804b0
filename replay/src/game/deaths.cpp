#include "game/deaths.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace teewire::replay {
namespace {

constexpr std::size_t max_clients = 128;     // of any server
constexpr std::int32_t own_id_of_mapped = 0; // by which a client of few players knows itself
constexpr std::int32_t mapped_ids = 16;      // that such a client knows

// Whether a client may have been sent `note` when `killer` killed `victim`.
bool fits(kill_note const& note, std::int32_t receiver, std::int32_t killer, std::int32_t victim) {
    if (note.killer == killer && note.victim == victim) return true; // by a client that knows the server's ids
    auto const mapped = [&](std::int32_t sent, std::int32_t really) {
        return sent >= 0 && sent < mapped_ids && (sent == own_id_of_mapped) == (receiver == really);
    };
    // A killer that the client does not know is sent as the victim.
    return mapped(note.victim, victim) && (mapped(note.killer, killer) || note.killer == note.victim);
}

// The only one who can have killed the victim, given that everyone present was sent it, in the order of ids.
std::optional<std::int32_t> find_killer(std::int32_t victim, std::span<kill_note const> notes,
                                        std::span<std::int32_t const> present) {
    if (notes.size() != present.size() || present.size() > max_clients) return {};
    std::optional<std::int32_t> found;
    for (std::int32_t const killer : present) {
        bool possible = true;
        for (std::size_t i = 0; possible && i < notes.size(); ++i)
            possible = fits(notes[i], present[i], killer, victim);
        if (!possible) continue;
        if (found) return {};
        found = killer;
    }
    return found;
}

} // namespace

bool ids_differ(std::span<std::int32_t const> died, std::span<kill_note const> notes) {
    std::set<std::int32_t> const dead{died.begin(), died.end()};
    return std::any_of(notes.begin(), notes.end(), [&](kill_note const& n) { return !dead.contains(n.victim); });
}

std::vector<death> explain_deaths(std::span<std::int32_t const> died, std::span<kill_note const> notes,
                                  std::span<std::int32_t const> present) {
    bool const same_ids = !ids_differ(died, notes);
    bool const one_weapon = !notes.empty() && std::all_of(notes.begin(), notes.end(), [&](kill_note const& n) {
        return n.weapon == notes.front().weapon;
    });
    std::map<std::int32_t, std::vector<kill_note>> announced; // by victim, each once
    std::set<kill_note> known;
    for (kill_note const& n : notes)
        if (known.insert(n).second) announced[n.victim].push_back(n);
    struct count {
        std::size_t all = 0;
        std::size_t told = 0;
    };
    std::map<std::int32_t, count> counts; // of deaths, by victim
    for (std::int32_t const victim : died) ++counts[victim].all;
    std::vector<death> deaths;
    for (std::int32_t const victim : died) {
        death& d = deaths.emplace_back(death{victim, {}, {}});
        if (!same_ids) {
            if (one_weapon) d.weapon = notes.front().weapon;
            if (one_weapon && died.size() == 1) d.killer = find_killer(victim, notes, present);
            continue;
        }
        auto const found = announced.find(victim);
        if (found == announced.end()) continue;
        // A player who is killed and leaves within the same tick dies twice. Other messages that disagree prove nothing.
        auto const& all = found->second;
        count& of_victim = counts[victim];
        if (all.size() != 1 && all.size() != of_victim.all) continue;
        kill_note const& n = all[all.size() == 1 ? 0 : of_victim.told++];
        d.killer = n.killer;
        d.weapon = n.weapon;
    }
    return deaths;
}

} // namespace teewire::replay
