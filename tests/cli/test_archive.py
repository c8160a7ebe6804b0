#!/usr/bin/env python3
"""Archives of demos: compress, decompress, and whatever reads a demo. Usage: test_archive.py TEEWIRE FIXTURES"""
import gzip
import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import unittest
import zlib

from archive_decoder import decode
from in_folder import InFolder
from program import run, run_bytes

FIXTURES = pathlib.Path(sys.argv[2])
DEMO = FIXTURES / "demos/ddnet_dm1.demo"
YARD = FIXTURES / "demos/ddnet_yard.demo"


def map_of(demo):
    """The map in a demo of version 6."""
    size, = struct.unpack(">I", demo[136:140])
    return demo[484:484 + size]


class Archive(InFolder):
    def copy(self, demo, name):
        shutil.copy(demo, self.folder / name)
        return self.folder / name

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())

    def test_every_byte(self):
        for file in [*sorted(FIXTURES.glob("demos/*.demo")), FIXTURES / "captures/ddnet_yard.pcap", FIXTURES / "maps/ddnet.map"]:
            with self.subTest(file=file.name):
                archive, back = self.folder / "x.tda", self.folder / "back"
                code, out, said = run("compress", file, "-o", archive, "--force")
                self.assertEqual((code, out), (0, ""), said)
                self.assertLess(archive.stat().st_size, file.stat().st_size)
                self.assertEqual(run("decompress", archive, "-o", back, "--force"), (0, "", ""))
                self.assertEqual(back.read_bytes(), file.read_bytes())

    def test_second_decoder(self):
        """Another program, in another language, reads them."""
        for name in ("ddnet_yard", "teeworlds07_v5", "ddnet_v3"):
            file = FIXTURES / f"demos/{name}.demo"
            self.assertEqual(run("compress", file, "-o", self.folder / f"{name}.tda")[0], 0)
            self.assertEqual(decode((self.folder / f"{name}.tda").read_bytes()), file.read_bytes())

    def test_streams(self):
        code, archive, _ = run_bytes("compress", "-", "--method", "tda", "-o", "-", stdin=YARD.read_bytes())
        self.assertEqual((code, archive[:8]), (0, b"TWARCH\0\2"))
        code, back, _ = run_bytes("decompress", "-", "-o", "-", stdin=archive)
        self.assertEqual((code, back), (0, YARD.read_bytes()))

    def test_other_forms(self):
        for form in ("zst", "gz"):
            packed = self.folder / f"y.demo.{form}"
            self.assertEqual(run("compress", YARD, "-o", packed)[0], 0)
            self.assertEqual(run("decompress", packed, "--remove"), (0, "", ""))
            self.assertEqual((self.folder / "y.demo").read_bytes(), YARD.read_bytes())
            self.assertEqual(self.names(), ["y.demo"])
            (self.folder / "y.demo").unlink()

    def test_folder(self):
        """Originals are kept unless they need not be, and what is done is not done again."""
        self.copy(DEMO, "a.demo"), self.copy(YARD, "b.demo")
        self.assertEqual(run("compress", self.folder, "--jobs", "2")[0], 0)
        self.assertEqual(self.names(), ["a.demo", "a.demo.tda", "b.demo", "b.demo.tda"])
        before = (self.folder / "a.demo.tda").stat().st_mtime_ns
        code, _, said = run("compress", self.folder / "a.demo")
        self.assertEqual((code, said), (0, f"teewire: {self.folder}/a.demo.tda: is there already\n"))
        self.assertEqual((self.folder / "a.demo.tda").stat().st_mtime_ns, before)
        # A folder may be given again.
        self.assertEqual(run("compress", self.folder)[0], 0)
        self.assertEqual(self.names(), ["a.demo", "a.demo.tda", "b.demo", "b.demo.tda"])
        # Another demo's archive is not one's own.
        shutil.copy(self.folder / "b.demo.tda", self.folder / "a.demo.tda")
        code, _, said = run("compress", self.folder / "a.demo", "--remove")
        self.assertEqual(code, 2, said)
        self.assertTrue((self.folder / "a.demo").exists())
        self.assertEqual(run("compress", self.folder / "a.demo", "--remove", "--force")[0], 0)
        self.assertEqual(run("compress", self.folder / "b.demo", "--remove")[0], 0)
        self.assertEqual(self.names(), ["a.demo.tda", "b.demo.tda"])
        self.assertEqual(run("decompress", *self.folder.iterdir(), "--remove")[0], 0)
        self.assertEqual((self.folder / "a.demo").read_bytes(), DEMO.read_bytes())
        self.assertEqual(self.names(), ["a.demo", "b.demo"])

    def test_shared_maps(self):
        demos = {name: (FIXTURES / f"demos/{name}.demo").read_bytes() for name in ("ddnet_dm1", "ddnet_yard")}
        other = bytearray(demos["ddnet_yard"])
        other[484 + 1000] ^= 1  # another map
        demos["other"] = bytes(other)
        demos["again"] = demos["ddnet_yard"]
        for name, content in demos.items():
            self.save(f"{name}.demo", content)
        code, _, said = run("compress", self.folder, "--share-maps", "--remove")
        self.assertEqual(code, 0, said)
        sums = {hashlib.sha256(map_of(content)).hexdigest(): map_of(content) for content in demos.values() if map_of(content)}
        self.assertEqual(len(sums), 2)
        self.assertEqual(sorted(p.name for p in (self.folder / "maps").iterdir()), sorted(f"{sum}.map" for sum in sums))
        yard = self.folder / "again.demo.tda"
        self.assertEqual(decode(yard.read_bytes(), sums), demos["again"])
        # All that reads archives finds them.
        plain = self.save("plain.demo", demos["again"])
        for arguments in (["dump", "--format", "checksum"], ["verify"], ["map", "check"],
                          ["dump", "--from", "0:01", "--to", "0:02", "--format", "checksum"]):
            with self.subTest(arguments):
                code, out, said = run(*arguments, yard)
                expected = run(*arguments, plain)
                self.assertEqual((code, out.replace(str(yard), "X")), (expected[0], expected[1].replace(str(plain), "X")), said)
        part = self.folder / "part.demo"
        self.assertEqual(run("cut", yard, "--from", "0:01", "--to", "0:02", "-o", part)[0], 0)
        self.assertEqual(map_of(part.read_bytes()), map_of(demos["again"]))
        # A complete archive is left alone; without its map it is not complete.
        copy = self.save("again.demo", demos["again"])
        for options in ([], ["--share-maps"]):
            self.assertEqual(run("compress", copy, *options), (0, "", f"teewire: {yard}: is there already\n"))
        there = self.folder / "maps" / f"{hashlib.sha256(map_of(demos['again'])).hexdigest()}.map"
        good = there.read_bytes()
        for damage, words in ((None, f"its map is missing: {there}"), (good[:-1], f"{there} is not its map"),
                              (good[:9] + b"X" + good[10:], f"{there} is not its map")):
            there.unlink() if damage is None else there.write_bytes(damage)
            code, out, said = run("decompress", yard, "--force", "-o", self.folder / "back")
            self.assertEqual((code, out), (1, ""))
            self.assertIn(words, said)
            self.assertEqual((self.folder / "back").read_bytes(), demos["again"][:484])
            self.assertEqual(run("compress", copy, "--remove")[0], 2)
            self.assertTrue(copy.exists())
            # A part without the map needs none.
            self.assertEqual(run("dump", "--from", "0:01", "--to", "0:02", "--format", "checksum", yard)[0], 0)
            if damage is None:
                continue
            self.assertIn("exists", run("compress", copy, "--share-maps")[2])
            self.assertEqual(there.read_bytes(), damage)
        there.unlink()
        self.assertEqual(run("compress", copy, "--share-maps", "--remove")[0], 0)
        code, _, said = run("decompress", *self.folder.glob("*.tda"), "--remove")
        self.assertEqual(code, 0, said)
        for name, content in demos.items():
            self.assertEqual((self.folder / f"{name}.demo").read_bytes(), content)

    def test_read_like_demos(self):
        archive = self.folder / "x.demo.tda"
        self.assertEqual(run("compress", DEMO, "-o", archive)[0], 0)
        for arguments in (["dump", "--format", "checksum"], ["verify"], ["events"], ["stats"], ["du"], ["map", "check"],
                          ["dump", "--from", "0:05", "--to", "0:07", "--format", "checksum"]):
            with self.subTest(arguments):
                plain = run(*arguments, "-", stdin=DEMO.read_bytes())
                self.assertEqual(run(*arguments, "-", stdin=archive.read_bytes()), plain)
        # The index is that of the demo, which a browser restores.
        demo = self.save("x.demo", DEMO.read_bytes())
        self.assertEqual(run("index", archive, demo)[0], 0)
        self.assertEqual((self.folder / "x.demo.tda.index").read_bytes(), (self.folder / "x.demo.index").read_bytes())

    def test_damage(self):
        self.assertEqual(run("compress", DEMO, "-o", self.folder / "x.tda")[0], 0)
        good = (self.folder / "x.tda").read_bytes()
        header = struct.unpack(">I", good[8 + 8:][:4])[0]
        chunks = 8 + 24 + header + 24  # where they begin
        changed = bytearray(good)
        changed[chunks + 5000] ^= 1
        damaged = self.save("damaged.tda", changed)
        code, out, said = run("decompress", damaged)
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(said, rf"byte {chunks} of the archive: a block is damaged: .*; everything before it is kept")
        self.assertEqual((self.folder / "damaged").read_bytes(), DEMO.read_bytes()[:484])
        # Without an index, all that the blocks still hold.
        whole = DEMO.read_bytes()
        for size, least in ((1, len(whole)), (16 + 48, len(whole)), (16 + 48 + 10, 0.99 * len(whole)),
                            ((len(good) - chunks) // 2, 0.3 * len(whole)), (len(good) - chunks - 24, 484)):
            cut = self.save("cut.tda", good[:-size])
            code, out, said = run("decompress", cut, "--force")
            self.assertEqual((code, out), (1, ""))
            self.assertRegex(said, r"byte \d+ of the archive: its index is missing or damaged: .*; everything before it is kept")
            kept = (self.folder / "cut").read_bytes()
            self.assertGreaterEqual(len(kept), least)
            self.assertEqual(kept, whole[:len(kept)])
        for content, words in ((good[:8 + 24], "of the archive: "), (good[:10], "the data ends too early"),
                               (b"TWARCH\0\3" + good[8:], "byte 7 of the archive: ")):
            code, out, said = run("info", self.save("bad.tda", content))
            self.assertEqual((code, out), (1, ""))
            self.assertIn(words, said)

    def test_bombs(self):
        """An index can say anything about blocks, but not for free."""
        entry = struct.pack(">BBBxIIIiI", 1, 0, 0, 1 << 22, 1, 0, -1, 0)
        count = 300
        index = entry * count + struct.pack(">IQ", count, count << 22)
        bomb = b"TWARCH\0\2" + bytes(25 * count) + index + struct.pack(">I", zlib.crc32(index))
        code, out, said = run("info", self.save("bomb.tda", bomb))
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"the archive decompresses to {count << 22} bytes, more than {1 << 24}", said)

    def test_refusals(self):
        cases = ((["compress", DEMO, YARD, "-o", "x.tda"], "-o is for one file"),
                 (["compress", DEMO, "-o", self.folder / "x.demo"], "name ends in neither .tda, .zst nor .gz"),
                 (["compress", DEMO, "-o", self.folder / "x.tda", "--level", "3"], "archives have no levels"),
                 (["compress", DEMO, "-o", self.folder / "x.tda", "--remove"], "--remove is for archives next to"),
                 (["compress", DEMO, "-o", "-", "--method", "tda", "--share-maps"], "--share-maps is for archives in a folder"),
                 (["compress", DEMO, "-o", self.folder / "x.gz", "--share-maps"], "--share-maps is for archives in a folder"),
                 (["compress", "-"], "standard input has no name"),
                 (["decompress", DEMO], "name ends in neither"),
                 (["decompress", DEMO, "-o", self.folder / "x"], "byte 0: not compressed"))
        for arguments, words in cases:
            with self.subTest(words):
                code, out, said = run(*arguments, stdin=b"")
                self.assertEqual((code, out), (2, ""), said)
                self.assertIn(words, said)
        self.assertEqual(self.names(), [])


def entries(archive):
    """Where the entries of the index are, and where the bytes of their blocks."""
    count = struct.unpack(">I", archive[-16:-12])[0]
    index, block = len(archive) - 16 - 24 * count, 8
    for i in range(count):
        entry = index + 24 * i
        size = struct.unpack(">I", archive[entry + 8:entry + 12])[0]
        yield entry, slice(block + 24, block + 24 + size)
        block += 24 + size


class Parts(InFolder):
    """A part of a demo comes from a part of its archive."""

    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="teewire-archive-")
        cls.demo = pathlib.Path(cls.kept.name) / "long.demo"
        cls.tda = cls.demo.with_suffix(".tda")
        assert run("join", *[DEMO] * 34, "-o", cls.demo)[0] == 0
        assert run("compress", cls.demo, "-o", cls.tda)[0] == 0
        cls.blocks = list(entries(cls.tda.read_bytes()))
        assert len(cls.blocks) >= 4  # the header, and three of chunks
        info = json.loads(run("info", "--format", "ndjson", cls.demo)[1])
        cls.first, cls.last = info["first_tick"], info["last_tick"]

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def dump(self, file, *words):
        code, out, said = run("dump", file, "--format", "checksum", *words)
        return code, out, said.replace(str(file), "FILE")

    def test_ranges(self):
        chance = random.Random(3)
        for _ in range(int(os.environ.get("TEEWIRE_RANGES", 10))):
            a = chance.randint(self.first - 50, self.last + 50)
            b = a + chance.choice([0, 1, 50, 500, 5000])
            words = chance.choice([("--from", a, "--to", b), ("--from", a), ("--to", b), ("--to", f"{(b - a) // 50}s")])
            with self.subTest(words=words):
                self.assertEqual(self.dump(self.tda, *words), self.dump(self.demo, *words))

    def changed(self, change):
        archive = bytearray(self.tda.read_bytes())
        change(archive)
        archive[-4:] = struct.pack(">I", zlib.crc32(archive[self.blocks[0][0]:-4]))
        (self.folder / "changed.tda").write_bytes(archive)
        return self.folder / "changed.tda"

    def test_other_blocks(self):
        """Blocks that are not needed are not read."""
        ticks = struct.unpack(">i", self.tda.read_bytes()[self.blocks[2][0] + 16:][:4])[0]
        words = "--from", ticks + 10, "--to", ticks + 60
        whole = self.dump(self.tda, *words)
        self.assertEqual((whole[0], whole[1].count("\n")), (0, 26), whole[2])

        def spoil(numbers):
            def change(archive):
                for number in numbers:
                    block = self.blocks[number][1]
                    archive[block] = bytes(block.stop - block.start)
            return self.changed(change)

        others = spoil([1, *range(3, len(self.blocks))])
        self.assertEqual(self.dump(others, *words), whole)
        code, _, said = self.dump(others)
        self.assertEqual(code, 1)
        self.assertIn("a block is damaged", said)
        code, out, said = self.dump(spoil([2]), *words)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("a block is damaged", said)

    def test_index_that_lies(self):
        last = self.blocks[-1][0]

        def later(archive):
            archive[last + 20:last + 24] = struct.pack(">i", self.last + 1)

        code, out, said = self.dump(self.changed(later), "--from", self.last - 10)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("the index of the archive does not fit its blocks", said)

        def backwards(archive):  # then all of it is read
            archive[last + 16:last + 20] = struct.pack(">i", 0)

        words = "--from", self.last - 10
        self.assertEqual(self.dump(self.changed(backwards), *words), self.dump(self.demo, *words))

    def test_cut(self):
        for words in ("--from", "30s", "--to", "31s"), ("--to", "5s"), ("--from", "2:00", "--to", "-1s"):
            for file in self.demo, self.tda:
                self.assertEqual(run("cut", file, *words, "-o", self.folder / file.name, "--force")[0], 0)
            self.assertEqual((self.folder / "long.tda").read_bytes(), (self.folder / "long.demo").read_bytes())
        # A damaged block does not matter after the last piece; elsewhere it is reported, and what came before is kept.
        def spoil(archive):
            block = self.blocks[-1][1]
            archive[block] = bytes(block.stop - block.start)
        spoilt = self.changed(spoil)
        for words, code, reported in (("--to", "20s"), 0, False), ((), 1, True):
            found, _, said = run("cut", spoilt, "--from", "10s", *words, "-o", self.folder / "x.demo", "--force")
            self.assertEqual((found, "a block is damaged" in said, "everything before it is kept" in said), (code, reported, reported), said)
            self.assertEqual(run("verify", self.folder / "x.demo")[0], 0)
        code, _, said = run("join", spoilt, DEMO, "-o", self.folder / "x.demo", "--force")
        self.assertEqual((code, "a block is damaged" in said), (1, True), said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
