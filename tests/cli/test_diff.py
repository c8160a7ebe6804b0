#!/usr/bin/env python3
"""`teewire diff` as its users see it. Usage: test_diff.py TEEWIRE FIXTURES"""
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest

from program import run

FIXTURES = pathlib.Path(sys.argv[2])
DM1 = FIXTURES / "demos/ddnet_dm1.demo"
YARD = FIXTURES / "demos/ddnet_yard.demo"
CAPTURE = FIXTURES / "captures/ddnet_yard.pcap"
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS", "")) / "demos"


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_same(self):
        for file in (*sorted((FIXTURES / "demos").iterdir()), *sorted((FIXTURES / "captures").iterdir())):
            for form in ("text", "ndjson"):
                self.assertEqual(run("diff", file, file, "--format", form), (0, "", ""), file)
        self.assertEqual(run("diff", DM1, "-", stdin=DM1.read_bytes()), (0, "", ""))

    def test_corpus(self):
        if not os.environ.get("TEEWIRE_CORPUS") or not CORPUS.is_dir():
            self.skipTest("no recordings")
        for file in sorted(CORPUS.glob("*.demo")):
            good = run("verify", file)[0] == 0
            code, out, err = run("diff", file, file)
            self.assertEqual((code, out, err == ""), (0 if good else 1, "", good), file)

    def test_through_a_capture(self):
        demo = self.folder / "a.demo"
        self.assertEqual(run("capture", CAPTURE, "-o", demo)[0], 0)
        self.assertEqual(run("diff", CAPTURE, demo), (0, "", ""))
        self.assertEqual(run("diff", demo, CAPTURE, "--connection-b", "1"), (0, "", ""))

    def test_different(self):
        code, out, err = run("diff", DM1, YARD, "--from", "0", "--format", "ndjson")
        self.assertEqual((code, err), (1, ""))
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["recording"] for line in lines if "recording" in line], ["map", "crc", "sha256"])
        self.assertEqual(lines[0], {"recording": "map", "a": "dm1", "b": "yard"})
        self.assertEqual([(t["ticks"], t["only"]) for t in lines if "ticks" in t], [(125, "b"), (751, "a")])
        code, out, err = run("diff", DM1, YARD, "--limit", "1")
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(out, "map: dm1 -> yard\n... and 4 more; --limit 0 prints them all\n"
                         "0 of 0 ticks in both differ, 751 only in A, 125 only in B: crc 1, map 1, sha256 1\n")
        out = run("diff", DM1, YARD, "--common-ticks", "-o", self.folder / "out")
        self.assertEqual(out, (1, "", ""))
        self.assertEqual(len((self.folder / "out").read_text().splitlines()), 4)

    def test_damage(self):
        cut = self.folder / "cut.demo"
        cut.write_bytes(DM1.read_bytes()[:-20000])
        code, out, err = run("diff", DM1, cut)
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"\Ateewire: \S*cut.demo: tick (\d+), byte \d+: [^;]*; compared up to tick \d+\n\Z")
        self.assertEqual(run("diff", cut, cut)[:2], (1, ""))
        code, out, err = run("diff", DM1, FIXTURES / "none")
        self.assertEqual((code, out), (3, ""))
        self.assertEqual(run("diff", DM1, FIXTURES / "maps/ddnet.map")[0], 2)

    def test_damage_at_the_begin(self):
        """Tick 0 is one that can be compared."""
        demo = bytearray(DM1.read_bytes())
        first = 484  # after the header of version 6; there is no map
        self.assertEqual(demo[first] & 0xc0, 0xc0)  # the marker of a keyframe, and its tick
        demo[first + 1:first + 5] = bytes(4)
        second = first + 5
        while demo[second] < 0x80:  # up to the next marker, which has one byte, as the chunk after it has at least
            more = max(0, (demo[second] & 31) - 29)  # bytes that say how long the chunk is
            size = int.from_bytes(demo[second + 1:second + 1 + more], "little") if more else demo[second] & 31
            second += 1 + more + size
        for end, compared in ((first + 20, "nothing was compared"), (second + 2, "compared up to tick 0")):
            cut = self.folder / f"{end}.demo"
            cut.write_bytes(demo[:end])
            code, out, err = run("diff", cut, cut)
            self.assertEqual((code, out), (1, ""))
            self.assertRegex(err, rf"; {compared}\n\Z")

    def test_usage(self):
        for arguments in ((), (DM1,), (DM1, DM1, DM1), ("-", "-"), (DM1, DM1, "--ignore", "nothing.x"),
                          (DM1, DM1, "--ignore", "character.nothing"), (DM1, DM1, "--connection-a", "1"),
                          (DM1, DM1, "--from", "never"), (DM1, DM1, "--from", "20s", "--to", "10s"),
                          (DM1, DM1, "--from", "1", "--to", "2"), (CAPTURE, CAPTURE, "--to", "2")):
            code, out, err = run("diff", *arguments)
            self.assertEqual((code, out), (2, ""), arguments)
        self.assertEqual(run("diff", DM1, DM1, "--from", "20s", "--to", "10s")[2], "teewire: --from is after --to\n")
        self.assertEqual(run("diff", DM1, DM1, "--to", "2")[2],
                         f"teewire: {DM1}: nothing to show from tick 0 to 2; it has ticks 752 to 2252 (2 is a tick, 2s a time)\n")
        self.assertEqual(run("diff", DM1, DM1, "--ignore", "character.x,pickup,type_30,type_99.[2]")[0], 0)

    def test_output(self):
        with open("/dev/full", "wb") as full:
            code, _, err = run("diff", DM1, YARD, stdout=full)
        self.assertEqual((code, err), (3, "teewire: standard output: cannot be written: No space left on device\n"))
        read, write = os.pipe()
        os.close(read)
        code, _, err = run("diff", DM1, YARD, stdout=write)
        os.close(write)
        self.assertEqual((code, err), (-signal.SIGPIPE, ""))
        code, _, err = run("diff", DM1, YARD, "-o", DM1, "--force")
        self.assertEqual(code, 2)
        self.assertIn("is an input and cannot also be the output", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
