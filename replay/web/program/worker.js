// Runs one command of the program, in a worker of its own. Files are read where they lie, piece by piece.
/** @typedef {import('./types.js').FilesInMemory} FilesInMemory */
/** @typedef {import('./types.js').NamedFile} NamedFile */
/** @typedef {import('./types.js').Answer} Answer */

const WRITE_ONLY = 1;

/** Has a standard stream written to a function, in whole pieces. @param {FilesInMemory} FS @param {number} descriptor @param {(bytes: Uint8Array<ArrayBuffer>) => void} take */
function redirect(FS, descriptor, take) {
  const device = FS.makedev(70, descriptor);
  FS.registerDevice(device, {
    open() {},
    /** @param {unknown} _ @param {Int8Array} memory @param {number} offset @param {number} size */
    write(_, memory, offset, size) {
      take(new Uint8Array(memory.buffer, memory.byteOffset + offset, size).slice());
      return size;
    },
  });
  FS.mkdev(`/dev/page${descriptor}`, device);
  FS.close(FS.getStream(descriptor));
  FS.open(`/dev/page${descriptor}`, WRITE_ONLY);
}

/** The files below a folder, except links. @param {FilesInMemory} FS @param {string} folder @param {Set<string>} not_these @param {string} inside @returns {Generator<NamedFile>} */
function* made_files(FS, folder, not_these, inside = '') {
  for (const name of FS.readdir(folder).sort()) {
    if (name === '.' || name === '..' || not_these.has(inside + name)) continue;
    const path = `${folder}/${name}`;
    const { mode } = FS.lstat(path);
    if (FS.isDir(mode)) yield* made_files(FS, path, not_these, `${inside}${name}/`);
    else if (FS.isFile(mode)) {
      const { contents, usedBytes } = FS.lookupPath(path).node;
      yield { name: inside + name, data: new Blob([contents.subarray(0, usedBytes)]) };
    }
  }
}

/** @param {Answer} answer */
const send = (answer) => self.postMessage(answer);

/** @param {import('./types.js').Job} job */
async function run({ part, module, words, files }) {
  importScripts(`${part}.js`);
  const text = new TextDecoder();
  const program = await makeProgram({
    thisProgram: 'teewire',
    stdin: () => null,
    /** @param {WebAssembly.Imports} imports @param {(instance: WebAssembly.Instance, module: WebAssembly.Module) => void} receive */
    instantiateWasm(imports, receive) {
      void WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
      return {};
    },
  });
  const { FS, WORKERFS, callMain } = program;
  redirect(FS, 1, (output) => send({ output }));
  redirect(FS, 2, (bytes) => send({ message: text.decode(bytes, { stream: true }) }));
  FS.mkdir('/given');
  FS.mkdir('/here');
  FS.chdir('/here');
  const folders = new Set(files.filter(({ name }) => name.includes('/')).map(({ name }) => name.slice(0, name.indexOf('/'))));
  for (const folder of folders) {
    const blobs = files
      .filter(({ name }) => name.startsWith(`${folder}/`))
      .map(({ name, data }) => ({ name: name.slice(folder.length + 1), data }));
    FS.mkdir(`/here/${folder}`);
    FS.mount(WORKERFS, { blobs }, `/here/${folder}`);
  }
  const blobs = files.filter(({ name }) => !name.includes('/'));
  FS.mount(WORKERFS, { blobs }, '/given');
  for (const { name } of blobs) FS.symlink(`/given/${name}`, `/here/${name}`);
  let code = 3;
  try {
    code = callMain(words);
  } catch (error) {
    const status = /** @type {{status?: number}} */ (error).status;
    if (status === undefined) send({ message: `teewire: the program has failed: ${error}\n` });
    else code = status;
  }
  send({ code, files: [...made_files(FS, '/here', folders)] });
}

self.onmessage = ({ data }) => {
  run(data).catch((error) => {
    send({ message: `teewire: the program cannot be started: ${error}\n` });
    send({ code: 3, files: [] });
  });
};
