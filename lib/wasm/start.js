// The library from its file.
import { load } from './fetching.js';
import { Module } from './module.js';

// (module (func (result v128) i32.const 0 i8x16.splat))
const SIMD = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15,
  11);

/**
 * Starts the library.
 * @param {string|URL|{simd?: BufferSource, plain: BufferSource}} [where] the folder of teewire.wasm and teewire-plain.wasm,
 *   by default that of this file, or what is in these
 */
export async function start(where) {
  const simd = WebAssembly.validate(SIMD);
  if (typeof where === 'object' && 'plain' in where) {
    const made = await WebAssembly.instantiate(simd && where.simd ? where.simd : where.plain, {});
    return new Module(made.instance, simd && !!where.simd);
  }
  // Bundlers see by these literals which files they have to copy.
  const url = where !== undefined ? new URL(simd ? 'teewire.wasm' : 'teewire-plain.wasm', where)
    : simd ? new URL('./teewire.wasm', import.meta.url) : new URL('./teewire-plain.wasm', import.meta.url);
  return new Module((await WebAssembly.instantiate(await load(url), {})).instance, simd);
}
