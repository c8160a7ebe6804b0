// The visible part of the world, as the clients choose it: about the same area whatever the shape of the window.

const AREA = 1150 * 1000;
const MOST_WIDTH = 1500;
const MOST_HEIGHT = 1050;

/** @typedef {{left: number, top: number, width: number, height: number}} View */

/** Width and height of what is seen without zoom, in units. @param {number} aspect */
function seen_size(aspect) {
  let width = Math.sqrt(AREA * aspect);
  if (width > MOST_WIDTH) width = MOST_WIDTH;
  let height = width / aspect;
  if (height > MOST_HEIGHT) {
    height = MOST_HEIGHT;
    width = height * aspect;
  }
  return { width, height };
}

const LEAST_ZOOM = 0.1;
const MOST_ZOOM = 20;

export class Camera {
  x = 0;
  y = 0;
  /** 2 shows twice as much in each direction. */
  zoom = 1;
  aspect = 16 / 9;

  /** @param {number} factor */
  zoom_by(factor) {
    this.zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.zoom * factor));
  }

  /** The rectangle of the world that fills the window. @returns {View} */
  view() {
    const seen = seen_size(this.aspect);
    const width = seen.width * this.zoom;
    const height = seen.height * this.zoom;
    return { left: this.x - width / 2, top: this.y - height / 2, width, height };
  }

  /** A place of the window, from 0 to 1 in both directions, in the world. @param {number} x @param {number} y */
  world(x, y) {
    const view = this.view();
    return { x: view.left + x * view.width, y: view.top + y * view.height };
  }
}
