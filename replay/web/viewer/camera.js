// The visible part of the world, as the clients choose it: about the same area whatever the shape of the window.

const AREA = 1150 * 1000;
const MOST_WIDTH = 1500;
const MOST_HEIGHT = 1050;

/** @typedef {{left: number, top: number, width: number, height: number}} View */

/** Width and height of what is seen without zoom, in units. @param {number} aspect */
export function seen_size(aspect) {
  let width = Math.sqrt(AREA * aspect);
  if (width > MOST_WIDTH) width = MOST_WIDTH;
  let height = width / aspect;
  if (height > MOST_HEIGHT) {
    height = MOST_HEIGHT;
    width = height * aspect;
  }
  return { width, height };
}

export const LEAST_ZOOM = 0.1;
export const MOST_ZOOM = 20;

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

  /**
   * The rectangle of the world, or of a group with its own offset and parallax (in percent), that fills the window.
   * @param {{offset: number[], parallax: number[]}} [group]
   * @returns {View}
   */
  view(group) {
    const { width, height } = seen_size(this.aspect);
    const px = group?.parallax[0] ?? 100;
    const py = group?.parallax[1] ?? 100;
    // Distant layers zoom less; fixed ones, not at all.
    const share = Math.min(100, Math.max(0, Math.max(px, py)));
    const scale = (share * (this.zoom - 1) + 100) / 100;
    const w = width * scale;
    const h = height * scale;
    return {
      left: (this.x * px) / 100 + (group?.offset[0] ?? 0) - w / 2,
      top: (this.y * py) / 100 + (group?.offset[1] ?? 0) - h / 2,
      width: w,
      height: h,
    };
  }

  /** A place of the window, from 0 to 1 in both directions, in the world. @param {number} x @param {number} y */
  world(x, y) {
    const view = this.view();
    return { x: view.left + x * view.width, y: view.top + y * view.height };
  }
}
