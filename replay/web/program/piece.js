// The piece of a recording that is to be cut out: two handles, and a player that shows where they are.
import { TICKS_PER_SECOND, time_text } from '../viewer/playback.js';

/** @typedef {import('./types.js').NamedFile} NamedFile */
/** @typedef {import('./teewire-player.js').TeewirePlayer} TeewirePlayer */

const STEPS = 10; // a second

/**
 * A position as the program reads it, in seconds: a tick, "12.5s", "1:23.4" or "1:02:03"; a time with a minus sign counts from the end.
 * Null if it is none. @param {string} text @param {number} first_tick @param {number} duration
 */
export function read_position(text, first_tick, duration) {
  if (/^\d+$/.test(text)) return (Number(text) - first_tick) / TICKS_PER_SECOND;
  const [, minus, hours = 0, minutes = 0, seconds, only] =
    /^(-?)(?:(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)s)$/.exec(text) ?? [];
  if (minus === undefined) return null;
  const time = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? only);
  return minus === '-' ? duration - time : time;
}

/** Made when it is first needed, as much has to be loaded for it. @returns {Promise<TeewirePlayer>} */
export async function make_player() {
  await import('./teewire-player.js');
  return document.createElement('teewire-player');
}

export class Piece {
  #root;
  #fields;
  /** @type {HTMLInputElement} */
  #begin;
  /** @type {HTMLInputElement} */
  #end;
  #controls;
  #first_tick = 0;
  /** @type {TeewirePlayer|null} */
  #player = null;
  /** @type {NamedFile|null} */
  #file = null;

  /** @param {HTMLElement} root with two sliders and two buttons @param {HTMLElement} fields with the inputs --from and --to */
  constructor(root, fields) {
    this.#root = root;
    this.#fields = fields;
    [this.#begin, this.#end] = root.querySelectorAll('input');
    for (const slider of [this.#begin, this.#end]) slider.addEventListener('input', () => this.#move(slider, Number(slider.value)));
    const [begin_here, end_here] = root.querySelectorAll('button');
    this.#controls = [this.#begin, this.#end, begin_here, end_here];
    begin_here.addEventListener('click', () => this.#move(this.#begin, this.#here()));
    end_here.addEventListener('click', () => this.#move(this.#end, this.#here()));
  }

  /** @param {NamedFile|null} file null: nothing is to be cut */
  async show(file) {
    this.#root.hidden = file === null;
    if (file === null) return this.#player?.pause();
    if (file === this.#file) return this.#read_fields();
    this.#file = file;
    for (const control of this.#controls) control.disabled = true;
    if (this.#player === null) {
      const player = await make_player();
      if (this.#player === null) {
        this.#player = player;
        player.addEventListener('loadeddata', ({ detail }) => this.#opened(detail.first_tick));
        this.#root.prepend(player);
      }
    }
    // Another may have been chosen in the meantime.
    if (this.#file !== null) await this.#player.open(this.#file.data);
  }

  /** @param {number} first_tick */
  #opened(first_tick) {
    this.#first_tick = first_tick;
    for (const slider of [this.#begin, this.#end]) slider.max = String(Math.ceil((this.#player?.duration ?? 0) * STEPS));
    for (const control of this.#controls) control.disabled = false;
    this.#read_fields();
  }

  #here() {
    return Math.round((this.#player?.currentTime ?? 0) * STEPS);
  }

  /** @param {string} name */
  #field(name) {
    return /** @type {HTMLInputElement|null} */ (this.#fields.querySelector(`input[name="${name}"]`));
  }

  /** Puts the handles where the fields say. */
  #read_fields() {
    if (this.#begin.disabled) return; // it is not open yet
    const most = Number(this.#end.max);
    for (const [slider, name, without] of /** @type {const} */ ([
      [this.#begin, '--from', 0],
      [this.#end, '--to', most],
    ])) {
      const text = this.#field(name)?.value.trim() ?? '';
      const seconds = read_position(text, this.#first_tick, most / STEPS);
      if (text !== '' && seconds === null) continue; // the program says what is wrong
      slider.value = String(seconds === null ? without : seconds * STEPS);
      this.#describe(slider);
    }
  }

  /** @param {HTMLInputElement} slider @param {number} steps */
  #move(slider, steps) {
    const most = Number(slider.max);
    const begins = slider === this.#begin;
    const place = begins ? Math.min(steps, Number(this.#end.value) - 1) : Math.max(steps, Number(this.#begin.value) + 1);
    slider.value = String(place);
    this.#describe(slider);
    const field = this.#field(begins ? '--from' : '--to');
    if (field !== null) field.value = place <= 0 || place >= most ? '' : time_text(place / STEPS, 1);
    field?.dispatchEvent(new Event('input', { bubbles: true }));
    if (this.#player === null) return;
    this.#player.pause();
    this.#player.currentTime = place / STEPS;
  }

  /** @param {HTMLInputElement} slider */
  #describe(slider) {
    slider.setAttribute('aria-valuetext', time_text(Number(slider.value) / STEPS, 1));
    const part = (/** @type {HTMLInputElement} */ { value, max }) => `${(100 * Number(value)) / Math.max(1, Number(max))}%`;
    // Where both are at one end, the one that can be moved is on top.
    this.#begin.style.zIndex = Number(this.#begin.value) > Number(this.#begin.max) / 2 ? '1' : '0';
    this.#root.style.setProperty('--begin', part(this.#begin));
    this.#root.style.setProperty('--end', part(this.#end));
  }
}
