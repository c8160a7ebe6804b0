#!/usr/bin/env python3
"""teewire export --format arrow: what Apache's own library reads there is what the database has.
Usage: test_arrow.py TEEWIRE FIXTURES MAKE_LONG_ITEMS. With TEEWIRE_CORPUS, real recordings are read, too. Exit code 77, where the npm package
apache-arrow cannot be had, is a test that was skipped."""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from in_folder import InFolder
from limits import STUCK_AT_WORK
from program import run
from real_demos import SHARE

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
MAKE_LONG_ITEMS = os.path.abspath(sys.argv[3])
DEMOS = sorted((FIXTURES / "demos").glob("*.demo"))
YARD = FIXTURES / "demos/ddnet_yard.demo"
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nowhere")
READER = pathlib.Path(__file__).resolve().parent / "read_arrow.js"
PACKAGE = "apache-arrow@21"
NODE = None  # environment in which node finds the package


def find_package():
    """Installs the package, once for all tests of this machine."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    kept = pathlib.Path(tempfile.gettempdir()) / f"teewire-npm-{os.getuid()}"
    if kept.exists() and kept.stat().st_uid != os.getuid():
        return None
    if not (kept / "node_modules/apache-arrow/package.json").is_file():
        made = tempfile.mkdtemp(dir=tempfile.gettempdir())
        done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", made, PACKAGE],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=STUCK_AT_WORK)
        if done.returncode != 0:
            shutil.rmtree(made)
            return None
        try:
            os.rename(made, kept)
        except OSError:  # another test was faster
            shutil.rmtree(made)
    return {**os.environ, "NODE_PATH": str(kept / "node_modules")}


def read(path):
    """Types of the columns, and rows."""
    process = subprocess.Popen(["node", READER, path], stdout=subprocess.PIPE, env=NODE)
    with process.stdout as out:
        types = json.loads(out.readline())
        rows = [json.loads(line) for line in out]
    assert process.wait() == 0, path
    return types, rows


SQL_TYPES = {"Int32": "INTEGER", "Int64": "INTEGER", "Bool": "INTEGER", "Utf8": "TEXT", "Dictionary<Int32, Utf8>": ""}


class Arrow(InFolder):
    def compare(self, *files):
        """Every table, and every row of it in its order."""
        database, folder = self.folder / "x.sqlite", self.folder / "x"
        code = run("export", *files, "-o", database)[0]
        self.assertEqual(run("export", *files, "--format", "arrow", "-o", folder)[0], code)
        db = sqlite3.connect(database)
        self.addCleanup(db.close)
        compared = 0
        for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            order = "recording, rowid" if name == "other_items" else "1, 2, 3"
            expected = db.execute(f'SELECT * FROM "{name}" ORDER BY {order}').fetchall()
            file = folder / (name.removesuffix("_spans") + ".arrow")
            if not file.exists():
                self.assertEqual(expected, [], name)
                continue
            types, rows = read(file)
            columns = db.execute(f'PRAGMA table_info("{name}")').fetchall()
            self.assertEqual(list(types), [c[1] for c in columns], name)
            for (_, column, declared, *_), kind in zip(columns, types.values()):
                if name.endswith("_spans"):
                    self.assertEqual(declared, SQL_TYPES[kind], (name, column))
            words = [n for n, kind in enumerate(types.values()) if kind.startswith("Dictionary")]
            booleans = [n for n, kind in enumerate(types.values()) if kind == "Bool"]
            # In batches of a recording each: the database sorts players and items in all of it.
            rows.sort(key=lambda r: r[:3] if name != "other_items" else r[:1])
            self.assertEqual(len(rows), len(expected), name)
            for row, from_database in zip(rows, expected):
                from_database = list(from_database)
                for n in words:
                    if isinstance(from_database[n], int):
                        from_database[n] = str(from_database[n])
                for n in booleans:
                    if from_database[n] is not None:
                        from_database[n] = from_database[n] != 0
                self.assertEqual(row, from_database, name)
            compared += len(rows)
        return compared

    def test_fixtures(self):
        print(f"{self.compare(*DEMOS, FIXTURES / 'captures/ddnet_yard.pcap')} rows", file=sys.stderr)

    def test_long_items(self):
        long = self.folder / "long.demo"
        subprocess.run([MAKE_LONG_ITEMS, long], check=True)
        self.assertGreater(self.compare(long), 0)
        types, rows = read(self.folder / "x/ddnet_character.arrow")
        more = list(types).index("more")
        self.assertEqual({len(json.loads(row[more])) for row in rows if row[more] is not None}, {1, 2, 3})

    def test_real_recordings(self):
        demos = sorted((CORPUS / "demos").glob("*.demo"))[::SHARE]
        if not demos:
            self.skipTest("TEEWIRE_CORPUS names no folder with demos")
        compared = self.compare(*demos)
        print(f"{compared} rows", file=sys.stderr)
        self.assertGreater(compared, 500_000 // SHARE)

    def test_what_is_there(self):
        folder = self.folder / "x"
        self.assertEqual(run("export", YARD, "--format", "arrow", "-o", folder)[0], 0)
        before = {f.name: f.read_bytes() for f in folder.iterdir()}
        code, _, err = run("export", DEMOS[0], "--format", "arrow", "-o", folder)
        self.assertEqual((code, "exists; --force replaces it" in err), (2, True), err)
        self.assertEqual({f.name: f.read_bytes() for f in folder.iterdir()}, before)
        # Files that the new recordings lack are removed, and foreign files are kept.
        (folder / "map_best_time.arrow").write_bytes(b"old")
        (folder / "mine").write_bytes(b"mine")
        self.assertEqual(run("export", YARD, "--format", "arrow", "-o", folder, "--force")[0], 0)
        self.assertEqual({f.name: f.read_bytes() for f in folder.iterdir()}, {**before, "mine": b"mine"})
        self.assertEqual(run("export", YARD, "--format", "sqlite", "-o", self.folder / "y", "--force")[0], 2)
        self.assertEqual(run("export", YARD, "--format", "arrow", "-o", "-")[0], 2)
        self.assertEqual(run("export", self.folder / "none", "--format", "arrow", "-o", self.folder / "z")[0], 3)
        self.assertEqual(self.files(), ["x"])
        (self.folder / "file").write_bytes(b"")
        self.assertEqual(run("export", YARD, "--format", "arrow", "-o", self.folder / "file")[0], 2)

    def test_shards(self):
        for number in (1, 2):
            self.assertEqual(run("export", *DEMOS, "--format", "arrow", "-o", self.folder / "x", "--shard", f"{number}/2")[0], 0)
        files = sorted(row[4] for number in (1, 2) for row in read(self.folder / f"x-{number}-of-2/recordings.arrow")[1])
        self.assertEqual(files, sorted(map(str, DEMOS)))
        code, _, err = run("export", *DEMOS, "--format", "arrow", "-o", self.folder / "x", "--shard", "1/2")
        self.assertEqual((code, err), (0, f"teewire: {self.folder}/x-1-of-2: already complete\n"))

    def test_damage(self):
        cut = self.folder / "cut.demo"
        cut.write_bytes(YARD.read_bytes()[:-100])
        folder = self.folder / "x"
        code, _, err = run("export", cut, YARD, cut, "--format", "arrow", "-o", folder)
        self.assertEqual((code, err.count("cut.demo: tick ")), (1, 2), err)
        damages = [row[-1] for row in read(folder / "recordings.arrow")[1]]
        self.assertEqual((len(damages), damages[1]), (2, None))
        self.assertIn("tick ", damages[0])


if __name__ == "__main__":
    NODE = find_package()
    if NODE is None:
        print(f"SKIPPED: node and npm's {PACKAGE} cannot be had")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "-v"])
