// Maps for drawing: groups, layers, images and envelopes. Documented in lib/doc/format/datafile.md and map.md. Content
// that the engines' clients would not show either is left out, and listed in `problems`.
import { TeewireError, read_all } from './module.js';
import { text_of as text_of_ints } from './tables.js';

/** @import { GameMap, Layer, TileLayer } from './teewire.js' */
/** @typedef {GameMap['envelopes'][number]} Envelope */

/** Bytes of all blocks, decompressed, unpacked tiles and quads together. */
const MOST_BYTES = 512 << 20;
/** Blocks that no other part shares cannot be larger than so many times the file: it is deflate's best. */
const MOST_RATIO = 1032;
/** Also of a small file, as skips in tiles and layers of one block go beyond that. */
const LEAST_BUDGET = 32 << 20;
const MOST_SIDE = 10000;
/** @type {Record<number, TileLayer['kind']|undefined>} */
const LAYER_KINDS = { 0: 'tiles', 1: 'game', 2: 'tele', 4: 'speedup', 8: 'front', 16: 'switch', 32: 'tune' };
const ITEM = { info: 1, image: 2, envelope: 3, group: 4, layer: 5, points: 6, uuids: 0xffff };
/** Of an item's type: DDNet's tangents of envelope points. */
const BEZIERS = [0x3ab4f84d, 0xd9cc3c78, 0xb5850d6c, 0xcdb2e25c];
/** Of all envelopes together, as they may share them. */
const MOST_POINTS = 1 << 20;

const utf8 = new TextDecoder();

