// The piece of a recording that is to be cut out: two handles, and a player that shows where they are.
import { read_time, time_text } from '../viewer/playback.js';

/** @typedef {import('./types.js').NamedFile} NamedFile */
/** @typedef {import('./teewire-player.js').TeewirePlayer} TeewirePlayer */

const STEPS = 10; // a second

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
    begin_here.addEventListener('click', () => this.#move(this.#begin, this.#here()));
    end_here.addEventListener('click', () => this.#move(this.#end, this.#here()));
  }

  /** @param {NamedFile|null} file null: nothing is to be cut */
  async show(file) {
    this.#root.hidden = file === null;
    if (file === null) return this.#player?.pause();
    if (file === this.#file) return;
    this.#file = file;
    for (const slider of [this.#begin, this.#end]) slider.disabled = true;
    if (this.#player === null) {
      const player = await make_player();
      if (this.#player === null) {
        this.#player = player;
        player.addEventListener('loadeddata', () => this.#opened());
        this.#root.prepend(player);
      }
    }
    // Another may have been chosen in the meantime.
    if (this.#file !== null) await this.#player.open(this.#file.data);
  }

  #opened() {
    for (const slider of [this.#begin, this.#end]) {
      slider.max = String(Math.ceil((this.#player?.duration ?? 0) * STEPS));
      slider.disabled = false;
    }
    this.read_fields();
  }

  #here() {
    return Math.round((this.#player?.currentTime ?? 0) * STEPS);
  }

  /** @param {string} name */
  #field(name) {
    return /** @type {HTMLInputElement|null} */ (this.#fields.querySelector(`input[name="${name}"]`));
  }

  /** Puts the handles where the fields say. */
  read_fields() {
    const most = Number(this.#end.max);
    for (const [slider, name, without] of /** @type {const} */ ([
      [this.#begin, '--from', 0],
      [this.#end, '--to', most],
    ])) {
      const text = this.#field(name)?.value.trim() ?? '';
      const seconds = read_time(text.replace(/^-/, ''));
      if (text !== '' && seconds === null) continue;
      const steps = text === '' ? without : text.startsWith('-') ? most - (seconds ?? 0) * STEPS : (seconds ?? 0) * STEPS;
      slider.value = String(steps);
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
    this.#root.style.setProperty('--begin', part(this.#begin));
    this.#root.style.setProperty('--end', part(this.#end));
  }
}
