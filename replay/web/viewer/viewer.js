// The page: what it was asked to show, its controls, and the frames.
import { Scene, prepare } from './scene.js';
import { Hud } from './hud.js';
import { LiveShow, is_broadcast, open_bytes, open_demo, started } from './show.js';
import { Playback, SPEEDS, TICKS_PER_SECOND, read_time, time_text } from './playback.js';
import { Timeline } from './timeline.js';
import { EventsPanel } from './events_panel.js';
import { name_in } from './world.js';
import { listen_to_keys, listen_to_pointers } from './controls.js';

/** @import { Actions } from './controls.js' */
/** @import { GameMap } from './teewire.js' */
/** @import { Show } from './show.js' */
/** @import { World } from './world.js' */
/** @import { Moment } from './scene.js' */

const FLY = 900; // units a second
const FREE = -1;
/** If its lag behind a broadcast is longer, it jumps. */
const MOST_BEHIND = 4 * TICKS_PER_SECOND;
const MOST_FILE = 1 << 30;
/** Fragments come each second, or a few at most. */
const SILENCE_MS = 6000;
const SILENT = 'Nothing new comes: the broadcast has stopped or ended. It is shown again when it goes on.';

/**
 * The parts of the page.
 * @typedef {Record<'time'|'line'|'title'|'note'|'message'|'stage'|'events', HTMLElement> &
 *   Record<'play'|'back'|'step'|'live'|'in'|'out'|'list'|'board'|'copy'|'full'|'help', HTMLButtonElement> &
 *   Record<'speed'|'player', HTMLSelectElement> &
 *   {world: HTMLCanvasElement, keys: HTMLDialogElement, file: HTMLInputElement}} Parts
 */
const at = /** @type {Parts} */ (Object.fromEntries(
  [
    'world',
    'play',
    'back',
    'step',
    'time',
    'speed',
    'live',
    'player',
    'in',
    'out',
    'list',
    'board',
    'copy',
    'full',
    'help',
    'keys',
    'line',
    'title',
    'note',
    'message',
    'file',
    'stage',
    'events',
  ].map((id) => [id, document.getElementById(id)]),
));
const playback = new Playback();
/** @type {Show|null} */
let show = null;
/** @type {Scene|null} */
let scene = null;
/** @type {string|null} the folder of a game's */
let pictures = null;
/** @type {number|null} null until there is a player to follow */
let selected = FREE;
/** @type {string|null} */
let wanted_name = null;
let board = false;
let names = true;
let at_edge = true; // of a broadcast
/** @type {string|null} */
let problem = null;
/** @type {Moment|null} */
let last_moment = null;
/** @type {Scene['camera']|null} of a scene whose graphics are lost */
let lost_camera = null;
let link = new URLSearchParams();
let flying = () => ({ x: 0, y: 0 });
const MEASURED = 1024; // frames
/** @type {{frames: number, tees: number, shown_tick: number|null, costs: Float32Array}} */
const stats = { frames: 0, tees: 0, shown_tick: null, costs: new Float32Array(MEASURED) };

/** @param {string} selector */
const in_message = (selector) => /** @type {HTMLElement} */ (at.message.querySelector(selector));

/** @param {string} title @param {string} text */
function tell(title, text, open = false) {
  at.message.hidden = false;
  in_message('h2').textContent = title;
  in_message('p').textContent = text;
  in_message('.open').hidden = !open;
}

/** @type {ReturnType<typeof setTimeout>|undefined} */
let note_timer;
/** @param {string} text */
function note(text, ms = 4000) {
  at.note.textContent = text;
  at.note.hidden = false;
  clearTimeout(note_timer);
  note_timer = setTimeout(() => {
    at.note.hidden = true;
  }, ms);
}

const seconds_now = () => (playback.tick - playback.first) / TICKS_PER_SECOND;

/** @param {boolean} playing */
function set_playing(playing) {
  playback.playing = playing;
  at.play.textContent = playing ? '❚❚' : '▶';
  at.play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
}

