// The player whom the camera follows: by name, as ids change.

/** @import { Moment } from './scene.js' */
/** @import { World } from './world.js' */

export const FREE = -1;

export class Follower {
  /** The id of a client; null until there is a player to follow. @type {number|null} */
  selected = FREE;
  #list;
  /** @type {string|null} */
  #wanted = null;
  /** @type {Moment|null} */
  #moment = null;
  /** The players in the list. */
  #listed = '';

  /** @param {HTMLSelectElement} list of players */
  constructor(list) {
    this.#list = list;
    list.addEventListener('change', () => this.follow(Number(list.value)));
  }

  /** A new recording. @param {string|null} name of who is wanted; null: whoever it is about */
  begin(name) {
    this.#wanted = name;
    this.#moment = null;
    this.#listed = '';
    this.selected = null;
  }

  /** The name of the player who is followed. */
  get name() {
    return this.#moment?.before.players.get(this.selected ?? FREE)?.name || null;
  }

  /** @param {number} id of a client */
  follow(id) {
    this.selected = id;
    this.#wanted = this.name;
    this.#list.value = String(id);
  }

  /** @param {string|null} name null: nobody, the camera flies freely */
  follow_name(name) {
    if (name === null) return this.follow(FREE);
    this.#wanted = name;
    this.selected = null; // `take` finds the id
  }

  /** The ids of those who can be followed. */
  get ids() {
    return this.#moment === null ? [] : [...this.#moment.tees.keys()].sort((a, b) => a - b);
  }

  /** The names of those who are in the game. */
  get names() {
    return this.ids.map((id) => this.#moment?.before.players.get(id)?.name ?? '');
  }

  /** @param {number} by */
  follow_next(by) {
    const { ids } = this;
    if (ids.length === 0) return;
    const place = ids.indexOf(this.selected ?? FREE);
    this.follow(ids[place < 0 ? 0 : (place + by + ids.length) % ids.length]);
  }

  /**
   * Finds who is followed in a moment: at first whose recording it is. Returns the name of who is wanted and not there.
   * @param {Moment} moment
   */
  take(moment) {
    this.#moment = moment;
    const { players, viewed, local } = moment.before;
    const anyone = () => [viewed?.spectator_id, local].find((id) => id !== undefined && moment.tees.has(id)) ?? this.ids[0];
    const wanted = this.#wanted;
    if (wanted !== null && players.get(this.selected ?? FREE)?.name !== wanted) {
      const found = [...players.values()].find(({ name }) => name === wanted);
      const missing = found === undefined && this.selected === null;
      // Until then another player is better than a wall.
      if (found !== undefined || missing) this.selected = found?.id ?? anyone() ?? FREE;
      this.list(moment.before);
      this.#list.value = String(this.selected);
      return missing ? wanted : null;
    }
    if (this.selected !== null) return null;
    const id = anyone();
    if (id === undefined) return null;
    this.list(moment.before);
    this.follow(id);
    return null;
  }

  /** The players that can be followed, in the list of them. @param {World} world */
  list(world) {
    const players = [...world.players.values()].filter(({ team }) => team !== -1);
    const key = players.map(({ id, name }) => `${id}${name}`).join('\n');
    const root = /** @type {ShadowRoot} */ (this.#list.getRootNode());
    if (key === this.#listed || root.activeElement === this.#list) return;
    this.#listed = key;
    this.#list.replaceChildren(
      new Option('Free camera', String(FREE)),
      ...players.map(({ id, name }) => new Option(name || `#${id}`, String(id))),
    );
    this.#list.value = String(this.selected);
  }
}
