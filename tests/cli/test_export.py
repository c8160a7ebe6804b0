#!/usr/bin/env python3
"""teewire export: recordings in a database, and what becomes of it when things go wrong.
Usage: test_export.py TEEWIRE FIXTURES MAKE_LONG_ITEMS"""
import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import demo_codec
from in_folder import InFolder
from limits import STUCK, STUCK_AT_WORK
from program import TEEWIRE, run

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
MAKE_LONG_ITEMS = os.path.abspath(sys.argv[3])
YARD = FIXTURES / "demos/ddnet_yard.demo"
DM1 = FIXTURES / "demos/ddnet_dm1.demo"
CAPTURE = FIXTURES / "captures/ddnet_yard.pcap"
DEMOS = sorted((FIXTURES / "demos").glob("*.demo"))


class Exported(InFolder):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "x.sqlite"

    def export(self, *files, code=0, words=(), to=None):
        done = run("export", *files, "-o", to or self.path)
        self.assertEqual((done[0], done[1]), (code, ""), done)
        for word in words:
            self.assertIn(word, done[2])
        return done[2]

    def query(self, text, *values, path=None):
        db = sqlite3.connect(path or self.path)
        try:
            return db.execute(text, values).fetchall()
        finally:
            db.close()

    def content(self, path=None):
        db = sqlite3.connect(path or self.path)
        try:
            return list(db.iterdump())
        finally:
            db.close()


