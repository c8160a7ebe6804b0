// A map as ints for the scene's module, which reads them in this order.

/** @import { GameMap, Layer } from './teewire.js' */

const KINDS = { tiles: 0, game: 1, tele: 2, speedup: 4, front: 8, switch: 16, tune: 32 };
const LAYER = { tiles: 2, quads: 3 };
const QUAD_INTS = 38;

/** @param {number[]|undefined} values */
const four = (values) => [0, 1, 2, 3].map((n) => values?.[n] ?? 0);

/** @param {Layer} layer @returns {(number|Int32Array)[]} */
function layer_ints(layer) {
  if (layer.kind === 'quads') {
    const count = Math.floor(layer.quads.length / QUAD_INTS);
    return [LAYER.quads, layer.image, count, layer.quads.subarray(0, count * QUAD_INTS)];
  }
  const { kind, width, height, colour, colour_envelope, colour_offset, image, cells } = layer;
  const head = [LAYER.tiles, KINDS[kind], width, height, ...colour, colour_envelope, colour_offset, image];
  // Only what tees stand on matters to it.
  if (kind !== 'game') return [...head, 0];
  return [...head, width * height, new Int32Array(cells.slice(0, 4 * width * height).buffer)];
}

/** All of a map but its images. @param {GameMap} map */
export function map_ints(map) {
  /** @type {(number|Int32Array)[]} */
  const parts = [];
  const points = map.envelopes.flatMap((envelope) => envelope.points);
  parts.push(points.length);
  for (const { time, curve, values, in_time, in: in_value, out_time, out } of points)
    parts.push(time, curve, ...[values, in_time, in_value, out_time, out].flatMap(four));
  parts.push(map.envelopes.length);
  let first = 0;
  for (const envelope of map.envelopes) {
    parts.push(envelope.channels, first, envelope.points.length, Number(envelope.synchronized));
    first += envelope.points.length;
  }
  parts.push(map.groups.length);
  for (const { offset, parallax, clip, layers } of map.groups) {
    parts.push(...offset, ...parallax, Number(clip !== null), clip?.x ?? 0, clip?.y ?? 0, clip?.width ?? 0, clip?.height ?? 0);
    parts.push(layers.length);
    for (const layer of layers) parts.push(...layer_ints(layer));
  }
  const ints = new Int32Array(parts.reduce((/** @type {number} */ sum, part) => sum + (typeof part === 'number' ? 1 : part.length), 0));
  let at = 0;
  for (const part of parts)
    if (typeof part === 'number') ints[at++] = part;
    else {
      ints.set(part, at);
      at += part.length;
    }
  return ints;
}