/** @param {number} tick */
function seek(tick) {
  if (show === null) return;
  playback.seek(tick);
  at_edge = false;
  show.prepare(playback.tick, 0);
}

/** @param {number} speed */
function set_speed(speed) {
  playback.speed = speed;
  at.speed.value = String(SPEEDS.reduce((a, b) => (Math.abs(b - speed) < Math.abs(a - speed) ? b : a)));
}

/** @param {number} id */
function follow(id) {
  selected = id;
  wanted_name = last_moment === null || id < 0 ? null : (last_moment.before.players.get(id)?.name ?? null);
  at.player.value = String(id);
}

/** The ids of those who can be followed. */
const followable = () => (last_moment === null ? [] : [...last_moment.tees.keys()].sort((a, b) => a - b));

/** @param {number} by */
function follow_next(by) {
  const ids = followable();
  if (ids.length === 0) return;
  const place = ids.indexOf(selected ?? FREE);
  follow(ids[place < 0 ? 0 : (place + by + ids.length) % ids.length]);
}

/** @param {number} by */
async function step(by) {
  set_playing(false);
  at_edge = false;
  if (show === null) return;
  await show.load(playback.tick).catch(() => {});
  const { before, after } = show.neighbours(playback.tick);
  const tick = by < 0 ? before : after;
  if (tick !== null) playback.seek(tick);
  else playback.seek(by < 0 ? playback.first : playback.last);
}

/** @param {number} by */
function to_marker(by) {
  const tick = playback.tick;
  const places = [
    ...(show?.header.markers ?? []),
    ...(show?.events
      .filter(({ kind }) => kind === 'kill' || kind === 'finish' || kind === 'marker')
      .map((event) => event.tick) ?? []),
  ].sort((a, b) => a - b);
  const found =
    by > 0 ? places.find((place) => place > tick + 1) : places.findLast((place) => place < tick - TICKS_PER_SECOND / 2);
  if (found !== undefined) seek(found);
}

const TILE = 32; // units
/** @param {number} units */
const tiles = (units) => (units / TILE).toFixed(1);

