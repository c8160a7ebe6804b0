// Writes the types of all items, items.d.ts, to standard output: make_items.mjs PACKAGE, the folder of teewire.js.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** @import { Field, Protocol } from './teewire.js' */

/** @type {typeof import('./teewire.js')} */
const { ItemTypes, start } = await import(pathToFileURL(path.resolve(process.argv[2], 'teewire.js')).href);
const module = await start();

/** @type {Protocol[]} */
const protocols = ['ddnet', '0.6', '0.7'];
/** The names of items, with the fields of each protocol that has them. @type {Map<string, Map<string, Field>[]>} */
const items = new Map();
for (const protocol of protocols)
  for (const type of new ItemTypes(module, protocol).by_name.values()) {
    const known = items.get(type.name) ?? [];
    items.set(type.name, [...known, new Map(type.fields.map((field) => [field.name, field]))]);
  }

/** @param {Field} field */
const type_of = ({ kind, count }) =>
  (kind === 'text' ? 'string' : kind === 'boolean' ? 'boolean' : 'number') + (count === 1 ? '' : '[]');

const lines = ['// Made by make_items.mjs from the tables of the library.', '',
  '/** Items by the names of their types. A field that only some protocols have may be undefined. */',
  'export type Items = {'];
for (const [name, forms] of [...items].sort()) {
  lines.push(`  ${name}: {`, '    id: number;');
  for (const field of new Set(forms.flatMap((form) => [...form.keys()]))) {
    const there = forms.filter((form) => form.has(field));
    const types = new Set(there.map((form) => type_of(/** @type {Field} */ (form.get(field)))));
    lines.push(`    ${field}${there.length === forms.length ? '' : '?'}: ${[...types].join(' | ')};`);
  }
  lines.push('  };');
}
console.log([...lines, '};'].join('\n'));
