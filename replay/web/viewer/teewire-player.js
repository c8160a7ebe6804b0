// The script of the element <teewire-player>.
import { TeewirePlayer } from './element.js';

export { TeewirePlayer };

if (!customElements.get('teewire-player')) customElements.define('teewire-player', TeewirePlayer);
