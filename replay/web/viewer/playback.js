// The clock of the show: which tick it is, and how fast it goes.

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16];
export const TICKS_PER_SECOND = 50;

export class Playback {
  tick = 0;
  playing = false;
  speed = 1;
  first = 0;
  last = 0;

  /** Goes on by `seconds` of the wall's clock. True if the end was reached. @param {number} seconds */
  advance(seconds) {
    if (!this.playing) return false;
    this.tick = Math.max(this.first, this.tick + seconds * this.speed * TICKS_PER_SECOND);
    if (this.tick < this.last) return false;
    this.tick = this.last;
    return true;
  }

  /** @param {number} tick */
  seek(tick) {
    this.tick = Math.min(this.last, Math.max(this.first, tick));
  }

  /** The next faster or slower speed. @param {number} by */
  beside(by) {
    let nearest = 0;
    for (const [n, speed] of SPEEDS.entries())
      if (Math.abs(speed - this.speed) < Math.abs(SPEEDS[nearest] - this.speed)) nearest = n;
    return SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, nearest + by))];
  }
}

/** @param {number} ms @returns {Promise<undefined>} */
export const after = (ms) => new Promise((done) => setTimeout(done, ms));

/** 83.4 is "1:23.4"; `digits` after the point. @param {number} seconds */
export function time_text(seconds, digits = 0) {
  const scale = 10 ** digits;
  const whole = Math.floor(Math.max(0, seconds) * scale + 1e-6);
  const rest = whole / scale;
  const hours = Math.floor(rest / 3600);
  const minutes = Math.floor(rest / 60) % 60;
  const tail = (rest % 60).toFixed(digits).padStart(digits > 0 ? 3 + digits : 2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** "1:23.4", "83.4", "83.4s" or "1m23.4s" as seconds; null if it is none. @param {string} text */
export function read_time(text) {
  const match = /^(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)s?$/.exec(text.trim()) ??
    /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(text.trim());
  if (match === null || match[0] === '') return null;
  return Number(match[1] ?? 0) * 3600 + Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
}
