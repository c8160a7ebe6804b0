// A list of what happens in the recording: chat, kills and finishes, to be searched and jumped to.
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

/** One event in words. @param {GameEvent} event */
export function event_text({ kind, client, target, text, value }) {
  const who = client ?? '';
  if (kind === 'kill') return client === null || client === target ? `${target ?? '?'} died` : `${who} → ${target ?? '?'}`;
  if (kind === 'finish') return text ?? `${who} finished in ${time_text((value ?? 0) / 1000, 2)}`;
  if (kind === 'marker') return 'marker';
  return who === '' ? `*** ${text ?? ''}` : `${who}: ${text ?? ''}`;
}

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

  /** @param {GameEvent[]} events @param {number} first tick @param {number} tick of now */
  update(events, first, tick) {
    this.#first = first;
    this.#tick = tick;
    if (this.#root.hidden || events === this.#all) return;
    this.#all = events;
    this.#show();
  }

  #show() {
    const wanted = this.#search.value.trim().toLowerCase();
    const kinds = KINDS[this.#kind.value] ?? LISTED;
    this.#found = this.#all.filter((event) => kinds.includes(event.kind) && event_text(event).toLowerCase().includes(wanted));
    const shown = this.#found.slice(0, MOST_ROWS);
    const key = `${this.#first}|${shown.map(({ tick, kind }) => `${tick}${kind}`).join()}`;
    this.#count.textContent =
      this.#found.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${this.#found.length}` : `${this.#found.length} found`;
    if (key === this.#shown) return;
    this.#shown = key;
    this.#list.replaceChildren(
      ...shown.map((event) => {
        const row = document.createElement('li');
        const button = document.createElement('button');
        const time = document.createElement('span');
        time.textContent = time_text((event.tick - this.#first) / 50);
        button.dataset.tick = String(event.tick);
        button.append(time, ` ${event_text(event)}`);
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
