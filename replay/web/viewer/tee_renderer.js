// Tees: body, feet, eyes and hands, moved as the clients move them.
import { color_of, faded, WHITE } from './sprite_batch.js';
import { WEAPONS } from './sprites.js';

/** @import { Part, Sprites } from './sprites.js' */
/** @import { Pictures } from './pictures.js' */
/** @import { SpriteBatch } from './sprite_batch.js' */
/** @import { Character } from './reckoning.js' */
/** @import { Client, Numbers, Player } from './world.js' */

/** @typedef {{x: number, y: number}} Place */
/** @typedef {Record<Part, Sprites|null> & {body: Sprites}} Parts of a skin of 0.7 */
/**
 * How a player looks: pictures and colours. With `parts`, `sprites` is for what they lack.
 * @typedef {{sprites: Sprites, body: number, feet: number, hand?: number, parts?: Parts, marking?: number,
 *   decoration?: number}} Look
 */
/** @typedef {(color: number) => number} Tint */
/**
 * `walk`: from 0 to 1.
 * @typedef {{walk?: number, air?: boolean, emote?: number, tired?: boolean, alpha?: number, size?: number}} Posture
 */
/**
 * Its size, its place along the direction and down, where its flash is, the hand's turn and place.
 * @typedef {{size: number, along: number, down: number, flash?: number[], hand?: [number, number, number]}} Held
 */

const EYES = ['normal', 'pain', 'happy', 'surprise', 'angry', 'normal', 'normal'];
const BLINK = 5;
const NINJA = 5;
const DEFAULT_RED = 65387;
const DEFAULT_BLUE = 10223467;

/**
 * A colour as the games keep it: hue, saturation and lightness in bytes; the darkest lightness is `least`.
 * @param {number} packed
 */
export function game_color(packed, least = 0.5) {
  const h = (((packed >> 16) & 255) / 255) * 6;
  const s = ((packed >> 8) & 255) / 255;
  const l = least + ((packed & 255) / 255) * (1 - least);
  const c = (1 - Math.abs(2 * l - 1)) * s;
  const x = c * (1 - Math.abs((h % 2) - 1));
  const m = l - c / 2;
  const [r, g, b] = [
    [c, x, 0],
    [x, c, 0],
    [0, c, x],
    [0, x, c],
    [x, 0, c],
    [c, 0, x],
  ][Math.min(5, Math.floor(h))];
  return color_of(r + m, g + m, b + m);
}

const LEAST_07 = 61 / 255;

/**
 * The colour of a team in 0.7; of the player's own it has a fifth of the saturation and the lightness.
 * @param {number} team @param {number|null} own
 */
function team_color_07(team, own) {
  const hue = team === 0 ? 0 : 0x9b;
  let [s, l] = [0xff, 0x6b];
  if (own !== null) {
    s = Math.max(160, Math.trunc(s + (((own >> 8) & 255) - s) * 0.2));
    l = Math.trunc(l + ((own & 255) - l) * 0.2);
  }
  return game_color((hue << 16) | (s << 8) | l, LEAST_07);
}

/** The same colour for the same name. @param {string} name */
function color_of_name(name) {
  if (name === 'default' || name === 'standard') return color_of(0.78, 0.62, 0.4);
  let hash = 2166136261;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return game_color(((hash >>> 24) << 16) | (150 << 8) | 80);
}

/** Values between key frames [time, x, y, turn], for a time from 0 to 1. @param {number[][]} frames @param {number} time */
function pose_at(frames, time) {
  let n = 0;
  while (n + 2 < frames.length && frames[n + 1][0] <= time) ++n;
  const [t0, x0, y0, a0] = frames[n];
  const [t1, x1, y1, a1] = frames[Math.min(n + 1, frames.length - 1)];
  const a = t1 > t0 ? Math.min(1, Math.max(0, (time - t0) / (t1 - t0))) : 0;
  return { x: x0 + (x1 - x0) * a, y: y0 + (y1 - y0) * a, turn: a0 + (a1 - a0) * a };
}

