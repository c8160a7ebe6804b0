// Our own pictures, drawn here: used where the game's are missing. Their layout is that of the games' pictures, see
// sprites.js.

/** @typedef {CanvasRenderingContext2D} Context */
/** @typedef {Record<string, number[]>} Cells of sprites, by name: x, y, width, height */

/** @param {number} width @param {number} height */
function canvas(width, height) {
  const made = document.createElement('canvas');
  made.width = width;
  made.height = height;
  const context = /** @type {Context} */ (made.getContext('2d', { willReadFrequently: true }));
  context.lineJoin = context.lineCap = 'round';
  return { made, context };
}

/**
 * Draws in the cells [x, y, w, h] of size `cell` as if they went from 0 to w and from 0 to h, in cells.
 * @param {Context} context @param {number} cell @param {number[]} cells
 * @param {(context: Context) => void} draw
 */
function within(context, cell, [x, y, w, h], draw) {
  context.save();
  context.beginPath();
  context.rect(x * cell, y * cell, w * cell, h * cell);
  context.clip();
  context.translate(x * cell, y * cell);
  context.scale(cell, cell);
  draw(context);
  context.restore();
}

/** @param {Context} context @param {string} fill @param {number} outline */
function paint(context, fill, outline) {
  if (outline > 0) {
    context.strokeStyle = '#15171c';
    context.lineWidth = outline;
    context.stroke();
  }
  context.fillStyle = fill;
  context.fill();
}

/** @param {Context} context @param {string} fill @param {number[][]} points */
function shape(context, fill, points, outline = 0.16) {
  context.beginPath();
  for (const [n, [x, y]] of points.entries()) context[n === 0 ? 'moveTo' : 'lineTo'](x, y);
  context.closePath();
  paint(context, fill, outline);
}

/**
 * @param {Context} context @param {string} fill @param {number} x @param {number} y
 * @param {number} rx @param {number} ry
 */
function disc(context, fill, x, y, rx, ry = rx, outline = 0) {
  context.beginPath();
  context.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
  paint(context, fill, outline);
}

/**
 * @param {Context} context @param {string} fill @param {number} x @param {number} y
 * @param {number} w @param {number} h
 */
const bar = (context, fill, x, y, w, h) =>
  shape(context, fill, [
    [x, y],
    [x + w, y],
    [x + w, y + h],
    [x, y + h],
  ]);

/** @param {Context} context @param {string} fill */
function heart(context, fill) {
  context.beginPath();
  context.moveTo(1, 1.75);
  context.bezierCurveTo(-0.5, 0.7, 0.4, -0.2, 1, 0.55);
  context.bezierCurveTo(1.6, -0.2, 2.5, 0.7, 1, 1.75);
  paint(context, fill, 0.16);
}

/** @param {Context} context @param {string} fill */
const shield = (context, fill) =>
  shape(context, fill, [
    [0.3, 0.3],
    [1, 0.15],
    [1.7, 0.3],
    [1.65, 1.1],
    [1, 1.85],
    [0.35, 1.1],
  ]);

/**
 * @param {Context} context @param {string} fill @param {number} points @param {number} inner
 * @param {number} w @param {number} h
 */
function star(context, fill, points, inner, w, h) {
  shape(
    context,
    fill,
    Array.from({ length: 2 * points }, (_, n) => {
      const r = n % 2 === 0 ? 0.46 : inner;
      const a = (n * Math.PI) / points - Math.PI / 2;
      return [w * (0.5 + r * Math.cos(a)), h * (0.5 + r * Math.sin(a))];
    }),
    0.08,
  );
}

