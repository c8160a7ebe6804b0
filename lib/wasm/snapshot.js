// A snapshot, in the engines' layout: bytes of the items, their number, an offset of each, then the items.
import { fields_of } from './tables.js';

/** @import { Item, Items, ItemsOf, ItemType } from './teewire.js' */
/** @import { ItemTypes } from './tables.js' */

const EXTENDED = 0x4000;

export class Snapshot {
  /** @type {Map<string, Item[]>} */
  #named = new Map();
  /** @type {Map<number, ItemType|undefined>} */
  #known = new Map();
  #types;

  /**
   * @param {number} tick
   * @param {Int32Array} ints as the library made it: nothing is checked again
   * @param {ItemTypes} types
   */
  constructor(tick, ints, types) {
    this.tick = tick;
    this.ints = ints;
    this.#types = types;
  }

  /** Number of items. */
  get count() { return this.ints.length === 0 ? 0 : this.ints[1]; }

  /** @param {number} number */
  #place(number) {
    const { ints, count } = this;
    const at = 2 + count + (ints[2 + number] >> 2);
    const end = number + 1 < count ? 2 + count + (ints[3 + number] >> 2) : 2 + count + (ints[0] >> 2);
    return { key: ints[at], from: at + 1, count: end - at - 1 };
  }

  /**
   * Calls `call` for all items: `type` is their number.
   * @param {(type: number, id: number, ints: Int32Array, from: number, count: number) => void} call
   */
  each(call) {
    for (let n = 0; n < this.count; ++n) {
      const { key, from, count } = this.#place(n);
      call(key >>> 16, key & 0xffff, this.ints, from, count);
    }
  }

  /** What a type's number stands for in this snapshot: its description, or undefined. @param {number} number */
  type(number) {
    if (number < EXTENDED) return this.#types.by_key.get(number);
    // An item of type 0 with that id has the UUID.
    /** @type {string|undefined} */
    let uuid;
    this.each((type, id, ints, from, count) => {
      if (type === 0 && id === number && count >= 4 && uuid === undefined)
        uuid = Array.from(ints.subarray(from, from + 4), (int) => (int >>> 0).toString(16).padStart(8, '0')).join('');
    });
    return uuid === undefined ? undefined : this.#types.by_key.get(uuid);
  }

  /** As `type`, which is asked once for each number. @param {number} number */
  #type(number) {
    if (!this.#known.has(number)) this.#known.set(number, this.type(number));
    return this.#known.get(number);
  }

  /** All items by name of their type: `{character: [{id, x, y, ...}]}`. */
  get items() {
    /** @type {Record<string, Item[]>} */
    const names = {};
    this.each((number) => {
      const type = this.#type(number);
      if (type !== undefined) names[type.name] ??= this.all(type.name);
    });
    return /** @type {{[Name in keyof Items]?: Items[Name][]}} */ (names);
  }

  /** @param {string} name */
  #decode(name) {
    /** @type {Item[]} */
    const items = [];
    this.each((number, id, ints, from, count) => {
      const type = this.#type(number);
      if (type !== undefined && type.name === name) items.push(fields_of(type, id, ints, from, count));
    });
    this.#named.set(name, items);
    return items;
  }

  /**
   * The items of a type; none if there are none. Made once.
   * @template {string} Name @param {Name} name
   */
  all(name) { return /** @type {ItemsOf<Name>} */ (this.#named.get(name) ?? this.#decode(name)); }

  /**
   * An item by the name of its type and its id.
   * @template {string} Name @param {Name} name @param {number} id @returns {ItemsOf<Name>[number]|undefined}
   */
  find(name, id) { return this.all(name).find((item) => item.id === id); }

  /** Sum of all data ints, modulo 2^32. */
  checksum() {
    let sum = 0;
    this.each((_type, _id, ints, from, count) => {
      for (let i = from; i < from + count; ++i) sum = sum + ints[i] | 0;
    });
    return sum >>> 0;
  }
}
