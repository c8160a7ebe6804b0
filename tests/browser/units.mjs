// The JavaScript library part by part: units.mjs PACKAGE FIXTURES. Runs only in node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import zlib from 'node:zlib';

const [folder, fixtures] = process.argv.slice(2).map((name) => path.resolve(name));
/** @import { Index, QuadLayer, Snapshot, TileLayer } from '../../lib/wasm/teewire.js' */
/** @import { Module } from '../../lib/wasm/module.js' */
/** @import { Segment } from '../../lib/wasm/stretches.js' */
/** @typedef {[type: number, id: number, ints: number[]][]} Items of a map */

/** @param {string} name */
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
/** @type {typeof import('../../lib/wasm/teewire.js')} */
const { Recording, TeewireError, archive_source, bytes_source, fetch_whole, read_index, read_ints, read_map, start, url_source } =
  await load('teewire.js');
/** @type {typeof import('../../lib/wasm/broadcast.js')} */
const { Broadcast } = await load('broadcast.js');
/** @type {typeof import('../../lib/wasm/demo.js')} */
const { walk } = await load('demo.js');
/** @type {typeof import('../../lib/wasm/module.js')} */
const { read_all } = await load('module.js');
/** @type {typeof import('../../lib/wasm/stretches.js')} */
const { Stretches, last_not_above } = await load('stretches.js');
/** @type {typeof import('../../lib/wasm/tables.js')} */
const { text_of } = await load('tables.js');
const module = /** @type {Module} */ (await start());
const demo = new Uint8Array(fs.readFileSync(path.join(fixtures, 'demos/ddnet_yard.demo')));
/** @param {number[]} ints */
const bytes_of = (ints) => new Uint8Array(Int32Array.from(ints).buffer);

// ---- demos -----------------------------------------------------------------------------------------------------------

/** @param {Uint8Array} chunks @param {number} version */
const walked = (chunks, version, step = chunks.length) => {
  /** @type {import('../../lib/wasm/demo.js').Walk} */
  const state = { offset: 100, tick: -1, first_tick: -1, last_tick: -1, keyframes: [], damaged: false };
  for (let end = step; ; end += step) {
    walk(chunks.subarray(state.offset - 100, end), state.offset, version, state);
    if (end >= chunks.length || state.damaged) return state;
  }
};

test('chunks: heads of every form, in pieces of every size', () => {
  const chunks = Uint8Array.of(
    0xc0, 0, 0, 3, 232, // keyframe, tick 1000
    0x23, 1, 2, 3, // 3 bytes
    0xa0 | 31, // 31 ticks on
    0x3e, 2, 9, 9, // 2 bytes, size in a byte
    0x3f, 1, 0, 7, // 1 byte, size in two
    0xe0 | 1, // keyframe, a tick on
    0x80, 0, 0, 5, 220); // tick 1500
  for (let step = 1; step <= chunks.length; ++step) {
    const state = walked(chunks, 6, step);
    assert.deepEqual(state.keyframes, [{ tick: 1000, offset: 100 }, { tick: 1032, offset: 118 }]);
    assert.deepEqual([state.first_tick, state.last_tick, state.offset, state.damaged], [1000, 1500, 124, false]);
  }
});

test('chunks: ticks before version 5 have six bits', () => {
  const chunks = Uint8Array.of(0xc0, 0, 0, 3, 232, 0x80 | 63, 0x80 | 1);
  assert.equal(walked(chunks, 4).last_tick, 1064);
  assert.equal(walked(Uint8Array.of(0xc0, 0, 0, 3, 232, 0xa0 | 1, 0xa0), 5).last_tick, 1001);
});

test('chunks: from version 5 on, only a flag says that a tick is relative', () => {
  for (const version of [5, 6]) assert.equal(walked(Uint8Array.of(0xc0, 0, 0, 3, 232, 0x81, 0, 0, 9, 9), version).last_tick, 0x909);
});

test('headers: every field, and what is wrong with one', async () => {
  const whole = demo.slice();
  whole.fill(120, 156, 176); // a date that fills its field
  const { header: read } = await Recording.open(module, bytes_source(whole));
  assert.equal(read.date, 'x'.repeat(20));
  assert.deepEqual([read.map.name, read.type, read.version], ['yard', 'client', 6]);
  await assert.rejects(Recording.open(module, bytes_source(demo.subarray(0, 100))), { name: 'TeewireError', message: /ends too early/ });
  await assert.rejects(Recording.open(module, bytes_source(new Uint8Array(500))), /byte 0: this is not a demo/);
});

test('chunks: a tick that is negative, or relative to none, ends it', () => {
  assert.equal(walked(Uint8Array.of(0xc0, 255, 0, 0, 0), 6).damaged, true);
  assert.equal(walked(Uint8Array.of(0xa1), 6).damaged, true);
  assert.equal(walked(Uint8Array.of(0xc0, 0, 0, 0, 0), 6).damaged, false);
});

test('ints: of all lengths, and none where they end early', () => {
  /** @type {[number, number[]][]} */
  const packed = [[0, [0]], [63, [63]], [64, [0x80, 1]], [-1, [0x40]], [-64, [0x7f]], [-65, [0xc0, 1]],
    [2147483647, [0xbf, 0xff, 0xff, 0xff, 0x0f]], [-2147483648, [0xff, 0xff, 0xff, 0xff, 0x0f]], [8191, [0xbf, 0x7f]]];
  for (const [value, bytes] of packed) {
    assert.deepEqual(read_ints(Uint8Array.from(bytes), 2), [value]);
    for (let end = 0; end < bytes.length; ++end) assert.deepEqual(read_ints(Uint8Array.from(bytes.slice(0, end)), 1), []);
  }
  assert.deepEqual(read_ints(Uint8Array.of(1, 2, 3), 2), [1, 2]);
});

