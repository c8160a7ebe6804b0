// Checks of the JavaScript library, in node and in browsers alike. `get(name)` gives the bytes of a file.

/** @import { Item, Snapshot } from '../../lib/wasm/teewire.js' */
/** @import { Module } from '../../lib/wasm/module.js' */
/** @typedef {typeof import('../../lib/wasm/teewire.js')} Library */
/** @typedef {(name: string) => Promise<Uint8Array>} Get */

const FNV = { offset: 0xcbf29ce484222325n, prime: 0x100000001b3n, mask: (1n << 64n) - 1n };

/** As `dump --format checksum` has it. @param {Int32Array} ints */
function fnv(ints) {
  let hash = FNV.offset;
  for (const byte of new Uint8Array(ints.buffer, ints.byteOffset, ints.byteLength)) hash = (hash ^ BigInt(byte)) * FNV.prime & FNV.mask;
  return hash.toString(16).padStart(16, '0');
}

/** @param {Snapshot} s */
const line = (s) => `${s.tick} ${s.count} ${s.ints[0]} ${s.checksum().toString(16).padStart(8, '0')} ${fnv(s.ints)}`;

/**
 * States by seeking: `expected` are lines of `dump --format checksum` in the order in which they are asked for.
 * @param {Library} library @param {Module} module @param {Get} get
 * @param {{name: string, expected: string[]}[]} demos
 */
export async function states(library, module, get, demos) {
  const wrong = [];
  let checked = 0;
  for (const { name, expected } of demos) {
    const recording = await library.Recording.open(module, library.bytes_source(await get(name)));
    for (const wanted of expected) {
      const { previous } = await recording.at(Number(wanted.split(' ')[0]));
      const got = previous === null ? 'nothing' : line(previous);
      if (got !== wanted) wrong.push(`${name}: ${got} instead of ${wanted}`);
      ++checked;
    }
  }
  return { checked, wrong };
}

/** The library's own work in a demo: no copies for JavaScript. @param {Module} module @param {Uint8Array} file */
function alone(module, file) {
  const f = module.functions;
  return module.scope(() => {
    const [at, out, event, snapshot] = [module.put(file), module.take(4), module.take(32), module.take(20)];
    const size = f.teewire_demo_reader_size();
    const start = performance.now();
    f.teewire_demo_reader_init(out, module.take(size), size, at, BigInt(file.length), 0, 0);
    const reader = module.view.getUint32(out, true);
    module.view.setUint32(event, 32, true);
    for (let kind; (kind = f.teewire_demo_reader_next(reader, event, 0)) > 0;)
      if (kind === 2) f.teewire_demo_reader_snapshot(reader, snapshot);
    return performance.now() - start;
  });
}

/**
 * All snapshots in a row; milliseconds of the fastest of some times.
 * @param {Library} library @param {Module} module @param {Get} get @param {string} name
 */
export async function speed(library, module, get, name) {
  const bytes = await get(name);
  let best = Infinity;
  let snapshots = 0;
  let decoding = Infinity;
  for (let round = 0; round < 7; ++round) {
    const recording = await library.Recording.open(module, library.bytes_source(bytes));
    const start = performance.now();
    snapshots = 0;
    for (let n = 0; n < recording.segments.length; ++n) snapshots += (await recording.segment(n)).snapshots.length;
    best = Math.min(best, performance.now() - start);
    decoding = Math.min(decoding, alone(module, bytes));
  }
  return { snapshots, milliseconds: best, decoding };
}

/**
 * What an archive gives, as a whole and in pieces, against the original.
 * @param {Library} library @param {Module} _module @param {Get} get
 * @param {{archive: string, original: string, maps: string|null}[]} pairs `maps`: the folder of those that are not in it
 */
export async function archives(library, _module, get, pairs) {
  const wrong = [];
  /** @param {Uint8Array} a @param {Uint8Array} b */
  const same = (a, b) => a.length === b.length && a.every((byte, n) => byte === b[n]);
  let bytes = 0;
  for (const { archive, original, maps } of pairs) {
    const expected = await get(original);
    const find_map = maps === null ? undefined
      : async (/** @type {string} */ sha256) => library.bytes_source(await get(`${maps}/${sha256}.map`));
    const source = await library.archive_source(library.bytes_source(await get(archive)), { find_map });
    if (source.size !== expected.length || source.damage !== null) wrong.push(`${archive}: ${source.size} bytes, ${source.damage}`);
    if (!same(await source.read(0, source.size), expected)) wrong.push(`${archive}: other bytes`);
    for (let n = 0; n < 40; ++n) {
      const from = Math.floor(expected.length * n / 40);
      const length = n % 4 === 0 ? expected.length : 1 + 977 * n;
      if (!same(await source.read(from, length), expected.subarray(from, from + length))) wrong.push(`${archive}: ${length} from ${from}`);
    }
    bytes += expected.length;
  }
  return { bytes, wrong };
}

