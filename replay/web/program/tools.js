// The page with the program's commands.
import { ACTIONS, line_of, words_of } from './actions.js';
import { run } from './commands.js';
import { Piece, make_player } from './piece.js';

/** @typedef {import('./types.js').NamedFile} NamedFile */
/** @typedef {import('./actions.js').Action} Action */

const PROGRESS = /^ *\d+% {2}.*\n/gm; // lines of the program
const LONGEST_TEXT = 200_000; // characters that are shown

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(id);
  return found;
}
const at = {
  drop: element('drop', HTMLElement),
  choose: element('choose', HTMLInputElement),
  files: element('files', HTMLUListElement),
  form: element('form', HTMLFormElement),
  action: element('action', HTMLSelectElement),
  fields: element('fields', HTMLDivElement),
  piece: element('piece', HTMLElement),
  others: element('others', HTMLInputElement),
  start: element('start', HTMLButtonElement),
  cancel: element('cancel', HTMLButtonElement),
  line: element('line', HTMLElement),
  results: element('results', HTMLElement),
};
const actions = Object.values(ACTIONS).flat();
const piece = new Piece(at.piece, at.fields);
/** @type {NamedFile[]} */
let files = [];
/** @type {AbortController|null} */
let running = null;

/** @template {keyof HTMLElementTagNameMap} K @param {K} name @param {object} facts @param {(Node|string)[]} inside */
function make(name, facts, ...inside) {
  const made = document.createElement(name);
  Object.assign(made, facts);
  made.append(...inside);
  return made;
}

/** @param {number} bytes */
function size_text(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

// ---- files -----------------------------------------------------------------------------------------------------------

/** @param {string} name */
function free_name(name) {
  const dot = name.lastIndexOf('.') > name.lastIndexOf('/') + 1 ? name.lastIndexOf('.') : name.length;
  for (let n = 1; ; ++n) {
    const candidate = n === 1 ? name : `${name.slice(0, dot)}_${n}${name.slice(dot)}`;
    if (!files.some((file) => file.name === candidate)) return candidate;
  }
}

/** @param {NamedFile} file */
function add({ name, data }) {
  files.push({ name: free_name(name), data });
}

function list_files() {
  at.files.replaceChildren(
    ...files.map((file) => {
      const remove = make('button', { type: 'button', title: `Remove ${file.name}`, ariaLabel: `Remove ${file.name}` }, '×');
      remove.addEventListener('click', () => {
        files = files.filter((other) => other !== file);
        list_files();
        at.choose.focus();
      });
      return make('li', {}, make('span', {}, file.name), make('span', { className: 'size' }, size_text(file.data.size)), remove);
    }),
  );
  show_line();
}

/** Files of a folder that was dropped. @param {FileSystemEntry} entry @returns {Promise<void>} */
async function add_entry(entry) {
  if (entry.isFile) {
    const data = await new Promise((done, fail) => /** @type {FileSystemFileEntry} */ (entry).file(done, fail));
    return add({ name: entry.fullPath.slice(1), data });
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return;
    for (const one of some) await add_entry(one);
  }
}

at.choose.addEventListener('change', () => {
  for (const data of at.choose.files ?? []) add({ name: data.name, data });
  at.choose.value = '';
  list_files();
});
window.addEventListener('dragover', (event) => {
  event.preventDefault();
  at.drop.classList.add('over');
});
window.addEventListener('dragleave', () => at.drop.classList.remove('over'));
window.addEventListener('drop', async (event) => {
  event.preventDefault();
  at.drop.classList.remove('over');
  const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  for (const entry of entries) await add_entry(entry);
  list_files();
});

// ---- what to do ------------------------------------------------------------------------------------------------------

const chosen = () => /** @type {Action} */ (actions[Number(at.action.value)]);

function list_actions() {
  let number = 0;
  for (const [title, some] of Object.entries(ACTIONS)) {
    const group = make('optgroup', { label: title });
    for (const { label } of some) group.append(new Option(label, String(number++)));
    at.action.append(group);
  }
}

function show_fields() {
  at.fields.replaceChildren(
    ...(chosen().fields ?? []).map(({ label, option, hint, choices }) => {
      const field =
        choices === undefined
          ? make('input', { type: 'text', name: option, placeholder: hint ?? '', autocomplete: 'off', spellcheck: false })
          : make('select', { name: option }, ...choices.map((choice) => new Option(choice, choice)));
      return make('label', {}, label, field);
    }),
  );
  show_line();
}

/** The words for some files. @param {string[]} names */
function words(names) {
  /** @type {Record<string, string>} */
  const values = {};
  for (const field of at.fields.querySelectorAll('input, select'))
    if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) values[field.name] = field.value;
  return words_of(chosen(), names, values, at.others.value);
}

