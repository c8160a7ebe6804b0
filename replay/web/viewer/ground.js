// The ground at a position of the map.

/** @import { GameMap } from './teewire.js' */
/** @typedef {(x: number, y: number) => number} Tile */
/**
 * What is at a position in units.
 * @typedef {{tile: Tile, solid: (x: number, y: number) => boolean}} Ground
 */

const SOLID = new Set([1, 3]);

/** @param {GameMap|null} map @returns {Ground|null} null without a map */
export function ground_of(map) {
  const layer = map?.groups.flatMap(({ layers }) => layers).find(({ kind }) => kind === 'game');
  if (layer === undefined || layer.kind === 'quads') return null;
  const { width, height, cells } = layer;
  /** @type {Tile} */
  const tile = (x, y) => {
    const column = Math.min(width - 1, Math.max(0, Math.round(x) >> 5));
    const row = Math.min(height - 1, Math.max(0, Math.round(y) >> 5));
    return cells[(row * width + column) * 4];
  };
  return { tile, solid: (x, y) => SOLID.has(tile(x, y)) };
}
