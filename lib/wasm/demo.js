// Demos: their header, and stretches of them, from a keyframe on, decoded by the library.
import { TeewireError, hexadecimal } from './module.js';
import { Snapshot } from './snapshot.js';
import { PROTOCOLS } from './tables.js';

/** Bytes of the longest header. */
export const MOST_HEADER = 484;

const utf8 = new TextDecoder();

/** The bytes of a header, which say where the map begins. See lib/doc/format/demo.md#header. */
export function header_size(bytes) {
  const magic = 'TWDEMO\0';
  for (let i = 0; i < magic.length; ++i)
    if (bytes[i] !== magic.charCodeAt(i)) throw new TeewireError('this is not a demo', { position: 0 });
  const version = bytes[7];
  const uuid = '6be6da4acebd380c9b5b1289c842d780';
  const size = version < 4 ? 176 : version >= 6 && hexadecimal(bytes.subarray(436, 452)) === uuid ? 484 : 436;
  if (version < 3) throw new TeewireError(`there is no version ${version} of demos`, { position: 7 });
  if (bytes.length < size) throw new TeewireError('the file ends in its header', { position: bytes.length });
  return size;
}

/**
 * Reads a header. `bytes` are the first ones of the file; more than MOST_HEADER are not needed.
 * @param {import('./module.js').Module} module
 */
export function read_header(module, bytes) {
  const size = header_size(bytes);
  const alone = without_map(bytes, size);
  return module.scope(() => {
    const { reader } = open(module, alone, 0);
    const out = module.take(472);
    module.view.setUint32(out, 472, true);
    module.functions.teewire_demo_reader_header(reader, out);
    const { view } = module;
    const markers = [];
    for (let n = 0; n < view.getUint32(out + 20, true); ++n) markers.push(view.getInt32(out + 24 + 4 * n, true));
    return {
      version: view.getUint32(out + 4, true),
      size,
      bytes: alone,
      map: { name: module.field(out + 380, 64), size: new DataView(bytes.buffer, bytes.byteOffset).getUint32(136),
        crc: view.getUint32(out + 12, true).toString(16).padStart(8, '0'),
        sha256: view.getUint32(out + 280, true) === 0 ? null : hexadecimal(module.bytes.subarray(out + 284, out + 316)) },
      seconds: view.getInt32(out + 16, true),
      markers,
      net_version: module.field(out + 316, 64),
      type: module.field(out + 444, 8),
      date: module.field(out + 452, 20),
    };
  });
}

// The same header with a map of no bytes: what comes behind it then are chunks.
function without_map(bytes, size) {
  const header = bytes.slice(0, size);
  header.fill(0, 136, 140);
  return header;
}

function open(module, file, offset, sizes = 0) {
  const f = module.functions;
  const at = module.put(file);
  const out = module.take(4);
  const options = module.take(16);
  const failure = module.failure();
  const size = f.teewire_demo_reader_size();
  const memory = module.take(size);
  module.view.setUint32(options, 16, true);
  module.view.setUint32(options + 8, sizes, true);
  if (f.teewire_demo_reader_init(out, memory, size, at, BigInt(file.length), options, failure) < 0)
    throw module.failed(failure, offset);
  return { reader: module.view.getUint32(out, true), failure };
}

/**
 * Whose items and messages there are in a demo of that header, and which sizes of items its deltas leave out: found once,
 * as it takes longer than a stretch.
 * @returns {{protocol: string, sizes: Uint8Array}} `sizes` as the library has them in memory
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

function joined(header, chunks) {
  const file = new Uint8Array(header.length + chunks.length);
  file.set(header);
  file.set(chunks, header.length);
  return file;
}

/**
 * All snapshots and messages of a stretch that begins with a keyframe. What is damaged ends it, with `error`.
 * @param {import('./module.js').Module} module
 * @param {Uint8Array} header without map
 * @param {Uint8Array} chunks
 * @param {{protocol: string, sizes: Uint8Array|null, types: import('./tables.js').ItemTypes, offset: number}} of `sizes`: null
 *   to find them here; `offset`: that of the chunks in the file
 */
export function decode(module, header, chunks, { protocol, sizes, types, offset }) {
  return module.scope(() => {
    const f = module.functions;
    const { reader, failure } = open(module, joined(header, chunks), 0, sizes === null ? 0 : module.put(sizes));
    const event = module.take(32);
    const shown = module.take(20);
    const message = module.take(84);
    const number = PROTOCOLS.indexOf(protocol);
    const snapshots = [];
    const messages = [];
    let error = null;
    for (;;) {
      module.view.setUint32(event, 32, true);
      const kind = f.teewire_demo_reader_next(reader, event, failure);
      const { view } = module;
      if (kind === 0) break;
      if (kind < 0) {
        error = module.failed(failure, offset - header.length);
        break;
      }
      const tick = view.getInt32(event + 4, true);
      if (kind === 2) {
        f.teewire_demo_reader_snapshot(reader, shown);
        const at = view.getUint32(shown, true) >> 2;
        const ints = new Int32Array(module.bytes.buffer).slice(at, at + view.getUint32(shown + 12, true));
        snapshots.push(new Snapshot(tick, ints, types));
      } else if (kind === 3) {
        messages.push(read_message(module, tick, view.getUint32(event + 16, true), view.getUint32(event + 20, true), number,
          message));
      }
    }
    return { snapshots, messages, error };
  });
}

function read_message(module, tick, at, size, protocol, out) {
  module.view.setUint32(out, 84, true);
  const known = module.functions.teewire_message_read(at, size, protocol, out, 0);
  const { view } = module;
  const read = { tick, name: null, id: 0, system: false, fields: new Uint8Array(0) };
  if (known < 0) return read;
  read.name = module.text(view.getUint32(out + 28, true));
  read.id = view.getInt32(out + 4, true);
  read.system = view.getInt32(out + 8, true) !== 0;
  const from = view.getUint32(out + 32, true);
  read.fields = module.bytes.slice(from, from + view.getUint32(out + 36, true));
  if (known === 0) return read;
  const text = (place, length) => {
    const start = view.getUint32(out + place, true);
    return start === 0 ? '' : utf8.decode(module.bytes.subarray(start, start + view.getUint32(out + length, true)));
  };
  read.client_id = view.getInt32(out + 40, true);
  read.victim = view.getInt32(out + 44, true);
  read.weapon = view.getInt32(out + 48, true);
  read.team = view.getInt32(out + 52, true);
  read.target = view.getInt32(out + 56, true);
  read.text = text(64, 60);
  read.sender = text(68, 72);
  read.clan = text(80, 76);
  return read;
}

/** The ints that a message's fields begin with; fewer where they end. See lib/doc/format/varint.md. */
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
 * @param {number} version of the demo
 * @param {{offset: number, tick: number, keyframes: {tick: number, offset: number}[], last_tick: number, first_tick: number}} state
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
