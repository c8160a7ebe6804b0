// Tile layers. Each is one rectangle: its fragments look their tile up in a texture of indices and flags, and the tile's
// picture in an array of 256.
import { ON_SCREEN, make_program } from './webgl.js';

/** @import { TileLayer } from './teewire.js' */
/** @import { Pixels } from './webgl.js' */
/**
 * `size`: of its texture. `blocks`: which of them have tiles.
 * @typedef {{tiles: WebGLTexture, size: [number, number], blocks: Uint8Array, columns: number, sheet: WebGLTexture}} Layer
 */

const TILES_VERTEX = `${ON_SCREEN}
uniform vec4 part; // of the world: left, top, right, bottom
in vec2 corner;
out highp vec2 place;
void main() {
  place = mix(part.xy, part.zw, corner);
  gl_Position = on_screen(place);
}`;

// Where a map ends, its outermost tiles go on.
const TILES_FRAGMENT = `
precision highp float;
precision highp usampler2D;
precision mediump sampler2DArray;
uniform usampler2D tiles;
uniform sampler2DArray sheet;
uniform ivec2 size;
uniform vec4 tint;
in vec2 place;
out vec4 color;
void main() {
  vec2 at = place / 32.0;
  uvec2 tile = texelFetch(tiles, clamp(ivec2(floor(at)), ivec2(0), size - 1), 0).xy;
  vec2 dx = dFdx(at), dy = dFdy(at);
  if (tile.x == 0u) discard;
  vec2 uv = fract(at);
  if ((tile.y & 8u) != 0u) {
    uv = vec2(uv.y, 1.0 - uv.x);
    dx = vec2(dx.y, -dx.x);
    dy = vec2(dy.y, -dy.x);
  }
  if ((tile.y & 1u) != 0u) uv.x = 1.0 - uv.x;
  if ((tile.y & 2u) != 0u) uv.y = 1.0 - uv.y;
  color = textureGrad(sheet, vec3(uv, float(tile.x)), dx, dy) * tint;
}`;

/** Tiles on a side of what is drawn or left out together. */
const BLOCK = 8;
/** Of all tile pictures of one image; larger ones are made smaller. */
const MOST_TILE = 64;

/**
 * The same picture in half the size, until it is small enough.
 * @param {Pixels} picture @param {number} most
 * @returns {Pixels}
 */
function shrunk(picture, most) {
  let { width, height, pixels } = picture;
  while (width > most || height > most) {
    const w = Math.max(1, width >> 1);
    const h = Math.max(1, height >> 1);
    const out = new Uint8Array(w * h * 4);
    for (let y = 0; y < h; ++y)
      for (let x = 0; x < w; ++x)
        for (let c = 0; c < 4; ++c) {
          const x0 = Math.min(width - 1, 2 * x),
            x1 = Math.min(width - 1, 2 * x + 1);
          const y0 = Math.min(height - 1, 2 * y) * width,
            y1 = Math.min(height - 1, 2 * y + 1) * width;
          out[(y * w + x) * 4 + c] =
            (pixels[(y0 + x0) * 4 + c] +
              pixels[(y0 + x1) * 4 + c] +
              pixels[(y1 + x0) * 4 + c] +
              pixels[(y1 + x1) * 4 + c]) /
            4;
        }
    width = w;
    height = h;
    pixels = out;
  }
  return { width, height, pixels };
}

export class Tiles {
  #gl;
  #program;
  #corners;
  /** @type {Map<number, Layer>} */
  #layers = new Map();
  /** @type {WebGLTexture[]} */
  #owned = [];

  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.#gl = gl;
    this.#program = make_program(gl, TILES_VERTEX, TILES_FRAGMENT, ['corner'], ['view', 'part', 'tiles', 'sheet', 'size', 'tint']);
    this.#corners = gl.createVertexArray();
    gl.bindVertexArray(this.#corners);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, Float32Array.of(0, 0, 1, 0, 0, 1, 1, 1), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
  }

  clear() {
    for (const texture of this.#owned.splice(0)) this.#gl.deleteTexture(texture);
    this.#layers.clear();
  }

  /** @param {WebGLTexture} texture */
  #own(texture) {
    this.#owned.push(texture);
    return texture;
  }

