// The scene of lib/src/scene in WebAssembly, see module/scene.cpp: it takes snapshots and a map, and makes draw lists.
import { fetch_whole } from './teewire.js';
import { map_ints } from './map_ints.js';

/** @import { GameMap, Protocol, Snapshot } from './teewire.js' */
/** @import { Camera } from './camera.js' */

/** Of the module: functions take and return numbers. @typedef {Record<string, (...given: number[]) => number>} Functions */
/**
 * Gives pictures: the number of a texture, NONE if it is not there. That of a skin's greys follows its own.
 * @typedef {{skin: (name: string) => number, part: (kind: number, name: string) => number}} Source
 */
/** A tee at a moment. @typedef {{id: number, x: number, y: number}} Tee */
/**
 * What is to be drawn, valid until the next call: see `draw_command` in lib/include/teewire/scene/draw_list.hpp.
 * @typedef {{commands: DataView, vertices: Uint8Array, memory: Uint8Array}} DrawList
 */

export const NONE = 0xffffffff;
/** Bytes of a command, and where its parts are. */
export const COMMAND = {
  size: 72,
  repeats: 1,
  from: 4,
  first: 8,
  count: 12,
  view: 16,
  clip: 32,
  tint: 48,
  x: 52,
  y: 56,
  text_size: 60,
  text: 64,
  text_bytes: 68,
};
export const KIND = { quads: 0, tiles: 1, text: 2 };
const VERTEX_BYTES = 20;
const EVENT_INTS = 5;
const TEE = { size: 32, x: 8, y: 12 };
/** By its number in the module. @type {Protocol[]} */
const PROTOCOLS = ['0.6', 'ddnet', '0.7'];
/** Places of worlds: two that are shown, one that is only read for its events, and two of the ghost. */
const SHOWN = [0, 1];
const SPARE = 2;
const OF_GHOST = [3, 4];

const utf8 = new TextDecoder();

/** @type {Promise<WebAssembly.Module>|null} */
let compiled = null;
/** The code, fetched once. */
export const compile = () =>
  (compiled ??= fetch_code().catch((error) => {
    compiled = null;
    throw error;
  }));

async function fetch_code() {
  const { bytes } = await fetch_whole(new URL('./scene.wasm', import.meta.url));
  return WebAssembly.compile(bytes);
}

export class SceneModule {
  #functions;
  #memory;
  /** @type {(Snapshot|null)[]} what is in the places of worlds */
  #places = [null, null, null, null, null];
  /** @type {WeakMap<Snapshot, Int32Array>} events as the module has them */
  #events = new WeakMap();
  /** @type {number[]|undefined} */
  #tuning = undefined;
  /** @type {number[]|undefined} */
  #teams = undefined;