/** Weapons, what they shoot, pickups, flags, hook. @param {Cells} cells */
export function game_picture(cells) {
  const { made, context } = canvas(1024, 512);
  /** @param {string} name @param {(context: Context) => void} work */
  const draw = (name, work) => within(context, 32, cells[name], work);
  draw('hammer', (c) => {
    bar(c, '#8a5a2b', 1.75, 1.1, 0.5, 1.75);
    bar(c, '#8f98a3', 0.7, 0.2, 2.6, 1);
  });
  draw('gun', (c) => {
    bar(c, '#6b7683', 0.3, 0.35, 3.3, 0.65);
    bar(c, '#4b3422', 0.5, 0.9, 0.75, 0.9);
  });
  draw('shotgun', (c) => {
    bar(c, '#6f7a86', 2.4, 0.45, 5.2, 0.5);
    bar(c, '#7d4f27', 0.3, 0.7, 2.5, 0.75);
    bar(c, '#7d4f27', 4.2, 0.85, 1.6, 0.5);
  });
  draw('grenade', (c) => {
    bar(c, '#6f7a86', 0.9, 0.35, 5.5, 0.9);
    bar(c, '#b23a2f', 0.4, 0.25, 1.2, 1.1);
    bar(c, '#3f4650', 2.4, 1.2, 0.6, 0.6);
  });
  draw('laser', (c) => {
    bar(c, '#5f6b9a', 0.4, 0.8, 5.8, 0.95);
    disc(c, '#8fb0ff', 2, 0.8, 0.5, 0.4, 0.16);
    bar(c, '#3a3f55', 1, 1.7, 0.6, 0.9);
  });
  draw('ninja', (c) => {
    shape(c, '#d6dbe2', [
      [2.4, 0.75],
      [7.1, 0.75],
      [7.7, 1.15],
      [2.4, 1.2],
    ]);
    bar(c, '#2c2f36', 0.4, 0.8, 1.8, 0.4);
    bar(c, '#c9a23b', 2.1, 0.5, 0.3, 1);
  });
  draw('gun_shot', (c) => disc(c, '#ffd75e', 1, 1, 0.55, 0.55, 0.16));
  draw('shotgun_shot', (c) => disc(c, '#ffb04a', 1, 1, 0.5, 0.5, 0.16));
  draw('grenade_shot', (c) => {
    disc(c, '#4d5a3c', 1, 1, 0.62, 0.5, 0.16);
    bar(c, '#b23a2f', 0.85, 0.45, 0.3, 1.1);
  });
  draw('laser_shot', (c) => disc(c, '#a9c1ff', 1, 1, 0.6, 0.6, 0.1));
  for (let n = 0; n < 3; ++n)
    for (const kind of ['gun', 'shotgun'])
      draw(`${kind}_flash_${n}`, (c) => {
        shape(
          c,
          '#ffb347',
          [
            [0, 0.75],
            [1.4 + n / 3, 0.15],
            [1.2, 0.7],
            [2.8, 1],
            [1.2, 1.3],
            [1.4 + n / 3, 1.85],
            [0, 1.25],
          ],
          0,
        );
        shape(
          c,
          '#fff2b0',
          [
            [0, 0.85],
            [1.8, 1],
            [0, 1.15],
          ],
          0,
        );
      });
  draw('hook_chain', (c) => {
    c.strokeStyle = '#15171c';
    c.lineWidth = 0.34;
    c.beginPath();
    c.moveTo(0, 0.5);
    c.lineTo(1, 0.5);
    c.stroke();
    c.strokeStyle = '#9aa3ad';
    c.lineWidth = 0.18;
    c.setLineDash([0.28, 0.2]);
    c.stroke();
  });
  draw('hook_head', (c) => {
    shape(
      c,
      '#9aa3ad',
      [
        [0.1, 0.35],
        [1.1, 0.35],
        [1.2, 0.12],
        [1.9, 0.5],
        [1.2, 0.88],
        [1.1, 0.65],
        [0.1, 0.65],
      ],
      0.14,
    );
  });
  draw('health', (c) => heart(c, '#e8434b'));
  draw('armor', (c) => shield(c, '#5aa9e6'));
  draw('health_full', (c) => heart(c, '#e8434b'));
  draw('health_empty', (c) => heart(c, '#4a2a2e'));
  draw('armor_full', (c) => shield(c, '#5aa9e6'));
  draw('armor_empty', (c) => shield(c, '#2a3a4a'));
  draw('star', (c) => star(c, '#ffe27a', 5, 0.2, 2, 2));
  for (const [name, color] of [
    ['red_flag', '#d9363e'],
    ['blue_flag', '#3a7bd5'],
  ])
    draw(name, (c) => {
      shape(c, color, [
        [0.6, 0.4],
        [3.7, 0.9],
        [2.9, 2.1],
        [3.6, 3.4],
        [0.6, 3.3],
      ]);
      bar(c, '#a98755', 0.25, 0.2, 0.35, 7.6);
    });
  return made;
}

