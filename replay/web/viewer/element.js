// The element <teewire-player>: attributes say what to show, and events say what happens. Its interface is declared in
// teewire-player.d.ts.
import { Player } from './player.js';
import { read_time, time_text } from './playback.js';
import { LiveShow, open_bytes, open_demo } from './show.js';

/** @import { Look } from './player.js' */
/** @import { Show } from './show.js' */

const MOST_FILE = 1 << 30;

/** As `<video>` does. @param {number} number */
function finite(number) {
  if (Number.isFinite(Number(number))) return Number(number);
  throw new TypeError(`${number} is not a finite number`);
}

/** @param {Blob|null} file */
const name_of = (file) => (file instanceof File ? file.name : 'This file');

/** @param {Blob} file */
async function open_file(file) {
  if (!(file instanceof Blob)) throw new TypeError('it is not a file');
  if (file.size > MOST_FILE) throw new Error(`it has ${file.size} bytes; at most ${MOST_FILE} can be opened from here`);
  return open_bytes(new Uint8Array(await file.arrayBuffer()));
}

export class TeewirePlayer extends HTMLElement {
  static observedAttributes = ['src', 'live', 'ghost', 't', 'follow'];
  /** @type {Player|null} */
  #player = null;
  /** @type {string|null|Promise<string|null>} */
  #data = null;
  #loading = new AbortController();
  /** The last that was opened, in place of `src` and `live`. @type {{file: Blob, ghost: Blob|null}|null} */
  #file = null;
  #will_load = false;
  #root = this.attachShadow({ mode: 'open' });

  connectedCallback() {
    this.#player = new Player(this.#root, {
      page_keys: this.getAttribute('keys') === 'page',
      share: this.hasAttribute('share') ? () => this.#emit('share', this.moment()) : null,
      pictures: () => this.data,
      emit: (type, detail) => this.#emit(type, detail),
    });
    if (this.#file !== null) this.#open_files(this.#file);
    else this.#load_soon();
  }

  disconnectedCallback() {
    this.#loading.abort();
    this.#player?.close();
    this.#player = null;
  }

  /** @param {string} name @param {string|null} before @param {string|null} value */
  attributeChangedCallback(name, before, value) {
    if (this.#player === null || before === value) return;
    if (name === 'src' || name === 'live') {
      this.#file = null;
      return this.#load_soon();
    }
    if (name === 'ghost') return this.#load_ghost();
    if (name === 'follow') return this.#player.follow_name(value);
    const seconds = read_time(value ?? '');
    if (seconds !== null) this.#player.seek_seconds(seconds);
  }

  /** Its inner parts, while it is in a document. */
  get player() {
    return this.#player;
  }

  get data() {
    return this.#data ?? this.getAttribute('data');
  }

  set data(folder) {
    this.#data = folder;
  }

  play() {
    this.#player?.play();
  }

  pause() {
    this.#player?.pause();
  }

  get paused() {
    return !this.#player?.playing;
  }

  get currentTime() {
    return this.#player?.seconds ?? 0;
  }

  set currentTime(seconds) {
    this.#player?.seek_seconds(finite(seconds));
  }

  get duration() {
    return this.#player?.show ? this.#player.duration : Number.NaN;
  }

  get playbackRate() {
    return this.#player?.playback.speed ?? 1;
  }

  set playbackRate(speed) {
    this.#player?.set_speed(Math.min(16, Math.max(0.1, finite(speed))));
  }

  get followed() {
    return this.#player?.followed ?? null;
  }

  get players() {
    return this.#player?.player_names ?? [];
  }

  moment() {
    const { seconds = 0, name, at, zoom, speed } = this.#player?.look() ?? {};
    return {
      t: time_text(seconds ?? 0, 1),
      ...(name && { follow: name }),
      ...(at && { at: at.map((place) => place.toFixed(1)).join() }),
      ...(zoom && { zoom: zoom.toFixed(2) }),
      ...(speed && { speed: String(speed) }),
    };
  }

  /** @param {Blob} file @param {Blob|null} [ghost] */
  async open(file, ghost = null) {
    this.#file = { file, ghost };
    if (this.#player !== null) await this.#open_files(this.#file);
  }

  /** @param {string} type @param {unknown} [detail] */
  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** After all attributes that a program sets have been set. */
  #load_soon() {
    if (this.#will_load) return;
    this.#will_load = true;
    queueMicrotask(() => {
      this.#will_load = false;
      if (this.#file !== null) return;
      this.#load();
      this.#load_ghost();
    });
  }

  #load_ghost() {
    const url = this.getAttribute('ghost');
    this.#player?.race_against(url ?? '', url ? (signal) => open_demo(url, signal) : null);
  }

  async #load() {
    const live = this.getAttribute('live');
    const src = this.getAttribute('src');
    if (live !== null) {
      /** @param {LiveShow} next */
      const changed = (next) => this.#player?.begin(next, this.#look()).catch((error) => this.#player?.failed(live, error));
      await this.#show('Waiting for the broadcast', live, (signal) => LiveShow.open(live, signal, changed));
    } else if (src !== null && src !== '') {
      /** @param {number} part */
      const report = (part) => this.#player?.tell('Opening', `${src}\n${Math.round(part * 100)} %`);
      await this.#show('Opening', src, (signal) => open_demo(src, signal, report));
    } else {
      this.#loading.abort();
      this.#player?.clear();
    }
  }

  /** @param {{file: Blob, ghost: Blob|null}} files that a program opened */
  async #open_files({ file, ghost }) {
    if (ghost === null) this.#load_ghost();
    else this.#player?.race_against(name_of(ghost), () => open_file(ghost));
    const look = () => ({ playing: this.hasAttribute('autoplay') });
    await this.#show('Opening', name_of(file), () => open_file(file), look);
  }

  /** @param {string} title @param {string} what @param {(signal: AbortSignal) => Promise<Show>} open */
  async #show(title, what, open, look = () => this.#look()) {
    const player = this.#player;
    this.#loading.abort(); // another is wanted
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    player?.unload();
    player?.tell(title, what);
    try {
      const opened = await open(signal);
      if (signal.aborted || player === null) return opened.close();
      await player.begin(opened, look());
    } catch (error) {
      if (!signal.aborted) player?.failed(what, error);
    }
  }

  /** What the attributes ask for, where they make sense. @returns {Look} */
  #look() {
    /** @param {string} name */
    const number = (name) => {
      const value = Number(this.getAttribute(name) ?? Number.NaN);
      return Number.isFinite(value) && value > 0 ? value : null;
    };
    const [x, y] = (this.getAttribute('at') ?? '').split(',').map(Number);
    return {
      seconds: read_time(this.getAttribute('t') ?? ''),
      name: this.getAttribute('follow'),
      at: Number.isFinite(x) && Number.isFinite(y) ? [x, y] : null,
      zoom: number('zoom'),
      speed: number('speed'),
      playing: this.hasAttribute('autoplay'),
    };
  }
}
