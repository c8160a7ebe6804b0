#!/usr/bin/env python3
"""`teewire map` as its users see it: output, exit codes, damaged files. Usage: test_map.py TEEWIRE FIXTURES"""
import hashlib
import json
import math
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import unittest
import zlib

from in_folder import InFolder
from limits import STUCK_AT_WORK
from made_maps import VERSION, datafile, group, quads, tiles
from processes import until_it_works
from program import TEEWIRE, run, run_bytes, size_text

FIXTURES = pathlib.Path(sys.argv[2])
MAP = FIXTURES / "maps/ddnet.map"
MAP_07 = FIXTURES / "maps/teeworlds07.map"
XVECTOR = FIXTURES / "maps/revision_1.xvmap"
XVECTOR_ORIGINAL = FIXTURES / "maps/original_program.xvmap"
DEMO = FIXTURES / "demos/ddnet_dm1.demo"

# The colours of the fixture's game layer.
HOOKABLE, DEATH, UNHOOKABLE = (196, 158, 104), (222, 58, 58), (122, 134, 152)
FREEZE, AIR, SPAWN = (58, 92, 214), (24, 27, 36), (250, 250, 250)


def run(*arguments, **options):
    return run_bytes("map", *arguments, **options)


def info(file, *arguments, **options):
    code, out, err = run("info", "--format", "ndjson", file, *arguments, **options)
    assert code == 0, err
    return json.loads(out)


class Datafile:
    """Read without the library: header and tables, blocks decompressed."""

    def __init__(self, data):
        self.version, _, _, types, items, blocks, item_bytes, _ = struct.unpack_from("<8i", data, 4)
        at = 36 + 12 * types + 4 * items
        offsets = struct.unpack_from(f"<{blocks}i", data, at)
        self.start = at + (8 if self.version == 4 else 4) * blocks + item_bytes
        self.items = data[self.start - item_bytes:self.start]
        ends = [*offsets[1:], len(data) - self.start]
        self.stored = [data[self.start + a:self.start + b] for a, b in zip(offsets, ends)]
        self.blocks = [zlib.decompress(s) if self.version == 4 else s for s in self.stored]


