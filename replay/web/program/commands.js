// Runs commands of the program in workers.

/** @typedef {import('./types.js').NamedFile} NamedFile */

/**
 * @typedef {object} Command
 * @property {string[]} words as on a command line, without the program's name
 * @property {NamedFile[]} files each under a name of its own, in which slashes make folders
 * @property {(text: string) => void} [on_message] gets what the program writes to standard error, in pieces
 * @property {AbortSignal} [signal] ends the program
 */
/**
 * @typedef {object} Outcome
 * @property {number} code the program's exit code
 * @property {Blob} output what it has written to standard output
 * @property {NamedFile[]} files those it has made
 */

/** @type {Map<string, Promise<WebAssembly.Module>>} */
const compiled = new Map();

/** A part of the program, loaded once. @param {string} name @returns {Promise<WebAssembly.Module>} */
function load(name) {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const made = fetch(`${name}.wasm`).then(async (answer) => {
    if (!answer.ok) throw new Error(`${name}.wasm: ${answer.status} ${answer.statusText}`);
    return WebAssembly.compile(await answer.arrayBuffer());
  });
  compiled.set(name, made);
  made.catch(() => compiled.delete(name)); // for another try
  return made;
}

/** @param {Command} command @returns {Promise<Outcome>} */
export async function run({ words, files, on_message, signal }) {
  const part = words[0] === 'export' ? 'export' : 'program';
  const module = await load(part);
  signal?.throwIfAborted();
  const worker = new Worker('worker.js');
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const output = [];
  try {
    return await new Promise((done, fail) => {
      worker.onmessage = ({ data }) => {
        if ('output' in data) output.push(data.output);
        else if ('message' in data) on_message?.(data.message);
        else done({ code: data.code, output: new Blob(output), files: data.files });
      };
      worker.onerror = (event) => fail(new Error(event.message || 'the program cannot be loaded'));
      signal?.addEventListener('abort', () => fail(signal.reason));
      worker.postMessage(/** @type {import('./types.js').Job} */ ({ part, module, words, files }));
    });
  } finally {
    worker.terminate();
  }
}
