#!/usr/bin/env python3
"""The Python module: what it gives is what the program puts into databases. Usage: test_module.py MODULE FIXTURES GUIDE
[TEEWIRE]. MODULE is the folder that has it. With TEEWIRE_CORPUS, real recordings are read, too. Exit code 77, without
NumPy, is a test that was skipped; without pandas or TEEWIRE, what needs them is."""
import interpreter  # noqa: F401, isort: skip

import gc
import gzip
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

MODULE, FIXTURES, GUIDE = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
TEEWIRE = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
sys.path.insert(0, str(MODULE))
import teewire  # noqa: E402
from made_demo import Demo, packed, text_ints  # noqa: E402
from teewire import _abi  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None
DEMOS = sorted((FIXTURES / "demos").glob("*.demo"))
YARD = FIXTURES / "demos/ddnet_yard.demo"
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nowhere")
CHARACTER, CLIENT_INFO = 9, 11
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
needs_pandas = unittest.skipUnless(pandas, "there is no pandas (python3-pandas)")
needs_program = unittest.skipUnless(TEEWIRE, "the program was not built")


def run(*arguments):
    return subprocess.run([TEEWIRE, *map(os.fspath, arguments)], capture_output=True, text=True, timeout=600)


def complete(call):
    """The results of a call, up to the damage if there is any."""
    try:
        return call()
    except teewire.Damaged as damage:
        return damage.before


def until_damage(items):
    """The same of an iterator."""
    try:
        yield from items
    except teewire.Damaged:
        pass


def small_demo():
    """Three ticks with characters that move, a name that changes, and short, long and unknown items."""
    demo = Demo()
    for tick in (100, 102, 105):
        characters = [(CHARACTER, id, [tick, 10 * id + tick, -id, *[0] * 16, 3, 0, 0]) for id in (0, 7)]
        name = text_ints("nobody" if tick < 105 else "löwe", 4)
        uuid = list(np.frombuffer(bytes.fromhex("76ce455bf9eb3a48add7e04b941d045c"), ">i4").astype(int))
        unknown = list(np.frombuffer(bytes(range(16)), ">i4").astype(int))
        demo.snapshot(tick, [
            *characters, (CLIENT_INFO, 7, name + text_ints("", 3) + [-1] + text_ints("default", 6) + [0, 0, 0]),
            (0, 0x7FFF, uuid), (0, 0x7FFE, unknown), (0x7FFF, 0, [1, 500, 2]), (0x7FFF, 7, list(range(13))),
            (0x7FFE, 3, [9, 8]), (60, 1, [tick])])
        demo.message(packed(3, 0, 7).replace(b"\x03", b"\x06", 1) + b"hi\0")
    return demo.bytes()


