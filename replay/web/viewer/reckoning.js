// Positions of tees between updates. A server sends a character as it was at `tick`, as long as every client that moves
// it on by the rules of the game gets the same result. So do we, by the standard rules.

/** Three seconds: servers send again after that. */
const MOST_TICKS = 150;
const GRAVITY = 0.5;
const GROUND = { speed: 10, acceleration: 2, friction: 0.5 };
const AIR = { speed: 5, acceleration: 1.5, friction: 0.95 };
const HOOK = { length: 380, speed: 80, drag: 3, most: 15 };
const RAMP = { start: 550, range: 2000, curvature: 1.4 };
const HALF = 14; // of a tee's box
const IDLE = 0,
  RETRACTING = 1,
  RETRACTED = -1,
  FLYING = 4,
  GRABBED = 5;
const FASTEST = 6000;
/** Steps of a move: more than a tee of the game ever needs. */
const MOST_STEPS = 512;
const UNHOOKABLE = 3;

/** @import { Ground } from './ground.js' */
/**
 * An item of the type character: speeds are in 256ths of a unit a tick. `player_flags` are of 0.6.
 * @typedef {{id: number, tick: number, x: number, y: number, vel_x: number, vel_y: number, angle: number, direction: number,
 *   jumped: number, hooked_player: number, hook_state: number, hook_x: number, hook_y: number, hook_dx: number,
 *   hook_dy: number, player_flags?: number, health: number, armor: number, ammo_count: number, weapon: number,
 *   emote: number, attack_tick: number}} Character
 */
/**
 * A tee on its way.
 * @typedef {{x: number, y: number, vx: number, vy: number, direction: number, jumped: number, state: number,
 *   hook_x: number, hook_y: number, hook_dx: number, hook_dy: number, hooked_player: number}} Core
 */

/** Adds, but for what goes beyond the limits by it. @param {number} value @param {number} by @param {number} limit */
function added(value, by, limit) {
  if (by < 0) return value < -limit ? value : Math.max(-limit, value + by);
  return value > limit ? value : Math.min(limit, value + by);
}

/** @param {Ground} ground @param {number} x @param {number} y */
const box_hits = (ground, x, y) =>
  ground.solid(x - HALF, y - HALF) ||
  ground.solid(x + HALF, y - HALF) ||
  ground.solid(x - HALF, y + HALF) ||
  ground.solid(x + HALF, y + HALF);

/** @param {Core} core @param {Ground} ground */
function move(core, ground) {
  const speed = Math.hypot(core.vx, core.vy) * 50;
  const ramp = speed < RAMP.start ? 1 : 1 / RAMP.curvature ** ((speed - RAMP.start) / RAMP.range);
  let vx = core.vx * ramp;
  let vy = core.vy;
  const steps = Math.min(MOST_STEPS, Math.floor(Math.hypot(vx, vy)) + 1);
  for (let n = 0; n < steps; ++n) {
    let x = core.x + vx / steps;
    let y = core.y + vy / steps;
    if (box_hits(ground, x, y)) {
      const down = box_hits(ground, core.x, y);
      const side = box_hits(ground, x, core.y);
      if (down || !side) {
        y = core.y;
        vy = 0;
      }
      if (side || !down) {
        x = core.x;
        vx = 0;
      }
    }
    core.x = x;
    core.y = y;
  }
  core.vx = vx / ramp;
  core.vy = vy;
}

