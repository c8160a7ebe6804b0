// The recording or broadcast on show, read through the library. The only module that knows it.
import { Broadcast, Recording, Snapshot, archive_source, bytes_source, fetch_whole, read_index, read_ints, read_map, start, url_source } from './teewire.js';
import { World } from './world.js';

/** @import { BroadcastRecording, GameMap, Index, Message, Module, Protocol, Stretch } from './teewire.js' */

/**
 * Something that happened. `client` and `target` are names; `id`: the client's, if that is known.
 * @typedef {{tick: number, kind: string, client: string|null, target: string|null, value: number|null, text: string|null,
 *   id?: number}} GameEvent
 */
/**
 * What there is of a segment. One that could not be fetched is empty, and fetched again when it is wanted at `again_ms` or later.
 * @typedef {{snapshots: Snapshot[], messages: Message[], error: Error|null, tries?: number, again_ms?: number}} Loaded
 */
/** @typedef {{signal?: AbortSignal}} Waiting */
/** @typedef {[tick: number, ints: number[]][]} Tunings in hundredths */
/** @typedef {{tick: number, ints: number[]}[]} ByTick in their order */

/** Smaller recordings are read whole; an index would only be waited for. */
const SMALL = 1 << 19;
const INDEX_PATIENCE_MS = 10000;
/** Stretches that are kept decoded. */
const KEPT = 6;
const MOST_EVENTS = 20000;
/** Tunings that all servers have. */
const TUNINGS = 32;
const MOST_CLIENTS = 256;
/** Of a broadcast, until more is known of its pace: shown is what came so many ticks before its newest. */
const FIRST_DELAY = 60;
/** Of its fragments: the latest of the last so many must be there in time, with so many ticks to spare. */
const ARRIVALS = 10;
const SPARE = 5;
const ASK_AGAIN_MS = 200;
const TROUBLE_MS = 1000;
/** Until a segment that could not be fetched is asked for again: at first, and at most. */
const RETRY_MS = { first: 1000, most: 30000 };

/** @type {Promise<Module>|null} */
let library = null;

/** The library, started once. */
export const started = () =>
  (library ??= start().catch((error) => {
    library = null;
    throw error;
  }));

/** @template {Recording|BroadcastRecording} [T=Recording|BroadcastRecording] */
export class Show {
  live = false;
  /** @type {GameEvent[]} what happened, as far as it is known, by tick */
  events = [];
  complete = false; // an index has all of them
  /** @type {ByTick} in hundredths */
  #tunings = [];
  /** @type {ByTick} */
  #teams = [];
  #tunings_known = false; // an index has all of them
  /** @type {Map<number, Loaded>} by number of the segment */
  #kept = new Map();
  /** @type {Map<number, {control: AbortController, promise: Promise<Loaded>}>} what is on its way, by number */
  #coming = new Map();
  /** @type {WeakSet<Snapshot>} those of a tick before */
  #repeated = new WeakSet();
  /** @type {WeakMap<Snapshot, World>} */
  #worlds = new WeakMap();
  /** @type {Set<number>} segments whose messages are in `events` */
  #read = new Set();
  /** @type {Error|null} why the last segment that cannot be read is damaged */
  error = null;
  /** @type {string|null} damage that an index names */
  index_damage = null;
  /** @type {Error|null} why the last question of a broadcast had no answer */
  trouble = null;

  /** @param {T} stretches */
  constructor(stretches) {
    this.stretches = stretches;
  }

  /** @type {string|null} */
  get damage() {
    return this.index_damage;
  }
  get protocol() {
    return this.stretches.protocol;
  }
  get header() {
    return this.stretches.header;
  }
  get first_tick() {
    return Math.max(0, this.stretches.first_tick);
  }
  get last_tick() {
    return Math.max(this.first_tick, this.stretches.last_tick);
  }

