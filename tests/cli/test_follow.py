#!/usr/bin/env python3
"""teewire dump --follow: demos that are still being written. Usage: test_follow.py TEEWIRE FIXTURES"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

from in_folder import InFolder
from limits import STUCK
from program import TEEWIRE, run_bytes

DEMOS = pathlib.Path(sys.argv[2]).resolve() / "demos"


def dump(*arguments, **more):
    return subprocess.Popen([TEEWIRE, "dump", *map(str, arguments), "--format", "checksum"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **more)


def whole(file):
    return run_bytes("dump", file, "--format", "checksum")[1]


class Follow(InFolder):
    def finish(self, process, code, words=b""):
        out, error = process.communicate(timeout=STUCK)
        self.assertEqual(process.returncode, code, error)
        self.assertIn(words, error)
        return out

    def test_pipes(self):
        for name in ("ddnet_yard.demo", "teeworlds07_dm1.demo", "ddnet_dm1.demo"):
            done = run_bytes("dump", "-", "--follow", "--format", "checksum", stdin=(DEMOS / name).read_bytes())
            self.assertEqual(done, (0, whole(DEMOS / name), ""), name)

    def test_a_growing_file(self):
        """Every snapshot is printed when its bytes are there, wherever the writer has stopped; a signal ends it well."""
        file, kept = self.folder / "a.demo", self.folder / "kept"
        data = (DEMOS / "ddnet_yard.demo").read_bytes()
        expected = whole(DEMOS / "ddnet_yard.demo")
        file.write_bytes(b"")
        process = dump(file, "--follow")
        self.addCleanup(process.kill)
        os.set_blocking(process.stdout.fileno(), False)
        numbers = random.Random(5)
        got, at = b"", 0
        ends = sorted({*(numbers.randrange(len(data)) for _ in range(30)), 3, 900, len(data)})
        for end in ends:
            with open(file, "ab") as growing:
                growing.write(data[at:end])
            at = end
            # All that a reader of the cut file finds is there soon.
            cut = self.folder / "cut.demo"
            cut.write_bytes(data[:end])
            there = whole(cut)
            until = time.monotonic() + STUCK
            while len(got) < len(there) and time.monotonic() < until:
                got += process.stdout.read() or b""
                time.sleep(0.002)
            self.assertEqual(got, there, end)
        self.assertEqual(got, expected)
        process.send_signal(signal.SIGINT)
        os.set_blocking(process.stdout.fileno(), True)
        self.assertEqual(self.finish(process, 0), b"")
        process = dump(file, "--follow", "-o", kept)
        until = time.monotonic() + STUCK
        while len(os.listdir(self.folder)) < 3 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        self.finish(process, 0)
        self.assertEqual(kept.read_bytes(), expected)

    def test_ranges(self):
        expected = whole(DEMOS / "ddnet_yard.demo").splitlines(keepends=True)
        first = int(expected[0].split()[0])
        process = dump(DEMOS / "ddnet_yard.demo", "--follow", "--from", "1s", "--to", "2s") # ends by itself
        self.assertEqual(self.finish(process, 0),
                         b"".join(l for l in expected if first + 50 <= int(l.split()[0]) <= first + 100))
        self.finish(dump(DEMOS / "ddnet_yard.demo", "--follow", "--from", "-1s"), 2, b"a live source has no known end")
        self.finish(dump(DEMOS / "ddnet_yard.demo", DEMOS / "ddnet_dm1.demo", "--follow"), 2, b"--follow takes one file")

    def test_trouble(self):
        data = bytearray((DEMOS / "ddnet_yard.demo").read_bytes())
        expected = whole(DEMOS / "ddnet_yard.demo")

        def piped(bytes_):
            process = dump("-", "--follow", stdin=subprocess.PIPE)
            out, error = process.communicate(bytes(bytes_), timeout=STUCK)
            return process.returncode, out, error
        # The end is missing: what came before it is there.
        code, out, error = piped(data[:-3])
        self.assertEqual(code, 1)
        self.assertRegex(error, rb"standard input: tick [0-9]+, byte [0-9]+: ")
        self.assertTrue(expected.startswith(out) and len(out) > len(expected) // 2)
        for nothing, words in ((b"", b"it is empty"), (b"TWDEMO\0", b"byte 7"), (b"no demo at all", b"not a demo")):
            code, out, error = piped(nothing)
            self.assertEqual((code, out), (2 if words == b"not a demo" else 1, b""), error)
            self.assertIn(words, error)
        self.finish(dump(self.folder / "none", "--follow"), 3, b"no such file")
        (self.folder / "empty").mkdir()
        self.finish(dump(self.folder / "empty", "--follow"), 2, b"has no demos or packet captures in it")

    def test_memory(self):
        """It does not grow with what comes."""
        process = dump("-", "--follow", "-o", "/dev/null", stdin=subprocess.PIPE)
        self.addCleanup(process.kill)
        def resident():
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            return int(status.partition("VmRSS:")[2].split()[0])

        process.stdin.write((DEMOS / "ddnet_yard.demo").read_bytes())
        block = (b"\x1f" + (60000).to_bytes(2, "little") + bytes(60000)) * 16  # unknown chunks
        process.stdin.write(block)
        before = resident()
        for _ in range(100):
            process.stdin.write(block)
        growth = resident() - before
        self.finish(process, 0)
        self.assertLess(growth, 24 << 10, "KiB for 92 MiB")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
