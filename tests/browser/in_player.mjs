// The element <teewire-player> in pages of a folder: in_player.mjs CHROMIUM FOLDER SCENE. Prints as JSON what it was like, with
// everything that the page complained of.
import { createRequire } from 'node:module';
import { serve } from './file_server.mjs';

/** @import { TeewirePlayer } from '../../replay/web/viewer/teewire-player.js' */

const { chromium } = createRequire(`${process.env.NODE_PATH}/`)('playwright-core');
const [, , program, folder, scene] = process.argv;
const PATIENCE_MS = 30000;

/** What each scene does in a page. @type {Record<string, {page: string, act: () => Promise<unknown>, keys?: string[]}>} */
const SCENES = {
  // The page of the package's example, with its buttons pressed.
  example: {
    page: 'index.html',
    async act() {
      const player = /** @type {TeewirePlayer} */ (document.querySelector('teewire-player'));
      const line = /** @type {HTMLOutputElement} */ (document.querySelector('output'));
      const opened = { ...player.moment(), duration: player.duration, paused: player.paused, players: player.players, line: line.value };
      /** @type {HTMLButtonElement} */ (document.querySelector('button')).click();
      const middle = { time: player.currentTime, line: line.value };
      player.shadowRoot?.getElementById('share')?.click();
      const picture = player.shadowRoot?.getElementById('stage');
      return { opened, middle, shared: line.value, height: picture?.clientHeight, width: picture?.clientWidth };
    },
  },
  // Its attributes, properties, methods and events, used by a program.
  api: {
    page: 'two.html',
    async act() {
      /** @param {number} ms */
      const wait = (ms) => new Promise((done) => setTimeout(done, ms));
      const [one, two] = /** @type {TeewirePlayer[]} */ ([...document.querySelectorAll('teewire-player')]);
      /** @param {EventTarget} target @param {string} type @returns {Promise<any>} */
      const event = (target, type) => new Promise((done) => target.addEventListener(type, (said) => done(/** @type {CustomEvent} */ (said).detail), { once: true }));
      /** @type {string[]} */
      const said = [];
      for (const type of ['play', 'pause', 'ended', 'seeked', 'ratechange', 'loadeddata'])
        one.addEventListener(type, () => said.push(type));
      const home = /** @type {HTMLElement} */ (one.parentElement);
      const times = [one.currentTime, two.currentTime];
      one.setAttribute('t', '0:03');
      times.push(one.currentTime);
      one.playbackRate = 16;
      const ended = event(one, 'ended');
      one.play();
      await ended;
      times.push(one.duration - one.currentTime);
      const followed = event(two, 'follow');
      two.setAttribute('follow', two.players[1]);
      const name = (await followed) ?? two.followed;
      const missing = event(one, 'error');
      one.setAttribute('src', 'none.demo');
      const { message } = await missing;
      const again = event(one, 'loadeddata');
      one.setAttribute('t', '1');
      one.setAttribute('src', 'game.demo');
      const loaded = await again;
      times.push(one.currentTime);
      // Moved, removed and put back, more often than a browser has room for pictures.
      for (let n = 0; n < 20; ++n) {
        one.remove();
        const back = event(one, 'loadeddata');
        home.prepend(one);
        await back;
      }
      await wait(200);
      times.push(one.currentTime);
      const { length: events_before } = said;
      one.remove();
      await wait(200);
      const dead = { duration: one.duration, paused: one.paused, players: one.players, moment: one.moment(), silent: said.length === events_before };
      home.prepend(one);
      await event(one, 'loadeddata');
      one.setAttribute('autoplay', '');
      const dropped = event(one, 'loadeddata');
      await one.open(new File([await (await fetch('game.demo')).arrayBuffer()], 'dropped.demo'));
      await dropped;
      const playing = !one.paused;
      one.pause();
      const bad = event(one, 'error');
      await one.open(new File(['no demo'], 'text.demo'));
      return { times, said: said.slice(0, 8), name, second: two.players[1], message, loaded, dead, playing, refused: (await bad).message };
    },
  },
  // Wishes while a recording loads, and another recording meanwhile; values that are not numbers.
  hurry: {
    page: 'two.html',
    async act() {
      /** @param {number} ms */
      const wait = (ms) => new Promise((done) => setTimeout(done, ms));
      const [one, two] = /** @type {TeewirePlayer[]} */ ([...document.querySelectorAll('teewire-player')]);
      /** @param {string} type */
      const event = (type) => new Promise((done) => one.addEventListener(type, done, { once: true }));
      const message = () => one.shadowRoot?.getElementById('message')?.hidden;
      const note = () => /** @type {HTMLElement} */ (one.shadowRoot?.getElementById('note'));
      // A slow one is given up.
      one.setAttribute('src', 'slow/long.demo');
      await wait(1200);
      one.setAttribute('src', 'game.demo');
      await event('loadeddata');
      await wait(1500);
      const given_up = [message(), one.duration];
      // Wishes before it is there.
      one.removeAttribute('t');
      one.setAttribute('src', 'game.demo?again');
      await wait(0);
      one.play();
      one.currentTime = 4;
      one.setAttribute('follow', two.players[1]);
      await event('loadeddata');
      await wait(50);
      const wished = [one.paused, one.currentTime >= 4 && one.currentTime < 6];
      const followed = new Promise((done) => one.addEventListener('follow', done, { once: true }));
      if (one.followed !== two.players[1]) await followed;
      const name = one.followed === two.players[1];
      one.pause();
      /** @type {string[]} */
      const thrown = [];
      for (const value of [Number.NaN, /** @type {any} */ ('soon'), /** @type {any} */ (undefined), Number.POSITIVE_INFINITY])
        for (const member of /** @type {const} */ (['currentTime', 'playbackRate']))
          try {
            one[member] = value;
          } catch (error) {
            thrown.push(/** @type {Error} */ (error).name);
          }
      // A file stays when the element is moved.
      const file = new File([await (await fetch('game.demo')).arrayBuffer()], 'game.demo');
      await one.open(file);
      one.remove();
      document.querySelector('main')?.prepend(one);
      await event('loadeddata');
      const moved = one.duration;
      one.setAttribute('ghost', 'game.demo');
      await wait(500);
      const no_race = note().hidden ? '' : note().textContent;
      one.removeAttribute('ghost');
      one.setAttribute('src', 'game.demo');
      await event('loadeddata');
      const note_after = note().hidden;
      one.removeAttribute('src');
      await wait(50);
      const empty = [one.duration, one.players.length, one.shadowRoot?.getElementById('world')?.hidden];
      // Writing elsewhere in a page whose keys are the player's.
      const own = document.createElement('teewire-player');
      own.setAttribute('keys', 'page');
      own.setAttribute('src', 'game.demo');
      const area = document.createElement('textarea');
      area.setAttribute('aria-label', 'Text');
      document.querySelector('main')?.append(own, area);
      await new Promise((done) => own.addEventListener('loadeddata', done, { once: true }));
      area.focus();
      const typed = ['k', '5', 'n', ' '].map((key) => area.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true })));
      return { given_up, wished, name, thrown: [...new Set(thrown)], count: thrown.length, moved, no_race, note_after, empty, typed, at: own.currentTime, paused: own.paused };
    },
  },
  // Keys are those of the player that has the focus.
  keys: {
    page: 'two.html',
    keys: ['ArrowRight', 'Shift+ArrowLeft'],
    async act() {
      return [...document.querySelectorAll('teewire-player')].map((one) => /** @type {TeewirePlayer} */ (one).currentTime);
    },
  },
};

