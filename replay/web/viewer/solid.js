// Whether there is ground at a place of the map.

const SOLID = new Set([1, 3]);

/** @returns {((x: number, y: number) => boolean)|null} for places in units; null without a map */
export function ground_of(map) {
  const layer = map?.groups.flatMap(({ layers }) => layers).find(({ kind }) => kind === 'game');
  if (layer === undefined) return null;
  const { width, height, cells } = layer;
  return (x, y) => {
    const column = Math.min(width - 1, Math.max(0, Math.floor(x / 32)));
    const row = Math.min(height - 1, Math.max(0, Math.floor(y / 32)));
    return SOLID.has(cells[(row * width + column) * 4]);
  };
}
