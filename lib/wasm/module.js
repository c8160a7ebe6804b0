// The library in WebAssembly, and its memory: functions of the C ABI are called with numbers, and the structs that they
// fill in are read at the offsets of abi.js.
import * as abi from './abi.js';

/**
 * What the module exports. Pointers and sizes are numbers, and a uint64_t is a BigInt.
 * @typedef {Record<string, (...given: (number|bigint)[]) => number> &
 *   {memory: WebAssembly.Memory, __heap_base: WebAssembly.Global<'i32'>}} Functions
 */

/** What is wrong with an input, and where. */
export class TeewireError extends Error {
  /**
   * @param {string} message
   * @param {{code?: number, position?: number|null}} [where]
   */
  constructor(message, { code = 0, position = null } = {}) {
    super(position === null ? message : `byte ${position}: ${message}`);
    this.name = 'TeewireError';
    this.code = code;
    this.position = position;
  }
}

/** More is not needed by the longest stretch between two keyframes of any recorder. */
const MOST_MEMORY = 512 << 20;
const PAGE = 65536;

const utf8 = new TextDecoder();

/**
 * All bytes of a stream. More than `most` throw `problem`.
 * @param {ReadableStream<Uint8Array>} stream @param {number} most @param {string} problem
 */
export async function read_all(stream, most, problem) {
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    if ((size += value.length) > most) {
      await reader.cancel();
      throw new TeewireError(problem);
    }
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @param {Uint8Array} bytes */
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export class Module {
  #bottom;
  #top;
  #view;
  #bytes;
  /** @type {Map<number, string>} */
  #texts = new Map();

  /** @param {WebAssembly.Instance} instance @param {boolean} simd */
  constructor(instance, simd) {
    this.functions = /** @type {Functions} */ (instance.exports);
    this.functions.__wasm_call_ctors();
    this.simd = simd;
    this.#top = this.#bottom = this.functions.__heap_base.value + 15 & ~15;
    const { buffer } = this.functions.memory;
    this.#bytes = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
  }

  /** Its memory, valid until the next `take`. */
  get bytes() {
    const { buffer } = this.functions.memory;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#view = new DataView(buffer);
    }
    return this.#bytes;
  }
  get view() {
    this.bytes;
    return this.#view;
  }

  /** Memory of `size` bytes, all zero, until the `scope` ends in which this is called. @param {number} size */
  take(size) {
    const at = this.#top;
    const top = at + size + 15 & ~15;
    if (top > MOST_MEMORY || top < at) throw new TeewireError(`more than ${MOST_MEMORY >> 20} MiB of memory are needed`);
    const missing = top - this.functions.memory.buffer.byteLength;
    if (missing > 0) {
      try {
        this.functions.memory.grow(Math.ceil(missing / PAGE));
      } catch {
        throw new TeewireError('there is not enough memory');
      }
    }
    this.#top = top;
    this.bytes.fill(0, at, top);
    return at;
  }

  /** What `take` gives inside of `work` can be used again afterwards. @template T @param {() => T} work */
  scope(work) {
    const top = this.#top;
    try {
      return work();
    } finally {
      this.#top = top;
    }
  }

  /** Bytes of what is taken now. */
  get used() { return this.#top - this.#bottom; }

  /** A text with a terminator, which stays where it is. @param {number} at */
  text(at) {
    let text = this.#texts.get(at);
    if (text === undefined) this.#texts.set(at, text = this.field(at, this.bytes.indexOf(0, at) - at));
    return text;
  }

  /** A text of at most `size` bytes. @param {number} at @param {number} size */
  field(at, size) {
    const field = this.bytes.subarray(at, at + size);
    const end = field.indexOf(0);
    return utf8.decode(end < 0 ? field : field.subarray(0, end));
  }

  /** A copy of bytes. @param {Uint8Array} bytes */
  put(bytes) {
    const at = this.take(bytes.length);
    this.bytes.set(bytes, at);
    return at;
  }

  /**
   * Memory for a struct of abi.js, with its size in it if it begins with that.
   * @param {{size_of: number, size?: number}} layout
   */
  struct(layout) {
    const at = this.take(layout.size_of);
    if (layout.size === 0) this.view.setUint32(at, layout.size_of, true);
    return at;
  }

  /** Memory for a failure, see `failed`. */
  failure() { return this.struct(abi.failure); }

  /** The error that such memory holds. The input begins at byte `offset` of the file. @param {number} failure */
  failed(failure, offset = 0) {
    const { view } = this;
    const code = view.getInt32(failure + abi.failure.code, true);
    const what = this.text(this.functions.teewire_error_text(code));
    const stage = view.getInt32(failure + abi.failure.stage, true);
    const place = Number(view.getBigUint64(failure + abi.failure.position, true));
    const chunk = Number(view.getBigUint64(failure + abi.failure.chunk, true));
    const names = ['', 'Huffman code, byte', 'packed ints, byte', 'snapshot, int', 'delta, int'];
    return stage === 0 ? new TeewireError(what, { code, position: place + offset })
      : new TeewireError(`${names[stage] ?? 'stage'} ${place}: ${what}`, { code, position: chunk + offset });
  }
}
