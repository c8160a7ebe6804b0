// The picture: what the scene says is to be drawn, with what it needs for it.
import { Camera } from './camera.js';
import { Painter } from './painter.js';
import { Pictures, own_pictures } from './pictures.js';
import { NONE, SceneModule, compile } from './scene_module.js';
import { after } from './playback.js';
import { premultiply } from './webgl.js';

/** @import { GameMap, Layer, Protocol, TileLayer } from './teewire.js' */
/** @import { Ghost } from './ghost.js' */
/** @import { Show } from './show.js' */
/** @import { Tee } from './scene_module.js' */
/** @import { Pixels } from './webgl.js' */
/** @import { World } from './world.js' */

/** What is to be seen at a tick. `tees`: by client id. @typedef {{before: World, after: World|null, tick: number, tees: Map<number, Tee>}} Moment */
/** @typedef {{names: boolean, selected: number|null, ghost: Ghost|null}} Options */

const EFFECT_TICKS = 40;
const EMOTICON_TICKS = 100;
const MOST_SCALE = 2;
/** Pictures of a map that take longer to come are shown later than the map. */
const PATIENCE_MS = 200;
/** For tiles that are only a colour. */
const PLAIN = { width: 16, height: 16, pixels: new Uint8Array(1024).fill(255) };

/** Begins to fetch what all scenes need. */
export const prepare = () => Promise.all([compile(), own_pictures()]);

export class Scene {
  camera = new Camera();
  #canvas;
  #painter;
  #module;
  #entities;
  /** @type {Ghost|null} */
  #ghost = null;
  /** @type {number[]} pictures of the map */
  #map_pictures = [];
  #loads = 0;
  /** When all pictures of the map are there. @type {Promise<void>} */
  complete = Promise.resolve();

  /** @param {HTMLCanvasElement} canvas @param {string|null} folder of pictures */
  static async open(canvas, folder) {
    const [code, own] = await prepare();
    return new Scene(canvas, folder, code, own);
  }

  /** @param {HTMLCanvasElement} canvas @param {string|null} folder @param {WebAssembly.Module} code @param {Awaited<ReturnType<typeof own_pictures>>} own */
  constructor(canvas, folder, code, own) {
    this.#canvas = canvas;
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, powerPreference: 'high-performance' });
    if (gl === null) throw new Error('this browser has no WebGL 2, which the picture needs');
    this.#painter = new Painter(gl);
    this.pictures = new Pictures(this.#painter, folder);
    this.#module = new SceneModule(code, this.pictures);
    this.pictures.begin(this.#module, own);
    this.#entities = own.tiles;
  }

  /** @param {GameMap|null} map @param {Protocol} protocol */
  async load(map, protocol) {
    const this_one = ++this.#loads;
    const images = (map?.images ?? []).map(({ rgba, width, height, name }) =>
      rgba !== null ? { width, height, pixels: rgba } : this.pictures.map_image(name, protocol === '0.7'),
    );
    const all = Promise.all(images);
    const known = await Promise.race([all, after(PATIENCE_MS)]);
    if (this_one !== this.#loads) return;
    this.#module.begin(protocol, map);
    this.#ghost = null;
    this.#take_images(map, known ?? images.map((image) => (image instanceof Promise ? undefined : image)));
    if (known !== undefined) return;
    this.complete = all.then((late) => {
      if (this_one === this.#loads) this.#take_images(map, late);
    });
  }

  /** @param {GameMap|null} map @param {(Pixels|null|undefined)[]} images undefined: comes later */
  #take_images(map, images) {
    const layers = map?.groups.flatMap((group) => group.layers) ?? [];
    this.#take_layers(layers, images);
    for (const number of this.#map_pictures.splice(0)) this.#painter.remove(number);
    const drawn = new Set(layers.filter(({ kind }) => kind === 'quads').map(({ image }) => image));
    const numbers = images.map((image, n) => {
      if (!image) return NONE;
      if (!drawn.has(n)) return 0; // only tiles use it, which are not asked for by this number
      const number = this.#painter.add(image);
      this.#map_pictures.push(number);
      return number;
    });
    this.#module.set_images(numbers);
  }

  /** Gives tiles their pictures. @param {Layer[]} layers @param {(Pixels|null|undefined)[]} images */
  #take_layers(layers, images) {
    const { tiles } = this.#painter;
    tiles.clear();
    /** @type {Map<Pixels, WebGLTexture>} */
    const sheets = new Map();
    /** @param {number} number @param {TileLayer} layer @param {Pixels} picture */
    const take = (number, layer, picture) => {
      const sheet = sheets.get(picture) ?? tiles.sheet({ ...picture, pixels: premultiply(picture.pixels) });
      sheets.set(picture, sheet);
      tiles.take(number, layer, sheet);
    };
    const missing = layers.some(({ kind, image }) => kind === 'tiles' && images[image] === null);
    for (const [number, layer] of layers.entries()) {
      const picture = layer.image < 0 ? PLAIN : images[layer.image];
      if (layer.kind === 'tiles' && picture) take(number, layer, picture);
      // Where pictures of tiles are not to be had, what tiles do is shown.
      if ((layer.kind === 'game' || layer.kind === 'front') && missing) take(number, layer, this.#entities);
    }
  }

  /**
   * What is to be seen at a tick; null if it is not loaded.
   * @param {Show} show @param {number} tick
   * @returns {Moment|null}
   */
  moment(show, tick) {
    const around = show.around(tick);
    if (around === null) return null;
    const tees = this.#module.see(around.before.snapshot, around.after?.snapshot ?? null, tick);
    return { ...around, tick, tees };
  }

  /** Draws the moment that was seen last. @param {Show} show @param {Moment} moment @param {Options} options */
  draw(show, moment, options) {
    const { tick } = moment;
    const canvas = this.#canvas;
    const scale = Math.min(MOST_SCALE, globalThis.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(canvas.clientWidth * scale));
    const height = Math.max(1, Math.round(canvas.clientHeight * scale));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    this.camera.aspect = width / height;
    this.#see_ghost(moment, options);
    this.#module.add(show.recent(tick, EFFECT_TICKS), show.emoticons(tick, EMOTICON_TICKS), show.tuning_at(tick), show.teams_at(tick));
    this.#painter.draw(this.#module.draw(this.camera, options));
  }

  /** @param {Moment} moment @param {Options} options */
  #see_ghost({ before, tick }, { ghost, selected }) {
    if (ghost !== this.#ghost && ghost !== null) this.#module.begin_ghost(ghost.protocol);
    this.#ghost = ghost;
    this.#module.see_ghost(ghost?.at(tick, before.race_of(selected ?? -1)) ?? null);
  }
}