class Made(unittest.TestCase):
    def setUp(self):
        self.recording = teewire.open(small_demo())

    def test_header(self):
        r = self.recording
        self.assertEqual((r.map, r.protocol, r.type, r.version, r.first_tick, r.last_tick, r.length, r.markers),
                         ("made", "ddnet", "server", 6, 100, 105, 0.1, ()))
        self.assertEqual(r.ticks.tolist(), [100, 102, 105])
        self.assertEqual(r.read_map(), b"")
        self.assertIn("character", r.types)
        self.assertEqual(r.columns("character")[:3], ["character_tick", "x", "y"])

    def test_columns(self):
        items = self.recording.items("character")
        self.assertEqual(list(items), ["tick", "id", *self.recording.columns("character")])
        self.assertEqual(items.tick.tolist(), [100, 100, 102, 102, 105, 105])
        self.assertEqual(items.id.tolist(), [0, 7] * 3)
        self.assertEqual(items["x"].tolist(), [100, 170, 102, 172, 105, 175])
        self.assertEqual(items.y.dtype, np.int32)
        self.assertEqual(items.words["weapon"][int(items.weapon[0])], "grenade")
        self.assertEqual(list(self.recording.items("character", columns=["y", "tick"])), ["y", "tick"])
        with self.assertRaisesRegex(KeyError, "no column 'z'; there are tick, id, character_tick, x"):
            self.recording.items("character", columns=["z"])
        with self.assertRaisesRegex(KeyError, "no item type 'carrot' in ddnet; there are player_input"):
            self.recording.items("carrot")
        with self.assertRaisesRegex(AttributeError, "no column 'z'"):
            items.z

    def test_attributes(self):
        """No column has the name of something else."""
        for recording in (self.recording, teewire.open(Demo(b"0.7 802f1be60a05665f").bytes())):
            for name in recording.types:
                items = recording.items(name)
                for column in items:
                    self.assertIs(getattr(items, column), items[column], (name, column))

    def test_texts(self):
        items = self.recording.items("client_info")
        self.assertEqual(items.name.tolist(), ["nobody", "nobody", "löwe"])
        self.assertEqual(items.clan.tolist(), ["", "", ""])

    def test_missing(self):
        items = self.recording.items("ddnet_character")
        self.assertEqual(items.id.tolist(), [0, 7] * 3)
        self.assertNotIsInstance(items.jumps, np.ma.MaskedArray)  # all have it
        self.assertEqual(items.tele_checkpoint.tolist(), [None, 3] * 3)
        self.assertEqual(items.more.tolist(), [None, [11, 12]] * 3)
        self.assertNotIn("more", self.recording.items("character"))

    def test_without_a_name(self):
        self.assertEqual(self.recording.items("type_60").more.tolist(), [[100], [102], [105]])
        self.assertEqual(self.recording.items("uuid_00010203-0405-0607-0809-0a0b0c0d0e0f").more.tolist(), [[9, 8]] * 3)
        self.assertEqual(self.recording.items("extended_type").id.tolist(), [0x7FFF, 0x7FFE] * 3)

    def test_ticks(self):
        for first, last, wanted in ((101, 105, [102, 105]), (102, 102, [102]), (None, 102, [100, 102]), (103, 104, []),
                                    (106, None, []), (0, 1 << 60, [100, 102, 105]), (-5, 99, [])):
            items = self.recording.items("client_info", from_tick=first, to_tick=last)
            self.assertEqual(items.tick.tolist(), wanted, (first, last))

    def test_the_last_tick_there_is(self):
        demo = Demo()
        last = (1 << 31) - 1
        for tick in (last - 1, last):
            demo.snapshot(tick, [(CHARACTER, 0, [tick] + [0] * 21)])
        recording = teewire.open(demo.bytes())
        self.assertEqual(recording.items("character").tick.tolist(), [last - 1, last])
        self.assertEqual(recording.state(1 << 40).tick, last)

    def test_ticks_that_begin_anew(self):
        demo = Demo()
        for part in range(2):
            demo.begin()
            for tick in range(50, 60):
                demo.snapshot(tick, [(CHARACTER, part, [tick] + [0] * 21)])
        recording = teewire.open(demo.bytes())
        items = recording.items("character", from_tick=55, to_tick=56)
        self.assertEqual(items.tick.tolist(), [55, 56] * 2)
        self.assertEqual(items.id.tolist(), [0, 0, 1, 1])
        for first, last, ticks in ((58, None, [58, 59]), (None, 51, [50, 51]), (None, None, list(range(50, 60)))):
            items = recording.items("character", from_tick=first, to_tick=last, columns=["tick"])
            self.assertEqual(items.tick.tolist(), ticks * 2, (first, last))

    def test_state(self):
        for tick, at in ((100, 100), (104, 102), (105, 105), (9999, 105), (3, 100), (102, 102)):
            state = self.recording.state(tick)
            self.assertEqual(state.tick, at)
            self.assertEqual(state.items("character").x.tolist(), [at, at + 70])
        self.assertEqual(list(state.items("character", ["x"])), ["x"])
        self.assertEqual(state.types, ["extended_type", "character", "client_info", "type_60",
                                       "uuid_00010203-0405-0607-0809-0a0b0c0d0e0f", "ddnet_character"])

    def test_snapshots(self):
        found = [(s.tick, s.keyframe, s.items("client_info").name[0]) for s in self.recording]
        self.assertEqual(found, [(100, True, "nobody"), (102, False, "nobody"), (105, False, "löwe")])

    def test_messages(self):
        messages = list(self.recording.messages())
        self.assertEqual([(m.tick, m.kind, m.client_id, m.text, m.victim) for m in messages],
                         [(tick, "chat", 7, "hi", None) for tick in (100, 102, 105)])
        self.assertEqual([tuple(c) for c in self.recording.chat()],
                         [(100, "chat", 7, "nobody", "hi"), (102, "chat", 7, "nobody", "hi"), (105, "chat", 7, "löwe", "hi")])

    def test_chat(self):
        """To all, to the team, to one, and by the server."""
        demo = Demo()
        demo.snapshot(100, [(CHARACTER, 7, [100, *[0] * 21])])
        for mode, client in ((0, 7), (1, 7), (2, 7), (3, 7), (0, -1)):
            demo.message(b"\x06" + packed(mode, client) + b"hi\0")
        self.assertEqual([(c.kind, c.client_id) for c in teewire.open(demo.bytes()).chat()],
                         [("chat", 7), ("team_chat", 7), ("whisper", 7), ("whisper", 7), ("server_message", -1)])

    def test_chat_of_07(self):
        """Its modes begin at 1, and messages introduce who speaks."""
        demo = Demo(net_version=b"0.7 802f1be60a05665f")
        demo.snapshot(100, [(10, 7, [0, 0, 0])])  # a player, without a name
        demo.message(packed(36, 7, 0, 0) + b"bob\0clan\0" + packed(-1) + b"standard\0" * 6 + packed(*[0] * 13))
        for mode in (1, 2, 3):
            demo.message(b"\x06" + packed(mode, 7, -1) + b"hi\0")
        recording = teewire.open(demo.bytes())
        self.assertEqual(recording.protocol, "0.7")
        self.assertEqual([(c.kind, c.name) for c in recording.chat()], [("chat", "bob"), ("team_chat", "bob"), ("whisper", "bob")])
        self.assertEqual([m.target for m in recording.messages()], [None, -1, -1, -1])
        self.assertEqual([m.target for m in self.recording.messages()], [None] * 3)  # 0.6 has none

    def test_kinds_of_messages(self):
        """By name, by UUID, by number. One whose number is cut off is left out."""
        demo = Demo()
        demo.snapshot(100, [])
        for data in (b"\0" + bytes(range(16)) + b"abc", b"\x3fabc", b"\x80" * 4, b"\x07abc"):
            demo.message(data)
        self.assertEqual([(m.kind, m.client_id, m.fields) for m in teewire.open(demo.bytes()).messages()], [
            ("uuid 00010203-0405-0607-0809-0a0b0c0d0e0f", None, b"abc"),
            ("system message 31", None, b"abc"), ("map_data", None, b"abc")])

    def test_the_first_tick(self):
        """A message from before it has none; 0 is one."""
        demo = Demo()
        demo.message(b"\x06" + packed(0, 7) + b"early\0")
        demo.snapshot(0, [(CHARACTER, 7, [0, *[0] * 21])])
        demo.message(b"\x06" + packed(0, 7) + b"hi\0")
        recording = teewire.open(demo.bytes())
        self.assertEqual([(m.tick, m.text) for m in recording.messages()], [(None, "early"), (0, "hi")])
        self.assertEqual([s.tick for s in recording], [0])

    @needs_pandas
    def test_pandas(self):
        items = self.recording.items("character")
        table = items.to_pandas()
        self.assertEqual(list(table.columns), list(items))
        self.assertEqual(table.weapon.tolist(), ["grenade"] * 6)
        self.assertTrue(np.shares_memory(table.x.to_numpy(), items.x))
        self.assertEqual(pandas.DataFrame(items).x.tolist(), items.x.tolist())
        short = self.recording.items("ddnet_character").to_pandas()
        self.assertEqual(str(short.tele_checkpoint.dtype), "Int32")
        self.assertEqual(short.tele_checkpoint.isna().tolist(), [True, False] * 3)
        self.assertEqual(list(pandas.DataFrame(self.recording.messages()).columns)[:3], ["tick", "kind", "client_id"])

    @needs_pandas
    def test_numbers_without_a_word(self):
        demo = Demo()
        for tick, weapon in enumerate((-1, 2, 77, -(1 << 31)), 1):
            demo.snapshot(tick, [(CHARACTER, 0, [0] * 19 + [weapon, 0, 0])])
        table = teewire.open(demo.bytes()).items("character").to_pandas()
        self.assertEqual(table.weapon.tolist()[1:], ["shotgun", "77", str(-(1 << 31))])

    def test_nothing(self):
        empty = teewire.open(Demo().bytes())
        self.assertEqual((empty.first_tick, empty.last_tick, empty.length), (None, None, 0))
        self.assertEqual(len(empty.items("character").x), 0)
        self.assertEqual(len(empty.items("client_info").name), 0)
        self.assertEqual((len(empty.ticks), list(empty), list(empty.chat())), (0, [], []))
        self.assertIsNone(empty.state(5).tick)
        self.assertEqual(empty.state(5).types, [])
        if pandas:
            self.assertEqual(len(empty.items("character").to_pandas()), 0)

    def test_too_much(self):
        demo = Demo()
        for tick in range(1, 3000):  # some bytes each
            demo.snapshot_ints(tick, np.concatenate([[8192, 1024], np.arange(1024) * 8, np.column_stack(
                [(50 << 16) + np.arange(1024), [tick, *[0] * 1023]]).ravel()]).astype(np.int32))
        recording = teewire.open(demo.bytes())
        with self.assertRaisesRegex(MemoryError, "more than 1000000 bytes, up to tick [0-9]+ alone"):
            recording.items("type_50", memory=1_000_000)
        self.assertEqual(len(recording.items("type_50", columns=["id"], to_tick=100).id), 100 * 1024)