test('an index: only what makes sense of it is used', async () => {
  const plain = await Recording.open(module, bytes_source(demo));
  const { first_tick, last_tick, segments } = plain;
  const offsets = segments.map(({ offset }) => offset);
  /** @typedef {[ticks: number[]|null, offsets: number[]|null, more?: Partial<Index>]} Keyframes */
  /** @param {Keyframes} _ */
  const open = (...[ticks, at, more = {}]) => Recording.open(module, bytes_source(demo),
    { index: { version: 1, file: { size: demo.length }, first_tick, last_tick, keyframes: { ticks, offsets: at }, ...more } });
  /** @param {number[]} list */
  const steps = (list) => list.map((n, i) => (i === 0 ? n : n - list[i - 1]));
  const ticks = segments.map(({ tick }) => tick);
  const whole = await open(steps(ticks), steps(offsets));
  assert.deepEqual(whole.segments.map(({ offset }) => offset), offsets);
  assert.deepEqual(whole.segments.at(-1)?.end, demo.length);
  /** @param {Keyframes} of */
  const found = async (...of) => (await open(...of)).segments.length;
  assert.equal(await found([ticks[0], 50, 0], [offsets[0], 9, 9]), 2); // ticks must ascend
  assert.equal(await found([ticks[0], 50, 50], [offsets[0], 9, 0]), 2); // and so must offsets
  assert.equal(await found([ticks[0], 50], [offsets[0], demo.length]), 1); // past the end
  assert.equal(await found([ticks[0], 2 ** 31], [offsets[0], 9]), 1);
  assert.equal(await found([ticks[0]], [0]), segments.length); // in the header: the recording is looked through
  assert.equal(await found([ticks[0]], [offsets[0]], { first_tick: 5, last_tick: 4 }), segments.length);
  assert.equal(await found([1.5], [offsets[0]]), segments.length);
  assert.equal(await found(null, [offsets[0]]), segments.length);
  assert.equal(await found([ticks[0]], null), segments.length);
  assert.equal((await open([1.5], [offsets[0]], { first_tick: 0, last_tick: 1 })).first_tick, first_tick); // nor its ticks
});

test('an index: what is none, of another file or too large', async () => {
  const index = { version: 1, file: { size: 5 }, x: '' };
  /** @param {object|null} what */
  const packed = (what) => zlib.gzipSync(JSON.stringify(what));
  assert.deepEqual(await read_index(packed(index), 5), index);
  assert.deepEqual(await read_index(new TextEncoder().encode(JSON.stringify(index)), 5), index);
  assert.equal(await read_index(packed(index), 6), null);
  assert.equal(await read_index(packed({ ...index, version: 2 }), 5), null);
  assert.equal(await read_index(packed(null), 5), null);
  assert.equal(await read_index(packed(index).subarray(0, 30), 5), null);
  assert.notEqual(await read_index(packed({ ...index, x: 'x'.repeat(1 << 20) }), 5), null);
  assert.equal(await read_index(packed({ ...index, x: 'x'.repeat(2 << 20) }), 5), null);
  const noise = Array.from({ length: 10000 }, (_, n) => (n * 7919) % 10007).join('');
  assert.notEqual(await read_index(packed({ ...index, x: noise, y: 'x'.repeat(2 << 20) }), 5), null);
});

test('a source: by ranges, as a whole, or changed meanwhile', async () => {
  let file = Uint8Array.from({ length: 1000000 }, (_, n) => n);
  /** @type {(string|null)[]} */
  const asked = [];
  /** @param {(from: number, to: number) => Response} answer @returns {typeof fetch} */
  const host = (answer) => async (_url, options) => {
    const range = new Headers(options?.headers).get('Range');
    asked.push(range);
    const [, from, to] = (/bytes=(\d+)-(\d+)/.exec(range ?? '') ?? []).map(Number);
    return answer(from, to);
  };
  /** @param {number} from @param {number} to */
  const part = (from, to) => new Response(file.slice(from, to + 1), { status: 206,
    headers: { 'Content-Range': `bytes ${from}-${Math.min(to, file.length - 1)}/${file.length}` } });
  globalThis.fetch = host(part);
  const source = await url_source('http://x/');
  assert.equal(source.size, 1000000);
  assert.deepEqual(await source.read(65530, 10), file.subarray(65530, 65540));
  assert.deepEqual(await source.read(10, 5), file.subarray(10, 15)); // which was there
  assert.deepEqual(await source.read(999990, 50), file.subarray(999990));
  assert.deepEqual(asked.splice(0), ['bytes=0-65535', 'bytes=65530-65539', 'bytes=999990-999999']);
  globalThis.fetch = host(() => new Response(file));
  await assert.rejects(source.read(70000, 10), TeewireError);
  assert.deepEqual(await (await url_source('http://x/')).read(70000, 3), file.subarray(70000, 70003));
  // A small one at once.
  file = file.subarray(0, 100000);
  asked.length = 0;
  globalThis.fetch = host(part);
  assert.deepEqual(await (await url_source('http://x/')).read(70000, 3), file.subarray(70000, 70003));
  assert.deepEqual(asked, ['bytes=0-65535', 'bytes=65536-99999']);
  globalThis.fetch = host((from) => (from === 0 ? part(from, 65535) : part(from, 80000)));
  await assert.rejects(url_source('http://x/'), { name: 'TeewireError', message: 'http://x/: has changed' });
  globalThis.fetch = host(() => new Response(null, { status: 416 }));
  assert.equal((await url_source('http://x/')).size, 0);
  globalThis.fetch = host(() => new Response(null, { status: 404 }));
  await assert.rejects(url_source('http://x/'), { name: 'TeewireError', message: 'http://x/: status 404' });
});

