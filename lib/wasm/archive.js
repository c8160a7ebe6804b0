// Recordings in archives, restored block by block as they are read. See lib/doc/format/archive.md.
import * as abi from './abi.js';
import { load } from './fetching.js';
import { Module, TeewireError } from './module.js';

/** @import { Source } from './teewire.js' */
/** @typedef {{begin: number, size: number, position: number, packed_size: number, elsewhere: boolean, facts: Uint8Array}} Block */
/** @typedef {(sha256: string) => Promise<Source>} FindMap gives a map that archives share */

const MAGIC = Uint8Array.of(0x54, 0x57, 0x41, 0x52, 0x43, 0x48, 0);
/** Bytes of restored blocks that are kept. */
const MOST_KEPT = 64 << 20;

/** Whether a file begins as archives do. @param {Uint8Array} bytes */
const is_archive = (bytes) => bytes.length >= MAGIC.length && MAGIC.every((byte, n) => bytes[n] === byte);

/** @type {Promise<Module>|null} */
let started = null;

/** The part of the library that restores archives, which is not loaded before it is needed. @param {string|URL} [where] */
function start(where) {
  const url = where !== undefined ? new URL('teewire-archive.wasm', where)
    : new URL('./teewire-archive.wasm', import.meta.url);
  started ??= load(url).then(async (code) => new Module((await WebAssembly.instantiate(code, {})).instance, false))
    .catch((error) => {
      started = null;
      throw error;
    });
  return started;
}

/** @param {Module} module @param {number} at of the struct @param {number} begin @param {number} position @returns {Block} */
function block_at({ view, bytes }, at, begin, position) {
  const block = abi.archive_block;
  return {
    begin,
    size: view.getUint32(at + block.original_size, true),
    position,
    packed_size: view.getUint32(at + block.packed_size, true),
    elsewhere: (view.getUint32(at + block.flags, true) & abi.ARCHIVE_MAP) !== 0,
    facts: bytes.slice(at, at + block.size_of),
  };
}

/** By the index; null if it is damaged or cut off. @param {Module} module @param {Source} source */
async function read_index(module, source) {
  const { functions } = module;
  if (source.size < abi.ARCHIVE_HEADER_BYTES + abi.ARCHIVE_FOOTER_BYTES) return null;
  const footer = await source.read(source.size - abi.ARCHIVE_FOOTER_BYTES, abi.ARCHIVE_FOOTER_BYTES);
  const size = module.scope(() =>
    functions.teewire_archive_index_bytes(module.put(footer), BigInt(footer.length), module.failure()));
  if (size < 0 || size > source.size) return null;
  const end = await source.read(source.size - size, size);
  return module.scope(() => {
    const count = Math.floor(size / abi.ARCHIVE_ENTRY_BYTES);
    const blocks = module.take(count * abi.archive_block.size_of);
    const there = functions.teewire_archive_index_read(module.put(end), BigInt(end.length), BigInt(source.size), blocks, count,
      module.failure());
    if (there < 0) return null;
    return Array.from({ length: there }, (_, n) => {
      const at = blocks + n * abi.archive_block.size_of;
      return block_at(module, at, Number(module.view.getBigUint64(at + abi.archive_block.begin, true)),
        Number(module.view.getBigUint64(at + abi.archive_block.position, true)));
    });
  });
}

/** Without an index, by what stands before each block, up to where that is damaged. @param {Module} module @param {Source} source */
async function find_blocks(module, source) {
  /** @type {Block[]} */
  const blocks = [];
  let begin = 0;
  for (let at = abi.ARCHIVE_HEADER_BYTES; at < source.size;) {
    const entry = await source.read(at, abi.ARCHIVE_ENTRY_BYTES);
    const block = module.scope(() => {
      const out = module.struct(abi.archive_block);
      const wrong = module.functions.teewire_archive_entry_read(module.put(entry), BigInt(entry.length), out, module.failure());
      return wrong ? null : block_at(module, out, begin, at + abi.ARCHIVE_ENTRY_BYTES);
    });
    if (block === null) break;
    blocks.push(block);
    begin += block.size;
    at = block.position + block.packed_size;
  }
  return blocks;
}

class ArchiveSource {
  #module;
  #source;
  #blocks;
  #find_map;
  /** The block's bytes by its number, those used last at the end. @type {Map<number, Promise<Uint8Array>>} */
  #kept = new Map();
  #kept_bytes = 0;
  /** @type {TeewireError|null} */
  damage = null;

