#!/usr/bin/env python3
"""Files with hostile names and headers: what is printed for people cannot move the cursor or turn the direction of
writing, and programs get the names as they are. Usage: test_text.py TEEWIRE FIXTURES"""
import csv
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

from program import run

FIXTURES = pathlib.Path(sys.argv[2])
DEMO = (FIXTURES / "demos/ddnet_dm1.demo").read_bytes()
MAP = (FIXTURES / "maps/ddnet.map").read_bytes()
CAPTURE = (FIXTURES / "captures/ddnet_lossy.pcap").read_bytes()

# A title for the terminal, C1, DEL, and every character that turns the direction.
HOSTILE = "a\x1b]0;x\x07\x9b31m\x7f\r\n" + "".join(map(chr, (0x202e, 0x2066, 0x2069, 0x200f, 0x61c))) + "z: b"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Text(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, data, ending):
        path = self.folder / (HOSTILE + ending)
        path.write_bytes(data)
        return path

    def run_verb(self, *arguments, codes):
        code, out, err = run(*arguments)
        self.assertIn(code, codes, (arguments, out, err))
        return out, err

    def check(self, *arguments, codes=(0,)):
        """Runs a verb whose output is for people. Its name may not begin a line of its own either."""
        out, err = self.run_verb(*arguments, codes=codes)
        for text in (out, err):
            found = CONTROL.search(text)
            self.assertIsNone(found, (arguments, text[:300]))
            self.assertNotRegex(text, r"(?m)^\W*z: b", arguments)
        self.assertNotEqual(out + err, "", arguments)

    def hostile_header(self):
        demo = bytearray(DEMO)
        for begin, size in ((72, 64), (156, 20)):  # map and date
            text = HOSTILE.encode()[:size - 1].decode(errors="ignore").encode()
            demo[begin:begin + size] = text.ljust(size, b"\0")
        return bytes(demo)

    def test_demos(self):
        good = self.put(self.hostile_header(), ".demo")
        cut = self.put(self.hostile_header()[:20_000], "cut.demo")
        other = self.put(b"no demo at all", "other.demo")
        missing = self.folder / (HOSTILE + "missing")
        self.check("info", good)
        self.check("verify", good)
        self.check("play", "--speed", "1000", good)
        for verb in (["info"], ["verify"], ["play", "--speed", "1000"]):
            self.check(*verb, cut, codes=(1,))
        for verb in ("info", "verify", "play", "dump"):
            self.check(verb, other, codes=(2,))
            self.check(verb, missing, codes=(3,))
        self.check("dump", "--format", "checksum", cut, codes=(1,))
        self.check("dump", "--type", HOSTILE, good, codes=(2,))
        self.check("serve", other, codes=(2,))
        self.check(HOSTILE, codes=(2,))
        self.check("info", good, "--" + HOSTILE, codes=(2,))

    def test_maps(self):
        good = self.put(MAP, ".map")
        cut = self.put(MAP[:3000], "cut.map")
        missing = self.folder / (HOSTILE + "missing")
        self.check("map", "info", good)
        self.check("map", "check", good)
        self.check("map", "check", cut, codes=(1,))
        self.check("map", "info", missing, codes=(3,))
        self.check("map", "convert", good, "--level", "1", "-o", self.folder / (HOSTILE + "out.map"))
        self.check("map", "extract", good, "--image", HOSTILE, "-o", self.folder / "x.png", codes=(1, 2))
        self.check("map", "render", good, "-o", self.folder / "x.png", "--mapres", self.folder)

    def test_captures(self):
        good = self.put(CAPTURE, ".pcap")
        cut = self.put(CAPTURE[:-5], "cut.pcap")
        self.check("capture", good)
        self.check("capture", "--explain", good)
        self.check("capture", cut, codes=(1,))
        self.check("capture", "--connection", HOSTILE, good, codes=(2,))

    def test_programs_get_names_as_they_are(self):
        demo = self.put(self.hostile_header(), ".demo")
        out, _ = self.run_verb("info", "--format", "ndjson", demo, codes=(0,))
        self.assertEqual(json.loads(out)["file"], str(demo))
        self.assertTrue(HOSTILE.startswith(json.loads(out)["map"]["name"]))
        self.assertIn("\x1b", json.loads(out)["map"]["name"])
        for verb, data in (("info", MAP), ("check", MAP[:3000])):
            map_ = self.put(data, f"{verb}.map")
            out, _ = self.run_verb("map", verb, "--format", "ndjson", map_, codes=(0, 1))
            self.assertEqual(json.loads(out.splitlines()[0])["file"], str(map_))
        # Invalid UTF-8 does not make invalid JSON.
        broken = os.fsencode(self.folder) + b"/\xff.demo"
        with open(broken, "wb") as file:
            file.write(DEMO)
        self.assertEqual(json.loads(run("info", "--format", "ndjson", broken)[1])["file"], f"{self.folder}/\ufffd.demo")
        out = run("merge", broken, "-o", broken + b"2", "--format", "ndjson")[1]
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((lines[0]["file"], lines[-1]["result"]), (f"{self.folder}/\ufffd.demo", f"{self.folder}/\ufffd.demo2"))

    def test_csv(self):
        """Numbers are still numbers, whatever their sign, and ordinary texts are left alone."""
        demo = self.put(DEMO, ".demo")
        for raw in ([], ["--raw"]):
            out, _ = self.run_verb("dump", "--format", "csv", "--type", "client_info", *raw, demo, codes=(0,))
            rows = list(csv.DictReader(io.StringIO(out)))
            self.assertEqual({r["client_info.name"] for r in rows}, {f"bot{i:02}" for i in range(6)})
            self.assertIn("-1", {r["client_info.country"] for r in rows})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
