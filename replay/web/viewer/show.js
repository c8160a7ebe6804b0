// The recording or broadcast on show, read through the library. The only module that knows it.
import { Broadcast, Recording, bytes_source, read_index, read_ints, read_map, start, url_source } from './teewire.js';
import { World, projectile_tuning } from './world.js';

/** Smaller recordings are read whole; an index would only be waited for. */
const SMALL = 1 << 20;
const INDEX_PATIENCE_MS = 10000;
/** Stretches that are kept decoded. */
const KEPT = 6;
const MOST_EVENTS = 20000;
/** Tunings that all servers have. */
const TUNINGS = 32;
/** Of a broadcast, until more is known of its pace: shown is what came so many ticks before its newest. */
const FIRST_DELAY = 60;
/** Of its fragments: the latest of the last so many must be there in time, with so many ticks to spare. */
const ARRIVALS = 10;
const SPARE = 5;
const ASK_AGAIN_MS = 200;
const TROUBLE_MS = 1000;
const REACH_MS = 2000;

let library = null;

/** The library, started once. */
export const started = () =>
  (library ??= start(new URL('.', import.meta.url)).catch((error) => {
    library = null;
    throw error;
  }));

class Show {
  live = false;
  /** What happened, as far as it is known: {tick, kind, client, target, value, text}, by tick. */
  events = [];
  complete = false; // an index has all of them
  #tunings = []; // {tick, tuning}, by tick
  #tunings_known = false; // an index has all of them
  #kept = new Map(); // number of a segment: its stretch
  #coming = new Map(); // number: its promise, and what gives it up
  #worlds = new WeakMap();
  #read = new Set(); // segments whose messages are in `events`
  /** The last that could not be read, and why. */
  error = null;

  constructor(stretches) {
    this.stretches = stretches;
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

  /** Loads what a tick needs, and begins with what comes next. */
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
   */
  prepare(tick, ahead) {
    const { segments } = this.stretches;
    if (segments.length === 0) return;
    const number = this.stretches.locate(tick);
    for (const n of [number, number + 1, this.stretches.locate(tick + ahead), number - 1]) {
      if (n < 0 || n >= segments.length || this.#kept.has(n)) continue;
      if (n === number && !this.#coming.has(n)) for (const { control } of this.#coming.values()) control.abort();
      if (n === number || this.#coming.size === 0) this.#fetch(n).catch(() => {});
      return;
    }
  }

  async #fetch(number) {
    if (this.#kept.has(number)) return this.#kept.get(number);
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

  async #load(number, signal) {
    try {
      const stretch = await this.stretches.segment(number, { signal });
      if (!this.#read.has(number) && !this.#read.has(number - 1)) {
        const lasting = await this.lasting(number, { signal }).catch(() => []); // the segment is there without it
        this.#add_tunings(lasting.map((m) => ({ ...m, tick: this.stretches.segments[number].tick })));
      }
      this.#keep(number, stretch);
      return stretch;
    } catch (error) {
      if (!signal.aborted) {
        this.error = error;
        // So that what follows it can be seen.
        this.#keep(number, { snapshots: [], messages: [], error });
      }
      throw error;
    }
  }

  #keep(number, stretch) {
    this.#kept.set(number, stretch);
    if (stretch.error !== null) this.error = stretch.error;
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value);
    if (this.#read.has(number)) return;
    this.#read.add(number);
    this.#note(stretch);
  }

  #note({ messages, snapshots }) {
    this.#add_tunings(messages);
    const seven = snapshots[0]?.all('tune_params')[0];
    if (seven) this.add_tuning(snapshots[0].tick, seven.tune_params);
    if (this.complete) return;
    const names = new Map();
    const name_of = (id) => names.get(id) ?? null;
    for (const item of snapshots[0]?.all('client_info') ?? []) names.set(item.id, item.name);
    const found = [];
    for (const message of messages) {
      const event = event_of(message, name_of);
      if (event !== null) found.push(event);
    }
    if (found.length === 0) return;
    this.events = [...this.events, ...found].sort((a, b) => a.tick - b.tick).slice(-MOST_EVENTS);
  }

  #add_tunings(messages) {
    if (this.#tunings_known) return;
    let before = '';
    for (const { name, tick, fields } of messages) {
      if (name !== 'tune_params') continue;
      const ints = read_ints(fields, TUNINGS);
      // Some servers repeat it each tick.
      if (`${ints}` !== before) this.add_tuning(tick, ints);
      before = `${ints}`;
    }
  }

  /** Tunings from this tick on, in hundredths. */
  add_tuning(tick, ints) {
    this.#tunings.splice(this.#tunings.findLastIndex((t) => t.tick <= tick) + 1, 0, { tick, tuning: projectile_tuning(ints) });
  }

  /** All tunings of an index. */
  set_tunings(tunings) {
    for (const [tick, ints] of tunings) this.add_tuning(tick, ints);
    this.#tunings_known = true;
  }

  /** The tuning of projectiles at a tick, as far as it is known. */
  tuning_at(tick) {
    return this.#tunings.findLast((t) => t.tick <= tick)?.tuning;
  }

  /** The messages from before a segment whose effect lasts, if they can be known without reading all before it. */
  async lasting() {
    return [];
  }

  #world(snapshot) {
    let world = this.#worlds.get(snapshot);
    if (world === undefined) this.#worlds.set(snapshot, (world = new World(snapshot, this.protocol)));
    return world;
  }

  /** The number of the last snapshot of a loaded segment that is not above the tick; null if there is none. */
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

  #after(number, tick) {
    const snapshots = this.#kept.get(number)?.snapshots ?? [];
    const place = this.#place(number, tick);
    return snapshots[place === null ? 0 : place + 1] ?? this.#kept.get(number + 1)?.snapshots[0] ?? null;
  }

