#!/usr/bin/env python3
"""Compressed files are read wherever files are. Usage: test_compressed.py TEEWIRE FIXTURES"""
import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

from in_folder import InFolder
from program import run, size_text

FIXTURES = pathlib.Path(sys.argv[2])
DEMO = FIXTURES / "demos/ddnet_dm1.demo"
CAPTURE = FIXTURES / "captures/ddnet_yard.pcap"
MAP = FIXTURES / "maps/ddnet.map"


def zstd_block(kind, size, data, last):
    return struct.pack("<I", last | kind << 1 | size << 3)[:3] + data


def zstd(data, block=1000):
    """A frame whose blocks are not compressed."""
    pieces = [data[i:i + block] for i in range(0, len(data), block)] or [b""]
    return b"\x28\xb5\x2f\xfd\x00\x50" + b"".join(zstd_block(0, len(p), p, p is pieces[-1]) for p in pieces)


def zstd_zeros(blocks):
    """128 KiB in four bytes, again and again."""
    return b"\x28\xb5\x2f\xfd\x00\x60" + b"".join(zstd_block(1, 1 << 17, b"\0", i == blocks - 1) for i in range(blocks))


FORMS = {"gz": gzip.compress, "zst": zstd}


class Compressed(InFolder):
    def same(self, file, *arguments):
        """Each form gives what the file itself does: by any name, and as standard input."""
        plain = run(*arguments, "-", stdin=file.read_bytes())
        self.assertEqual(plain[0], 0, plain)
        for form, compress in FORMS.items():
            data = compress(file.read_bytes())
            half = len(file.read_bytes()) // 2
            several = compress(file.read_bytes()[:half]) + compress(file.read_bytes()[half:])
            for content in (data, several):
                with self.subTest(form=form, arguments=arguments):
                    self.assertEqual(run(*arguments, "-", stdin=content), plain)
                    path = self.save("by content", content)
                    done = run(*arguments, path)
                    self.assertEqual([t.replace(str(path), "standard input") for t in done[1:]], list(plain[1:]))
                    self.assertEqual(done[0], 0)

    def test_demos(self):
        self.same(DEMO, "dump", "--format", "checksum")
        self.same(DEMO, "verify")
        self.same(DEMO, "info", "--format", "ndjson")
        self.same(FIXTURES / "demos/ddnet_yard.demo", "play", "--speed", "1000")
        self.same(FIXTURES / "demos/ddnet_yard.demo", "map", "check")

    def test_captures(self):
        self.same(CAPTURE, "capture")
        self.same(CAPTURE, "capture", "--connection", "1", "--explain")

    def test_maps(self):
        self.same(MAP, "map", "info", "--format", "ndjson")

    def test_compress(self):
        for file in (DEMO, CAPTURE, MAP):
            for form in ("gz", "zst"):
                for level in ((), ("--level", "1"), ("--level", "9")):
                    with self.subTest(file=file.name, form=form, level=level):
                        out = self.folder / f"{file.name}{len(level)}{level[-1:]}.{form}"
                        code, printed, said = run("compress", file, "-o", out, *level)
                        self.assertEqual((code, printed), (0, ""), said)
                        self.assertRegex(said, re.escape(f"{size_text(out.stat().st_size)} of {size_text(file.stat().st_size)}, "))
                        self.assertLess(out.stat().st_size, file.stat().st_size)
                        # By a program of another kind, if there is one.
                        if form == "gz":
                            self.assertEqual(gzip.decompress(out.read_bytes()), file.read_bytes())
                        elif shutil.which("zstd"):
                            back = subprocess.run(["zstd", "-dc", out], stdout=subprocess.PIPE, check=True).stdout
                            self.assertEqual(back, file.read_bytes())
                        # Compressed files are not compressed twice.
                        again = self.folder / "again.gz"
                        self.assertEqual(run("compress", out, "-o", again, "--force")[0], 0)
                        self.assertEqual(gzip.decompress(again.read_bytes()), file.read_bytes())
        # Longer than what is handed over at a time, in both directions.
        hardly = os.urandom(700_000)
        big = self.save("big.demo", DEMO.read_bytes()[:7] + hardly)
        for form in ("gz", "zst"):
            self.assertEqual(run("compress", big, "-o", self.folder / f"big.{form}")[0], 0)
            self.assertEqual(run("compress", self.folder / f"big.{form}", "-o", self.folder / "same.gz", "--force")[0], 0)
            self.assertEqual(gzip.decompress((self.folder / "same.gz").read_bytes()), big.read_bytes())

    def test_compress_refuses(self):
        out = self.folder / "out.demo"
        for arguments, why in (((DEMO, "-o", out), "ends in neither .tda, .zst nor .gz"),
                               ((DEMO, "-o", f"{out}.gz", "--level", "10"), "gzip has levels 1 to 9"),
                               ((DEMO, "-o", f"{out}.zst", "--level", "0"), "--level")):
            code, _, said = run("compress", *arguments)
            self.assertEqual(code, 2, said)
            self.assertIn(why, said)
        text = self.save("text", b"no recording")
        code, _, said = run("compress", text, "-o", f"{out}.gz")
        self.assertEqual(code, 2, said)
        # Everything before damage is kept.
        half = gzip.compress(DEMO.read_bytes())[:40_000]
        code, _, said = run("compress", self.save("half.gz", half), "-o", f"{out}.zst")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"byte 40000 of the gzip data: it ends too early; everything before it is kept")
        self.assertEqual(run("info", f"{out}.zst")[0], run("info", self.folder / "half.gz")[0])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["half.gz", "out.demo.zst", "text"])

    def test_real_programs(self):
        for program in ("gzip", "zstd"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
            packed = subprocess.run([program, "-c", DEMO], stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(run("verify", "-", stdin=packed), run("verify", "-", stdin=DEMO.read_bytes()))

    def test_zeros_behind_gzip(self):
        code, out, _ = run("verify", "-", stdin=gzip.compress(DEMO.read_bytes()) + bytes(5000))
        self.assertEqual((code, out), (0, run("verify", "-", stdin=DEMO.read_bytes())[1]))

    def test_skippable_frames(self):
        skippable = struct.pack("<II", 0x184d2a53, 7) + b"nothing"
        code, out, _ = run("verify", "-", stdin=skippable + zstd(DEMO.read_bytes()) + skippable)
        self.assertEqual((code, out), (0, run("verify", "-", stdin=DEMO.read_bytes())[1]))

    def test_damage(self):
        """Everything before it is printed, with its position: also if the demo seems to be complete."""
        whole = DEMO.read_bytes()
        all_lines = run("dump", "--format", "checksum", DEMO)[1].splitlines()
        for form, compress in FORMS.items():
            packed = compress(whole)
            kind = {"gz": "gzip", "zst": "zstd"}[form]
            cases = {"cut": (packed[:len(packed) // 2], f"; byte {len(packed) // 2} of the {kind} data: it ends too early"),
                     "behind": (packed + b"nothing of the kind", f": byte {len(packed) + (2 if form == 'gz' else 0)} of the"),
                     "end": (packed[:-1], f" byte {len(packed) - 1} of the {kind} data: it ends too early")}
            changed = bytearray(packed)
            changed[-6 if form == "gz" else len(packed) // 1003 // 2 * 1003 + 6] ^= 0xff
            cases["changed"] = (bytes(changed), "byte ")
            for name, (content, words) in cases.items():
                with self.subTest(form=form, damage=name):
                    file = self.save("damaged", content)
                    code, out, err = run("dump", "--format", "checksum", file)
                    self.assertEqual(code, 1)
                    self.assertIn(words, err)
                    self.assertIn(f"of the {kind} data", err)
                    self.assertRegex(err, r"\Ateewire: [^\n]*\n\Z")
                    lines = out.splitlines()
                    self.assertEqual(lines, all_lines[:len(lines)])
                    least = len(all_lines) if name in ("behind", "end") else len(all_lines) // 3
                    if form == "gz" or name != "end":
                        self.assertGreaterEqual(len(lines), least)
                    code, out, _ = run("verify", "--format", "ndjson", file)
                    self.assertEqual((code, json.loads(out)["ok"]), (1, False))
                    self.assertIn(f"of the {kind} data", json.loads(out)["error"])
                    code, out, _ = run("info", "--format", "ndjson", file)
                    self.assertEqual((code, json.loads(out)["truncated"]), (1, True))

    def test_damaged_captures(self):
        for form, compress in FORMS.items():
            packed = compress(CAPTURE.read_bytes())
            for connection in ([], ["--connection", "1"]):
                code, out, err = run("capture", *connection, "-", stdin=packed[:len(packed) // 2])
                self.assertEqual(code, 1)
                self.assertIn("1 connection", out)
                self.assertRegex(err, r"frame \d+: byte \d+ of the g?z\w+ data: it ends too early; everything before it is shown")

    def test_damaged_maps(self):
        for compress in FORMS.values():
            packed = compress(MAP.read_bytes())
            out = self.folder / "out.map"
            for arguments in (["info"], ["check"], ["convert", "--level", "9", "-o", out]):
                code, _, err = run("map", *arguments, self.save("cut", packed[:len(packed) // 2]))
                self.assertEqual(code, 1)
                self.assertIn("it ends too early", err)
                self.assertFalse(out.exists())
        # The map of a demo comes first.
        whole = (FIXTURES / "demos/ddnet_yard.demo").read_bytes()
        self.assertEqual(run("map", "check", "-", stdin=zstd(whole)[:-500])[0], 0)
        code, _, err = run("map", "check", "-", stdin=zstd(whole)[:2500])
        self.assertEqual(code, 1)
        self.assertIn("byte 2500 of the zstd data: it ends too early", err)

    def test_bombs(self):
        """Little that becomes much is refused, whatever it holds."""
        nothing = gzip.compress(bytes(1 << 24))
        for name, bomb in (("zstd", zstd_zeros(1 << 13)), ("gzip", b"".join(nothing for _ in range(65)))):
            for verb in (["info"], ["verify"], ["dump"], ["map", "info"]):
                code, out, err = run(*verb, self.save("bomb", bomb))
                said = out + err
                self.assertEqual(code, 1)
                self.assertRegex(said, rf"byte \d+ of the {name} data: it decompresses to more than \d+ bytes")
        # As much as a small file may hold.
        code, _, err = run("info", "-", stdin=zstd_zeros(128))
        self.assertEqual((code, err), (2, "teewire: standard input: byte 0: not a demo\n"))

    def test_kinds(self):
        for content, words in ((gzip.compress(b""), "not a demo: it is empty"), (zstd(b""), "not a demo: it is empty"),
                               (zstd(gzip.compress(DEMO.read_bytes())), "byte 0: not a demo"),
                               (b"\x1f\x8b\x08", "byte 3 of the gzip data: it ends too early"),
                               (b"\x1f\x8b\x08" + bytes(20), "of the gzip data: "),
                               (b"\x28\xb5\x2f\xfd", "byte 4 of the zstd data: it ends too early")):
            code, out, err = run("info", "-", stdin=content)
            self.assertEqual((code, out), (2 if words == "byte 0: not a demo" else 1, ""))
            self.assertIn(words, err)
        code, _, err = run("info", "-", stdin=gzip.compress(CAPTURE.read_bytes()))
        self.assertEqual(code, 2)
        self.assertIn("this is a packet capture, not a demo; `teewire capture` reads it", err)
        code, _, err = run("capture", "-", stdin=zstd(DEMO.read_bytes()))
        self.assertEqual(code, 2)
        self.assertIn("this is a demo", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
