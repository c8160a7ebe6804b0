// Values of a map's envelopes: how colours and places of layers and quads change with time.

/** @import { GameMap } from './teewire.js' */
/** @typedef {GameMap['envelopes'][number]['points'][number]} Point */

/** `a` is the part of the way between two points that is done. @param {number} kind @param {number} a */
function curve(kind, a) {
  switch (kind) {
    case 0:
      return 0;
    case 2:
      return a * a * a;
    case 3:
      return 1 - (1 - a) ** 3;
    case 4:
      return 3 * a * a - 2 * a * a * a;
    default:
      return a;
  }
}

/** @param {number} p0 @param {number} p1 @param {number} p2 @param {number} p3 @param {number} t */
const cubic = (p0, p1, p2, p3, t) => {
  const s = 1 - t;
  return s * s * s * p0 + 3 * s * s * t * p1 + 3 * s * t * t * p2 + t * t * t * p3;
};

/**
 * Bezier curves by time: x of the middle points stays between those of the ends, so that x grows with t.
 * @param {Point} from @param {Point} to @param {number} channel @param {number} time
 */
function bezier(from, to, channel, time) {
  /** @param {number} x */
  const clamp = (x) => Math.min(to.time, Math.max(from.time, x));
  const x1 = clamp(from.time + (from.out_time?.[channel] ?? 0));
  const x2 = clamp(to.time + (to.in_time?.[channel] ?? 0));
  const y0 = from.values[channel];
  const y3 = to.values[channel];
  let low = 0;
  let high = 1;
  for (let i = 0; i < 24; ++i) {
    const middle = (low + high) / 2;
    if (cubic(from.time, x1, x2, to.time, middle) < time) low = middle;
    else high = middle;
  }
  return cubic(y0, y0 + (from.out?.[channel] ?? 0), y3 + (to.in?.[channel] ?? 0), y3, low);
}

/**
 * @param {{points: Point[]}} envelope times in ms
 * @param {number} ms since the round began, with the offset of who uses it
 * @param {number[]} out four values, in the file's 1024ths
 */
export function evaluate(envelope, ms, out) {
  const { points } = envelope;
  if (points.length === 0) return out.fill(0);
  const last = points[points.length - 1];
  /** @param {Point} point */
  const set = (point) => {
    for (let c = 0; c < 4; ++c) out[c] = point.values[c] ?? 0;
    return out;
  };
  if (points.length === 1) return set(last);
  const length = last.time;
  const time = length > 0 ? ((ms % length) + length) % length : 0;
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].time <= time) low = middle;
    else high = middle;
  }
  const from = points[low];
  const to = points[high];
  const span = to.time - from.time;
  if (span <= 0 || time < from.time) return set(from);
  for (let c = 0; c < 4; ++c) {
    if (from.curve === 5) {
      out[c] = bezier(from, to, c, time);
      continue;
    }
    const a = curve(from.curve, Math.min(1, (time - from.time) / span));
    out[c] = from.values[c] + ((to.values[c] ?? 0) - from.values[c]) * a;
  }
  return out;
}
