// Textured rectangles, as many as there are in a row of one texture in one call.
import * as twgl from 'twgl.js';

/** @import { View } from './camera.js' */
/** @import { Area } from './sprites.js' */

const MOST = 4096; // rectangles in a call
const INTS = 5; // of a corner: x, y, u, v, colour

const VERTEX = `#version 300 es
uniform vec4 view;
in vec2 position;
in vec2 texcoord;
in vec4 color;
out vec2 at;
out vec4 tint;
void main() {
  at = texcoord;
  tint = vec4(color.rgb * color.a, color.a);
  gl_Position = vec4((position - view.xy) / view.zw * vec2(2, -2) + vec2(-1, 1), 0, 1);
}`;

/** A picture with a colour laid over it, both premultiplied. */
export const PICTURE_FRAGMENT = `#version 300 es
precision mediump float;
uniform sampler2D picture;
in vec2 at;
in vec4 tint;
out vec4 color;
void main() { color = texture(picture, at) * tint; }`;

/** A colour as one number; parts from 0 to 1. @param {number} r @param {number} g @param {number} b */
export const color_of = (r, g, b, a = 1) =>
  ((Math.round(a * 255) << 24) | (Math.round(b * 255) << 16) | (Math.round(g * 255) << 8) | Math.round(r * 255)) >>> 0;
export const WHITE = 0xffffffff;
/** @param {number} color @param {number} alpha */
export const faded = (color, alpha) =>
  ((color & 0xffffff) | (Math.round(Math.min(1, Math.max(0, alpha)) * 255) << 24)) >>> 0;

/** Pictures are premultiplied; so are what is drawn and the frame. */
export class SpriteBatch {
  #gl;
  #program;
  #buffer;
  #array;
  #floats = new Float32Array(MOST * 4 * INTS);
  #colors = new Uint32Array(this.#floats.buffer);
  #count = 0;
  /** @type {WebGLTexture|null} */
  #texture = null;
  #view = [0, 0, 1, 1];
  calls = 0;

  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.#gl = gl;
    this.#program = twgl.createProgramInfo(gl, [VERTEX, PICTURE_FRAGMENT]);
    this.#buffer = twgl.createBufferFromTypedArray(gl, this.#floats, gl.ARRAY_BUFFER, gl.DYNAMIC_DRAW);
    const indices = new Uint16Array(MOST * 6);
    for (let n = 0; n < MOST; ++n) indices.set([4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 2, 4 * n + 1, 4 * n + 3], 6 * n);
    const stride = INTS * 4;
    this.#array = twgl.createVertexArrayInfo(gl, this.#program, {
      attribs: {
        position: { buffer: this.#buffer, numComponents: 2, type: gl.FLOAT, stride, offset: 0 },
        texcoord: { buffer: this.#buffer, numComponents: 2, type: gl.FLOAT, stride, offset: 8 },
        color: { buffer: this.#buffer, numComponents: 4, type: gl.UNSIGNED_BYTE, normalize: true, stride, offset: 16 },
      },
      indices: twgl.createBufferFromTypedArray(gl, indices, gl.ELEMENT_ARRAY_BUFFER),
      elementType: gl.UNSIGNED_SHORT,
      numElements: indices.length,
    });
    const white = new Uint8Array([255, 255, 255, 255]);
    this.white = { texture: twgl.createTexture(gl, { src: white, width: 1, height: 1 }), width: 1, height: 1 };
  }

  /** @param {View} view */
  begin(view) {
    this.flush();
    this.#view = [view.left, view.top, view.width, view.height];
  }

  flush() {
    if (this.#count === 0) return;
    const gl = this.#gl;
    gl.useProgram(this.#program.program);
    gl.bindVertexArray(this.#array.vertexArrayObject ?? null);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.#floats, 0, this.#count * 4 * INTS);
    twgl.setUniforms(this.#program, { view: this.#view, picture: this.#texture });
    gl.drawElements(gl.TRIANGLES, this.#count * 6, gl.UNSIGNED_SHORT, 0);
    gl.bindVertexArray(null);
    this.#count = 0;
    ++this.calls;
  }

  /** @param {number} at @param {number} x @param {number} y @param {number} u @param {number} v @param {number} color */
  #corner(at, x, y, u, v, color) {
    const floats = this.#floats;
    floats[at] = x;
    floats[at + 1] = y;
    floats[at + 2] = u;
    floats[at + 3] = v;
    this.#colors[at + 4] = color;
  }

  /** @param {WebGLTexture} texture */
  #room(texture) {
    if (this.#texture !== texture || this.#count === MOST) this.flush();
    this.#texture = texture;
    return this.#count++ * 4 * INTS;
  }

  /**
   * A sprite around (x, y), turned clockwise by `angle`; negative sizes mirror.
   * @param {Area} sprite @param {number} x @param {number} y @param {number} width @param {number} height
   */
  draw(sprite, x, y, width, height, angle = 0, color = WHITE) {
    const at = this.#room(sprite.texture);
    const c = Math.cos(angle) / 2;
    const s = Math.sin(angle) / 2;
    const ax = c * width;
    const ay = s * width;
    const bx = -s * height;
    const by = c * height;
    const { u0 = 0, v0 = 0, u1 = 1, v1 = 1 } = sprite;
    this.#corner(at, x - ax - bx, y - ay - by, u0, v0, color);
    this.#corner(at + INTS, x + ax - bx, y + ay - by, u1, v0, color);
    this.#corner(at + 2 * INTS, x - ax + bx, y - ay + by, u0, v1, color);
    this.#corner(at + 3 * INTS, x + ax + bx, y + ay + by, u1, v1, color);
  }

  /**
   * A line of one colour, `width` units thick, from (x0, y0) to (x1, y1).
   * @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1
   * @param {number} width @param {number} color
   */
  line(x0, y0, x1, y1, width, color) {
    const length = Math.hypot(x1 - x0, y1 - y0);
    this.draw(this.white, (x0 + x1) / 2, (y0 + y1) / 2, length, width, Math.atan2(y1 - y0, x1 - x0), color);
  }
}
