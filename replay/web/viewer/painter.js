// Draws a draw list with WebGL 2. Pictures are premultiplied; so are what is drawn and the frame.
import { COMMAND, KIND, NONE } from './scene_module.js';
import { TextAtlas } from './text_atlas.js';
import { Tiles } from './tiles.js';
import { ON_SCREEN, make_program, make_sampler, make_texture, premultiply } from './webgl.js';

/** @import { DrawList } from './scene_module.js' */
/** @import { Pixels } from './webgl.js' */

const VERTEX = `${ON_SCREEN}
in vec2 position;
in vec2 texcoord;
in vec4 color;
out vec2 at;
out vec4 tint;
void main() {
  at = texcoord;
  tint = vec4(color.rgb * color.a, color.a);
  gl_Position = on_screen(position);
}`;

// A picture with a colour laid over it.
const FRAGMENT = `
precision mediump float;
uniform sampler2D picture;
in vec2 at;
in vec4 tint;
out vec4 color;
void main() { color = texture(picture, at) * tint; }`;

const BACKGROUND = [0.1, 0.11, 0.13];
const STRIDE = 20;
const utf8 = new TextDecoder();

export class Painter {
  #gl;
  #program;
  #vertices;
  #indices;
  #quads = 0; // with indices
  #array;
  #samplers;
  #white;
  /** @type {(WebGLTexture|null)[]} by number */
  #textures = [];
  #texts;

  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.#gl = gl;
    this.tiles = new Tiles(gl);
    this.#texts = new TextAtlas(gl);
    this.#program = make_program(gl, VERTEX, FRAGMENT, ['position', 'texcoord', 'color'], ['view', 'picture']);
    this.#samplers = [make_sampler(gl, gl.CLAMP_TO_EDGE), make_sampler(gl, gl.REPEAT)];
    this.#white = make_texture(gl, { width: 1, height: 1, pixels: Uint8Array.of(255, 255, 255, 255) });
    this.#vertices = gl.createBuffer();
    this.#indices = gl.createBuffer();
    this.#array = gl.createVertexArray();
    gl.bindVertexArray(this.#array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#vertices);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.#indices);
    for (const n of [0, 1, 2]) gl.enableVertexAttribArray(n);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, STRIDE, 0);
    gl.vertexAttribPointer(1, 2, gl.FLOAT, false, STRIDE, 8);
    gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, STRIDE, 16);
    gl.bindVertexArray(null);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Takes a picture. Its number is returned. @param {Pixels} picture */
  add(picture) {
    return this.#textures.push(make_texture(this.#gl, { ...picture, pixels: premultiply(picture.pixels) })) - 1;
  }

  /** @param {number} number of a picture that is not needed any more */
  remove(number) {
    this.#gl.deleteTexture(this.#textures[number]);
    this.#textures[number] = null;
  }

  /** @param {Uint8Array|Float32Array} vertices */
  #take(vertices) {
    const gl = this.#gl;
    gl.bindVertexArray(this.#array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#vertices);
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STREAM_DRAW);
    const quads = vertices.byteLength / (4 * STRIDE);
    if (quads <= this.#quads) return;
    this.#quads = Math.max(1024, 2 * quads);
    const indices = new Uint32Array(this.#quads * 6);
    for (let n = 0; n < this.#quads; ++n) indices.set([4 * n, 4 * n + 1, 4 * n + 3, 4 * n, 4 * n + 3, 4 * n + 2], 6 * n);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
  }

  /** @param {WebGLTexture} texture @param {boolean} repeats @param {Float32Array} view @param {number} first vertex @param {number} count */
  #quads_of(texture, repeats, view, first, count) {
    const gl = this.#gl;
    gl.useProgram(this.#program.program);
    gl.bindVertexArray(this.#array);
    gl.uniform4fv(this.#program.at.view, view);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.bindSampler(0, this.#samplers[Number(repeats)]);
    gl.drawElements(gl.TRIANGLES, (count / 4) * 6, gl.UNSIGNED_INT, (first / 4) * 6 * 4);
    gl.bindVertexArray(null);
  }

  /** @param {Float32Array} clip left, top, right, bottom, from 0 to 1 */
  #clip([left, top, right, bottom]) {
    const gl = this.#gl;
    const [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const whole = left <= 0 && top <= 0 && right >= 1 && bottom >= 1;
    if (whole) return gl.disable(gl.SCISSOR_TEST);
    gl.enable(gl.SCISSOR_TEST);
    const [x0, x1, y0, y1] = [left * w, right * w, top * h, bottom * h].map(Math.round);
    gl.scissor(x0, h - y1, x1 - x0, y1 - y0);
  }

  /** @param {DrawList} list */
  draw({ commands, vertices, memory }) {
    const gl = this.#gl;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(BACKGROUND[0], BACKGROUND[1], BACKGROUND[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.#take(vertices);
    const texts = [];
    for (let at = 0; at < commands.byteLength; at += COMMAND.size) {
      /** @param {number} part */
      const int = (part) => commands.getUint32(at + part, true);
      /** @param {number} part */
      const float = (part) => commands.getFloat32(at + part, true);
      /** @param {number} part */
      const four = (part) => new Float32Array(memory.buffer, commands.byteOffset + at + part, 4);
      const kind = commands.getUint8(at);
      this.#clip(four(COMMAND.clip));
      if (kind === KIND.quads) {
        const texture = int(COMMAND.from) === NONE ? this.#white : this.#textures[int(COMMAND.from)];
        const repeats = commands.getUint8(at + COMMAND.repeats) !== 0;
        if (texture) this.#quads_of(texture, repeats, four(COMMAND.view), int(COMMAND.first), int(COMMAND.count));
      } else if (kind === KIND.tiles) {
        this.tiles.draw(int(COMMAND.first), four(COMMAND.view), int(COMMAND.tint));
      } else {
        const text = utf8.decode(memory.subarray(int(COMMAND.text), int(COMMAND.text) + int(COMMAND.text_bytes)));
        texts.push({ text, x: float(COMMAND.x), y: float(COMMAND.y), size: float(COMMAND.text_size), color: int(COMMAND.tint) });
        const follows = at + COMMAND.size < commands.byteLength && commands.getUint8(at + COMMAND.size) === KIND.text;
        if (!follows) this.#draw_texts(texts.splice(0), four(COMMAND.view), vertices);
      }
    }
    gl.disable(gl.SCISSOR_TEST);
  }

  /**
   * @param {{text: string, x: number, y: number, size: number, color: number}[]} texts @param {Float32Array} view
   * @param {Uint8Array} vertices those of the list, which stay
   */
  #draw_texts(texts, view, vertices) {
    // As many at once as find room in the atlas.
    while (texts.length > 0) {
      const floats = new Float32Array((texts.length * 4 * STRIDE) / 4);
      const colors = new Uint32Array(floats.buffer);
      const places = this.#texts.places(texts.map(({ text }) => text));
      for (const [n, { u0, v0, u1, v1, aspect }] of places.entries()) {
        const { x, y, size, color } = texts[n];
        const [w, h] = [(size * aspect) / 2, size / 2];
        floats.set([x - w, y - h, u0, v0, 0, x + w, y - h, u1, v0, 0, x - w, y + h, u0, v1, 0, x + w, y + h, u1, v1], n * 20);
        for (let corner = 0; corner < 4; ++corner) colors[n * 20 + corner * 5 + 4] = color;
      }
      texts.splice(0, places.length);
      this.#take(floats);
      this.#quads_of(this.#texts.texture, false, view, 0, places.length * 4);
    }
    this.#take(vertices);
  }
}
