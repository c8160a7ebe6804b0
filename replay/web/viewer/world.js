// The game in a snapshot, whatever the protocol: players, tees, and everything that lies and flies about.

import { reckon } from './reckoning.js';

/** @import { Protocol, Snapshot } from './teewire.js' */
/** @import { Ground } from './ground.js' */
/** @import { Character } from './reckoning.js' */

/** @typedef {{id: number} & Record<string, number>} Numbers an item whose fields are numbers */
/**
 * A player's name and looks: those of 0.6, or those of 0.7.
 * @typedef {{id: number, name: string, clan: string, skin?: string, use_custom_color?: number, color_body?: number,
 *   color_feet?: number, local?: boolean, team?: number, skin_part_names?: string[], use_custom_colors?: boolean[],
 *   skin_part_colors?: number[]}} Client
 */
/**
 * Ticks are -1 where there are none.
 * @typedef {{id: number, name: string, clan: string, team: number, dead: boolean, local: boolean, client?: Client,
 *   score: number, latency: number, afk: boolean, race_start: number}} Player
 */
/**
 * A shot: where it began, its direction, and the weapon.
 * @typedef {{x: number, y: number, dx: number, dy: number, type: number, start: number, frozen?: boolean}} Projectile
 */
/** @typedef {Record<number, [speed: number, curvature: number]|undefined>} Tuning of projectiles, by weapon */

const WEAPONS_07 = [null, null, 3, 2, 4, 5, 1, 0]; // pickups of 0.7 that are weapons
const PICKUPS_DDNET = ['health', 'armor', 'weapon', 'ninja', 'armor', 'armor', 'armor', 'armor'];

/** Bits of game_state_flags, by protocol. */
const STATE_06 = { over: 1, sudden_death: 2, paused: 4, race: 8 };
const STATE_07 = { over: 8, sudden_death: 2, paused: 16, race: 0 };

/** The items of a type. @param {Snapshot} snapshot @param {string} type */
const all = (snapshot, type) => /** @type {Numbers[]} */ (snapshot.all(type));

/** @template {{id: number}} T @param {T[]} items @returns {Map<number, T>} */
const by_id = (items) => new Map(items.map((item) => [item.id, item]));

export class World {
  #reckoned = false;

  /** @param {Snapshot} snapshot @param {Protocol} protocol */
  constructor(snapshot, protocol) {
    this.tick = snapshot.tick;
    this.snapshot = snapshot;
    this.seven = protocol === '0.7';
    this.characters = by_id(/** @type {Character[]} */ (snapshot.all('character')));
    this.extended = by_id(all(snapshot, 'ddnet_character'));
    this.game = this.#game();
    /** @type {Map<number, Player>} */
    this.players = new Map();
    this.local = -1;
    this.#read_players();
    this.viewed = all(snapshot, 'spectator_info')[0] ?? null;
    this.projectiles = this.#projectiles();
    this.lasers = this.#lasers();
    this.pickups = this.#pickups();
    this.flags = all(snapshot, 'flag');
    this.explosions = all(snapshot, 'event_explosion');
    this.spawns = all(snapshot, 'event_spawn');
    this.hits = all(snapshot, 'event_hammer_hit');
    this.deaths = all(snapshot, 'event_death');
    this.damage = [...all(snapshot, 'event_damage_ind'), ...all(snapshot, 'event_damage')];
    this.finishes = [...all(snapshot, 'event_finish'), ...all(snapshot, 'event_birthday')];
  }

  /** Moves characters on that were sent as they had been before. Once. @param {Ground|null} ground */
  reckon(ground) {
    if (this.#reckoned || ground === null) return;
    this.#reckoned = true;
    for (const [id, item] of this.characters) this.characters.set(id, reckon(item, this.tick, ground));
  }

  #game() {
    const { snapshot } = this;
    /** @type {Numbers|undefined} */
    const info = all(snapshot, 'game_info')[0];
    /** @type {Numbers|undefined} */
    const data = all(snapshot, 'game_data')[0];
    const bits = this.seven ? STATE_07 : STATE_06;
    const flags = (this.seven ? data?.game_state_flags : info?.game_state_flags) ?? 0;
    /** @type {Numbers|undefined} */
    const teams = this.seven ? all(snapshot, 'game_data_team')[0] : data;
    /** @type {Numbers|undefined} */
    const carriers = this.seven ? all(snapshot, 'game_data_flag')[0] : data;
    const begin = (this.seven ? data?.game_start_tick : info?.round_start_tick) ?? 0;
    const warmup = info?.warmup_timer ?? 0;
    const race = (flags & bits.race) !== 0 && warmup < 0;
    const kinds = info?.game_flags ?? (teams === undefined ? 0 : 1);
    return {
      begin,
      over: (flags & bits.over) !== 0,
      paused: (flags & bits.paused) !== 0,
      sudden_death: (flags & bits.sudden_death) !== 0,
      teams: (kinds & 1) !== 0,
      flags: (kinds & 2) !== 0,
      red: teams?.teamscore_red ?? 0,
      blue: teams?.teamscore_blue ?? 0,
      carriers: [carriers?.flag_carrier_red ?? -3, carriers?.flag_carrier_blue ?? -3],
      time_limit: info?.time_limit ?? 0,
      score_limit: info?.score_limit ?? 0,
      warmup: race || this.seven ? 0 : warmup,
      race_start: race ? -warmup : null,
      // DDNet's game_info_ex: scores are times.
      times: ((all(snapshot, 'game_info_ex')[0]?.flags ?? 0) & 1) !== 0 || (this.seven && (kinds & 8) !== 0),
    };
  }