test('a request: again where it breaks off or the host has trouble', async () => {
  /** @param {(() => Response)[]} answers @returns {Promise<[string, number]>} */
  const ask = async (...answers) => {
    let asked = 0;
    globalThis.fetch = async () => answers[Math.min(asked++, answers.length - 1)]();
    const { bytes } = await fetch_whole('http://x/').catch((error) => ({ bytes: new TextEncoder().encode(String(error)) }));
    return [new TextDecoder().decode(bytes), asked];
  };
  const good = () => new Response('good');
  const bad = () => new Response('bad', { status: 503 });
  const none = () => {
    throw new TypeError('no way');
  };
  const broken = () => new Response(new ReadableStream({ start: (at) => at.error(new TypeError('cut')) }));
  assert.deepEqual(await ask(bad, good), ['good', 2]);
  assert.deepEqual(await ask(none, broken, good), ['good', 3]);
  assert.deepEqual(await ask(() => new Response('not here', { status: 404 })), ['not here', 1]);
  assert.deepEqual(await ask(bad), ['TeewireError: http://x/: status 503', 4]);
  assert.deepEqual(await ask(none), ['TeewireError: http://x/: no connection (no way)', 4]);
  const stop = new AbortController();
  stop.abort();
  globalThis.fetch = async (_url, options) => {
    options?.signal?.throwIfAborted();
    return good();
  };
  await assert.rejects(fetch_whole('http://x/', { signal: stop.signal }), { name: 'AbortError' });
});

// ---- archives --------------------------------------------------------------------------------------------------------

const archive = new Uint8Array(fs.readFileSync(path.join(fixtures, 'archives/ddnet_yard.demo.tda')));

test('archives: a recording is read as from the demo', async () => {
  const recording = await Recording.open(module, await archive_source(bytes_source(archive)));
  const plain = await Recording.open(module, bytes_source(demo));
  assert.deepEqual([recording.first_tick, recording.last_tick, recording.segments], [plain.first_tick, plain.last_tick, plain.segments]);
  const { previous } = await recording.at(500);
  assert.deepEqual(previous?.ints, (await plain.at(500)).previous?.ints);
  const other = bytes_source(demo);
  assert.equal(await archive_source(other), other);
});

test('archives: what is not read does not move, and what is read often is restored once', async () => {
  let read = 0;
  const counted = { size: archive.length, read: async (/** @type {number} */ offset, /** @type {number} */ length) => {
    read += length;
    return archive.subarray(offset, offset + length);
  } };
  const source = await archive_source(counted);
  assert.ok(read < 200, `${read} bytes for the index`);
  await Promise.all([source.read(0, 100), source.read(50, 100)]);
  const once = read;
  assert.ok(once < archive.length / 2, `${once} bytes for the header`);
  await source.read(20, 100);
  assert.equal(read, once);
});

test('archives: a host that fails once is asked again', async () => {
  let fail = false;
  const source = await archive_source({ size: archive.length, read: async (offset, length) => {
    if (fail) throw new TeewireError('no answer');
    return archive.subarray(offset, offset + length);
  } });
  fail = true;
  await assert.rejects(source.read(0, 10), /no answer/);
  fail = false;
  assert.deepEqual(await source.read(0, 10), demo.subarray(0, 10));
});

test('archives: damage ends the recording, and versions to come are refused', async () => {
  const cut = await archive_source(bytes_source(archive.subarray(0, archive.length - 1000)));
  const there = await cut.read(0, cut.size);
  assert.ok(there.length > demo.length / 2 && there.length < demo.length, `${there.length} bytes`);
  assert.deepEqual(there, demo.subarray(0, there.length));
  assert.match(cut.damage?.message ?? '', /the archive is damaged: .*ends too early/);
  const later = archive.slice();
  later[7] = 9;
  await assert.rejects(archive_source(bytes_source(later)), /byte 7: an archive of version 9/);
  assert.deepEqual((await archive_source(bytes_source(archive.subarray(0, 8)))).size, 0);
});

// ---- stretches -------------------------------------------------------------------------------------------------------

test('the last that is not above', () => {
  const list = [10, 20, 20, 30].map((tick) => ({ tick }));
  assert.deepEqual([9, 10, 19, 20, 29, 30, 99].map((tick) => last_not_above(list, tick)), [-1, 0, 0, 2, 2, 3, 3]);
  assert.equal(last_not_above([], 5), -1);
});

