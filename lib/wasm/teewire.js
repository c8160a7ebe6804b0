// The library of teewire for JavaScript: demos, broadcasts and maps. See README.md; types are in teewire.d.ts.
export { start } from './start.js';
export { TeewireError } from './module.js';
export { fetch_whole } from './fetching.js';
export { archive_source } from './archive.js';
export { Recording, bytes_source, url_source, read_index } from './recording.js';
export { Broadcast } from './broadcast.js';
export { Snapshot } from './snapshot.js';
export { ItemTypes } from './tables.js';
export { read_ints } from './demo.js';
export { read_map } from './map.js';