def read_png(data):
    """Width, height and rows of pixels as tuples; 8 bits, without interlacing."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack_from(">I", data, at + 8 + size)[0]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, interlaced) == (8, 0) and color in (2, 6)
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    n = 3 if color == 2 else 4
    raw = zlib.decompress(packed)
    above, rows, at = bytearray(n * width), [], 0
    for _ in range(height):
        method, row = raw[at], bytearray(raw[at + 1:at + 1 + n * width])
        at += 1 + n * width
        for i in range(n * width):
            left = row[i - n] if i >= n else 0
            corner = above[i - n] if i >= n else 0
            estimate = left + above[i] - corner
            nearest = min((abs(estimate - v), k, v) for k, v in enumerate((left, above[i], corner)))[2]
            row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[method]) & 255
        rows.append([tuple(row[i:i + n]) for i in range(0, n * width, n)])
        above = row
    return width, height, rows


def with_map(demo, map_):
    """A version 6 demo that embeds these bytes."""
    return demo[:136] + len(map_).to_bytes(4, "big") + demo[140:452] + hashlib.sha256(map_).digest() + map_ + demo[484:]


class Program(InFolder):
    def test_help_and_usage(self):
        for arguments in ([], ["info"], ["extract"], ["render"], ["convert"], ["check"]):
            code, out, err = run(*arguments, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertIn(b"--help", out)
        out = self.folder / "out"
        for arguments in ([], ["nothing"], ["info"], ["info", "--format", "xml", MAP], ["render", MAP],
                          ["render", MAP, "-o", out, "--scale", "0"], ["render", MAP, "-o", out, "--layer", "quads"],
                          ["render", MAP, "-o", out, "--region", "1,2,3"],
                          ["render", MAP, "-o", out, "--region", "0,0,0,4"],
                          ["render", MAP, "-o", out, "--region", "0,0,100000,100000"],
                          ["render", MAP, "-o", out, "--region", "0,0,1000000000000,1"],
                          ["render", MAP, "-o", out, "--mapres", self.folder / "nowhere"],
                          ["convert", MAP, "-o", out], ["convert", MAP, "-o", out, "--datafile", "5"],
                          ["convert", MAP, "-o", out, "--to", "0.8"], ["convert", MAP, "-o", out, "--level", "10"],
                          ["convert", MAP, "-o", out, "--datafile", "3", "--level", "1"], ["convert", MAP],
                          ["extract", MAP], ["extract", MAP, "-o", out, "--image", "0", "--block", "1"]):
            code, out_text, err = run(*arguments)
            self.assertEqual((code, out_text), (2, b""), arguments)
            self.assertNotEqual(err, "")
        self.assertEqual(self.files(), [])

    def test_missing_and_foreign_files(self):
        out = self.folder / "out"
        verbs = (["info"], ["check"], ["extract", "-o", out], ["render", "-o", out],
                 ["convert", "--level", "9", "-o", out])
        for verb in verbs:
            several = verb[0] in ("info", "check")
            for file, expected, word in ((self.folder / "no-such-file", 3, "no such file"),
                                         (self.folder, *((2, "has no maps") if several else (3, "directory"))),
                                         (FIXTURES / "MANIFEST.tsv", 2, "not a map or demo"), ("-", 1, "not a map"),
                                         (DEMO, 2, "includes no map")):
                code, _, err = run(*verb, file)
                self.assertEqual(code, expected, (verb, file))
                self.assertIn(word, err)
        self.assertEqual(self.files(), [])

    def test_output_that_cannot_be_written(self):
        for arguments in (["extract", MAP], ["render", MAP, "--scale", "2"], ["convert", MAP, "--level", "9"]):
            code, _, err = run(*arguments, "-o", self.folder / "no-such-folder/out")
            self.assertEqual(code, 3)
            self.assertIn("no-such-folder/out: cannot be written", err)
            self.assertEqual(run(*arguments, "-o", self.folder)[0], 3)
            self.assertEqual(run(*arguments, "-o", "/dev/full")[0], 3)
            code, out, _ = run(*arguments, "-o", "-")
            self.assertEqual(code, 0)
            self.assertGreater(len(out), 100)
        self.assertEqual(self.files(), [])

    def test_interrupt_leaves_nothing(self):
        process = subprocess.Popen([TEEWIRE, "map", "render", str(MAP), "-o", str(self.folder / "out.png"), "--scale",
                                    "256"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until_it_works(process)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=STUCK_AT_WORK)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.files(), [])


class Info(InFolder):
    def test_json(self):
        data = MAP.read_bytes()
        shown = info(MAP)
        self.assertEqual((shown["bytes"], shown["crc32"], shown["sha256"]),
                         (len(data), f"{zlib.crc32(data):08x}", hashlib.sha256(data).hexdigest()))
        self.assertEqual((shown["datafile"]["magic"], shown["datafile"]["version"], shown["datafile"]["header_kind"]),
                         ("DATA", 4, "exact"))
        self.assertEqual({t["name"]: t["num"] for t in shown["item_types"] if t["name"]},
                         {"version": 1, "info": 1, "image": 2, "envelope": 2, "group": 2, "layer": 10, "envpoints": 1,
                          "sound": 1, "uuid_index": 2})
        self.assertEqual({u["name"] for u in shown["uuid_items"]},
                         {"mapitemtype-automapper-config@ddnet.tw", "mapitemtype-envpoints-bezier@ddnet.tw"})
        self.assertEqual(shown["map_version"], 1)
        self.assertEqual(shown["info"]["author"]["text"], "teewire")
        self.assertIsNone(shown["info"]["credits"])
        self.assertEqual(shown["info"]["settings"], ["sv_gametype dm", "tune_zone 1 gravity 0.25"])
        self.assertEqual([(i["name"], i["width"], i["external"]) for i in shown["images"]],
                         [("bricks", 64, 0), ("sun", 256, 1)])
        self.assertEqual([(e["name"], e["channels"], e["num"]) for e in shown["envelopes"]],
                         [("light", 4, 2), ("path", 3, 3)])
        self.assertEqual((shown["envpoints"]["points"], shown["bezier"]["points"]), (5, [5]))
        self.assertEqual([(g["name"], g["parallax"], g["num"]) for g in shown["groups"]],
                         [("Sky", [0, 0], 1), ("Game", [100, 100], 9)])
        self.assertEqual([l["kind"] for l in shown["layers"]],
                         ["quads", "tiles", "quads", "game", "front", "tele", "speedup", "switch", "tune", "sounds"])
        for layer in shown["layers"]:
            self.assertTrue(layer["size_ok"], layer)
            if layer["kind"] in ("tele", "speedup", "front", "switch", "tune"):
                self.assertTrue(layer["dummy_all_zero"])
                self.assertEqual(layer["dummy_bytes"], 4 * 40 * 25)
        self.assertEqual([(s["name"], s["magic"]) for s in shown["sounds"]], [("birds", "OggS")])
        self.assertEqual([m["seed"] for m in shown["auto_mappers"]], [7])
        self.assertEqual([d["sha256"] for d in shown["data"]],
                         [hashlib.sha256(b).hexdigest() for b in Datafile(data).blocks])
        self.assertEqual(shown["problems"], [])

    def test_packed_tiles(self):
        ours, packed = info(MAP)["layers"], info(MAP_07)["layers"]
        blocks = Datafile(MAP.read_bytes()).blocks
        for a, b in zip(ours, packed, strict=True):
            if a["kind"] not in ("tiles", "game"):
                continue
            self.assertEqual((a["version"], b["version"]), (3, 4))
            self.assertEqual(b["unpacked_tiles"], 40 * 25)
            self.assertLess(b["packed_tiles"], 40 * 25)
            self.assertEqual(b["unpacked_sha256"], hashlib.sha256(blocks[a["tile_data"]]).hexdigest())

    def test_counts_of_tiles(self):
        some = random.Random(1)
        contents = [bytes(n) for n in range(1, 9)] + [bytes(n - 1) + b"\1" for n in range(1, 9)]
        contents += [bytes(4 * 65536 * 2 + n) + b"\0\0\1\0" for n in (0, 4)]
        contents += [bytes(some.choice((0, 0, 3, 255)) for _ in range(n)) for n in (10, 11, 12, 13, 4000, 4 * 65536 + 7)]
        contents.append(b"\xff" * (4 * 65536 * 2))
        layers = [layer for i in range(len(contents)) for layer in (
            tiles(3 * i, 1, 1, i, version=4), tiles(3 * i + 1, 1, 1, i), tiles(3 * i + 2, 1, 1, i, flags=2, more=[i]))]
        shown = run("info", "--format", "ndjson", self.save("some.map", datafile(
            [VERSION, group(len(layers)), *layers], [(zlib.compress(c, 1), len(c)) for c in contents])))
        shown = json.loads(shown[1])["layers"]
        for i, content in enumerate(contents):
            packed, plain, tele = shown[3 * i:3 * i + 3]
            whole = range(0, len(content) - 3, 4)
            self.assertEqual((packed["packed_tiles"], packed["unpacked_tiles"]),
                             (len(whole), sum(n + 1 for n in content[2::4])), i)
            self.assertEqual((plain["nonzero_skip"], plain["nonzero_reserved"]),
                             (sum(content[k + 2] != 0 for k in whole), sum(content[k + 3] != 0 for k in whole)), i)
            self.assertEqual((tele["dummy_bytes"], tele["dummy_all_zero"]), (len(content), not any(content)), i)

    def test_xvector(self):
        documented, original = info(XVECTOR), info(XVECTOR_ORIGINAL)
        self.assertEqual((documented["layout"], original["layout"]), ("revision_1", "original_program"))
        for shown in (documented, original):
            self.assertEqual((shown["format"], shown["name"], shown["width"], shown["height"], shown["depth"]),
                             ("xvector", "Hügel", 8, 6, 2))
            self.assertEqual(len(shown["tiles"]), 25)
            self.assertEqual(shown["tiles"][-1], [2, 2, 1, 4_000_000_000])
            self.assertFalse(shown["stripped"])
        self.assertEqual((documented["scroll"], documented["parallax"]), ([-3, 0], [0, 0.5]))
        data = XVECTOR.read_bytes()
        endless = data.replace(struct.pack("<ff", 0, 0.5), struct.pack("<ff", math.inf, math.nan))
        self.assertNotEqual(endless, data)
        self.assertEqual(info(self.save("endless.xvmap", endless))["parallax"], [None, None])
        north = data.index(struct.pack("<I", 7) + b"sky.png") - 16
        out = run("info", self.save("border.xvmap", data[:north] + struct.pack("<I", 4) + b"hill" + data[north + 4:]))[1]
        self.assertIn("north      hill\n", out.decode())
        self.assertNotIn("east  ", out.decode())
        self.assertEqual([p["code"] for p in original["problems"]], ["other_layout"])

    def test_layers_of_other_programs(self):
        """Are reported correctly, and hide nothing."""
        game = zlib.compress(bytes(4 * 4 * 4))
        file = self.folder / "odd.map"
        file.write_bytes(datafile([VERSION, group(3), (5, 0, [0, 99, 0, 1, 2, 3]), tiles(1, 4, 4, 0, flags=1), (5, 2, [0, 77, 1])],
                                  [(game, 4 * 4 * 4)]))
        code, out, err = run("info", file)
        self.assertEqual(err, "")
        groups = re.search("^groups.*?^(?=[a-z])", out.decode(), re.M | re.S)[0]
        self.assertEqual([line.strip() for line in groups.splitlines() if "layer" in line],
                         ["unknown layer", "unknown layer, detail"], out.decode())
        self.assertIn("4 x 4 tiles", out.decode())

    def test_text(self):
        code, out, err = run("info", MAP, XVECTOR, MAP_07)
        self.assertEqual((code, err), (0, ""))
        for word in ("40 x 25 tiles", "24 death", "teewire", "bricks, 64 x 64, embedded", "Hügel", "problems   none"):
            self.assertIn(word, out.decode())
        self.assertEqual(out.decode().count("file       "), 3)
        self.assertEqual(run("info", MAP)[1].decode(), f"""\