class Datafile {
  #budget;
  /** @type {Map<number, Promise<Uint8Array>>} */
  #blocks = new Map();
  /** @type {[number, Int32Array][]} */
  #uuids = [];

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    const magic = utf8.decode(bytes.subarray(0, 4));
    if (magic !== 'DATA' && magic !== 'ATAD') throw new TeewireError('this is not a map', { position: 0 });
    const view = this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 36) throw new TeewireError('the map ends in its header', { position: bytes.length });
    this.bytes = bytes;
    this.#budget = Math.min(MOST_BYTES, LEAST_BUDGET + MOST_RATIO * bytes.length);
    this.version = view.getInt32(4, true);
    if (this.version !== 3 && this.version !== 4)
      throw new TeewireError(`there is no version ${this.version} of datafiles`, { position: 4 });
    const [types, items, blocks, item_bytes, block_bytes] = [16, 20, 24, 28, 32].map((at) => view.getInt32(at, true));
    const counts = [types, items, blocks, item_bytes, block_bytes];
    if (counts.some((n) => n < 0 || n > bytes.length)) throw new TeewireError('a count is out of range', { position: 16 });
    this.sizes = 36 + 12 * types + 4 * items + 4 * blocks;
    this.offsets = this.sizes - 4 * blocks;
    this.data = this.sizes + (this.version === 4 ? 4 * blocks : 0) + item_bytes;
    if (this.data + block_bytes > bytes.length) throw new TeewireError('the map ends too early', { position: bytes.length });
    this.end = this.data + block_bytes;
    this.blocks = blocks;
    /** @type {Map<number|undefined, Int32Array[]>} by type, ints of the items in their order */
    this.types = new Map();
    const first = 36 + 12 * types;
    const begin = this.data - item_bytes;
    for (let n = 0; n < items; ++n) {
      const offset = view.getInt32(first + 4 * n, true);
      const at = begin + offset;
      if (offset < 0 || offset % 4 !== 0 || at + 8 > this.data)
        throw new TeewireError(`item ${n} is outside of the items`, { position: first + 4 * n });
      const type = view.getInt32(at, true) >>> 16;
      const id = view.getInt32(at, true) & 0xffff;
      const size = view.getInt32(at + 4, true);
      if (size < 0 || size % 4 !== 0 || at + 8 + size > this.data)
        throw new TeewireError(`item ${n} is larger than the rest`, { position: at + 4 });
      this.allow(size, `item ${n}`); // items may share their ints
      const ints = new Int32Array(size / 4);
      for (let i = 0; i < ints.length; ++i) ints[i] = view.getInt32(at + 8 + 4 * i, true);
      const others = this.types.get(type);
      if (others === undefined) this.types.set(type, [ints]);
      else others.push(ints);
      if (type === ITEM.uuids && ints.length >= 4) this.#uuids.push([id, ints]);
    }
  }

  /** The type that has this UUID, or undefined. @param {number[]} uuid */
  type_of(uuid) { return this.#uuids.find(([, ints]) => uuid.every((word, n) => ints[n] >>> 0 === word))?.[0]; }

  /** The items of a type. @param {number|undefined} type */
  all(type) { return this.types.get(type) ?? []; }

  /** Takes bytes that are about to be allocated off what is left. @param {number} bytes @param {string} what */
  allow(bytes, what) {
    if (!(bytes >= 0 && bytes <= this.#budget)) throw new TeewireError(`${what} of ${bytes} bytes, and ${this.#budget} are left`);
    this.#budget -= bytes;
  }

  /**
   * A block decompressed; null for -1. Each is decompressed once.
   * @param {number} number
   * @returns {Promise<Uint8Array|null>}
   */
  block(number) {
    if (number === -1) return Promise.resolve(null);
    let block = this.#blocks.get(number);
    if (block === undefined) this.#blocks.set(number, block = this.#read(number));
    return block;
  }

  /** The text in a block; empty for -1. @param {number} number */
  async text(number) {
    const bytes = await this.block(number);
    if (bytes === null) return '';
    const end = bytes.indexOf(0);
    const text = end < 0 ? bytes : bytes.subarray(0, end);
    this.allow(text.length, 'a text'); // many may share a block
    return utf8.decode(text);
  }

  /** @param {number} number */
  async #read(number) {
    if (number < 0 || number >= this.blocks) throw new TeewireError(`there is no block ${number}`);
    const place = this.offsets + 4 * number;
    const from = this.data + this.view.getInt32(place, true);
    const to = number + 1 < this.blocks ? this.data + this.view.getInt32(place + 4, true) : this.end;
    if (from < this.data || to < from || to > this.end)
      throw new TeewireError(`block ${number} is outside of the blocks`, { position: place });
    const stored = this.bytes.subarray(from, to);
    if (this.version === 3) return stored;
    const size = this.view.getInt32(this.sizes + 4 * number, true);
    this.allow(size, `block ${number}`);
    return inflate(stored, size, number, from);
  }
}

/** @param {Uint8Array} stored @param {number} size @param {number} number of the block @param {number} position */
async function inflate(stored, size, number, position) {
  let out;
  try {
    const stream = new Blob([/** @type {BlobPart} */ (stored)]).stream().pipeThrough(new DecompressionStream('deflate'));
    out = await read_all(stream, size, 'more than it says');
  } catch (error) {
    throw new TeewireError(`block ${number} cannot be decompressed: ${/** @type {Error} */ (error).message}`, { position });
  }
  if (out.length !== size) throw new TeewireError(`block ${number} has ${out.length} of ${size} bytes`, { position });
  return out;
}

/** @param {Int32Array} ints @param {number} from @param {number} count */
const name_of = (ints, from, count) => ints.length < from + count ? '' : text_of_ints(ints, from, count);

/** Each tile stands for skip + 1 cells. @param {Datafile} file @param {Uint8Array} tiles @param {number} cells */
function unpack(file, tiles, cells) {
  file.allow(4 * cells, 'unpacked tiles');
  const out = new Uint8Array(4 * cells);
  let at = 0;
  for (let n = 0; n + 4 <= tiles.length && at < out.length; n += 4)
    for (let k = tiles[n + 2] + 1; k > 0 && at < out.length; --k, at += 4) {
      out[at] = tiles[n];
      out[at + 1] = tiles[n + 1];
    }
  if (at < out.length) throw new TeewireError('packed tiles end too early');
  return out;
}

/** @param {Datafile} file @param {Int32Array} ints */
async function image_of(file, ints) {
  const [, width, height, external, name, pixels] = ints;
  /** @type {GameMap['images'][number]} */
  const image = { name: await file.text(name), width, height, external: external === 1, rgba: null };
  if (image.external || pixels === -1) return image;
  if (!(width > 0 && width <= MOST_SIDE && height > 0 && height <= MOST_SIDE)) throw new TeewireError(`an image of ${width} x ${height}`);
  const rgba = await file.block(pixels);
  if (rgba === null || rgba.length < 4 * width * height)
    throw new TeewireError(`image "${image.name}": ${rgba?.length ?? 0} bytes for ${width} x ${height}`);
  image.rgba = rgba.subarray(0, 4 * width * height);
  return image;
}

/** The points of all envelopes. @param {Datafile} file @param {number} step @param {string[]} problems */
function points_of(file, step, problems) {
  const all = file.all(ITEM.points)[0] ?? new Int32Array(0);
  const count = Math.floor(all.length / step);
  /** @type {Int32Array|null} */
  let tangents = step === 22 ? all : file.all(file.type_of(BEZIERS))[0] ?? null;
  if (step === 6 && tangents !== null && tangents.length !== 16 * count) {
    problems.push(`envelopes: ${tangents.length} ints of tangents for ${count} points`);
    tangents = null;
  }
  return Array.from({ length: Math.min(count, MOST_POINTS) }, (_, n) => {
    /** @param {Int32Array} ints @param {number} from */
    const four = (ints, from) => Array.from(ints.subarray(from, from + 4));
    const point = { time: all[n * step], curve: all[n * step + 1], values: four(all, n * step + 2) };
    if (tangents === null) return point;
    const at = step === 22 ? 22 * n + 6 : 16 * n;
    const [in_time, in_, out_time, out] = [0, 4, 8, 12].map((from) => four(tangents, at + from));
    return { ...point, in_time, in: in_, out_time, out };
  });
}

/** @param {Int32Array} ints @param {Envelope['points']} all @param {{points: number}} budget */
function envelope_of(ints, all, budget) {
  const [, channels, first, count] = ints;
  if (!(first >= 0 && count >= 0 && first + count <= all.length)) throw new TeewireError(`there are no points ${first} to ${first + count}`);
  if (count > budget.points) throw new TeewireError(`${count} points, and ${budget.points} are left`);
  budget.points -= count;
  return { channels, points: all.slice(first, first + count), name: ints.length >= 12 ? name_of(ints, 4, 8) : '',
    synchronized: ints[0] < 2 || ints[12] !== 0 };
}

/** @param {Datafile} file @param {Int32Array} ints @returns {Promise<Layer|null>} */
async function layer_of(file, ints) {
  const detail = (ints[2] & 1) !== 0;
  if (ints[1] === 3) {
    const [, , , version, count, block, image] = ints;
    const data = await file.block(block);
    if (count < 0 || data === null || data.length < 152 * count) throw new TeewireError(`a layer of ${count} quads has ${data?.length ?? 0} bytes`);
    file.allow(152 * count, 'quads');
    const quads = new Int32Array(38 * count);
    const view = new DataView(data.buffer, data.byteOffset);
    for (let i = 0; i < quads.length; ++i) quads[i] = view.getInt32(4 * i, true);
    return { kind: 'quads', detail, image, count, quads, name: version >= 2 ? name_of(ints, 7, 3) : '' };
  }
  if (ints[1] !== 2 || ints.length < 15) return null;
  const [, , , version, width, height, flags] = ints;
  const kind = LAYER_KINDS[flags];
  if (kind === undefined) return null;
  if (!(width > 0 && height > 0 && width * height <= MOST_SIDE * MOST_SIDE)) throw new TeewireError(`a layer of ${width} x ${height} tiles`);
  // DDNet's kinds have a block of their own, and cells of other sizes.
  const extra = ['tele', 'speedup', 'front', 'switch', 'tune'].indexOf(kind);
  const behind = version >= 3 ? 18 : 15;
  const block = extra < 0 ? ints[14] : ints[behind + extra] ?? -1;
  const bytes = kind === 'speedup' ? 6 : kind === 'tele' || kind === 'tune' ? 2 : 4;
  let cells = await file.block(block);
  if (cells === null) return null;
  if (version >= 4 && extra < 0) cells = unpack(file, cells, width * height);
  if (cells.length < bytes * width * height) throw new TeewireError(`a layer of ${width} x ${height} tiles has ${cells.length} bytes`);
  return { kind, detail, width, height, colour: Array.from(ints.subarray(7, 11)), colour_envelope: ints[11],
    colour_offset: ints[12], image: ints[13], cells, cell_bytes: bytes, name: version >= 3 ? name_of(ints, 15, 3) : '' };
}

/** @param {Int32Array} ints @returns {GameMap['groups'][number] & {first: number, count: number}} */
function group_of(ints) {
  const [version, x, y, parallax_x, parallax_y, first, count] = ints;
  return { offset: [x, y], parallax: [parallax_x, parallax_y], first, count,
    clip: version >= 2 && ints[7] === 1 ? { x: ints[8], y: ints[9], width: ints[10], height: ints[11] } : null,
    name: version >= 3 ? name_of(ints, 12, 3) : '', layers: [] };
}

/**
 * Reads a map. What is damaged in one part of it is left out and told in `problems`; only a file that is none throws.
 * @param {Uint8Array} bytes
 * @returns {Promise<GameMap>}
 */
export async function read_map(bytes) {
  const file = new Datafile(bytes);
  /** @type {string[]} */
  const problems = [];
  /** @template T @param {string} what @param {() => Promise<T>} work @param {T} otherwise */
  const tried = async (what, work, otherwise) => {
    try {
      return await work();
    } catch (error) {
      problems.push(`${what}: ${/** @type {Error} */ (error).message}`);
      return otherwise;
    }
  };
  const info = file.all(ITEM.info)[0] ?? [];
  /** @param {number} n */
  const text = (n) => tried('info', () => file.text(info[n] ?? -1), '');
  const images = [];
  for (const [n, ints] of file.all(ITEM.image).entries())
    images.push(await tried(`image ${n}`, () => image_of(file, ints), { name: '', width: 0, height: 0, external: false, rgba: null }));
  const described = file.all(ITEM.envelope);
  const points = points_of(file, described.some((ints) => ints[0] >= 3) ? 22 : 6, problems);
  const envelopes = [];
  const budget = { points: MOST_POINTS };
  for (const [n, ints] of described.entries())
    envelopes.push(await tried(`envelope ${n}`, async () => envelope_of(ints, points, budget),
      { channels: ints[1], points: [], name: '', synchronized: false }));
  /** @type {(Int32Array|null)[]} */
  const layers = file.all(ITEM.layer);
  const groups = [];
  for (const [n, ints] of file.all(ITEM.group).entries()) {
    const { first, count, ...group } = group_of(ints);
    groups.push(group);
    // No layer belongs to two groups, so that their work is bounded by the file.
    for (let i = Math.max(first, 0); i < first + count && i < layers.length; ++i) {
      const item = layers[i];
      layers[i] = null;
      if (item === null) continue;
      const layer = await tried(`group ${n}, layer ${i}`, () => layer_of(file, item), null);
      if (layer !== null) group.layers.push(layer);
    }
    if (!group.layers.some((layer) => layer.kind === 'game')) continue;
    Object.assign(group, { offset: [0, 0], parallax: [100, 100], clip: null });
  }
  return { author: await text(1), version: await text(2), credits: await text(3), license: await text(4), images, envelopes,
    groups, problems };
}