  /** Loads what a tick needs, and begins with what comes next. @param {number} tick */
  async load(tick) {
    if (this.stretches.segments.length === 0) return;
    const number = this.stretches.locate(tick);
    await this.#fetch(number);
    if (this.#place(number, tick) === null && number > 0) await this.#fetch(number - 1);
    if (this.#after(number, tick) === null && number + 1 < this.stretches.segments.length)
      await this.#fetch(number + 1);
  }

  /**
   * Begins to load what a tick needs, and gives up what else was on its way, which would share the line. When it is there:
   * one after the other what follows, up to `ahead` ticks, and what came before, for what is still to be seen.
   * @param {number} tick @param {number} ahead
   */
  prepare(tick, ahead) {
    const { segments } = this.stretches;
    if (segments.length === 0) return;
    const number = this.stretches.locate(tick);
    for (const n of [number, number + 1, this.stretches.locate(tick + ahead), number - 1]) {
      if (n < 0 || n >= segments.length || this.#has(n)) continue;
      if (n === number && !this.#coming.has(n)) for (const { control } of this.#coming.values()) control.abort();
      if (n === number || this.#coming.size === 0) this.#fetch(n).catch(() => {});
      return;
    }
  }

  /** Whether a segment is there, or has failed so recently that it is left alone. @param {number} number */
  #has(number) {
    const kept = this.#kept.get(number);
    return kept !== undefined && !(kept.again_ms !== undefined && kept.again_ms <= performance.now());
  }

  /** @param {number} number */
  async #fetch(number) {
    const kept = this.#kept.get(number);
    if (kept !== undefined && this.#has(number)) return kept;
    const coming = this.#coming.get(number);
    if (coming !== undefined && !coming.control.signal.aborted) return coming.promise;
    const control = new AbortController();
    const entry = { control, promise: this.#load(number, control.signal) };
    this.#coming.set(number, entry);
    const over = () => {
      if (this.#coming.get(number) === entry) this.#coming.delete(number);
    };
    entry.promise.then(over, over);
    return entry.promise;
  }

  /** @param {number} number @param {AbortSignal} signal @returns {Promise<Loaded>} */
  async #load(number, signal) {
    try {
      const stretch = await this.stretches.segment(number, { signal });
      if (!this.#read.has(number) && !this.#read.has(number - 1)) {
        const lasting = await this.lasting(number, { signal }).catch(() => []); // the segment is there without it
        this.#add_lasting(lasting.map((m) => ({ ...m, tick: this.stretches.segments[number].tick })));
      }
      this.#fill(stretch);
      this.#keep(number, stretch);
      return stretch;
    } catch (error) {
      if (!signal.aborted) {
        // So that what follows it can be seen.
        const tries = (this.#kept.get(number)?.tries ?? 0) + 1;
        const again_ms = performance.now() + Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** (tries - 1));
        this.#keep(number, { snapshots: [], messages: [], error: /** @type {Error} */ (error), tries, again_ms });
      }
      throw error;
    }
  }

  /** A tick without a snapshot has that of the tick before. @param {Stretch} stretch */
  #fill(stretch) {
    const { snapshots, ticks } = stretch;
    /** @type {Snapshot[]} */
    const all = [];
    let next = 0;
    for (const tick of ticks) {
      const from = next;
      while (next < snapshots.length && snapshots[next].tick <= tick) all.push(snapshots[next++]);
      const last = all.at(-1);
      if (next > from || last === undefined) continue;
      const repeated = new Snapshot(tick, last.ints, this.stretches.types);
      this.#repeated.add(repeated);
      all.push(repeated);
    }
    stretch.snapshots = [...all, ...snapshots.slice(next)];
  }

  /** @param {number} number @param {Loaded} stretch */
  #keep(number, stretch) {
    const before = this.#kept.get(number);
    this.#kept.set(number, stretch);
    if (stretch.error !== null) this.error = stretch.error;
    else if (before?.error === this.error) this.error = null; // it has come after all
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT) this.#kept.delete(oldest);
    if (this.#read.has(number) || stretch.again_ms !== undefined) return;
    this.#read.add(number);
    this.#note(stretch);
  }

  /** @param {Loaded} stretch */
  #note({ messages, snapshots }) {
    this.#add_lasting(messages);
    const seven = snapshots[0]?.all('tune_params')[0];
    if (seven) this.add_tuning(snapshots[0].tick, /** @type {number[]} */ (seven.tune_params));
    if (this.complete) return;
    /** @type {Map<number, string>} */
    const names = new Map();
    /** @param {number} id */
    const name_of = (id) => names.get(id) ?? null;
    for (const item of snapshots[0]?.all('client_info') ?? []) names.set(item.id, String(item.name));
    const found = [];
    for (const message of messages) {
      const event = event_of(message, name_of, this.protocol);
      if (event !== null) found.push(event);
    }
    if (found.length === 0) return;
    this.events = [...this.events, ...found].sort((a, b) => a.tick - b.tick).slice(-MOST_EVENTS);
  }

  /** Takes those messages whose effect lasts. @param {Message[]} messages */
  #add_lasting(messages) {
    for (const { name, tick, fields } of messages) {
      if (name === 'tune_params' && !this.#tunings_known) add_by_tick(this.#tunings, tick, read_ints(fields, TUNINGS));
      if (name === 'teams_state' || name === 'teams_state_legacy') add_by_tick(this.#teams, tick, read_ints(fields, MOST_CLIENTS));
    }
  }

  /** The tuning from this tick on, in hundredths. @param {number} tick @param {number[]} ints */
  add_tuning(tick, ints) {
    add_by_tick(this.#tunings, tick, ints);
  }

  /** All tunings of an index. @param {Tunings} tunings */
  set_tunings(tunings) {
    for (const [tick, ints] of tunings) this.add_tuning(tick, ints);
    this.#tunings_known = true;
  }

  /** The tuning at a tick in hundredths, as far as it is known. @param {number} tick */
  tuning_at(tick) {
    return this.#tunings.findLast((t) => t.tick <= tick)?.ints;
  }

  /** DDNet's teams of all clients at a tick, as far as they are known. @param {number} tick */
  teams_at(tick) {
    return this.#teams.findLast((t) => t.tick <= tick)?.ints;
  }

  /**
   * The messages from before a segment whose effect lasts, if they can be known without reading all before it.
   * @param {number} _number @param {Waiting} [_options]
   * @returns {Promise<Message[]>}
   */
  async lasting(_number, _options) {
    return [];
  }

  /** @param {Snapshot} snapshot */
  #world(snapshot) {
    let world = this.#worlds.get(snapshot);
    if (world === undefined) this.#worlds.set(snapshot, (world = new World(snapshot, this.protocol)));
    return world;
  }

  /**
   * The number of the last snapshot of a loaded segment that is not above the tick; null if there is none.
   * @param {number} number @param {number} tick
   */
  #place(number, tick) {
    const snapshots = this.#kept.get(number)?.snapshots;
    if (snapshots === undefined) return null;
    let low = -1;
    for (let high = snapshots.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if (snapshots[middle].tick <= tick) low = middle;
      else high = middle;
    }
    return low < 0 ? null : low;
  }

  /** @param {number} number @param {number} tick @returns {Snapshot|null} */
  #after(number, tick) {
    const snapshots = this.#kept.get(number)?.snapshots ?? [];
    const place = this.#place(number, tick);
    return snapshots[place === null ? 0 : place + 1] ?? this.#kept.get(number + 1)?.snapshots[0] ?? null;
  }

  /** The Worlds at or before a tick and after it, or null if that is not loaded. @param {number} tick */
  around(tick) {
    const { segments } = this.stretches;
    if (segments.length === 0) return null;
    let number = this.stretches.locate(tick);
    if (!this.#kept.has(number)) return null;
    let place = this.#place(number, tick);
    const next = this.#after(number, tick);
    if (place === null && number > 0) place = this.#place(--number, tick);
    const before = place === null ? next : this.#kept.get(number)?.snapshots[place];
    if (before === null || before === undefined) return null;
    return { before: this.#world(before), after: next === null || next === before ? null : this.#world(next) };
  }

  /** Ticks of the snapshots that are beside a tick. @param {number} tick */
  neighbours(tick) {
    const number = this.stretches.locate(tick);
    const here = this.#kept.get(number)?.snapshots ?? [];
    const earlier = [...(this.#kept.get(number - 1)?.snapshots ?? []), ...here].filter((s) => s.tick < tick);
    return { before: earlier.at(-1)?.tick ?? null, after: this.#after(number, tick)?.tick ?? null };
  }

  /** The loaded snapshots of the last `ticks`, each once. @param {number} tick @param {number} ticks */
  recent(tick, ticks) {
    const found = [];
    const number = this.stretches.locate(tick);
    for (const n of [number - 1, number])
      for (const snapshot of this.#kept.get(n)?.snapshots ?? [])
        if (snapshot.tick <= tick && snapshot.tick > tick - ticks && !this.#repeated.has(snapshot)) found.push(snapshot);
    return found;
  }

  /**
   * The newest emoticon of each player in the last `ticks`, of what is loaded.
   * @param {number} tick @param {number} ticks
   */
  emoticons(tick, ticks) {
    /** @type {Map<number, {tick: number, emoticon: number}>} */
    const found = new Map();
    const number = this.stretches.locate(tick);
    for (const n of [number - 1, number])
      for (const message of this.#kept.get(n)?.messages ?? []) {
        if (message.name !== 'emoticon' || message.tick > tick || message.tick <= tick - ticks) continue;
        const [client, emoticon] = read_ints(message.fields, 2);
        found.set(client, { tick: message.tick, emoticon });
      }
    return found;
  }

  /**
   * The newest time of a race at a checkpoint or the finish in the last `ticks`, of what is loaded. In seconds; `time`: null where
   * the server says only the difference to the best run.
   * @param {number} tick @param {number} ticks
   */
  split(tick, ticks) {
    const number = this.stretches.locate(tick);
    /** @type {{time: number|null, difference: number}|null} */
    let found = null;
    for (const n of [number - 1, number])
      for (const { name, tick: at, fields } of this.#kept.get(n)?.messages ?? []) {
        if (at > tick || at <= tick - ticks) continue;
        if (name === 'race_time' || name === 'race_time_legacy') {
          const [time, difference] = read_ints(fields, 2); // hundredths
          if (difference !== 0) found = { time: time / 100, difference: difference / 100 };
        } else if (name === 'checkpoint') {
          found = { time: null, difference: read_ints(fields, 1)[0] / 1000 };
        }
      }
    return found;
  }

  /** Events of the ticks above `from` up to `to`. @param {number} from @param {number} to */
  events_between(from, to) {
    let low = 0;
    for (let high = this.events.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.events[middle].tick <= from) low = middle + 1;
      else high = middle;
    }
    const found = [];
    for (; low < this.events.length && this.events[low].tick <= to; ++low) found.push(this.events[low]);
    return found;
  }

  /** The map, and what is wrong with it. @returns {Promise<{map: GameMap|null, problem: string|null}>} */
  async map() {
    try {
      const bytes = (await this.stretches.map()) ?? (await this.#stored_map());
      if (bytes === null) return { map: null, problem: `the map "${this.header.map.name}" is not in the recording` };
      const map = await read_map(bytes);
      return { map, problem: map.problems.length > 0 ? `map: ${map.problems.slice(0, 3).join('; ')}` : null };
    } catch (error) {
      return { map: null, problem: `map: ${/** @type {Error} */ (error).message}` };
    }
  }

  async #stored_map() {
    const { sha256, crc } = this.header.map;
    for (const name of [sha256, crc]) {
      if (name === null) continue;
      const { answer, bytes } = await fetch_whole(`maps/${name}.map`);
      if (answer.ok) return new Uint8Array(bytes);
    }
    return null;
  }

  close() {}
}

/** Adds what holds from this tick on; some servers repeat it each tick. @param {ByTick} all @param {number} tick @param {number[]} ints */
function add_by_tick(all, tick, ints) {
  const place = all.findLastIndex((one) => one.tick <= tick) + 1;
  if (`${all[place - 1]?.ints}` !== `${ints}`) all.splice(place, 0, { tick, ints });
}

/** From where chat is not for everyone: a team's, or in 0.7 a mode, of which 1 is for all. */
const NOT_FOR_ALL = { ddnet: 1, 0.6: 1, 0.7: 2 };

/**
 * @param {Message} message @param {(id: number) => string|null} name_of @param {Protocol} protocol
 * @returns {GameEvent|null}
 */
function event_of({ name, tick, client_id = -1, victim = -1, weapon = 0, team = 0, text = '', fields }, name_of, protocol) {
  switch (name) {
    case 'kill':
      return { tick, kind: 'kill', client: name_of(client_id), target: name_of(victim), value: weapon, text: null };
    case 'chat': {
      const finish = client_id < 0 ? /^(.{1,15}) finished in: /.exec(text) : null;
      if (finish !== null) return { tick, kind: 'finish', client: finish[1], target: null, value: null, text };
      return {
        tick,
        kind: client_id < 0 ? 'server_message' : team >= NOT_FOR_ALL[protocol] ? 'team_chat' : 'chat',
        client: name_of(client_id),
        id: client_id,
        target: null,
        value: null,
        text,
      };
    }
    case 'race_finish': {
      const [id, ms] = read_ints(fields, 2);
      return { tick, kind: 'finish', client: name_of(id), target: null, value: ms, text: null };
    }
    default:
      return null;
  }
}

/** @param {unknown} value @returns {any[]} */
const list_of = (value) => (Array.isArray(value) ? value : []);

/** The events of an index, as far as they make sense. @param {Index} index */
function events_of(index) {
  const people = list_of(index.people);
  const kinds = list_of(index.kinds);
  /** @param {any} n */
  const name = (n) => (typeof people[n]?.[1] === 'string' ? people[n][1] : null);
  /** @type {GameEvent[]} */
  const events = [];
  let tick = first_of(index);
  for (const event of list_of(index.events)) {
    if (!Array.isArray(event) || !Number.isInteger(event[0]) || event[0] < 0) break;
    tick += event[0];
    const kind = kinds[event[1]];
    if (typeof kind !== 'string') break;
    events.push({
      tick,
      kind,
      client: name(event[2]),
      target: name(event[3]),
      value: typeof event[4] === 'number' ? event[4] : null,
      text: typeof event[5] === 'string' ? event[5] : null,
    });
  }
  return events;
}

/** The tick that those of an index's rows count from. @param {Index} index */
const first_of = (index) => (typeof index.first_tick === 'number' ? index.first_tick : 0);

/** The tunings of an index, as far as they make sense; null if it has none. @param {Index} index */
function tunings_of(index) {
  if (!Array.isArray(index.tunings)) return null;
  /** @type {Tunings} */
  const found = [];
  let tick = first_of(index);
  for (const row of index.tunings.slice(0, MOST_EVENTS)) {
    if (!Array.isArray(row) || !Number.isInteger(row[0]) || row[0] < 0) break;
    tick += row[0];
    const ints = row.slice(1, TUNINGS + 1);
    if (!ints.every(Number.isInteger)) break;
    found.push([tick, ints]);
  }
  return found;
}

/** @extends {Show<Recording>} */
class RecordedShow extends Show {
  #source;

  /** @param {Recording} recording @param {Awaited<ReturnType<typeof archive_source>>} source that it is read from */
  constructor(recording, source) {
    super(recording);
    this.#source = source;
  }

  /** @override Also of an archive, where it may be found late. */
  get damage() {
    return this.#source.damage?.message ?? this.index_damage;
  }

  /** @param {Index|null} index */
  take(index) {
    if (index === null) return;
    this.complete = true;
    this.events = events_of(index);
    const tunings = tunings_of(index);
    if (tunings !== null) this.set_tunings(tunings);
    this.index_damage = typeof index.error === 'string' ? index.error : null;
  }
}

/**
 * A recording at an address. `report` gets the share that has been looked through.
 * @param {string} url @param {AbortSignal} signal that gives it up @param {(part: number) => void} [report]
 */
export async function open_demo(url, signal, report) {
  const library = started();
  // The index is next to the file: it goes before a query.
  const place = new URL(url, document.baseURI);
  place.pathname += '.index';
  const index_bytes = fetch_index(place);
  /** @param {number} part */
  const progress = (part) => {
    signal.throwIfAborted();
    report?.(part);
  };
  const source = await archive_source(await url_source(url, { signal }), {
    find_map: (sha256) => url_source(new URL(`maps/${sha256}.map`, new URL(url, document.baseURI)).href),
  });
  const module = await library;
  const coming = index_bytes.then((bytes) => bytes && read_index(bytes, source.size));
  /** @type {Promise<null>} */
  const patience = new Promise((done) => setTimeout(done, INDEX_PATIENCE_MS, null));
  const index = source.size <= SMALL ? null : await Promise.race([coming, patience]);
  const show = new RecordedShow(await Recording.open(module, source, { index, progress, map: true }), source);
  if (index !== null) show.take(index);
  else coming.then((late) => show.take(late));
  return show;
}

/** @param {URL} url */
async function fetch_index(url) {
  try {
    const { answer, bytes } = await fetch_whole(url);
    return answer.ok ? new Uint8Array(bytes) : null;
  } catch {
    return null; // the recording is enough
  }
}

/** A recording that is in memory. @param {Uint8Array} bytes */
export async function open_bytes(bytes) {
  const source = await archive_source(bytes_source(bytes));
  return new RecordedShow(await Recording.open(await started(), source), source);
}

/** A broadcast: asks for what is new until it is closed. @extends {Show<BroadcastRecording>} */
export class LiveShow extends Show {
  live = true;
  #broadcast;
  #closed = new AbortController();
  /** @type {{ms: number, tick: number, ticks: number}[]} of the newest fragments */
  #arrivals = [];
  #opened_ms = performance.now();

  /**
   * @param {string} url @param {AbortSignal} signal that gives it up
   * @param {(next: LiveShow) => void} changed when another recording has begun: its map, its ticks
   */
  static async open(url, signal, changed) {
    const broadcast = new Broadcast(await started(), new URL(url, document.baseURI));
    for (let tries = 0; ; ++tries) {
      await broadcast.update();
      signal.throwIfAborted();
      if (broadcast.recording !== null) break;
      if (tries === 60) throw new Error(`${url}: nothing is broadcast`);
      await new Promise((done) => setTimeout(done, 1000));
    }
    return new LiveShow(broadcast, changed);
  }

  /** @param {Broadcast} broadcast that has a recording @param {(next: LiveShow) => void} changed */
  constructor(broadcast, changed) {
    super(/** @type {BroadcastRecording} */ (broadcast.recording));
    this.#broadcast = broadcast;
    this.#follow(changed);
  }

  /** @param {(next: LiveShow) => void} changed */
  async #follow(changed) {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      let pause = 0;
      try {
        const news = await this.#broadcast.next({ signal });
        this.trouble = null;
        if (signal.aborted) break;
        if (news === 'recording') {
          this.close();
          changed(new LiveShow(this.#broadcast, changed));
        }
        if (news === 'fragment') this.#arrived();
        else pause = ASK_AGAIN_MS;
      } catch (error) {
        this.trouble = /** @type {Error} */ (error);
        pause = TROUBLE_MS;
      }
      if (pause > 0) await new Promise((done) => setTimeout(done, pause));
    }
  }

  /** For how long nothing new has come. @param {number} ms now */
  silence(ms) {
    return ms - (this.#arrivals.at(-1)?.ms ?? this.#opened_ms);
  }

  #arrived() {
    const tick = this.stretches.last_tick;
    const before = this.#arrivals.at(-1)?.tick ?? tick;
    this.#arrivals.push({ ms: performance.now(), tick, ticks: tick - before });
    if (this.#arrivals.length > ARRIVALS) this.#arrivals.shift();
  }

  /** @override @param {number} number @param {Waiting} [options] */
  lasting(number, options) {
    return this.stretches.lasting(number, options);
  }

  /**
   * What is to be seen now: as late that the next fragment will be there when it is needed, if it comes like the last ones.
   * @param {number} ms
   */
  edge(ms) {
    if (this.#arrivals.length < 2) return this.stretches.last_tick - FIRST_DELAY;
    // Ticks are 20 ms.
    const latest = Math.min(...this.#arrivals.map((one) => one.tick - one.ms / 20));
    return latest + ms / 20 - Math.max(...this.#arrivals.map(({ ticks }) => ticks)) - SPARE;
  }

  /** Older fragments have gone. */
  get first_tick() {
    const window = Number(this.#broadcast.sync?.window) || 60;
    return Math.max(0, this.stretches.first_tick, this.stretches.last_tick - window * 50);
  }

  close() {
    this.#closed.abort();
  }
}
