/** The attributes that show what a player shows at a moment: see the README for what they mean. */
export interface Moment {
  t: string;
  follow?: string;
  at?: string;
  zoom?: string;
  speed?: string;
}

/** Besides those of every element. `detail` is null where nothing is given here. */
export interface TeewirePlayerEventMap {
  /** The first picture is there. Ticks are 20 ms. */
  loadeddata: CustomEvent<{ map: string; first_tick: number; last_tick: number }>;
  /** It cannot be shown; the player says the same. */
  error: CustomEvent<{ message: string }>;
  play: CustomEvent<null>;
  pause: CustomEvent<null>;
  ended: CustomEvent<null>;
  seeked: CustomEvent<null>;
  ratechange: CustomEvent<null>;
  /** About five times a second while it plays. */
  timeupdate: CustomEvent<null>;
  /** Another player is followed; null: nobody, the camera flies freely. */
  follow: CustomEvent<{ name: string | null }>;
  /** The Link button or c was pressed; only with the attribute `share`. */
  share: CustomEvent<Moment>;
}

/** Plays a recording or broadcast. Importing this module defines the element `<teewire-player>`. */
export class TeewirePlayer extends HTMLElement {
  /** The folder of the game's pictures, with a slash at the end; by default that of the attribute. Read when a recording opens. */
  data: string | null | Promise<string | null>;
  /** Seconds from the beginning of the recording. */
  currentTime: number;
  /** Seconds; NaN until a recording is open. */
  readonly duration: number;
  readonly paused: boolean;
  /** From 0.1 to 16. */
  playbackRate: number;
  /** The name of the player whom the camera follows. */
  readonly followed: string | null;
  /** The names of those who are in the game now. */
  readonly players: string[];
  play(): void;
  pause(): void;
  /**
   * Shows a recording of at most 1 GB, and `ghost`, another run of the same race. If it cannot, the event `error` says why.
   */
  open(file: Blob, ghost?: Blob | null): Promise<void>;
  /** What is shown now: a player with these attributes shows the same. */
  moment(): Moment;

  addEventListener<K extends keyof TeewirePlayerEventMap>(
    type: K,
    listener: (this: TeewirePlayer, event: TeewirePlayerEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'teewire-player': TeewirePlayer;
  }
}