class Files(unittest.TestCase):
    def test_what_is_no_demo(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with self.assertRaises(FileNotFoundError):
                teewire.open(folder / "x.demo")
            with self.assertRaises(IsADirectoryError):
                teewire.open(folder)
            file = folder / "x.demo.gz"
            file.write_bytes(gzip.compress(small_demo()))
            with self.assertRaisesRegex(teewire.Error, "x.demo.gz: this is not a demo: it is compressed by gzip"):
                teewire.open(file)
            self.assertEqual(len(teewire.open(gzip.decompress(file.read_bytes())).ticks), 3)
        with self.assertRaisesRegex(teewire.Error, "this is not a demo: it is compressed by zstd"):
            teewire.open(b"\x28\xb5\x2f\xfd" + bytes(100))
        with self.assertRaisesRegex(teewire.Error, "<bytes>: this is not a demo$"):
            teewire.open(b"GIF89a" + bytes(1000))
        with self.assertRaisesRegex(teewire.Damaged, "<bytes>: byte "):
            teewire.open(b"")
        with self.assertRaisesRegex(teewire.Damaged, "<bytes>: byte ") as raised:
            teewire.open(small_demo()[:200])
        self.assertIsNone(raised.exception.tick)

    def test_another_library(self):
        code = "import teewire"
        for library, words in (("/nowhere/libteewire.so.1", "teewire needs its library"), ("libc.so.6", "libc.so.6 is not libteewire")):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(MODULE), "TEEWIRE_LIBRARY": library})
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)