/** Camera, zoom and speed, as far as the link has them. @param {Scene} scene */
function look_as_linked(scene) {
  /** @param {string} name @param {number} least @param {number} most */
  const number = (name, least, most) => {
    const value = Number(link.get(name) ?? Number.NaN);
    return Number.isFinite(value) && value > 0 ? Math.min(most, Math.max(least, value)) : null;
  };
  scene.camera.zoom = number('zoom', 0.1, 20) ?? scene.camera.zoom;
  set_speed(number('speed', 0.1, 16) ?? playback.speed);
  const [x, y] = (link.get('at') ?? '').split(',').map(Number);
  if (x === undefined || y === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return;
  selected = FREE;
  scene.camera.x = Math.min(1e6, Math.max(-1e6, x * TILE));
  scene.camera.y = Math.min(1e6, Math.max(-1e6, y * TILE));
}

function moment_link() {
  const url = new URL(location.href);
  const query = new URLSearchParams();
  for (const key of ['demo', 'live']) {
    const value = link.get(key);
    if (value !== null) query.set(key, value);
  }
  query.set('t', time_text(seconds_now(), 1));
  const name = last_moment?.before.players.get(selected ?? FREE)?.name;
  if (name) query.set('player', name);
  else if (selected === FREE && scene !== null) query.set('at', `${tiles(scene.camera.x)},${tiles(scene.camera.y)}`);
  if (scene !== null && Math.abs(scene.camera.zoom - 1) > 0.005) query.set('zoom', scene.camera.zoom.toFixed(2));
  if (playback.speed !== 1) query.set('speed', String(playback.speed));
  url.search = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
  url.hash = '';
  return url.href;
}

async function copy_link() {
  const text = moment_link();
  history.replaceState(null, '', text);
  try {
    await navigator.clipboard.writeText(text);
    note('The link to this moment is copied.');
  } catch {
    note(`The link is in the address line: ${text}`, 8000);
  }
}

/** @type {Actions} */
const actions = {
  play() {
    if (!playback.playing && playback.tick >= playback.last && !show?.live) playback.seek(playback.first);
    set_playing(!playback.playing);
  },
  step_back: () => step(-1),
  step_on: () => step(1),
  jump: (seconds) => seek(playback.tick + seconds * TICKS_PER_SECOND),
  tenth: (n) => seek(playback.first + Math.round(((playback.last - playback.first) * n) / 10)),
  first: () => seek(playback.first),
  last: () => seek(playback.last),
  marker_back: () => to_marker(-1),
  marker_on: () => to_marker(1),
  next: () => follow_next(1),
  previous: () => follow_next(-1),
  free: () => follow(FREE),
  zoom_in: () => scene?.camera.zoom_by(0.85),
  zoom_out: () => scene?.camera.zoom_by(1 / 0.85),
  zoom_off: () => {
    if (scene !== null) scene.camera.zoom = 1;
  },
  faster() {
    playback.change_speed(1);
    set_speed(playback.speed);
  },
  slower() {
    playback.change_speed(-1);
    set_speed(playback.speed);
  },
  copy: copy_link,
  names: () => {
    names = !names;
  },
  help: () => at.keys.showModal(),
  full() {
    // Refused where it was not asked for by a key, the mouse or a finger.
    const done = document.fullscreenElement === null ? document.documentElement.requestFullscreen?.() : document.exitFullscreen();
    done?.catch(() => {});
  },
  board(on) {
    board = on;
    at.board.setAttribute('aria-pressed', String(board));
  },
  toggle_board: () => actions.board(!board),
  toggle_inputs: () => {
    hud.inputs = !hud.inputs;
  },
  toggle_events: () => show_events(at.events.hidden),
  close() {
    actions.board(false);
    show_events(false);
  },
};

/** After a choice with the mouse or a finger, keys are the picture's again. @param {HTMLSelectElement} list */
function give_keys_back(list) {
  let pointed = false;
  list.addEventListener('pointerdown', () => {
    pointed = true;
  });
  list.addEventListener('keydown', () => {
    pointed = false;
  });
  list.addEventListener('change', () => {
    if (pointed) at.world.focus({ preventScroll: true });
    pointed = false;
  });
}

function connect() {
  for (const speed of SPEEDS) at.speed.append(new Option(`${speed}×`, String(speed)));
  set_speed(1);
  at.speed.addEventListener('change', () => {
    playback.speed = Number(at.speed.value);
  });
  at.player.addEventListener('change', () => follow(Number(at.player.value)));
  for (const list of [at.speed, at.player]) give_keys_back(list);
  at.live.addEventListener('click', () => {
    at_edge = true;
    set_playing(true);
  });
  for (const [button, action] of /** @type {const} */ ([
    [at.play, 'play'],
    [at.back, 'step_back'],
    [at.step, 'step_on'],
    [at.in, 'zoom_in'],
    [at.out, 'zoom_out'],
    [at.board, 'toggle_board'],
    [at.list, 'toggle_events'],
    [at.copy, 'copy'],
    [at.full, 'full'],
    [at.help, 'help'],
  ]))
    button.addEventListener('click', () => actions[action]());
  at.full.hidden = !document.fullscreenEnabled;
  document.addEventListener('fullscreenchange', () =>
    at.full.setAttribute('aria-pressed', String(document.fullscreenElement !== null)),
  );
  flying = listen_to_keys(window, at.world, actions);
  survive_loss();
  listen_to_pointers(at.world, {
    move(dx, dy, fingers) {
      if (scene === null) return;
      // Two fingers that zoom keep the player who is followed.
      if (selected !== FREE && fingers > 1) return;
      if (selected !== FREE) follow(FREE);
      const view = scene.camera.view();
      scene.camera.x += dx * view.width;
      scene.camera.y += dy * view.height;
    },
    zoom: (factor) => scene?.camera.zoom_by(factor),
    tap(x, y) {
      at.world.focus({ preventScroll: true });
      if (scene === null || last_moment === null) return;
      const place = scene.camera.world(x, y);
      const near = [...last_moment.tees.values()]
        .map((tee) => ({ id: tee.id, way: Math.hypot(tee.x - place.x, tee.y - place.y) }))
        .sort((a, b) => a.way - b.way)[0];
      if (near !== undefined && near.way < 60 * Math.max(1, scene.camera.zoom)) follow(near.id);
    },
  });
  at.file.addEventListener('change', () => {
    const file = at.file.files?.[0];
    if (file !== undefined) open_file(file);
  });
  window.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) open_file(file);
  });
}