/**
 * Archives with bytes changed, or cut: no other error than the library's, and what they give is how the original begins.
 * @param {Library} library @param {Module} _module @param {Get} get
 * @param {string} archive @param {string} original @param {number} times
 */
export async function damaged_archives(library, _module, get, archive, original, times) {
  const [packed, expected] = [await get(archive), await get(original)];
  const wrong = [];
  let seed = 4321;
  /** @param {number} n */
  const random = (n) => {
    seed = Math.imul(seed, 1103515245) + 12345 >>> 0;
    return Math.floor(seed / 2 ** 32 * n);
  };
  let refused = 0;
  let damaged = 0;
  let given = 0;
  for (let n = 0; n < times; ++n) {
    const copy = packed.slice(0, random(2) === 0 ? random(packed.length) : packed.length);
    for (let m = random(3); m > 0 && copy.length > 0; --m) copy[random(copy.length)] ^= 1 << random(8);
    try {
      const source = await library.archive_source(library.bytes_source(copy));
      if (source.damage === undefined) continue; // it does not look like one any more
      const all = await source.read(0, source.size);
      if (source.damage !== null) ++damaged;
      else if (all.length !== expected.length) wrong.push(`${n}: ${all.length} bytes and no damage`);
      given += all.length;
      // Without a checksum, what a damaged block gives need not be right.
      if (source.damage === null && !all.every((byte, at) => byte === expected[at])) wrong.push(`${n}: other bytes`);
    } catch (error) {
      if (!(error instanceof library.TeewireError)) wrong.push(`${n}: ${/** @type {Error} */ (error).stack}`);
      ++refused;
    }
  }
  return { refused, damaged, given, wrong };
}

/**
 * Damaged files of any kind: nothing but what the library itself throws, and no memory is kept.
 * @param {Library} library @param {Module} module @param {Get} get @param {string[]} names
 */
export async function damaged(library, module, get, names) {
  const wrong = [];
  let refused = 0;
  let told = 0;
  for (const name of names) {
    const bytes = await get(name);
    try {
      if (name.endsWith('.map')) {
        told += (await library.read_map(bytes)).problems.length;
        continue;
      }
      const recording = await library.Recording.open(module, library.bytes_source(bytes));
      for (let n = 0; n < recording.segments.length; ++n) {
        const { snapshots, error } = await recording.segment(n);
        for (const snapshot of snapshots) void snapshot.items;
        if (error !== null) ++told;
      }
      const map = await recording.map();
      if (map !== null) told += (await library.read_map(map)).problems.length;
    } catch (error) {
      if (!(error instanceof library.TeewireError)) wrong.push(`${name}: ${/** @type {Error} */ (error).stack}`);
      ++refused;
    }
    if (module.used !== 0) wrong.push(`${name}: ${module.used} bytes are still in use`);
  }
  return { files: names.length, refused, told, wrong, memory: module.functions.memory.buffer.byteLength };
}

/**
 * The same bytes with one of them changed, again and again: as above.
 * @param {Library} library @param {Module} module @param {Get} get @param {string} name
 * @param {number} times
 */
export async function mutated(library, module, get, name, times) {
  const bytes = await get(name);
  let seed = 12345;
  /** @param {number} n */
  const random = (n) => {
    seed = Math.imul(seed, 1103515245) + 12345 >>> 0;
    return Math.floor(seed / 2 ** 32 * n);
  };
  const changed = async () => {
    const copy = bytes.slice(0, random(8) === 0 ? random(bytes.length) : bytes.length);
    for (let n = random(4); n >= 0 && copy.length > 0; --n) copy[random(copy.length)] = random(256);
    return copy;
  };
  return damaged(library, module, changed, Array.from({ length: times }, () => name));
}

/**
 * What the module makes of random variable-length ints, some of which are none: ints, or the error and its place.
 * @param {Library} _library @param {Module} module @param {number} times
 */
export async function varints(_library, module, times) {
  let seed = 99;
  /** @param {number} n */
  const random = (n) => {
    seed = Math.imul(seed, 1103515245) + 12345 >>> 0;
    return Math.floor(seed / 2 ** 32 * n);
  };
  /** @type {string[]} */
  const lines = [];
  for (let n = 0; n < times; ++n) {
    const longer = random(4) === 0 ? 128 : 1 + random(60); // of how many bytes one goes on
    const bytes = Uint8Array.from({ length: random(160) }, () => random(128) | (random(128) < longer ? 0 : 128));
    if (random(2) === 0 && bytes.length > 0) bytes[bytes.length - 1] &= 127;
    module.scope(() => {
      const failure = module.failure();
      const capacity = random(2) === 0 ? 200 : random(200);
      const out = module.take(4 * capacity + 4);
      const count = module.functions.teewire_varint_decode(module.put(bytes), bytes.length, out, capacity, failure);
      const ints = new Int32Array(module.bytes.buffer, out, Math.max(0, count));
      lines.push(count < 0 ? `${count} at ${module.view.getBigUint64(failure + 8, true)}` : ints.join());
    });
  }
  return lines;
}

