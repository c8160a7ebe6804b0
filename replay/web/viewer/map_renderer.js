// The layers of a map. A tile layer is one rectangle: its fragments look their tile up in a texture of indices and flags,
// and the tile's picture in an array of 256. Quads are turned and moved by the vertex shader.
import * as twgl from 'twgl.js';
import { evaluate } from './envelope.js';
import { PICTURE_FRAGMENT } from './sprite_batch.js';

/** @import { GameMap, Layer, QuadLayer, TileLayer } from './teewire.js' */
/** @import { Camera } from './camera.js' */
/** @import { Pixels } from './pictures.js' */

/** @typedef {GameMap['groups'][number]} Group */
/**
 * An image of the map. Its pixels are kept until all layers have been made.
 * @typedef {{data: Pixels|null, sheet: WebGLTexture|null, picture: WebGLTexture|null}} Image
 */
/**
 * `size`: of its texture. `blocks`: which of them have tiles.
 * @typedef {{kind: 'tiles', tiles: WebGLTexture, size: [number, number], blocks: Uint8Array, columns: number,
 *   layer: TileLayer, sheet: WebGLTexture}} Tiles
 */
/**
 * `motions`: pairs of envelopes with their offsets. `values`: what the texture has of each.
 * @typedef {{kind: 'quads', array: twgl.VertexArrayInfo, motions: number[][], values: Float32Array, texture: WebGLTexture,
 *   fresh: boolean, picture: WebGLTexture}} Quads
 */
/** @typedef {{group: Group} & (Tiles|Quads)} Entry */
/** @typedef {'background'|'foreground'} Side of the players */

const TILES_VERTEX = `#version 300 es
uniform vec4 view;
uniform vec4 part; // of the world: left, top, right, bottom
in vec2 corner;
out highp vec2 place;
void main() {
  place = mix(part.xy, part.zw, corner);
  gl_Position = vec4((place - view.xy) / view.zw * vec2(2, -2) + vec2(-1, 1), 0, 1);
}`;