class Tables(Exported):
    def test_recordings(self):
        self.export(YARD, words=["1 file added, 0 already present"])
        whole = YARD.read_bytes()
        info = json.loads(run("info", "--format", "ndjson", YARD)[1])
        names = [r[1] for r in self.query("PRAGMA table_info(recordings)")]
        row = dict(zip(names, self.query("SELECT * FROM recordings")[0]))
        self.assertEqual(row["sha256"], hashlib.sha256(whole).hexdigest())
        self.assertEqual((row["part"], row["connection"], row["file"], row["bytes"], row["protocol"]),
                         (0, "", str(YARD), len(whole), "ddnet"))
        self.assertEqual((row["map"], row["timestamp"], row["lost"], row["damage"]), ("yard", info["date"], 0, None))
        lines = run("dump", "--format", "checksum", YARD)[1].splitlines()
        ticks = [int(line.split()[0]) for line in lines]
        self.assertEqual((row["first_tick"], row["last_tick"], row["snapshots"]), (ticks[0], ticks[-1], len(ticks)))
        self.assertEqual([t for t, in self.query("SELECT tick FROM ticks ORDER BY tick")], ticks)

    def test_items(self):
        self.export(DM1)
        first = json.loads(run("dump", DM1)[1].splitlines()[0])
        expected = first["items"]["character"]["0"]
        self.assertEqual(self.query("SELECT x, y, weapon, player_flags, character_tick FROM character WHERE tick = ? AND id = 0",
                                    first["tick"])[0],
                         (expected["x"], expected["y"], expected["weapon"], 1 if expected["player_flags"] else 0, expected["tick"]))
        # A field that only another protocol has is null.
        self.assertEqual(self.query("SELECT count(*), count(triggered_events), count(more) FROM character_spans"),
                         [(self.query("SELECT count(*) FROM character_spans")[0][0], 0, 0)])
        self.assertEqual({type(v) for row in self.query("SELECT x, angle, hook_state FROM character") for v in row}, {int})
        self.assertEqual({t for t, in self.query("SELECT DISTINCT typeof(name) FROM client_info")}, {"text"})
        rows = self.query("SELECT count(*) FROM character")[0][0]
        self.assertEqual(rows, len(run("dump", "--format", "csv", "--type", "character", DM1)[1].splitlines()) - 1)

    def test_long_items(self):
        """Ints after the known fields are there, and a change of only these makes another row; missing ones are null."""
        long = self.folder / "long.demo"
        subprocess.run([MAKE_LONG_ITEMS, long], check=True)
        self.export(long)
        db = sqlite3.connect(self.path)
        self.addCleanup(db.close)
        rows = db.execute("SELECT * FROM ddnet_character ORDER BY tick, id")
        names = [d[0] for d in rows.description]
        found = {}
        for row in rows:
            columns = dict(zip(names, row))
            found[columns.pop("tick"), columns.pop("id")] = columns
        expected = {(at["tick"], int(id_)): item for at in map(json.loads, run("dump", long)[1].splitlines())
                    for id_, item in at["items"]["ddnet_character"].items()}
        self.assertEqual(len(expected), 30)
        self.assertEqual(found.keys(), expected.keys())
        for key, item in expected.items():
            self.assertEqual(json.loads(found[key]["more"] or "null"), item.get("data"), key)
            # All that dump prints, and nothing else.
            there = {name for name, value in found[key].items() if value is not None} - {"recording", "more"}
            self.assertEqual(there, set(item) - {"data"}, key)
            numbers = {name: item[name] for name in there if type(item[name]) is int}
            self.assertEqual({name: found[key][name] for name in numbers}, numbers)
        self.assertEqual(self.query("SELECT id, count(*), count(more) FROM ddnet_character_spans GROUP BY id"),
                         [(n, 5, 5 if n > 2 else 0) for n in range(6)])
        known = len(names) - len(["recording", "tick", "id", "more"])
        self.assertEqual(self.query("SELECT more FROM ddnet_character_spans WHERE id = 5 AND first_tick = 104"),
                         [(f"[{5000 + known},{5000 + known + 1},-52]",)])

    def test_players(self):
        self.export(YARD)
        found = {r[:2] for r in self.query("SELECT client_id, name FROM players")}
        names = {(int(i), p["name"]) for line in run("dump", "--type", "client_info", YARD)[1].splitlines()
                 for i, p in json.loads(line)["items"].get("client_info", {}).items()}
        self.assertEqual(found, names)
        self.assertEqual(self.query("SELECT count(*) FROM players p JOIN recordings r USING (recording) "
                                    "WHERE p.first_tick < r.first_tick OR p.last_tick > r.last_tick OR p.first_tick > p.last_tick"),
                         [(0,)])

    def test_players_that_change(self):
        """Another name or clan makes another row."""
        demo = demo_codec.Writer()
        for tick in range(100, 400, 2):
            name, clan = b"b" if tick >= 300 else b"a", b"y" if tick >= 200 else b"x"
            demo.snapshot(tick, [(11, 3, [*demo_codec.text_ints(name, 4), *demo_codec.text_ints(clan, 3), -1,
                                          *demo_codec.text_ints(b"default", 6), 0, 0, 0]), (10, 3, [0, 3, 0, 0, 0])])
        file = self.folder / "made.demo"
        file.write_bytes(demo.out)
        self.export(file)
        self.assertEqual(self.query("SELECT client_id, name, clan, first_tick, last_tick FROM players ORDER BY first_tick"),
                         [(3, "a", "x", 100, 198), (3, "a", "y", 200, 298), (3, "b", "y", 300, 398)])

    def test_messages(self):
        self.export(*DEMOS)
        kinds = dict(self.query("SELECT kind, count(*) FROM messages GROUP BY kind"))
        self.assertGreater(kinds["chat"], 0)
        for kind, fields in self.query("SELECT kind, fields FROM messages"):
            self.assertIsInstance(json.loads(fields), dict, kind)
        chat = [json.loads(f) for f, in self.query("SELECT fields FROM messages WHERE kind = 'chat'")]
        self.assertTrue(all(isinstance(c["text"], str) and isinstance(c["client_id"], int) for c in chat))
        self.assertEqual(set(kinds) & {"snap", "snap_single", "snap_empty", "map_data", "input_timing"}, set())
        self.assertEqual(self.query("SELECT sum(messages) FROM recordings")[0][0], sum(kinds.values()))

    def test_captures(self):
        self.export(CAPTURE, words=["1 file added"])
        row = self.query("SELECT sha256, map, began IS NOT NULL, timestamp, snapshots FROM recordings")[0]
        self.assertEqual(row[:4], (hashlib.sha256(CAPTURE.read_bytes()).hexdigest(), "yard", 1, None))
        self.assertEqual(row[4], len(run("dump", "--format", "checksum", CAPTURE)[1].splitlines()))
        # A message or an event before the first tick has none.
        for table in "messages", "events":
            self.assertEqual(self.query(f"SELECT count(tick IS NULL OR NULL) > 0, min(tick) > 0 FROM {table}"), [(1, 1)], table)
        # Another connection of a file is another recording.
        run("export", CAPTURE, "--connection", "1", "-o", self.path)
        self.assertEqual(sorted(self.query("SELECT connection, part FROM recordings")), [("", 0), ("1", 0)])

    def test_plans(self):
        """Instant queries use only an index."""
        self.export(YARD)
        def plan(text):
            return " | ".join(row[3] for row in self.query("EXPLAIN QUERY PLAN " + text))
        found = plan("SELECT tick, x, y FROM character WHERE recording = 1 AND id = 3 AND tick BETWEEN 320 AND 400")
        self.assertIn("SEARCH s USING PRIMARY KEY (recording=? AND id=?", found)
        self.assertIn("SEARCH t USING PRIMARY KEY (recording=? AND tick>? AND tick<?)", found)
        self.assertNotIn("SCAN", found)
        found = plan("SELECT first_tick, x, y FROM character_spans WHERE recording = 1 AND id = 3 AND first_tick BETWEEN 320 AND 400")
        self.assertEqual(found, "SEARCH character_spans USING PRIMARY KEY (recording=? AND id=? AND first_tick>? AND first_tick<?)")
        found = plan("SELECT c.tick, c.x, c.y FROM players p JOIN character c ON c.recording = p.recording AND c.id = p.client_id "
                     "AND c.tick BETWEEN p.first_tick AND p.last_tick WHERE p.name = 'nameless'")
        self.assertIn("INDEX players_name (name=?)", found)
        self.assertNotIn("SCAN", found)
        found = plan("SELECT m.tick, m.fields FROM recordings r JOIN messages m USING (recording) "
                     "WHERE r.map = 'yard' AND m.kind = 'race_finish'")
        self.assertIn("recordings_map (map=?", found)
        self.assertIn("messages_kind (kind=?", found)
        self.assertNotIn("SCAN", found)