file       {MAP}
format     datafile version 4, 24 items, 24 blocks, 4.8 KiB
crc        c3cbca94
sha256     c79931e31676313e34d3672a1107c17a2eb2958506a0014ec312400181e4a367
author     teewire
version    1.0
license    zlib
settings   sv_gametype dm
           tune_zone 1 gravity 0.25
size       40 x 25 tiles
game tiles 104 hookable, 180 unhookable, 24 death, 8 freeze, 1 spawn, 1 red spawn, 1 blue spawn
images       0 bricks, 64 x 64, embedded
             1 sun, 256 x 256, external
sounds       0 birds, 42 B
envelopes  2, 5 points
groups       0 "Sky", parallax 0 0
                 1 quad "Gradient"
             1 "Game", parallax 100 100
                 tiles 40 x 25, image bricks "Ground"
                 1 quad, image bricks "Shapes", detail
                 game 40 x 25 "Game"
                 front 40 x 25 "Front"
                 tele 40 x 25 "Tele"
                 speedup 40 x 25 "Speedup"
                 switch 40 x 25 "Switch"
                 tune 40 x 25 "Tune"
                 1 sound source "Birds"
problems   none
""")

    def test_game_tiles(self):
        kinds = {1: "hookable", 3: "unhookable", 2: "death", 9: "freeze", 11: "unfreeze", 33: "start", 34: "finish",
                 192: "spawns", 193: "red spawns", 194: "blue spawns", 195: "red flags", 196: "blue flags"}
        cells = [index for n, index in enumerate(kinds, 2) for _ in range(n)]
        cells += [0] * (100 - len(cells))
        content = b"".join(bytes([index, 0, 0, 0]) for index in cells)
        file = self.save("game.map", datafile([VERSION, group(1), tiles(0, 10, 10, 0, flags=1)],
                                              [(zlib.compress(content), len(content))]))
        self.assertIn("game tiles " + ", ".join(f"{n} {kind}" for n, kind in enumerate(kinds.values(), 2)) + "\n",
                      run("info", file)[1].decode())

    def test_long_texts(self):
        for size, cut in ((65536, None), (65537, True)):
            text = b"a" * size + b"\0"
            file = self.save("long.map", datafile([VERSION, (1, 0, [1, 0, -1, -1, -1, -1]), group(1), tiles(0, 2, 2, 1, flags=1)],
                                                  [(zlib.compress(b), len(b)) for b in (text, bytes(16))]))
            author = info(file)["info"]["author"]
            self.assertEqual((len(author["text"]), author.get("cut")), (65536, cut))

    def test_items_of_any_size(self):
        """The existing ints of short ones are shown, and that they are short."""
        name = [-2139062144] * 3
        quad = bytes(152)
        items = [VERSION, group(5),
                 (5, 0, [0, 3, 0, 1, 1, 0]), (5, 1, [0, 3, 0, 2, 1, 0, -1]), (5, 2, [0, 9, 0, 1, 0, -1]),
                 (5, 3, [0, 9, 0, 1, 0, -1, 5]), (5, 4, [0, 10, 0, 2, 7, 1, -1, *name]),
                 (3, 0, [2, 4, 0, 2, *[-2139062144] * 8]), (3, 1, [1, 4, 2, 3, -1]), (3, 2, [1, 3, 5, 1]),
                 (6, 0, [n for point in ((100, 0), (50, 1), (70, 1), (60, 2), (60, 2), (90, 2))
                         for n in (*point, 0, 0, 0, 0)])]
        code, out, err = run("info", "--format", "ndjson", self.save("odd.map", datafile(items, [
            (zlib.compress(quad), 152), (zlib.compress(b"OggS1"), 5)])))
        shown = json.loads(out)
        layers = shown["layers"]
        self.assertEqual([layer.get("too_short", False) for layer in layers], [True, False, True, False, False])
        self.assertEqual([layer["kind"] for layer in layers], ["quads", "quads", "sounds_deprecated", "sounds_deprecated", "sounds"])
        self.assertEqual([layers[1][key] for key in ("version", "num", "data", "image", "data_bytes", "size_ok")],
                         [2, 1, 0, -1, 152, True])
        self.assertEqual([layers[3][key] for key in ("version", "num", "data", "sound")], [1, 0, -1, 5])
        self.assertEqual([layers[4][key] for key in ("version", "num", "data", "sound", "name", "data_bytes", "size_ok")],
                         [2, 7, 1, -1, "", 5, False])
        self.assertEqual([(e["channels"], e["start"], e["num"]) for e in shown["envelopes"]], [(4, 0, 2), (4, 2, 3), (3, 5, 1)])
        self.assertEqual(["name" in e for e in shown["envelopes"]], [True, False, False])
        self.assertEqual(shown["envelopes"][1]["name_int"], -1)
        points = shown["envpoints"]
        self.assertEqual([points[key] for key in ("items", "ints", "stride", "points", "remainder", "needed", "curves")],
                         [1, 36, 6, 6, 0, 6, {"0": 1, "1": 2, "2": 3}])
        # 50 over 100, and 60 over 70.
        self.assertEqual(points["non_monotonic_envelopes"], 2)

    def test_names_in_bytes_that_are_no_utf8(self):
        for byte in (0x7f, 0x80, 0x81, 0xbf, 0xc0, 0xff):
            text = b"a" + bytes([byte])
            raw = bytes((b + 128) & 255 for b in text + bytes(12 - len(text)))
            ints = list(struct.unpack(">3i", raw))
            layer = (5, 0, [0, 3, 0, 2, 0, 0, -1, *ints])
            code, out, err = run("info", "--format", "ndjson", self.save("name.map", datafile(
                [VERSION, group(1), layer], [(zlib.compress(b"x"), 1)])))
            self.assertEqual(json.loads(out)["layers"][0]["name"], "a" + chr(byte), byte)

    def test_demo_and_standard_input(self):
        data = MAP.read_bytes()
        demo = self.save("with.demo", with_map(DEMO.read_bytes(), data))
        shown = info(demo)
        self.assertEqual((shown["map_in_demo"], shown["sha256"]), ("dm1", hashlib.sha256(data).hexdigest()))
        self.assertEqual(shown["layers"], info(MAP)["layers"])
        self.assertEqual(info("-", stdin=data)["sha256"], shown["sha256"])
        # Data after the map does not matter.
        cut = self.save("cut.demo", demo.read_bytes()[:484 + len(data) + 100])
        self.assertEqual(info(cut)["sha256"], shown["sha256"])
        code, _, err = run("info", self.save("cut2.demo", demo.read_bytes()[:484 + len(data) - 1]))
        self.assertEqual(code, 1)
        self.assertIn("ends too early", err)

    def test_no_map_at_all(self):
        code, out, _ = run("info", "--format", "ndjson", self.save("bad.map", MAP.read_bytes()[:-1]))
        shown = json.loads(out)
        self.assertEqual((code, shown["problems"][0]["code"]), (1, "file_size_mismatch"))
        self.assertIn("error", shown)


class Extract(InFolder):
    def test_parts(self):
        out = self.folder / "out"
        demo = self.save("with.demo", with_map(DEMO.read_bytes(), MAP.read_bytes()))
        self.assertEqual(run("extract", demo, "-o", out), (0, b"", ""))
        self.assertEqual(out.read_bytes(), MAP.read_bytes())
        for name in ("birds", "0"):
            self.assertEqual(run("extract", MAP, "--sound", name, "--force", "-o", out)[0], 0)
            self.assertEqual(out.read_bytes(), b"OggS: not really, but enough for a fixture")
        for number, block in enumerate(Datafile(MAP.read_bytes()).blocks):
            self.assertEqual(run("extract", MAP, "--block", number, "-o", "-"), (0, block, ""))
        for name in ("bricks", "0"):
            self.assertEqual(run("extract", demo, "--image", name, "--force", "-o", out)[0], 0)
        width, height, rows = read_png(out.read_bytes())
        self.assertEqual((width, height), (64, 64))
        for y, row in enumerate(rows):
            for x, pixel in enumerate(row):
                part = y // 4 * 16 + x // 4
                color = (255,) * 3 if x % 4 == y % 4 == 0 else \
                    tuple(c % 256 for c in (90 + part * 5, 60 + part * 3, 40 + part * 7))
                self.assertEqual(pixel, (*color, 0 if part == 0 else 255))

    def test_what_is_not_there(self):
        for arguments, word in ((["--image", "sun"], "mapres/sun.png"), (["--image", "moon"], "0 bricks, 1 sun"),
                                (["--image", "2"], "no image"), (["--sound", "cats"], "0 birds"),
                                (["--block", "24"], "it has 24"), (["--block", "-1"], "no block")):
            code, out, err = run("extract", MAP, "-o", self.folder / "out", *arguments)
            self.assertEqual((code, out), (2, b""), arguments)
            self.assertIn(word, err)
        self.assertEqual(run("extract", XVECTOR, "--image", "0", "-o", self.folder / "out")[0], 2)
        self.assertEqual(self.files(), [])


class Render(InFolder):
    def picture(self, *arguments):
        code, out, err = run("render", *arguments, "-o", "-")
        self.assertEqual(code, 0, err)
        return read_png(out)

    def test_game_layer(self):
        width, height, rows = self.picture(MAP, "--layer", "game", "--scale", "6")
        self.assertEqual((width, height), (240, 150))
        at = lambda x, y: rows[6 * y + 3][6 * x + 3]
        self.assertEqual([at(*place) for place in ((0, 0), (3, 3), (7, 22), (18, 11), (20, 20), (3, 2))],
                         [UNHOOKABLE, HOOKABLE, DEATH, FREEZE, AIR, SPAWN])
        # One colour fills the whole cell.
        self.assertEqual({p for row in rows[18:24] for p in row[18:24]}, {HOOKABLE})
        # Of DDNet's layers there are smaller marks: start, finish, teleporters, and so on.
        for place in ((4, 1), (35, 1), (8, 16), (30, 16), (20, 5), (2, 8), (14, 16)):
            self.assertNotIn(at(*place), (AIR, HOOKABLE, UNHOOKABLE, DEATH, FREEZE), place)
        self.assertEqual(self.picture(MAP_07, "--layer", "game", "--scale", "6"), (width, height, rows))

    def test_regions(self):
        _, _, whole = self.picture(MAP, "--layer", "game", "--scale", "3")
        width, height, part = self.picture(MAP, "--layer", "game", "--scale", "3", "--region", "10,20,12,4")
        self.assertEqual((width, height), (36, 12))
        self.assertEqual(part, [row[30:66] for row in whole[60:72]])
        _, _, around = self.picture(MAP, "--layer", "game", "--scale", "1", "--region=-2,-1,6,3")
        self.assertEqual(around[0], [AIR] * 6)
        self.assertEqual(around[1], [AIR] * 2 + [UNHOOKABLE] * 4)

    def test_envelopes(self):
        """Each curve, at times within its round, in rounds before and after it, and at its ends."""
        curves = (lambda s: 0, lambda s: s, lambda s: s ** 3, lambda s: 1 - (1 - s) ** 3, lambda s: 3 * s ** 2 - 2 * s ** 3)
        offsets = (0, 100, 250, 400, 600, 750, 900, 999, 1000, 1250, -250)
        width, height, end = len(curves), len(offsets), 1000
        items, points, blocks = [VERSION, group(1 + width * height), tiles(0, width, height, 0, flags=1)], [], [bytes(4 * width * height)]
        for curve in range(width):
            items.append((3, curve, [2, 4, 2 * curve, 2, *[-2139062144] * 8, 0]))
            points += [0, curve, 0, 1024, 512, 1024, end, 1, 1024, 0, 512, 1024]
            for row, offset in enumerate(offsets):
                where = row * width + curve
                items.append((5, 1 + where, [0, 2, 0, 3, width, height, 0, 255, 255, 255, 255, curve, offset, -1, len(blocks),
                                             *[-2139062144] * 3]))
                blocks.append(bytes(4 * where) + b"\1\0\0\0" + bytes(4 * (width * height - where - 1)))
        items.append((6, 0, points))
        file = self.save("curves.map", datafile(items, [(zlib.compress(b), len(b)) for b in blocks]))
        code, out, err = run("render", file, "--scale", "1", "-o", "-")
        self.assertEqual(code, 0, err)
        _, _, rows = read_png(out)
        for curve, f in enumerate(curves):
            for row, offset in enumerate(offsets):
                value = f(offset % end / end)
                for found, expected in zip(rows[row][curve], (255 * value, 255 * (1 - value), 127.5)):
                    self.assertAlmostEqual(found, expected, delta=1.01, msg=(curve, offset, rows[row][curve]))

    def test_all_layers(self):
        code, out, err = run("render", MAP, "--scale", "4", "-o", "-")
        self.assertEqual(code, 0)
        self.assertIn("without sun", err)
        self.assertIn("--mapres", err)
        _, _, rows = read_png(out)
        part = 3  # of the sheet, for unhookable tiles: 4 by 4 pixels with a bright corner
        color = (90 + part * 5, 60 + part * 3, 40 + part * 7)
        self.assertEqual([rows[y][:4] for y in range(4)], [[(255,) * 3, color, color, color]] + [[color] * 4] * 3)
        self.assertEqual(rows[0][4:8], [color, color, color, (255,) * 3])  # mirrored
        self.assertEqual(rows[4][:4], [color, color, color, (255,) * 3])  # turned clockwise
        self.assertEqual(rows[4][156:], [color] * 4)  # both: the corner is below
        self.assertEqual(rows[7][156:], [color, color, color, (255,) * 3])
        # The sky: a gradient from above.
        sky = [rows[4 * y + 2][4 * 38 + 2] for y in (1, 7, 16, 19)]
        self.assertEqual([c[2] for c in sky], sorted(c[2] for c in sky))
        self.assertTrue(all(100 < c[1] < 235 for c in sky))

    def test_mapres(self):
        # A map that only names its sheet looks the same when it is given that sheet.
        run("extract", MAP, "--image", "bricks", "-o", self.folder / "bricks.png")
        data = bytearray(MAP.read_bytes())
        image = struct.pack("<iiii", 1, 64, 64, 0)
        at = data.index(image)
        data[at + 12:at + 16] = struct.pack("<i", 1)  # external
        external = self.save("external.map", data)
        whole = self.picture(MAP, "--scale", "4")
        code, out, err = run("render", external, "--scale", "4", "-o", "-")
        self.assertEqual(code, 0)
        self.assertIn("without bricks, sun", err)
        _, _, plain = read_png(out)
        self.assertEqual({plain[y][x] for y in range(4) for x in range(40)}, {UNHOOKABLE})
        code, out, err = run("render", external, "--scale", "4", "--mapres", self.folder, "-o", "-")
        self.assertEqual(read_png(out), whole)
        self.assertIn("without sun", err)
        self.save("bricks.png", b"no picture")
        code, out, err = run("render", external, "--scale", "4", "--mapres", self.folder, "-o", "-")
        self.assertEqual((code, read_png(out)[2]), (0, plain))
        self.assertIn("bricks.png: PNG: ", err)

    def test_xvector(self):
        width, height, rows = self.picture(XVECTOR, "--scale", "2")
        self.assertEqual((width, height), (16, 12))
        self.assertEqual(rows, self.picture(XVECTOR_ORIGINAL, "--scale", "2")[2])
        self.assertEqual(rows[0], [AIR] * 16)
        self.assertNotEqual(rows[6][0], AIR)
        self.assertEqual(rows[6][0], rows[6][6])  # the same sprite
        self.assertNotEqual(rows[6][0], rows[6][2])
        _, _, players = self.picture(XVECTOR, "--scale", "2", "--layer", "game")
        self.assertEqual(players[6], [AIR] * 16)
        self.assertEqual(players[4][4], rows[4][4])

    def test_unusable_maps(self):
        data = MAP.read_bytes()
        layers = {layer["kind"]: layer for layer in info(MAP)["layers"]}
        file = Datafile(data)
        at = data.index(file.stored[layers["game"]["tile_data"]])
        broken = self.save("broken.map", data[:at] + b"\0\0" + data[at + 2:])
        code, _, err = run("render", broken, "-o", self.folder / "out.png")
        self.assertEqual(code, 1)
        self.assertIn("game layer", err)
        self.assertEqual(self.files(), ["broken.map"])


class Convert(InFolder):
    def test_container_versions(self):
        self.assertEqual(run("convert", MAP, "--datafile", "3", "-o", self.folder / "3.map")[0], 0)
        three = Datafile((self.folder / "3.map").read_bytes())
        four = Datafile(MAP.read_bytes())
        self.assertEqual((three.version, three.items, three.blocks), (3, four.items, four.blocks))
        self.assertEqual(info(self.folder / "3.map")["layers"], info(MAP)["layers"])
        code, _, err = run("convert", self.folder / "3.map", "--datafile", "4", "--level", "9", "-o",
                           self.folder / "4.map")
        self.assertEqual(code, 0)
        self.assertIn(size_text(MAP.stat().st_size), err)
        self.assertEqual((self.folder / "4.map").read_bytes(), MAP.read_bytes())

    def test_what_stays_compressed(self):
        """Where nothing is asked of the level."""
        fast = self.folder / "fast.map"
        self.assertEqual(run("convert", MAP, "--level", "1", "-o", fast)[0], 0)
        self.assertEqual(run("convert", fast, "--datafile", "4", "-o", self.folder / "same.map")[0], 0)
        self.assertEqual((self.folder / "same.map").read_bytes(), fast.read_bytes())

    def test_levels(self):
        sizes = []
        for level in (1, 9):
            file = self.folder / f"{level}.map"
            self.assertEqual(run("convert", MAP, "--level", level, "-o", file)[0], 0)
            self.assertEqual(Datafile(file.read_bytes()).blocks, Datafile(MAP.read_bytes()).blocks)
            sizes.append(file.stat().st_size)
        self.assertGreater(*sizes)

    def test_games(self):
        there, back = self.folder / "07.map", self.folder / "06.map"
        self.assertEqual(run("convert", MAP, "--to", "0.7", "-o", there)[0], 0)
        self.assertEqual(run("convert", there, "--to", "0.6", "-o", back)[0], 0)
        seven, six, before = info(there), info(back), info(MAP)
        self.assertEqual([l["version"] for l in seven["layers"] if l["kind"] in ("tiles", "game")], [4, 4])
        self.assertEqual([i["version"] for i in seven["images"]], [2, 2])
        self.assertEqual(seven["envpoints"]["stride"], 22)
        for key in ("images", "envelopes", "envpoints", "groups", "layers", "sounds", "auto_mappers", "info"):
            self.assertEqual(six[key], before[key], key)
        self.assertEqual(six["bezier"], before["bezier"])
        self.assertEqual([d["sha256"] for d in six["data"]], [d["sha256"] for d in before["data"]])

    def test_fields_that_are_put_right(self):
        # A sound's item has the size as well, which the block has already.
        name, content = (zlib.compress(b) for b in (b"bird\0", b"OggS12"))
        file = self.save("sound.map", datafile([VERSION, group(1), tiles(0, 2, 2, 0, flags=1), (7, 0, [1, 0, 1, 2, 774])],
                                               [(zlib.compress(bytes(16)), 16), (name, 5), (content, 6)]))
        code, _, err = run("convert", file, "--to", "0.7", "-o", self.folder / "out.map")
        self.assertEqual(code, 0, err)
        self.assertEqual(info(self.folder / "out.map")["sounds"][0]["data_size_field"], 6)

    def test_behind_a_link(self):
        file = self.save("some.map", b"something else")
        file.chmod(0o640)
        link = self.folder / "link.map"
        link.symlink_to(file.name)
        self.assertEqual(run("convert", MAP, "--to", "0.7", "-o", link)[0], 2)
        self.assertEqual(file.read_bytes(), b"something else")
        self.assertEqual(run("convert", MAP, "--to", "0.7", "-o", link, "--force")[0], 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(file.stat().st_mode & 0o777, 0o640)
        self.assertEqual([l.get("unpacked_sha256") for l in info(file)["layers"]],
                         [l.get("unpacked_sha256") for l in info(MAP_07)["layers"]])
        self.assertEqual(self.files(), ["link.map", "some.map"])

    def test_damaged_maps_stay_as_they_are(self):
        whole = MAP.read_bytes()
        broken = whole[:Datafile(whole).start + 2] + b"\xff\xff" + whole[Datafile(whole).start + 4:]
        for data in (broken, whole[:-5]):
            for options in (["--datafile", "3"], ["--to", "0.7"], ["--level", "5"]):
                file = self.save("some.map", data)
                code, out, err = run("convert", file, *options, "-o", self.folder / "out")
                self.assertEqual((code, out), (1, b""))
                self.assertRegex(err, r"byte \d+: .*nothing was written")
                self.assertEqual(file.read_bytes(), data)
                self.assertEqual(self.files(), ["some.map"])
        self.assertEqual(run("convert", XVECTOR, "--level", "1", "-o", self.folder / "out")[0], 2)

    def map_with(self, images, blocks=(), more=()):
        """A map with a game layer, whose tiles are block 0."""
        return self.save("made.map", datafile([VERSION, *[(2, i, image) for i, image in enumerate(images)], group(1),
                                               tiles(0, 2, 2, 0, flags=1), *more],
                                              [(zlib.compress(bytes(16)), 16),
                                               *[(zlib.compress(b), len(b)) for b in blocks]]))

    def test_texts_that_cannot_be_read(self):
        """Games show such maps, without the name."""
        out = self.folder / "out.map"
        for name, blocks, said, kept in (
                (1, [b"caf\xe9\0"], "kept: byte 180: image 0, block 1: a text", b"caf\xe9\0"),
                (1, [b"no end"], "kept: byte 180: image 0, block 1: a text", b"no end"),
                (9, [], "left out: byte 180: image 0, block 9: there is no such data block", None)):
            file = self.map_with([[1, 1, 1, 0, name, len(blocks) + 1]], [*blocks, b"RGBA"])
            for game in ("0.7", "0.6"):
                code, _, err = run("convert", file, "--to", game, "-o", out, "--force")
                self.assertEqual(code, 0, err)
                self.assertRegex(err, said.replace("180", r"\d+"))
                written = Datafile(out.read_bytes()).blocks
                self.assertIn(b"RGBA", written)
                if kept:
                    self.assertIn(kept, written)
        # Damage elsewhere is still refused.
        file = self.map_with([[1, 1, 1, 0, 9, 7]])
        self.assertEqual(run("convert", file, "--to", "0.7", "-o", out, "--force")[0], 1)

    def test_items_left_out(self):
        file = self.map_with([], more=[(0xffff, 0, [1, 2])])
        code, _, err = run("convert", file, "--to", "0.7", "-o", self.folder / "out.map")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"made.map: left out: byte \d+: type 0xffff item 0: ")

    def test_external_images(self):
        """Those that 0.7 does not come with are named, or embedded."""
        out = self.folder / "out.map"
        run("extract", MAP, "--image", "bricks", "-o", self.folder / "bricks.png")
        file = self.map_with([[1, 64, 64, 1, name, -1] for name in (1, 2, 3)], [b"bricks\0", b"grass_main\0", b"../x\0"])
        code, _, err = run("convert", file, "--to", "0.7", "-o", out)
        self.assertEqual(code, 1)  # a name that is part of a path
        file = self.map_with([[1, 64, 64, 1, name, -1] for name in (1, 2, 3)], [b"bricks\0", b"grass_main\0", b"other\0"])
        code, _, err = run("convert", file, "--to", "0.7", "-o", out)
        self.assertEqual(code, 0, err)
        self.assertIn("made.map: 0.7 does not have bricks, other; use --mapres FOLDER to embed them\n", err)
        self.assertEqual([i["external"] for i in info(out)["images"]], [True, True, True])
        code, _, err = run("convert", file, "--to", "0.7", "--mapres", self.folder, "-o", out, "--force")
        self.assertEqual(code, 0, err)
        self.assertIn("made.map: 0.7 does not have other, nor does the folder\n", err)
        self.assertEqual([i["external"] for i in info(out)["images"]], [False, True, True])
        run("extract", out, "--image", "bricks", "-o", self.folder / "again.png")
        self.assertEqual((self.folder / "again.png").read_bytes(), (self.folder / "bricks.png").read_bytes())
        self.save("other.png", b"no picture")
        code, _, err = run("convert", file, "--to", "0.7", "--mapres", self.folder, "-o", out, "--force")
        self.assertNotEqual(code, 0)
        self.assertIn("other.png: PNG: ", err)
        for options in (["--to", "0.6"], ["--level", "5"]):
            self.assertEqual(run("convert", file, *options, "--mapres", self.folder, "-o", out, "--force")[0], 2)
        self.assertEqual(run("convert", file, "--to", "0.7", "--mapres", file, "-o", out, "--force")[0], 2)


class Check(InFolder):
    def test_numbers_outside(self):
        """Games ignore them, or crash: they are notes."""
        quad = struct.pack("<38i", *[0] * 34, 5, 0, 1, 0)  # envelopes 5 and 1
        tile_layer = tiles(1, 2, 2, 1)
        tile_layer[2][11] = 3  # envelope of the colour
        items = [VERSION, group(3), tiles(0, 2, 2, 0, flags=1), tile_layer, quads(2, 1, 2), (3, 0, [1, 4, 0, 0]), (6, 0, [])]
        blocks = [(zlib.compress(bytes(16)), 16)] * 2 + [(zlib.compress(quad), len(quad))]
        images = [(2, i, [1, 16, 16, 1, 3, -1]) for i in range(65)]
        name = (zlib.compress(b"sun\0"), 4)

        def found(*more):
            code, out, _ = run("check", "--format", "ndjson", self.save("some.map", datafile([*items, *more], [*blocks, name])))
            self.assertEqual(code, 0)
            return [(p["code"], p["place"], p["value"]) for p in map(json.loads, out.splitlines())]

        outside = [("bad_envelope_index", "group 0, layer 1", 3), ("bad_envelope_index", "group 0, layer 2", 5)]
        self.assertEqual(found(*images[:64]), outside)
        self.assertEqual(found(*images), [("too_many_images", "image 64", 65), *outside])

    def test_good_maps(self):
        for file in (MAP, MAP_07, XVECTOR):
            self.assertEqual(run("check", "--strict", file), (0, f"{file}: ok\n".encode(), ""))
        code, out, _ = run("check", XVECTOR_ORIGINAL)
        self.assertEqual(code, 0)
        self.assertIn(b": note: byte 8: ", out)
        self.assertIn(b": ok: 0 errors, 0 damages, 1 note\n", out)
        self.assertEqual(run("check", "--strict", XVECTOR_ORIGINAL)[0], 1)

    def test_damage_in_blocks(self):
        whole = MAP.read_bytes()
        start = Datafile(whole).start
        file = self.save("some.map", whole[:start + 2] + b"\xff\xff" + whole[start + 4:])
        code, out, err = run("check", "--format", "ndjson", file)
        self.assertEqual((code, err), (1, ""))
        problems = list(map(json.loads, out.splitlines()))
        self.assertEqual([(p["code"], p["position"], p["severity"], p["place"]) for p in problems],
                         [("decompress_failed", start, "damage", "info 0, block 0")])
        code, out, _ = run("check", file)
        self.assertEqual(code, 1)
        self.assertIn(f"some.map: damage: byte {start}: ", out.decode())
        self.assertIn("[decompress_failed]", out.decode())

    def test_xvector(self):
        whole = XVECTOR.read_bytes()
        tile = len(whole) - 4 - 20
        cases = ((whole + b"x", {"trailing_data"}, 1), (whole[:-4], {"missing_end_of_tiles"}, 1),
                 (whole[:-5], {"truncated"}, 1), (whole[:tile + 4] + b"\x08" + whole[tile + 5:], {"tile_out_of_bounds"}, 1),
                 (whole[:-4] + whole[-24:], {"duplicate_tile"}, 0), (whole[:tile] + b"\1" + whole[tile + 1:],
                                                                     {"unknown_flag_bits"}, 0))
        for data, codes, expected in cases:
            code, out, _ = run("check", "--format", "ndjson", self.save("some.xvmap", data))
            self.assertEqual(({json.loads(line)["code"] for line in out.splitlines()}, code), (codes, expected))
            if expected == 0 or "truncated" not in codes:
                self.assertGreaterEqual(len(json.loads(run("info", "--format", "ndjson", self.folder / "some.xvmap")[1])
                                            ["tiles"]), 24)

    def test_several_files(self):
        bad = self.save("bad.map", MAP.read_bytes()[:-1])
        code, out, err = run("check", MAP, bad, DEMO, self.folder / "none", XVECTOR)
        self.assertEqual(code, 3)
        lines = out.decode().splitlines()
        self.assertEqual([lines[0], lines[-1]], [f"{MAP}: ok", f"{XVECTOR}: ok"])
        self.assertIn("bad.map: error: byte", lines[1])
        self.assertIn("includes no map", err)
        self.assertIn("no such file", err)

    def test_random_damage(self):
        chance = random.Random(5)
        for file in (MAP, MAP_07, XVECTOR, XVECTOR_ORIGINAL):
            whole = file.read_bytes()
            for _ in range(int(os.environ.get("TEEWIRE_MUTATIONS") or 25)):
                data = bytearray(whole)
                for _ in range(chance.randint(1, 3)):
                    at = chance.randrange(len(data) - 4)
                    if chance.random() < 0.5:
                        data[at] = chance.randrange(256)
                    else:
                        data[at:at + 4] = struct.pack("<I", chance.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**30)))
                if chance.random() < 0.2:
                    del data[chance.randrange(len(data)):]
                damaged = self.save("damaged", data)
                out = self.folder / "out"
                for arguments in (["check", damaged], ["info", "--format", "ndjson", damaged], ["info", damaged],
                                  ["render", damaged, "--force", "-o", out, "--region", "0,0,20,20", "--scale", "3"],
                                  ["convert", damaged, "--force", "-o", out, "--to", "0.7"]):
                    code, _, err = run(*arguments)
                    if file in (XVECTOR, XVECTOR_ORIGINAL) and arguments[0] == "convert":
                        self.assertIn(code, (1, 2), (err, data.hex()))
                        continue
                    # Without its first bytes, it is not known to be a map.
                    self.assertIn(code, (2,) if "byte 0: not a" in err else (0, 1), (err, data.hex()))
                    self.assertNotIn("Sanitizer", err)
                    self.assertNotIn("runtime error", err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
