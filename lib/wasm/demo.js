// Demos: their header, and stretches of them, from a keyframe on, decoded by the library.
import * as abi from './abi.js';
import { TeewireError, hexadecimal } from './module.js';
import { Snapshot } from './snapshot.js';
import { PROTOCOLS } from './tables.js';

/** @import { Header, Message, Protocol, Stretch } from './teewire.js' */
/** @import { Module } from './module.js' */
/** @import { ItemTypes } from './tables.js' */

/**
 * Whose items and messages there are in a demo. `sizes`: which sizes of items its deltas leave out, as the library has them
 * in memory.
 * @typedef {{protocol: Protocol, sizes: Uint8Array}} Found
 */
/**
 * How to decode chunks. `sizes`: null to find them in the chunks. `offset`: that of the chunks in the file.
 * @typedef {{protocol: Protocol, sizes: Uint8Array|null, types: ItemTypes, offset: number}} Decoding
 */
/**
 * What is known of a demo up to byte `offset`. Ticks are -1 before the first one.
 * @typedef {{offset: number, tick: number, first_tick: number, last_tick: number,
 *   keyframes: {tick: number, offset: number}[], damaged: boolean}} Walk
 */

const utf8 = new TextDecoder();

/** Bytes of a stretch's decoded snapshots and messages: these, and so many times its own, but never more than the last. */
const STRETCH = { least: 32 << 20, ratio: 256, most: 512 << 20 };
/** Of a message, besides its own bytes. */
const MESSAGE_BYTES = 512;

/**
 * Reads a header. `bytes` are the first ones of the file; more than MAX_DEMO_HEADER_BYTES are not needed.
 * @param {Module} module
 * @param {Uint8Array} bytes
 * @returns {Header} `bytes`: the same header with a map of no bytes, so that chunks can follow it
 */
export function read_header(module, bytes) {
  return module.scope(() => {
    const failure = module.failure();
    const out = module.struct(abi.demo_header);
    const file = module.put(bytes);
    const size = module.functions.teewire_demo_header_read(file, BigInt(bytes.length), out, failure);
    if (size === abi.BAD_MAGIC) throw new TeewireError('this is not a demo', { position: 0 });
    if (size < 0) throw module.failed(failure);
    const { view } = module;
    /** @param {keyof typeof abi.demo_header} member */
    const at = (member) => out + abi.demo_header[member];
    const markers = [];
    for (let n = 0; n < view.getUint32(at('marker_count'), true); ++n)
      markers.push(view.getInt32(at('marker_ticks') + 4 * n, true));
    const header = {
      version: view.getUint32(at('version'), true),
      size,
      map: { name: module.field(at('map_name'), 64), size: view.getUint32(at('map_size'), true),
        crc: view.getUint32(at('map_crc'), true).toString(16).padStart(8, '0'),
        sha256: view.getUint32(at('has_sha256'), true) === 0 ? null
          : hexadecimal(module.bytes.subarray(at('sha256'), at('sha256') + 32)) },
      seconds: view.getInt32(at('length'), true),
      markers,
      net_version: module.field(at('net_version'), 64),
      type: module.field(at('type'), 8),
      date: module.field(at('timestamp'), 20),
    };
    view.setUint32(at('map_size'), 0, true);
    view.setUint32(at('version'), Math.min(header.version, 6), true);
    module.functions.teewire_demo_header_write(out, file, bytes.length);
    return { ...header, bytes: module.bytes.slice(file, file + size) };
  });
}

/** @param {Module} module @param {Uint8Array} file @param {number} offset of its chunks @param {number} sizes */
function open(module, file, offset, sizes = 0) {
  const f = module.functions;
  const at = module.put(file);
  const out = module.take(4);
  const options = module.struct(abi.demo_reader_options);
  const failure = module.failure();
  const size = f.teewire_demo_reader_size();
  const memory = module.take(size);
  module.view.setUint32(options + abi.demo_reader_options.sizes, sizes, true);
  if (f.teewire_demo_reader_init(out, memory, size, at, BigInt(file.length), options, failure) < 0)
    throw module.failed(failure, offset);
  return { reader: module.view.getUint32(out, true), failure };
}

/**
 * Whose items and messages there are in a demo of that header, and which sizes of items its deltas leave out: found once,
 * as it takes longer than a stretch.
 * @param {Module} module @param {Uint8Array} header without map @param {Uint8Array} chunks
 * @returns {Found}
 */
export function find_protocol(module, header, chunks) {
  return module.scope(() => {
    const f = module.functions;
    const { reader } = open(module, joined(header, chunks), 0);
    const size = f.teewire_sizes_size();
    const memory = module.take(size);
    const out = module.take(4);
    f.teewire_sizes_copy(out, memory, size, f.teewire_demo_reader_sizes(reader));
    return { protocol: PROTOCOLS[f.teewire_demo_reader_protocol(reader)], sizes: module.bytes.slice(memory, memory + size) };
  });
}

/** @param {Uint8Array} header @param {Uint8Array} chunks */
function joined(header, chunks) {
  const file = new Uint8Array(header.length + chunks.length);
  file.set(header);
  file.set(chunks, header.length);
  return file;
}

/**
 * All snapshots and messages of a stretch that begins with a keyframe. What is damaged ends it, with `error`.
 * @param {Module} module
 * @param {Uint8Array} header without map
 * @param {Uint8Array} chunks
 * @param {Decoding} decoding
 * @returns {Stretch}
 */