class Events(Exported):
    def test_events(self):
        """Those that `events` prints."""
        for file in (*DEMOS, CAPTURE):
            self.export(file)
            printed = [json.loads(line) for line in run("events", "--format", "ndjson", file)[1].splitlines()]
            names = [r[1] for r in self.query("PRAGMA table_info(events)")]
            found = [dict(zip(names, row)) for row in self.query("SELECT * FROM events ORDER BY recording, number")]
            found = [{k: v for k, v in row.items() if v is not None and k not in ("recording", "number")} for row in found]
            for event in printed:
                if event["tick"] < 0:
                    del event["tick"]
                for key in [key for key, value in event.items() if value == ""]:
                    del event[key]
            self.assertEqual(found, printed, file)
            self.path.unlink()


class Growing(Exported):
    def test_again(self):
        self.export(YARD)
        before = self.path.read_bytes()
        self.export(YARD, words=["0 files added, 1 already present"])
        self.assertEqual(self.path.read_bytes(), before)
        copy = self.folder / "copy.demo"
        copy.write_bytes(YARD.read_bytes())
        self.export(copy, words=["0 files added, 1 already present"])
        self.export(*DEMOS)
        one = self.folder / "one.sqlite"
        self.export(YARD, *(d for d in DEMOS if d != YARD), to=one)
        self.assertEqual(self.content(), self.content(one))

    def test_damage(self):
        """Everything before it is kept, and the damage is reported each time."""
        cut = self.folder / "cut.demo"
        cut.write_bytes(DM1.read_bytes()[:20_000])
        said = self.export(cut, YARD, code=1, words=["cut.demo: tick ", "2 files added"])
        expected = run("dump", "--format", "checksum", cut)
        self.assertEqual(expected[0], 1)
        self.assertEqual(self.query("SELECT snapshots, damage FROM recordings ORDER BY recording")[0],
                         (len(expected[1].splitlines()), said.splitlines()[0].removeprefix(f"teewire: {cut}: ")))
        self.assertEqual(self.query("SELECT damage FROM recordings ORDER BY recording")[1], (None,))
        self.assertEqual(self.export(cut, code=1).splitlines()[0], said.splitlines()[0])

    def test_ticks_that_begin_anew(self):
        """A demo whose ticks go back is several recordings."""
        whole = DM1.read_bytes()
        first = whole.index(b"\xc0\x00\x00\x02\xf0")  # keyframe, tick 752
        long = self.folder / "long.demo"
        long.write_bytes(whole + whole[first:])
        self.export(long)
        rows = self.query("SELECT part, first_tick, last_tick, snapshots FROM recordings ORDER BY part")
        self.assertEqual([r[0] for r in rows], [0, 1])
        self.assertEqual(rows[0][1:], rows[1][1:])
        counts = [self.query("SELECT count(*), sum(x), sum(tick) FROM character WHERE recording = ?", n)[0] for n in (1, 2)]
        self.assertEqual(counts[0], counts[1])
        self.assertGreater(counts[0][0], 0)

    def test_standard_input(self):
        done = run("export", "-", "-o", self.path, stdin=YARD.read_bytes())
        self.assertEqual(done[0], 0, done)
        self.assertEqual(self.query("SELECT file FROM recordings"), [("standard input",)])
        self.export(YARD, words=["1 already present"])

    def test_pipes(self):
        """Anything but a regular file is read once."""
        pipe = self.folder / "x.demo"
        os.mkfifo(pipe)
        with subprocess.Popen(["cp", YARD, pipe]) as writer:
            self.export(pipe)
        self.assertEqual(writer.returncode, 0)
        self.export(YARD, words=["1 already present"])

    def test_compressed(self):
        packed = self.folder / "x.demo.gz"
        packed.write_bytes(subprocess.run(["gzip", "-c", YARD], capture_output=True, check=True).stdout)
        self.export(packed)
        self.export(YARD, words=["1 already present"])

    def test_odd_names(self):
        for name in (":memory:", "file:x?mode=memory", " ", "ü", "a'b\"c"):
            done = subprocess.run([TEEWIRE, "export", YARD, f"--output={name}"], cwd=self.folder, capture_output=True)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(self.files(), [name])
            (self.folder / name).unlink()


