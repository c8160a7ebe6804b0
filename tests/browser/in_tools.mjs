// Uses the page of tools as a person does: in_tools.mjs ADDRESS BROWSER FOLDER. FOLDER gets pictures. Checks what it sees.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';

const modules = `${process.env.NODE_PATH}/`;
const { chromium } = createRequire(modules)('playwright-core');
const [address = '', program, folder] = process.argv.slice(2);
/** @type {{files: string[], cut: string, large: string}} */
const { files, cut, large } = JSON.parse(fs.readFileSync(0, 'utf8'));
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
/** @type {string[]} */
const wrong = [];

/** @param {{width: number, height: number}} viewport */
async function open(viewport) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  page.on('pageerror', (/** @type {Error} */ error) => wrong.push(String(error)));
  page.on('console', (/** @type {{type(): string, text(): string}} */ line) => line.type() === 'error' && wrong.push(line.text()));
  await page.goto(address);
  return page;
}
/** @param {any} page @param {number} count */
const finished = (page, count) => page.waitForFunction((/** @type {number} */ n) => document.querySelectorAll('article[data-code]').length === n, count, { timeout: 60_000 });

/** The handles of a piece, and its player, do what the fields say, and the other way round. @param {any} page */
async function check_piece(page) {
  const player = page.locator('#piece teewire-player');
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('#piece teewire-player'))?.duration > 0);
  const duration = await player.evaluate((/** @type {any} */ one) => one.duration);
  const begin = page.getByLabel('Begin of the piece');
  const end = page.getByLabel('End of the piece');
  const from = page.getByLabel('From');
  const values = async () => [await begin.inputValue(), await end.inputValue()];
  const most = Math.ceil(duration * 10);
  assert.deepEqual(await values(), ['10', String(most - 10)]);
  // A number is a tick, and the recording begins at tick 310. Other texts move nothing.
  for (const [text, where] of /** @type {const} */ ([
    ['360', '10'],
    ['1.5s', '15'],
    ['-0:01', String(most - 10)],
    ['soon', String(most - 10)],
    ['0', '0'],
    ['99:00', String(most)],
    ['0:01', '10'],
  ])) {
    await from.fill(text);
    assert.equal(await begin.inputValue(), where, text);
  }
  // The fields of another action are not those of this one.
  await page.selectOption('#action', { label: 'Compress' });
  await page.selectOption('#action', { label: 'Cut a piece out' });
  assert.deepEqual(await values(), ['0', String(most)]);
  await from.fill('0:01');
  await page.getByLabel('To', { exact: true }).fill('-0:01');
  // Both at the end, where the mouse has to find the one that can be moved.
  await from.fill('0:04.9');
  await page.getByLabel('To', { exact: true }).fill('');
  await begin.scrollIntoViewIfNeeded();
  const box = await begin.boundingBox();
  await page.mouse.move(box.x + 0.97 * box.width, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.3 * box.width, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  assert.ok(Number(await begin.inputValue()) < most / 2, await begin.inputValue());
  await from.fill('0:01');
  await page.getByLabel('To', { exact: true }).fill('-0:01');
  await begin.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.getByLabel('From').inputValue(), '0:01.2');
  assert.equal(await player.evaluate((/** @type {any} */ one) => one.currentTime), 1.2);
  await end.focus();
  await page.keyboard.press('Home'); // as far as the other one
  assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), '0:01.3');
  await player.evaluate((/** @type {any} */ one) => {
    one.currentTime = 2;
  });
  await page.getByRole('button', { name: 'End here' }).click();
  assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), '0:02.0');
  await begin.focus();
  await page.keyboard.press('Home');
  await end.focus();
  await page.keyboard.press('End');
  assert.match(await page.textContent('#line'), /^teewire cut -o /);
}

for (const viewport of [{ width: 360, height: 740 }, { width: 1440, height: 900 }]) {
  const page = await open(viewport);
  assert.equal(await page.isDisabled('#start'), true);
  await page.setInputFiles('#choose', files);
  await page.selectOption('#action', { label: 'Cut a piece out' });
  await page.getByLabel('From').fill('0:01');
  await page.getByLabel('To', { exact: true }).fill('-0:01');
  assert.match(await page.textContent('#line'), /^teewire cut --from 0:01 --to=-0:01 -o ddnet_yard_cut\.demo -- ddnet_yard\.demo\s+\(and for 1 more\)$/);
  await page.keyboard.press('Enter'); // in a field
  await finished(page, 2);
  assert.deepEqual(await page.locator('article .state').allTextContents(), ['done', 'done']);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('article a').first().click()]);
  assert.equal(download.suggestedFilename(), 'ddnet_yard_cut.demo');
  assert.ok(fs.readFileSync(await download.path()).equals(fs.readFileSync(cut)));
  await check_piece(page);
  // A recording that was made can be watched.
  await page.getByLabel('Watch ddnet_yard_cut.demo').click();
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('article teewire-player'))?.duration > 0);
  // Faults are reported in the words of the program.
  await page.getByLabel('From').fill('soon');
  await page.click('#start');
  await finished(page, 4);
  assert.match(await page.locator('article').first().textContent(), /cannot be doneteewire: --from: soon is not a tick/);
  // Text is shown.
  await page.selectOption('#action', { label: 'Show what is in them' });
  await page.click('#start');
  await finished(page, 6);
  assert.match(await page.locator('article').first().textContent(), /^ddnet_yard\.demodonefile +ddnet_yard\.demo\n/);
  // Files of one name, and removing one.
  await page.setInputFiles('#choose', files.slice(0, 1));
  assert.deepEqual(await page.locator('#files li span:first-child').allTextContents(), ['ddnet_yard.demo', 'ddnet_dm1.demo', 'ddnet_yard_2.demo']);
  await page.getByLabel('Remove ddnet_yard.demo').click();
  assert.equal(await page.locator('#files li').count(), 2);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'wider than the window');
  await page.addScriptTag({ path: `${modules}axe-core/axe.min.js` });
  const faults = await page.evaluate(() => /** @type {any} */ (window).axe.run());
  assert.deepEqual(faults.violations.map((/** @type {{id: string, nodes: {html: string}[]}} */ { id, nodes }) => [id, nodes[0]?.html]), []);
  await page.screenshot({ path: `${folder}/tools_${viewport.width}x${viewport.height}.png` });
  await page.close();
}

// A long command can be cancelled.
const page = await open({ width: 1000, height: 800 });
await page.setInputFiles('#choose', [large, large]);
await page.selectOption('#action', { label: 'Remove names and chat' });
await page.click('#start');
await page.waitForFunction(() => document.querySelector('article .state')?.textContent?.startsWith('working'));
await page.waitForTimeout(300);
await page.click('#cancel');
await page.waitForFunction(() => [...document.querySelectorAll('article .state')].every((one) => one.textContent === 'cancelled'));
assert.equal(await page.isDisabled('#start'), false);

// Without a network, after it has been there.
await page.evaluate(async () => {
  await navigator.serviceWorker.ready;
});
await page.reload();
await page.context().setOffline(true);
await page.reload();
await page.setInputFiles('#choose', files.slice(0, 1));
await page.click('#start');
await finished(page, 1);
assert.match(await page.locator('article').first().textContent(), /^ddnet_yard\.demodone/);
assert.deepEqual(wrong, []);
await browser.close();