let listed = '';
/** The players that can be followed, in the list of them. @param {World} world */
function list_players(world) {
  const players = [...world.players.values()].filter(({ team }) => team !== -1);
  const key = players.map(({ id, name }) => `${id}${name}`).join('\n');
  if (key === listed || document.activeElement === at.player) return;
  listed = key;
  at.player.replaceChildren(
    new Option('Free camera', String(FREE)),
    ...players.map(({ id, name }) => new Option(name || `#${id}`, String(id))),
  );
  at.player.value = String(selected);
}

/** Finds who is to be followed: by name, as ids change; at first whose recording it is. @param {Moment} moment */
function choose(moment) {
  const { players, viewed, local } = moment.before;
  if (wanted_name !== null && players.get(selected ?? FREE)?.name !== wanted_name) {
    const found = [...players.values()].find(({ name }) => name === wanted_name);
    if (found !== undefined) selected = found.id;
    else if (selected === null) {
      // Until then another player is better than a wall.
      note(`${wanted_name} is not in the game at this moment.`, 8000);
      selected = anyone() ?? FREE;
    }
    list_players(moment.before);
    at.player.value = String(selected);
  } else if (selected === null) {
    const id = anyone();
    if (id === undefined) return;
    list_players(moment.before);
    follow(id);
  }

  function anyone() {
    return [viewed?.spectator_id, local].find((id) => id !== undefined && moment.tees.has(id)) ?? followable()[0];
  }
}

/** @param {Show} shown @param {Moment} moment */
function describe(shown, moment) {
  const name = moment.before.players.get(selected ?? FREE)?.name;
  const following = name ? `, following ${name}` : '';
  const text = `${shown.header.map.name}, ${time_text(seconds_now())}, ${moment.tees.size} tees${following}`;
  if (at.world.getAttribute('aria-label') !== text) at.world.setAttribute('aria-label', text);
}

/** @param {Scene} view @param {number} seconds */
function fly(view, seconds) {
  const { x, y } = flying();
  if (x === 0 && y === 0) return;
  if (selected !== FREE) follow(FREE);
  view.camera.x += x * FLY * view.camera.zoom * seconds;
  view.camera.y += y * FLY * view.camera.zoom * seconds;
}

/** Why the picture stands still. @param {LiveShow} broadcast @param {number} now */
function tell_of_silence(broadcast, now) {
  const silent = at_edge && broadcast.silence(now) > SILENCE_MS;
  const said = !at.note.hidden && at.note.textContent === SILENT;
  if (silent && at.note.hidden) note(SILENT, 2 ** 30);
  else if (!silent && said) at.note.hidden = true;
}

/** A broadcast's clock stays a little behind what is there. @param {LiveShow} broadcast */
function keep_up(broadcast) {
  const edge = broadcast.edge(performance.now());
  const behind = edge - playback.tick;
  if (at_edge && (behind > MOST_BEHIND || behind < -MOST_BEHIND)) playback.tick = Math.max(broadcast.first_tick, edge);
  playback.last = broadcast.last_tick;
  playback.first = broadcast.first_tick;
  return at_edge ? Math.min(1.2, Math.max(0.8, 1 + behind / 400)) : 1;
}

const hud = new Hud(document, follow);
const timeline = new Timeline(at.line, (tick) => seek(tick));
const events_panel = new EventsPanel(at.events, (tick) => seek(tick), () => show_events(false));

/** @param {boolean} on */
function show_events(on) {
  if (at.events.hidden !== on) return;
  at.list.setAttribute('aria-pressed', String(on));
  events_panel.open(on);
  if (!on) at.world.focus({ preventScroll: true });
}
let before_ms = 0;
let described_ms = 0;
let written_ms = 0;
let written_tick = 0;
/** @type {string|null} */
let told_error = null;

