#include "teewire/scene/hud.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace teewire::scene {
namespace {

constexpr float height = hud_height;
constexpr float margin = 5;
constexpr rgba team_chat = 0xffa6ffa6, server_chat = 0xff7fffff, red = 0xff5a5aff, blue = 0xffff8c73;
constexpr double ticks_per_second = 50;

class text_builder {
public:
    explicit text_builder(hud_texts& memory) noexcept : memory_{memory}, begin_{memory.used} {}
    void add(std::string_view text) noexcept {
        std::size_t const room = memory_.bytes.size() - memory_.used, size = std::min(room, text.size());
        std::copy_n(text.begin(), size, memory_.bytes.begin() + static_cast<std::ptrdiff_t>(memory_.used));
        memory_.used += size;
    }
    void add(std::int64_t number, std::size_t digits = 1) noexcept {
        std::array<char, 24> room;
        auto const [end, failed] = std::to_chars(room.data(), room.data() + room.size(), number);
        auto const size = static_cast<std::size_t>(end - room.data());
        for (std::size_t n = size; n < digits; ++n) add("0");
        add({room.data(), size});
    }
    [[nodiscard]] std::string_view text() const noexcept {
        return {memory_.bytes.data() + begin_, memory_.used - begin_};
    }

private:
    hud_texts& memory_;
    std::size_t begin_;
};

// "1:02:03", "2:03" or "2:03.4".
std::string_view time_text(double seconds, bool tenths, hud_texts& memory) noexcept {
    text_builder out{memory};
    constexpr double most = 1e7;
    auto const all = static_cast<std::int64_t>(std::clamp(seconds, 0.0, most) * 10);
    std::int64_t const whole = all / 10;
    if (whole >= 3600) {
        out.add(whole / 3600);
        out.add(":");
    }
    out.add(whole / 60 % 60, whole >= 3600 ? 2 : 1);
    out.add(":");
    out.add(whole % 60, 2);
    if (tenths) {
        out.add(".");
        out.add(all % 10);
    }
    return out.text();
}

class hud_painter {
public:
    hud_painter(moment const& at, seen_tees const& tees, hud const& shown, float width, picture_source& pictures,
                text_measure& measure, hud_texts& texts, draw_list& out) noexcept
        : at_{at}, world_{at.shown()}, shown_{shown}, width_{width}, pictures_{pictures}, measure_{measure},
          texts_{texts}, out_{out} {
        for (seen_tee const& t : tees)
            if (t.id == shown.selected) tee_ = &t;
    }

    void draw() noexcept {
        if (shown_.parts.status && tee_ != nullptr && !world_.is_race) draw_status(*tee_->now);
        if (shown_.parts.clock) draw_clock();
        if (shown_.parts.kills) draw_kills();
        if (shown_.parts.chat) draw_chat();
        float const bottom = height - margin;
        if (shown_.parts.keys && tee_ != nullptr) draw_keys(*tee_->now, bottom);
        if (shown_.parts.speed && tee_ != nullptr) draw_speed(*tee_, bottom - (shown_.parts.keys ? 28 : 8));
    }

private:
    void centered(std::string_view text, float x, float y, float size, rgba color = white) noexcept {
        if (!text.empty()) out_.text(text, x, y, size, color);
    }
    // Returns where it ends.
    float from_left(std::string_view text, float x, float y, float size, rgba color = white) noexcept {
        float const w = measure_.width(text, size);
        centered(text, x + w / 2, y, size, color);
        return x + w;
    }
    // Returns where it begins.
    float from_right(std::string_view text, float x, float y, float size, rgba color = white) noexcept {
        float const w = measure_.width(text, size);
        centered(text, x - w / 2, y, size, color);
        return x - w;
    }
    void sign(sprite const& s, float x, float y, float size) noexcept {
        out_.sprite(pictures_.game, s.part, x, y, size * s.width, size * s.height);
    }