  /** A texture array of the 256 pictures in a sheet. @param {Pixels} picture */
  sheet(picture) {
    const gl = this.#gl;
    const whole = shrunk(picture, MOST_TILE * 16);
    const w = whole.width >> 4;
    const h = whole.height >> 4;
    const texture = this.#own(gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
    gl.texStorage3D(
      gl.TEXTURE_2D_ARRAY,
      1 + Math.floor(Math.log2(Math.max(w, h, 1))),
      gl.RGBA8,
      Math.max(w, 1),
      Math.max(h, 1),
      256,
    );
    const pixels = new Uint32Array(whole.pixels.buffer, whole.pixels.byteOffset, whole.width * whole.height);
    const tiles = new Uint32Array(256 * h * w);
    for (let n = 0; n < 256; ++n)
      for (let y = 0; y < h; ++y) {
        const from = ((n >> 4) * h + y) * whole.width + (n & 15) * w;
        for (let x = 0, to = (n * h + y) * w; x < w; ++x) tiles[to + x] = pixels[from + x];
      }
    if (tiles.length > 0)
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, 0, w, h, 256, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(tiles.buffer));
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    return texture;
  }

  /** Takes a layer, to be drawn by this number. @param {number} number @param {TileLayer} layer @param {WebGLTexture} sheet */
  take(number, layer, sheet) {
    const gl = this.#gl;
    const { width, height, cells } = layer;
    const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    // No recording has players beyond the size of a texture.
    const w = Math.min(width, most);
    const h = Math.min(height, most);
    const pairs = new Uint8Array(w * h * 2);
    let some = false;
    const columns = Math.ceil(w / BLOCK);
    const blocks = new Uint8Array(columns * Math.ceil(h / BLOCK));
    for (let y = 0; y < h; ++y)
      for (let x = 0; x < w; ++x) {
        const from = (y * width + x) * 4;
        const index = cells[from];
        if (index !== 0) {
          some = true;
          blocks[Math.floor(y / BLOCK) * columns + Math.floor(x / BLOCK)] = 1;
        }
        pairs[(y * w + x) * 2] = index;
        pairs[(y * w + x) * 2 + 1] = cells[from + 1];
      }
    if (!some) return;
    const texture = this.#own(gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG8UI, w, h, 0, gl.RG_INTEGER, gl.UNSIGNED_BYTE, pairs);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    this.#layers.set(number, { tiles: texture, size: [w, h], blocks, columns, sheet });
  }

  /**
   * @param {number} number @param {Float32Array} view left, top, width, height
   * @param {number} tint R, G, B, A from the lowest byte on
   */
  draw(number, view, tint) {
    const layer = this.#layers.get(number);
    if (layer === undefined) return;
    const gl = this.#gl;
    const { program, at } = this.#program;
    const [r, g, b, a] = [0, 8, 16, 24].map((shift) => ((tint >>> shift) & 255) / 255);
    gl.useProgram(program);
    gl.bindVertexArray(this.#corners);
    gl.uniform4fv(at.view, view);
    gl.uniform2i(at.size, ...layer.size);
    gl.uniform4f(at.tint, r * a, g * a, b * a, a);
    gl.uniform1i(at.sheet, 1);
    gl.uniform1i(at.tiles, 2);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, layer.sheet);
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, layer.tiles);
    gl.activeTexture(gl.TEXTURE0);
    this.#draw_blocks(layer, view);
    gl.bindVertexArray(null);
  }

  /**
   * What is seen of the blocks that have tiles: those beside each other at once. The outermost go on without end.
   * @param {Layer} entry @param {Float32Array} view
   */
  #draw_blocks({ blocks, columns, size }, [left, top, width, height]) {
    const gl = this.#gl;
    const side = BLOCK * 32;
    const rows = blocks.length / columns;
    /** @param {number} n @param {number} most */
    const clamp = (n, most) => Math.min(most - 1, Math.max(0, Math.floor(n / side)));
    const x0 = clamp(left, columns),
      x1 = clamp(left + width, columns);
    const y0 = clamp(top, rows),
      y1 = clamp(top + height, rows);
    /** @param {number} n @param {number} first */
    const from = (n, first) => (n === 0 ? Math.min(0, first) : n * side);
    /** @param {number} n @param {number} count @param {number} tiles @param {number} last */
    const to = (n, count, tiles, last) => (n + 1 === count ? Math.max(tiles * 32, last) : (n + 1) * side);
    for (let y = y0; y <= y1; ++y)
      for (let x = x0; x <= x1; ++x) {
        if (blocks[y * columns + x] === 0) continue;
        const begin = x;
        while (x < x1 && blocks[y * columns + x + 1] !== 0) ++x;
        gl.uniform4f(
          this.#program.at.part,
          from(begin, left),
          from(y, top),
          to(x, columns, size[0], left + width),
          to(y, rows, size[1], top + height),
        );
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      }
  }
}
