// Text over the picture: chat, kills, clock, scores.
import { WEAPONS, event_text, weapon_of } from './event_text.js';
import { time_text } from './playback.js';
import { name_in } from './world.js';

/** @import { GameEvent, Show } from './show.js' */
/** @import { Player, World } from './world.js' */
/** @import { Moment } from './scene.js' */

const CHAT_TICKS = 600;
const KILL_TICKS = 400;
const SPLIT_TICKS = 150;
const MOST_LINES = 9;
/** @type {Record<number, string|undefined>} */
const TEAMS = { 0: 'red', 1: 'blue' };

/** @template {keyof HTMLElementTagNameMap} T @param {T} name @param {string|number} text */
function element(name, text = '', type = '') {
  const made = document.createElement(name);
  made.textContent = String(text);
  if (type !== '') made.className = type;
  return made;
}

/**
 * Replaces what is in `parent` only if `key` differs from the last one.
 * @param {HTMLElement} parent @param {string} key @param {() => HTMLElement[]} children
 */
function show(parent, key, children) {
  if (parent.dataset.key === key) return;
  parent.dataset.key = key;
  parent.replaceChildren(...children());
}

export class Hud {
  /** Whether keys and speed are shown. */
  inputs = false;
  /** @type {Record<'chat'|'kills'|'clock'|'body'|'scores'|'inputs', HTMLElement>} */
  #at;

