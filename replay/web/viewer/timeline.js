// The line below the picture: where in the recording we are, and marks where something happens.
import { time_text } from './playback.js';

/** @import { GameEvent } from './show.js' */

/** @type {Record<string, string|undefined>} */
const COLORS = { found: '#d2a8ff', kill: '#e5534b', finish: '#e3b341', chat: '#57ab5a', team_chat: '#57ab5a', marker: '#6fb1ff' };
/** From the lowest; the height of their marks. */
/** @type {Record<string, number>} */
const ROWS = { found: 0.9, chat: 0.3, team_chat: 0.3, kill: 0.45, finish: 0.8, marker: 1 };

export class Timeline {
  #input;
  #canvas;
  #shown = '';
  #range = [0, 1];
  /** @type {GameEvent[]|null} */
  #found = null;

  /** @param {HTMLElement} root @param {(tick: number) => void} seek */
  constructor(root, seek) {
    this.#input = /** @type {HTMLInputElement} */ (root.querySelector('input'));
    this.#canvas = /** @type {HTMLCanvasElement} */ (root.querySelector('canvas'));
    this.#input.addEventListener('input', () => seek(Number(this.#input.value)));
    // Keys are for the page; only those that a slider has are its own.
    this.#input.addEventListener('keydown', (event) => {
      if (['ArrowUp', 'ArrowDown'].includes(event.key)) event.preventDefault();
    });
    root.addEventListener('pointermove', (event) => this.#tell(event));
  }

  /** @param {PointerEvent} event */
  #tell(event) {
    const { left, width } = this.#input.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - left) / width));
    this.#input.title = time_text((part * (this.#range[1] - this.#range[0])) / 50, 1);
  }

  /** @param {{tick: number, first: number, last: number}} playback @param {GameEvent[]} events @param {number[]} markers @param {GameEvent[]|null} found those that were searched for, in place of the others */
  update({ tick, first, last }, events, markers, found) {
    this.#range = [first, Math.max(first + 1, last)];
    const input = this.#input;
    input.min = String(first);
    input.max = String(Math.max(first + 1, last));
    if (Math.abs(Number(input.value) - tick) >= 1) input.value = String(tick);
    const text = `${time_text((tick - first) / 50)} of ${time_text((last - first) / 50)}`;
    if (input.getAttribute('aria-valuetext') !== text) input.setAttribute('aria-valuetext', text);
    const { clientWidth: w, clientHeight: h } = this.#canvas;
    const scale = globalThis.devicePixelRatio || 1;
    const x = Math.round(((tick - first) / (this.#range[1] - first)) * w * scale);
    const state = [x, w, h, first, last, events.length, markers.length].join();
    if (state === this.#shown && found === this.#found) return;
    this.#found = found;
    this.#shown = state;
    this.#draw(w * scale, h * scale, x, found?.map(({ tick }) => ({ kind: 'found', tick })) ?? events, markers, scale);
  }

  /**
   * @param {number} w @param {number} h @param {number} x @param {{kind: string, tick: number}[]} events @param {number[]} markers
   * @param {number} scale
   */
  #draw(w, h, x, events, markers, scale) {
    if (this.#canvas.width !== Math.round(w)) this.#canvas.width = w;
    if (this.#canvas.height !== Math.round(h)) this.#canvas.height = h;
    const context = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext('2d'));
    const style = getComputedStyle(this.#canvas);
    context.clearRect(0, 0, w, h);
    /** @param {number} tick */
    const place = (tick) => ((tick - this.#range[0]) / (this.#range[1] - this.#range[0])) * w;
    const thick = 4 * scale;
    const bottom = h - 6 * scale;
    context.fillStyle = style.getPropertyValue('--line') || '#8888';
    context.fillRect(0, bottom - thick, w, thick);
    context.fillStyle = style.getPropertyValue('--strong') || '#6fb1ff';
    context.fillRect(0, bottom - thick, x, thick);
    // One mark for all of a kind at the same place.
    const drawn = new Set();
    /** @param {string} kind @param {number} tick */
    const mark = (kind, tick) => {
      const at = Math.round(place(tick));
      const color = COLORS[kind];
      if (color === undefined || drawn.has(`${kind}${at}`)) return;
      drawn.add(`${kind}${at}`);
      context.fillStyle = color;
      const height = (bottom - thick) * ROWS[kind];
      context.fillRect(at - scale, bottom - thick - height, 2 * scale, height - scale);
    };
    for (const { kind, tick } of events) mark(kind, tick);
    for (const tick of markers) mark('marker', tick);
    context.fillStyle = style.getPropertyValue('--strong') || '#6fb1ff';
    context.beginPath();
    context.arc(x, bottom - thick / 2, 6 * scale, 0, 2 * Math.PI);
    context.fill();
  }
}
