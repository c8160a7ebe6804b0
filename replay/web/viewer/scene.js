// A frame: the background layers of the map, the game, the foreground layers.
import { Camera } from './camera.js';
import { MapRenderer } from './map_renderer.js';
import { Pictures } from './pictures.js';
import { ground_of } from './ground.js';
import { SpriteBatch } from './sprite_batch.js';
import { TeeRenderer } from './tee_renderer.js';
import { TextAtlas } from './text_atlas.js';
import { EFFECT_TICKS, WorldRenderer } from './world_renderer.js';

/** @import { GameMap } from './teewire.js' */
/** @import { Ground } from './ground.js' */
/** @import { Show } from './show.js' */
/** @import { Moment, Options } from './world_renderer.js' */

const EMOTICON_TICKS = 100;
const MOST_SCALE = 2;

export class Scene {
  camera = new Camera();
  /** @type {Ground|null} */
  ground = null;
  #gl;
  #canvas;
  #batch;
  #map;
  #world;

  /** @param {HTMLCanvasElement} canvas @param {string|null} folder of pictures */
  constructor(canvas, folder) {
    this.#canvas = canvas;
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, powerPreference: 'high-performance' });
    if (gl === null) throw new Error('this browser has no WebGL 2, which the picture needs');
    this.#gl = gl;
    this.#batch = new SpriteBatch(gl);
    this.pictures = new Pictures(gl, folder);
    this.#map = new MapRenderer(gl, this.#batch.white.texture);
    this.#world = new WorldRenderer(
      gl,
      this.#batch,
      this.pictures,
      new TeeRenderer(this.#batch, this.pictures),
      new TextAtlas(gl),
    );
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** @param {GameMap|null} map @param {boolean} seven */
  async load(map, seven) {
    this.ground = ground_of(map);
    await this.#map.load(map, (name) => this.pictures.map_image(name, seven), this.pictures.entities);
  }

  /**
   * What is to be seen at a tick; null if it is not loaded.
   * @param {Show} show @param {number} tick
   * @returns {Moment|null}
   */
  moment(show, tick) {
    const around = show.around(tick);
    if (around === null) return null;
    around.before.reckon(this.ground);
    around.after?.reckon(this.ground);
    const tees = WorldRenderer.tees({ ...around, tick });
    return { ...around, tick, ground: this.ground, tees, recent: [], emoticons: new Map(), tuning: undefined };
  }

  /** @param {Show} show @param {Moment} moment @param {Options} options */
  draw(show, moment, options) {
    const gl = this.#gl;
    const canvas = this.#canvas;
    const scale = Math.min(MOST_SCALE, globalThis.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(canvas.clientWidth * scale));
    const height = Math.max(1, Math.round(canvas.clientHeight * scale));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.1, 0.11, 0.13, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.camera.aspect = width / height;
    const ms = (moment.tick - moment.before.game.begin) * 20;
    this.#map.draw('background', this.camera, ms);
    moment.recent = show.recent(moment.tick, EFFECT_TICKS);
    moment.emoticons = show.emoticons(moment.tick, EMOTICON_TICKS);
    moment.tuning = show.tuning_at(moment.tick);
    this.#world.draw(moment, this.camera, options);
    this.#map.draw('foreground', this.camera, ms);
    this.#world.draw_names(moment, this.camera, options);
  }
}