  /** @param {ShadowRoot} root of the player @param {(id: number) => void} follow */
  constructor(root, follow) {
    /** @param {string} id */
    const at = (id) => /** @type {HTMLElement} */ (root.getElementById(id));
    this.#at = { chat: at('chat'), kills: at('kills'), clock: at('clock'), body: at('body'), scores: at('scores'), inputs: at('inputs') };
    this.#at.scores.addEventListener('click', (event) => {
      const id = /** @type {Element} */ (event.target).closest('button')?.dataset.id;
      if (id !== undefined) follow(Number(id));
    });
  }

  /** @param {Show} show_ @param {Moment} moment @param {number|null} selected @param {boolean} board */
  update(show_, moment, selected, board) {
    const world = moment.before;
    this.#chat(show_.events_between(moment.tick - CHAT_TICKS, moment.tick), world);
    this.#kills(show_.events_between(moment.tick - KILL_TICKS, moment.tick));
    this.#clock(world, moment.tick, show_.split(moment.tick, SPLIT_TICKS));
    this.#body(world, selected);
    this.#at.scores.hidden = !board;
    if (board) this.#scores(world, selected);
  }

  /** @param {GameEvent[]} events @param {World} world */
  #chat(events, world) {
    // A server that says who has finished need not be repeated.
    const said = new Set(events.filter(({ kind }) => kind === 'server_message').map(({ text }) => text));
    const lines = events
      .filter(
        ({ kind, text }) =>
          ['chat', 'team_chat', 'server_message'].includes(kind) || (kind === 'finish' && !said.has(text)),
      )
      .slice(-MOST_LINES);
    show(this.#at.chat, lines.map(({ tick, text, client }) => `${tick}${client}${text}`).join('\n'), () =>
      lines.map((line) => {
        const text = event_text(line, (id) => name_in(world, id));
        if (line.kind === 'finish') return element('div', `*** ${text}`, 'server');
        return element('div', text, { server_message: 'server', team_chat: 'team' }[line.kind] ?? '');
      }),
    );
  }

  /** @param {GameEvent[]} events */
  #kills(events) {
    const lines = events.filter(({ kind }) => kind === 'kill').slice(-5);
    show(this.#at.kills, lines.map(({ tick, client, target }) => `${tick}${client}${target}`).join('\n'), () =>
      lines.map((line) => {
        const made = element('div', event_text(line, () => ''));
        const weapon = weapon_of(line);
        if (weapon !== undefined) made.append(' ', element('small', weapon));
        return made;
      }),
    );
  }

  /** @param {World} world @param {number} tick @param {ReturnType<Show['split']>} split */
  #clock(world, tick, split) {
    const { game } = world;
    let seconds = (tick - game.begin) / 50;
    let text = '';
    if (game.race_start !== null) text = time_text((tick - game.race_start) / 50, 1);
    else if (game.warmup > 0) text = `Warmup ${Math.ceil(game.warmup / 50)}`;
    else {
      if (game.time_limit > 0) seconds = game.time_limit * 60 - seconds;
      if (seconds >= 0 && seconds < 1e6) text = time_text(seconds);
    }
    if (game.sudden_death) text = 'Sudden death';
    if (game.paused) text = 'Paused';
    if (game.over) text = 'Game over';
    const scores = game.teams ? `${game.red}:${game.blue}` : '';
    const time = split === null || split.time === null ? '' : `${time_text(split.time, 2)} `;
    const passed = split === null ? '' : `${time}(${split.difference < 0 ? '−' : '+'}${Math.abs(split.difference).toFixed(2)})`;
    show(this.#at.clock, `${text}|${scores}|${passed}`, () => {
      const parts = [element('div', text)];
      if (split !== null) parts.push(element('div', passed, split.difference < 0 ? 'split faster' : 'split'));
      if (game.teams) {
        const line = element('div', '', 'score');
        line.append(element('span', game.red, 'red'), ' : ', element('span', game.blue, 'blue'));
        parts.push(line);
      }
      return parts;
    });
  }

  /** @param {World} world @param {number|null} selected */
  #body(world, selected) {
    const character = world.characters.get(selected ?? -1);
    const player = world.players.get(selected ?? -1);
    const race = player !== undefined && player.race_start > 0 ? ` · ${time_text((world.tick - player.race_start) / 50, 1)}` : '';
    const text =
      character === undefined || world.game.times
        ? race.slice(3)
        : `♥ ${character.health}  ◆ ${character.armor}${character.weapon > 0 && character.weapon < 5 ? `  ${WEAPONS[character.weapon]} ${character.ammo_count}` : ''}${race}`;
    show(this.#at.body, text, () => [element('span', text)]);
  }

  /** The keys that the player presses, as far as the tee shows it. @param {World} world @param {number|null} selected */
  show_inputs(world, selected) {
    const character = world.characters.get(selected ?? -1);
    this.#at.inputs.hidden = !this.inputs || character === undefined;
    if (!this.inputs || character === undefined) return;
    const { direction, jumped, hook_state, attack_tick, vel_x, vel_y } = character;
    const attacked = world.tick - attack_tick;
    /** @type {[string, boolean][]} */
    const keys = [
      ['left', direction < 0],
      ['right', direction > 0],
      ['jump', (jumped & 1) !== 0],
      ['hook', hook_state !== 0],
      ['fire', attack_tick > 0 && attacked >= 0 && attacked < 6],
    ];
    const speed = (Math.hypot(vel_x, vel_y) / 256 / 32) * 50;
    show(this.#at.inputs, JSON.stringify([keys, speed.toFixed(1)]), () => [
      ...keys.map(([name, down]) => element('kbd', name, down ? 'down' : '')),
      element('output', `${speed.toFixed(1)} tiles/s`),
    ]);
  }

  /** @param {World} world @param {number|null} selected */
  #scores(world, selected) {
    const { game } = world;
    const players = [...world.players.values()].sort(
      (a, b) => Number(a.team === -1) - Number(b.team === -1) || (game.teams ? a.team - b.team : 0) || b.score - a.score,
    );
    /** @param {Player} player */
    const score = (player) => {
      if (!game.times) return player.team === -1 ? '' : player.score;
      const seconds = world.seven ? player.score / 1000 : Math.abs(player.score);
      return player.score === -9999 || player.score === -1 ? '' : time_text(seconds, world.seven ? 3 : 0);
    };
    const rows = players.map((player) => ({
      id: player.id,
      points: score(player),
      name: player.name,
      clan: player.clan,
      team: player.team === -1 ? 'spectator' : game.teams ? (TEAMS[player.team] ?? '') : '',
      ping: player.latency,
    }));
    show(this.#at.scores, JSON.stringify([rows, selected]), () => {
      // As in the games, many players stand in several columns.
      const columns = rows.length <= 16 ? 1 : rows.length <= 64 ? Math.ceil(rows.length / 22) : 4;
      const each = Math.max(1, Math.ceil(rows.length / columns));
      const tables = element('div', '', columns > 1 ? 'tables many' : 'tables');
      for (let from = 0; from === 0 || from < rows.length; from += each) tables.append(table_of(rows.slice(from, from + each)));
      return [element('p', `${players.length} players`), tables];
    });

    /** @param {typeof rows} some */
    function table_of(some) {
      const table = element('table');
      const head = element('tr');
      for (const title of [game.times ? 'Time' : 'Score', 'Name', 'Clan', 'Team', 'Ping']) {
        const cell = element('th', title);
        cell.scope = 'col';
        head.append(cell);
      }
      const body = element('tbody');
      for (const { id, points, name, clan, team, ping } of some) {
        const row = element('tr');
        row.setAttribute('aria-selected', String(id === selected));
        const button = element('button', name);
        button.dataset.id = String(id);
        const who = element('td');
        who.append(button);
        row.append(
          element('td', points, 'number'),
          who,
          element('td', clan),
          element('td', team),
          element('td', ping, 'number'),
        );
        body.append(row);
      }
      const top = element('thead');
      top.append(head);
      table.append(top, body);
      return table;
    }
  }
}
