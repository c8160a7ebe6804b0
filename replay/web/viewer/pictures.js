// Pictures: those beside the page, where they are there, else our own. As textures, and as pixels for tile sheets.
import * as twgl from 'twgl.js';
import { premultiply } from './map_renderer.js';
import { emoticon_picture, entities_picture, game_picture, skin_picture } from './drawings.js';
import { EMOTICONS, GAME, PARTS, SKIN, sprites_in } from './sprites.js';

/** @import { Part, Sprites } from './sprites.js' */
/** @typedef {{width: number, height: number, pixels: Uint8Array}} Pixels */
/** @typedef {{plain: Sprites, grey: Sprites}} Skin */

/** A picture takes 64 MB then, some times over. */
const MOST_SIDE = 4096;
/** Images that are not the same in 0.6 and 0.7: DDNet has both. */
const OTHER_IN_07 = new Set(['grass_main', 'grass_doodads', 'generic_unhookable']);

/** The pixels of a canvas or image, not premultiplied. @param {HTMLCanvasElement|ImageBitmap} image */
function pixels_of(image) {
  const { width, height } = image;
  if (width < 1 || height < 1 || width > MOST_SIDE || height > MOST_SIDE) return null;
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));
  context.drawImage(image, 0, 0);
  return { width, height, pixels: new Uint8Array(context.getImageData(0, 0, width, height).data.buffer) };
}

/**
 * Grey, so that a colour can be laid over it. The commonest grey of a body becomes the same in all skins.
 * @param {Pixels} picture @param {{width: number, height: number}} body
 * @returns {Pixels}
 */
export function greyed({ width, height, pixels }, body) {
  const out = new Uint8Array(pixels);
  const counts = new Uint32Array(256);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      const i = (y * width + x) * 4;
      const grey = (pixels[i] + pixels[i + 1] + pixels[i + 2]) / 3;
      out[i] = out[i + 1] = out[i + 2] = grey;
      if (x < body.width && y < body.height && pixels[i + 3] > 128) ++counts[grey | 0];
    }
  let common = 1;
  for (let n = 1; n < 256; ++n) if (counts[n] > counts[common]) common = n;
  const wanted = 192;
  for (let y = 0; y < body.height; ++y)
    for (let x = 0; x < body.width; ++x) {
      const i = (y * width + x) * 4;
      const grey = out[i];
      const moved =
        grey <= common ? (grey / common) * wanted : ((grey - common) / (255 - common)) * (255 - wanted) + wanted;
      out[i] = out[i + 1] = out[i + 2] = moved;
    }
  return { width, height, pixels: out };
}

/** Names become parts of paths. @param {string} name */
const safe = (name) => name !== '' && !/[/\\\0]/.test(name) && name !== '.' && name !== '..';

export class Pictures {
  #gl;
  #folder;
  /** @type {Map<string, Skin|null>} */
  #skins = new Map();
  /** @type {Map<string, Sprites|null>} */
  #parts = new Map();
  /** @type {Promise<void>[]} */
  #later = [];
  /** @type {Promise<Set<string>|null>|null} the names of all skins, or null */
  #listing = null;

  /** @param {WebGL2RenderingContext} gl @param {string|null} folder where pictures are, with a slash; null: there are none */
  constructor(gl, folder) {
    this.#gl = gl;
    this.#folder = folder;
    /** @param {HTMLCanvasElement} canvas */
    const own = (canvas) => /** @type {Pixels} */ (pixels_of(canvas));
    const entities = own(entities_picture());
    this.entities = { ...entities, pixels: premultiply(entities.pixels) };
    this.game = sprites_in(this.#texture(own(game_picture(GAME.sprites))), GAME);
    this.emoticons = sprites_in(this.#texture(own(emoticon_picture())), EMOTICONS);
    this.own_skin = this.#skin(own(skin_picture(SKIN.sprites)));
    if (folder === null) return;
    this.#listing = this.#list();
    this.#use('game.png', (found) => {
      this.game = sprites_in(this.#texture(found), GAME);
    });
    this.#use('emoticons.png', (found) => {
      this.emoticons = sprites_in(this.#texture(found), EMOTICONS);
    });
  }

  /** Until what was asked for is there, or known not to be. */
  async settled() {
    while (this.#later.length > 0) await Promise.all(this.#later.splice(0));
  }

  /** The skins of the list, if there is one: others need not be asked for. */
  async #list() {
    try {
      const answer = await fetch(`${this.#folder}skins.json`);
      const { skins } = answer.ok ? await answer.json() : {};
      if (Array.isArray(skins)) return new Set(skins);
    } catch {
      // each is asked for
    }
    return null;
  }

  /**
   * Takes a picture when it has come; what cannot be used is as if it were not there.
   * @param {string} path @param {(found: Pixels) => void} take
   */
  #use(path, take, wanted = async () => true) {
    const come = async () => {
      if (!(await wanted())) return;
      const found = await this.#fetch(path);
      if (found !== null) take(found);
    };
    this.#later.push(come().catch(() => {}));
  }

  /** @param {string} path */
  async #fetch(path) {
    if (this.#folder === null) return null;
    try {
      const answer = await fetch(this.#folder + path.split('/').map(encodeURIComponent).join('/'));
      if (!answer.ok) return null;
      const bitmap = await createImageBitmap(await answer.blob());
      const pixels = pixels_of(bitmap);
      bitmap.close();
      return pixels;
    } catch {
      return null; // not there, or no picture
    }
  }

  /** @param {Pixels} picture */
  #texture({ width, height, pixels }) {
    return twgl.createTexture(this.#gl, {
      src: premultiply(pixels),
      width,
      height,
      min: this.#gl.LINEAR_MIPMAP_LINEAR,
      wrap: this.#gl.CLAMP_TO_EDGE,
    });
  }

  /** @param {Pixels} picture @returns {Skin} */
  #skin(picture) {
    const body = { width: (picture.width * 3) / 8, height: (picture.height * 3) / 4 };
    return {
      plain: sprites_in(this.#texture(picture), SKIN),
      grey: sprites_in(this.#texture(greyed(picture, body)), SKIN),
    };
  }

  /** A skin of 0.6 by its name; null until and unless it is there. @param {string} name */
  skin(name) {
    const known = this.#skins.get(name);
    if (known !== undefined) return known;
    this.#skins.set(name, null);
    if (this.#folder !== null && safe(name))
      this.#use(
        `skins/${name}.png`,
        (found) => this.#skins.set(name, this.#skin(found)),
        async () => (await this.#listing)?.has(name) ?? true,
      );
    return null;
  }

  /** A part of a skin of 0.7, or null. @param {Part} kind @param {string} name */
  part(kind, name) {
    const path = `skins/${kind}/${name}.png`;
    const known = this.#parts.get(path);
    if (known !== undefined) return known;
    this.#parts.set(path, null);
    if (this.#folder !== null && safe(name))
      this.#use(path, (found) => this.#parts.set(path, sprites_in(this.#texture(found), PARTS[kind])));
    return null;
  }

  /** An image that a map names, premultiplied, or null. @param {string} name @param {boolean} seven */
  async map_image(name, seven) {
    if (!safe(name)) return null;
    const found =
      (seven && OTHER_IN_07.has(name) ? await this.#fetch(`mapres/${name}_0.7.png`) : null) ??
      (await this.#fetch(`mapres/${name}.png`));
    return found === null ? null : { ...found, pixels: premultiply(found.pixels) };
  }
}
