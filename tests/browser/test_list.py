#!/usr/bin/env python3
"""The list of recordings in Chromium. Usage: test_list.py TEEWIRE FIXTURES. Exit code 77, without Chromium, is a test that was
skipped."""
import functools
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

TEEWIRE = os.path.abspath(sys.argv[1])
FIXTURES = pathlib.Path(sys.argv[2]).resolve()
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NASTY = "<img src=x onerror=\"document.title='taken'\">&amp;</li>"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class List(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Chromium may still write there
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.site = self.folder / "site"
        demos = self.folder / "demos"
        viewer = self.folder / "viewer"
        demos.mkdir()
        viewer.mkdir()
        (viewer / "index.html").write_text("<!doctype html><title>a viewer</title>")
        for demo in (FIXTURES / "demos").glob("ddnet_*.demo"):
            shutil.copy(demo, demos)
        whole = (FIXTURES / "demos/ddnet_dm1.demo").read_bytes()
        (demos / "cut #1?.demo").write_bytes(whole[:50_000])
        done = subprocess.run([TEEWIRE, "web", demos, "--viewer", viewer, "-o", self.site], capture_output=True)
        self.assertEqual(done.returncode, 1, done.stderr)  # one is damaged
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(self.site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_port}/"
        self.told = json.loads((self.site / "recordings.json").read_text())

    def dom(self, query=""):
        profile = self.folder / "profile"
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
                               f"--user-data-dir={profile}", "--dump-dom", self.address + query],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        return done.stdout

    @staticmethod
    def cards(dom):
        return re.findall(r"<li>.*?</li>", dom.partition("<main>")[2].partition("</main>")[0], re.S)

    def test_all(self):
        dom = self.dom("?sort=name")
        cards = self.cards(dom)
        recordings = self.told["recordings"]
        self.assertEqual(len(cards), len(recordings))
        self.assertIn(f"{len(cards)} of {len(cards)} recordings</p>", dom)
        self.assertIn("<title>demos</title>", dom)
        by_name = {html.unescape(re.search(r"<p>([^<]*\.demo)</p>", card)[1]): card for card in cards}
        self.assertEqual(list(by_name), sorted(by_name))
        for r in recordings:
            card = by_name[r["name"]]
            self.assertIn(f"<h2>{r['map']['name']}</h2>", card)
            self.assertEqual(r["picture"] is not None, f'src="{r["picture"]}"' in card)
            self.assertIn(f"{len(r['players'])} player", card)
            self.assertEqual(r["error"] is not None, "damaged: tick " in card)
        self.assertIn('href="view.html?demo=recordings%2Fcut%2520%25231%253F.demo"', by_name["cut #1?.demo"])

    def test_search(self):
        self.assertEqual(len(self.cards(self.dom("?q=YARD"))), sum("yard" in r["name"] for r in self.told["recordings"]))
        self.assertEqual(len(self.cards(self.dom("?q=bot0+dm1"))),
                         sum(r["map"]["name"] == "dm1" and any("bot0" in p for p in r["players"]) for r in self.told["recordings"]))
        self.assertIn("0 of", self.dom("?q=nobody%20is%20called%20this"))

    def test_texts_of_strangers(self):
        """They are text, whatever is in them."""
        for r in self.told["recordings"]:
            r["name"] = r["map"]["name"] = r["date"] = r["error"] = NASTY
            r["players"] = [NASTY] * 3
        self.told["name"] = NASTY
        (self.site / "recordings.json").write_text(json.dumps(self.told))
        dom = self.dom()
        self.assertEqual(len(self.cards(dom)), len(self.told["recordings"]))
        self.assertIn("<h2>&lt;img src=x onerror=", dom)
        self.assertNotIn("<img src=\"x\"", dom)
        self.assertNotIn("<title>taken", dom)

    def test_a_list_that_cannot_be_read(self):
        (self.site / "recordings.json").write_text("{")
        self.assertRegex(self.dom(), r'role="status">recordings\.json cannot be read: ')
        (self.site / "recordings.json").unlink()
        self.assertIn("recordings.json cannot be read: the server says 404", self.dom())


if __name__ == "__main__":
    if CHROMIUM is None:
        print("SKIPPED: chromium is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
