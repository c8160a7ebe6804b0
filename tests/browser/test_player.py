#!/usr/bin/env python3
"""The element <teewire-player> as its npm package has it: in a page built by Vite, and in one with a script tag.
Usage: test_player.py PACKAGE.tgz TEEWIRE FIXTURES. Exit code 77, where there is no Chromium or npm cannot install, is a test that was skipped."""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import browsers

PACKAGE = pathlib.Path(sys.argv[1]).resolve()
TEEWIRE = os.path.abspath(sys.argv[2])
FIXTURES = pathlib.Path(sys.argv[3]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
GAME = FIXTURES / "demos/teeworlds07_dm1.demo"
NOT_LOADED = ("teewire-plain.wasm", "teewire-archive.wasm")  # by newer browsers, and not for a demo
MODULES = None
PAGE = """<!doctype html><html lang="en"><title>Two</title><main><h1>Two</h1>
<script type="module" src="teewire-player.js"></script>
<teewire-player src="game.demo" t="0:05" style="height: 300px; width: 400px"></teewire-player>
<teewire-player src="game.demo" t="10" style="height: 300px; width: 400px"></teewire-player></main>
"""


def played(folder, scene):
    done = subprocess.run(["node", HERE / "in_player.mjs", browsers.chromium(), folder, scene], text=True, capture_output=True, timeout=300,
                          env={**os.environ, "NODE_PATH": str(MODULES)})
    if done.returncode != 0:
        raise AssertionError(done.stderr[-3000:])
    return json.loads(done.stdout)


class Player(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with tarfile.open(PACKAGE) as archive:
            archive.extractall(folder.name)
        self.package = pathlib.Path(folder.name) / "package"

    def test_example(self):
        """Installed, checked and built as its README says."""
        example = self.package / "example"
        done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=example, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            self.skipTest("npm cannot install Vite")
        done = subprocess.run(["npm", "run", "build"], cwd=example, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        played_ = played(example / "dist", "example")
        self.assertEqual(played_["errors"], [])
        result = played_["result"]
        opened = result["opened"]
        self.assertEqual((opened["t"], opened["paused"]), ("0:02.0", True))
        self.assertIn(opened["follow"], opened["players"])
        self.assertEqual(opened["line"], f"2.0 of {opened['duration']:.1f} seconds, following {opened['follow']}")
        self.assertAlmostEqual(result["middle"]["time"], opened["duration"] / 2)
        self.assertIn(f"{opened['duration'] / 2:.1f} of ", result["middle"]["line"])
        self.assertRegex(result["shared"], f'^follow="{opened["follow"]}" t="0:0')
        self.assertAlmostEqual(result["width"] / result["height"], 16 / 9, delta=0.02)

    def test_size(self):
        """As much as the README says."""
        said = int(re.search(r"(\d+) KB, compressed", (self.package / "README.md").read_text())[1])
        files = [f for f in self.package.glob("*.*") if f.suffix in (".js", ".wasm", ".png") and f.name not in NOT_LOADED]
        self.assertAlmostEqual(sum(len(gzip.compress(f.read_bytes())) for f in files) / 1000, said, delta=said / 20)

    def two(self):
        (self.package / "two.html").write_text(PAGE)
        shutil.copy(GAME, self.package / "game.demo")
        return self.package

    def test_script_tag(self):
        """Its attributes, properties, methods and events."""
        two = played(self.two(), "api")
        self.assertEqual(two["errors"], [])
        result = two["result"]
        self.assertEqual(result["times"], [5, 10, 3, 0, 1, 1])
        self.assertEqual(result["said"], ["seeked", "ratechange", "play", "pause", "ended", "loadeddata", "loadeddata", "loadeddata"])
        self.assertEqual(result["name"], {"name": result["second"]})
        self.assertRegex(result["message"], "none.demo: status 404")
        self.assertEqual(result["loaded"]["map"], "dm1")
        self.assertEqual(result["dead"], {"duration": None, "paused": True, "players": [], "moment": {"t": "0:00.0"}, "silent": True})
        self.assertTrue(result["playing"])
        self.assertIn("byte 0: this is not a demo", result["refused"])

    def test_hurry(self):
        """Attributes and calls while a recording loads; another one, or the element is moved; values that are not numbers."""
        folder = self.two()
        subprocess.run([TEEWIRE, "join", *[FIXTURES / "demos/ddnet_dm1.demo"] * 40, "-o", folder / "long.demo", "-q"], check=True)
        hurry = played(folder, "hurry")
        self.assertEqual(hurry["errors"], [])
        result = hurry["result"]
        duration = result["moved"]
        self.assertEqual(result["given_up"], [True, duration])
        self.assertEqual((result["wished"], result["name"]), ([False, True], True))
        self.assertEqual((result["thrown"], result["count"]), (["TypeError"], 8))
        self.assertEqual((result["no_race"], result["note_after"]), ("game.demo: there is no race in it, or none whose clock it shows", True))
        self.assertEqual(result["empty"], [None, 0, True])
        self.assertEqual((result["typed"], result["at"], result["paused"]), ([True] * 4, 0, True))

    def test_keys(self):
        two = played(self.two(), "keys")
        self.assertEqual(two, {"result": [5, 14], "errors": []})


if __name__ == "__main__":
    MODULES = browsers.needed(browsers.PLAYWRIGHT, browsers.AXE)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