  /** The Worlds at or before a tick and behind it, or null if that is not loaded. */
  around(tick) {
    const { segments } = this.stretches;
    if (segments.length === 0) return null;
    let number = this.stretches.locate(tick);
    if (!this.#kept.has(number)) return null;
    let place = this.#place(number, tick);
    const next = this.#after(number, tick);
    if (place === null && number > 0) place = this.#place(--number, tick);
    const before = place === null ? next : this.#kept.get(number).snapshots[place];
    if (before === null || before === undefined) return null;
    return { before: this.#world(before), after: next === null || next === before ? null : this.#world(next) };
  }

  /** Ticks of the snapshots that are beside a tick. */
  neighbours(tick) {
    const number = this.stretches.locate(tick);
    const here = this.#kept.get(number)?.snapshots ?? [];
    const earlier = [...(this.#kept.get(number - 1)?.snapshots ?? []), ...here].filter((s) => s.tick < tick);
    return { before: earlier.at(-1)?.tick ?? null, after: this.#after(number, tick)?.tick ?? null };
  }

  /** The loaded Worlds of the last `ticks`. */
  recent(tick, ticks) {
    const found = [];
    const number = this.stretches.locate(tick);
    for (const n of [number - 1, number])
      for (const snapshot of this.#kept.get(n)?.snapshots ?? [])
        if (snapshot.tick <= tick && snapshot.tick > tick - ticks) found.push(this.#world(snapshot));
    return found;
  }

  /** The newest emoticon of each player in the last `ticks`, of what is loaded. */
  emoticons(tick, ticks) {
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

  /** Events of the ticks above `from` up to `to`. */
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

  /** The map: {map, problem}: null and why, if there is none. */
  async map() {
    try {
      const bytes = (await this.stretches.map()) ?? (await this.#stored_map());
      if (bytes === null) return { map: null, problem: `the map "${this.header.map.name}" is not in the recording` };
      const map = await read_map(bytes);
      return { map, problem: map.problems.length > 0 ? `map: ${map.problems.slice(0, 3).join('; ')}` : null };
    } catch (error) {
      return { map: null, problem: `map: ${error.message}` };
    }
  }

  async #stored_map() {
    const { sha256, crc } = this.header.map;
    for (const name of [sha256, crc]) {
      if (name === null) continue;
      const answer = await fetch(`maps/${name}.map`);
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    }
    return null;
  }

  close() {}
}

function event_of({ name, tick, client_id = -1, victim = -1, weapon = 0, team = 0, text = '', fields }, name_of) {
  switch (name) {
    case 'kill':
      return { tick, kind: 'kill', client: name_of(client_id), target: name_of(victim), value: weapon, text: null };
    case 'chat': {
      const finish = client_id < 0 ? /^(.{1,15}) finished in: /.exec(text) : null;
      if (finish !== null) return { tick, kind: 'finish', client: finish[1], target: null, value: null, text };
      return {
        tick,
        kind: client_id < 0 ? 'server_message' : team > 0 ? 'team_chat' : 'chat',
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

/** The events that an index tells, as far as they make sense. */
function events_of(index) {
  const people = Array.isArray(index.people) ? index.people : [];
  const name = (n) => (typeof people[n]?.[1] === 'string' ? people[n][1] : null);
  const events = [];
  let tick = index.first_tick;
  for (const event of Array.isArray(index.events) ? index.events : []) {
    if (!Array.isArray(event) || !Number.isInteger(event[0]) || event[0] < 0) break;
    tick += event[0];
    const kind = index.kinds?.[event[1]];
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

/** The tunings that an index tells, as far as they make sense: [tick, ints]. Null if it does not tell them. */
function tunings_of(index) {
  if (!Array.isArray(index.tunings)) return null;
  const found = [];
  let tick = index.first_tick;
  for (const row of index.tunings.slice(0, MOST_EVENTS)) {
    if (!Array.isArray(row) || !Number.isInteger(row[0]) || row[0] < 0) break;
    tick += row[0];
    const ints = row.slice(1, TUNINGS + 1);
    if (!ints.every(Number.isInteger)) break;
    found.push([tick, ints]);
  }
  return found;
}

class RecordedShow extends Show {
  take(index) {
    if (index === null) return;
    this.complete = true;
    this.events = events_of(index);
    const tunings = tunings_of(index);
    if (tunings !== null) this.set_tunings(tunings);
    this.damage = typeof index.error === 'string' ? index.error : null;
  }
}

/** A recording at an address. `progress` is told the share that has been looked through. */
export async function open_demo(url, { progress } = {}) {
  const library = started();
  const source = await url_source(url);
  const module = await library;
  // The index is next to the file: it goes before a query.
  const place = new URL(url, document.baseURI);
  place.pathname += '.index';
  const coming = fetch_index(place, source.size);
  const patience = new Promise((done) => setTimeout(done, INDEX_PATIENCE_MS, null));
  const index = source.size <= SMALL ? null : await Promise.race([coming, patience]);
  const show = new RecordedShow(await Recording.open(module, source, { index, progress }));
  if (index !== null) show.take(index);
  else coming.then((late) => show.take(late));
  return show;
}

async function fetch_index(url, size) {
  try {
    const answer = await fetch(url);
    return answer.ok ? await read_index(new Uint8Array(await answer.arrayBuffer()), size) : null;
  } catch {
    return null; // the recording is enough
  }
}

/** A recording that is in memory. */
export async function open_bytes(bytes) {
  return new RecordedShow(await Recording.open(await started(), bytes_source(bytes)));
}

/** Whether there is a broadcast that can be reached from this page. */
export async function is_broadcast(url) {
  try {
    const answer = await fetch(new URL('sync', new URL(url, document.baseURI)), { signal: AbortSignal.timeout(REACH_MS) });
    return answer.ok;
  } catch {
    return false;
  }
}

/** A broadcast: asks for what is new until it is closed. */
export class LiveShow extends Show {
  live = true;
  /** Why the last question had no answer. */
  trouble = null;
  #broadcast;
  #closed = new AbortController();
  #arrivals = []; // {ms, tick}, ticks: of the newest fragments

  /** @param {(next: LiveShow) => void} changed when another recording has begun: its map, its ticks */
  static async open(url, changed) {
    const broadcast = new Broadcast(await started(), new URL(url, document.baseURI));
    for (let tries = 0; ; ++tries) {
      await broadcast.update();
      if (broadcast.recording !== null) break;
      if (tries === 60) throw new Error(`${url}: nothing is broadcast`);
      await new Promise((done) => setTimeout(done, 1000));
    }
    return new LiveShow(broadcast, changed);
  }

  constructor(broadcast, changed) {
    super(broadcast.recording);
    this.#broadcast = broadcast;
    this.#follow(changed);
  }

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
        this.trouble = error;
        pause = TROUBLE_MS;
      }
      if (pause > 0) await new Promise((done) => setTimeout(done, pause));
    }
  }

  #arrived() {
    const tick = this.stretches.last_tick;
    const before = this.#arrivals.at(-1)?.tick ?? tick;
    this.#arrivals.push({ ms: performance.now(), tick, ticks: tick - before });
    if (this.#arrivals.length > ARRIVALS) this.#arrivals.shift();
  }

  lasting(number, options) {
    return this.stretches.lasting(number, options);
  }

  /** What is to be seen now: as late that the next fragment will be there when it is needed, if it comes like the last ones. */
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
