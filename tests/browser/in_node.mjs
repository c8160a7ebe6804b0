// Runs checks.mjs in node: in_node.mjs PACKAGE, and a request as JSON on standard input: {plain, check, arguments}.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import * as checks from './checks.mjs';

const folder = path.resolve(process.argv[2]);
/** @type {typeof import('../../lib/wasm/teewire.js')} */
const library = await import(pathToFileURL(path.join(folder, 'teewire.js')).href);
const request = JSON.parse(fs.readFileSync(0, 'utf8'));
/** @param {string} name */
const wasm = (name) => fs.readFileSync(path.join(folder, name));
const modules = { simd: request.plain ? undefined : wasm('teewire.wasm'), plain: wasm('teewire-plain.wasm') };
const module = await library.start(modules);
if (!module.simd !== !!request.plain) throw new Error('that is not the module that was asked for');
/** @param {string} name */
const get = async (name) => new Uint8Array(fs.readFileSync(name));
const files = ['broadcast', 'varints'].includes(request.check) ? [] : [get];
console.log(JSON.stringify(await Reflect.get(checks, request.check)(library, module, ...files, ...request.arguments)));
