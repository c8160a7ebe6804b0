// What a strict program may write: tsc checks it, and nothing runs it.
import { Broadcast, bytes_source, read_index, read_map, Recording, start, type Item, type Items, url_source } from '../../lib/wasm/teewire.js';

export async function use(name: string): Promise<number> {
  const module = await start();
  const source = await url_source(name);
  const index = await read_index(new Uint8Array(0), source.size);
  const events: number = index?.events?.length ?? 0;
  const recording = await Recording.open(module, source, { index });
  const { previous } = await recording.at(recording.first_tick + 500);
  if (previous === null) return events;
  const velocity: number = previous.all('character')[0].vel_x;
  const skin: string | undefined = previous.find('client_info', 3)?.skin;
  const parts: Items['client_info'][] | undefined = previous.items.client_info;
  const any: Item[] = previous.all(name);
  // @ts-expect-error: there is no such field
  previous.all('character')[0].velocity;
  const map = await recording.map();
  const layers = map === null ? [] : (await read_map(map)).groups.flatMap((group) => group.layers);
  const broadcast = new Broadcast(module, name);
  const last: number | undefined = broadcast.sync?.recordings.at(-1)?.last_tick;
  await Recording.open(module, bytes_source(new Uint8Array(0)));
  return velocity + (skin?.length ?? 0) + (parts?.length ?? 0) + any.length + layers.length + (last ?? 0);
}
