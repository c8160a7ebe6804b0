// Short texts in the world, names above all: each drawn once into a texture.

const SIDE = 1024;
const LINE = 40;
const FONT = '600 26px system-ui, "DejaVu Sans", sans-serif';

/** A part of the texture. `aspect`: its width for a line of height 1. @typedef {{u0: number, v0: number, u1: number, v1: number, aspect: number}} Place */

export class TextAtlas {
  #gl;
  #context;
  /** @type {Map<string, Place>} */
  #places = new Map();
  #x = 0;
  #y = 0;

  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.#gl = gl;
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = SIDE;
    this.#context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    this.#context.font = FONT;
    this.#context.textBaseline = 'middle';
    this.#context.lineJoin = 'round';
    this.texture = gl.createTexture();
  }

  /**
   * Where texts are in the texture: those of the first ones that find room together, at least one.
   * @param {string[]} texts
   * @returns {Place[]}
   */
  places(texts) {
    const known = this.#places.size;
    const found = [];
    for (const text of texts) {
      const place = this.#places.get(text) ?? this.#draw(text);
      if (place !== null) found.push(place);
      else if (found.length > 0) break;
      else {
        // All of it is used again.
        this.#context.clearRect(0, 0, SIDE, SIDE);
        this.#places.clear();
        this.#x = this.#y = 0;
        return this.places(texts);
      }
    }
    if (this.#places.size !== known) this.#upload();
    return found;
  }

  /** @param {string} text @returns {Place|null} null if there is no room */
  #draw(text) {
    const context = this.#context;
    const width = Math.min(SIDE, Math.ceil(context.measureText(text).width) + 8);
    if (this.#x + width > SIDE) {
      this.#x = 0;
      this.#y += LINE;
    }
    if (this.#y + LINE > SIDE) return null;
    context.strokeStyle = '#000c';
    context.lineWidth = 5;
    context.strokeText(text, this.#x + 4, this.#y + LINE / 2, width - 8);
    context.fillStyle = '#fff';
    context.fillText(text, this.#x + 4, this.#y + LINE / 2, width - 8);
    const place = {
      u0: this.#x / SIDE,
      v0: this.#y / SIDE,
      u1: (this.#x + width) / SIDE,
      v1: (this.#y + LINE) / SIDE,
      aspect: width / LINE,
    };
    this.#places.set(text, place);
    this.#x += width;
    return place;
  }

  #upload() {
    const gl = this.#gl;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, this.#context.canvas);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  }
}
