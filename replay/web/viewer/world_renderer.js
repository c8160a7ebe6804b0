// Moving things: tees, hooks, shots, pickups, flags, and the remains of explosions.
import * as twgl from 'twgl.js';
import { color_of, faded, WHITE } from './sprite_batch.js';
import { is_frozen, is_ninja } from './tee_renderer.js';
import { WEAPONS } from './sprites.js';
import { place_of_projectile } from './world.js';

/** @import { Camera } from './camera.js' */
/** @import { Ground } from './ground.js' */
/** @import { Pictures } from './pictures.js' */
/** @import { Character } from './reckoning.js' */
/** @import { Area } from './sprites.js' */
/** @import { SpriteBatch } from './sprite_batch.js' */
/** @import { Look, TeeRenderer } from './tee_renderer.js' */
/** @import { TextAtlas } from './text_atlas.js' */
/** @import { Tuning, World } from './world.js' */

/**
 * A tee between two snapshots.
 * @typedef {{id: number, now: Character, old: Character, x: number, y: number, vx: number, angle: number, hook_x: number,
 *   hook_y: number}} Tee
 */
/** @typedef {Tee & {look: Look}} Dressed */
/**
 * What is to be seen at a tick. `tees` and `emoticons`: by client id. `recent`: Worlds of the last EFFECT_TICKS.
 * @typedef {{before: World, after: World|null, tick: number, ground: Ground|null, tees: Map<number, Tee>, recent: World[],
 *   emoticons: Map<number, {tick: number, emoticon: number}>, tuning: Tuning|undefined}} Moment
 */
/** @typedef {{names: boolean, selected: number|null}} Options */

const EFFECT_TICKS = 40;
/** @typedef {[red: number, green: number, blue: number]} Rgb */
const LASER_TICKS = 7.5;
/** @type {[outer: Rgb, inner: Rgb][]} */
const LASERS = [
  [
    [0.075, 0.075, 0.25],
    [0.5, 0.5, 1],
  ],
  [
    [0.125, 0.1, 0.05],
    [0.57, 0.42, 0.24],
  ],
  [
    [0, 0.29, 0.15],
    [0.42, 0.85, 0.56],
  ],
  [
    [0.12, 0.16, 0.2],
    [0.48, 0.55, 0.67],
  ],
  [
    [0.1, 0.1, 0.3],
    [0.5, 0.6, 0.9],
  ],
];
const LASTING = 2; // this type of laser and those above are doors and the like

/** @type {Record<string, number|undefined>} */
const WEAPON_SIZES = { hammer: 96, shotgun: 96, grenade: 96, laser: 92 };

/** @param {number} a @param {number} b @param {number} part */
const mix = (a, b, part) => a + (b - a) * part;

/** The shorter way round. @param {number} a @param {number} b @param {number} part */
function mix_angle(a, b, part) {
  let way = (b - a) % (2 * Math.PI);
  if (way > Math.PI) way -= 2 * Math.PI;
  if (way < -Math.PI) way += 2 * Math.PI;
  return a + way * part;
}

/** A soft disc, and a ring. @param {WebGL2RenderingContext} gl */
function particle_texture(gl) {
  const side = 64;
  const data = new Uint8Array(side * side * 2 * 4);
  for (let y = 0; y < side; ++y)
    for (let x = 0; x < 2 * side; ++x) {
      const r = Math.hypot((x % side) - 31.5, y - 31.5) / 31.5;
      const a = x < side ? Math.max(0, 1 - r) ** 0.8 : Math.max(0, 1 - Math.abs(r - 0.8) * 6);
      data.fill(Math.round(a * 255), (y * 2 * side + x) * 4, (y * 2 * side + x) * 4 + 4);
    }
  const texture = twgl.createTexture(gl, {
    src: data,
    width: 2 * side,
    height: side,
    minMag: gl.LINEAR,
    wrap: gl.CLAMP_TO_EDGE,
  });
  return { disc: { texture, u0: 0, u1: 0.5, v0: 0, v1: 1 }, ring: { texture, u0: 0.5, u1: 1, v0: 0, v1: 1 } };
}

/** From 0 to 1, the same for the same numbers. @param {number} a @param {number} b */
const chance = (a, b) => {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 1, 0xc2b2ae35);
  h ^= h >>> 15;
  return (Math.imul(h, 0x27d4eb2f) >>> 8) / 0x1000000;
};