const STAND = { body: [[0, 0, -4, 0]], back: [[0, -7, 10, 0]], front: [[0, 7, 10, 0]] };
const AIR = { body: [[0, 0, -4, 0]], back: [[0, -3, 10, -0.1]], front: [[0, 3, 10, -0.1]] };
const WALK = {
  body: [
    [0, 0, -4, 0],
    [0.2, 0, -5, 0],
    [0.4, 0, -4, 0],
    [0.6, 0, -4, 0],
    [0.8, 0, -5, 0],
    [1, 0, -4, 0],
  ],
  back: [
    [0, 8, 10, 0],
    [0.2, -8, 10, 0],
    [0.4, -10, 6, 0.2],
    [0.6, -8, 2, 0.3],
    [0.8, 4, 6, -0.2],
    [1, 8, 10, 0],
  ],
  front: [
    [0, -10, 6, 0.2],
    [0.2, -8, 2, 0.3],
    [0.4, 4, 6, -0.2],
    [0.6, 8, 10, 0],
    [0.8, 8, 10, 0],
    [1, -10, 6, 0.2],
  ],
};
const SWING = [
  [0, 0, 0, -0.1],
  [0.3, 0, 0, 0.25],
  [0.4, 0, 0, 0.3],
  [0.5, 0, 0, 0.25],
  [1, 0, 0, -0.1],
];
const NINJA_SWING = [
  [0, 0, 0, -0.25],
  [0.1, 0, 0, -0.05],
  [0.15, 0, 0, 0.35],
  [0.42, 0, 0, 0.4],
  [0.5, 0, 0, 0.35],
  [1, 0, 0, -0.25],
];

/** @type {Record<string, Held>} */
const HELD = {
  hammer: { size: 96, along: 4, down: -20 },
  gun: { size: 64, along: 32, down: 4, flash: [50, 6], hand: [(-3 * Math.PI) / 4, -15, 4] },
  shotgun: { size: 96, along: 24, down: -2, flash: [70, 6], hand: [-Math.PI / 2, -5, 4] },
  grenade: { size: 96, along: 24, down: -2, hand: [-Math.PI / 2, -4, 7] },
  laser: { size: 92, along: 24, down: -2 },
  ninja: { size: 96, along: 0, down: 0 },
};

export class TeeRenderer {
  #batch;
  #pictures;

  /** @param {SpriteBatch} batch @param {Pictures} pictures */
  constructor(batch, pictures) {
    this.#batch = batch;
    this.#pictures = pictures;
  }

  /**
   * How a player looks. `team` is -1 where colours are the player's own.
   * @param {Player|undefined} player @param {{team?: number, ninja?: boolean, seven?: boolean}} as
   * @returns {Look}
   */
  look(player, { team = -1, ninja = false, seven = false }) {
    const client = player?.client;
    const pictures = this.#pictures;
    if (seven) return this.#look_07(client, team, ninja);
    const found = pictures.skin(ninja ? 'x_ninja' : (client?.skin ?? 'default'));
    const skin = found ?? (ninja ? null : pictures.skin('default')) ?? pictures.own_skin;
    const own = skin === pictures.own_skin;
    if (ninja)
      return {
        sprites: own ? skin.grey : skin.plain,
        body: own ? color_of(0.25, 0.25, 0.3) : WHITE,
        feet: own ? color_of(0.2, 0.2, 0.25) : WHITE,
      };
    if (team >= 0) {
      const color = game_color(team === 0 ? DEFAULT_RED : DEFAULT_BLUE);
      return { sprites: skin.grey, body: color, feet: color };
    }
    if (client?.use_custom_color)
      return { sprites: skin.grey, body: game_color(client.color_body ?? 0), feet: game_color(client.color_feet ?? 0) };
    if (!own) return { sprites: skin.plain, body: WHITE, feet: WHITE };
    const color = color_of_name(client?.skin ?? 'default');
    return { sprites: skin.grey, body: color, feet: color };
  }

