// The element <teewire-player>: attributes say what to show, and events say what happens. Its interface is declared in
// teewire-player.d.ts.
import { Player } from './player.js';
import { read_time, time_text } from './playback.js';
import { LiveShow, open_bytes, open_demo } from './show.js';

/** @import { Look } from './player.js' */

const MOST_FILE = 1 << 30;

/** @param {Blob|null} file */
const name_of = (file) => (file instanceof File ? file.name : 'This file');

/** @param {Blob} file */
async function open_file(file) {
  if (file.size > MOST_FILE) throw new Error(`it has ${file.size} bytes; at most ${MOST_FILE} can be opened from here`);
  return open_bytes(new Uint8Array(await file.arrayBuffer()));
}

export class TeewirePlayer extends HTMLElement {
  static observedAttributes = ['src', 'live', 'ghost', 't', 'follow'];
  /** @type {Player|null} */
  #player = null;
  /** @type {string|null|Promise<string|null>} */
  #data = null;
  #loads = 0;
  #will_load = false;
  #root = this.attachShadow({ mode: 'open' });

  connectedCallback() {
    this.#player = new Player(this.#root, {
      page_keys: this.getAttribute('keys') === 'page',
      share: this.hasAttribute('share') ? () => this.#emit('share', this.moment()) : null,
      pictures: () => this.data,
      emit: (type, detail) => this.#emit(type, detail),
    });
    this.#load_soon();
    this.#load_ghost();
  }

  disconnectedCallback() {
    ++this.#loads;
    this.#player?.close();
    this.#player = null;
  }

  /** @param {string} name @param {string|null} before @param {string|null} value */
  attributeChangedCallback(name, before, value) {
    if (this.#player === null || before === value) return;
    if (name === 'src' || name === 'live') return this.#load_soon();
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
    this.#player?.set_playing(false);
  }

  get paused() {
    return !this.#player?.playing;
  }

  get currentTime() {
    return this.#player?.seconds ?? 0;
  }

  set currentTime(seconds) {
    this.#player?.seek_seconds(seconds);
  }

  get duration() {
    return this.#player?.show ? this.#player.duration : Number.NaN;
  }

  get playbackRate() {
    return this.#player?.playback.speed ?? 1;
  }

  set playbackRate(speed) {
    this.#player?.set_speed(Math.min(16, Math.max(0.1, speed)));
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
    this.#player?.race_against(name_of(ghost), ghost && (() => open_file(ghost)));
    await this.#show(name_of(file), () => open_file(file), { playing: this.hasAttribute('autoplay') });
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
      this.#load();
    });
  }

  #load_ghost() {
    const url = this.getAttribute('ghost');
    this.#player?.race_against(url ?? '', url ? () => open_demo(url) : null);
  }

  async #load() {
    const live = this.getAttribute('live');
    const src = this.getAttribute('src');
    const look = this.#look();
    if (live !== null) {
      /** @param {LiveShow} next */
      const changed = (next) => this.#player?.begin(next, look).catch((error) => this.#player?.failed(live, error));
      await this.#show(live, () => LiveShow.open(live, changed), look, 'Waiting for the broadcast');
    } else if (src !== null && src !== '') {
      /** @param {number} part */
      const progress = (part) => this.#player?.tell('Opening', `${src}\n${Math.round(part * 100)} %`);
      await this.#show(src, () => open_demo(src, { progress }), look);
    }
  }

  /** @param {string} what @param {() => Promise<import('./show.js').Show>} open @param {Look} look */
  async #show(what, open, look, title = 'Opening') {
    const player = this.#player;
    const this_one = ++this.#loads;
    player?.unload();
    player?.tell(title, what);
    try {
      const opened = await open();
      if (this_one !== this.#loads || player === null) return opened.close(); // another was asked for in the meantime
      await player.begin(opened, look);
    } catch (error) {
      if (this_one === this.#loads) player?.failed(what, error);
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
