#!/usr/bin/env python3
"""teewire redact: what goes is nowhere any more, and everything else is as it was. Usage: test_redact.py TEEWIRE FIXTURES"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from program import TEEWIRE, run_bytes

FIXTURES = pathlib.Path(sys.argv[2]).resolve() / "demos"
CORPUS = os.environ.get("TEEWIRE_CORPUS")


def states(file):
    """(tick, items without names, {(id, name, clan)}) of each snapshot."""
    process = subprocess.Popen([TEEWIRE, "dump", file], stdout=subprocess.PIPE)
    for line in process.communicate()[0].splitlines():
        snapshot = json.loads(line)
        people = set()
        for number, info in snapshot["items"].get("client_info", {}).items():
            people.add((number, info.pop("name", None), info.pop("clan", None)))
        yield snapshot["tick"], snapshot["items"], people


def told(file):
    return run_bytes("play", "--speed", "1000", file)[1].decode(errors="replace")


def spoken(file):
    """(speaker, text) of each line of the form that chat has."""
    return re.findall(r"(?m)^[0-9:.]+ +(.+?): (.*)$", told(file))


class Redact(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out.demo"

    def redact(self, file, *options, code=0):
        done = run_bytes("redact", file, "-o", self.out, "--force", *options)
        self.assertEqual(done[0], code, done[2])
        return done[2]

    def check(self, file, code=0):
        self.redact(file, code=code)
        self.assertEqual(run_bytes("verify", self.out)[0], 0)
        names, clans, renamed = set(), set(), {}
        ours = states(self.out)
        for tick, items, people in states(file):
            new = next(ours)
            self.assertEqual((tick, items), new[:2])
            self.assertEqual(len(people), len(new[2]))
            by_id = {number: (name, clan) for number, name, clan in new[2]}
            for number, name, clan in people:
                if name:
                    self.assertRegex(by_id[number][0], "^player [0-9]+$")
                    self.assertEqual(renamed.setdefault(name, by_id[number][0]), by_id[number][0])
                    names.add(name)
                if clan:
                    self.assertRegex(by_id[number][1] or "", "^(clan [0-9]+)?$")
                    clans.add(clan)
        self.assertIsNone(next(ours, None))
        self.assertEqual(len(set(renamed.values())), len(renamed))
        said = {text for speaker, text in spoken(file) if speaker in names}
        self.assertEqual([line for line in spoken(self.out) if line[0] in renamed.values()], [])
        text = told(self.out) + run_bytes("dump", self.out)[1].decode()
        raw = self.out.read_bytes()
        map_bytes = json.loads(run_bytes("info", "--format", "ndjson", self.out)[1].splitlines()[0])["map"]["size"]
        for name in names | clans:
            if len(name.encode()) >= 3 and re.search("[^0-9 ]", name) and name not in "teewire player clan":
                self.assertNotIn(name.encode(), raw[484 + map_bytes:])
                self.assertNotIn(name, re.sub(r"(player|clan) [0-9]+", "", text) if name.isascii() else text)
        for line in said:
            if len(line.encode()) >= 5:
                self.assertNotIn(line.encode(), raw[484 + map_bytes:])
                self.assertNotIn(line, text)
        return names, said

    def test_everything(self):
        for name, line in (("ddnet_dm1.demo", None), ("ddnet_yard.demo", "hello"),
                           ("teeworlds07_dm1.demo", "où est la clé ?")):
            with self.subTest(demo=name):
                names, said = self.check(FIXTURES / name)
                self.assertTrue(names)
                self.assertEqual(line in said, line is not None)

    def test_corpus(self):
        if not CORPUS:
            self.skipTest("no recordings")
        for file in sorted(pathlib.Path(CORPUS, "demos").glob("*.demo")):
            if file.stat().st_size < 400 << 10:
                with self.subTest(demo=file.name):
                    self.check(file, code=run_bytes("verify", file)[0])

    def test_what(self):
        file = FIXTURES / "teeworlds07_dm1.demo"
        before = told(file)
        names = {name for _, _, people in states(file) for _, name, _ in people}
        self.redact(file, "--what", "names")
        after = told(self.out)
        self.assertEqual(len(after.splitlines()), len(before.splitlines()))
        for name in names:
            self.assertNotIn(name, after)
        self.redact(file, "--what", "chat")
        self.assertEqual({name for _, _, people in states(self.out) for _, name, _ in people}, names)
        self.assertLess(len(told(self.out).splitlines()), len(before.splitlines()))

    def test_some(self):
        file = FIXTURES / "ddnet_dm1.demo"
        self.redact(file, "--keep", "bot01,bot02")
        names = {name for _, _, people in states(self.out) for _, name, _ in people}
        self.assertEqual({n for n in names if n.startswith("bot")}, {"bot01", "bot02"})
        self.assertIn("bot01", told(self.out))
        self.redact(file, "--players", "bot03")
        people = {(name, clan) for _, _, people in states(self.out) for _, name, clan in people}
        self.assertEqual({name for name, _ in people if name.startswith("player")}, {name for name, _ in people} -
                         {"bot00", "bot01", "bot02", "bot04", "bot05"})
        self.assertEqual({clan for name, clan in people if name.startswith("bot")}, {"bots"})
        self.assertNotIn("bot03", told(self.out))
        self.assertIn("has no player nobody", self.redact(file, "--players", "nobody"))

    def test_damage(self):
        cut = self.out.parent / "cut.demo"
        data = (FIXTURES / "ddnet_dm1.demo").read_bytes()
        cut.write_bytes(data[:len(data) * 2 // 3])
        self.assertIn("everything before it is kept", self.redact(cut, code=1))
        self.assertEqual(run_bytes("verify", self.out)[0], 0)
        self.assertEqual(len(list(states(self.out))), len(list(states(cut))))

    def test_usage(self):
        code, _, error = run_bytes("redact", FIXTURES / "ddnet_dm1.demo", "-o", self.out, "--what", "faces")
        self.assertEqual(code, 2)
        self.assertIn("faces is not names, clans, chat or server", error)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