/** @param {number} now */
function frame(now) {
  requestAnimationFrame(frame);
  if (show === null || scene === null) return;
  try {
    draw(show, scene, now);
  } catch (error) {
    // Not again in every frame.
    show.close();
    show = null;
    failed(document.title, error);
  }
}

/** @param {Show} show @param {Scene} scene @param {number} now */
function draw(show, scene, now) {
  const began = performance.now();
  const seconds = Math.min(0.25, Math.max(0, (now - before_ms) / 1000));
  before_ms = now;
  const pace = show instanceof LiveShow ? keep_up(show) : 1;
  if (show instanceof LiveShow) tell_of_silence(show, now);
  fly(scene, seconds);
  // Where nothing has been loaded yet, time waits.
  let moment = scene.moment(show, playback.tick);
  if (moment !== null && playback.advance(seconds * pace)) {
    if (!show.live) set_playing(false);
  }
  show.prepare(playback.tick, 4 * TICKS_PER_SECOND * playback.speed);
  moment = scene.moment(show, playback.tick) ?? moment;
  if (moment !== null) {
    last_moment = moment;
    choose(moment);
    const followed = moment.tees.get(selected ?? FREE);
    if (followed !== undefined) {
      scene.camera.x = followed.x;
      scene.camera.y = followed.y;
    }
    scene.draw(show, moment, { names, selected });
    hud.show_inputs(moment.before, selected);
    // Words need not change as often as pictures.
    if (now - written_ms > 100 || Math.abs(moment.tick - written_tick) > 2 * TICKS_PER_SECOND) {
      written_ms = now;
      written_tick = moment.tick;
      hud.update(show, moment, selected, board);
    }
    if (now - described_ms > 1000) {
      described_ms = now;
      list_players(moment.before);
      describe(show, moment);
    }
  }
  const text = `${time_text(seconds_now(), 1)} / ${time_text((playback.last - playback.first) / TICKS_PER_SECOND)}`;
  if (at.time.textContent !== text) at.time.textContent = text;
  events_panel.update(show.events, playback.first, playback.tick, (id) => name_in(last_moment?.before ?? null, id));
  timeline.update(playback, show.events, show.header.markers, events_panel.marked);
  const error = show.error?.message ?? show.trouble?.message ?? show.damage ?? null;
  if (error !== null && error !== told_error) note(`${show.live ? 'The broadcast' : 'The recording'}: ${error}`, 15000);
  told_error = error;
  stats.costs[stats.frames++ % MEASURED] = performance.now() - began;
  stats.tees = moment?.tees.size ?? 0;
  stats.shown_tick = moment?.tick ?? null;
}

let beginnings = 0;
/** @type {GameMap|null} */
let map_shown = null;

/** Browsers take the graphics card away when they need it, and give it back: then everything is made anew. */
function survive_loss() {
  at.world.addEventListener('webglcontextlost', (event) => {
    event.preventDefault(); // so that it comes back
    lost_camera = scene?.camera ?? lost_camera;
    scene = null;
  });
  at.world.addEventListener('webglcontextrestored', async () => {
    try {
      const made = await Scene.open(at.world, pictures);
      if (lost_camera !== null) made.camera = lost_camera;
      await made.load(map_shown, show?.protocol ?? 'ddnet');
      scene = made;
    } catch (error) {
      failed(document.title, error);
    }
  });
}

