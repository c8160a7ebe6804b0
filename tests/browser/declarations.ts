// teewire.d.ts agrees with the code: tsc compares them here, and nothing runs this. The declarations stand for teewire.js
// wherever it is imported, so that the check has a copy of it under another name.
import type * as code from '../../lib/wasm/exported.js';
import type * as declared from '../../lib/wasm/teewire.js';

// Classes are compared by their instances and static members, as some constructors are private.
type Members<T> = T extends (...given: never[]) => unknown ? T : { [K in keyof T]: T[K] };
type Exports<T> = { [K in keyof T]: Members<T[K]> };

export const of_code = (exported: Exports<typeof code>): Exports<typeof declared> => exported;
export const names: (keyof typeof declared)[] = [] as (keyof typeof code)[];

// The element in the same way. Its `player` is not for everyone.
import type { TeewirePlayer as Element } from '../../replay/web/viewer/element.js';
import type { TeewirePlayer } from '../../replay/web/viewer/teewire-player.js';

export const of_element = (element: Element): Omit<TeewirePlayer, 'addEventListener'> => element;
export const members: Exclude<keyof TeewirePlayer, 'player'>[] = [] as Exclude<
  keyof Element,
  'player' | 'connectedCallback' | 'disconnectedCallback' | 'attributeChangedCallback'
>[];
