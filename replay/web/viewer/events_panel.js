// A list of what happens in the recording: chat, kills and finishes, to be searched and jumped to.
import { event_text } from './event_text.js';
import { time_text } from './playback.js';

/** @import { GameEvent } from './show.js' */

/** @type {Record<string, string[]>} */
const KINDS = {
  chat: ['chat', 'team_chat', 'server_message'],
  kills: ['kill'],
  finishes: ['finish', 'marker'],
};
const LISTED = Object.values(KINDS).flat();
const MOST_ROWS = 1000;

export class EventsPanel {
  #root;
  #search;
  #kind;
  #list;
  #count;
  #seek;
  /** @type {GameEvent[]} */
  #all = [];
  /** @type {GameEvent[]} */
  #found = [];
  #first = 0;
  #tick = 0;
  #shown = '';
  /** @type {(id: number) => string} */
  #name_of = () => '';

  /** @param {HTMLElement} root @param {(tick: number) => void} seek @param {() => void} close */
  constructor(root, seek, close) {
    this.#root = root;
    this.#seek = seek;
    this.#search = /** @type {HTMLInputElement} */ (root.querySelector('input'));
    this.#kind = /** @type {HTMLSelectElement} */ (root.querySelector('select'));
    this.#list = /** @type {HTMLElement} */ (root.querySelector('ol'));
    this.#count = /** @type {HTMLElement} */ (root.querySelector('p'));
    for (const field of [this.#search, this.#kind]) field.addEventListener('input', () => this.#show());
    this.#list.addEventListener('click', (event) => {
      const tick = /** @type {Element} */ (event.target).closest('button')?.dataset.tick;
      if (tick !== undefined) seek(Number(tick));
    });
    root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') close();
      if (event.key === 'Enter' && event.target === this.#search) this.#next(event.shiftKey ? -1 : 1);
    });
  }

  /** Those that were searched for: null if none were. @returns {GameEvent[]|null} */
  get marked() {
    return !this.#root.hidden && this.#search.value.trim() !== '' ? this.#found : null;
  }

  /** @param {boolean} on */
  open(on) {
    this.#root.hidden = !on;
    if (!on) return;
    this.#show();
    this.#search.focus();
  }

  /** @param {GameEvent[]} events @param {number} first tick @param {number} tick of now @param {(id: number) => string} name_of */
  update(events, first, tick, name_of) {
    this.#name_of = name_of;
    this.#first = first;
    this.#tick = tick;
    if (this.#root.hidden || events === this.#all) return;
    this.#all = events;
    this.#show();
  }

  #show() {
    const wanted = this.#search.value.trim().toLowerCase();
    const kinds = KINDS[this.#kind.value] ?? LISTED;
    /** @param {GameEvent} event */
    const text_of = (event) => event_text(event, this.#name_of);
    this.#found = this.#all.filter((event) => kinds.includes(event.kind) && text_of(event).toLowerCase().includes(wanted));
    const rows = this.#found.slice(0, MOST_ROWS).map((event) => ({ tick: event.tick, text: text_of(event) }));
    const key = JSON.stringify([this.#first, rows]);
    this.#count.textContent =
      this.#found.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${this.#found.length}` : `${this.#found.length} found`;
    if (key === this.#shown) return;
    this.#shown = key;
    this.#list.replaceChildren(
      ...rows.map(({ tick, text }) => {
        const row = document.createElement('li');
        const button = document.createElement('button');
        const time = document.createElement('span');
        time.textContent = time_text((tick - this.#first) / 50);
        button.dataset.tick = String(tick);
        button.append(time, ` ${text}`);
        row.append(button);
        return row;
      }),
    );
  }

  /** To the next one found, or the one before. @param {number} by */
  #next(by) {
    const near = 25; // ticks: the one that is shown
    const place =
      by > 0
        ? this.#found.find(({ tick }) => tick > this.#tick + 1)
        : this.#found.findLast(({ tick }) => tick < this.#tick - near);
    if (place !== undefined) this.#seek(place.tick);
  }
}
