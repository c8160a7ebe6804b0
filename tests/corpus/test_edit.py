#!/usr/bin/env python3
"""teewire cut on every real demo: pieces show what the demo shows at every tick. Usage: test_edit.py TEEWIRE"""
import bisect
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

TEEWIRE = sys.argv[1]
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS", ""))
RANGES = 200
HEADER = {3: 176, 4: 436, 5: 436, 6: 484}


def run(*arguments):
    done = subprocess.run([TEEWIRE, *map(str, arguments)], capture_output=True, timeout=600)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def markers(demo):
    """The ticks of all markers up to the end or the first damage, read without the program under test."""
    data = demo.read_bytes()
    version, at, ticks = data[7], HEADER[data[7]] + int.from_bytes(data[136:140], "big"), []
    while at < len(data):
        first, at = data[at], at + 1
        if first & 0x80:
            bits, relative = (0x3f, first & 0x3f) if version < 5 else (0x1f, first & 0x20)
            if relative:
                ticks.append(ticks[-1] + (first & bits))
            else:
                ticks.append(int.from_bytes(data[at:at + 4], "big"))
                at += 4
            continue
        size = first & 0x1f
        if size >= 30:
            more = size - 29
            size, at = int.from_bytes(data[at:at + more], "little"), at + more
        at += size
    return ticks


class Demo:
    """What a demo shows at each of its ticks, by the line that `dump --format checksum` has for it."""

    def __init__(self, path):
        code, out, self.said = run("dump", "--format", "checksum", path)
        changes = {int(line.split()[0]): line.split(" ", 1)[1] for line in out.splitlines()}
        self.whole = code == 0
        self.states, last = {}, None
        for tick in markers(path):
            last = changes.get(tick, last)
            if last is not None:
                self.states[tick] = last
        self.ticks = sorted(self.states)

    def between(self, first, last):
        return {t: self.states[t] for t in self.ticks[bisect.bisect_left(self.ticks, first):bisect.bisect_right(self.ticks, last)]}


class Pieces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.demos = sorted((CORPUS / "demos").glob("*.demo"))
        self.assertGreaterEqual(len(self.demos), 54)

    def cut(self, *arguments, code=0):
        out = self.folder / "out.demo"
        out.unlink(missing_ok=True)
        got, printed, said = run("cut", *arguments, "-o", out)
        self.assertEqual((got, printed), (code, ""), said)
        return out

    def check_header(self, piece, demo, ticks):
        """Everything but length and markers is that of the demo, and so is the map."""
        begin = HEADER[demo[7]]
        size = int.from_bytes(demo[136:140], "big")
        self.assertEqual(piece[:152] + piece[156:176], demo[:152] + demo[156:176])
        self.assertEqual(int.from_bytes(piece[152:156], "big"), (max(ticks) - min(ticks)) // 50)
        if demo[7] >= 4:
            numbers = lambda data: [int.from_bytes(data[at:at + 4], "big") for at in range(180, 436, 4)]
            kept = [t for t in numbers(demo)[:int.from_bytes(demo[176:180], "big")] if min(ticks) <= t <= max(ticks)]
            self.assertEqual(int.from_bytes(piece[176:180], "big"), len(kept))
            self.assertEqual(numbers(piece), kept + [0] * (64 - len(kept)))
        self.assertEqual(piece[436:begin + size], demo[436:begin + size])

    def test_random_ranges(self):
        chosen, done, late = random.Random(20), 0, 0
        for path in self.demos:
            whole = Demo(path)
            if not whole.ticks:
                self.assertEqual(run("cut", path, "-o", self.folder / "none")[0], 1)
                continue
            for _ in range(RANGES // len(self.demos) + 2):
                first, last = sorted(chosen.choice(whole.ticks) + chosen.randrange(-1, 2) for _ in range(2))
                first, last = max(first, 0), max(last, 0)
                expected = whole.between(first, last)
                if not expected:
                    self.assertEqual(run("cut", path, "--from", first, "--to", last, "-o", self.folder / "none")[0], 2)
                    continue
                with self.subTest(demo=path.name, first=first, last=last):
                    late += first > whole.ticks[0]
                    piece = self.cut(path, "--from", first, "--to", last, code=0 if whole.whole or last < whole.ticks[-1] else 1)
                    bytes_ = piece.read_bytes()
                    got = Demo(piece)
                    self.assertTrue(got.whole, got.said)
                    self.assertEqual(got.states, expected)
                    self.assertEqual(run("verify", piece)[0], 0)
                    self.check_header(bytes_, path.read_bytes(), [t for t in markers(path) if first <= t <= last])
                    again = self.folder / "again"
                    self.assertEqual(run("cut", piece, "-o", again)[0], 0)
                    self.assertEqual(again.read_bytes(), bytes_)
                    again.unlink()
                    done += 1
        self.assertGreaterEqual(done, RANGES)
        print(f"{done} pieces of {len(self.demos)} demos, {late} of them with another beginning")

    def test_whole_demos(self):
        """A demo that is in order is copied byte for byte, but for what recorders that crashed left out of the header."""
        same = 0
        for path in self.demos:
            whole = Demo(path)
            if not whole.whole or not whole.ticks:
                continue
            with self.subTest(demo=path.name):
                piece, demo = self.cut(path).read_bytes(), path.read_bytes()
                self.check_header(piece, demo, markers(path))
                begin = HEADER[demo[7]]
                self.assertEqual(piece[begin:], demo[begin:])
                same += 1
        print(f"{same} demos whole")


if __name__ == "__main__":
    if not (CORPUS / "demos").is_dir():
        print("SKIPPED: TEEWIRE_CORPUS names no folder of real demos")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