  /** @param {Client|undefined} client @param {number} team @param {boolean} ninja @returns {Look} */
  #look_07(client, team, ninja) {
    const names = client?.skin_part_names ?? [];
    const custom = client?.use_custom_colors ?? [];
    const colors = client?.skin_part_colors ?? [];
    /** @param {number} n */
    const color = (n) =>
      ninja
        ? color_of(0.25, 0.25, 0.3)
        : team >= 0
          ? team_color_07(team, custom[n] ? (colors[n] ?? 0) : null)
          : custom[n]
            ? game_color(colors[n] ?? 0, LEAST_07)
            : WHITE;
    /** @param {number} n @param {Part} kind */
    const part = (n, kind) => (names[n] ? this.#pictures.part(kind, names[n]) : null);
    const body = part(0, 'body');
    if (body !== null)
      return {
        parts: {
          body,
          marking: part(1, 'marking'),
          decoration: part(2, 'decoration'),
          hands: part(3, 'hands'),
          feet: part(4, 'feet'),
          eyes: part(5, 'eyes'),
        },
        body: color(0),
        marking: faded(color(1), custom[1] ? (colors[1] >>> 24) / 255 : 1),
        decoration: color(2),
        hand: color(3),
        feet: color(4),
        sprites: this.#pictures.own_skin.grey,
      };
    /** @param {number} n */
    const own = (n) => (ninja || team >= 0 || custom[n] ? color(n) : color_of_name(names[n] ?? 'standard'));
    return { sprites: this.#pictures.own_skin.grey, body: own(0), feet: own(4), hand: own(3) };
  }

  /**
   * @param {Look} look
   * @param {Place} at its middle
   * @param {Place} direction that it looks to, of length 1
   * @param {Posture} how
   */
  draw(look, at, direction, { walk = -1, air = false, emote = 0, tired = false, alpha = 1, size = 64 } = {}) {
    const frames = air ? AIR : walk >= 0 ? WALK : STAND;
    const scale = size / 64;
    const time = Math.max(0, walk);
    const body = pose_at(frames.body, time);
    const feet = [pose_at(frames.back, time), pose_at(frames.front, time)];
    const x = at.x + body.x * scale;
    const y = at.y + body.y * scale;
    /** @type {Tint} */
    const tint = (color) => (alpha === 1 ? color : faded(color, ((color >>> 24) / 255) * alpha));
    const foot_color = tired ? darker(look.feet) : look.feet;
    for (const outline of [true, false])
      for (const n of [0, 1]) {
        if (n === 1) {
          if (look.parts !== undefined) this.#body_07(look, look.parts, outline, x, y, size, tint);
          else
            this.#batch.draw(
              outline ? look.sprites.body_outline : look.sprites.body,
              x,
              y,
              size,
              size,
              0,
              tint(outline ? WHITE : look.body),
            );
          if (!outline) this.#eyes(look, x, y, direction, emote, size, tint);
        }
        const parts = look.parts?.feet;
        const sprite = parts
          ? outline
            ? parts.outline
            : parts.foot
          : outline
            ? look.sprites.foot_outline
            : look.sprites.foot;
        const width = parts ? size / 2.1 : size;
        this.#batch.draw(
          sprite,
          at.x + feet[n].x * scale,
          at.y + feet[n].y * scale,
          width,
          parts ? width : size / 2,
          feet[n].turn * 2 * Math.PI,
          tint(outline ? WHITE : foot_color),
        );
      }
  }

  /**
   * @param {Look} look @param {Parts} parts @param {boolean} outline @param {number} x @param {number} y
   * @param {number} size @param {Tint} tint
   */
  #body_07(look, { body, marking, decoration }, outline, x, y, size, tint) {
    /** @param {Sprites[string]} sprite */
    const draw = (sprite, color = WHITE) => this.#batch.draw(sprite, x, y, size, size, 0, tint(color));
    if (outline) {
      if (decoration !== null) draw(decoration.outline);
      draw(body.outline);
      return;
    }
    if (decoration !== null) draw(decoration.decoration, look.decoration);
    draw(body.body, look.body);
    if (marking !== null) draw(marking.marking, look.marking);
    draw(body.shadow);
    draw(body.upper);
  }

  /**
   * @param {Look} look @param {number} x @param {number} y @param {Place} direction @param {number} emote
   * @param {number} size @param {Tint} tint
   */
  #eyes(look, x, y, direction, emote, size, tint) {
    const name = EYES[emote] ?? 'normal';
    const ox = direction.x * 0.125 * size;
    const oy = (-0.05 + direction.y * 0.1) * size;
    if (look.parts?.eyes) {
      const w = size * 0.6;
      this.#batch.draw(look.parts.eyes[name], x + ox, y + oy, w, emote === BLINK ? w / 4 : w / 2, 0, tint(WHITE));
      return;
    }
    const apart = (0.075 - 0.01 * Math.abs(direction.x)) * size;
    const width = 0.4 * size;
    const height = emote === BLINK ? 0.15 * size : width;
    const sprite = look.sprites[`eyes_${name}`];
    const color = tint(look.parts !== undefined ? WHITE : look.body);
    this.#batch.draw(sprite, x - apart + ox, y + oy, width, height, 0, color);
    this.#batch.draw(sprite, x + apart + ox, y + oy, -width, height, 0, color);
  }

  /**
   * A hand that is held out from the middle towards `direction`.
   * @param {Look} look @param {Place} at @param {Place} direction @param {number} turn @param {number} along
   * @param {number} across
   */
  hand(look, at, direction, turn, along, across, alpha = 1) {
    const flip = direction.x < 0 ? -1 : 1;
    const angle = Math.atan2(direction.y, direction.x) + turn * flip;
    const x = at.x + direction.x + direction.x * along + -direction.y * across * flip;
    const y = at.y + direction.y + direction.y * along + direction.x * across * flip;
    const parts = look.parts?.hands;
    const color = faded(look.hand ?? look.body, alpha);
    this.#batch.draw(parts ? parts.outline : look.sprites.hand_outline, x, y, 20, 20, angle, faded(WHITE, alpha));
    this.#batch.draw(parts ? parts.hand : look.sprites.hand, x, y, 20, 20, angle, color);
  }

  /**
   * What it holds, and the hand. `since`: ticks since the last attack.
   * @param {Look} look @param {Place} at @param {Place} direction @param {number} weapon @param {number} since
   * @param {number} tick
   */
  weapon(look, at, direction, weapon, since, tick, alpha = 1) {
    const name = WEAPONS[weapon];
    if (name === undefined) return;
    const held = HELD[name];
    const sprite = this.#pictures.game[name];
    const color = faded(WHITE, alpha);
    const left = direction.x < 0;
    const aim = Math.atan2(direction.y, direction.x);
    const w = held.size * sprite.w;
    const h = held.size * sprite.h;
    const swing = since >= 0 && since < 50 ? since / 50 : 1;
    if (name === 'hammer') {
      const { turn } = pose_at(SWING, Math.min(1, swing * 5));
      const x = left ? at.x - held.along : at.x;
      this.#batch.draw(
        sprite,
        x,
        at.y + held.down,
        w,
        left ? -h : h,
        -Math.PI / 2 + (left ? -turn : turn) * 2 * Math.PI,
        color,
      );
      return;
    }
    if (name === 'ninja') {
      const { turn } = pose_at(NINJA_SWING, Math.min(1, swing * 2));
      this.#batch.draw(
        sprite,
        at.x,
        at.y + held.down,
        w,
        left ? -h : h,
        -Math.PI / 2 + (left ? -turn : turn) * 2 * Math.PI,
        color,
      );
      return;
    }
    const part = since / 5;
    const recoil = part >= 0 && part < 1 ? Math.sin(part * Math.PI) * 10 : 0;
    const x = at.x + direction.x * (held.along - recoil);
    const y = at.y + direction.y * (held.along - recoil) + held.down;
    if (held.flash !== undefined && since >= 0 && since < 5) {
      const flash = this.#pictures.game[`${name}_flash_${Math.abs(Math.floor(tick - since)) % 3}`];
      const down = left ? held.flash[1] : -held.flash[1];
      this.#batch.draw(
        flash,
        x + direction.x * held.flash[0] - direction.y * down,
        y + direction.y * held.flash[0] + direction.x * down,
        96 * flash.w,
        (left ? -96 : 96) * flash.h,
        aim,
        faded(WHITE, alpha * (1 - since / 5)),
      );
    }
    this.#batch.draw(sprite, x, y, w, left ? -h : h, aim, color);
    if (held.hand !== undefined) this.hand(look, { x, y }, direction, ...held.hand, alpha);
  }
}

/** A tee that cannot do anything. @param {Numbers|undefined} extended @param {number} tick */
export const is_frozen = (extended, tick) =>
  extended !== undefined && (extended.freeze_end === -1 || extended.freeze_end > tick);

/** Whether it looks like one. @param {Character} character @param {Numbers|undefined} extended @param {number} tick */
export const is_ninja = (character, extended, tick) =>
  character.weapon === NINJA || is_frozen(extended, tick) || (extended !== undefined && (extended.flags & (1 << 21)) !== 0);

/** @param {number} color */
function darker(color) {
  /** @param {number} shift */
  const half = (shift) => (((color >>> shift) & 255) >> 1) << shift;
  return (half(0) | half(8) | half(16) | (color & 0xff000000)) >>> 0;
}
