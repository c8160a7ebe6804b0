// Where the sprites are in the pictures of the games: [x, y, width, height] in cells. Our own drawings keep to it.

/** @typedef {{columns: number, rows: number, sprites: Record<string, number[]>}} Sheet */
/**
 * A part of a texture.
 * @typedef {{texture: WebGLTexture, u0?: number, v0?: number, u1?: number, v1?: number}} Area
 */
/**
 * `w` and `h`: its sides as shares of its diagonal.
 * @typedef {Area & {w: number, h: number}} Sprite
 */
/** @typedef {Record<string, Sprite>} Sprites by name */

export const GAME = {
  columns: 32,
  rows: 16,
  sprites: {
    hammer: [2, 1, 4, 3],
    gun: [2, 4, 4, 2],
    shotgun: [2, 6, 8, 2],
    grenade: [2, 8, 7, 2],
    ninja: [2, 10, 8, 2],
    laser: [2, 12, 7, 3],
    gun_shot: [6, 4, 2, 2],
    shotgun_shot: [10, 6, 2, 2],
    grenade_shot: [10, 8, 2, 2],
    laser_shot: [10, 12, 2, 2],
    gun_flash_0: [8, 4, 3, 2],
    gun_flash_1: [12, 4, 3, 2],
    gun_flash_2: [16, 4, 3, 2],
    shotgun_flash_0: [12, 6, 3, 2],
    shotgun_flash_1: [16, 6, 3, 2],
    shotgun_flash_2: [20, 6, 3, 2],
    hook_chain: [2, 0, 1, 1],
    hook_head: [3, 0, 2, 1],
    health: [10, 2, 2, 2],
    armor: [12, 2, 2, 2],
    blue_flag: [12, 8, 4, 8],
    red_flag: [16, 8, 4, 8],
    health_full: [21, 0, 2, 2],
    health_empty: [23, 0, 2, 2],
    armor_full: [21, 2, 2, 2],
    armor_empty: [23, 2, 2, 2],
    star: [15, 0, 2, 2],
  },
};

/** A skin of 0.6. */
export const SKIN = {
  columns: 8,
  rows: 4,
  sprites: {
    body: [0, 0, 3, 3],
    body_outline: [3, 0, 3, 3],
    foot: [6, 1, 2, 1],
    foot_outline: [6, 2, 2, 1],
    hand: [6, 0, 1, 1],
    hand_outline: [7, 0, 1, 1],
    eyes_normal: [2, 3, 1, 1],
    eyes_angry: [3, 3, 1, 1],
    eyes_pain: [4, 3, 1, 1],
    eyes_happy: [5, 3, 1, 1],
    eyes_dead: [6, 3, 1, 1],
    eyes_surprise: [7, 3, 1, 1],
  },
};

/** @typedef {'body'|'marking'|'decoration'|'hands'|'feet'|'eyes'} Part */
/** @type {Record<Part, Sheet>} parts of a skin of 0.7, each a picture */
export const PARTS = {
  body: {
    columns: 2,
    rows: 2,
    sprites: { outline: [0, 0, 1, 1], body: [1, 0, 1, 1], shadow: [0, 1, 1, 1], upper: [1, 1, 1, 1] },
  },
  marking: { columns: 1, rows: 1, sprites: { marking: [0, 0, 1, 1] } },
  decoration: { columns: 2, rows: 1, sprites: { decoration: [0, 0, 1, 1], outline: [1, 0, 1, 1] } },
  hands: { columns: 2, rows: 1, sprites: { hand: [0, 0, 1, 1], outline: [1, 0, 1, 1] } },
  feet: { columns: 2, rows: 1, sprites: { foot: [0, 0, 1, 1], outline: [1, 0, 1, 1] } },
  eyes: {
    columns: 2,
    rows: 4,
    sprites: {
      normal: [0, 0, 1, 1],
      angry: [1, 0, 1, 1],
      pain: [0, 1, 1, 1],
      happy: [1, 1, 1, 1],
      surprise: [0, 2, 1, 1],
    },
  },
};

/** @type {Sheet} */
const EMOTICONS = {
  columns: 4,
  rows: 4,
  sprites: Object.fromEntries(Array.from({ length: 16 }, (_, n) => [n, [n % 4, n >> 2, 1, 1]])),
};
export { EMOTICONS };

/** @type {(string|undefined)[]} */
export const WEAPONS = ['hammer', 'gun', 'shotgun', 'grenade', 'laser', 'ninja'];

/** The sprites of a texture. @param {WebGLTexture} texture @param {Sheet} sheet */
export function sprites_in(texture, { columns, rows, sprites }) {
  /** @type {Sprites} */
  const made = {};
  for (const [name, [x, y, w, h]] of Object.entries(sprites)) {
    const diagonal = Math.hypot(w, h);
    made[name] = {
      texture,
      u0: x / columns,
      v0: y / rows,
      u1: (x + w) / columns,
      v1: (y + h) / rows,
      w: w / diagonal,
      h: h / diagonal,
    };
  }
  return made;
}
