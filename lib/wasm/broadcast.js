// A broadcast, followed as lib/doc/format/broadcast.md#watching says.
import { decode, read_header } from './demo.js';
import { TeewireError, read_all } from './module.js';
import { Stretches } from './stretches.js';
import { PROTOCOLS } from './tables.js';

/** @import { Header, Message, Protocol, Sync } from './teewire.js' */
/** @import { Module } from './module.js' */
/** @import { Segment, Waiting } from './stretches.js' */

/**
 * What `sync` says of a recording, checked.
 * @typedef {{id: string, protocol: Protocol, first: number, last: number, first_tick: number, last_tick: number,
 *   ended: boolean, map_path: string|null}} Listed
 */

/** Bytes of answers, and fragments of a recording. */
const MOST = { sync: 1 << 20, start: 64 << 10, fragment: 64 << 20, map: 256 << 20, segments: 1 << 20 };
const IDS = /^[0-9a-f]{16}$/;
/** @param {unknown} n @param {number} low @param {number} high @returns {n is number} */
const whole = (n, low, high) => typeof n === 'number' && Number.isInteger(n) && n >= low && n <= high;

/** One recording of a broadcast: from one map to the next. A segment is a fragment. */
export class BroadcastRecording extends Stretches {
  #base;

  /** @param {Module} module @param {URL} base @param {Listed} what */
  static async open(module, base, what) {
    const bytes = await get(new URL(`${what.id}/start`, base), MOST.start);
    return new BroadcastRecording(module, base, read_header(module, bytes), what);
  }

  /** @param {Module} module @param {URL} base @param {Header} header @param {Listed} what */
  constructor(module, base, header, what) {
    super(module, header, { protocol: what.protocol, sizes: null });
    this.#base = base;
    this.id = what.id;
    this.map_path = what.map_path;
    this.last = what.first - 1;
    this.ended = false;
    this.first_tick = what.first_tick;
    this.last_tick = what.first_tick;
  }

