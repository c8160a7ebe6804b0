#!/usr/bin/env python3
"""The viewer in Chromium on bad networks, and on hosts that lack something.
Usage: test_network.py BUNDLE TEEWIRE FIXTURES [FOLDER_FOR_SCREENSHOTS]. Exit code 77, where there is no Chromium, is a test that was
skipped."""
import contextlib
import functools
import http.server
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import browsers
import test_viewer
from test_viewer import FIXTURES, SHOTS, TEEWIRE, BUNDLE, pages, snapshots

SIZES = ((360, 740), (1440, 900))
ONCE = FIXTURES / "demos/ddnet_dm1.demo"
TIMES = 7  # so that the recording is fetched in parts
LATE_S = 0.4
# A browser itself loads these, and gives up at once.
BY_BROWSER = (".html", ".js")


class Host(http.server.SimpleHTTPRequestHandler):
    """Serves ranges. `fault`: late, every answer; cut, the first answer for each part, at half of it; broken, status 500 in place
    of that; whole, there are no ranges; bare, there is no index either."""
    def __init__(self, *given, fault, faults, **more):
        self.fault, self.faults = fault, faults
        super().__init__(*given, **more)

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = pathlib.Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        fails = not path.is_file() or (self.fault == "bare" and path.suffix == ".index")
        content = b"" if fails else path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        status = 404 if fails else 200
        ranges = []
        if asked and not fails and self.fault not in ("whole", "bare"):
            first, last = int(asked[1]), min(int(asked[2]), len(content) - 1)
            ranges = [("Content-Range", f"bytes {first}-{last}/{len(content)}")]
            status, content = 206, content[first:last + 1]
        if self.fault == "late":
            time.sleep(LATE_S)
        part = (self.path, self.headers.get("Range"))
        hit = self.fault in ("cut", "broken") and path.suffix not in BY_BROWSER and not fails and part not in self.faults
        if hit:
            self.faults.append(part)
        if hit and self.fault == "broken":
            status, content, ranges = 500, b"broken", []
        self.send_response(status)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(content)))
        for header in ranges:
            self.send_header(*header)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(ConnectionError):  # a page gives up what it does not need any more
            self.wfile.write(content[:len(content) // 2] if hit and self.fault == "cut" else content)


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        source = pathlib.Path(cls.folder.name) / "recordings"
        source.mkdir()
        subprocess.run([TEEWIRE, "join", *[ONCE] * TIMES, "-o", source / "long.demo", "-q"], check=True)
        cls.site = pathlib.Path(cls.folder.name) / "site"
        subprocess.run([TEEWIRE, "web", source, "--viewer", BUNDLE, "-o", cls.site], check=True, stderr=subprocess.DEVNULL)
        cls.ticks = [tick for tick, _ in snapshots(source / "long.demo")]

    def serve(self, fault):
        faults = []
        handler = functools.partial(Host, directory=self.site, fault=fault, faults=faults)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/", faults

    def shown(self, fault, patience_ms):
        """The recording opens, and a seek shows its moment, at the size of a phone and of a screen."""
        for size in SIZES:
            base, faults = self.serve(fault)
            last = self.ticks[-300]
            name = f"network_{fault}_{size[0]}x{size[1]}.png"
            [result] = pages({"url": f"{base}view.html?demo=recordings/long.demo&t=0:10", "size": size, "shot": str(SHOTS / name) if SHOTS else None,
                              "steps": [f"teewire_viewer.seek({last})", f"wait:{patience_ms}", "key:/", "wait:200"]})
            self.assertEqual(result["errors"], [])
            opened, _, sought, _, listed = result["states"]
            self.assertIsNone(sought["problem"])
            self.assertEqual(opened["tick"], self.ticks[0] + 500)
            self.assertGreater(len(opened["tees"]), 0)
            self.assertEqual(sought["shown"], last)
            self.assertGreater(len(sought["tees"]), 0)
            self.assertGreater(len(listed["listed"]), 0)
            yield faults

    def test_late(self):
        for _ in self.shown("late", 2500):
            pass

    def test_cut(self):
        """A connection breaks in the middle of each part, once."""
        for faults in self.shown("cut", 2500):
            self.assertGreater(len(faults), 6, faults)

    def test_broken(self):
        for faults in self.shown("broken", 2500):
            self.assertGreater(len(faults), 6, faults)

    def test_whole(self):
        for _ in self.shown("whole", 500):
            pass

    def test_bare(self):
        for _ in self.shown("bare", 500):
            pass


if __name__ == "__main__":
    test_viewer.MODULES = browsers.needed(browsers.PLAYWRIGHT, browsers.AXE)
    if SHOTS:
        SHOTS.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[5:]])