// Where a map ends, its outermost tiles go on.
const TILES_FRAGMENT = `#version 300 es
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

const QUADS_VERTEX = `#version 300 es
uniform vec4 view;
uniform sampler2D motions; // for each pair of envelopes: x, y, angle, 0; red, green, blue, alpha
in vec2 position;
in vec2 pivot;
in vec2 texcoord;
in vec4 color;
in float motion;
out vec2 at;
out vec4 tint;
void main() {
  vec4 moved = texelFetch(motions, ivec2(0, int(motion)), 0);
  vec4 light = texelFetch(motions, ivec2(1, int(motion)), 0) * color;
  vec2 arm = position - pivot;
  float c = cos(moved.z), s = sin(moved.z);
  vec2 place = pivot + vec2(c * arm.x - s * arm.y, s * arm.x + c * arm.y) + moved.xy;
  at = texcoord;
  light.a = clamp(light.a, 0.0, 1.0);
  tint = vec4(light.rgb * light.a, light.a);
  gl_Position = vec4((place - view.xy) / view.zw * vec2(2, -2) + vec2(-1, 1), 0, 1);
}`;

/** Tiles on a side of what is drawn or left out together. */
const BLOCK = 8;
const QUAD_INTS = 38;
/** Of all tile pictures of one image; larger ones are made smaller. */
const MOST_TILE = 64;

/** @param {Uint8Array} pixels */
export function premultiply(pixels) {
  const out = pixels.slice();
  // Most pixels are opaque or empty, which whole words show.
  const words = new Uint32Array(out.buffer, 0, out.length >> 2);
  const alpha = new Uint8Array(Uint32Array.of(0xff).buffer)[0] === 0xff ? 0xff000000 : 0xff;
  for (let n = 0; n < words.length; ++n) {
    const opacity = (words[n] & alpha) >>> 0;
    if (opacity === alpha) continue;
    if (opacity === 0) {
      words[n] = 0;
      continue;
    }
    const i = 4 * n;
    const a = out[i + 3];
    out[i] = (out[i] * a) / 255;
    out[i + 1] = (out[i + 1] * a) / 255;
    out[i + 2] = (out[i + 2] * a) / 255;
  }
  return out;
}

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

/** The pixels of an image that is there. @param {Image} image */
const data_of = (image) => /** @type {Pixels} */ (image.data);

export class MapRenderer {
  #gl;
  #tiles;
  #quads;
  #corners;
  #part;
  #white;
  /** @type {Record<Side, Entry[]>} */
  #layers = { background: [], foreground: [] };
  /** @type {Image[]} */
  #images = [];
  /** @type {Image|null} */
  #plain_image = null;
  /** @type {GameMap|null} */
  #map = null;
  /** @type {(() => void)[]} */
  #owned = [];

  /** @param {WebGL2RenderingContext} gl @param {WebGLTexture} white */
  constructor(gl, white) {
    this.#gl = gl;
    this.#white = white;
    this.#tiles = twgl.createProgramInfo(gl, [TILES_VERTEX, TILES_FRAGMENT]);
    this.#quads = twgl.createProgramInfo(gl, [QUADS_VERTEX, PICTURE_FRAGMENT]);
    this.#part = gl.getUniformLocation(this.#tiles.program, 'part');
    this.#corners = twgl.createVertexArrayInfo(
      gl,
      this.#tiles,
      twgl.createBufferInfoFromArrays(gl, { corner: { numComponents: 2, data: [0, 0, 1, 0, 0, 1, 1, 1] } }),
    );
  }

  /**
   * @param {GameMap|null} map
   * @param {(name: string) => Promise<Pixels|null>} picture of an image that is not in the map
   * @param {Pixels} entities what stands for tiles without picture
   */
  async load(map, picture, entities) {
    const images = await Promise.all(
      (map?.images ?? []).map(async (image) =>
        image.rgba !== null
          ? { width: image.width, height: image.height, pixels: premultiply(image.rgba) }
          : picture(image.name),
      ),
    );
    this.#clear();
    this.#map = map;
    if (map === null) return;
    this.#images = images.map((data) => ({ data, sheet: null, picture: null }));
    /** @type {Image} */
    const entities_image = { data: entities, sheet: null, picture: null };
    let behind = true; // of the players
    let missing = false;
    /** @type {(Group|(Entry & {behind: boolean}))[]} a group stands for its layer of the game */
    const shown = [];
    for (const group of map.groups)
      for (const layer of group.layers) {
        if (layer.kind === 'game') {
          behind = false;
          shown.push(group);
          continue;
        }
        const made = this.#make(layer);
        if (made === 'missing') {
          missing ||= layer.kind === 'tiles';
          continue;
        }
        if (made !== null) shown.push({ group, ...made, behind });
      }
    // Where pictures of tiles are not to be had, what tiles do is shown.
    for (const entry of shown) {
      if (!('group' in entry)) {
        if (!missing) continue;
        for (const layer of entry.layers) {
          if (layer.kind !== 'game' && layer.kind !== 'front') continue;
          const plain = { ...layer, colour: [255, 255, 255, 255], colour_envelope: -1 };
          const made = this.#make_tiles(plain, entities_image);
          if (made !== null) this.#layers.background.push({ group: entry, ...made });
        }
      } else {
        this.#layers[entry.behind ? 'background' : 'foreground'].push(entry);
      }
    }
    for (const image of [...this.#images, entities_image]) image.data = null;
  }

  #clear() {
    for (const remove of this.#owned) remove();
    this.#owned = [];
    this.#plain_image = null;
    this.#layers = { background: [], foreground: [] };
  }

  /** @param {WebGLTexture} texture */
  #own(texture) {
    this.#owned.push(() => this.#gl.deleteTexture(texture));
    return texture;
  }

  /** @param {Layer} layer */
  #make(layer) {
    if (layer.kind === 'tiles') {
      const image = this.#images[layer.image];
      if (image === undefined) return layer.image < 0 ? this.#make_tiles(layer, null) : null;
      return image.data === null ? 'missing' : this.#make_tiles(layer, image);
    }
    if (layer.kind !== 'quads' || layer.quads.length < QUAD_INTS) return null;
    const image = this.#images[layer.image];
    if (image !== undefined && image.data === null) return 'missing';
    return this.#make_quads(layer, image ?? null);
  }

  /** A texture array of the 256 pictures in a sheet. @param {Image} image */
  #sheet(image) {
    if (image.sheet !== null) return image.sheet;
    const gl = this.#gl;
    const whole = shrunk(data_of(image), MOST_TILE * 16);
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
    return (image.sheet = texture);
  }

  /** @param {TileLayer} layer @param {Image|null} image @returns {Tiles|null} */
  #make_tiles(layer, image) {
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
    if (!some) return null;
    const texture = this.#own(gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG8UI, w, h, 0, gl.RG_INTEGER, gl.UNSIGNED_BYTE, pairs);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return {
      kind: 'tiles',
      tiles: texture,
      size: [w, h],
      blocks,
      columns,
      layer,
      sheet: image === null ? this.#plain() : this.#sheet(image),
    };
  }

  #plain() {
    const data = { width: 16, height: 16, pixels: new Uint8Array(1024).fill(255) };
    this.#plain_image ??= { data, sheet: null, picture: null };
    return this.#sheet(this.#plain_image);
  }

  /** @param {QuadLayer} layer @param {Image|null} image @returns {Quads} */
  #make_quads(layer, image) {
    const gl = this.#gl;
    const count = Math.floor(layer.quads.length / QUAD_INTS);
    /** @type {Map<string, number>} */
    const motions = new Map();
    /** @type {number[][]} */
    const used = [];
    const floats = new Float32Array(count * 4 * 11);
    const indices = new Uint32Array(count * 6);
    for (let n = 0; n < count; ++n) {
      const q = layer.quads.subarray(n * QUAD_INTS, (n + 1) * QUAD_INTS);
      const key = q.subarray(34, 38).join();
      let motion = motions.get(key);
      if (motion === undefined) {
        motions.set(key, (motion = used.length));
        used.push(Array.from(q.subarray(34, 38)));
      }
      for (let c = 0; c < 4; ++c)
        floats.set(
          [
            q[2 * c] / 1024,
            q[2 * c + 1] / 1024,
            q[8] / 1024,
            q[9] / 1024,
            q[26 + 2 * c] / 1024,
            q[27 + 2 * c] / 1024,
            q[10 + 4 * c] / 255,
            q[11 + 4 * c] / 255,
            q[12 + 4 * c] / 255,
            q[13 + 4 * c] / 255,
            motion,
          ],
          (n * 4 + c) * 11,
        );
      indices.set([4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 2, 4 * n + 1, 4 * n + 3], 6 * n);
    }
    const buffer = twgl.createBufferFromTypedArray(gl, floats);
    /** @param {number} numComponents @param {number} offset */
    const part = (numComponents, offset) => ({ buffer, numComponents, type: gl.FLOAT, stride: 44, offset });
    const elements = twgl.createBufferFromTypedArray(gl, indices, gl.ELEMENT_ARRAY_BUFFER);
    const array = twgl.createVertexArrayInfo(gl, this.#quads, {
      attribs: {
        position: part(2, 0),
        pivot: part(2, 8),
        texcoord: part(2, 16),
        color: part(4, 24),
        motion: part(1, 40),
      },
      indices: elements,
      elementType: gl.UNSIGNED_INT,
      numElements: indices.length,
    });
    this.#owned.push(() => {
      gl.deleteBuffer(buffer);
      gl.deleteBuffer(elements);
      gl.deleteVertexArray(array.vertexArrayObject ?? null);
    });
    const values = new Float32Array(used.length * 8);
    const texture = this.#own(
      twgl.createTexture(gl, {
        src: values,
        width: 2,
        height: used.length,
        internalFormat: gl.RGBA32F,
        minMag: gl.NEAREST,
        wrap: gl.CLAMP_TO_EDGE,
        auto: false,
      }),
    );
    return {
      kind: 'quads',
      array,
      motions: used,
      values,
      texture,
      fresh: true,
      picture: image === null ? this.#white : this.#picture(image),
    };
  }

  /** @param {Image} image */
  #picture(image) {
    const { width, height, pixels } = data_of(image);
    return (image.picture ??= this.#own(
      twgl.createTexture(this.#gl, {
        src: pixels,
        width,
        height,
        min: this.#gl.LINEAR_MIPMAP_LINEAR,
        wrap: this.#gl.REPEAT,
      }),
    ));
  }

  /** @param {number} number @param {number} channels */
  #envelope(number, channels) {
    const envelope = this.#map?.envelopes[number];
    return envelope !== undefined && envelope.channels === channels && envelope.points.length > 0 ? envelope : null;
  }

  /**
   * @param {Side} which
   * @param {Camera} camera
   * @param {number} ms since the round began
   */
  draw(which, camera, ms) {
    const gl = this.#gl;
    for (const entry of this.#layers[which]) {
      const { group } = entry;
      if (group.clip !== null && !this.#clip(camera, group.clip)) continue;
      const view = camera.view(group);
      const rectangle = [view.left, view.top, view.width, view.height];
      if (entry.kind === 'tiles') this.#draw_tiles(entry, rectangle, ms);
      else this.#draw_quads(entry, rectangle, ms);
      if (group.clip !== null) gl.disable(gl.SCISSOR_TEST);
    }
    gl.bindVertexArray(null);
  }

  /** False if nothing is left. @param {Camera} camera @param {NonNullable<Group['clip']>} clip */
  #clip(camera, clip) {
    const gl = this.#gl;
    const view = camera.view();
    const w = gl.drawingBufferWidth;
    const h = gl.drawingBufferHeight;
    const x0 = Math.max(0, Math.round(((clip.x - view.left) / view.width) * w));
    const x1 = Math.min(w, Math.round(((clip.x + clip.width - view.left) / view.width) * w));
    const y0 = Math.max(0, Math.round(((clip.y - view.top) / view.height) * h));
    const y1 = Math.min(h, Math.round(((clip.y + clip.height - view.top) / view.height) * h));
    if (x1 <= x0 || y1 <= y0) return false;
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x0, h - y1, x1 - x0, y1 - y0);
    return true;
  }

  /** @param {Tiles} entry @param {number[]} view @param {number} ms */
  #draw_tiles(entry, view, ms) {
    const { layer } = entry;
    const [r, g, b, a] = layer.colour.map((part) => part / 255);
    const envelope = this.#envelope(layer.colour_envelope, 4);
    const light =
      envelope === null
        ? [1, 1, 1, 1]
        : evaluate(envelope, ms + layer.colour_offset, [0, 0, 0, 0]).map((v) => v / 1024);
    const alpha = Math.min(1, Math.max(0, a * light[3]));
    if (alpha === 0) return;
    const gl = this.#gl;
    gl.useProgram(this.#tiles.program);
    gl.bindVertexArray(this.#corners.vertexArrayObject ?? null);
    twgl.setUniforms(this.#tiles, {
      view,
      tiles: entry.tiles,
      sheet: entry.sheet,
      size: entry.size,
      tint: [r * light[0] * alpha, g * light[1] * alpha, b * light[2] * alpha, alpha],
    });
    this.#draw_blocks(entry, view);
  }

  /**
   * What is seen of the blocks that have tiles: those beside each other at once. The outermost go on without end.
   * @param {Tiles} entry @param {number[]} view
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
          this.#part,
          from(begin, left),
          from(y, top),
          to(x, columns, size[0], left + width),
          to(y, rows, size[1], top + height),
        );
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      }
  }

  /** @param {Quads} entry @param {number[]} view @param {number} ms */
  #draw_quads(entry, view, ms) {
    const gl = this.#gl;
    const { values, motions } = entry;
    const out = [0, 0, 0, 0];
    let moving = entry.fresh;
    for (let n = 0; n < motions.length; ++n) {
      const [position, position_offset, color, color_offset] = motions[n];
      const moved = this.#envelope(position, 3);
      const light = this.#envelope(color, 4);
      if (moved === null) values.fill(0, n * 8, n * 8 + 4);
      else {
        evaluate(moved, ms + position_offset, out);
        values[n * 8] = out[0] / 1024;
        values[n * 8 + 1] = out[1] / 1024;
        values[n * 8 + 2] = ((out[2] / 1024) * Math.PI) / 180;
        moving = true;
      }
      if (light === null) values.fill(1, n * 8 + 4, n * 8 + 8);
      else {
        evaluate(light, ms + color_offset, out);
        for (let c = 0; c < 4; ++c) values[n * 8 + 4 + c] = out[c] / 1024;
        moving = true;
      }
    }
    if (moving) {
      gl.bindTexture(gl.TEXTURE_2D, entry.texture);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 2, motions.length, gl.RGBA, gl.FLOAT, values);
      entry.fresh = false;
    }
    gl.useProgram(this.#quads.program);
    gl.bindVertexArray(entry.array.vertexArrayObject ?? null);
    twgl.setUniforms(this.#quads, { view, motions: entry.texture, picture: entry.picture });
    gl.drawElements(gl.TRIANGLES, entry.array.numElements, gl.UNSIGNED_INT, 0);
  }
}