class Fetched extends Stretches {
  /** @type {(number|undefined)[]} */
  fetched = [];
  /** @override @param {Segment} segment */
  async fetch(segment) {
    this.fetched.push(segment.number);
    return demo.subarray(segment.offset, segment.end);
  }
}
/** @param {number} copies */
const fetched = async (copies) => {
  const { header, protocol, segments } = await Recording.open(module, bytes_source(demo));
  const made = new Fetched(module, header, { protocol, sizes: null });
  for (let n = 0; n < copies; ++n) made.segments.push({ ...segments[0], tick: 1000 * n, number: n });
  return made;
};

test('segments: found by tick, kept for a while, fetched again when given up', async () => {
  const made = await fetched(14);
  assert.deepEqual([-5, 0, 999, 1000, 12999, 13000, 99999].map((tick) => made.locate(tick)), [0, 0, 0, 1, 12, 13, 13]);
  for (let n = 0; n < 12; ++n) await made.segment(n);
  await made.segment(0); // the newest again
  await made.segment(12);
  assert.equal(made.fetched.length, 13);
  await made.segment(0);
  assert.equal(made.fetched.length, 13);
  await made.segment(1); // the oldest has gone
  assert.deepEqual(made.fetched.slice(13), [1]);
  const control = new AbortController();
  const given_up = made.segment(13, { signal: control.signal });
  control.abort();
  await given_up;
  const { fetch } = made;
  made.fetch = async () => { throw new TeewireError('away'); };
  made.segments.push({ ...made.segments[0], number: 14 });
  await assert.rejects(made.segment(14), TeewireError);
  made.fetch = fetch;
  assert.ok((await made.segment(14)).snapshots.length > 0);
});

test('what is shown at a tick, and the messages between two', async () => {
  const recording = await Recording.open(module, bytes_source(new Uint8Array(fs.readFileSync(path.join(fixtures, 'demos/ddnet_dm1.demo')))));
  const all = [];
  const messages = [];
  for (let n = 0; n < recording.segments.length; ++n) {
    const stretch = await recording.segment(n);
    all.push(...stretch.snapshots);
    messages.push(...stretch.messages);
  }
  assert.ok(recording.segments.length > 1 && messages.length > 3);
  for (const [n, { tick }] of all.entries()) {
    const { previous, next } = await recording.at(tick + 0.5);
    assert.equal(previous, all[n]);
    assert.equal(next, all[n + 1] ?? null);
  }
  assert.deepEqual(await recording.at(all[0].tick - 1), { previous: null, next: all[0] });
  const { tick } = messages[2];
  assert.deepEqual(await recording.messages(recording.first_tick, tick), messages.filter((m) => m.tick < tick));
  assert.deepEqual(await recording.messages(tick, recording.last_tick + 1), messages.filter((m) => m.tick >= tick));
});

test('a damaged segment has nothing, and its neighbours are shown', async () => {
  const made = await fetched(3);
  made.segments[1].end = made.segments[1].offset;
  const { previous, next } = await made.at(1500);
  assert.equal(previous, (await made.segment(0)).snapshots.at(-1));
  assert.equal(next, (await made.segment(2)).snapshots[0]);
});

// ---- memory ----------------------------------------------------------------------------------------------------------

test('the library with SIMD is the one that starts', () => assert.equal(module.simd, true));

test('memory: zero, aligned, given back, and limited', () => {
  assert.equal(module.used, 0);
  module.scope(() => {
    const at = module.put(Uint8Array.of(1, 2, 3));
    assert.equal(at % 16, 0);
    assert.equal(module.take(5), at + 16);
    assert.equal(module.take(0), at + 32);
    assert.equal(module.used, 32);
    assert.throws(() => module.scope(() => { module.take(100); throw new Error('x'); }), { message: 'x' });
    assert.equal(module.used, 32);
    assert.throws(() => module.take(513 << 20), { name: 'TeewireError', message: 'more than 512 MiB of memory are needed' });
    assert.equal(module.used, 32);
  });
  assert.equal(module.used, 0);
  module.scope(() => assert.deepEqual(module.bytes[module.take(4)], 0));
});

test('a stream is read up to its limit', async () => {
  const stream = () => new Blob(['abc', 'def']).stream();
  assert.deepEqual(await read_all(stream(), 6, 'long'), new TextEncoder().encode('abcdef'));
  await assert.rejects(read_all(stream(), 5, 'long'), { name: 'TeewireError', message: 'long' });
});

test('types: items.d.ts has all items', () => {
  const maker = fileURLToPath(new URL('../../lib/wasm/make_items.mjs', import.meta.url));
  const made = execFileSync(process.execPath, [maker, folder], { encoding: 'utf8' });
  assert.equal(fs.readFileSync(path.join(folder, 'items.d.ts'), 'utf8'), made);
});

test('snapshots: items by name, by id and in order', async () => {
  const recording = await Recording.open(module, bytes_source(demo));
  const snapshot = /** @type {Snapshot} */ ((await recording.at(recording.first_tick + 50)).previous);
  let ints = 0;
  let sum = 0;
  /** @type {number[]} */
  const ids = [];
  snapshot.each((type, id, all, from, count) => {
    for (let i = from; i < from + count; ++i) sum = (sum + all[i]) | 0;
    ints += count;
    if (snapshot.type(type)?.name === 'character') ids.push(id);
  });
  assert.equal(ints + snapshot.count, snapshot.ints[0] / 4);
  assert.equal(snapshot.checksum(), sum >>> 0);
  assert.deepEqual(snapshot.all('character').map(({ id }) => id), ids);
  assert.equal(snapshot.find('character', ids[0])?.id, ids[0]);
  assert.equal(snapshot.find('character', 999), undefined);
  assert.deepEqual(snapshot.all('none'), []);
  assert.equal(snapshot.items.character, snapshot.all('character')); // decoded once
  assert.equal(snapshot.items.flag, undefined);
  assert.equal(snapshot.type(0x4001), undefined);
  assert.equal(snapshot.type(0x7fff)?.name, 'game_info_ex');
  const words = [...'tee\0xyz\0'].reduce((all, c, n) => {
    all[n >> 2] |= (c.charCodeAt(0) + 128) << (24 - 8 * (n & 3));
    return all;
  }, [0, 0]);
  assert.equal(text_of(words, 0, 2), 'tee');
  assert.equal(text_of([-1, -1], 0, 2).length, 7); // the last byte is a terminator, whatever it is
});

