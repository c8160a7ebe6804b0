// Runs checks.mjs in Chromium: in_chromium.mjs PACKAGE CHROMIUM, and a request as in in_node.mjs. Files come from a server
// of its own, at the addresses /file/PATH.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { serve } from './file_server.mjs';

const { chromium } = createRequire(`${process.env.NODE_PATH}/`)('playwright-core');
const [folder, program] = process.argv.slice(2);
const request = JSON.parse(fs.readFileSync(0, 'utf8'));
const here = path.dirname(new URL(import.meta.url).pathname);

const server = await serve(folder, { 'checks.mjs': path.join(here, 'checks.mjs') });

const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(server.address);
/** @typedef {{plain: boolean, check: string, arguments: unknown[]}} Request */
const result = await page.evaluate(async (/** @type {Request} */ { plain, check, arguments: given }) => {
  const [library, checks] = await Promise.all(['/teewire.js', '/checks.mjs'].map((address) => import(address)));
  /** @param {string} name */
  const bytes = async (name) => (await fetch(name)).arrayBuffer();
  const module = await (plain ? library.start({ plain: await bytes('/teewire-plain.wasm') }) : library.start());
  if (module.simd === plain) throw new Error('that is not the module that was asked for');
  /** @param {string} name */
  const get = async (name) => new Uint8Array(await bytes(`/file${encodeURI(name)}`));
  return checks[check](library, module, ...(['broadcast', 'varints'].includes(check) ? [] : [get]), ...given);
}, { plain: false, ...request });
console.log(JSON.stringify(result));
await browser.close();
server.close();