    void draw_status(tee const& t) noexcept {
        constexpr std::int32_t most = 10;
        constexpr float step = 12;
        auto const row = [&](float y, std::int32_t count, sprite const& full, sprite const* empty) {
            for (std::int32_t n = 0; n < most; ++n)
                if (n < count || empty != nullptr)
                    sign(n < count ? full : *empty, margin + step * (static_cast<float>(n) + 0.5F), y, 14);
        };
        row(margin + step / 2, t.health, game_sprite::full_health, &game_sprite::empty_health);
        row(margin + step * 1.5F, t.armor, game_sprite::full_armor, &game_sprite::empty_armor);
        if (t.weapon >= 1 && t.weapon <= 4)
            row(margin + step * 2.5F, t.ammo_count, game_sprite::shot[static_cast<std::size_t>(t.weapon)], nullptr);
    }

    [[nodiscard]] std::string_view clock_text() noexcept {
        if (world_.over) return "Game over";
        if (world_.paused) return "Paused";
        if (world_.sudden_death) return "Sudden death";
        player const* const who = world_.find_player(shown_.selected);
        bool const is_own = who == nullptr || who->local || who->id == world_.viewed;
        std::int32_t const race_start = who != nullptr && who->race_start > 0 ? who->race_start
                                        : is_own                              ? world_.race_start
                                                                              : -1;
        if (race_start > 0) return time_text((at_.tick - race_start) / ticks_per_second, true, texts_);
        if (world_.warmup > 0) {
            text_builder out{texts_};
            out.add("Warmup ");
            out.add(static_cast<std::int64_t>(std::ceil(world_.warmup / ticks_per_second)));
            return out.text();
        }
        double seconds = (at_.tick - world_.round_start) / ticks_per_second;
        if (world_.time_limit > 0) seconds = world_.time_limit * 60.0 - seconds;
        constexpr double longest = 1e6; // servers that do not count say nonsense
        return seconds >= 0 && seconds < longest ? time_text(seconds, false, texts_) : std::string_view{};
    }

    void draw_clock() noexcept {
        float const middle = width_ / 2;
        centered(clock_text(), middle, margin + 4, 13);
        if (!world_.teams) return;
        auto const score = [&](std::int32_t points) {
            text_builder out{texts_};
            out.add(std::int64_t{points});
            return out.text();
        };
        centered(":", middle, margin + 18, 12);
        from_right(score(world_.scores[0]), middle - 4, margin + 18, 12, red);
        from_left(score(world_.scores[1]), middle + 4, margin + 18, 12, blue);
    }

    void draw_kills() noexcept {
        constexpr std::size_t most = 5;
        constexpr float line = 14, size = 10;
        float y = margin + line / 2;
        auto const begin = shown_.kills.size() > most ? shown_.kills.size() - most : 0;
        for (kill_line const& k : shown_.kills.subspan(begin)) {
            float x = from_right(k.victim, width_ - margin, y, size);
            bool const by_weapon = k.weapon >= 0 && static_cast<std::size_t>(k.weapon) < game_sprite::weapons;
            bool const by_other = !k.killer.empty() && k.killer != k.victim;
            if (by_weapon) {
                sprite const& w = game_sprite::weapon[static_cast<std::size_t>(k.weapon)];
                constexpr float sign_size = 24;
                sign(w, x - 4 - sign_size * w.width / 2, y, sign_size);
                x -= 8 + sign_size * w.width;
            } else {
                x = from_right(by_other ? " \xe2\x86\x92 " : "\xe2\x98\xa0 ", x, y, size); // an arrow, a skull
            }
            if (by_other) from_right(k.killer, x, y, size);
            y += line;
        }
    }

    // How much of a text finds room, at a space if there is one.
    [[nodiscard]] std::string_view fitting(std::string_view text, float room, float size) noexcept {
        if (measure_.width(text, size) <= room) return text;
        std::size_t end = 0, space = 0;
        for (std::size_t n = 0; n < text.size(); ++n) {
            bool const goes_on = n + 1 < text.size() && (static_cast<unsigned char>(text[n + 1]) & 0xc0) == 0x80;
            if (goes_on) continue; // in the middle of a letter
            if (measure_.width(text.substr(0, n + 1), size) > room) break;
            end = n + 1;
            if (text[n] == ' ') space = n + 1;
        }
        return text.substr(0, space > 0 ? space : std::max<std::size_t>(end, 1));
    }