// ---- maps ------------------------------------------------------------------------------------------------------------

/** @param {Items} items @param {Uint8Array[]} blocks */
function datafile(items, blocks, { version = 4, magic = 'DATA', end = 0 } = {}) {
  const packed = blocks.map((block) => (version === 4 ? zlib.deflateSync(block) : block));
  const kinds = [...new Set(items.map(([type]) => type))];
  const types = kinds.flatMap((type) => [type, items.findIndex(([t]) => t === type), items.filter(([t]) => t === type).length]);
  const sizes = items.map(([, , ints]) => 8 + 4 * ints.length);
  /** @param {number[]} list @param {number} n */
  const sum = (list, n) => list.slice(0, n).reduce((a, b) => a + b, 0);
  const body = Buffer.concat([bytes_of(types), bytes_of(items.map((_, n) => sum(sizes, n))),
    bytes_of(packed.map((_, n) => sum(packed.map((b) => b.length), n))),
    ...(version === 4 ? [bytes_of(blocks.map((b) => b.length))] : []),
    ...items.map(([type, id, ints]) => bytes_of([(type << 16) | id, 4 * ints.length, ...ints])), ...packed]);
  const data = packed.reduce((a, b) => a + b.length, 0);
  return new Uint8Array(Buffer.concat([Buffer.from(magic), bytes_of([version, body.length + 20, body.length + 20 - data,
    kinds.length, items.length, blocks.length, sum(sizes, items.length), data]), body.subarray(0, body.length - end)]));
}
/** @param {number} side @param {number} block @returns {number[]} */
const tiles = (side, block, { flags = 0, version = 3 } = {}) =>
  [0, 2, 0, version, side, side, flags, 1, 2, 3, 4, -1, 0, -1, block, 0, 0, 0];
/** @param {number} first @param {number} count @returns {number[]} */
const group = (first, count, { version = 3, clip = [0, 0, 0, 0, 0] } = {}) =>
  [version, 5, 6, 70, 80, first, count, ...clip, 0, 0, 0];

test('maps: layers, groups and their places', async () => {
  const cells = Uint8Array.from({ length: 16 }, (_, n) => n);
  const map = await read_map(datafile([[4, 0, group(0, 2)], [4, 1, group(1, 2, { clip: [1, 10, 11, 12, 13] })],
    [4, 2, group(3, 1, { version: 1, clip: [1, 10, 11, 12, 13] })],
    [5, 0, tiles(2, 0, { flags: 1 })], [5, 1, tiles(2, 0)], [5, 2, tiles(2, 0)], [5, 3, tiles(2, 0)], [9, 0, []]], [cells]));
  assert.deepEqual(map.problems, []);
  // A layer that two groups name belongs to the first.
  assert.deepEqual(map.groups.map(({ layers }) => layers.map(({ kind }) => kind)), [['game', 'tiles'], ['tiles'], ['tiles']]);
  assert.deepEqual(map.groups.map(({ offset, parallax }) => [...offset, ...parallax]), [[0, 0, 100, 100], [5, 6, 70, 80], [5, 6, 70, 80]]);
  assert.deepEqual(map.groups.map(({ clip }) => clip), [null, { x: 10, y: 11, width: 12, height: 13 }, null]);
  const layer = /** @type {TileLayer} */ (map.groups[1].layers[0]);
  assert.deepEqual(layer.cells, cells);
  assert.deepEqual(layer.colour, [1, 2, 3, 4]);
});

test('maps: packed tiles', async () => {
  /** @param {number[]} packed */
  const read = async (...packed) => read_map(datafile([[4, 0, group(0, 1)], [5, 0, tiles(2, 0, { version: 4 })]],
    [Uint8Array.from(packed)]));
  const map = await read(7, 1, 1, 0, 8, 2, 0, 0, 9, 3, 5, 0);
  const { cells } = /** @type {TileLayer} */ (map.groups[0].layers[0]);
  assert.deepEqual([...cells], [7, 1, 0, 0, 7, 1, 0, 0, 8, 2, 0, 0, 9, 3, 0, 0]);
  assert.deepEqual((await read(7, 1, 2, 0)).problems, ['group 0, layer 0: packed tiles end too early']);
  assert.deepEqual((await read(7, 1, 3, 0)).problems, []);
});