  #read_players() {
    const { snapshot } = this;
    const infos = by_id(/** @type {Client[]} */ (snapshot.all('client_info')));
    const marks = by_id(all(snapshot, 'ddnet_player'));
    const races = by_id(all(snapshot, 'player_info_race'));
    for (const item of all(snapshot, 'player_info')) {
      const id = this.seven ? item.id : item.client_id;
      const client = infos.get(id) ?? infos.get(item.id);
      const dead = this.seven && (item.player_flags & 16) !== 0;
      const team = this.seven ? (client?.team ?? 0) : item.team;
      const local = this.seven ? client?.local === true : item.local === 1;
      if (local) this.local = id;
      this.players.set(id, {
        id,
        name: client?.name ?? '',
        clan: client?.clan ?? '',
        team,
        dead,
        local,
        client,
        score: item.score,
        latency: item.latency,
        afk: ((marks.get(id)?.flags ?? 0) & 1) !== 0,
        race_start: races.get(id)?.race_start_tick ?? -1,
      });
    }
  }

  #projectiles() {
    const { snapshot } = this;
    return [
      ...all(snapshot, 'projectile').map(plain_projectile),
      ...all(snapshot, 'ddrace_projectile').map((p) => angled_projectile(p, p.angle, p.data)),
      ...all(snapshot, 'ddnet_projectile').map(far_projectile),
    ];
  }

  #lasers() {
    return [
      ...all(this.snapshot, 'laser').map((l) => ({ ...laser_from(l), x: l.x, y: l.y, type: 0 })),
      ...all(this.snapshot, 'ddnet_laser').map((l) => ({ ...laser_from(l), x: l.to_x, y: l.to_y, type: l.type })),
    ];
  }

  #pickups() {
    return [...all(this.snapshot, 'pickup'), ...all(this.snapshot, 'ddnet_pickup')].map((p) => {
      if (!this.seven) return { x: p.x, y: p.y, kind: PICKUPS_DDNET[p.type] ?? 'health', weapon: p.subtype };
      const weapon = WEAPONS_07[p.type] ?? null;
      return {
        x: p.x,
        y: p.y,
        kind: weapon === null ? (['health', 'armor'][p.type] ?? 'health') : weapon === 5 ? 'ninja' : 'weapon',
        weapon: weapon ?? 0,
      };
    });
  }
}

/** @param {Numbers} item */
const laser_from = ({ from_x, from_y, start_tick }) => ({ from_x, from_y, start: start_tick });

const IS_DDNET = 1 << 9;

/** @param {Numbers} p @returns {Projectile} */
function plain_projectile(p) {
  if (p.vel_y >= 0 && (p.vel_y & IS_DDNET) !== 0) return angled_projectile(p, p.vel_x, p.vel_y);
  return { x: p.x, y: p.y, dx: p.vel_x / 100, dy: p.vel_y / 100, type: p.type, start: p.start_tick };
}

/**
 * As the old clients of DDRace got them: a place in hundredths, and a direction.
 * @param {Numbers} p @param {number} angle @param {number} data
 * @returns {Projectile}
 */
function angled_projectile(p, angle, data) {
  const a = -angle / 1e6;
  return {
    x: p.x / 100,
    y: p.y / 100,
    dx: Math.sin(a),
    dy: Math.cos(a),
    type: p.type,
    start: p.start_tick,
    frozen: (data & (1 << 13)) !== 0,
  };
}

/** @param {Numbers} p @returns {Projectile} */
function far_projectile(p) {
  let dx = p.vel_x / 1e6;
  let dy = p.vel_y / 1e6;
  const length = Math.hypot(dx, dy);
  if ((p.flags & 16) !== 0 && length > 0) {
    dx /= length;
    dy /= length;
  }
  return { x: p.x / 100, y: p.y / 100, dx, dy, type: p.type, start: p.start_tick, frozen: (p.flags & 8) !== 0 };
}

/** Speed in units a second and curvature of each weapon's projectiles, unless a server has others. */
const GUN = /** @type {[number, number]} */ ([2200, 1.25]);
/** @type {Tuning} */
const STANDARD_TUNING = { 1: GUN, 2: [2750, 1.25], 3: [1000, 7] };

/**
 * Where a projectile is at a tick, which may have a fraction; null before it was shot.
 * @param {Projectile} p @param {number} tick
 */
export function place_of_projectile(p, tick, tuning = STANDARD_TUNING) {
  const seconds = (tick - p.start) / 50;
  if (seconds < 0) return null;
  const [speed, curvature] = tuning[p.type] ?? GUN;
  const way = seconds * speed;
  return { x: p.x + p.dx * way, y: p.y + p.dy * way + (curvature / 10000) * way * way };
}

/**
 * The tuning of projectiles from the ints of a tune_params message, in hundredths.
 * @param {number[]} ints
 * @returns {Tuning}
 */
export function projectile_tuning(ints) {
  /** @param {number} n @param {number} otherwise */
  const value = (n, otherwise) => (ints[n] === undefined ? otherwise : ints[n] / 100);
  return {
    1: [value(17, 2200), value(16, 1.25)],
    2: [value(20, 2750), value(19, 1.25)],
    3: [value(24, 1000), value(23, 7)],
  };
}

/** A player's name in a World, else a number. @param {World|null} world @param {number} id */
export const name_in = (world, id) => world?.players.get(id)?.name || (id >= 0 ? `#${id}` : '');