    // From below, the newest first.
    void draw_chat() noexcept {
        constexpr float size = 8.5F, line = 10;
        float const room = std::max(100.0F, std::min(width_ * 0.45F, 250.0F));
        float y = height - margin - line;
        constexpr float highest = height / 2;
        for (std::size_t n = shown_.said.size(); n-- > 0 && y > highest;) {
            said_line const& said = shown_.said[n];
            using enum said_line::audience;
            rgba const color = said.to == server ? server_chat : said.to == team ? team_chat : white;
            constexpr std::size_t most_pieces = 8;
            std::array<std::string_view, most_pieces> pieces;
            std::size_t count = 0;
            std::string_view const begin = said.to == server ? std::string_view{"*** "} : said.who;
            std::string_view const colon = said.to == server || said.who.empty() ? "" : ": ";
            float const indent = measure_.width(begin, size) + measure_.width(colon, size);
            for (std::string_view left = said.text; !left.empty() && count < most_pieces;) {
                pieces[count] = fitting(left, count == 0 ? room - indent : room, size);
                left.remove_prefix(pieces[count++].size());
            }
            y -= line * static_cast<float>(count > 0 ? count - 1 : 0);
            float x = from_left(begin, margin, y, size, said.to == server ? color : faded(color, 0.8F));
            x = from_left(colon, x, y, size, color);
            for (std::size_t piece = 0; piece < count; ++piece)
                from_left(pieces[piece], piece == 0 ? x : margin, y + line * static_cast<float>(piece), size,
                          color);
            y -= line;
        }
    }

    void draw_keys(tee const& t, float bottom) noexcept {
        struct key {
            std::string_view name;
            bool pressed;
        };
        double const attacked = t.attack_tick > 0 ? at_.tick - t.attack_tick : -1;
        key const keys[] = {{"left", t.direction < 0},
                            {"right", t.direction > 0},
                            {"jump", (t.jumped & 1) != 0},
                            {"hook", t.hook_state != 0},
                            {"fire", attacked >= 0 && attacked < 6}};
        constexpr float w = 26, h = 16, gap = 3;
        float x = width_ / 2 - (w + gap) * 2;
        for (key const& k : keys) {
            out_.sprite(no_texture, {}, x, bottom - h / 2, w, h, 0,
                        k.pressed ? rgba_of(1, 1, 1, 0.8F) : rgba_of(0, 0, 0, 0.4F));
            centered(k.name, x, bottom - h / 2, 8, k.pressed ? rgba_of(1, 0.9F, 0.45F) : white);
            x += w + gap;
        }
    }

    void draw_speed(seen_tee const& t, float y) noexcept {
        float const vx = t.vel_x, vy = t.now->vel_y / 256; // units a tick
        constexpr float tile = 32;
        auto const tenths = std::llround(std::min(std::hypot(vx, vy), 1e6F) * 50 / tile * 10);
        text_builder out{texts_};
        out.add(tenths / 10);
        out.add(".");
        out.add(tenths % 10);
        out.add(" tiles/s");
        centered(out.text(), width_ / 2, y, 10);
    }

    moment const& at_;
    world const& world_;
    hud const& shown_;
    float width_;
    picture_source& pictures_;
    text_measure& measure_;
    hud_texts& texts_;
    draw_list& out_;
    seen_tee const* tee_ = nullptr;
};

} // namespace

void draw_hud(moment const& at, seen_tees const& tees, hud const& shown, float aspect, picture_source& pictures,
              text_measure& measure, hud_texts& texts, draw_list& out) noexcept {
    float const width = height * aspect;
    view_box const view = out.view();
    out.set_view({0, 0, width, height});
    texts.used = 0;
    hud_painter{at, tees, shown, width, pictures, measure, texts, out}.draw();
    out.set_view(view);
}

} // namespace teewire::scene