class Parts(Exported):
    def test_shards(self):
        """Every file is in one of them, wherever it is done, and together they are the whole."""
        self.export(*DEMOS)
        parts = []
        for number in (1, 2, 3):
            code, _, err = run("export", *DEMOS, "-o", self.folder / "part.sqlite", "--shard", f"{number}/3")
            self.assertEqual(code, 0, err)
            part = self.folder / f"part-{number}-of-3.sqlite"
            if part.exists():
                parts.append(part)
        files = [f for part in parts for f, in self.query("SELECT file FROM recordings", path=part)]
        self.assertEqual(sorted(files), sorted(map(str, DEMOS)))
        self.assertGreater(len(parts), 1)
        # The other files there are, and their order, make no difference.
        again = self.folder / "again.sqlite"
        for number in (1, 2, 3):
            run("export", *reversed(DEMOS[:3]), "-o", again, "--shard", f"{number}/3")
            of_all = self.folder / f"part-{number}-of-3.sqlite"
            part = self.folder / f"again-{number}-of-3.sqlite"
            found = {f for f, in self.query("SELECT file FROM recordings", path=part)} if part.exists() else set()
            all_of_it = {f for f, in self.query("SELECT file FROM recordings", path=of_all)} if of_all.exists() else set()
            self.assertEqual(found, all_of_it & set(map(str, DEMOS[:3])))
        # Put together, in the order of the files.
        merged = self.folder / "merged.sqlite"
        self.export(*parts, to=merged, words=[f"{len(DEMOS)} files added, 0 already present"])
        self.assertEqual(self.rows(merged), self.rows(self.path))
        self.export(*parts, *DEMOS, to=merged, words=[f"0 files added, {2 * len(DEMOS)} already present"])
        for wrong in ("0/3", "4/3", "1/0", "1", "1/", "/3", "1/3x", "-1/3", "1/9999999"):
            code, _, err = run("export", YARD, "-o", self.path, f"--shard={wrong}")
            self.assertEqual((code, "--shard" in err), (2, True), wrong)

    def test_shards_of_other_verbs(self):
        verbs = [(["verify"], DEMOS), (["capture", "--all"], [CAPTURE, *DEMOS[:2]])]
        verbs += [([verb, "--format", form], DEMOS) for verb, forms in {
            "verify": ["ndjson"], "info": ["ndjson"], "events": ["ndjson", "csv", "text"], "stats": ["ndjson", "csv"], "du": ["ndjson"],
            "dump": ["ndjson", "checksum"]}.items() for form in forms]
        verbs += [(["capture", "--format", "ndjson"], [CAPTURE] * 2)]
        verbs += [(["map", verb, "--format", "ndjson"], sorted((FIXTURES / "maps").glob("*.map"))) for verb in ("info", "check")]
        for verb, files in verbs:
            _, whole, errors = run(*verb, *files)
            lines = []
            said = []
            for number in (1, 2, 3):
                part = [*verb, *files, "--shard", f"{number}/3"]
                out = self.folder / f"out-{number}-of-3.txt"
                code, printed, err = run(*part, "-o", self.folder / "out.txt")
                self.assertEqual(printed, "")
                said += err.splitlines()
                # The files of a part depend on their paths. A part that cannot read any leaves nothing.
                if code != 0 and not out.exists():
                    self.assertEqual(run(*part), (code, "", err))
                    continue
                self.assertEqual(run(*part), (code, out.read_text(), err))
                # A head is that of the whole.
                head = whole.splitlines()[:1] if "csv" in verb else []
                self.assertEqual(out.read_text().splitlines()[:len(head)], head)
                lines += out.read_text().splitlines()[len(head):]
                done = run(*part, "-o", self.folder / "out.txt")
                self.assertEqual(done, (0, "", f"teewire: {out}: already complete\n"))
                self.assertEqual(run(*part, "-o", self.folder / "out.txt", "--force"), (code, "", err))
                out.unlink()
            lines, all_of_it = sorted(filter(None, lines)), sorted(filter(None, whole.splitlines()[len(head):]))
            self.assertEqual(lines, all_of_it, verb)
            self.assertEqual(sorted(said), sorted(errors.splitlines()))

    def test_no_shards(self):
        for wrong in (["stats", "--sum", YARD], ["dump", "--follow", YARD], ["events", "--follow", YARD], ["events", "127.0.0.1:1"],
                      ["dump", "127.0.0.1:1"], ["capture", CAPTURE, "-o", self.folder / "x.demo"]):
            done = run(*wrong, "--shard", "1/1")
            self.assertEqual((done[0], "--shard" in done[2]), (2, True), done)
        for verb in ("dump", "events", "stats", "info", "verify", "du"):
            # One file, which is in one of the parts: nothing says which it is, as without parts.
            both = [run(verb, YARD, "--shard", f"{n}/2") for n in (1, 2)]
            self.assertEqual(sorted(both), sorted([(0, "", ""), run(verb, YARD)]))

    def rows(self, path):
        """With the hash of the recording in place of its number."""
        db = sqlite3.connect(path)
        names = dict(db.execute("SELECT recording, sha256 || connection || part FROM recordings"))
        found = {}
        for table, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            found[table] = sorted(repr((names[recording], *row)) for recording, *row in db.execute(f'SELECT * FROM "{table}"'))
        db.close()
        return found

    def test_wrong_databases(self):
        self.export(YARD)
        mine = self.folder / "mine.sqlite"
        with sqlite3.connect(mine) as db:
            db.execute("CREATE TABLE recordings (x)")
        db.close()
        self.assertIn("is another program's database", self.export(mine, code=2))
        other = self.folder / "other.sqlite"
        self.export(DM1, to=other)
        before = self.content()
        # Damaged in the middle, and with tables that it should not have.
        whole = other.read_bytes()
        (self.folder / "damaged.sqlite").write_bytes(whole[:len(whole) // 2] + bytes(100_000) + whole[len(whole) // 2 + 100_000:])
        self.assertIn("damaged.sqlite: ", self.export(self.folder / "damaged.sqlite", code=1))
        self.assertEqual(self.content(), before)
        with sqlite3.connect(other) as db:
            db.execute("DROP VIEW character")
            db.execute("ALTER TABLE character_spans RENAME TO gone")
        db.close()
        self.assertIn("other.sqlite: ", self.export(other, code=1))
        self.assertEqual(self.content(), before)
        self.assertIn("cannot also be the output", self.export(self.path, code=2))
        self.assertIn("`teewire export` reads it", run("dump", self.path)[2])

    def test_databases_changed_at_random(self):
        """They are added, or refused with nothing added."""
        self.export(YARD)
        other = self.folder / "other.sqlite"
        self.export(DM1, to=other)
        whole, before = other.read_bytes(), self.path.read_bytes()
        chosen = random.Random(1)
        codes = set()
        for _ in range(24):
            changed = bytearray(whole)
            for _ in range(chosen.choice((1, 20, 400))):
                changed[chosen.randrange(chosen.choice((100, 4096, len(whole))))] = chosen.randrange(256)
            other.write_bytes(changed)
            code, out, said = run("export", other, "-o", self.path)
            self.assertIn(code, (0, 1, 2), said)
            self.assertEqual(out, "")
            if code != 0:
                self.assertIn("other.sqlite: ", said)
                self.assertEqual(self.path.read_bytes(), before)
            self.path.write_bytes(before)
            codes.add(code)
        self.assertGreater(len(codes), 1)

    def test_databases_that_never_end(self):
        """A table that is a view is not read, and a trigger does nothing, whatever the schema says."""
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        columns = ", ".join(f"0 AS {name}" for name in ("connection", "part", "file", "bytes", "protocol", "map", "map_crc"))
        evil = {
            "recordings": ["ALTER TABLE recordings RENAME TO r0",
                           f"CREATE VIEW recordings AS {endless} SELECT i AS recording, i AS sha256, {columns} FROM n"],
            "ticks": ["DROP TABLE ticks",
                      f"CREATE VIEW ticks AS {endless} SELECT 1 AS recording, i AS tick, 0 AS keyframe FROM n"]}
        for name, statements in evil.items():
            file = self.folder / f"{name}.sqlite"
            self.export(DM1, to=file)
            with sqlite3.connect(file) as db:
                for statement in statements:
                    db.execute(statement)
            db.close()
            self.assertRegex(self.export(file, code=1), f"{name}.sqlite: is damaged: (access to view|no such table)")
            self.assertFalse(self.path.exists())
        self.export(DM1)
        with sqlite3.connect(self.path) as db:
            db.execute(f"CREATE TRIGGER t AFTER INSERT ON recordings BEGIN INSERT INTO messages (recording, number, tick) {endless} "
                       "SELECT 1, i + 100000, 0 FROM n; END")
        db.close()
        self.export(YARD, words=["1 file added"])
        self.assertEqual(self.query("SELECT count(*) FROM recordings"), [(2,)])


class Document(Exported):
    """The queries in lib/doc/data.md work."""

    def setUp(self):
        super().setUp()
        for demo in DEMOS:
            (self.folder / demo.name).symlink_to(demo)
        self.assertEqual(run("export", *(d.name for d in DEMOS), "-o", "games.sqlite", cwd=self.folder)[0], 0)
        text = (FIXTURES.parent / "lib/doc/data.md").read_text()
        self.blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S)

    def of(self, language):
        found = [block for kind, block in self.blocks if kind == language]
        self.assertGreaterEqual(len(found), 11)
        return found

    def test_foreign_keys(self):
        """Every table but that of the recordings refers to it, and every row to one that is there."""
        path = self.folder / "games.sqlite"
        tables = {name for name, in self.query("SELECT name FROM sqlite_schema WHERE type = 'table'", path=path)}
        for table in tables - {"recordings"}:
            keys = self.query(f"SELECT \"table\", \"from\" FROM pragma_foreign_key_list('{table}')", path=path)
            self.assertEqual(keys, [("recordings", "recording")], table)
        self.assertEqual(self.query("PRAGMA foreign_key_check", path=path), [])

    def test_columns(self):
        """The document lists the columns of every table."""
        text = (FIXTURES.parent / "lib/doc/data.md").read_text()
        documented = {name: re.findall("`(.*?)`", columns) for name, columns in
                      re.findall(r"^\| `(\w+)` \| .* \| (`recording`.*) \|$", text, re.M)}
        for table in "recordings", "ticks", "players", "messages", "events", "other_items":
            columns = [name for name, in self.query(f"SELECT name FROM pragma_table_info('{table}')",
                                                    path=self.folder / "games.sqlite")]
            self.assertEqual([name for name in documented[table] if name in columns], columns)

    def test_near(self):
        """The query about who was near whom finds what comparing all places at these ticks finds."""
        near = next(block for block in self.of("sql") if "moments" in block)
        ticks = "SELECT recording, min(tick) FROM ticks GROUP BY recording, tick / 50"
        all_ = self.query(f"""SELECT p.name, q.name, count(*) FROM character a JOIN character b USING (recording, tick)
            JOIN players p ON p.recording = a.recording AND p.client_id = a.id AND a.tick BETWEEN p.first_tick AND p.last_tick
            JOIN players q ON q.recording = a.recording AND q.client_id = b.id AND a.tick BETWEEN q.first_tick AND q.last_tick
            WHERE (a.recording, a.tick) IN ({ticks}) AND a.id < b.id AND abs(a.x - b.x) < 320 AND abs(a.y - b.y) < 320
            GROUP BY p.name, q.name""", path=self.folder / "games.sqlite")
        found = self.query(near, path=self.folder / "games.sqlite")
        self.assertGreater(len(found), 3)
        self.assertEqual(sorted(found), sorted(all_))

    def test_sql(self):
        empty = []
        for block in self.of("sql"):
            if not self.query(block, path=self.folder / "games.sqlite"):
                empty.append(block)
            plan = " | ".join(row[3] for row in self.query("EXPLAIN QUERY PLAN " + block, path=self.folder / "games.sqlite"))
            if "MATERIALIZE" not in plan:  # which has no index of its own
                self.assertNotIn("AUTOMATIC", plan)
        # These have no finishes and no chat.
        self.assertLessEqual(len(empty), 2, empty)

    def test_jq(self):
        if not shutil.which("jq"):
            self.skipTest("jq is not installed")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/teewire").symlink_to(TEEWIRE)
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        empty = 0
        for block in self.of("sh"):
            done = subprocess.run(["bash", "-ec", "set -o pipefail; " + block], cwd=self.folder, capture_output=True, timeout=STUCK_AT_WORK,
                                  env={**os.environ, "PATH": path})
            self.assertEqual((done.returncode, done.stderr), (0, b""), block)
            empty += done.stdout == b""
        self.assertLessEqual(empty, 2)

    def test_pandas(self):
        python = next((p for p in (sys.executable, "/usr/bin/python3") if os.path.exists(p) and
                       subprocess.run([p, "-c", "import pandas"], capture_output=True).returncode == 0), None)
        if not python:
            self.skipTest("pandas is not installed")
        done = subprocess.run([python, "-c", "\n".join(self.of("python"))], cwd=self.folder, capture_output=True, timeout=STUCK_AT_WORK)
        self.assertEqual(done.returncode, 0, done.stderr.decode())


class Wrong(Exported):
    def refused(self, code, *words, files=(YARD,), to=None):
        done = run("export", *files, "-o", to or self.path)
        self.assertEqual(done[:2], (code, ""), done)
        self.assertEqual(done[2].count("\n"), 1, done)
        for word in words:
            self.assertIn(word, done[2])

    def test_other_files(self):
        self.path.write_bytes(YARD.read_bytes())
        self.refused(2, "x.sqlite: is not a database")
        self.refused(2, "is an input and cannot also be the output", files=(self.path,))
        self.assertEqual(self.path.read_bytes(), YARD.read_bytes())
        self.path.unlink()
        with sqlite3.connect(self.path) as db:
            db.execute("CREATE TABLE mine (x)")
        db.close()
        before = self.path.read_bytes()
        self.refused(2, "another program's database")
        self.assertEqual(self.path.read_bytes(), before)
        self.path.unlink()
        self.export(YARD)
        with sqlite3.connect(self.path) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        self.refused(2, "its tables have version 99")

    def test_places(self):
        self.refused(2, "must be a regular file", to=self.folder)
        self.refused(3, "none/x: cannot be written", to=self.folder / "none/x")
        self.refused(2, "standard output", to="-")
        self.refused(2, "must be a regular file", to="/dev/full")
        (self.folder / "link").symlink_to("nowhere")
        self.refused(2, "dangling symlink", to=self.folder / "link")
        self.assertEqual(self.files(), ["link"])

    def test_nothing_to_add(self):
        """Where nothing was added, no database appears; what is there stays."""
        self.refused(3, "no such file", files=(self.folder / "none",))
        empty = self.folder / "empty"
        empty.write_bytes(b"")
        self.refused(1, "not a demo", files=(empty,))
        self.assertEqual(self.files(), ["empty"])
        said = self.export(self.folder / "none", YARD, FIXTURES / "maps/ddnet.map", code=3)
        self.assertEqual(len(said.splitlines()), 3)
        self.assertEqual(self.query("SELECT count(*) FROM recordings"), [(1,)])

    def test_full_disk(self):
        """Earlier data is still there, and valid."""
        self.export(YARD)
        before = self.content()
        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.path.stat().st_size + 50_000,) * 2)
        done = run("export", DM1, "-o", self.path, preexec_fn=small)
        self.assertEqual(done[0], 3, done)
        self.assertIn("x.sqlite: cannot be written", done[2])
        self.assertEqual(self.content(), before)
        self.export(DM1, words=["1 file added"])
        self.assertEqual(self.files(), ["x.sqlite"])

    def test_killed(self):
        """Nothing has the name, and the next run removes what is left; not what others are writing."""
        long = self.folder / "long.demo"
        demo = DM1.read_bytes()
        first = demo.index(b"\xc0\x00\x00\x02\xf0")  # keyframe, tick 752
        long.write_bytes(demo[:first] + demo[first:] * 300)
        process = subprocess.Popen([TEEWIRE, "export", long, "-o", self.path])
        deadline = time.monotonic() + STUCK
        while not (left := list(self.folder.glob(".teewire-*.part"))) or left[0].stat().st_size == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        process.kill()
        process.wait()
        self.assertFalse(self.path.exists())
        [left] = self.folder.glob(".teewire-????????.part")
        names = [".teewire-00000001.part", ".teewire-00000002.part-journal", ".teewire-0000000x.part", ".teewire-00000003.part",
                 ".teewire-00000004.part"]
        mine = [self.folder / name for name in names]
        for file in mine:
            file.write_bytes(b"x")
        for file in [left, *mine[:-1]]:
            os.utime(file, (0, 0))
        with mine[0].open("r+b") as locked:
            fcntl.lockf(locked, fcntl.LOCK_EX)
            self.export(DM1)
        self.assertEqual(sorted(f.name for f in self.folder.glob(".teewire-*")), [names[0], names[4], names[2]])

    def test_locked(self):
        """Two that add to one database wait for each other."""
        both = [subprocess.Popen([TEEWIRE, "export", demo, "-o", self.path], stderr=subprocess.PIPE) for demo in (YARD, DM1)]
        said = [process.communicate(timeout=STUCK)[1] for process in both]
        self.assertEqual([p.returncode for p in both], [0, 0], said)
        self.assertEqual(self.query("SELECT count(*) FROM recordings"), [(2,)])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