/** A command for all files, or one for each. */
function jobs() {
  const given = chosen().together ? [files] : files.map((file) => [file]);
  return given.filter((some) => some.length > 0).map((some) => ({ files: some, words: words(some.map(({ name }) => name)) }));
}

function show_line() {
  const all = jobs();
  at.line.textContent = all.length === 0 ? '' : line_of(all[0]?.words ?? []) + (all.length > 1 ? `  (and for ${all.length - 1} more)` : '');
  at.start.disabled = all.length === 0 || running !== null;
  piece.show(chosen().verb === 'cut' ? (files[0] ?? null) : null);
}

// ---- doing it --------------------------------------------------------------------------------------------------------

/** @param {NamedFile} file */
function link_to({ name, data }) {
  return make('a', { href: URL.createObjectURL(data), download: name.split('/').pop() ?? name }, `${name} (${size_text(data.size)})`);
}

/** @param {string} name */
const is_picture = (name) => name.endsWith('.png');
/** @param {string} name */
const is_recording = (name) => /\.(demo|tda)$/.test(name);

/** A file that was made: a link, and a player for recordings. @param {NamedFile} file @param {HTMLElement} beside */
function made_file(file, beside) {
  if (!is_recording(file.name)) return make('li', {}, link_to(file));
  const watch = make('button', { type: 'button', ariaLabel: `Watch ${file.name}` }, 'Watch');
  watch.addEventListener('click', async () => {
    const player = await make_player();
    // One at a time: browsers have room for few pictures.
    for (const other of at.results.querySelectorAll('teewire-player')) other.remove();
    player.toggleAttribute('autoplay', true);
    beside.append(player);
    await player.open(file.data);
  });
  return make('li', {}, link_to(file), ' ', watch);
}

/** Its line in the queue. Returns what does it. @param {{files: NamedFile[], words: string[]}} job @param {HTMLElement} place @param {AbortSignal} signal */
function show_job(job, place, signal) {
  const state = make('span', { className: 'state' }, 'waiting');
  const messages = make('pre', { hidden: true });
  const title = job.files.length > 3 ? `${job.files.length} files` : job.files.map(({ name }) => name).join(', ');
  const shown = make('article', {}, make('header', {}, make('h2', {}, title), state), messages);
  place.append(shown);
  return async () => {
    if (signal.aborted) return void (state.textContent = 'cancelled');
    state.textContent = 'working';
    let said = '';
    try {
      const outcome = await run({
        words: job.words.toSpliced(job.words.length - job.files.length - 1, 0, '--verbose'),
        files: job.files,
        signal,
        on_message(text) {
          said += text;
          const progress = said.match(PROGRESS)?.pop();
          said = said.replace(PROGRESS, '');
          if (progress !== undefined) state.textContent = `working, ${progress.trim().split(' ')[0]}`;
          messages.textContent = said;
          messages.hidden = said === '';
        },
      });
      state.textContent = { 0: 'done', 1: 'done, with damage', 2: 'cannot be done' }[outcome.code] ?? 'failed';
      shown.dataset.code = String(outcome.code);
      if (outcome.output.size > 0) {
        const text = await outcome.output.slice(0, LONGEST_TEXT).text();
        shown.append(make('pre', { className: 'output', tabIndex: 0 }, text));
        const format = job.words[job.words.indexOf('--format') + 1];
        const ending = { csv: 'csv', ndjson: 'ndjson', srt: 'srt' }[format ?? ''] ?? 'txt';
        shown.append(make('ul', {}, make('li', {}, link_to({ name: `${job.words[0]}.${ending}`, data: outcome.output }))));
      }
      if (outcome.files.length > 0) shown.append(make('ul', {}, ...outcome.files.map((file) => made_file(file, shown))));
      for (const { name, data } of outcome.files.filter((file) => is_picture(file.name)))
        shown.append(make('img', { src: URL.createObjectURL(new Blob([data], { type: 'image/png' })), alt: name }));
    } catch (error) {
      state.textContent = signal.aborted ? 'cancelled' : 'failed';
      if (signal.aborted) return;
      messages.textContent = `${said}${error instanceof Error ? error.message : error}\n`;
      messages.hidden = false;
    }
  };
}

at.form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (running !== null) return;
  running = new AbortController();
  at.cancel.hidden = false;
  show_line();
  const place = make('div', {});
  at.results.prepend(place);
  const waiting = [];
  for (const job of jobs()) waiting.push(show_job(job, place, running.signal));
  for (const start of waiting) await start();
  running = null;
  at.cancel.hidden = true;
  show_line();
});
at.cancel.addEventListener('click', () => running?.abort());
at.action.addEventListener('change', show_fields);
at.form.addEventListener('input', show_line);

// From the second visit on, it needs no network. Where that is not possible, it works all the same.
if ('serviceWorker' in navigator && window.isSecureContext) navigator.serviceWorker.register('offline.js').catch(() => {});
list_actions();
show_fields();
list_files();
