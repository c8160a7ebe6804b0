#!/usr/bin/env python3
"""teewire export on every real demo: the tables say what dump prints, also when the program is killed again and again.
Usage: test_export.py TEEWIRE"""
import hashlib
import json
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import TEEWIRE, run  # noqa: E402
from real_demos import CORPUS, SHARE, WithRealDemos  # noqa: E402

KILLS = 20
COMMON = ["recording", "id", "first_tick", "last_tick"]
SMALL = 800_000  # bytes of a demo whose views are read whole


def describe_types():
    """Fields by protocol and name of the item type."""
    types = {}
    for line in run("types", "--format", "ndjson")[1].splitlines():
        t = json.loads(line)
        if t["kind"] == "item":
            types.setdefault(t["protocol"], {})[t["name"]] = {f["name"]: f for f in t["fields"]}
    return types


TYPES = describe_types()


def bits(names, values):
    numbers = {name: int(bit) for bit, name in values.items()}
    number = sum(1 << (numbers[n] if n in numbers else int(n.removeprefix("bit_"))) for n in names)
    return number - (1 << 32 if number >> 31 else 0)


def as_columns(protocol, table, fields):
    """The output of dump for an item as the columns that have a value."""
    if table not in TYPES[protocol]:
        if "uuid" in fields:
            number = fields["uuid"].replace("-", "")
            fields = {"data": [int.from_bytes(bytes.fromhex(number[i:i + 8]), "big", signed=True) for i in range(0, 32, 8)] +
                      fields.get("data", [])}
        return {"ints": fields.get("data", [])}
    columns = {}
    for name, value in fields.items():
        field = TYPES[protocol][table].get(name)
        if field is None:
            if name == "data":
                columns["more"] = value
            continue  # the time that a score means
        column = f"{table}_{name}" if name in ("tick", "id", "more") else name
        for k, one in enumerate(value) if field["count"] > 1 else [(None, value)]:
            if field["type"] == "flags":
                one = bits(one, field["values"])
            columns[column if k is None else f"{column}_{k}"] = int(one) if isinstance(one, bool) else one
    return columns


def from_database(row, names):
    columns = {n: v for n, v in zip(names, row) if v is not None}
    for name in ("more", "ints"):
        if name in columns:
            columns[name] = json.loads(columns[name])
    return columns


