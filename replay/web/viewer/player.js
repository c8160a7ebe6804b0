// The player: the picture of a recording or broadcast, its controls, and the frames.
import { Scene, prepare } from './scene.js';
import { Ghost } from './ghost.js';
import { Hud } from './hud.js';
import { LiveShow, started } from './show.js';
import { Playback, SPEEDS, TICKS_PER_SECOND, after, time_text } from './playback.js';
import { Timeline } from './timeline.js';
import { EventsPanel } from './events_panel.js';
import { FREE, Follower } from './follower.js';
import { name_in } from './world.js';
import { listen_to_keys, listen_to_pointers } from './controls.js';
import markup from './player.html';
import style from './player.css';

/** @import { Actions } from './controls.js' */
/** @import { GameMap, Protocol } from './teewire.js' */
/** @import { Show } from './show.js' */
/** @import { Moment } from './scene.js' */

const FLY = 900; // units a second
const TILE = 32; // units
/** If its lag behind a broadcast is longer, it jumps. */
const MOST_BEHIND = 4 * TICKS_PER_SECOND;
/** Fragments come each second, or a few at most. */
const SILENCE_MS = 6000;
const SILENT = 'Nothing new comes: the broadcast has stopped or ended. It is shown again when it goes on.';
const MEASURED = 1024; // frames
/** Graphics that do not come back so soon will not. */
const LOST_MS = 3000;
/** A recording whose first moment has come is shown without its map, if that takes longer. */
const MAP_PATIENCE_MS = 200;

const PARTS = [
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
  'share',
  'share_key',
  'full',
  'help',
  'keys',
  'line',
  'note',
  'message',
  'stage',
  'events',
];
/**
 * The parts of a player.
 * @typedef {Record<'time'|'line'|'note'|'message'|'stage'|'events'|'share_key', HTMLElement> &
 *   Record<'play'|'back'|'step'|'live'|'in'|'out'|'list'|'board'|'share'|'full'|'help', HTMLButtonElement> &
 *   Record<'speed'|'player', HTMLSelectElement> &
 *   {world: HTMLCanvasElement, keys: HTMLDialogElement}} Parts
 */
/**
 * What is shown at first: where in the recording, in seconds; who is followed; a place in tiles, in place of that; how
 * much of the world; how fast; whether it plays.
 * @typedef {{seconds?: number|null, name?: string|null, at?: [number, number]|null, zoom?: number|null, speed?: number|null,
 *   playing?: boolean}} Look
 */
/**
 * Of the element that the player is in.
 * @typedef {{page_keys: boolean, share: (() => void)|null, pictures: () => string|null|Promise<string|null>,
 *   emit: (type: string, detail?: unknown) => void}} Options
 */

let sheet = /** @type {CSSStyleSheet|null} */ (null);
/** One for all players. */
function style_sheet() {
  if (sheet === null) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
  }
  return sheet;
}

/** @param {number} value @param {number} least @param {number} most */
const within = (value, least, most) => Math.min(most, Math.max(least, value));

export class Player {
  playback = new Playback();
  /** @type {Show|null} */
  show = null;
  /** What is shown now. @type {Moment|null} */
  moment = null;
  /** @type {{frames: number, tees: number, shown_tick: number|null, costs: Float32Array}} */
  stats = { frames: 0, tees: 0, shown_tick: null, costs: new Float32Array(MEASURED) };
  root;
  #host;
  #options;
  #at;
  #follower;
  #hud;
  #timeline;
  #events;
  #flying;
  #closed = new AbortController();
  /** @type {Scene|null} */
  #scene = null;
  /** Of a scene whose graphics are lost. @type {Scene['camera']|null} */
  #lost_camera = null;
  /** @type {GameMap|null} */
  #map = null;
  /** @type {Protocol} */
  #protocol = 'ddnet';
  /** Asked for before it is open. @type {Look} */
  #wished = {};
  /** When the map is there. @type {Promise<void>} */
  #complete = Promise.resolve();
  /** @type {Ghost|null} */
  #ghost = null;
  #racing = new AbortController();
  #board = false;
  #names = true;
  #at_edge = true; // of a broadcast
  #visible = true;
  #beginnings = 0;
  #before_ms = 0;
  #described_ms = 0;
  #written_ms = 0;
  #written_tick = 0;
  #emitted_ms = 0;
  /** @type {string|null} */
  #emitted_name = null;
  /** @type {string|null} */
  #noted_error = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #note_timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #lost_timer;