test('maps: images and quads', async () => {
  const pixels = new Uint8Array(16).fill(9);
  const name = new TextEncoder().encode('grass\0more');
  const map = await read_map(datafile([[2, 0, [1, 2, 2, 0, 1, 0]], [2, 1, [1, 2, 2, 1, 1, -1]], [2, 2, [1, 3, 2, 0, 1, 0]],
    [2, 3, [1, 0, 2, 0, 1, 0]], [4, 0, group(0, 2)], [5, 0, [0, 3, 1, 2, 1, 2, 5, 0, 0, 0]], [5, 1, [0, 3, 0, 2, 2, 2, 5, 0, 0, 0]]],
  [pixels, name, bytes_of(Array.from({ length: 38 }, (_, n) => n))]));
  assert.deepEqual(map.images.map(({ name: text, external, rgba }) => [text, external, rgba?.length ?? null]),
    [['grass', false, 16], ['grass', true, null], ['', false, null], ['', false, null]]);
  assert.equal(map.groups[0].layers.length, 1);
  const { kind, detail, image, count, quads } = /** @type {QuadLayer} */ (map.groups[0].layers[0]);
  assert.deepEqual([kind, detail, image, count, quads.length], ['quads', true, 5, 1, 38]);
  assert.deepEqual(map.problems, ['image 2: image "grass": 16 bytes for 3 x 2', 'image 3: an image of 0 x 2',
    'group 0, layer 1: a layer of 2 quads has 152 bytes']);
});

test('maps: an empty one, texts that are not there, and bytes after its end', async () => {
  assert.deepEqual((await read_map(datafile([], []))).groups, []);
  const map = await read_map(new Uint8Array([...datafile([[1, 0, [1]]], [new TextEncoder().encode('text')]), 1, 2, 3]));
  assert.deepEqual([map.author, map.problems], ['', []]);
  const other = await read_map(new Uint8Array([...datafile([[1, 0, [1, 0]]], [new TextEncoder().encode('text')]), 1, 2, 3]));
  assert.deepEqual([other.author, other.problems], ['text', []]);
});

test('maps: tangents of envelopes, by their UUID', async () => {
  const tangents = Array.from({ length: 16 }, (_, n) => 100 + n);
  /** @param {number[]} uuid @returns {Items} */
  const items = (uuid) => [[3, 0, [2, 4, 0, 1, ...new Array(8).fill(0), 1]], [6, 0, [1, 2, 3, 4, 5, 6]], [0xffff, 0x8000, uuid], [0x8000, 0, tangents]];
  /** @param {number[]} uuid */
  const read = async (uuid) => (await read_map(datafile(items(uuid), []))).envelopes[0];
  const { points, channels, synchronized } = await read([0x3ab4f84d, 0xd9cc3c78, 0xb5850d6c, 0xcdb2e25c]);
  assert.deepEqual([channels, synchronized], [4, true]);
  assert.deepEqual(points, [{ time: 1, curve: 2, values: [3, 4, 5, 6], in_time: [100, 101, 102, 103], in: [104, 105, 106, 107],
    out_time: [108, 109, 110, 111], out: [112, 113, 114, 115] }]);
  assert.deepEqual((await read([0, 0, 0, 0])).points, [{ time: 1, curve: 2, values: [3, 4, 5, 6] }]);
});

test('maps: what stands for much more than the file holds', async () => {
  const many = 3000;
  /** @param {number} length @param {(n: number) => Items[number]} item @returns {Items} */
  const numbered = (length, item) => Array.from({ length }, (_, n) => item(n));
  const quads = datafile([[4, 0, group(0, many)], ...numbered(many, (n) => [5, n, [0, 3, 0, 2, 4000, 0, 5, 0, 0, 0]])],
    [new Uint8Array(152 * 4000)]);
  assert.match((await read_map(quads)).problems.at(-1) ?? '', /quads of 608000 bytes, and \d+ are left/);
  const items = datafile([[9, 0, new Array(50000).fill(0)], ...numbered(many, (n) => [9, n, []])], []);
  const view = new DataView(items.buffer);
  for (let n = 1; n <= many; ++n) view.setInt32(36 + 12 + 4 * n, 0, true); // all are the first one
  await assert.rejects(read_map(items), /item \d+ of 200000 bytes, and \d+ are left/);
});

test('maps: what is none', async () => {
  /** @type {Items} */
  const items = [[4, 0, group(0, 1)], [5, 0, tiles(2, 0)]];
  const cells = new Uint8Array(16);
  /** @param {Uint8Array} bytes @param {string} message */
  const rejected = (bytes, message) => assert.rejects(read_map(bytes), { name: 'TeewireError', message });
  await rejected(new TextEncoder().encode('none'), 'byte 0: this is not a map');
  await rejected(datafile(items, [cells], { version: 5 }), 'byte 4: there is no version 5 of datafiles');
  await rejected(datafile(items, [cells]).subarray(0, 35), 'byte 35: the map ends in its header');
  const short = datafile(items, [cells], { end: 1 });
  await rejected(short, `byte ${short.length}: the map ends too early`);
  for (const [at, value] of [[16, -1], [20, 1e9], [36 + 24, -4], [36 + 24, 2], [36 + 24, 1e6]]) {
    const wrong = datafile(items, [cells]);
    new DataView(wrong.buffer).setInt32(at, value, true);
    await assert.rejects(read_map(wrong), TeewireError, `${value} at ${at}`);
  }
  assert.deepEqual((await read_map(datafile(items, [cells], { version: 3, magic: 'ATAD' }))).problems, []);
  assert.deepEqual((await read_map(datafile([items[0], [5, 0, tiles(2, 1)]], [cells]))).problems,
    ['group 0, layer 0: there is no block 1']);
});