/**
 * What becomes of files that stand for much more than they hold: bytes of the result, and what is said of the rest.
 * @param {Library} library @param {Module} module @param {Get} get @param {string[]} names
 */
export async function bombs(library, module, get, names) {
  const found = [];
  for (const name of names) {
    const bytes = await get(name);
    if (name.endsWith('.map')) {
      const map = await library.read_map(bytes);
      const layers = map.groups.flatMap((group) => group.layers);
      found.push({ bytes: layers.reduce((sum, layer) => sum + (layer.kind === 'quads' ? 0 : layer.cells.length), 0) +
        map.images.reduce((sum, image) => sum + image.name.length, 0), problems: map.problems });
    } else {
      const recording = await library.Recording.open(module, library.bytes_source(bytes));
      const { snapshots, error } = await recording.segment(0);
      found.push({ bytes: snapshots.reduce((sum, { ints }) => sum + ints.byteLength, 0), problems: [error?.message ?? ''] });
    }
  }
  return found;
}

/**
 * Fields, texts, words, messages and the map of a demo with known content.
 * @param {Library} library @param {Module} module @param {Get} get @param {string} name
 */
export async function content(library, module, get, name) {
  const recording = await library.Recording.open(module, library.bytes_source(await get(name)));
  const { previous } = await recording.at(recording.last_tick);
  if (previous === null) throw new Error('no snapshot');
  const bytes = await recording.map();
  const map = bytes === null ? null : await library.read_map(bytes);
  const stretch = await recording.segment(0);
  return {
    protocol: recording.protocol, map: recording.header.map, first_tick: recording.first_tick, last_tick: recording.last_tick,
    items: previous.items,
    words: recording.types.by_name.get('character')?.fields.find((field) => field.name === 'weapon')?.words,
    messages: stretch.messages.slice(0, 50).map(({ tick, name: what, client_id, text }) => ({ tick, name: what, client_id, text })),
    layers: map?.groups.map((group) => group.layers.map((layer) => layer.kind === 'quads' ? [layer.kind, null, null]
      : [layer.kind, layer.width, layer.height])) ?? null,
    problems: map?.problems,
  };
}

/**
 * The envelopes of a map, and what is wrong with one whose envelopes share too many points.
 * @param {Library} library @param {Module} _module @param {Get} get @param {string} name
 */
export async function envelopes(library, _module, get, name) {
  const { envelopes: found, problems } = await library.read_map(await get(name));
  const many = await library.read_map(shared_points(200, 20000));
  return { envelopes: found, problems, kept: many.envelopes.filter(({ points }) => points.length > 0).length, many: many.problems };
}

/** A map of envelopes that all have the same points. @param {number} envelopes @param {number} points */
function shared_points(envelopes, points) {
  /** @type {[number, number, number[]][]} */
  const items = Array.from({ length: envelopes }, (_, n) => [3, n, [1, 4, 0, points, -1]]);
  items.push([6, 0, new Array(6 * points).fill(0)]);
  const types = [[3, 0, envelopes], [6, envelopes, 1]];
  const offsets = [];
  let size = 0;
  for (const [, , ints] of items) {
    offsets.push(size);
    size += 8 + 4 * ints.length;
  }
  const body = [...types.flat(), ...offsets, ...items.flatMap(([type, id, ints]) => [type << 16 | id, 4 * ints.length, ...ints])];
  const head = [0x41544144, 4, 4 * body.length + 20, 4 * body.length + 20, types.length, items.length, 0, size, 0];
  return new Uint8Array(Int32Array.from([...head, ...body]).buffer);
}

/**
 * A broadcast: waits until `seconds` of it are there; the lines of all its snapshots.
 * @param {Library} library @param {Module} module @param {string} url @param {number} seconds
 */
export async function broadcast(library, module, url, seconds) {
  const live = new library.Broadcast(module, url);
  const end = Date.now() + 30000;
  while (live.recording === null) {
    if (Date.now() > end) throw new Error('no broadcast');
    if ((await live.next().catch(() => null)) === null) await new Promise((done) => setTimeout(done, 100));
  }
  const { recording } = live;
  const told = [];
  while ((told.length < 2 || recording.segments.length < seconds) && !recording.ended) {
    if (Date.now() > end) throw new Error(`${recording.segments.length} fragments in 30 s`);
    const before = recording.last_tick;
    told.push(await live.next());
    if (told.at(-1) === 'fragment' && recording.last_tick <= before) throw new Error('a fragment without ticks');
  }
  if (!told.includes('fragment') && !recording.ended) throw new Error(`only ${told} came`);
  const after = await live.next({ signal: AbortSignal.abort() }).catch(() => 'given up');
  if (after !== 'given up') throw new Error(`${after} came, though nobody waited`);
  const lines = [];
  for (let n = 0; n < recording.segments.length; ++n) lines.push(...(await recording.segment(n)).snapshots.map(line));
  const map = await recording.map();
  return { lines, layers: map === null ? 0 : (await library.read_map(map)).groups.flatMap((group) => group.layers).length };
}
