// What WebGL needs much text for.

/** @typedef {{width: number, height: number, pixels: Uint8Array}} Pixels rows from the top, R, G, B, A */

/** For vertex shaders: where a place is on the screen, of which `view` is left, top, width and height. */
export const ON_SCREEN = `
uniform vec4 view;
vec4 on_screen(vec2 place) { return vec4((place - view.xy) / view.zw * vec2(2, -2) + vec2(-1, 1), 0, 1); }`;

/**
 * @param {WebGL2RenderingContext} gl @param {string} vertex @param {string} fragment @param {string[]} inputs in their order
 * @param {string[]} uniforms
 */
export function make_program(gl, vertex, fragment, inputs, uniforms) {
  const program = gl.createProgram();
  for (const [type, text] of /** @type {const} */ ([
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(type));
    gl.shaderSource(shader, `#version 300 es\n${text}`);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  for (const [n, name] of inputs.entries()) gl.bindAttribLocation(program, n, name);
  gl.linkProgram(program);
  // A lost context links nothing; viewer.js handles that.
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`this browser's graphics do not take a program: ${gl.getProgramInfoLog(program)}`);
  const at = Object.fromEntries(uniforms.map((name) => [name, gl.getUniformLocation(program, name)]));
  return { program, at };
}

/** A texture in all sizes. The outermost pixels go on. @param {WebGL2RenderingContext} gl @param {Pixels} picture premultiplied */
export function make_texture(gl, { width, height, pixels }) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  gl.generateMipmap(gl.TEXTURE_2D);
  return made;
}

/** @param {WebGL2RenderingContext} gl @param {number} wrap what is beyond the borders of a texture */
export function make_sampler(gl, wrap) {
  const made = /** @type {WebGLSampler} */ (gl.createSampler());
  gl.samplerParameteri(made, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  gl.samplerParameteri(made, gl.TEXTURE_WRAP_S, wrap);
  gl.samplerParameteri(made, gl.TEXTURE_WRAP_T, wrap);
  return made;
}

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
