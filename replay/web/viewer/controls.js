// Keys, mouse and fingers.

const TAP_MS = 350;
const NEAR = 40; // pixels between the two of a double tap
const MOVED = 6; // pixels; a longer move is not a tap

const KEYS = /** @type {const} */ ({
  ' ': 'play',
  k: 'play',
  ',': 'step_back',
  '.': 'step_on',
  '[': 'marker_back',
  ']': 'marker_on',
  n: 'next',
  p: 'previous',
  v: 'free',
  f: 'full',
  '+': 'zoom_in',
  '=': 'zoom_in',
  '-': 'zoom_out',
  z: 'zoom_off',
  c: 'share',
  m: 'names',
  i: 'toggle_inputs',
  '/': 'toggle_events',
  b: 'toggle_board',
  '?': 'help',
  ArrowUp: 'faster',
  ArrowDown: 'slower',
  Escape: 'close',
});
/** @typedef {typeof KEYS[keyof typeof KEYS]} Pressed the name of an action */
/**
 * @typedef {Record<Pressed|'first'|'last', () => void> & {jump: (seconds: number) => void, tenth: (n: number) => void,
 *   board: (on: boolean) => void}} Actions
 */

/** Whether keys are for this element, and not for the player. @param {HTMLElement} at */
function has_own_keys(at) {
  if (at instanceof HTMLInputElement) return at.type !== 'range';
  // Another component may hide what it has inside.
  return at.matches('select, textarea') || at.isContentEditable || at.localName.includes('-') || at.closest('dialog') !== null;
}

/**
 * @param {EventTarget} target a player, or the window for all of a page @param {HTMLCanvasElement} canvas @param {Actions} actions
 * @param {AbortSignal} signal that ends it
 */
export function listen_to_keys(target, canvas, actions, signal) {
  /** @type {Record<string, Pressed|undefined>} */
  const keys = KEYS;
  const held = new Set();
  /** @param {KeyboardEvent} event */
  const down = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [at] = event.composedPath().filter((one) => one instanceof HTMLElement);
    const tag = at?.tagName;
    if (at !== undefined && has_own_keys(at)) return;
    const { key } = event;
    // Buttons handle these keys themselves.
    if (tag === 'BUTTON' && (key === ' ' || key === 'Enter')) return;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      event.preventDefault();
      actions.jump((key === 'ArrowLeft' ? -1 : 1) * (event.shiftKey ? 1 : 5));
    } else if (key === 'Home' || key === 'End') {
      event.preventDefault();
      actions[key === 'Home' ? 'first' : 'last']();
    } else if (key === 'Tab' && at === canvas && target === window && !event.shiftKey && !event.repeat) {
      // As in the games; only on a page of its own, and after a click.
      event.preventDefault();
      actions.board(true);
    } else if (/^[0-9]$/.test(key)) {
      actions.tenth(Number(key));
    } else if ('wasd'.includes(key.toLowerCase()) && key.length === 1) {
      held.add(key.toLowerCase());
    } else {
      const pressed = keys[key];
      if (pressed === undefined) return;
      event.preventDefault();
      actions[pressed]();
    }
  };
  /** @param {KeyboardEvent} event */
  const up = (event) => {
    held.delete(event.key.toLowerCase());
    if (event.key === 'Tab' && event.composedPath()[0] === canvas) actions.board(false);
  };
  target.addEventListener('keydown', /** @type {EventListener} */ (down), { signal });
  target.addEventListener('keyup', /** @type {EventListener} */ (up), { signal });
  for (const [from, left] of /** @type {const} */ ([
    [window, 'blur'],
    [target, 'focusout'],
  ]))
    from.addEventListener(left, () => held.clear(), { signal });
  /** In which direction to fly: -1, 0 or 1. */
  return () => ({ x: Number(held.has('d')) - Number(held.has('a')), y: Number(held.has('s')) - Number(held.has('w')) });
}

/**
 * @typedef {{move: (dx: number, dy: number, fingers: number) => void, zoom: (factor: number) => void,
 *   tap: (x: number, y: number) => void, double_tap: (x: number, mouse: boolean) => void}} Moves
 */

/**
 * Dragging moves the camera, the wheel and two fingers zoom, a tap chooses who is there. Places are parts of the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {Moves} actions in parts of the canvas
 */
export function listen_to_pointers(canvas, actions) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  /** @type {{x: number, y: number, time: number, moved: boolean}|null} */
  let start = null;
  let last_tap = { x: 0, y: 0, time: -TAP_MS };
  const spread = () => {
    const [a, b] = [...down.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    start = down.size === 1 ? { x: event.clientX, y: event.clientY, time: event.timeStamp, moved: false } : null;
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = down.get(event.pointerId);
    if (before === undefined) return;
    const { clientWidth, clientHeight } = canvas;
    const old = down.size === 2 ? spread() : 0;
    const dx = event.clientX - before.x;
    const dy = event.clientY - before.y;
    before.x = event.clientX;
    before.y = event.clientY;
    if (down.size === 2) {
      const now = spread();
      if (old > 0 && now > 0) actions.zoom(old / now);
    }
    if (start !== null && !start.moved) {
      if (Math.hypot(event.clientX - start.x, event.clientY - start.y) < MOVED) return;
      start.moved = true;
    }
    actions.move(-dx / clientWidth / down.size, -dy / clientHeight / down.size, down.size);
  });
  /** @param {PointerEvent} event */
  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (start !== null && !start.moved && event.type === 'pointerup' && event.timeStamp - start.time < TAP_MS) {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const tap = { x: event.clientX, y: event.clientY, time: event.timeStamp };
      const again = tap.time - last_tap.time < TAP_MS && Math.hypot(tap.x - last_tap.x, tap.y - last_tap.y) < NEAR;
      last_tap = again ? { x: 0, y: 0, time: -TAP_MS } : tap;
      if (again) actions.double_tap((tap.x - left) / width, event.pointerType === 'mouse');
      else actions.tap((tap.x - left) / width, (tap.y - top) / height);
    }
    start = null;
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      actions.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 500));
    },
    { passive: false },
  );
}