class Database:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.tables = [n.removesuffix("_spans") for n, in self.db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%\\_spans' ESCAPE '\\'")]

    def parts(self, path):
        return list(self.db.execute("SELECT recording, protocol FROM recordings WHERE file = ? ORDER BY part", (str(path),)))

    def spans(self, recording):
        """By first tick: (table, id, last tick, columns)."""
        begins = {}
        for table in self.tables:
            rows = self.db.execute(f'SELECT * FROM "{table}_spans" WHERE recording = ?', (recording,))
            names = [d[0] for d in rows.description][4:]
            for _, id_, first, last, *values in rows:
                begins.setdefault(first, []).append((table, id_, last, from_database(values, names)))
        for type_, id_, first, last, ints in self.db.execute(
                "SELECT type, id, first_tick, last_tick, ints FROM other_items WHERE recording = ?", (recording,)):
            begins.setdefault(first, []).append((type_, id_, last, {"ints": json.loads(ints)}))
        return begins

    def ticks(self, recording):
        return list(self.db.execute("SELECT tick, keyframe FROM ticks WHERE recording = ? ORDER BY tick", (recording,)))

    def close(self):
        self.db.close()


def content(path):
    """Tables with the number of their rows and a hash of them, in their order."""
    db = sqlite3.connect(path)
    found = {}
    for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"):
        digest, rows = hashlib.sha256(sql.encode()), 0
        for row in db.execute(f'SELECT * FROM "{name}"'):
            digest.update(repr(row).encode())
            rows += 1
        found[name] = (rows, digest.hexdigest())
    db.close()
    return found


def dump(path):
    process = subprocess.Popen([TEEWIRE, "dump", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process.stdout as out:
        for line in out:
            yield json.loads(line)
    process.wait()


class Export(WithRealDemos):
    def test_rows_are_those_of_dump(self):
        whole = self.folder / "all.sqlite"
        def processor_seconds():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime
        began = processor_seconds()
        run("export", *self.demos, "-o", whole)
        took = processor_seconds() - began
        database = Database(whole)
        self.addCleanup(database.close)
        compared = spans = 0
        for demo in self.demos:
            with self.subTest(demo=demo.name):
                rows, count = self.compare(database, demo)
                compared += rows
                spans += count
        size = sum(d.stat().st_size for d in self.demos)
        print(f"{compared} items of snapshots in {spans} rows are those of dump; {took:.2f} s of a core: {size / took / 1e6:.1f} MB/s of "
              f"demo, {spans / took / 1e6:.2f} M rows/s, which are {compared / took / 1e6:.2f} M items/s")
        self.assertGreater(compared, 1_000_000 // SHARE)

    def compare(self, database, demo):
        lines = dump(demo)
        compared = spans = 0
        for recording, protocol in database.parts(demo):
            begins = database.spans(recording)
            spans += sum(map(len, begins.values()))
            there = {}
            seen = {}
            for tick, keyframe in database.ticks(recording):
                line = next(lines)
                self.assertEqual((tick, bool(keyframe)), (line["tick"], line["keyframe"]))
                for table, id_, last, columns in begins.pop(tick, ()):
                    self.assertNotIn((table, id_), there)
                    there[table, id_] = (last, columns)
                expected = {(table, int(id_)): fields for table, items in line["items"].items() for id_, fields in items.items()}
                self.assertEqual(expected.keys(), there.keys(), tick)
                for key, fields in expected.items():
                    columns = there[key][1]
                    # Unchanged items have the same columns: nothing need be converted again.
                    if seen.get(key, (None, None)) != (fields, id(columns)):
                        self.assertEqual(as_columns(protocol, key[0], fields), columns, (tick, key))
                        seen[key] = (fields, id(columns))
                compared += len(expected)
                there = {key: (last, columns) for key, (last, columns) in there.items() if last != tick}
            self.assertEqual((begins, there), ({}, {}))
            if demo.stat().st_size < SMALL:
                self.compare_views(database, recording, protocol, demo)
        self.assertIsNone(next(lines, None))
        return compared, spans

    def compare_views(self, database, recording, protocol, demo):
        """A row for each tick, as dump prints it."""
        ticks = {t for t, _ in database.ticks(recording)}
        printed = {}
        for line in dump(demo):
            if line["tick"] in ticks:
                for table, items in line["items"].items():
                    for id_, fields in items.items():
                        printed.setdefault(table, {})[line["tick"], int(id_)] = as_columns(protocol, table, fields)
        for table in database.tables:
            rows = database.db.execute(f'SELECT * FROM "{table}" WHERE recording = ?', (recording,))
            self.assertEqual([d[0] for d in rows.description][:3], ["recording", "tick", "id"])
            names = [d[0] for d in rows.description][3:]
            shown = {(tick, id_): from_database(values, names) for _, tick, id_, *values in rows}
            self.assertEqual(shown, printed.get(table, {}), table)

    def test_killed_and_resumed(self):
        """At random moments: nothing is lost, nothing is there twice, and in the end it is the same."""
        whole, cut = self.folder / "whole.sqlite", self.folder / "cut.sqlite"
        began = time.monotonic()
        code = run("export", *self.demos, "-o", whole)[0]
        took = time.monotonic() - began
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        killed, done = 0, []
        for _ in range(20 * KILLS):
            process = subprocess.Popen([TEEWIRE, "export", *self.demos, "-o", cut], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.uniform(0.02, took / 4))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            if process.wait() == -signal.SIGKILL:
                killed += 1
            if cut.exists():
                with sqlite3.connect(cut) as db:
                    there = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
                    done.append(db.execute("SELECT count(*) FROM recordings").fetchone()[0] if there else 0)
                db.close()
            if process.returncode != -signal.SIGKILL:
                if killed >= KILLS:
                    break
                cut.unlink()  # it was done too early
                done = []
        self.assertGreaterEqual(killed, KILLS)
        self.assertEqual(done, sorted(done))
        self.assertEqual(run("export", *self.demos, "-o", cut)[0], code)
        self.assertEqual(*(content(path) for path in (whole, cut)), f"seed {seed}")
        print(f"killed {killed} times")


if __name__ == "__main__":
    if not (CORPUS / "demos").is_dir():
        sys.exit("TEEWIRE_CORPUS names no folder with demos")
    unittest.main(argv=[sys.argv[0], "-v"])
