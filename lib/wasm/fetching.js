// Requests that are made again where a connection breaks or a host has trouble.
import { TeewireError } from './module.js';

/** Until the next tries. */
const AGAIN_MS = [300, 1000, 3000];

/** Whether a host that answers so may answer otherwise soon. @param {number} status */
const passes = (status) => status >= 500 || status === 429 || status === 408;

/**
 * What a host answers, to its end. It is asked up to four times, in 5 s, as long as connections break or it says that it has trouble.
 * @param {string|URL} url @param {RequestInit} [options]
 * @returns {Promise<{answer: Response, bytes: ArrayBuffer}>}
 */
export async function fetch_whole(url, options = {}) {
  for (let tries = 0; ; ++tries) {
    /** @type {unknown} */
    let problem;
    try {
      const answer = await fetch(url, options);
      const bytes = await answer.arrayBuffer();
      if (!passes(answer.status)) return { answer, bytes };
      problem = new TeewireError(`${url}: status ${answer.status}`);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      problem = new TeewireError(`${url}: no connection (${/** @type {Error} */ (error).message})`);
    }
    if (tries === AGAIN_MS.length) throw problem;
    await new Promise((done) => setTimeout(done, AGAIN_MS[tries]));
  }
}

/** The contents of a file of this package. Node's fetch does not read files. @param {URL} url @returns {Promise<BufferSource>} */
export async function load(url) {
  if (url.protocol === 'file:') {
    // Put together, so that bundlers for browsers do not look for it.
    const { readFile } = await import(/* @vite-ignore */ ['node:fs', 'promises'].join('/'));
    return readFile(url);
  }
  const { answer, bytes } = await fetch_whole(url);
  if (!answer.ok) throw new TeewireError(`${url}: status ${answer.status}`);
  return bytes;
}