  /** Takes what `sync` says of it now. @param {Listed} what */
  update(what) {
    this.ended = what.ended;
    this.last = Math.max(this.last, what.first - 1); // the others have gone
    while (this.last < what.last && this.segments.length < MOST.segments) {
      const number = ++this.last;
      // Ticks of fragments are known when they are read; until then they are about a second each.
      this.segments.push({ tick: this.#guess(number, what), offset: 0, end: 0, number });
    }
    this.last_tick = Math.max(this.last_tick, what.last_tick);
  }

  /**
   * Reads the fragment after the last one; a relay answers when it is complete. False if there is none.
   * @param {AbortSignal} [signal]
   */
  async next(signal) {
    const number = this.last + 1;
    const chunks = await find(new URL(`${this.id}/${number}.frag`, this.#base), MOST.fragment, signal);
    if (chunks === null || this.last + 1 !== number) return false;
    this.last = number;
    this.segments.push({ tick: this.last_tick + 1, offset: 0, end: 0, number, chunks });
    const { snapshots } = await this.segment(this.segments.length - 1);
    this.last_tick = Math.max(this.last_tick, snapshots.at(-1)?.tick ?? -1);
    return true;
  }

  /** @param {number} number @param {Listed} what */
  #guess(number, what) {
    const back = (what.last - number + 1) * 50;
    const before = this.segments.at(-1)?.tick ?? what.first_tick - 1;
    return Math.max(before + 1, Math.min(what.last_tick, what.last_tick - back + 1));
  }

  /** @override @param {Segment} segment @param {Waiting} [options] */
  async fetch(segment, { signal } = {}) {
    const { chunks } = segment;
    delete segment.chunks; // it can be had again
    return chunks ?? get(new URL(`${this.id}/${segment.number}.frag`, this.#base), MOST.fragment, signal);
  }

  /** @override @param {number} number @param {Waiting} [options] */
  async segment(number, options) {
    const stretch = await super.segment(number, options);
    if (stretch.snapshots.length > 0) this.segments[number].tick = stretch.snapshots[0].tick;
    return stretch;
  }

  /**
   * The messages from before a fragment whose effect lasts.
   * @param {number} number @param {Waiting} [options]
   * @returns {Promise<Message[]>}
   */
  async lasting(number, { signal } = {}) {
    if (this.segments[number].number === 0) return [];
    const chunks = await find(new URL(`${this.id}/${this.segments[number].number}.state`, this.#base), MOST.fragment, signal);
    if (chunks === null) return [];
    return decode(this.module, this.header.bytes, chunks,
      { protocol: this.protocol, sizes: null, types: this.types, offset: 0 }).messages;
  }

  /** @returns {Promise<Uint8Array|null>} */
  async map() { return this.map_path === null ? null : get(new URL(this.map_path, this.#base), MOST.map); }
}

/** What is at an address; null if nothing is. @param {URL} url @param {number} most @param {AbortSignal} [signal] */
async function find(url, most, signal) {
  const answer = await fetch(url, { signal });
  if (answer.status === 404) return null;
  if (!answer.ok) throw new TeewireError(`${url}: status ${answer.status}`);
  return answer.body === null ? new Uint8Array(0) : read_all(answer.body, most, `${url}: more than ${most} bytes`);
}

/** What is at an address. @param {URL} url @param {number} most @param {AbortSignal} [signal] */
async function get(url, most, signal) {
  const found = await find(url, most, signal);
  if (found === null) throw new TeewireError(`${url}: status 404`);
  return found;
}

/** Null if it is not JSON. @param {Uint8Array} bytes */
function parsed(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** What makes sense of an answer. @param {{version?: unknown, recordings?: unknown}|null} sync @returns {Listed[]} */
function recordings_of(sync) {
  if (sync?.version !== 1 || !Array.isArray(sync.recordings)) throw new TeewireError('this is not a broadcast');
  return sync.recordings.filter((r) => typeof r?.id === 'string' && IDS.test(r.id) && PROTOCOLS.includes(r.protocol) &&
    whole(r.first, 0, 2 ** 40) && whole(r.last, r.first, r.first + 1e6) && whole(r.first_tick, 0, 2 ** 31) &&
    whole(r.last_tick, r.first_tick, 2 ** 31))
    .map((r) => ({ id: r.id, protocol: r.protocol, first: r.first, last: r.last, first_tick: r.first_tick,
      last_tick: r.last_tick, ended: r.ended === true,
      map_path: /^map\/[0-9a-f]{64}\.map$/.test(r.map?.path ?? '') ? r.map.path : null }));
}

export class Broadcast {
  #module;
  #base;

  /** @param {Module} module @param {string|URL} url of the folder that `sync` is in, with a slash at its end */
  constructor(module, url) {
    this.#module = module;
    this.#base = new URL(url, globalThis.location?.href);
    /** @type {BroadcastRecording|null} the newest one */
    this.recording = null;
    /** @type {Sync|null} the last answer of `sync` */
    this.sync = null;
  }

  /**
   * Waits for what comes next, as long as a relay lets it; files on a web server tell at once that nothing is there.
   * @param {Waiting} [options]
   * @returns {Promise<'fragment'|'recording'|null>} what is new: null if nothing is
   */
  async next({ signal } = {}) {
    const { recording } = this;
    if (recording !== null && !recording.ended && (await recording.next(signal))) return 'fragment';
    const last = recording?.last;
    if (await this.update({ signal })) return 'recording';
    return this.recording !== null && this.recording.last !== last ? 'fragment' : null;
  }

  /** Asks once. Returns true if there is another recording now: after a map change, and at first. @param {Waiting} [options] */
  async update({ signal } = {}) {
    const sync = parsed(await get(new URL('sync', this.#base), MOST.sync, signal));
    const list = recordings_of(sync);
    this.sync = sync;
    const newest = list.at(-1);
    if (newest === undefined) return false;
    if (this.recording?.id === newest.id) {
      this.recording.update(newest);
      return false;
    }
    const opened = await BroadcastRecording.open(this.#module, this.#base, newest);
    if (this.recording !== null) this.recording.ended = true;
    this.recording = opened;
    opened.update(newest);
    return true;
  }
}
