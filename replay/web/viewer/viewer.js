// The page: what its address asks for, links to moments, and files that are dropped on it.
import './teewire-player.js';
import { read_time } from './playback.js';

/** @import { TeewirePlayer } from './element.js' */

const REACH_MS = 2000;
const LIST_MS = 5000;
/** The player's attributes, by the names that they have in links. */
const ATTRIBUTES = { ghost: 'ghost', t: 't', player: 'follow', at: 'at', zoom: 'zoom', speed: 'speed' };

const view = /** @type {TeewirePlayer} */ (/** @type {unknown} */ (document.querySelector('teewire-player')));
const player = /** @type {NonNullable<TeewirePlayer['player']>} */ (view.player);
const link = new URLSearchParams(location.search);
let chosen = false; // a file, by the person at the page

function moment_link() {
  const url = new URL(location.href);
  const query = new URLSearchParams();
  for (const key of ['demo', 'live', 'ghost']) {
    const value = link.get(key);
    if (value !== null) query.set(key, value);
  }
  /** @type {Record<string, string|undefined>} */
  const moment = view.moment();
  for (const [key, attribute] of Object.entries(ATTRIBUTES)) {
    const value = moment[attribute];
    if (value !== undefined) query.set(key, value);
  }
  url.search = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
  url.hash = '';
  return url.href;
}

async function copy_link() {
  const text = moment_link();
  history.replaceState(null, '', text);
  try {
    await navigator.clipboard.writeText(text);
    player.note('The link to this moment is copied.');
  } catch {
    player.note(`The link is in the address line: ${text}`, 8000);
  }
}

/** A second one is a ghost's. @param {Iterable<File>} files */
function open_files(files) {
  const [file, ghost] = files;
  if (file === undefined) return;
  for (const key of [...link.keys()]) link.delete(key);
  chosen = true;
  view.removeAttribute('ghost');
  view.toggleAttribute('autoplay', true);
  view.open(file, ghost);
}

/** Shows what the link asks for. @param {'src'|'live'} attribute @param {string} what */
function show(attribute, what) {
  for (const [key, name] of Object.entries(ATTRIBUTES)) {
    const value = link.get(key);
    if (value !== null) view.setAttribute(name, value);
  }
  // A link shows its moment, and stays there.
  view.toggleAttribute('autoplay', read_time(link.get('t') ?? '') === null);
  view.setAttribute(attribute, what);
}

/** Whether there is a broadcast that can be reached from this page. @param {string} url */
async function is_broadcast(url) {
  try {
    const answer = await fetch(new URL('sync', new URL(url, document.baseURI)), { signal: AbortSignal.timeout(REACH_MS) });
    return answer.ok;
  } catch {
    return false;
  }
}

async function listing() {
  try {
    const answer = await fetch('recordings.json', { signal: AbortSignal.timeout(LIST_MS) });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

function connect() {
  view.addEventListener('share', copy_link);
  view.addEventListener('loadeddata', () => {
    document.title = `${player.show?.header.map.name || 'teewire'} · teewire`;
    /** @type {HTMLElement} */ (document.querySelector('h1')).textContent = document.title;
  });
  const input = /** @type {HTMLInputElement} */ (view.querySelector('input'));
  input.addEventListener('change', () => open_files(input.files ?? []));
  window.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    open_files(event.dataTransfer?.files ?? []);
  });
}

async function main() {
  const answer = listing();
  view.data = answer.then((list) => (list?.data === true ? 'data/' : null));
  connect();
  const demo = link.get('demo');
  const live = link.get('live');
  // The recording is fetched while the list is.
  if (live) show('live', live);
  else if (demo) show('src', demo);
  const list = await answer;
  // The server sees by this feed that the page is open. Browsers may close one that has no listener.
  if (typeof list?.open === 'string') new EventSource(list.open).onerror = () => {};
  if (live || demo || chosen) return;
  if (list?.recordings?.length === 1) {
    link.set('demo', list.recordings[0].path);
    show('src', list.recordings[0].path);
  } else if (list?.kind === 'broadcast' && typeof list.live === 'string') {
    // The relay that it comes from has everything earlier, if it can be reached from here.
    const from = typeof list.from === 'string' && (await is_broadcast(list.from)) ? list.from : null;
    if (!chosen) show('live', from ?? list.live);
  } else {
    player.tell('No recording', 'The address names none. Add ?demo=ADDRESS, or', true);
  }
}

/** For tests, and for those who want to know. */
globalThis.teewire_viewer = Object.assign(player, { moment_link });
main();
