// A demo that is read in parts, as they are needed.
import { MAX_DEMO_HEADER_BYTES } from './abi.js';
import { find_protocol, read_header, walk } from './demo.js';
import { fetch_whole } from './fetching.js';
import { TeewireError, read_all } from './module.js';
import { Stretches } from './stretches.js';

/** @import { Header, Index, Source } from './teewire.js' */
/** @import { Found, Walk } from './demo.js' */
/** @import { Module } from './module.js' */
/** @import { Segment, Waiting } from './stretches.js' */

const PIECE = 1 << 20;
/** Enough of it for the header, and for snapshots that tell the protocol. */
const FIRST = 1 << 16;
/** Smaller recordings are fetched as a whole. */
const WHOLE = 1 << 19;
/** Bytes of an index, decompressed: these and so many times its own, but never more than the last. */
const INDEX = { least: 1 << 20, ratio: 200, most: 64 << 20 };

/** A recording that is in memory. @param {Uint8Array} bytes @returns {Source} */
export function bytes_source(bytes) {
  return { size: bytes.length, read: async (offset, length) => bytes.subarray(offset, offset + length) };
}

/**
 * A recording at an address. It is read by ranges if the host has them, else at once and as a whole.
 * @param {string|URL} url @param {Waiting} [options]
 * @returns {Promise<Source>}
 */
export async function url_source(url, { signal } = {}) {
  /** @param {number} offset @param {number} length @param {AbortSignal} [signal] */
  const get = async (offset, length, signal) => {
    const found = await fetch_whole(url, { headers: { Range: `bytes=${offset}-${offset + length - 1}` }, signal });
    const { ok, status } = found.answer;
    if (!ok && status !== 416) throw new TeewireError(`${url}: status ${status}`);
    return found;
  };
  const { answer: first, bytes } = await get(0, FIRST, signal);
  if (first.status === 416) return bytes_source(new Uint8Array(0));
  const all = new Uint8Array(bytes);
  const size = Number(/\/(\d+)$/.exec(first.headers.get('Content-Range') ?? '')?.[1] ?? all.length);
  if (first.status !== 206 || size <= all.length) return bytes_source(all);
  if (size <= WHOLE) {
    const rest = await get(all.length, size - all.length, signal);
    if (rest.answer.status !== 206 || rest.bytes.byteLength !== size - all.length) throw new TeewireError(`${url}: has changed`);
    const whole = new Uint8Array(size);
    whole.set(all);
    whole.set(new Uint8Array(rest.bytes), all.length);
    return bytes_source(whole);
  }
  return {
    size,
    async read(offset, length, { signal } = {}) {
      if (offset + length <= all.length) return all.subarray(offset, offset + length);
      const { answer, bytes } = await get(offset, Math.min(length, size - offset), signal);
      const part = new Uint8Array(bytes);
      if (answer.status !== 206 || part.length > length) throw new TeewireError(`${url}: has changed`);
      return part;
    },
  };
}

/**
 * A sidecar, see lib/doc/format/index.md; null if there is none that fits.
 * @param {Uint8Array} bytes @param {number} size of the recording
 * @returns {Promise<Index|null>}
 */
export async function read_index(bytes, size) {
  let text;
  if (bytes[0] === 0x1f) {
    const most = Math.min(INDEX.most, INDEX.least + INDEX.ratio * bytes.length);
    const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(new DecompressionStream('gzip'));
    try {
      text = new TextDecoder().decode(await read_all(stream, most, 'the index is too large'));
    } catch {
      return null;
    }
  } else {
    text = new TextDecoder().decode(bytes);
  }
  try {
    const index = JSON.parse(text);
    return index?.version === 1 && index.file?.size === size ? index : null;
  } catch {
    return null;
  }
}

/** @param {unknown} n @param {number} low @param {number} high @returns {n is number} */
const whole = (n, low, high) => typeof n === 'number' && Number.isInteger(n) && n >= low && n <= high;

