#include "verbs/view_options.hpp"

#include "base/output.hpp"
#include "base/text.hpp"
#include "web/viewer_assets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace teewire::replay {
namespace {

struct hud_member {
    std::string_view name;
    bool scene::hud_parts::*shown;
};
constexpr hud_member hud_members[] = {
    {"chat", &scene::hud_parts::chat},     {"kills", &scene::hud_parts::kills}, {"clock", &scene::hud_parts::clock},
    {"status", &scene::hud_parts::status}, {"keys", &scene::hud_parts::keys},   {"speed", &scene::hud_parts::speed},
};

std::string hud_names() {
    std::string all;
    for (hud_member const& m : hud_members) all += fmt::format("{}{}", all.empty() ? "" : ", ", m.name);
    return all;
}

} // namespace

void view_options::declare(option_set& options) {
    options.text("--follow", view.follow, "player in the middle [default: who recorded it]", "NAME");
    options.numbers("--center", view.center, 2, "tile in the middle instead: X,Y");
    options.exclusive({"--follow", "--center"});
    options.text("--beside", view.beside, "another player, in the right half of the picture", "NAME");
    options.exclusive({"--beside", "--center"});
    options.text("--ghost", ghost, "another demo, whose player runs the same race, from the start line on", "FILE");
    options.number("--zoom", view.zoom, 0.1, 20, "2 shows twice as much in each direction");
    options.text("--size", size, "pixels", "WIDTHxHEIGHT");
    options.flag("--no-names", no_names, "without the names of players, and so without chat and kills");
    options.words("--hud", hud,
                  fmt::format("what is shown over the picture, of {}; or none [default: chat,kills,clock,status]",
                              hud_names())
                      .c_str());
    options.text("--map", map, "map file for a demo without its map", "FILE");
    options.texts(
        "--data", data,
        "folder of a game with its pictures, fonts and sounds; can be given several times [default: those of the "
        "games that are installed]",
        "FOLDER");
    options.text("--font", font, "font for names", "FILE");
    options.jobs(jobs);
}

view_choice view_options::read() const {
    view_choice chosen = view;
    constexpr std::int32_t most = 8192;
    char const* const end = size.data() + size.size();
    auto const [x, failed] = std::from_chars(size.data(), end, chosen.width);
    bool good = failed == std::errc{} && x != end && *x == 'x';
    if (good) {
        auto const [rest, also_failed] = std::from_chars(x + 1, end, chosen.height);
        good = also_failed == std::errc{} && rest == end;
    }
    auto const fits = [](std::int32_t side) { return side >= 1 && side <= most; };
    if (!good || !fits(chosen.width) || !fits(chosen.height))
        throw usage_error{fmt::format("--size: {} is not WIDTHxHEIGHT, each up to {}", size, most)};
    if (!chosen.beside.empty() && chosen.width < 2)
        throw usage_error{"--beside: the picture is too narrow for two players"};
    for (std::int64_t const tile : chosen.center)
        if (std::abs(tile) > 100'000) throw usage_error{fmt::format("--center: {} is too far away", tile)};
    chosen.names = !no_names;
    if (!hud.empty()) chosen.hud = {false, false, false, false, false, false};
    for (std::string const& wanted : hud) {
        if (wanted == "none" && hud.size() == 1) break;
        auto const* const found = std::find_if(std::begin(hud_members), std::end(hud_members),
                                               [&](hud_member const& m) { return m.name == wanted; });
        if (found == std::end(hud_members))
            throw usage_error{fmt::format("--hud: {} is not one of {}, none", printable(wanted), hud_names())};
        chosen.hud.*found->shown = true;
    }
    if (no_names) chosen.hud.chat = chosen.hud.kills = false;
    return chosen;
}

std::unique_ptr<drawn_demo> view_options::open(demo_document& demo) const {
    std::vector<std::uint8_t> bytes;
    if (!map.empty()) {
        input const file{map};
        file.require_all();
        bytes.assign(file.bytes().begin(), file.bytes().end());
    }
    auto made = std::make_unique<drawn_demo>(demo, std::move(bytes), folders(), font);
    if (!made->lacks().empty()) remark(fmt::format("{}: without {}", demo.name(), made->lacks()));
    if (!ghost.empty()) {
        auto other = std::make_unique<replay::ghost>(ghost, demo, view.follow);
        remark(other->found());
        made->add(std::move(other));
    }
    return made;
}

int report_damage(demo_document const& demo, drawn_demo const& drawn, std::string_view instead) {
    int code = exit_ok;
    auto const report = [&](std::string const& name, std::string const& damage) {
        if (damage.empty()) return;
        complain(fmt::format("{}: {}; {}", name, damage, instead));
        code = exit_bad_input;
    };
    report(demo.name(), drawn.damage());
    if (drawn.other() != nullptr) report(drawn.other()->name(), drawn.other()->damage());
    return code;
}

std::vector<std::string> view_options::folders() const { return game_pictures{data}.folders(); }

std::vector<std::string> view_options::inputs(std::string const& demo) const {
    std::vector<std::string> files{demo};
    for (std::string const& file : {map, font, ghost})
        if (!file.empty()) files.push_back(file);
    return files;
}

} // namespace teewire::replay