class Lifetime(unittest.TestCase):
    def test_what_was_read_stays(self):
        with teewire.open(YARD) as recording:
            items = recording.items("character")
            state = recording.state(recording.last_tick)
            snapshots, messages = iter(recording), recording.messages()
            next(snapshots), next(messages)
            sums = int(items.x.sum()), int(state.items("character").x.sum())
            x = items.x
        del recording, items
        gc.collect()
        np.empty(1 << 22).fill(7)
        self.assertEqual(int(x.sum()), sums[0])
        self.assertEqual(int(state.items("character").x.sum()), sums[1])
        for closed in (snapshots, messages):
            with self.assertRaisesRegex(ValueError, "closed"):
                next(closed)

    def test_closed(self):
        recording = teewire.open(YARD)
        recording.close()
        recording.close()
        for call in (lambda: recording.ticks, lambda: recording.items("character"), lambda: recording.state(5),
                     lambda: list(recording), lambda: list(recording.messages()), recording.read_map):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()
        self.assertEqual(recording.protocol, "ddnet")

    def test_the_file_may_change(self):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "x.demo"
            file.write_bytes(small_demo())
            recording = teewire.open(file)
            file.write_bytes(b"")
            self.assertEqual(recording.items("client_info").tick.tolist(), [100, 102, 105])

    def test_threads(self):
        recording = teewire.open(YARD)
        expected = {int(t): recording.state(int(t)).items("character").x.tolist() for t in recording.ticks[::40]}
        wrong = []

        def work(seed):
            chosen = random.Random(seed)
            for _ in range(60):
                tick = chosen.choice(list(expected))
                if recording.state(tick).items("character").x.tolist() != expected[tick]:
                    wrong.append(tick)
            if len(recording.items("character").x) == 0:
                wrong.append(seed)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Damage(unittest.TestCase):
    def check_cut(self, file, size):
        """Everything before the cut, and no more."""
        whole = teewire.open(file)
        recording = teewire.open(file[:size])
        with self.assertRaises(teewire.Damaged) as raised:
            recording.items("character", columns=["tick", "id", "x"])
        damage = raised.exception
        self.assertIn(f"byte {damage.offset}: ", str(damage))
        self.assertLess(damage.offset, size)
        self.assertGreater(damage.offset, size - 70000)
        before = damage.before
        expected = whole.items("character", columns=["tick", "id", "x"])
        rows = len(before.x)
        self.assertEqual(before.x.tolist(), expected.x[:rows].tolist())
        self.assertEqual(before.tick.tolist(), expected.tick[:rows].tolist())
        snapshots = list(until_damage(recording))
        if snapshots:
            # All of the last snapshot; the damage is at a tick that follows it.
            self.assertEqual(rows, int((expected.tick <= snapshots[-1].tick).sum()))
            self.assertGreaterEqual(damage.tick, snapshots[-1].tick)
        with self.assertRaises(teewire.Damaged) as raised:
            recording.ticks
        self.assertEqual(raised.exception.before.tolist(), [s.tick for s in snapshots])
        self.assertEqual((raised.exception.offset, raised.exception.tick), (damage.offset, damage.tick))
        return rows

    def test_cut(self):
        file = YARD.read_bytes()
        chosen = random.Random(1)
        rows = {self.check_cut(file, size) for size in
                [len(file) - 1, *(chosen.randrange(len(file) * 2 // 3, len(file)) for _ in range(10))]}
        self.assertGreater(len(rows), 5)

    def test_before_the_first_tick(self):
        size = len(Demo().bytes())
        with self.assertRaisesRegex(teewire.Damaged, f"<bytes>: before the first tick, byte {size}: ") as raised:
            list(teewire.open(Demo().bytes() + b"\x3d\xff\xff\xff"))
        self.assertEqual((raised.exception.tick, raised.exception.offset), (None, size))

    @needs_program
    def test_words(self):
        """As the program says it."""
        file = bytearray(YARD.read_bytes())
        chosen = random.Random(2)
        told = 0
        with tempfile.TemporaryDirectory() as name:
            for n in range(12):
                damaged = bytearray(file)
                at = chosen.randrange(len(file) // 2, len(file) - 20)
                damaged[at:at + 6] = bytes(chosen.randrange(256) for _ in range(6))
                path = pathlib.Path(name) / f"{n}.demo"
                path.write_bytes(damaged)
                try:
                    list(teewire.open(path))
                except teewire.Damaged as damage:
                    told += 1
                    self.assertIn(str(damage).removeprefix(f"{path}: "), run("verify", path).stdout)
        self.assertGreater(told, 3)

    def use(self, data):
        """Everything, as far as it goes."""
        try:
            recording = teewire.open(data)
        except teewire.Error:
            return 0
        items = 0
        for name in ("character", "client_info", "ddnet_character", "projectile", "extended_type", "type_40"):
            try:
                found = complete(lambda: recording.items(name, memory=20_000_000))
                items += len(found.id)
                if pandas:
                    found.to_pandas()
            except MemoryError:
                pass
            try:
                complete(lambda: recording.items(name, from_tick=(recording.last_tick or 0) // 2, columns=["id"],
                                                 memory=20_000_000))
            except MemoryError:
                pass
        for number, snapshot in zip(range(20), until_damage(recording)):
            for name in snapshot.types:
                items += len(snapshot.items(name, ["id"]).id)
        for tick in (0, recording.last_tick or 5, 1 << 31):
            try:
                recording.state(tick).types
            except teewire.Damaged as damage:
                self.assertLessEqual(damage.offset, len(data))
        items += sum(1 for _ in zip(range(1000), until_damage(recording.messages())))
        items += sum(1 for _ in zip(range(1000), until_damage(recording.chat())))
        return items

    def test_hostile(self):
        """Nothing but the module's own exceptions, whatever the bytes are."""
        chosen = random.Random(3)
        seeds = [small_demo(), *(d.read_bytes() for d in DEMOS)]
        items = 0
        for n in range(int(os.environ.get("TEEWIRE_MUTATIONS") or 40)):
            data = bytearray(seeds[n % len(seeds)])
            for _ in range(chosen.choice((1, 3, 30))):
                begin = chosen.randrange(len(data))
                size = chosen.choice((1, 1, 4, 40))
                data[begin:begin + size] = bytes(chosen.choice((0, 255, chosen.randrange(256))) for _ in range(size))
            items += self.use(bytes(data))
        self.assertGreater(items, 10_000)

    def test_stored_findings(self):
        files = sorted(f for f in (FIXTURES / "fuzz").rglob("*") if f.is_file())
        files += sorted(pathlib.Path(os.environ.get("TEEWIRE_FINDINGS") or "/nowhere").glob("*.demo"))
        for file in files:
            self.use(file.read_bytes())


@needs_program
class Database(unittest.TestCase):
    """What `teewire export` and `teewire events` say of the same files."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)

    def export(self, file):
        database = pathlib.Path(self.temporary.name) / (file.name + ".sqlite")
        run("export", file, "-o", database)
        connection = sqlite3.connect(database)
        self.addCleanup(connection.close)
        return connection

    def test_names(self):
        """Every table and every column, and no more."""
        db = self.export(DEMOS[0])
        tables = {name.removesuffix("_spans") for name, in db.execute("SELECT name FROM sqlite_schema WHERE name LIKE '%_spans'")
                  if not name.startswith("sqlite")}
        found = {}
        for recording in (teewire.open(Demo(v).bytes()) for v in (b"0.6 626fce9a778df4d4", b"0.7 802f1be60a05665f")):
            for name in recording.types:
                found.setdefault(name, set()).update(recording.columns(name))
        self.assertEqual(set(found), tables)
        for name, columns in found.items():
            declared = {row[1] for row in db.execute(f'PRAGMA table_info("{name}_spans")')}
            self.assertEqual(columns, declared - {"recording", "id", "first_tick", "last_tick", "more"}, name)

    def value(self, items, name, row):
        value = items[name][row]
        if value is np.ma.masked:
            return None
        kind = items._kinds.get(name)
        if kind == _abi.FIELD_ENUMERATION:
            return items.words[name].get(int(value), int(value))
        if name == "more":
            return None if value is None else json.dumps(value, separators=(",", ":"))
        return value if value is None or isinstance(value, str) else int(value)

    def compare(self, file, types=None, most=20_000):
        db = self.export(file)
        recording = teewire.open(file)
        rows = 0
        self.assertEqual([row[0] for row in db.execute("SELECT tick FROM ticks ORDER BY recording, tick")],
                         complete(lambda: recording.ticks).tolist(), file)
        self.assertEqual({recording.protocol}, {row[0] for row in db.execute("SELECT protocol FROM recordings")})
        for name in types or recording.types:
            items = complete(lambda: recording.items(name))
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{name}")')][1:]
            lines = db.execute(f'SELECT {", ".join(columns)} FROM "{name}" ORDER BY recording, tick, id').fetchall()
            self.assertEqual(len(lines), len(items.id), (file, name))
            # Ids of a snapshot can have any order.
            part = np.cumsum(np.diff(items.tick, prepend=items.tick[:1]) < 0)
            order = np.lexsort((items.id, items.tick, part))
            step = max(1, len(lines) // most)
            for line, row in list(zip(lines, order))[::step]:
                expected = dict(zip(columns, line))
                for column, value in expected.items():
                    if column in items:
                        actual = self.value(items, column, row)
                        if items._kinds.get(column) == _abi.FIELD_BOOLEAN and value is not None:
                            value = int(value != 0)
                        self.assertEqual(actual, value, (file, name, column, expected))
                    else:
                        self.assertIsNone(value, (file, name, column))
                rows += 1
        messages = [(m.tick, m.kind) for m in until_damage(recording.messages()) if m.kind not in (
            "snap", "snap_empty", "snap_single", "snap_small", "map_data", "input_timing")]
        self.assertEqual(db.execute("SELECT tick, kind FROM messages ORDER BY recording, number").fetchall(), messages, file)
        self.compare_chat(file, recording)
        return rows

    def compare_chat(self, file, recording):
        events = [json.loads(line) for line in run("events", file).stdout.splitlines()]
        # Messages that are given once, although several receivers got them, or that are only spaces, are another matter.
        said = {(e["tick"], e["kind"], e["name"], e["text"]) for e in events if e["kind"] in ("chat", "team_chat")}
        # Names are printed without what would control a terminal.
        found = {(c.tick, c.kind, CONTROLS.sub(" ", c.name or ""), c.text) for c in until_damage(recording.chat())
                 if c.kind in ("chat", "team_chat")}
        self.assertLessEqual(said, found, file)
        self.assertEqual({f for f in found if f[3].strip()}, said, file)

    def test_fixtures(self):
        rows = sum(self.compare(demo) for demo in DEMOS)
        print(f"{rows} rows", file=sys.stderr)
        self.assertGreater(rows, 20_000)

    def test_real_recordings(self):
        demos = sorted((CORPUS / "demos").glob("*.demo"))
        if not demos:
            self.skipTest("TEEWIRE_CORPUS names no folder with demos")
        rows = sum(self.compare(demo, ("character", "client_info", "ddnet_character", "event_death"), 500) for demo in demos)
        print(f"{rows} rows", file=sys.stderr)
        self.assertGreater(rows, 50_000)

    def test_seeking(self):
        for demo in DEMOS:
            recording = teewire.open(demo)
            whole = recording.items("character")
            ticks = recording.ticks
            chosen = random.Random(4)
            for _ in range(20):
                tick = int(chosen.choice(ticks))
                state = recording.state(tick)
                self.assertEqual(state.tick, tick)
                self.assertEqual(state.items("character").x.tolist(), whole.x[whole.tick == tick].tolist())
                first, last = sorted((tick, int(chosen.choice(ticks))))
                part = recording.items("character", from_tick=first, to_tick=last)
                wanted = (whole.tick >= first) & (whole.tick <= last)
                self.assertEqual(part.angle.tolist(), whole.angle[wanted].tolist())


@needs_program
@needs_pandas
class Guide(unittest.TestCase):
    def test_examples(self):
        """The blocks of Python in the guide, one after the other, and what they print."""
        blocks = re.findall(r"^```python\n(.*?)^```(?:\n\n?```text\n(.*?)^```)?", GUIDE.read_text(), re.M | re.S)
        self.assertGreater(len(blocks), 8)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for demo in DEMOS:
                (folder / demo.name).write_bytes(demo.read_bytes())
            (folder / "cut.demo").write_bytes(YARD.read_bytes()[:-100])
            code = "\n".join(f"{block}\nprint('=' * 9, flush=True)" for block, _ in blocks)
            path = os.pathsep.join(filter(None, [TEEWIRE and os.path.dirname(TEEWIRE), os.environ["PATH"]]))
            done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "PYTHONPATH": str(MODULE), "PATH": path})
            self.assertEqual(done.returncode, 0, done.stderr)
            printed = done.stdout.split("=" * 9 + "\n")
            for (block, expected), actual in zip(blocks, printed):
                if expected:  # where pandas leaves spaces at the end of a line, the guide has none
                    self.assertEqual(re.sub(" +$", "", actual, flags=re.M), expected, block)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
