// Shared by recordings and broadcasts: segments from keyframe to keyframe, fetched and decoded on demand.
import { decode } from './demo.js';
import { ItemTypes } from './tables.js';

/** @import { Header, Message, Protocol, Snapshot, Stretch } from './teewire.js' */
/** @import { Module } from './module.js' */

/**
 * A segment. Chunks are at these bytes of a recording, and in fragment `number` of a broadcast, which may be here already.
 * @typedef {{tick: number, offset: number, end: number, number?: number, chunks?: Uint8Array}} Segment
 */
/** @typedef {{signal?: AbortSignal}} Waiting */

/** Decoded stretches that are kept: some seconds each. */
const KEPT = 12;

export class Stretches {
  /** @type {Segment[]} in their order in the file */
  segments = [];
  first_tick = -1;
  last_tick = -1;
  /** @type {Map<number, {promise: Promise<Stretch>, signal?: AbortSignal}>} */
  #kept = new Map();
  #sizes;

  /**
   * @param {Module} module @param {Header} header
   * @param {{protocol: Protocol, sizes: Uint8Array|null}} found by find_protocol
   */
  constructor(module, header, { protocol, sizes }) {
    this.module = module;
    this.header = header;
    this.protocol = protocol;
    this.types = new ItemTypes(module, protocol);
    this.#sizes = sizes;
  }

  /**
   * The chunks of a segment. Each class that extends this one has its own.
   * @param {Segment} _segment @param {Waiting} [_options]
   * @returns {Promise<Uint8Array>}
   */
  async fetch(_segment, _options) { throw new Error('there are no chunks'); }

  /** The segment that a tick is in: the last that begins at it or before; else the first one. @param {number} tick */
  locate(tick) {
    let low = 0;
    for (let high = this.segments.length; high - low > 1;) {
      const middle = low + high >> 1;
      if (this.segments[middle].tick <= tick) low = middle;
      else high = middle;
    }
    return low;
  }

  /**
   * Decodes a segment.
   * @param {number} number
   * @param {Waiting} [options] `signal` gives it up, for all who wait for it; it can be asked for again
   * @returns {Promise<Stretch>}
   */
  segment(number, { signal } = {}) {
    let kept = this.#kept.get(number);
    this.#kept.delete(number);
    if (kept === undefined || kept.signal?.aborted) {
      const segment = this.segments[number];
      const promise = this.fetch(segment, { signal }).then((chunks) => decode(this.module, this.header.bytes, chunks,
        { protocol: this.protocol, sizes: this.#sizes, types: this.types, offset: segment.offset }));
      /** @type {{promise: Promise<Stretch>, signal?: AbortSignal}} */
      const entry = kept = { promise, signal };
      promise.then(
        () => { entry.signal = undefined; },
        () => { if (this.#kept.get(number) === entry) this.#kept.delete(number); }); // to be tried again
    }
    this.#kept.set(number, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT) this.#kept.delete(oldest);
    return kept.promise;
  }

  /**
   * What is shown at a tick, which may have a fraction: the snapshot at or before it, and the one behind.
   * @param {number} tick
   * @returns {Promise<{previous: Snapshot|null, next: Snapshot|null}>}
   */
  async at(tick) {
    if (this.segments.length === 0) return { previous: null, next: null };
    let number = this.locate(tick);
    /** @type {Snapshot|null} */
    let previous = null;
    // Backwards, as a damaged segment may have nothing.
    for (; number >= 0; --number) {
      const { snapshots } = await this.segment(number);
      const place = last_not_above(snapshots, tick);
      if (place >= 0) {
        previous = snapshots[place];
        if (place + 1 < snapshots.length) return { previous, next: snapshots[place + 1] };
        break;
      }
      if (number === 0) return { previous: null, next: snapshots[0] ?? null };
    }
    for (++number; number < this.segments.length; ++number) {
      const { snapshots } = await this.segment(number);
      if (snapshots.length > 0) return { previous, next: snapshots[0] };
    }
    return { previous, next: null };
  }

  /** The messages of the ticks from `from` up to, not including, `to`. @param {number} from @param {number} to */
  async messages(from, to) {
    /** @type {Message[]} */
    const found = [];
    for (let n = this.locate(from); n < this.segments.length && (n === 0 || this.segments[n].tick < to); ++n)
      found.push(...(await this.segment(n)).messages.filter((m) => m.tick >= from && m.tick < to));
    return found;
  }
}

/**
 * The number of the last snapshot that is not above the tick, or -1.
 * @param {{tick: number}[]} snapshots @param {number} tick
 */
export function last_not_above(snapshots, tick) {
  let low = -1;
  for (let high = snapshots.length; high - low > 1;) {
    const middle = low + high >> 1;
    if (snapshots[middle].tick <= tick) low = middle;
    else high = middle;
  }
  return low;
}