  /** @param {WebAssembly.Module} code @param {Source} source */
  constructor(code, source) {
    const host = {
      /** @param {number} at @param {number} size */
      skin: (at, size) => source.skin(this.#text(at, size)),
      /** @param {number} kind @param {number} at @param {number} size */
      part: (kind, at, size) => source.part(kind, this.#text(at, size)),
    };
    const { exports } = new WebAssembly.Instance(code, { host });
    this.#functions = /** @type {Functions} */ (exports);
    this.#memory = /** @type {WebAssembly.Memory} */ (exports.memory);
    this.#functions.__wasm_call_ctors();
    this.#functions.viewer_start();
  }

  /** @param {number} at @param {number} size */
  #text(at, size) {
    return utf8.decode(new Uint8Array(this.#memory.buffer, at, size));
  }

  /** @param {ArrayLike<number>} ints what the next function takes */
  #give(ints) {
    const at = this.#functions.viewer_give(ints.length) >>> 0;
    new Int32Array(this.#memory.buffer, at, ints.length).set(ints);
  }

  /** @param {number} game @param {number} emoticons @param {number} particles @param {number} own_skin */
  set_pictures(game, emoticons, particles, own_skin) {
    this.#functions.viewer_set_pictures(game, emoticons, particles, own_skin);
  }

  /** A new recording. @param {Protocol} protocol @param {GameMap|null} map */
  begin(protocol, map) {
    this.#places.fill(null);
    this.#events = new WeakMap();
    this.#give(map === null ? [] : map_ints(map));
    this.#functions.viewer_begin(PROTOCOLS.indexOf(protocol));
  }

  /** Another recording, of the ghost. @param {Protocol} protocol */
  begin_ghost(protocol) {
    for (const place of OF_GHOST) this.#places[place] = null;
    this.#functions.viewer_begin_ghost(PROTOCOLS.indexOf(protocol));
  }

  /** @param {number[]} textures for each image of the map */
  set_images(textures) {
    this.#give(textures);
    this.#functions.viewer_take_images();
  }

  /** @param {number} place @param {Snapshot} snapshot */
  #read(place, snapshot) {
    this.#give(snapshot.ints);
    const count = this.#functions.viewer_read(place, snapshot.tick);
    const at = this.#functions.viewer_events_of(place) >>> 0;
    const events = new Int32Array(this.#memory.buffer, at, count * EVENT_INTS).slice();
    this.#events.set(snapshot, events);
    return events;
  }

  /** @param {number[]} pair of places @param {Snapshot} snapshot @param {Snapshot|null} beside it, which stays */
  #place(pair, snapshot, beside) {
    const known = pair.find((place) => this.#places[place] === snapshot);
    if (known !== undefined) return known;
    const place = this.#places[pair[0]] === beside && beside !== null ? pair[1] : pair[0];
    this.#read(place, snapshot);
    this.#places[place] = snapshot;
    return place;
  }

  /**
   * The tees of a moment, by id.
   * @param {Snapshot} before @param {Snapshot|null} after @param {number} tick
   */
  see(before, after, tick) {
    const first = this.#place(SHOWN, before, after);
    const count = this.#functions.viewer_see(first, after === null ? -1 : this.#place(SHOWN, after, before), tick);
    const at = this.#functions.viewer_tees() >>> 0;
    const view = new DataView(this.#memory.buffer, at, count * TEE.size);
    /** @type {Map<number, Tee>} */
    const tees = new Map();
    for (let n = 0; n < view.byteLength; n += TEE.size) {
      const id = view.getInt32(n, true);
      tees.set(id, { id, x: view.getFloat32(n + TEE.x, true), y: view.getFloat32(n + TEE.y, true) });
    }
    return tees;
  }

  /**
   * The ghost at a moment of its recording; null: there is none.
   * @param {{before: {snapshot: Snapshot}, after: {snapshot: Snapshot}|null, tick: number, client: number}|null} ghost
   */
  see_ghost(ghost) {
    if (ghost === null) return void this.#functions.viewer_see_ghost(OF_GHOST[0], -1, 0, -1);
    const before = ghost.before.snapshot;
    const after = ghost.after?.snapshot ?? null;
    const first = this.#place(OF_GHOST, before, after);
    this.#functions.viewer_see_ghost(first, after === null ? -1 : this.#place(OF_GHOST, after, before), ghost.tick, ghost.client);
  }

  /**
   * What else there is at the moment that was seen last: what has just happened, what players said without words, and the
   * ints of a tune_params and a teams_state message.
   * @param {Snapshot[]} recent @param {Map<number, {tick: number, emoticon: number}>} emoticons by client
   * @param {number[]|undefined} tuning @param {number[]|undefined} teams by client
   */
  add(recent, emoticons, tuning, teams) {
    this.#give(recent.flatMap((snapshot) => Array.from(this.#events.get(snapshot) ?? this.#read(SPARE, snapshot))));
    this.#functions.viewer_take_events();
    this.#give([...emoticons].flatMap(([client, { tick, emoticon }]) => [client, tick, emoticon]));
    this.#functions.viewer_take_emoticons();
    if (tuning !== this.#tuning) {
      this.#tuning = tuning;
      this.#give(tuning ?? []);
      this.#functions.viewer_take_tuning();
    }
    if (teams !== this.#teams) {
      this.#teams = teams;
      this.#give(teams ?? []);
      this.#functions.viewer_take_teams();
    }
  }

  /**
   * Draws that moment.
   * @param {Camera} camera @param {{names: boolean, selected: number|null}} options
   * @returns {DrawList}
   */
  draw({ x, y, zoom, aspect }, { names, selected }) {
    const f = this.#functions;
    const count = f.viewer_draw(x, y, zoom, aspect, Number(names), selected ?? -1);
    const { buffer } = this.#memory;
    return {
      commands: new DataView(buffer, f.viewer_commands() >>> 0, count * COMMAND.size),
      vertices: new Uint8Array(buffer, f.viewer_vertices() >>> 0, f.viewer_vertex_count() * VERTEX_BYTES),
      memory: new Uint8Array(buffer),
    };
  }

  /** Pixels that the last function left. @param {number} count */
  #pixels(count) {
    const at = this.#functions.viewer_give(count) >>> 0;
    return new Uint8Array(this.#memory.buffer, at, 4 * count).slice();
  }

  /** A skin of 0.6 in greys, which colours can be laid over. @param {{width: number, height: number, pixels: Uint8Array}} skin */
  grey({ width, height, pixels }) {
    this.#give(new Int32Array(pixels.buffer, pixels.byteOffset, pixels.length >> 2));
    this.#functions.viewer_make_grey(width, height);
    return { width, height, pixels: this.#pixels(width * height) };
  }

  /** A soft disc, and a ring beside it. */
  particles() {
    const height = this.#functions.viewer_draw_particles();
    return { width: 2 * height, height, pixels: this.#pixels(2 * height * height) };
  }
}
