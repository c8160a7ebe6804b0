// The game in a snapshot, whatever the protocol: players, tees, and everything that lies and flies about.

import { reckon } from './reckoning.js';

const WEAPONS_07 = [null, null, 3, 2, 4, 5, 1, 0]; // pickups of 0.7 that are weapons
const PICKUPS_DDNET = ['health', 'armor', 'weapon', 'ninja', 'armor', 'armor', 'armor', 'armor'];

/** Bits of game_state_flags, by protocol. */
const STATE_06 = { over: 1, sudden_death: 2, paused: 4, race: 8 };
const STATE_07 = { over: 8, sudden_death: 2, paused: 16, race: 0 };

const by_id = (items) => new Map(items.map((item) => [item.id, item]));

export class World {
  #reckoned = false;

  /** @param {import('teewire').Snapshot} snapshot */
  constructor(snapshot, protocol) {
    this.tick = snapshot.tick;
    this.snapshot = snapshot;
    this.seven = protocol === '0.7';
    this.characters = by_id(snapshot.all('character'));
    this.extended = by_id(snapshot.all('ddnet_character'));
    this.#read_game(snapshot);
    this.#read_players(snapshot);
    this.#read_things(snapshot);
  }

  /** Moves characters on that were sent as they had been before. Once. */
  reckon(ground) {
    if (this.#reckoned || ground === null) return;
    this.#reckoned = true;
    for (const [id, item] of this.characters) this.characters.set(id, reckon(item, this.tick, ground));
  }

  #read_game(snapshot) {
    const info = snapshot.all('game_info')[0];
    const data = snapshot.all('game_data')[0];
    const bits = this.seven ? STATE_07 : STATE_06;
    const flags = (this.seven ? data?.game_state_flags : info?.game_state_flags) ?? 0;
    const teams = this.seven ? snapshot.all('game_data_team')[0] : data;
    const carriers = (this.seven ? snapshot.all('game_data_flag')[0] : data) ?? {};
    const begin = (this.seven ? data?.game_start_tick : info?.round_start_tick) ?? 0;
    const race = (flags & bits.race) !== 0 && info.warmup_timer < 0;
    const kinds = info?.game_flags ?? (teams === undefined ? 0 : 1);
    this.game = {
      begin,
      over: (flags & bits.over) !== 0,
      paused: (flags & bits.paused) !== 0,
      sudden_death: (flags & bits.sudden_death) !== 0,
      teams: (kinds & 1) !== 0,
      flags: (kinds & 2) !== 0,
      red: teams?.teamscore_red ?? 0,
      blue: teams?.teamscore_blue ?? 0,
      carriers: [carriers.flag_carrier_red ?? -3, carriers.flag_carrier_blue ?? -3],
      time_limit: info?.time_limit ?? 0,
      score_limit: info?.score_limit ?? 0,
      warmup: race || this.seven ? 0 : (info?.warmup_timer ?? 0),
      race_start: race ? -info.warmup_timer : null,
      // DDNet's game_info_ex: scores are times.
      times: ((snapshot.all('game_info_ex')[0]?.flags ?? 0) & 1) !== 0 || (this.seven && (kinds & 8) !== 0),
    };
  }

  #read_players(snapshot) {
    const infos = by_id(snapshot.all('client_info'));
    const marks = by_id(snapshot.all('ddnet_player'));
    const races = by_id(snapshot.all('player_info_race'));
    this.players = new Map();
    this.local = -1;
    for (const item of snapshot.all('player_info')) {
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
    this.viewed = snapshot.all('spectator_info')[0] ?? null;
  }

  #read_things(snapshot) {
    this.projectiles = [
      ...snapshot.all('projectile').map(plain_projectile),
      ...snapshot.all('ddrace_projectile').map((p) => angled_projectile(p, p.angle, p.data)),
      ...snapshot.all('ddnet_projectile').map(far_projectile),
    ];
    this.lasers = [
      ...snapshot
        .all('laser')
        .map((l) => ({ x: l.x, y: l.y, from_x: l.from_x, from_y: l.from_y, start: l.start_tick, type: 0 })),
      ...snapshot
        .all('ddnet_laser')
        .map((l) => ({ x: l.to_x, y: l.to_y, from_x: l.from_x, from_y: l.from_y, start: l.start_tick, type: l.type })),
    ];
    this.pickups = [...snapshot.all('pickup'), ...snapshot.all('ddnet_pickup')].map((p) => {
      if (!this.seven) return { x: p.x, y: p.y, kind: PICKUPS_DDNET[p.type] ?? 'health', weapon: p.subtype };
      const weapon = WEAPONS_07[p.type] ?? null;
      return {
        x: p.x,
        y: p.y,
        kind: weapon === null ? (['health', 'armor'][p.type] ?? 'health') : weapon === 5 ? 'ninja' : 'weapon',
        weapon: weapon ?? 0,
      };
    });
    this.flags = snapshot.all('flag');
    this.explosions = snapshot.all('event_explosion');
    this.spawns = snapshot.all('event_spawn');
    this.hits = snapshot.all('event_hammer_hit');
    this.deaths = snapshot.all('event_death');
    this.damage = [...snapshot.all('event_damage_ind'), ...snapshot.all('event_damage')];
    this.finishes = [...snapshot.all('event_finish'), ...snapshot.all('event_birthday')];
  }
}

const IS_DDNET = 1 << 9;

function plain_projectile(p) {
  if (p.vel_y >= 0 && (p.vel_y & IS_DDNET) !== 0) return angled_projectile(p, p.vel_x, p.vel_y);
  return { x: p.x, y: p.y, dx: p.vel_x / 100, dy: p.vel_y / 100, type: p.type, start: p.start_tick };
}

// As the old clients of DDRace got them: a place in hundredths, and a direction.
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

/** Speed in units a second and curvature of each weapon's projectiles, unless a server tells others. */
const STANDARD_TUNING = { 1: [2200, 1.25], 2: [2750, 1.25], 3: [1000, 7] };

/** Where a projectile is at a tick, which may have a fraction; null before it was shot. */
export function place_of_projectile(p, tick, tuning = STANDARD_TUNING) {
  const seconds = (tick - p.start) / 50;
  if (seconds < 0) return null;
  const [speed, curvature] = tuning[p.type] ?? STANDARD_TUNING[1];
  const way = seconds * speed;
  return { x: p.x + p.dx * way, y: p.y + p.dy * way + (curvature / 10000) * way * way };
}

/** The tuning of projectiles from the ints of a tune_params message, in hundredths. */
export function projectile_tuning(ints) {
  const value = (n, otherwise) => (ints[n] === undefined ? otherwise : ints[n] / 100);
  return {
    1: [value(17, 2200), value(16, 1.25)],
    2: [value(20, 2750), value(19, 1.25)],
    3: [value(24, 1000), value(23, 7)],
  };
}

/** The name of who is in an item of the time's World, else a number. */
export const name_in = (world, id) => world?.players.get(id)?.name || (id >= 0 ? `#${id}` : '');
