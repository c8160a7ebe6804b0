// The game in a snapshot, whatever the protocol: players, scores, and what is to be said of them.

/** @import { Protocol, Snapshot } from './teewire.js' */

/** @typedef {{id: number} & Record<string, number>} Numbers an item whose fields are numbers */
/** A player's name, and in 0.7 the team. @typedef {{id: number, name: string, clan: string, local?: boolean, team?: number}} Client */
/**
 * Ticks are -1 where there are none.
 * @typedef {{id: number, name: string, clan: string, team: number, score: number, latency: number, race_start: number}} Player
 */
/** Bits of game_state_flags, by protocol. */
const STATE_06 = { over: 1, sudden_death: 2, paused: 4, race: 8 };
const STATE_07 = { over: 8, sudden_death: 2, paused: 16, race: 0 };

/** The items of a type. @param {Snapshot} snapshot @param {string} type */
const all = (snapshot, type) => /** @type {Numbers[]} */ (snapshot.all(type));

/** @template {{id: number}} T @param {T[]} items @returns {Map<number, T>} */
const by_id = (items) => new Map(items.map((item) => [item.id, item]));

export class World {
  /** @param {Snapshot} snapshot @param {Protocol} protocol */
  constructor(snapshot, protocol) {
    this.tick = snapshot.tick;
    this.snapshot = snapshot;
    this.seven = protocol === '0.7';
    this.characters = by_id(all(snapshot, 'character'));
    this.game = this.#game();
    /** @type {Map<number, Player>} */
    this.players = new Map();
    this.local = -1;
    this.#read_players();
    this.viewed = all(snapshot, 'spectator_info')[0] ?? null;
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
      red: teams?.teamscore_red ?? 0,
      blue: teams?.teamscore_blue ?? 0,
      time_limit: info?.time_limit ?? 0,
      warmup: race || this.seven ? 0 : warmup,
      race_start: race ? -warmup : null,
      // DDNet's game_info_ex: scores are times.
      times: ((all(snapshot, 'game_info_ex')[0]?.flags ?? 0) & 1) !== 0 || (this.seven && (kinds & 8) !== 0),
    };
  }

  /** The tick at which this client's race began, as far as its clock is shown; null: none. @param {number} client */
  race_of(client) {
    const start = this.players.get(client)?.race_start ?? -1;
    if (start > 0) return start;
    const viewed = this.viewed?.spectator_id ?? -1;
    return client === (viewed >= 0 ? viewed : this.local) ? this.game.race_start : null;
  }

  #read_players() {
    const { snapshot } = this;
    const infos = by_id(/** @type {Client[]} */ (snapshot.all('client_info')));
    const races = by_id(all(snapshot, 'player_info_race'));
    for (const item of all(snapshot, 'player_info')) {
      const id = this.seven ? item.id : item.client_id;
      const client = infos.get(id) ?? infos.get(item.id);
      const team = this.seven ? (client?.team ?? 0) : item.team;
      const local = this.seven ? client?.local === true : item.local === 1;
      if (local) this.local = id;
      this.players.set(id, {
        id,
        name: client?.name ?? '',
        clan: client?.clan ?? '',
        team,
        score: item.score,
        latency: item.latency,
        race_start: races.get(id)?.race_start_tick ?? -1,
      });
    }
  }
}

/** A player's name in a World, else a number. @param {World|null} world @param {number} id */
export const name_in = (world, id) => world?.players.get(id)?.name || (id >= 0 ? `#${id}` : '');
