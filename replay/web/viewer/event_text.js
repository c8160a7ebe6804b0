// Events in words.
import { time_text } from './playback.js';

/** @import { GameEvent } from './show.js' */

/** @type {(string|undefined)[]} */
export const WEAPONS = ['hammer', 'gun', 'shotgun', 'grenade', 'laser', 'ninja'];

/** The weapon of a kill; undefined for a death without a killer. @param {GameEvent} event */
export const weapon_of = ({ client, target, value }) => (client === null || client === target ? undefined : WEAPONS[value ?? -1]);

/** @param {GameEvent} event @param {(id: number) => string} name_of for those who spoke when their names were not known yet */
export function event_text(event, name_of) {
  const { kind, client, id, target, text, value } = event;
  const who = client ?? (id !== undefined ? name_of(id) : '');
  if (kind === 'kill') return weapon_of(event) === undefined ? `${target ?? client ?? '?'} died` : `${client} → ${target ?? '?'}`;
  if (kind === 'server_message') return `*** ${text ?? ''}`;
  if (kind === 'finish') return text ?? `${who} finished in ${time_text((value ?? 0) / 1000, 2)}`;
  if (kind === 'marker') return 'marker';
  return `${who}: ${text ?? ''}`;
}
