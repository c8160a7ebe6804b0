// Opens pages of the viewer: in_viewer.mjs BROWSER, and on standard input [{url, steps: [...], shot}], where a step is a
// key ("key:n"), a wait in milliseconds ("wait:500"), fingers ("touch:x,y x,y ...", from place to place, two at a time with
// "+": "touch:x,y+x,y ..."; one after the other with "|"), a double click ("double:x,y"), a choice in a list as with the mouse ("choose:#list value"), the next so many requests for a part
// of a recording that fail ("fail:2"), "colors", which counts those on the picture, "axe", after which what is hard to use is among the errors, text
// for a field ("type:#events input hello"), or what the page is to evaluate. Prints what each page was like.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const get = createRequire(`${process.env.NODE_PATH}/`);
const [, , program] = process.argv;
const is_firefox = path.basename(program).startsWith('firefox');
const pages = JSON.parse(fs.readFileSync(0, 'utf8'));
const PATIENCE_MS = 30000;

// Within the frame in which it was drawn, because it is not kept.
const picture = () =>
  new Promise((done) =>
    requestAnimationFrame(() => {
      const world = /** @type {HTMLCanvasElement} */ (teewire_viewer.root.getElementById('world'));
      const { width, height } = world;
      const canvas = new OffscreenCanvas(width, height);
      const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
      context.drawImage(world, 0, 0);
      const colors = new Set(new Uint32Array(context.getImageData(0, 0, width, height).data.buffer));
      done(colors.size);
    }),
  );

const state = () => {
  const { show, stats, tick, selected, moment, camera, root } = teewire_viewer;
  /** @param {string} id */
  const at = (id) => /** @type {HTMLElement} */ (root.getElementById(id));
  const tees = moment === null ? [] : [...moment.tees.values()].map(({ id, x, y }) => ({ id, x, y }));
  const { asked } = /** @type {{asked?: unknown}} */ (globalThis);
  return {
    tick,
    frames: stats.frames,
    selected,
    first: show?.first_tick,
    last: show?.last_tick,
    shown: moment?.before.tick ?? null,
    tees,
    camera: camera && { x: camera.x, y: camera.y, zoom: camera.zoom },
    listed: [...root.querySelectorAll('#events li')].map((row) => row.textContent),
    inputs: at('inputs').hidden ? null : [...root.querySelectorAll('#inputs .down, #inputs output')].map((one) => one.textContent),
    clock: at('clock').textContent,
    tables: root.querySelectorAll('#scores table').length,
    wide: document.documentElement.scrollWidth > innerWidth,
    follows: moment?.before.players.get(selected ?? -1)?.name ?? null,
    names: moment === null ? [] : [...moment.before.players.values()].map(({ name }) => name),
    live: show?.live,
    events: show?.events.length,
    note: at('note').textContent,
    // biome-ignore lint/performance/useDomNodeTextContent: hidden text does not count
    problem: at('message').hidden ? null : at('message').innerText,
    playing: at('play').getAttribute('aria-label') === 'Pause',
    map: show?.header.map.name,
    label: at('world').getAttribute('aria-label'),
    link: show && teewire_viewer.moment_link(),
    memory: /** @type {{memory?: {usedJSHeapSize: number}}} */ (performance).memory?.usedJSHeapSize,
    asked: typeof asked === 'number' ? asked : null,
  };
};

/** @param {any} page of playwright-core @param {string} way */
async function touch(page, way) {
  const session = await page.context().newCDPSession(page);
  /** @typedef {{x: number, y: number, id: number}} Finger */
  /** @param {string} type @param {Finger[]} touchPoints */
  const send = (type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
  for (const once of way.split('|')) {
    for (const [n, place] of once.split(' ').entries())
      await send(
        n === 0 ? 'touchStart' : 'touchMove',
        place.split('+').map((one, id) => {
          const [x, y] = one.split(',').map(Number);
          return { x, y, id };
        }),
      );
    await send('touchEnd', []);
  }
  await session.detach();
}

/** @param {any} page of playwright-core @param {string} what */
async function choose(page, what) {
  const [list, value] = what.split(' ');
  await page.locator(list).dispatchEvent('pointerdown');
  await page.focus(list);
  await page.selectOption(list, value);
}

/** A page of Firefox, as far as playwright's pages are used for it. @param {any} page of puppeteer */
const as_playwright = (page) => ({
  goto: (/** @type {string} */ url) => page.goto(url),
  on: (/** @type {string} */ what, /** @type {(said: any) => void} */ call) => page.on(what, call),
  route: async () => {},
  waitForFunction: (/** @type {any} */ f, /** @type {any} */ given, /** @type {any} */ options) => page.waitForFunction(f, options, given),
  waitForTimeout: (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms)),
  evaluate: (/** @type {any} */ what) => page.evaluate(what),
  keyboard: page.keyboard,
  screenshot: (/** @type {any} */ options) => page.screenshot(options),
  close: () => page.close(),
});