/** How a hook flies, holds, and pulls. @param {Core} core @param {Ground} ground */
function hook(core, ground) {
  if (core.state === IDLE) {
    core.hook_x = core.x;
    core.hook_y = core.y;
  } else if (core.state >= RETRACTING && core.state < FLYING) {
    core.state = core.state + 1 === FLYING ? RETRACTED : core.state + 1;
  } else if (core.state === FLYING) {
    let x = core.hook_x + core.hook_dx * HOOK.speed;
    let y = core.hook_y + core.hook_dy * HOOK.speed;
    const far = Math.hypot(x - core.x, y - core.y);
    if (far > HOOK.length) {
      core.state = RETRACTING;
      x = core.x + ((x - core.x) / far) * HOOK.length;
      y = core.y + ((y - core.y) / far) * HOOK.length;
    }
    const way = Math.min(MOST_STEPS, Math.ceil(Math.hypot(x - core.hook_x, y - core.hook_y)));
    for (let n = 0; n <= way && way > 0; ++n) {
      const px = core.hook_x + ((x - core.hook_x) * n) / way;
      const py = core.hook_y + ((y - core.hook_y) * n) / way;
      if (!ground.solid(px, py)) continue;
      core.state = ground.tile(px, py) === UNHOOKABLE ? RETRACTING : GRABBED;
      x = core.hook_x + ((x - core.hook_x) * Math.max(0, n - 1)) / way;
      y = core.hook_y + ((y - core.hook_y) * Math.max(0, n - 1)) / way;
      break;
    }
    core.hook_x = x;
    core.hook_y = y;
  }
  if (core.state !== GRABBED || core.hooked_player !== -1) return;
  const way = Math.hypot(core.hook_x - core.x, core.hook_y - core.y);
  if (way <= 46) return;
  let px = ((core.hook_x - core.x) / way) * HOOK.drag;
  let py = ((core.hook_y - core.y) / way) * HOOK.drag;
  if (py > 0) py *= 0.3;
  px *= (px < 0 && core.direction < 0) || (px > 0 && core.direction > 0) ? 0.95 : 0.75;
  const faster = Math.hypot(core.vx + px, core.vy + py);
  if (faster >= HOOK.most && faster >= Math.hypot(core.vx, core.vy)) return;
  core.vx += px;
  core.vy += py;
}

/** @param {Core} core @param {Ground} ground */
function step(core, ground) {
  const grounded = ground.solid(core.x + HALF, core.y + HALF + 5) || ground.solid(core.x - HALF, core.y + HALF + 5);
  const { speed, acceleration, friction } = grounded ? GROUND : AIR;
  core.vy += GRAVITY;
  if (core.direction === 0) core.vx *= friction;
  else core.vx = added(core.vx, core.direction < 0 ? -acceleration : acceleration, speed);
  if (grounded) core.jumped &= ~2;
  hook(core, ground);
  const length = Math.hypot(core.vx, core.vy);
  if (length > FASTEST) {
    core.vx *= FASTEST / length;
    core.vy *= FASTEST / length;
  }
  move(core, ground);
  // Sent values have no more digits than this, so that all get the same result.
  for (const name of /** @type {const} */ (['x', 'y', 'hook_x', 'hook_y'])) core[name] = Math.round(core[name]);
  for (const name of /** @type {const} */ (['vx', 'vy', 'hook_dx', 'hook_dy']))
    core[name] = Math.round(core[name] * 256) / 256;
}

/**
 * The character as it is at `tick`.
 * @param {Character} item @param {number} tick
 * @param {Ground|null} ground null without a map
 */
export function reckon(item, tick, ground) {
  if (ground === null || item.tick <= 0 || item.tick >= tick) return item;
  const core = {
    x: item.x,
    y: item.y,
    vx: item.vel_x / 256,
    vy: item.vel_y / 256,
    direction: item.direction,
    jumped: item.jumped,
    state: item.hook_state,
    hook_x: item.hook_x,
    hook_y: item.hook_y,
    hook_dx: item.hook_dx / 256,
    hook_dy: item.hook_dy / 256,
    hooked_player: item.hooked_player,
  };
  for (let n = Math.min(MOST_TICKS, tick - item.tick); n > 0; --n) step(core, ground);
  return {
    ...item,
    tick,
    x: core.x,
    y: core.y,
    vel_x: core.vx * 256,
    vel_y: core.vy * 256,
    jumped: core.jumped,
    hook_state: core.state,
    hook_x: core.hook_x,
    hook_y: core.hook_y,
  };
}