  /** @param {ShadowRoot} root that gets the parts of the player @param {Options} options */
  constructor(root, options) {
    for (const begun of [started(), prepare()]) begun.catch(() => {}); // reported when it is needed
    this.root = root;
    this.#host = root.host;
    this.#options = options;
    root.adoptedStyleSheets = [style_sheet()];
    root.innerHTML = markup;
    const at = /** @type {Parts} */ (Object.fromEntries(PARTS.map((id) => [id, root.getElementById(id)])));
    this.#at = at;
    this.#follower = new Follower(at.player);
    this.#hud = new Hud(root, (id) => this.follow(id));
    this.#timeline = new Timeline(at.line, (tick) => this.seek(tick));
    this.#events = new EventsPanel(
      at.events,
      (tick) => this.seek(tick),
      () => this.#show_events(false),
    );
    this.#flying = this.#connect();
    requestAnimationFrame(this.#frame);
  }

  /** Ends all of it. */
  close() {
    this.unload();
    this.race_against('', null);
    this.#closed.abort();
    // Browsers have room for few pictures at a time.
    if (this.#scene !== null) this.#at.world.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext();
  }

  /** Ends what is shown. Its last picture stays until the next. */
  unload() {
    this.#end_show();
    this.#wished = {};
    this.#at.note.hidden = true;
  }

  /** Shows nothing. */
  clear() {
    this.unload();
    this.#at.message.hidden = true;
    this.#at.world.hidden = true;
  }

  #end_show() {
    ++this.#beginnings;
    this.#ghost?.begin();
    this.show?.close();
    this.show = null;
    this.moment = null;
    this.#follower.begin(null);
  }

  get tick() {
    return this.playback.tick;
  }

  get camera() {
    return this.#scene?.camera;
  }

  get playing() {
    return this.playback.playing;
  }