/** @param {Show} opened */
async function begin(opened) {
  const this_one = ++beginnings;
  show?.close();
  show = null;
  playback.first = opened.first_tick;
  playback.last = opened.last_tick;
  const seconds = read_time(link.get('t') ?? '');
  if (opened instanceof LiveShow) {
    playback.tick = opened.edge(performance.now());
    at_edge = true;
  } else {
    playback.seek(seconds === null ? playback.first : playback.first + seconds * TICKS_PER_SECOND);
  }
  const loaded = opened.load(playback.tick).catch((error) => {
    opened.error = error;
  });
  const mapped = opened.map();
  // It takes a while to make, while the map comes.
  scene ??= await Scene.open(at.world, pictures);
  const { map, problem: why } = await mapped;
  problem = why;
  map_shown = map;
  await scene.load(map, opened.protocol);
  wanted_name = link.get('player');
  selected = null;
  last_moment = null;
  listed = '';
  await loaded;
  if (this_one !== beginnings) return opened.close(); // another was asked for in the meantime
  if (opened.stretches.segments.length === 0) {
    opened.close();
    throw opened.error ?? new Error('there is no snapshot in this recording');
  }
  look_as_linked(scene);
  show = opened;
  at.live.hidden = !opened.live;
  at.message.hidden = true;
  document.title = `${opened.header.map.name || 'teewire'} · teewire`;
  at.title.textContent = document.title;
  if (problem !== null) note(problem, 8000);
  // A link shows its moment, and stays there.
  set_playing(seconds === null || opened.live);
}

/** @param {File} file */
async function open_file(file) {
  try {
    if (file.size > MOST_FILE)
      throw new Error(`${file.name} has ${file.size} bytes; at most ${MOST_FILE} can be opened from here`);
    tell('Opening', file.name);
    link = new URLSearchParams();
    await begin(await open_bytes(new Uint8Array(await file.arrayBuffer())));
  } catch (error) {
    failed(file.name, error);
  }
}

/** @param {string} what @param {unknown} error */
function failed(what, error) {
  set_playing(false);
  tell(`${what} cannot be shown`, /** @type {Error} */ (error).message, true);
}

/** @param {string} url */
async function follow_broadcast(url) {
  tell('Waiting for the broadcast', url);
  /** @param {LiveShow} next */
  const changed = (next) => begin(next).catch((error) => failed(url, error));
  await begin(await LiveShow.open(url, changed));
}

async function listing() {
  try {
    const answer = await fetch('recordings.json');
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

async function main() {
  const answer = listing();
  for (const begun of [started(), prepare()]) begun.catch(() => {}); // reported when it is needed
  connect();
  link = new URLSearchParams(location.search);
  let what = '';
  // The recording is fetched while the page prepares its parts.
  /** @type {ReturnType<typeof open_demo>|null} */
  let opening = null;
  const open = () => {
    what = link.get('live') ?? link.get('demo') ?? '';
    if (opening !== null || what === '' || link.get('live') !== null) return;
    tell('Opening', what);
    opening = open_demo(what, { progress: (part) => tell('Opening', `${what}\n${Math.round(part * 100)} %`) });
    opening.catch(() => {});
  };
  try {
    open();
    const list = await answer;
    if (what === '') {
      if (list?.recordings?.length === 1) link.set('demo', list.recordings[0].path);
      open();
    }
    pictures = list?.data === true ? 'data/' : null;
    // The server sees by this feed that the page is open. Browsers may close one that has no listener.
    if (typeof list?.open === 'string') new EventSource(list.open).onerror = () => {};
    requestAnimationFrame(frame);
    if (link.get('live') !== null) {
      await follow_broadcast(what);
    } else if (opening !== null) {
      await begin(await opening);
    } else if (list?.kind === 'broadcast' && typeof list.live === 'string') {
      what = list.live;
      // The relay that it comes from has everything earlier, if it can be reached from here.
      const from = typeof list.from === 'string' && (await is_broadcast(list.from)) ? list.from : null;
      await follow_broadcast(from ?? list.live);
    } else {
      tell('No recording', 'The address names none. Add ?demo=ADDRESS, or', true);
    }
  } catch (error) {
    failed(what || 'This', error);
  }
}

/** For tests, and for those who want to know. */
globalThis.teewire_viewer = {
  stats,
  seek,
  set_playing,
  set_speed,
  follow,
  moment_link,
  get tick() {
    return playback.tick;
  },
  get show() {
    return show;
  },
  get selected() {
    return selected;
  },
  get moment() {
    return last_moment;
  },
  get camera() {
    return scene?.camera;
  },
  get settled() {
    return scene?.pictures.settled();
  },
};
main();