test('maps: blocks of another size than they say', async () => {
  /** @type {Items} */
  const items = [[4, 0, group(0, 1)], [5, 0, tiles(2, 0)]];
  /** @type {[number, string][]} */
  const wrong = [[15, 'more than it says'], [17, 'has 16 of 17 bytes'], [-1, 'bytes, and'], [600 << 20, 'are left']];
  for (const [size, words] of wrong) {
    const map = datafile(items, [new Uint8Array(16)]);
    const sizes = 36 + 24 + 4 * items.length + 4;
    new DataView(map.buffer).setInt32(sizes, size, true);
    const [problem] = (await read_map(map)).problems;
    assert.match(problem, new RegExp(words));
  }
});

// ---- broadcasts ------------------------------------------------------------------------------------------------------

const ID = '0123456789abcdef';
const MAP = `map/${'0'.repeat(64)}.map`;

/**
 * What a relay would have: `sync` and fragments of the demo, by number.
 * @param {object[]} recordings
 * @param {{lacks?: (name: string) => boolean}} [options] `lacks`: whether a file is missing
 */
async function host(recordings, { lacks = () => false } = {}) {
  const { header, segments } = await Recording.open(module, bytes_source(demo));
  /** @type {string[]} */
  const asked = [];
  globalThis.fetch = async (url, { signal } = {}) => {
    signal?.throwIfAborted();
    const name = new URL(`${url}`).pathname.slice(1);
    asked.push(name);
    if (lacks(name)) return new Response(null, { status: 404 });
    if (name === 'sync') return new Response(JSON.stringify({ version: 1, window: 60, recordings }));
    if (name.endsWith('/start')) return new Response(/** @type {BodyInit} */ (header.bytes));
    const number = Number(/(\d+)\.frag$/.exec(name)?.[1] ?? NaN);
    if (name === MAP) return new Response('map');
    const segment = segments[number % segments.length];
    return Number.isNaN(number) ? new Response(null, { status: 500 })
      : new Response(demo.slice(segment.offset, segment.end));
  };
  return { asked, live: new Broadcast(module, 'http://relay/'), segments };
}
/** What is watched now. @param {InstanceType<typeof Broadcast>} live */
const watched = (live) => {
  assert.ok(live.recording !== null);
  return live.recording;
};
const recording = (more = {}) => ({ id: ID, protocol: 'ddnet', first: 0, last: 1, first_tick: 0, last_tick: 100, ended: false,
  map: { path: MAP }, ...more });

test('a broadcast: recordings that make no sense are not there', async () => {
  for (const wrong of [{ id: '../x' }, { id: [ID] }, { id: ID.toUpperCase() }, { id: `${ID}0` }, { protocol: '0.5' }, { first: -1 }, { last: -1 },
    { first: 2, last: 1 }, { last: 1.5 }, { last: 1000001 }, { first_tick: -1 }, { last_tick: -1 }, { first_tick: 200 }, { last_tick: 2 ** 31 + 1 }]) {
    const { live } = await host([recording(wrong)]);
    assert.equal(await live.update(), false, JSON.stringify(wrong));
    assert.equal(live.recording, null);
  }
  for (const right of [{ first: 10, last: 1000010 }, { last: 0 }, { first_tick: 100 }, { protocol: '0.7' }, { last_tick: 2 ** 31 }]) {
    const { live } = await host([recording(right)]);
    assert.equal(await live.update(), true, JSON.stringify(right));
    assert.equal(watched(live).segments.length, (right.last ?? 1) - (right.first ?? 0) + 1);
    assert.equal(watched(live).last_tick, right.last_tick ?? 100);
  }
});

test('a broadcast: the map, by nothing but its sum', async () => {
  for (const [file, expected] of [[MAP, 'map'], ['map/../x.map', null], [`${MAP}x`, null], [undefined, null]]) {
    const { live } = await host([recording({ map: { path: file } })]);
    await live.update();
    const map = await watched(live).map();
    assert.equal(map && new TextDecoder().decode(map), expected);
  }
});

test('a broadcast: fragments in their order, and another recording when one ends', async () => {
  const list = [recording()];
  let last = 1;
  const { live, asked } = await host(list, { lacks: (name) => Number(/(\d+)\.frag/.exec(name)?.[1] ?? 0) > last });
  assert.equal(await live.next(), 'recording');
  assert.deepEqual(asked, ['sync', `${ID}/start`]);
  assert.equal(await live.next(), null);
  last = 2;
  assert.equal(await live.next(), 'fragment');
  const before = watched(live);
  assert.equal(before.segments.length, 3);
  assert.equal(before.segments[2].number, 2);
  assert.deepEqual(before.segments.slice(0, 2).map(({ tick }) => tick), [1, 51]); // until they are read
  const { snapshots } = await before.segment(2);
  assert.deepEqual([before.last_tick, before.segments[2].tick], [snapshots.at(-1)?.tick, snapshots[0].tick]);
  list[0] = recording({ last: 4, last_tick: 300, first: 1 });
  last = 2;
  assert.equal(await live.next(), 'fragment'); // that `sync` knows
  assert.equal(before.last, 4);
  list.push(recording({ id: 'f'.repeat(16) }));
  list[0].ended = true;
  assert.equal(await live.next(), 'recording');
  assert.equal(before.ended, true);
  assert.equal(watched(live).id, 'f'.repeat(16));
});