  /** When the map and all pictures that are needed so far are there. */
  get settled() {
    return this.#complete.then(async () => {
      await this.#scene?.complete;
      await this.#scene?.pictures.settled();
    });
  }

  /** From the beginning of the recording. */
  get seconds() {
    return (this.playback.tick - this.playback.first) / TICKS_PER_SECOND;
  }

  /** Of the recording, in seconds. */
  get duration() {
    return (this.playback.last - this.playback.first) / TICKS_PER_SECOND;
  }

  /** The id of the client who is followed, -1 for nobody; null until there is one. */
  get selected() {
    return this.#follower.selected;
  }

  /** The name of the player who is followed. */
  get followed() {
    return this.#follower.name;
  }

  /** Of the players who are in the game. */
  get player_names() {
    return this.#follower.names;
  }

  /** What is shown now, so that it can be shown again. @returns {Look} */
  look() {
    const camera = this.#scene?.camera;
    const name = this.followed;
    return {
      seconds: this.seconds,
      name,
      at: name === null && this.selected === FREE && camera ? [camera.x / TILE, camera.y / TILE] : null,
      zoom: camera && Math.abs(camera.zoom - 1) > 0.005 ? camera.zoom : null,
      speed: this.playback.speed !== 1 ? this.playback.speed : null,
      playing: this.playing,
    };
  }

  /** @param {string} title @param {string} text */
  tell(title, text, failed = false) {
    const { message } = this.#at;
    message.hidden = false;
    message.classList.toggle('failed', failed);
    /** @type {HTMLElement} */ (message.querySelector('h2')).textContent = title;
    /** @type {HTMLElement} */ (message.querySelector('p')).textContent = text;
  }

  /** @param {string} what @param {unknown} error */
  failed(what, error) {
    const { message } = /** @type {Error} */ (error);
    this.set_playing(false);
    this.tell(`${what} cannot be shown`, message, true);
    this.#options.emit('error', { message });
  }

  /** @param {string} text */
  note(text, ms = 4000) {
    const { note } = this.#at;
    note.textContent = text;
    note.hidden = false;
    clearTimeout(this.#note_timer);
    this.#note_timer = setTimeout(() => {
      note.hidden = true;
    }, ms);
  }

  /** @param {boolean} playing */
  set_playing(playing) {
    const { play } = this.#at;
    if (this.playback.playing !== playing) this.#options.emit(playing ? 'play' : 'pause');
    this.playback.playing = playing;
    play.textContent = playing ? '❚❚' : '▶';
    play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
  }

  /** Plays, from the beginning where it was at the end. */
  play() {
    const { playback, show } = this;
    if (show === null) {
      this.#wished.playing = true;
      return;
    }
    if (!playback.playing && playback.tick >= playback.last && !show.live) playback.seek(playback.first);
    this.set_playing(true);
  }

  pause() {
    if (this.show === null) this.#wished.playing = false;
    else this.set_playing(false);
  }

  /** @param {number} tick */
  seek(tick) {
    if (this.show === null) return;
    this.playback.seek(tick);
    this.#at_edge = false;
    this.show.prepare(this.playback.tick, 0);
    this.#options.emit('seeked');
  }

  /** @param {number} seconds from the beginning */
  seek_seconds(seconds) {
    if (this.show === null) this.#wished.seconds = seconds;
    this.seek(this.playback.first + seconds * TICKS_PER_SECOND);
  }

  /** @param {number} speed */
  set_speed(speed) {
    const { playback } = this;
    if (playback.speed !== speed) this.#options.emit('ratechange');
    playback.speed = speed;
    this.#at.speed.value = String(SPEEDS.reduce((a, b) => (Math.abs(b - speed) < Math.abs(a - speed) ? b : a)));
  }

  /** @param {number} id of a client */
  follow(id) {
    this.#follower.follow(id);
  }

  /** @param {string|null} name null: nobody, the camera flies freely */
  follow_name(name) {
    if (this.show === null) this.#wished.name = name;
    else this.#follower.follow_name(name);
  }

  /** @param {number} by */
  async #step(by) {
    const { playback, show } = this;
    this.set_playing(false);
    this.#at_edge = false;
    if (show === null) return;
    await show.load(playback.tick).catch(() => {});
    const { before, after } = show.neighbours(playback.tick);
    const tick = by < 0 ? before : after;
    if (tick !== null) playback.seek(tick);
    else playback.seek(by < 0 ? playback.first : playback.last);
  }

  /** @param {number} by */
  #to_marker(by) {
    const { tick } = this.playback;
    const places = [
      ...(this.show?.header.markers ?? []),
      ...(this.show?.events
        .filter(({ kind }) => kind === 'kill' || kind === 'finish' || kind === 'marker')
        .map((event) => event.tick) ?? []),
    ].sort((a, b) => a - b);
    const found =
      by > 0 ? places.find((place) => place > tick + 1) : places.findLast((place) => place < tick - TICKS_PER_SECOND / 2);
    if (found !== undefined) this.seek(found);
  }

  /** @param {boolean} on */
  #show_events(on) {
    const { events, list, world } = this.#at;
    if (events.hidden !== on) return;
    list.setAttribute('aria-pressed', String(on));
    this.#events.open(on);
    if (!on) world.focus({ preventScroll: true });
  }

  /** @returns {Actions} */
  #actions() {
    const { playback } = this;
    const at = this.#at;
    /** @type {Actions} */
    const actions = {
      play: () => (playback.playing ? this.pause() : this.play()),
      step_back: () => this.#step(-1),
      step_on: () => this.#step(1),
      jump: (seconds) => this.seek(playback.tick + seconds * TICKS_PER_SECOND),
      tenth: (n) => this.seek(playback.first + Math.round(((playback.last - playback.first) * n) / 10)),
      first: () => this.seek(playback.first),
      last: () => this.seek(playback.last),
      marker_back: () => this.#to_marker(-1),
      marker_on: () => this.#to_marker(1),
      next: () => this.#follower.follow_next(1),
      previous: () => this.#follower.follow_next(-1),
      free: () => this.follow(FREE),
      zoom_in: () => this.camera?.zoom_by(0.85),
      zoom_out: () => this.camera?.zoom_by(1 / 0.85),
      zoom_off: () => {
        if (this.camera) this.camera.zoom = 1;
      },
      faster: () => this.set_speed(playback.beside(1)),
      slower: () => this.set_speed(playback.beside(-1)),
      share: () => this.#options.share?.(),
      names: () => {
        this.#names = !this.#names;
      },
      help: () => at.keys.showModal(),
      full: () => {
        // Refused where it was not asked for by a key, the mouse or a finger.
        const done = document.fullscreenElement === null ? this.#host.requestFullscreen?.() : document.exitFullscreen();
        done?.catch(() => {});
      },
      board: (on) => {
        this.#board = on;
        at.board.setAttribute('aria-pressed', String(on));
      },
      toggle_board: () => actions.board(!this.#board),
      toggle_inputs: () => {
        this.#hud.inputs = !this.#hud.inputs;
      },
      toggle_events: () => this.#show_events(at.events.hidden),
      close: () => {
        actions.board(false);
        this.#show_events(false);
      },
    };
    return actions;
  }

  /** After a choice with the mouse or a finger, keys are the picture's again. @param {HTMLSelectElement} list */
  #give_keys_back(list) {
    let pointed = false;
    list.addEventListener('pointerdown', () => {
      pointed = true;
    });
    list.addEventListener('keydown', () => {
      pointed = false;
    });
    list.addEventListener('change', () => {
      if (pointed) this.#at.world.focus({ preventScroll: true });
      pointed = false;
    });
  }

  /** Makes the controls work. Gives what tells in which direction keys fly. */
  #connect() {
    const at = this.#at;
    const { signal } = this.#closed;
    const actions = this.#actions();
    for (const speed of SPEEDS) at.speed.append(new Option(`${speed}×`, String(speed)));
    this.set_speed(1);
    at.speed.addEventListener('change', () => this.set_speed(Number(at.speed.value)));
    for (const list of [at.speed, at.player]) this.#give_keys_back(list);
    at.live.addEventListener('click', () => {
      this.#at_edge = true;
      this.set_playing(true);
    });
    for (const [button, action] of /** @type {const} */ ([
      [at.play, 'play'],
      [at.back, 'step_back'],
      [at.step, 'step_on'],
      [at.in, 'zoom_in'],
      [at.out, 'zoom_out'],
      [at.board, 'toggle_board'],
      [at.list, 'toggle_events'],
      [at.share, 'share'],
      [at.full, 'full'],
      [at.help, 'help'],
    ]))
      button.addEventListener('click', () => actions[action]());
    at.share.hidden = at.share_key.hidden = this.#options.share === null;
    at.full.hidden = !document.fullscreenEnabled;
    document.addEventListener(
      'fullscreenchange',
      () => at.full.setAttribute('aria-pressed', String(document.fullscreenElement !== null)),
      { signal },
    );
    new IntersectionObserver((seen) => {
      this.#visible = seen.at(-1)?.isIntersecting ?? true;
    }).observe(at.stage);
    this.#survive_loss();
    this.#listen_to_pointers(actions);
    return listen_to_keys(this.#options.page_keys ? window : this.#host, at.world, actions, signal);
  }

  /** @param {Actions} actions */
  #listen_to_pointers(actions) {
    const { world } = this.#at;
    listen_to_pointers(world, {
      move: (dx, dy, fingers) => {
        const { camera } = this;
        if (!camera) return;
        // Two fingers that zoom keep the player who is followed.
        if (this.selected !== FREE && fingers > 1) return;
        if (this.selected !== FREE) this.follow(FREE);
        const view = camera.view();
        camera.x += dx * view.width;
        camera.y += dy * view.height;
      },
      zoom: (factor) => this.camera?.zoom_by(factor),
      // As on video sites.
      double_tap: (x, mouse) => {
        if (mouse) actions.full();
        else if (x < 1 / 3) actions.jump(-5);
        else if (x > 2 / 3) actions.jump(5);
        else actions.play();
      },
      tap: (x, y) => {
        const { camera, moment } = this;
        world.focus({ preventScroll: true });
        if (!camera || moment === null) return;
        const place = camera.world(x, y);
        const near = [...moment.tees.values()]
          .map((tee) => ({ id: tee.id, way: Math.hypot(tee.x - place.x, tee.y - place.y) }))
          .sort((a, b) => a.way - b.way)[0];
        if (near !== undefined && near.way < 60 * Math.max(1, camera.zoom)) this.follow(near.id);
      },
    });
  }

  /** Browsers take the graphics card away when they need it, and give it back: then everything is made anew. */
  #survive_loss() {
    const { world } = this.#at;
    world.addEventListener('webglcontextlost', (event) => {
      if (this.#closed.signal.aborted) return;
      event.preventDefault(); // so that it comes back
      this.#lost_camera = this.#scene?.camera ?? this.#lost_camera;
      this.#scene = null;
      this.#lost_timer = setTimeout(() => this.note('The browser has taken this picture away, as it has too many.', 2 ** 30), LOST_MS);
    });
    world.addEventListener('webglcontextrestored', async () => {
      try {
        const made = await Scene.open(world, await this.#options.pictures());
        clearTimeout(this.#lost_timer);
        if (this.#lost_camera !== null) made.camera = this.#lost_camera;
        let map;
        do {
          map = this.#map;
          await made.load(map, this.#protocol);
        } while (map !== this.#map); // another recording was opened meanwhile
        this.#scene = made;
      } catch (error) {
        this.failed('The picture', error);
      }
    });
  }

  /** Shows what was opened. The promise is kept when its first moment is there. @param {Show} opened @param {Look} look */
  async begin(opened, look) {
    this.#end_show();
    const this_one = this.#beginnings;
    const { playback } = this;
    const { seconds } = { ...look, ...this.#wished };
    playback.first = opened.first_tick;
    playback.last = opened.last_tick;
    if (opened instanceof LiveShow) {
      playback.tick = opened.edge(performance.now());
      this.#at_edge = true;
    } else {
      playback.seek(playback.first + (seconds ?? 0) * TICKS_PER_SECOND);
    }
    const loaded = opened.load(playback.tick).catch((error) => {
      opened.error = error;
    });
    const mapped = opened.map();
    // It takes a while to make, while the map comes.
    this.#scene ??= await Scene.open(this.#at.world, await this.#options.pictures());
    const early = await Promise.race([mapped, loaded.then(() => after(MAP_PATIENCE_MS))]);
    if (this_one !== this.#beginnings) return opened.close(); // another was asked for in the meantime
    this.#map = early?.map ?? null;
    this.#protocol = opened.protocol;
    await this.#scene?.load(this.#map, this.#protocol);
    await loaded;
    if (this_one !== this.#beginnings) return opened.close();
    if (opened.stretches.segments.length === 0) {
      opened.close();
      throw opened.error ?? new Error('there is no snapshot in this recording');
    }
    this.show = opened;
    const wanted = { ...look, ...this.#wished };
    this.#take_look(wanted, seconds);
    this.#at.live.hidden = !opened.live;
    this.#at.message.hidden = true;
    this.#at.world.hidden = false;
    this.#options.emit('loadeddata', { map: opened.header.map.name, first_tick: opened.first_tick, last_tick: opened.last_tick });
    this.set_playing((wanted.playing ?? true) || opened.live);
    this.#complete = this.#take_late_map(mapped, early?.map ?? null, this_one);
    this.#complete.catch((error) => this.note(`map: ${error.message}`, 8000));
  }

  /** @param {ReturnType<Show['map']>} mapped @param {GameMap|null} early that is shown already @param {number} beginning */
  async #take_late_map(mapped, early, beginning) {
    const { map, problem } = await mapped;
    if (beginning !== this.#beginnings) return;
    if (problem !== null) this.note(problem, 8000);
    if (map === early) return;
    this.#map = map;
    await this.#scene?.load(map, this.#protocol);
  }

  /**
   * Shows the player of another recording, too, who runs the same race.
   * @param {string} what @param {((signal: AbortSignal) => Promise<Show>)|null} open null ends the race
   */
  async race_against(what, open) {
    this.#racing.abort(); // another is wanted
    this.#racing = new AbortController();
    const { signal } = this.#racing;
    this.#ghost?.close();
    this.#ghost = null;
    if (open === null) return;
    try {
      const ghost = await Ghost.of(await open(signal), signal);
      if (signal.aborted) return ghost.close();
      this.#ghost = ghost;
    } catch (error) {
      if (!signal.aborted) this.note(`${what}: ${/** @type {Error} */ (error).message}`, 15000);
    }
  }

  /** @param {Look} look @param {number|null|undefined} loaded seconds that have been loaded */
  #take_look({ seconds, name, at, zoom, speed }, loaded) {
    this.#follower.begin(name ?? null);
    if (typeof seconds === 'number' && seconds !== loaded) this.seek_seconds(seconds);
    if (speed) this.set_speed(within(speed, 0.1, 16));
    const view = this.camera ?? this.#lost_camera;
    if (zoom && view) view.zoom = within(zoom, 0.1, 20);
    if (at && view) {
      this.follow(FREE);
      view.x = within(at[0] * TILE, -1e6, 1e6);
      view.y = within(at[1] * TILE, -1e6, 1e6);
    }
  }

  /** @param {Show} shown @param {Moment} moment */
  #describe(shown, moment) {
    const { world } = this.#at;
    const following = this.followed ? `, following ${this.followed}` : '';
    const text = `${shown.header.map.name}, ${time_text(this.seconds)}, ${moment.tees.size} tees${following}`;
    if (world.getAttribute('aria-label') !== text) world.setAttribute('aria-label', text);
  }

  /** @param {Scene} scene @param {number} seconds */
  #fly({ camera }, seconds) {
    const { x, y } = this.#flying();
    if (x === 0 && y === 0) return;
    if (this.selected !== FREE) this.follow(FREE);
    camera.x += x * FLY * camera.zoom * seconds;
    camera.y += y * FLY * camera.zoom * seconds;
  }

  /** Why the picture stands still. @param {LiveShow} broadcast @param {number} now */
  #note_silence(broadcast, now) {
    const { note } = this.#at;
    const silent = this.#at_edge && broadcast.silence(now) > SILENCE_MS;
    const said = !note.hidden && note.textContent === SILENT;
    if (silent && note.hidden) this.note(SILENT, 2 ** 30);
    else if (!silent && said) note.hidden = true;
  }

  /** A broadcast's clock stays a little behind what is there. @param {LiveShow} broadcast */
  #keep_up(broadcast) {
    const { playback } = this;
    const edge = broadcast.edge(performance.now());
    const behind = edge - playback.tick;
    if (this.#at_edge && Math.abs(behind) > MOST_BEHIND) playback.tick = Math.max(broadcast.first_tick, edge);
    playback.last = broadcast.last_tick;
    playback.first = broadcast.first_tick;
    return this.#at_edge ? within(1 + behind / 400, 0.8, 1.2) : 1;
  }

  /** @param {number} now */
  #frame = (now) => {
    if (this.#closed.signal.aborted) return;
    requestAnimationFrame(this.#frame);
    if (this.show === null || this.#scene === null) return;
    try {
      this.#draw(this.show, this.#scene, now);
    } catch (error) {
      this.unload(); // not again in every frame
      this.failed('The recording', error);
    }
  };

  /** @param {Show} show @param {Scene} scene @param {number} now */
  #draw(show, scene, now) {
    const began = performance.now();
    const { playback, stats } = this;
    const seconds = within((now - this.#before_ms) / 1000, 0, 0.25);
    this.#before_ms = now;
    const pace = show instanceof LiveShow ? this.#keep_up(show) : 1;
    if (show instanceof LiveShow) this.#note_silence(show, now);
    this.#fly(scene, seconds);
    // Where nothing has been loaded yet, time waits.
    let moment = scene.moment(show, playback.tick);
    if (moment !== null && playback.advance(seconds * pace) && !show.live) {
      this.set_playing(false);
      this.#options.emit('ended');
    }
    show.prepare(playback.tick, 4 * TICKS_PER_SECOND * playback.speed);
    moment = scene.moment(show, playback.tick) ?? moment;
    if (moment !== null) {
      this.moment = moment;
      const missing = this.#follower.take(moment);
      if (missing !== null) this.note(`${missing} is not in the game at this moment.`, 8000);
      if (this.followed !== this.#emitted_name) this.#options.emit('follow', { name: (this.#emitted_name = this.followed) });
      if (this.#visible) this.#draw_moment(show, scene, moment, now);
    }
    this.#write(show, now);
    stats.costs[stats.frames++ % MEASURED] = performance.now() - began;
    stats.tees = moment?.tees.size ?? 0;
    stats.shown_tick = moment?.tick ?? null;
  }

  /** @param {Show} show @param {Scene} scene @param {Moment} moment @param {number} now */
  #draw_moment(show, scene, moment, now) {
    const { selected } = this;
    const followed = moment.tees.get(selected ?? FREE);
    if (followed !== undefined) {
      scene.camera.x = followed.x;
      scene.camera.y = followed.y;
    }
    scene.draw(show, moment, { names: this.#names, selected, ghost: this.#ghost });
    this.#hud.show_inputs(moment.before, selected);
    // Words need not change as often as pictures.
    if (now - this.#written_ms > 100 || Math.abs(moment.tick - this.#written_tick) > 2 * TICKS_PER_SECOND) {
      this.#written_ms = now;
      this.#written_tick = moment.tick;
      this.#hud.update(show, moment, selected, this.#board);
    }
    if (now - this.#described_ms > 1000) {
      this.#described_ms = now;
      this.#follower.list(moment.before);
      this.#describe(show, moment);
    }
  }

  /** What is below the picture, and what went wrong. @param {Show} show @param {number} now */
  #write(show, now) {
    const { playback, moment } = this;
    const { time } = this.#at;
    const text = `${time_text(this.seconds, 1)} / ${time_text(this.duration)}`;
    if (time.textContent !== text) {
      time.textContent = text;
      if (now - this.#emitted_ms > 200) {
        this.#emitted_ms = now;
        this.#options.emit('timeupdate');
      }
    }
    this.#events.update(show.events, playback.first, playback.tick, (id) => name_in(moment?.before ?? null, id));
    this.#timeline.update(playback, show.events, show.header.markers, this.#events.marked);
    const error = show.error?.message ?? show.trouble?.message ?? show.damage ?? null;
    if (error !== null && error !== this.#noted_error) this.note(`${show.live ? 'The broadcast' : 'The recording'}: ${error}`, 15000);
    if (error === null && this.#noted_error !== null && this.#at.note.textContent?.endsWith(this.#noted_error)) this.#at.note.hidden = true;
    this.#noted_error = error;
  }
}
