// Short texts in the world, names above all: each drawn once into a texture.
import * as twgl from 'twgl.js';

/** @import { Sprite } from './sprites.js' */

const SIDE = 1024;
const LINE = 40;
const FONT = '600 26px system-ui, "DejaVu Sans", sans-serif';

export class TextAtlas {
  #gl;
  #context;
  #texture;
  /** @type {Map<string, Sprite>} */
  #places = new Map();
  #x = 0;
  #y = 0;
  #changed = false;

  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.#gl = gl;
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = SIDE;
    this.#context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    this.#context.font = FONT;
    this.#context.textBaseline = 'middle';
    this.#context.lineJoin = 'round';
    this.#texture = twgl.createTexture(gl, {
      width: SIDE,
      height: SIDE,
      min: gl.LINEAR_MIPMAP_LINEAR,
      wrap: gl.CLAMP_TO_EDGE,
    });
    this.#changed = true;
  }

  /**
   * Before a frame: when it is full, all of it is used again. `flush` draws what still refers to it.
   * @param {number} width @param {() => void} flush
   */
  #room(width, flush) {
    if (this.#x + width > SIDE) {
      this.#x = 0;
      this.#y += LINE;
    }
    if (this.#y + LINE <= SIDE) return;
    flush();
    this.#context.clearRect(0, 0, SIDE, SIDE);
    this.#places.clear();
    this.#x = this.#y = 0;
  }

  /** The sprite of a text, with `w` and `h` for a line of height 1. @param {string} text @param {() => void} flush */
  sprite(text, flush) {
    let place = this.#places.get(text);
    if (place === undefined) {
      const context = this.#context;
      const width = Math.min(SIDE, Math.ceil(context.measureText(text).width) + 8);
      this.#room(width, flush);
      context.strokeStyle = '#000c';
      context.lineWidth = 5;
      context.strokeText(text, this.#x + 4, this.#y + LINE / 2, width - 8);
      context.fillStyle = '#fff';
      context.fillText(text, this.#x + 4, this.#y + LINE / 2, width - 8);
      place = {
        texture: this.#texture,
        u0: this.#x / SIDE,
        v0: this.#y / SIDE,
        u1: (this.#x + width) / SIDE,
        v1: (this.#y + LINE) / SIDE,
        w: width / LINE,
        h: 1,
      };
      this.#places.set(text, place);
      this.#x += width;
      this.#changed = true;
    }
    if (this.#changed) this.#upload();
    return place;
  }

  #upload() {
    const gl = this.#gl;
    gl.bindTexture(gl.TEXTURE_2D, this.#texture);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, this.#context.canvas);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    this.#changed = false;
  }
}
