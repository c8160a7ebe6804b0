// Pictures: those of a game's folder, where they are there, else our own. As numbers of textures.
import { fetch_whole } from './teewire.js';
import { NONE } from './scene_module.js';

/** @import { Painter } from './painter.js' */
/** @import { SceneModule } from './scene_module.js' */
/** @import { Pixels } from './webgl.js' */

/** A picture takes 64 MB then, some times over. */
const MOST_SIDE = 4096;
/** Images that are not the same in 0.6 and 0.7: DDNet has both. */
const OTHER_IN_07 = new Set(['grass_main', 'grass_doodads', 'generic_unhookable']);
/** Parts of skins of 0.7, in the order of the items. */
const PARTS = ['body', 'marking', 'decoration', 'hands', 'feet', 'eyes'];

/** The pixels of an image, not premultiplied. @param {ImageBitmap} image */
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

/** The pixels of a picture; null if it is not there, or too large. @param {string|URL} url */
async function fetch_picture(url) {
  const { answer, bytes } = await fetch_whole(url);
  if (!answer.ok) return null;
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const pixels = pixels_of(bitmap);
  bitmap.close();
  return pixels;
}

/** @typedef {Record<'game'|'emoticons'|'skin'|'tiles', Pixels>} Own */
/** @type {Promise<Own>|null} */
let own = null;
/** Our own pictures, fetched once. */
export const own_pictures = () =>
  (own ??= fetch_own().catch((error) => {
    own = null;
    throw error;
  }));

async function fetch_own() {
  // Bundlers see by these literals which files they have to copy.
  const files = {
    game: new URL('./own_game.png', import.meta.url),
    emoticons: new URL('./own_emoticons.png', import.meta.url),
    skin: new URL('./own_skin.png', import.meta.url),
    tiles: new URL('./own_tiles.png', import.meta.url),
  };
  const all = Object.entries(files).map(async ([name, url]) => {
    const found = await fetch_picture(url);
    if (found === null) throw new Error(`${url}, which the viewer needs, is not there`);
    return [name, found];
  });
  return /** @type {Own} */ (Object.fromEntries(await Promise.all(all)));
}

/** Names become parts of paths. @param {string} name */
const safe = (name) => name !== '' && !/[/\\\0]/.test(name) && name !== '.' && name !== '..';

export class Pictures {
  #painter;
  #folder;
  /** @type {SceneModule|null} */
  #module = null;
  /** @type {Map<string, number>} by path */
  #known = new Map();
  /** @type {Promise<void>[]} */
  #later = [];
  /** @type {Promise<Set<string>|null>|null} the names of all skins, or null */
  #listing = null;
  #game = NONE;
  #emoticons = NONE;
  #particles = NONE;
  #own_skin = NONE;

  /** @param {Painter} painter @param {string|null} folder where pictures are, with a slash; null: there are none */
  constructor(painter, folder) {
    this.#painter = painter;
    this.#folder = folder;
  }

  /** Gives the scene what it needs at once. @param {SceneModule} module @param {Own} own */
  begin(module, { game, emoticons, skin }) {
    this.#module = module;
    this.#game = this.#painter.add(game);
    this.#emoticons = this.#painter.add(emoticons);
    this.#particles = this.#painter.add(module.particles());
    this.#own_skin = this.#add_skin(skin);
    this.#set();
    if (this.#folder === null) return;
    this.#listing = this.#list();
    this.#use('game.png', (found) => {
      this.#game = this.#painter.add(found);
    });
    this.#use('emoticons.png', (found) => {
      this.#emoticons = this.#painter.add(found);
    });
  }

  #set() {
    this.#module?.set_pictures(this.#game, this.#emoticons, this.#particles, this.#own_skin);
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
      if (found === null) return;
      take(found);
      this.#set();
    };
    this.#later.push(come().catch(() => {}));
  }

  /** @param {string} path */
  async #fetch(path) {
    if (this.#folder === null) return null;
    try {
      return await fetch_picture(this.#folder + path.split('/').map(encodeURIComponent).join('/'));
    } catch {
      return null; // not there, or no picture
    }
  }

  /** Its greys follow it. @param {Pixels} picture */
  #add_skin(picture) {
    const number = this.#painter.add(picture);
    if (this.#module !== null) this.#painter.add(this.#module.grey(picture));
    return number;
  }

  /**
   * The number of a picture; NONE until and unless it is there.
   * @param {string} path @param {(found: Pixels) => number} add @param {() => Promise<boolean>} [wanted]
   */
  #number(path, add, wanted) {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    this.#known.set(path, NONE);
    if (this.#folder !== null) this.#use(path, (found) => this.#known.set(path, add(found)), wanted);
    return NONE;
  }

  /** A skin of 0.6 by its name. @param {string} name */
  skin(name) {
    if (!safe(name)) return NONE;
    const wanted = async () => (await this.#listing)?.has(name) ?? true;
    return this.#number(`skins/${name}.png`, (found) => this.#add_skin(found), wanted);
  }

  /** A part of a skin of 0.7. @param {number} kind @param {string} name */
  part(kind, name) {
    if (!safe(name)) return NONE;
    return this.#number(`skins/${PARTS[kind]}/${name}.png`, (found) => this.#painter.add(found));
  }

  /** An image that a map names, or null. @param {string} name @param {boolean} seven */
  async map_image(name, seven) {
    if (!safe(name)) return null;
    return (
      (seven && OTHER_IN_07.has(name) ? await this.#fetch(`mapres/${name}_0.7.png`) : null) ??
      this.#fetch(`mapres/${name}.png`)
    );
  }
}