const browser = is_firefox
  ? await get('puppeteer-core').launch({
      browser: 'firefox',
      executablePath: program,
      headless: false, // it has no WebGL without a screen
      extraPrefsFirefox: { 'webgl.force-enabled': true },
    })
  : await get('playwright-core').chromium.launch({
      executablePath: program,
      args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
    });
/** @param {number[]} size @param {boolean} phone */
async function new_page([width, height], phone) {
  if (!is_firefox) return browser.newPage({ viewport: { width, height }, hasTouch: phone, isMobile: phone });
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  return as_playwright(page);
}
const results = [];
for (const { url, steps = [], shot, size = [480, 320], phone = false } of pages) {
  const page = await new_page(size, phone);
  const errors = [];
  // A picture, index or map that is not there is none.
  page.on('console', (/** @type {any} */ said) => {
    if (['error', 'warning'].includes(said.type()) && !said.text().startsWith('Failed to load resource'))
      errors.push(said.text());
  });
  page.on('pageerror', (/** @type {Error} */ error) => errors.push(String(error.stack)));
  let failing = 0;
  await page.route('**/recordings/*.demo', (/** @type {any} */ route) => {
    if (failing === 0 || route.request().headers().range === undefined) return route.continue();
    --failing;
    return route.abort();
  });
  page.on('crash', () => errors.push('the page crashed'));
  const states = [];
  try {
    await page.goto(url);
    await page.waitForFunction(
      () =>
        globalThis.teewire_viewer &&
        ((teewire_viewer.stats.frames > 2 && teewire_viewer.moment !== null) ||
          teewire_viewer.root.querySelector('#message.failed:not([hidden])') !== null),
      null,
      { timeout: PATIENCE_MS },
    );
    states.push({ ...(await page.evaluate(state)), colors: await page.evaluate(picture) });
    for (const step of steps) {
      let colors = null;
      if (step.startsWith('touch:')) await touch(page, step.slice(6));
      else if (step.startsWith('double:')) {
        const [x, y] = step.slice(7).split(',').map(Number);
        await page.mouse.dblclick(x, y);
      } else if (step.startsWith('key:')) await page.keyboard.press(step.slice(4));
      else if (step.startsWith('choose:')) await choose(page, step.slice(7));
      else if (step.startsWith('type:')) await page.locator(step.slice(5, step.lastIndexOf(' '))).fill(step.slice(step.lastIndexOf(' ') + 1));
      else if (step === 'axe') {
        await page.addScriptTag({ path: `${process.env.NODE_PATH}/axe-core/axe.min.js` });
        const { violations } = await page.evaluate(() => /** @type {any} */ (globalThis).axe.run());
        for (const { id, nodes } of violations) errors.push(`axe: ${id}: ${nodes[0]?.html}`);
      } else if (step === 'colors') colors = await page.evaluate(picture);
      else if (step.startsWith('fail:')) failing = Number(step.slice(5));
      else if (step.startsWith('wait:')) await page.waitForTimeout(Number(step.slice(5)));
      else await page.evaluate(step);
      const { frames } = states.at(-1);
      await page.waitForFunction(
        (/** @type {number} */ before) => teewire_viewer.stats.frames > before + 2 || teewire_viewer.show === null,
        frames,
        { timeout: PATIENCE_MS },
      );
      states.push({ ...(await page.evaluate(state)), colors });
    }
    if (shot) await page.screenshot({ path: shot });
  } catch (error) {
    errors.push(String(error));
  }
  results.push({ url, states, errors });
  await page.close();
}
console.log(JSON.stringify(results));
await browser.close();