export class WorldRenderer {
  #batch;
  #pictures;
  #tees;
  #texts;
  #particles;

  /**
   * @param {WebGL2RenderingContext} gl @param {SpriteBatch} batch @param {Pictures} pictures @param {TeeRenderer} tees
   * @param {TextAtlas} texts
   */
  constructor(gl, batch, pictures, tees, texts) {
    this.#batch = batch;
    this.#pictures = pictures;
    this.#tees = tees;
    this.#texts = texts;
    this.#particles = particle_texture(gl);
  }

  /**
   * Where the tees of a moment are.
   * @param {Pick<Moment, 'before'|'after'|'tick'>} moment
   */
  static tees({ before, after, tick }) {
    /** @type {Moment['tees']} */
    const tees = new Map();
    const part = after === null ? 0 : Math.min(1, Math.max(0, (tick - before.tick) / (after.tick - before.tick)));
    for (const [id, old] of before.characters) {
      const now = after?.characters.get(id) ?? (after === null ? old : undefined);
      if (now === undefined) continue;
      // Further than anything moves by itself: it was put there.
      const far = Math.hypot(now.x - old.x, now.y - old.y) > 600;
      const p = far ? (part < 0.5 ? 0 : 1) : part;
      tees.set(id, {
        id,
        now,
        old,
        x: mix(old.x, now.x, p),
        y: mix(old.y, now.y, p),
        vx: mix(old.vel_x, now.vel_x, p) / 256,
        angle: mix_angle(old.angle / 256, now.angle / 256, p),
        hook_x: mix(old.hook_state > 0 ? old.hook_x : old.x, now.hook_x, p),
        hook_y: mix(old.hook_state > 0 ? old.hook_y : old.y, now.hook_y, p),
      });
    }
    return tees;
  }

  /**
   * @param {Moment} moment @param {Camera} camera
   * @param {Options} options
   */
  draw(moment, camera, options) {
    const world = moment.after ?? moment.before;
    this.#batch.begin(camera.view());
    this.#pickups(world, moment.tick);
    this.#flags(moment, world);
    this.#lasers(world, moment.tick);
    this.#projectiles(world, moment);
    const order = [...moment.tees.values()].sort(
      (a, b) => Number(a.id === options.selected) - Number(b.id === options.selected) || b.id - a.id,
    );
    const dressed = order.map((tee) => ({ ...tee, look: this.#look(world, tee, moment.tick) }));
    for (const tee of dressed) this.#hook(moment, tee);
    for (const tee of dressed) this.#tee(moment, world, tee);
    this.#effects(moment, world);
    this.#batch.flush();
  }

  /**
   * Names and emoticons, which nothing of the map hides.
   * @param {Moment} moment @param {Camera} camera @param {Options} options
   */
  draw_names(moment, camera, options) {
    const world = moment.after ?? moment.before;
    this.#batch.begin(camera.view());
    for (const tee of moment.tees.values()) this.#above(moment, world, tee, camera, options);
    this.#batch.flush();
  }

  /** @param {World} world @param {Tee} tee @param {number} tick */
  #look(world, tee, tick) {
    const player = world.players.get(tee.id);
    return this.#tees.look(player, {
      team: world.game.teams ? (player?.team ?? -1) : -1,
      ninja: is_ninja(tee.now, world.extended.get(tee.id), tick),
      seven: world.seven,
    });
  }