  /** @param {Module} module @param {Source} source @param {Block[]} blocks @param {FindMap|undefined} find_map */
  constructor(module, source, blocks, find_map) {
    this.#module = module;
    this.#find_map = find_map;
    this.#source = source;
    this.#blocks = blocks;
    const last = blocks.at(-1);
    this.size = last === undefined ? 0 : last.begin + last.size;
  }

  /** @param {number} offset @param {number} length */
  async read(offset, length) {
    const pieces = [];
    let at = offset;
    for (let n = this.#locate(offset); at < Math.min(offset + length, this.size); ++n) {
      const { begin } = this.#blocks[n];
      const piece = (await this.#block(n)).subarray(at - begin, offset + length - begin);
      if (piece.length === 0) break; // it is damaged
      pieces.push(piece);
      at += piece.length;
    }
    if (pieces.length === 1) return pieces[0];
    const all = new Uint8Array(at - offset);
    for (let n = pieces.length, end = all.length; n-- > 0; end -= pieces[n].length) all.set(pieces[n], end - pieces[n].length);
    return all;
  }

  /** The block that a byte is in. @param {number} offset */
  #locate(offset) {
    let low = 0;
    for (let high = this.#blocks.length; low < high;) {
      const middle = low + high >> 1;
      if (this.#blocks[middle].begin <= offset) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  /** @param {number} number @returns {Promise<Uint8Array>} */
  #block(number) {
    let bytes = this.#kept.get(number);
    if (bytes !== undefined) {
      this.#kept.delete(number);
    } else {
      this.#kept_bytes += this.#blocks[number].size;
      bytes = this.#restore(this.#blocks[number]);
      bytes.catch(() => { // which is for those who wait; it can be asked for again
        if (this.#kept.delete(number)) this.#kept_bytes -= this.#blocks[number].size;
      });
    }
    this.#kept.set(number, bytes);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept_bytes <= MOST_KEPT || oldest === number) break;
      this.#kept.delete(oldest);
      this.#kept_bytes -= this.#blocks[oldest].size;
    }
    return bytes;
  }

  /** @param {Uint8Array} place @param {number} size */
  async #piece_of_map(place, size) {
    const sha256 = Array.from(place.subarray(4), (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (this.#find_map === undefined) throw new TeewireError(`its map is in another file: ${sha256}.map`);
    const map = await this.#find_map(sha256);
    return map.read(new DataView(place.buffer, place.byteOffset).getUint32(0), size);
  }

  /** The bytes up to damage, which ends the recording there. @param {Block} block */
  async #restore({ begin, size, position, packed_size, elsewhere, facts }) {
    let packed = await this.#source.read(position, packed_size);
    if (elsewhere && packed.length === packed_size) packed = await this.#piece_of_map(packed, size);
    const module = this.#module;
    return module.scope(() => {
      const failure = module.failure();
      const memory = module.functions.teewire_archive_memory_size();
      const out = module.take(size);
      const done = module.functions.teewire_archive_decode(module.put(facts), module.put(packed), BigInt(packed.length),
        module.take(memory), memory, out, size, failure);
      if (done >= 0) return module.bytes.slice(out, out + done);
      const there = Number(module.view.getBigUint64(failure + abi.failure.position, true));
      if (begin + there < this.size) {
        this.size = begin + there;
        this.damage = new TeewireError(`the archive is damaged: ${module.failed(failure).message}`, { position });
      }
      return module.bytes.slice(out, out + there);
    });
  }

  /** Restores the last block, which may be cut. */
  async check_end() {
    if (this.#blocks.length > 0) await this.#block(this.#blocks.length - 1);
  }
}

/**
 * The recording in an archive; what is no archive is given as it is.
 * @param {Source} source
 * @param {{where?: string|URL, find_map?: FindMap}} [options] `where`: the folder of teewire-archive.wasm; `find_map` is
 *   asked for a map that is not in the archive
 * @returns {Promise<Source & {damage?: TeewireError|null}>}
 */
export async function archive_source(source, { where, find_map } = {}) {
  const begin = await source.read(0, abi.ARCHIVE_HEADER_BYTES);
  if (!is_archive(begin)) return source;
  const module = await start(where);
  if (!module.scope(() => module.functions.teewire_archive_is(module.put(begin), BigInt(begin.length))))
    throw new TeewireError(`an archive of version ${begin[MAGIC.length]}, which this program does not know`,
      { position: MAGIC.length });
  const index = await read_index(module, source);
  const made = new ArchiveSource(module, source, index ?? await find_blocks(module, source), find_map);
  if (index === null) {
    made.damage = new TeewireError('the archive has no index, or a damaged one');
    await made.check_end();
  }
  return made;
}