export function decode(module, header, chunks, { protocol, sizes, types, offset }) {
  return module.scope(() => {
    const f = module.functions;
    const { reader, failure } = open(module, joined(header, chunks), 0, sizes === null ? 0 : module.put(sizes));
    const event = module.struct(abi.demo_event);
    const shown = module.struct(abi.snapshot);
    const message = module.struct(abi.message);
    const number = PROTOCOLS.indexOf(protocol);
    /** @type {Stretch} */
    const stretch = { snapshots: [], messages: [], ticks: [], error: null };
    // Snapshots can be long, and deltas between them short.
    let left = Math.min(STRETCH.most, STRETCH.least + STRETCH.ratio * chunks.length);
    for (;;) {
      const kind = f.teewire_demo_reader_next(reader, event, failure);
      const { view } = module;
      if (kind === 0) break;
      if (kind < 0) {
        stretch.error = module.failed(failure, offset - header.length);
        break;
      }
      if (left < 0) {
        stretch.error = new TeewireError('too much follows a keyframe', { position: offset });
        break;
      }
      const tick = view.getInt32(event + abi.demo_event.tick, true);
      if (kind === abi.DEMO_TICK) {
        stretch.ticks.push(tick);
        left -= 8;
      } else if (kind === abi.DEMO_SNAPSHOT) {
        f.teewire_demo_reader_snapshot(reader, shown);
        const at = view.getUint32(shown + abi.snapshot.ints, true) >> 2;
        const ints = new Int32Array(module.bytes.buffer).slice(at, at + view.getUint32(shown + abi.snapshot.size, true));
        stretch.snapshots.push(new Snapshot(tick, ints, types));
        left -= ints.byteLength;
      } else if (kind === abi.DEMO_MESSAGE) {
        const size = view.getUint32(event + abi.demo_event.message_size, true);
        const at = view.getUint32(event + abi.demo_event.message, true);
        stretch.messages.push(read_message(module, tick, at, size, number, message));
        left -= MESSAGE_BYTES + 2 * size;
      }
    }
    return stretch;
  });
}

/**
 * @param {Module} module @param {number} tick @param {number} at @param {number} size
 * @param {number} protocol @param {number} out memory for the struct
 */
function read_message(module, tick, at, size, protocol, out) {
  const known = module.functions.teewire_message_read(at, size, protocol, out, 0);
  const { view } = module;
  /** @type {Message} */
  const read = { tick, name: null, id: 0, system: false, fields: new Uint8Array(0) };
  if (known < 0) return read;
  /** @typedef {keyof typeof abi.message} Member */
  /** @param {Member} member */
  const int = (member) => view.getInt32(out + abi.message[member], true);
  /** @param {Member} start @param {Member} length */
  const bytes = (start, length) => module.bytes.subarray(int(start), int(start) + int(length));
  if (int('name') !== 0) read.name = module.text(int('name'));
  read.id = int('id');
  read.system = int('system') !== 0;
  read.fields = bytes('fields', 'fields_size').slice();
  if (known === 0) return read;
  for (const member of /** @type {const} */ (['client_id', 'victim', 'weapon', 'team', 'target'])) read[member] = int(member);
  for (const name of /** @type {const} */ (['text', 'sender', 'clan']))
    read[name] = int(name) === 0 ? '' : utf8.decode(bytes(name, `${name}_size`));
  return read;
}

/**
 * The ints that a message's fields begin with; fewer where they end. See lib/doc/format/varint.md.
 * @param {Uint8Array} fields @param {number} count
 */
export function read_ints(fields, count) {
  const ints = [];
  for (let at = 0; ints.length < count && at < fields.length;) {
    const first = fields[at++];
    let value = first & 0x3f;
    let more = first & 0x80;
    for (let shift = 6; more !== 0 && shift <= 27; shift += 7) {
      if (at === fields.length) return ints;
      const byte = fields[at++];
      value |= (byte & 0x7f) << shift;
      more = byte & 0x80;
    }
    ints.push((first & 0x40) !== 0 ? ~value : value);
  }
  return ints;
}

/**
 * Where keyframes are, by the heads of chunks alone. Goes on where `state` says, so that a file can be given in parts.
 * @param {Uint8Array} chunks from byte `offset` of the file on
 * @param {number} offset
 * @param {number} version of the demo
 * @param {Walk} state
 */
export function walk(chunks, offset, version, state) {
  const within = version < 5 ? 0x3f : 0x1f;
  for (let at = state.offset - offset; at >= 0 && at < chunks.length; state.offset = at + offset) {
    const head = chunks[at];
    if ((head & 0x80) !== 0) {
      const relative = version < 5 ? (head & within) !== 0 : (head & 0x20) !== 0;
      if (!relative && at + 5 > chunks.length) return;
      const tick = relative ? state.tick + (head & within)
        : new DataView(chunks.buffer, chunks.byteOffset + at + 1).getInt32(0);
      if (tick < 0 || (relative && state.tick < 0)) { state.damaged = true; return; }
      if ((head & 0x40) !== 0) state.keyframes.push({ tick, offset: at + offset });
      state.tick = tick;
      if (state.first_tick < 0) state.first_tick = tick;
      state.last_tick = Math.max(state.last_tick, tick);
      at += relative ? 1 : 5;
    } else {
      let size = head & 0x1f;
      const more = size < 30 ? 0 : size - 29;
      if (at + 1 + more > chunks.length) return;
      if (more === 1) size = chunks[at + 1];
      if (more === 2) size = chunks[at + 1] | chunks[at + 2] << 8;
      if (at + 1 + more + size > chunks.length) return;
      at += 1 + more + size;
    }
  }
}
