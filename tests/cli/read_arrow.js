// Prints a file of Apache Arrow's as JSON, read by Apache's own library: its types, and each row as an array.
// Usage: node read_arrow.js FILE
const fs = require('fs');
const { tableFromIPC } = require('apache-arrow');

const table = tableFromIPC(fs.readFileSync(process.argv[2]));
const plain = value => typeof value === 'bigint' ? Number(value) : value;
console.log(JSON.stringify(Object.fromEntries(table.schema.fields.map(f => [f.name, String(f.type)]))));
for (const batch of table.batches) {
    const columns = table.schema.fields.map((_, n) => batch.getChildAt(n));
    for (let row = 0; row < batch.numRows; ++row)
        console.log(JSON.stringify(columns.map(c => plain(c.get(row)))));
}