const { page: name, act, keys = [] } = SCENES[scene];
const host = await serve(folder);
const browser = await chromium.launch({
  executablePath: program,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const page = await browser.newPage({ viewport: { width: 900, height: 800 } });
/** @type {string[]} */
const errors = [];
page.on('console', (/** @type {any} */ said) => {
  if (['error', 'warning'].includes(said.type()) && !said.text().startsWith('Failed to load resource')) errors.push(said.text());
});
page.on('pageerror', (/** @type {Error} */ error) => errors.push(String(error.stack)));
await page.goto(host.address + name);
await page.waitForFunction(
  () => [...document.querySelectorAll('teewire-player')].every((one) => Number.isFinite(/** @type {TeewirePlayer} */ (one).duration) && /** @type {TeewirePlayer} */ (one).players.length > 0),
  null,
  { timeout: PATIENCE_MS },
);
if (keys.length > 0) await page.locator('teewire-player').nth(1).locator('canvas#world').click({ position: { x: 5, y: 5 } });
for (const key of keys) await page.keyboard.press(key);
const result = await page.evaluate(act);
await page.addScriptTag({ path: `${process.env.NODE_PATH}/axe-core/axe.min.js` });
const { violations } = await page.evaluate(() => /** @type {any} */ (globalThis).axe.run());
for (const { id, nodes } of violations) errors.push(`axe: ${id}: ${nodes[0]?.html}`);
console.log(JSON.stringify({ result, errors }));
await browser.close();
host.close();