test('a broadcast: what else may be there', async () => {
  assert.equal(new Broadcast(module, 'http://relay/').sync, null);
  for (const answer of ['', '{"version":1', '{}', '[]', 'null', '{"version":2,"recordings":[]}', '{"version":1,"recordings":5}']) {
    globalThis.fetch = async () => new Response(answer);
    await assert.rejects(new Broadcast(module, 'http://relay/').update(), { name: 'TeewireError', message: 'this is not a broadcast' });
  }
  globalThis.fetch = async () => new Response(null, { status: 500 });
  await assert.rejects(new Broadcast(module, 'http://relay/').update(), TeewireError);
  globalThis.fetch = async () => new Response(new Uint8Array((1 << 20) + 1));
  await assert.rejects(new Broadcast(module, 'http://relay/').update(), /more than 1048576 bytes/);
  const { live, asked } = await host([recording({ first: 0, last: 5 })]);
  await live.update();
  const relay = globalThis.fetch;
  let left = (256 << 20) + 1;
  const piece = new Uint8Array(1 << 20);
  globalThis.fetch = async () => new Response(new ReadableStream({ pull(to) {
    to.enqueue(piece.subarray(0, left));
    if ((left -= piece.length) <= 0) to.close();
  } }));
  await assert.rejects(watched(live).map(), /more than 268435456 bytes/);
  globalThis.fetch = relay;
  assert.deepEqual(await watched(live).lasting(0), []); // nothing is before the first
  assert.deepEqual(asked, ['sync', `${ID}/start`]);
  globalThis.fetch = async () => new Response(null, { status: 404 });
  assert.deepEqual(await watched(live).lasting(1), []);
  await assert.rejects(watched(live).segment(0), TeewireError);
  globalThis.fetch = async () => new Response(null, { status: 204 });
  assert.deepEqual(await watched(live).lasting(1), []);
});

test('a broadcast: of many fragments, as many as there is memory for', async () => {
  const list = [recording({ last: 1000000 })];
  const { live } = await host(list);
  for (const first of [0, 2000000]) {
    list[0] = recording({ first, last: first + 1000000 });
    await live.update();
  }
  assert.equal(watched(live).segments.length, 1 << 20);
});

test('a broadcast: changed at random, it gives what makes sense or an error', async () => {
  let state = 1;
  /** @param {number} n */
  const below = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * n);
  };
  /** @param {Uint8Array} bytes */
  const changed = (bytes) => {
    const copy = bytes.slice(0, below(3) === 0 ? below(bytes.length) : bytes.length);
    for (let n = below(4); n > 0 && copy.length > 0; --n) copy[below(copy.length)] = below(256);
    return copy;
  };
  const values = [null, -1, 0, 1.5, 7, 2 ** 31, 2 ** 53, '', 'x', ID, [], {}, true];
  /** @param {any} object */
  const change = (object) => {
    const keys = Object.keys(object);
    const key = keys[below(keys.length)];
    if (object[key] !== null && typeof object[key] === 'object' && Object.keys(object[key]).length > 0 && below(4) > 0) change(object[key]);
    else object[key] = values[below(values.length)];
  };
  const results = { shown: 0, nothing: 0, errors: 0 };
  for (let n = 0; n < 400; ++n) {
    const list = [recording(), recording({ id: 'f'.repeat(16), last: 3 })];
    const { live } = await host(list);
    const relay = globalThis.fetch;
    globalThis.fetch = async (url, options) => {
      const answer = await relay(url, options);
      if (answer.body === null) return answer;
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (!`${url}`.endsWith('sync')) return new Response(below(2) ? bytes : changed(bytes));
      const sync = JSON.parse(new TextDecoder().decode(bytes));
      for (let m = 1 + below(3); m > 0; --m) change(sync);
      const text = new TextEncoder().encode(JSON.stringify(sync));
      return new Response(below(8) ? text : changed(text));
    };
    try {
      await live.next();
      if (live.recording === null) ++results.nothing;
      else {
        await live.recording.segment(0);
        await live.recording.lasting(0);
        await live.next();
        ++results.shown;
      }
    } catch (error) {
      assert.ok(error instanceof TeewireError, /** @type {Error} */ (error).stack);
      ++results.errors;
    }
  }
  for (const count of Object.values(results)) assert.ok(count > 4, JSON.stringify(results));
});

test('events in words', async () => {
  const { event_text } = await import('../../replay/web/viewer/event_text.js');
  /** @param {Partial<import('../../replay/web/viewer/show.js').GameEvent>} facts */
  const words = (facts) =>
    event_text({ tick: 0, kind: 'chat', client: null, target: null, value: null, text: null, ...facts }, (id) => `#${id}`);
  assert.equal(words({ client: 'bot', text: 'hello' }), 'bot: hello');
  assert.equal(words({ id: 3, text: 'hello' }), '#3: hello'); // whose name was not known
  assert.equal(words({ kind: 'server_message', text: 'hello' }), '*** hello');
  assert.equal(words({ kind: 'kill', client: 'bot', target: 'other', value: 1 }), 'bot → other');
  assert.equal(words({ kind: 'kill', client: 'bot', target: 'bot', value: 1 }), 'bot died');
  assert.equal(words({ kind: 'kill', client: 'bot', target: 'other', value: -2 }), 'other died'); // by the map
  assert.equal(words({ kind: 'finish', client: 'bot', value: 5880 }), 'bot finished in 0:05.88');
});
