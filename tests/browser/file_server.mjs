// A server of files for pages in tests.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

/** @type {Record<string, string|undefined>} */
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

const SLOW_MS = 400;

/**
 * Serves a folder's files, as /slow/NAME late, those of this machine below /file/, and an empty page at /. Gives its address, with a slash
 * at the end, and what closes it. @param {string} folder @param {Record<string, string>} more files by their names
 */
export async function serve(folder, more = {}) {
  const server = http
    .createServer(async (asked, answer) => {
      const wanted = decodeURIComponent(asked.url ?? '');
      const url = wanted.replace(/^\/slow\//, '/');
      if (url !== wanted) await new Promise((done) => setTimeout(done, SLOW_MS));
      if (url === '/') return answer.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>checks</title>');
      const file = more[url.slice(1)] ?? (url.startsWith('/file/') ? url.slice(5) : path.join(folder, path.normalize(url.split('?')[0])));
      if (!fs.existsSync(file)) return answer.writeHead(404).end();
      const type = { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' };
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(asked.headers.range ?? '')?.map(Number) ?? [];
      const { size } = fs.statSync(file);
      if (first === undefined) {
        answer.writeHead(200, type);
        fs.createReadStream(file).pipe(answer);
      } else {
        const end = Math.min(last ?? 0, size - 1);
        answer.writeHead(206, { ...type, 'Content-Range': `bytes ${first}-${end}/${size}` });
        fs.createReadStream(file, { start: first, end }).pipe(answer);
      }
    })
    .listen(0, '127.0.0.1');
  await new Promise((done) => server.on('listening', done));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