/** Keyframes of a sidecar, as far as they make sense. @param {Index} index @param {number} from @param {number} size */
function keyframes_of(index, from, size) {
  const { ticks, offsets } = /** @type {{ticks?: unknown, offsets?: unknown}} */ (index.keyframes ?? {});
  /** @type {Walk['keyframes']} */
  const list = [];
  if (!Array.isArray(ticks) || !Array.isArray(offsets)) return list;
  let tick = 0;
  let offset = 0;
  for (let n = 0; n < Math.min(ticks.length, offsets.length); ++n) {
    if (!whole(ticks[n], n === 0 ? 0 : 1, 2 ** 31) || !whole(offsets[n], n === 0 ? 0 : 1, size)) break;
    tick += ticks[n];
    offset += offsets[n];
    if (tick > 2147483647 || offset < from || offset >= size) break;
    list.push({ tick, offset });
  }
  return list;
}

export class Recording extends Stretches {
  #source;
  #known;

  /**
   * @param {Module} module
   * @param {Source} source
   * @param {{index?: Index|null, progress?: (part: number) => void, map?: boolean}} [options] `index`: what read_index gave; without,
   *   the whole recording is looked through once. `map`: fetches the map in the meantime
   */
  static async open(module, source, { index = null, progress, map = false } = {}) {
    const start = await source.read(0, Math.min(MAX_DEMO_HEADER_BYTES, source.size));
    const header = read_header(module, start);
    const from = header.size + header.map.size;
    if (from > source.size) throw new TeewireError('the file ends in its map', { position: source.size });
    const early = map && header.map.size > 0 ? source.read(header.size, header.map.size) : null;
    early?.catch(() => {}); // map() says why
    /** @type {Walk} */
    const state = { offset: from, tick: -1, first_tick: -1, last_tick: -1, keyframes: [], damaged: false };
    /** @type {[number, number]|null} */
    let ticks = null;
    if (index !== null && whole(index.first_tick, 0, 2 ** 31) && whole(index.last_tick, index.first_tick, 2 ** 31)) {
      state.keyframes = keyframes_of(index, from, source.size);
      ticks = [index.first_tick, index.last_tick];
    }
    if (state.keyframes.length === 0) {
      ticks = null;
      // A chunk may be longer than what is left of a piece.
      for (let at = from; at < source.size && !state.damaged;) {
        const piece = await source.read(at, PIECE);
        walk(piece, at, header.version, state);
        if (state.offset === at) break;
        at = state.offset;
        progress?.(at / source.size);
      }
    }
    const chunks = await source.read(from, Math.min(FIRST, source.size - from));
    const found = find_protocol(module, header.bytes, chunks);
    return new Recording(module, source, header, found, state, ticks, { from, chunks, map: early });
  }

  /**
   * @param {Module} module @param {Source} source @param {Header} header @param {Found} found @param {Walk} state
   * @param {[number, number]|null} ticks the first and the last one, if an index has them
   * @param {{from: number, chunks: Uint8Array, map: Promise<Uint8Array>|null}} known the first chunks, which are at `from`, and the map
   */
  constructor(module, source, header, found, state, ticks, known) {
    super(module, header, found);
    this.#source = source;
    this.#known = known;
    const { from } = known;
    [this.first_tick, this.last_tick] = ticks ?? [state.first_tick, state.last_tick];
    const { keyframes } = state;
    // Chunks before the first keyframe belong to its segment, and those after damage to the last one.
    this.segments = keyframes.map((k, n) => ({ tick: k.tick, offset: n === 0 ? from : k.offset,
      end: keyframes[n + 1]?.offset ?? source.size }));
  }

  /** @override @param {Segment} segment @param {Waiting} [options] */
  async fetch({ offset, end }, options) {
    const { from, chunks } = this.#known;
    if (end <= from + chunks.length) return chunks.subarray(offset - from, end - from);
    return this.#source.read(offset, end - offset, options);
  }

  /** The map inside of the recording, or null. @returns {Promise<Uint8Array|null>} */
  async map() {
    const { size, map } = this.header;
    const early = this.#known.map;
    this.#known.map = null;
    return map.size === 0 ? null : (early ?? this.#source.read(size, map.size));
  }
}