  /** @param {World} world @param {number} tick */
  #pickups(world, tick) {
    for (const { x, y, kind, weapon } of world.pickups) {
      const name = kind === 'weapon' ? (WEAPONS[weapon] ?? 'gun') : kind;
      const sprite = this.#pictures.game[name];
      const size = kind === 'ninja' ? 128 : (WEAPON_SIZES[name] ?? 64);
      const phase = tick / 25 + x / 32 + y / 32;
      this.#batch.draw(sprite, x + Math.cos(phase) * 2.5, y + Math.sin(phase) * 2.5, size * sprite.w, size * sprite.h);
    }
  }

  /** @param {Moment} moment @param {World} world */
  #flags({ tees }, world) {
    for (const { x, y, team } of world.flags) {
      const carrier = tees.get(world.game.carriers[team] ?? -3);
      const at = carrier ?? { x, y };
      this.#batch.draw(this.#pictures.game[team === 1 ? 'blue_flag' : 'red_flag'], at.x, at.y - 42 * 0.75, 42, 84);
    }
  }

  /** @param {World} world @param {number} tick */
  #lasers(world, tick) {
    for (const laser of world.lasers) {
      const age = tick - laser.start;
      const rest = laser.type >= LASTING ? 1 : 1 - Math.min(1, Math.max(0, age / LASER_TICKS));
      if (rest <= 0) continue;
      const [outer, inner] = LASERS[laser.type] ?? LASERS[0];
      const { x, y, from_x, from_y } = laser;
      if (x !== from_x || y !== from_y) {
        this.#batch.line(from_x, from_y, x, y, 14 * rest, color_of(...outer));
        this.#batch.line(from_x, from_y, x, y, 10 * rest, color_of(...inner));
      }
      this.#batch.draw(this.#particles.disc, x, y, 40, 40, 0, faded(color_of(...inner), 0.8));
    }
  }

  /** @param {World} world @param {Moment} moment */
  #projectiles(world, { tick, tuning }) {
    for (const shot of world.projectiles) {
      const at = place_of_projectile(shot, tick, tuning);
      if (at === null) continue;
      const before = place_of_projectile(shot, tick - 0.5, tuning) ?? { x: at.x - shot.dx, y: at.y - shot.dy };
      if (shot.type === 3)
        for (let n = 1; n <= 5; ++n) {
          const smoke = place_of_projectile(shot, tick - n * 1.5, tuning);
          if (smoke !== null)
            this.#batch.draw(
              this.#particles.disc,
              smoke.x,
              smoke.y,
              14 + 4 * n,
              14 + 4 * n,
              0,
              faded(WHITE, 0.4 - n * 0.06),
            );
        }
      const name = ['gun', 'gun', 'shotgun', 'grenade', 'laser', 'gun'][shot.type] ?? 'gun';
      const angle = shot.type === 3 ? tick * 0.25 : Math.atan2(at.y - before.y, at.x - before.x);
      this.#batch.draw(this.#pictures.game[`${name}_shot`], at.x, at.y, 32, 32, angle);
    }
  }

  /** @param {Moment} moment @param {Dressed} tee */
  #hook({ tees }, tee) {
    const { now, look } = tee;
    if (now.hook_state <= 0) return;
    const caught = now.hooked_player >= 0 ? tees.get(now.hooked_player) : undefined;
    const hx = caught?.x ?? tee.hook_x;
    const hy = caught?.y ?? tee.hook_y;
    const length = Math.hypot(hx - tee.x, hy - tee.y);
    if (length < 1 || length > 4000) return;
    const dx = (tee.x - hx) / length;
    const dy = (tee.y - hy) / length;
    const angle = Math.atan2(dy, dx) + Math.PI;
    for (let way = 24; way < length; way += 24)
      this.#batch.draw(this.#pictures.game.hook_chain, hx + dx * way, hy + dy * way, 24, 16, angle);
    this.#batch.draw(this.#pictures.game.hook_head, hx, hy, 24, 16, angle);
    this.#tees.hand(look, tee, { x: -dx, y: -dy }, -Math.PI / 2, 20, 0);
  }

  /** @param {Moment} moment @param {World} world @param {Dressed} tee */
  #tee({ tick, ground }, world, tee) {
    const { now, look } = tee;
    const direction = { x: Math.cos(tee.angle), y: Math.sin(tee.angle) };
    const air = ground !== null && !ground.solid(tee.x, tee.y + 16);
    const walk = Math.abs(tee.vx) > 1 ? (((tee.x % 100) + 100) % 100) / 100 : -1;
    const player = world.players.get(tee.id);
    if (!is_frozen(world.extended.get(tee.id), tick))
      this.#tees.weapon(look, tee, direction, now.weapon, now.attack_tick > 0 ? tick - now.attack_tick : -1, tick);
    this.#tees.draw(look, tee, direction, {
      air,
      walk,
      emote: player?.afk ? 5 : now.emote,
      tired: (now.jumped & 2) !== 0,
    });
  }

  /**
   * Name, emoticon, and the sign that a player writes.
   * @param {Moment} moment @param {World} world @param {Tee} tee @param {Camera} camera @param {Options} options
   */
  #above({ tick, emoticons }, world, tee, camera, { names, selected }) {
    const player = world.players.get(tee.id);
    const emoticon = emoticons.get(tee.id);
    const since = emoticon === undefined ? -1 : (tick - emoticon.tick) / 50;
    if (emoticon !== undefined && since >= 0 && since < 2) {
      const grown = Math.min(1, since * 10, (2 - since) * 5);
      const tilt = since < 0.3 ? Math.sin(since * 30) * (0.3 - since) : 0;
      const sprite = this.#pictures.emoticons[emoticon.emoticon];
      if (sprite) this.#batch.draw(sprite, tee.x, tee.y - 23 - 32 * grown - (names ? 28 : 0), 64, 64 * grown, tilt);
    }
    const flags = tee.now.player_flags ?? 0;
    const chats = world.seven ? false : (flags & 4) !== 0;
    if (names && player !== undefined && player.name !== '') {
      // Not smaller than can be read, however far away.
      const size = 30 * Math.max(1, Math.min(2.5, camera.zoom * 0.8));
      const sprite = this.#texts.sprite(chats ? `${player.name} …` : player.name, () => this.#batch.flush());
      const color = tee.id === selected ? color_of(1, 0.9, 0.45) : WHITE;
      this.#batch.draw(sprite, tee.x, tee.y - 38 - size / 2, size * sprite.w, size, 0, color);
    }
  }

  /** @param {Moment} moment @param {World} world */
  #effects({ recent, tick }, world) {
    const { disc, ring } = this.#particles;
    const { star } = this.#pictures.game;
    for (const past of recent) {
      const age = (tick - past.tick) / 50;
      if (age < 0 || age > EFFECT_TICKS / 50) continue;
      for (const { x, y } of past.explosions) {
        if (age < 0.4) {
          const a = 1 - age / 0.4;
          this.#batch.draw(disc, x, y, 220 * (1 - a * 0.5), 220 * (1 - a * 0.5), 0, faded(color_of(1, 0.55, 0.15), a));
          this.#batch.draw(disc, x, y, 120 * a + 20, 120 * a + 20, 0, faded(color_of(1, 0.95, 0.7), a));
        }
        for (let n = 0; n < 8; ++n) {
          const turn = chance(past.tick + n, x) * 2 * Math.PI;
          const way = (30 + 90 * chance(y, n)) * Math.sqrt(age);
          this.#batch.draw(
            disc,
            x + Math.cos(turn) * way,
            y + Math.sin(turn) * way - age * 20,
            24 + 50 * age,
            24 + 50 * age,
            0,
            faded(color_of(0.5, 0.5, 0.5), 0.5 - age / 1.6),
          );
        }
      }
      for (const { x, y } of past.spawns)
        if (age < 0.5)
          this.#batch.draw(ring, x, y, 40 + 160 * age, 40 + 160 * age, 0, faded(color_of(0.8, 0.9, 1), 1 - age * 2));
      for (const { x, y } of past.hits)
        if (age < 0.3)
          this.#batch.draw(star, x, y, 60 + 80 * age, 60 + 80 * age, chance(x, y) * 6, faded(WHITE, 1 - age / 0.3));
      for (const { x, y } of past.finishes) this.#burst(star, x, y, age, past.tick, 16, color_of(1, 0.85, 0.3));
      for (const { x, y, client_id } of past.deaths) {
        const look = this.#tees.look(past.players.get(client_id) ?? world.players.get(client_id), {
          seven: world.seven,
        });
        this.#burst(
          disc,
          x,
          y,
          age,
          past.tick + client_id,
          20,
          look.body === WHITE ? color_of(0.8, 0.6, 0.4) : look.body,
        );
      }
      for (const { x, y, angle } of past.damage)
        if (age < 0.6) {
          const turn = angle / 256 - Math.PI / 2;
          const way = 28 + 60 * age;
          this.#batch.draw(
            star,
            x - Math.cos(turn) * way,
            y - Math.sin(turn) * way,
            32,
            32,
            age * 3,
            faded(WHITE, 1 - age / 0.6),
          );
        }
    }
  }

  /**
   * @param {Area} sprite @param {number} x @param {number} y @param {number} age @param {number} seed
   * @param {number} count @param {number} color
   */
  #burst(sprite, x, y, age, seed, count, color) {
    if (age > 0.8) return;
    for (let n = 0; n < count; ++n) {
      const turn = chance(seed, n) * 2 * Math.PI;
      const speed = 80 + 240 * chance(n, seed);
      this.#batch.draw(
        sprite,
        x + Math.cos(turn) * speed * age,
        y + Math.sin(turn) * speed * age + 300 * age * age,
        28,
        28,
        turn + age * 6,
        faded(color, 1 - age / 0.8),
      );
    }
  }
}
export { EFFECT_TICKS };
