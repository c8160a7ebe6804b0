// Runs commands of the program in a page: in_page.mjs BUNDLE BROWSER. The request, on standard input:
// {commands: [{words, files: {NAME: PATH}}]}. Answers with {code, messages, output, files: {NAME: BASE64}, milliseconds} for each.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { serve } from './file_server.mjs';

const get = createRequire(`${process.env.NODE_PATH}/`);
const [folder = '', program = ''] = process.argv.slice(2);
const { commands } = JSON.parse(fs.readFileSync(0, 'utf8'));
const server = await serve(folder);
const browser = path.basename(program).startsWith('firefox')
  ? await get('puppeteer-core').launch({ browser: 'firefox', executablePath: program, headless: true })
  : await get('playwright-core').chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(`${server.address}tools.html`);
const results = [];
for (const command of commands)
  results.push(
    await page.evaluate(async (/** @type {{words: string[], files: Record<string, string>}} */ { words, files }) => {
      const { run } = await import(`${location.origin}/commands.js`);
      /** @param {Blob} blob */
      const text = async (blob) => {
        /** @type {string} */
        const address = await new Promise((done) => {
          const reader = new FileReader();
          reader.onload = () => done(String(reader.result));
          reader.readAsDataURL(blob);
        });
        return address.slice(address.indexOf(',') + 1);
      };
      const given = [];
      for (const [name, from] of Object.entries(files))
        given.push({ name, data: await (await fetch(`/file${encodeURI(from)}`)).blob() });
      let messages = '';
      const begun = performance.now();
      const made = await run({ words, files: given, on_message: (/** @type {string} */ t) => (messages += t) });
      const milliseconds = performance.now() - begun;
      /** @type {Record<string, string>} */
      const all = {};
      for (const file of made.files) all[file.name] = await text(file.data);
      return { code: made.code, messages, output: await text(made.output), files: all, milliseconds };
    }, command),
  );
console.log(JSON.stringify(results));
await browser.close();
server.close();
