// The things to do with files, as commands of the program.

/**
 * @typedef {object} Field
 * @property {string} label
 * @property {string} option
 * @property {string} [hint]
 * @property {string[]} [choices] the first one is the default
 */
/**
 * @typedef {object} Action
 * @property {string} label
 * @property {string} verb
 * @property {boolean} [together] one command for all files
 * @property {string} [makes] the end of the name of the file that it makes; none: it prints
 * @property {string[]} [more] words before the files
 * @property {Field[]} [fields]
 */

/** @type {Field[]} */
const times = [
  { label: 'From', option: '--from', hint: '1:20, or -0:10 before the end' },
  { label: 'To', option: '--to', hint: '1:50' },
];
/** @param {...string} choices @returns {Field} */
const format = (...choices) => ({ label: 'Format', option: '--format', choices });

/** @type {Record<string, Action[]>} */
export const ACTIONS = {
  'Look into recordings': [
    { label: 'Show what is in them', verb: 'info', fields: [format('text', 'ndjson')] },
    { label: 'Check whether they are valid', verb: 'verify', fields: [format('text', 'ndjson')] },
    { label: 'List what happens: kills, chat, finishes', verb: 'events', fields: [format('text', 'csv', 'ndjson', 'srt'), ...times] },
    { label: 'Count what each player did', verb: 'stats', fields: [format('text', 'csv', 'ndjson')] },
    { label: 'Show where the bytes go', verb: 'du', fields: [format('text', 'ndjson')] },
    { label: 'Compare two of them', verb: 'diff', together: true, fields: [format('text', 'ndjson')] },
    { label: 'List the connections of packet captures', verb: 'capture', fields: [format('text', 'ndjson')] },
    { label: 'Print every snapshot', verb: 'dump', fields: [format('ndjson', 'csv', 'checksum'), ...times] },
  ],
  'Make recordings of them': [
    { label: 'Cut a piece out', verb: 'cut', makes: '_cut.demo',
      fields: [...times, { label: 'Around', option: '--around', hint: 'kill:NAME, finish or chat:WORD' }] },
    { label: 'Remove names and chat', verb: 'redact', makes: '_redacted.demo',
      fields: [{ label: 'Keep these players', option: '--keep', hint: 'NAME,NAME' }] },
    { label: 'Recover a damaged one', verb: 'repair', makes: '_repaired.demo' },
    { label: 'Join several into one', verb: 'join', together: true, makes: '_joined.demo' },
    { label: 'Merge what several players recorded of one game', verb: 'merge', together: true, makes: '_merged.demo' },
    { label: 'Make a demo of a packet capture', verb: 'capture', makes: '.demo', more: ['--format', 'demo'] },
    { label: 'Compress', verb: 'compress', makes: '.tda' },
    { label: 'Restore what was compressed', verb: 'decompress' },
  ],
  'Take the data out': [
    { label: 'Into an SQLite database', verb: 'export', together: true, makes: '.sqlite' },
    { label: 'Into Arrow files', verb: 'export', together: true, makes: '_arrow', more: ['--format', 'arrow'] },
  ],
  Maps: [
    { label: 'Show what is in them', verb: 'map info', fields: [format('text', 'ndjson')] },
    { label: 'Find what is wrong with them', verb: 'map check', fields: [format('text', 'ndjson')] },
    { label: 'Draw as a picture', verb: 'map render', makes: '.png' },
    { label: 'Take out of a demo', verb: 'map extract', makes: '.map' },
    { label: 'Convert', verb: 'map convert', makes: '_converted.map', fields: [{ label: 'For', option: '--to', choices: ['0.6', '0.7'] }] },
  ],
};

/** Words of a text as shells split it: quotes hold words together. @param {string} text */
export function split_words(text) {
  const words = [];
  for (const [, quoted, plain] of text.matchAll(/"([^"]*)"|(\S+)/g)) words.push(quoted ?? plain);
  return words;
}

/** A file's name without folders and ending. @param {string} name */
const stem = (name) => (name.split('/').pop() ?? name).replace(/\.[^.]*$/, '');

/**
 * The words of a command line.
 * @param {Action} action
 * @param {string[]} names of the files
 * @param {Record<string, string>} values of the fields, by option
 * @param {string} others more options
 */
export function words_of(action, names, values, others) {
  const words = action.verb.split(' ');
  words.push(...(action.more ?? []));
  for (const { option } of action.fields ?? []) {
    const value = values[option]?.trim() ?? '';
    if (value === '') continue;
    if (value.startsWith('-')) words.push(`${option}=${value}`);
    else words.push(option, value);
  }
  words.push(...split_words(others));
  if (action.makes !== undefined) words.push('-o', `${stem(names[0] ?? 'out')}${action.makes}`);
  return [...words, '--', ...names];
}

/** As it would be typed. @param {string[]} words */
export const line_of = (words) => ['teewire', ...words].map((word) => (/^[\w./:=,+-]+$/.test(word) ? word : `"${word}"`)).join(' ');