/** A tee of our own: round, bright, to be coloured. @param {Cells} cells */
export function skin_picture(cells) {
  const { made, context } = canvas(256, 128);
  /** @param {string} name @param {(context: Context) => void} work */
  const draw = (name, work) => within(context, 32, cells[name], work);
  /** @param {Context} c @param {string} fill @param {number} r */
  const body = (c, fill, r) => disc(c, fill, 1.5, 1.5, r);
  draw('body_outline', (c) => body(c, '#15171c', 1.45));
  draw('body', (c) => {
    body(c, '#c0c0c0', 1.3);
    c.globalCompositeOperation = 'source-atop';
    disc(c, '#d8d8d8', 1.35, 1.2, 1, 0.85);
    disc(c, '#ececec', 1.1, 0.75, 0.45, 0.28);
  });
  draw('foot_outline', (c) => disc(c, '#15171c', 1, 0.5, 0.95, 0.48));
  draw('foot', (c) => {
    disc(c, '#c0c0c0', 1, 0.5, 0.8, 0.36);
    disc(c, '#dedede', 1, 0.38, 0.5, 0.15);
  });
  draw('hand_outline', (c) => disc(c, '#15171c', 0.5, 0.5, 0.48));
  draw('hand', (c) => disc(c, '#c8c8c8', 0.5, 0.5, 0.36));
  /** @param {Context} c @param {number} rx @param {number} ry */
  const eye = (c, rx, ry, x = 0.5, y = 0.5) => disc(c, '#15171c', x, y, rx, ry);
  draw('eyes_normal', (c) => {
    eye(c, 0.2, 0.38);
    disc(c, '#fff', 0.56, 0.34, 0.07, 0.1);
  });
  draw('eyes_angry', (c) => {
    eye(c, 0.22, 0.34, 0.5, 0.56);
    c.clearRect(0, 0, 1, 0.2);
    shape(
      c,
      '#15171c',
      [
        [0.1, 0.18],
        [0.85, 0.42],
        [0.8, 0.5],
        [0.1, 0.32],
      ],
      0,
    );
  });
  draw('eyes_pain', (c) =>
    shape(
      c,
      '#15171c',
      [
        [0.2, 0.25],
        [0.8, 0.5],
        [0.2, 0.75],
        [0.25, 0.6],
        [0.5, 0.5],
        [0.25, 0.4],
      ],
      0,
    ),
  );
  draw('eyes_happy', (c) => {
    c.strokeStyle = '#15171c';
    c.lineWidth = 0.14;
    c.beginPath();
    c.arc(0.5, 0.7, 0.28, Math.PI, 0);
    c.stroke();
  });
  draw('eyes_dead', (c) => {
    c.strokeStyle = '#15171c';
    c.lineWidth = 0.14;
    c.beginPath();
    c.moveTo(0.25, 0.25);
    c.lineTo(0.75, 0.75);
    c.moveTo(0.75, 0.25);
    c.lineTo(0.25, 0.75);
    c.stroke();
  });
  draw('eyes_surprise', (c) => {
    eye(c, 0.28, 0.4);
    disc(c, '#fff', 0.5, 0.5, 0.14, 0.24);
  });
  return made;
}

const FACES = ['…', '!', '♥', '✖', '…?', '☺', '✶', '☠', '♪', 'zZ', '?', '☻', '★', '☹', '#@!', '✓'];

/** What players say without words, in the games' order as far as signs have it. */
export function emoticon_picture() {
  const { made, context } = canvas(512, 512);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const [n, text] of FACES.entries())
    within(context, 128, [n % 4, n >> 2, 1, 1], (c) => {
      disc(c, '#fffbe9', 0.5, 0.46, 0.4, 0.36, 0.06);
      shape(
        c,
        '#fffbe9',
        [
          [0.3, 0.74],
          [0.52, 0.8],
          [0.25, 0.96],
        ],
        0,
      );
      c.fillStyle = n === 2 ? '#d9363e' : '#23262d';
      c.font = `bold ${text.length > 1 ? 0.26 : 0.46}px sans-serif`;
      c.fillText(text, 0.5, 0.48);
    });
  return made;
}

// The effects of tiles, by their number: colour, and a sign. Others are not shown.
/** @type {[number: number, color: string, sign: string][]} */
const ENTITIES = [
  [1, '#7d8590', ''],
  [2, '#a33a3a', '☠'],
  [3, '#4c4f58', '╱'],
  [5, '#7d859066', '⇡'],
  [9, '#27507faa', '❄'],
  [11, '#3f7f5faa', '☀'],
  [12, '#1b3a66aa', '❄'],
  [13, '#2f6f4faa', '☀'],
  [10, '#6b4fa0aa', '◎'],
  [26, '#6b4fa0aa', '◎'],
  [27, '#6b4fa0aa', '○'],
  [28, '#8a7a33aa', '➤'],
  [29, '#8a7a33aa', '➤'],
  [33, '#2f8f4faa', '▶'],
  [34, '#c9a23baa', '⚑'],
  [60, '#8a4f33aa', '↑'],
  [61, '#8a4f33aa', '↕'],
  [62, '#8a4f33aa', '✚'],
];

/** Tiles without picture. */
export function entities_picture() {
  const { made, context } = canvas(512, 512);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const [number, color, sign] of ENTITIES)
    within(context, 32, [number & 15, number >> 4, 1, 1], (c) => {
      c.fillStyle = color;
      c.fillRect(0, 0, 1, 1);
      c.fillStyle = '#ffffff14';
      c.fillRect(0, 0, 1, 0.06);
      c.fillRect(0, 0, 0.06, 1);
      c.fillStyle = '#00000026';
      c.fillRect(0, 0.94, 1, 0.06);
      c.fillRect(0.94, 0, 0.06, 1);
      c.fillStyle = '#ffffffb0';
      c.font = '0.62px sans-serif';
      c.fillText(sign, 0.5, 0.54);
    });
  return made;
}
