// A player of another recording who runs the same race.
import { World } from './world.js';

/** @import { Show } from './show.js' */

/** A race as far as its clock is shown, in ticks. @typedef {{client: number, first: number, last: number}} Run */

/** Of the snapshots, one in so many is looked at. */
const STEP = 10;
const AHEAD = 200; // ticks

/** The longest race in a recording; null: no clock is shown. @param {Show} show @param {AbortSignal} signal @returns {Promise<Run|null>} */
async function longest_run(show, signal) {
  /** @type {Map<string, Run>} */
  const runs = new Map();
  for (let n = 0; n < show.stretches.segments.length; ++n) {
    signal.throwIfAborted();
    const { snapshots } = await show.stretches.segment(n);
    for (const [m, snapshot] of snapshots.entries()) {
      if (m % STEP !== 0 && m + 1 < snapshots.length) continue;
      const world = new World(snapshot, show.protocol);
      for (const client of world.players.keys()) {
        const first = world.race_of(client);
        if (first !== null) runs.set(`${client} ${first}`, { client, first, last: snapshot.tick });
      }
    }
  }
  return [...runs.values()].reduce(
    (/** @type {Run|null} */ best, run) => (best === null || run.last - run.first > best.last - best.first ? run : best),
    null,
  );
}

export class Ghost {
  #show;
  #run;
  /** The tick at which the race began that was shown last. @type {number|null} */
  #start = null;

  /** Takes a recording, and closes it if there is no race in it. @param {Show} show @param {AbortSignal} signal */
  static async of(show, signal) {
    const run = await longest_run(show, signal).catch((error) => {
      show.close();
      throw error;
    });
    if (run !== null) return new Ghost(show, run);
    show.close();
    throw new Error('there is no race in it, or none whose clock it shows');
  }

  /** @param {Show} show @param {Run} run */
  constructor(show, run) {
    this.#show = show;
    this.#run = run;
  }

  get protocol() {
    return this.#show.protocol;
  }

  /** Another recording is shown from now on. */
  begin() {
    this.#start = null;
  }

  /**
   * The ghost while another recording shows a tick: both cross the start line at the same time. Null: it is not there, or not loaded.
   * @param {number} tick @param {number|null} start tick at which the race began there; null: none is run
   */
  at(tick, start) {
    this.#start = start ?? this.#start;
    if (this.#start === null) return null;
    const own_tick = tick - this.#start + this.#run.first;
    if (own_tick < this.#show.first_tick || own_tick > this.#show.last_tick) return null;
    this.#show.prepare(own_tick, AHEAD);
    const around = this.#show.around(own_tick);
    return around && { ...around, tick: own_tick, client: this.#run.client };
  }

  close() {
    this.#show.close();
  }
}
