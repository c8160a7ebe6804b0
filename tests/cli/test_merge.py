#!/usr/bin/env python3
"""teewire merge as its users see it: files, what is said, reports. What is in the result is in tests/replay/test_merge.cpp.
Usage: test_merge.py TEEWIRE FIXTURES"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from in_folder import InFolder
from program import TEEWIRE, run

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
DEMO, YARD, SEVEN = (FIXTURES / "demos" / name for name in ("ddnet_dm1.demo", "ddnet_yard.demo", "teeworlds07_dm1.demo"))
CAPTURE, LOSSY = FIXTURES / "captures/ddnet_yard.pcap", FIXTURES / "captures/ddnet_lossy.pcap"
# Data that a client gets only about itself.
OWN = {"0.6": "player_info.local,spectator_info,ddnet_spectator_info,spectator_count,extended_type,game_info.warmup_timer,"
              "game_info.game_state_flags",
       "0.7": "client_info.local,spectator_info"}


class Merge(InFolder):
    def merge(self, *arguments, code=0, **more):
        got, out, err = run("merge", *arguments, cwd=self.folder, **more)
        self.assertEqual((got, out), (code, ""), err)
        return err

    def refuse(self, *arguments, code=2, words=""):
        before = self.files()
        err = self.merge(*arguments, code=code)
        self.assertRegex(err, r"\Ateewire: [^\n]+\n(see teewire [a-z ]*--help\n)?\Z")
        self.assertIn(words, err)
        self.assertEqual(self.files(), before)

    def cut(self, demo, name, *range_):
        code, _, err = run("cut", demo, *range_, "-o", self.folder / name, "--force")
        self.assertEqual(code, 0, err)
        return name

    def check_same(self, a, b, *more):
        code, out, err = run("diff", a, b, "--ignore", OWN["0.7" if a == SEVEN else "0.6"], *more, cwd=self.folder)
        self.assertEqual((code, out), (0, ""), err)

    def test_pieces(self):
        """Overlapping pieces of one recording are that recording, whatever their order and number."""
        for demo, at in ((DEMO, (1000, 1400, 1800)), (YARD, (350, 400, 450)), (SEVEN, None)):
            if at is None:
                first = json.loads(run("info", "--format", "ndjson", demo)[1])["first_tick"]
                at = (first + 100, first + 200, first + 300)
            with self.subTest(demo=demo.name):
                early = self.cut(demo, "early.demo", "--to", at[1])
                late = self.cut(demo, "late.demo", "--from", at[0])
                middle = self.cut(demo, "middle.demo", "--from", at[0], "--to", at[2])
                for files in ((early, late), (late, early), (late, middle, early)):
                    err = self.merge(*files, "-o", "out.demo", "--force")
                    self.assertIn(f"of {len(files)} recordings", err)
                    self.assertNotIn("not the same", err)
                    # A server's demo of 0.7 has messages that its clients turn into items.
                    self.check_same(demo, "out.demo", *["--no-messages"] * (demo == SEVEN))
                    self.assertEqual(run("verify", "--strict", self.folder / "out.demo")[0], 0)
                self.assertEqual((self.folder / "out.demo").read_bytes()[144:150], b"server")

    def test_header(self):
        """Date, map, markers and length, also where the file becomes known piece by piece."""
        data = bytearray(YARD.read_bytes())
        data[156:176] = b"2001-02-03_04-05-06\0"
        data[176:188] = (2).to_bytes(4, "big") + (320).to_bytes(4, "big") + (400).to_bytes(4, "big")
        self.save("old.demo", data)
        self.cut(YARD, "none.demo", "--strip-map")
        for files in (("none.demo", "old.demo"), ("old.demo", "none.demo")):
            err = self.merge(*files, "-o", "out.demo", "--force")
            self.assertNotIn("none has the map", err)
            out = (self.folder / "out.demo").read_bytes()
            self.assertEqual(out[156:176], data[156:176])
            self.assertEqual(out[176:188], data[176:188])
            size = int.from_bytes(data[136:140], "big")
            self.assertEqual(out[136:144] + out[452:484 + size], data[136:144] + data[452:484 + size])
            self.assertEqual(out[152:156], YARD.read_bytes()[152:156])
            streamed = subprocess.run([TEEWIRE, "merge", *files, "-o", "-"], capture_output=True, cwd=self.folder)
            self.assertEqual(streamed.stdout, out)
        err = self.merge("none.demo", "-o", "out.demo", "--force")
        self.assertIn("; none has the map\n", err)

    def test_captures(self):
        """A capture and the demo that its client has recorded meanwhile are the same game."""
        err = self.merge(CAPTURE, YARD, "-o", "both.demo")
        self.assertIn("both.demo: 125 ticks of 2 recordings, 120 of them in more than one", err)
        self.check_same(YARD, "both.demo", "--no-messages")  # the capture begins before the game
        self.save("game.pcap.gz", gzip.compress(CAPTURE.read_bytes()))
        err = self.merge("game.pcap.gz", CAPTURE, "-o", "two.demo", "--connection", "1", "--connection", "127.0.0.1:51345")
        self.assertIn("120 ticks of 2 recordings, 120 of them in more than one", err)
        err = self.merge("-", YARD, "-o", "again.demo", stdin=CAPTURE.read_bytes())
        self.assertEqual((self.folder / "again.demo").read_bytes(), (self.folder / "both.demo").read_bytes())
        self.refuse(CAPTURE, "-o", "x.demo", "--connection", "2", words="there is no connection 2; expected one of: 1 127.0.0.1")
        self.refuse(CAPTURE, YARD, "-o", "x.demo", "--connection", "1", "--connection", "1",
                    words="--connection: is for packet captures, of which there is one")
        self.refuse(YARD, "-o", "x.demo", "--connection", "1", words="of which there are none")

    def test_report(self):
        """Differences, in words and for programs."""
        code, out, err = run("merge", YARD, YARD, "-o", "out.demo", "--format", "ndjson",
                             cwd=self.folder)
        self.assertEqual((code, err), (0, ""))
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line.get("file") for line in lines], [str(YARD), str(YARD), None])
        self.assertEqual([line.get("ticks") for line in lines], [125, 125, 125])
        self.assertEqual((lines[0]["items_alone"], lines[0]["damage"], lines[2]["items_in_conflict"]), (0, None, 0))
        self.assertEqual((lines[2]["result"], lines[2]["common_ticks"]), ("out.demo", 125))
        self.refuse(YARD, "-o", "-", "--format", "ndjson", words="cannot both go to standard output")

    def test_strangers(self):
        """The same ticks and map, and another player for each id."""
        code, _, err = run("redact", YARD, "-o", self.folder / "other.demo", "--what", "names")
        self.assertEqual(code, 0, err)
        self.refuse(YARD, "other.demo", "-o", "x.demo", words=f"client 0 is bot 1 in {YARD}, but player 1 in other.demo at tick 310")

    def test_conflicts(self):
        """Data about a player that only one has is taken from this one, and reported."""
        data = YARD.read_bytes()
        code, _, err = run("redact", YARD, "-o", self.folder / "clans.demo", "--what", "clans")
        self.assertEqual((code, data != b""), (0, True), err)
    def test_what_does_not_belong_together(self):
        self.refuse(DEMO, SEVEN, "-o", "x.demo", words=f"{SEVEN}: was recorded by a client of 0.7, but {DEMO} by one of ")
        self.refuse(DEMO, YARD, "-o", "x.demo", words="was recorded on yard with crc c3cbca94, but")
        self.refuse(DEMO, "none.demo", "-o", "x.demo", code=3, words="none.demo: no such file")
        self.refuse("-", "-", "-o", "x.demo", words="can be read only once")
        self.refuse(*[YARD] * 20_000, "-o", "x.demo", words="20000 recordings are too many at once")
        shutil.copy(DEMO, self.folder / "mine")
        self.refuse(DEMO, "mine", "--force", "-o", "mine", words="is an input and cannot also be the output")
        self.refuse(FIXTURES / "maps/ddnet.map", "-o", "x.demo", words="this is a map")
        self.merge(DEMO, "-o", "mine.demo")
        self.refuse(DEMO, "-o", "mine.demo", words="--force replaces it")

    def test_damage(self):
        """Everything before it is kept, and the others continue."""
        whole = DEMO.read_bytes()
        self.save("damaged.demo", whole[:len(whole) // 2 + 1])
        self.cut(DEMO, "late.demo", "--from", 1200)
        err = self.merge("damaged.demo", "late.demo", "-o", "out.demo", code=1)
        self.assertRegex(err, r"\Ateewire: damaged.demo: tick \d+, byte \d+: the data ends too early; everything before it is kept\n")
        code, out, _ = run("diff", DEMO, "out.demo", "--ignore", OWN["0.6"], "--no-messages", cwd=self.folder)
        self.assertEqual((code, out), (0, ""))
        code, out, err = run("merge", "damaged.demo", "-o", "out.demo", "--force", "--format", "ndjson", cwd=self.folder)
        self.assertEqual(code, 1)
        self.assertIn("the data ends too early", json.loads(out.splitlines()[0])["damage"])
        self.save("header.demo", whole[:600])
        self.refuse("header.demo", "-o", "x.demo", code=1)

    def test_lossy_capture(self):
        code, _, err = run("merge", LOSSY, "-o", "out.demo", cwd=self.folder)
        self.assertIn(code, (0, 1), err)
        self.assertEqual(run("verify", self.folder / "out.demo")[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
