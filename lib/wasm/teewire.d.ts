import type { Items } from './items.js';

export type { Items } from './items.js';

/** What is wrong with an input, and where. */
export class TeewireError extends Error {
  constructor(message: string, where?: { code?: number; position?: number | null });
  /** Of teewire_error; 0 for what JavaScript found. */
  code: number;
  /** Byte of the file, if that is known. */
  position: number | null;
}

/** The library in WebAssembly. One is enough for a page. */
export interface Module {
  /** Whether it is the one with SIMD. */
  readonly simd: boolean;
  /** Bytes of its memory that are in use: 0 between calls. */
  readonly used: number;
}

/**
 * Starts the library. `where` is the folder of teewire.wasm and teewire-plain.wasm, by default that of this file, or their
 * contents.
 */
export function start(where?: string | URL | { simd?: BufferSource; plain: BufferSource }): Promise<Module>;

/** Where a recording is read from. Less than `length` comes at the end alone. */
export interface Source {
  size: number;
  read(offset: number, length: number, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
}
/** A recording that is in memory. */
export function bytes_source(bytes: Uint8Array): Source;
/** A recording at an address: by ranges if the host has them, else as a whole. */
export function url_source(url: string | URL, options?: { signal?: AbortSignal }): Promise<Source>;
/**
 * The recording in an archive, restored block by block as it is read; what is no archive is given as it is. `where`: the folder of
 * teewire-archive.wasm, by default that of this file. `find_map` gives a map that is not in the archive, by its SHA-256.
 * `damage`: the recording ends there; all before is there.
 */
export function archive_source(source: Source,
  options?: { where?: string | URL, find_map?: (sha256: string) => Promise<Source> }):
  Promise<Source & { damage?: TeewireError | null }>;

export type Protocol = 'ddnet' | '0.6' | '0.7';

export interface Header {
  version: number;
  /** Bytes of the header; the map follows. */
  size: number;
  /** Its header without the map, for chunks. */
  bytes: Uint8Array;
  /** `size` 0: the map is not in the file. `crc`, `sha256`: hexadecimal. */
  map: { name: string; size: number; crc: string; sha256: string | null };
  /** As written when the recording was stopped, else 0. */
  seconds: number;
  /** Ticks of timeline markers. */
  markers: number[];
  net_version: string;
  type: string;
  date: string;
}

/** An item of any type. */
export interface Item {
  id: number;
  [field: string]: number | boolean | string | (number | boolean | string)[];
}
/** The items of a type by its name. */
export type ItemsOf<Name extends string> = (Name extends keyof Items ? Items[Name] : Item)[];

export interface Field {
  name: string;
  kind: 'integer' | 'tick' | 'boolean' | 'enumeration' | 'flags' | 'text';
  /** Its first int. */
  offset: number;
  ints: number;
  /** Elements; more than 1 for arrays. */
  count: number;
  /** The value that the first word stands for. */
  first_word: number;
  words: string[];
}
export interface ItemType {
  name: string;
  /** 0 for extended types. */
  type: number;
  /** 32 hexadecimal digits of extended types. */
  uuid: string | null;
  ints: number;
  min_ints: number;
  fields: Field[];
}
/** The item types of a protocol. */
export class ItemTypes {
  constructor(module: Module, protocol: Protocol);
  by_key: Map<number | string, ItemType>;
  by_name: Map<string, ItemType>;
}

/** The world at a tick. */
export class Snapshot {
  /** `ints`: as the library made them; they are not checked. */
  constructor(tick: number, ints: Int32Array, types: ItemTypes);
  tick: number;
  /** The engines' layout: bytes of items, their number, offsets, items. */
  ints: Int32Array;
  readonly count: number;
  /** `{character: [{id, x, y, ...}], ...}`. Types that are not known are not in it. */
  readonly items: { [Name in keyof Items]?: Items[Name][] };
  /** Items of a type; none if there are none. Only items of this type are decoded, once. */
  all<Name extends string>(type: Name): ItemsOf<Name>;
  find<Name extends string>(type: Name, id: number): ItemsOf<Name>[number] | undefined;
  /** Calls for each item, in the snapshot's order: its data are `count` ints from `from` on. */
  each(call: (type: number, id: number, ints: Int32Array, from: number, count: number) => void): void;
  /** What a number stands for in this snapshot. */
  type(number: number): ItemType | undefined;
  /** Sum of all data ints, modulo 2^32. */
  checksum(): number;
}

/** A message. Those behind `fields` are there for the common ones: which mean something depends on the name. */
export interface Message {
  tick: number;
  /** "chat", "kill", "emoticon", ...; null if it is not known. */
  name: string | null;
  id: number;
  system: boolean;
  /** Everything behind its head: packed ints and texts with terminators. */
  fields: Uint8Array;
  /** Who speaks, kills, comes or goes; -1 for the server and nobody. */
  client_id?: number;
  victim?: number;
  /** -3 game, -2 self, -1 world, else as in items. */
  weapon?: number;
  team?: number;
  target?: number;
  text?: string;
  sender?: string;
  clan?: string;
}
/**
 * What a host answers, to its end. It is asked up to four times, in 5 s, as long as connections break or it says that it has trouble. The
 * library's own requests are made in this way.
 */
export function fetch_whole(url: string | URL, options?: RequestInit): Promise<{ answer: Response; bytes: ArrayBuffer }>;

/** The ints that fields begin with; fewer where they end. */
export function read_ints(fields: Uint8Array, count: number): number[];

/** From one keyframe to the next. Damage ends it: all before is there. */
export interface Stretch {
  snapshots: Snapshot[];
  messages: Message[];
  /** All ticks. In one without a snapshot, that of the tick before is shown: tees move on by the rules of the game. */
  ticks: number[];
  error: TeewireError | null;
}

declare class Stretches {
  header: Header;
  protocol: Protocol;
  types: ItemTypes;
  /** 50 a second; -1 if there is none. */
  first_tick: number;
  last_tick: number;
  segments: { tick: number; offset: number; end: number }[];
  /** The segment that a tick is in. */
  locate(tick: number): number;
  /** Decodes a segment; some are kept. `signal` gives it up, for all who wait for it; it can be asked for again. */
  segment(number: number, options?: { signal?: AbortSignal }): Promise<Stretch>;
  /** The snapshot at a tick or before it, and the one behind it. */
  at(tick: number): Promise<{ previous: Snapshot | null; next: Snapshot | null }>;
  /** Messages of the ticks from `from` up to, not including, `to`. */
  messages(from: number, to: number): Promise<Message[]>;
  /** The map, as far as it is there. */
  map(): Promise<Uint8Array | null>;
}

/** A demo, read in parts. */
export class Recording extends Stretches {
  private constructor();
  /** `index`: what read_index gave; without, the recording is looked through once. */
  static open(module: Module, source: Source,
    options?: { index?: Index | null; progress?: (part: number) => void; map?: boolean }): Promise<Recording>;
}
/** A sidecar, see lib/doc/format/index.md. It may come from anywhere: only `version` and `file.size` have been checked. */
export interface Index {
  version: 1;
  file: { size: number; sha256?: string; ends_sha256?: string };
  protocol?: Protocol;
  demo_version?: number;
  type?: string;
  net_version?: string;
  date?: string;
  map?: { name: string; crc: string; size: number; sha256: string | null; offset: number };
  chunks?: number;
  first_tick?: number | null;
  last_tick?: number | null;
  snapshots?: number;
  /** The first of both is absolute, and each other the difference to the one before. */
  keyframes?: { ticks: number[] | null; offsets: number[] | null };
  markers?: number[];
  people?: [id: number, name: string, clan?: string][];
  players?: [person: number, tick: number][];
  kinds?: string[];
  events?: [ticks: number, kind: number, client?: number | null, target?: number | null, value?: number | null, text?: string][];
  left_out?: string[];
  tunings?: number[][];
  error?: string | null;
}
/** A sidecar as `teewire index` writes it; null if it does not belong to a recording of `size` bytes. */
export function read_index(bytes: Uint8Array, size: number): Promise<Index | null>;

/** One recording of a broadcast: from one map to the next. */
export interface BroadcastRecording extends Stretches {
  id: string;
  map_path: string | null;
  ended: boolean;
  /** The messages from before a segment that still hold when it begins: teams, tuning, votes. Their ticks mean nothing. */
  lasting(number: number, options?: { signal?: AbortSignal }): Promise<Message[]>;
}
/** The answer of `sync`, see lib/doc/format/broadcast.md. Only `version`, and that there are recordings, have been checked. */
export interface Sync {
  version: 1;
  name?: string;
  time_ms?: number;
  delay?: number;
  window?: number;
  tick?: number;
  recordings: {
    id: string;
    protocol: Protocol;
    start: string;
    first: number;
    last: number;
    first_tick: number;
    last_tick: number;
    ended: boolean;
    map: { name: string; crc: string; size: number; sha256: string | null; path?: string };
  }[];
  players?: { id: number; name: string; clan: string; team: string; score?: number; time_ms?: number }[];
}
/** A broadcast of `teewire relay`. */
export class Broadcast {
  /** `url`: of the folder that `sync` is in, with a slash at its end. */
  constructor(module: Module, url: string | URL);
  recording: BroadcastRecording | null;
  /** The last answer of `sync`. */
  sync: Sync | null;
  /** Asks what there is. True if there is another recording now. */
  update(options?: { signal?: AbortSignal }): Promise<boolean>;
  /** Waits for what comes next, as long as a relay lets it; null if nothing has: then ask again a fifth of a second later. */
  next(options?: { signal?: AbortSignal }): Promise<'fragment' | 'recording' | null>;
}

interface AnyLayer {
  name: string;
  /** Only with high detail. */
  detail: boolean;
  /** Number of the image, or -1. */
  image: number;
}
export interface TileLayer extends AnyLayer {
  kind: 'tiles' | 'game' | 'tele' | 'speedup' | 'front' | 'switch' | 'tune';
  width: number;
  height: number;
  /** Red, green, blue, alpha. */
  colour: number[];
  colour_envelope: number;
  /** Milliseconds. */
  colour_offset: number;
  /** Rows from the top, `cell_bytes` each: index, flags, skip, 0. */
  cells: Uint8Array;
  cell_bytes: number;
}
export interface QuadLayer extends AnyLayer {
  kind: 'quads';
  /** 38 ints each, see lib/doc/format/map.md#quads-layers. */
  quads: Int32Array;
  count: number;
}
export type Layer = TileLayer | QuadLayer;
export interface GameMap {
  author: string;
  version: string;
  credits: string;
  license: string;
  images: { name: string; width: number; height: number; external: boolean; rgba: Uint8Array | null }[];
  envelopes: { channels: number; name: string; synchronized: boolean; points: { time: number; curve: number;
    values: number[]; in_time?: number[]; in?: number[]; out_time?: number[]; out?: number[] }[] }[];
  groups: { name: string; offset: number[]; parallax: number[];
    clip: { x: number; y: number; width: number; height: number } | null; layers: Layer[] }[];
  /** What was left out, and why. */
  problems: string[];
}
/** Reads a map; only what is no map at all throws. */
export function read_map(bytes: Uint8Array): Promise<GameMap>;

// biome-ignore lint/complexity/noUselessEmptyExport: without it, all declarations are exported
export {};
