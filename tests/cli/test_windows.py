#!/usr/bin/env python3
"""The program for Windows, under Wine, beside the one that runs here: the same outputs, and the habits of Windows.
Usage: test_windows.py RUN_TEEWIRE FIXTURES [TEST...]
RUN_TEEWIRE starts the program under Wine, TEEWIRE_NATIVE names the one that runs here. Exit code 77 without it.

The other scripts are not run under Wine, where each start takes a large part of a second and they start the program
hundreds of times. They test with signals, /proc and pipes, which Windows does not have."""
import contextlib
import gzip
import os
import pathlib
import pty
import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

RUN = os.path.abspath(sys.argv[1])
FIXTURES = pathlib.Path(sys.argv[2]).resolve()
NATIVE = os.environ.get("TEEWIRE_NATIVE", "")
DEMOS = sorted((FIXTURES / "demos").glob("*.demo"))
YARD = FIXTURES / "demos/ddnet_yard.demo"
CAPTURE = FIXTURES / "captures/ddnet_yard.pcap"
STUCK = 120  # seconds


def windows(*arguments, **more):
    return subprocess.run([RUN, *map(str, arguments)], capture_output=True, timeout=STUCK, **more)


def native(*arguments, **more):
    return subprocess.run([NATIVE, *map(str, arguments)], capture_output=True, timeout=STUCK, **more)


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def same(self, *arguments, **more):
        """Both print the same, and end with the same code."""
        here, there = native(*arguments, **more), windows(*arguments, **more)
        said = there.stderr.decode().replace("\\", "/")
        self.assertEqual((here.returncode, here.stderr.decode()), (there.returncode, said), arguments)
        self.assertEqual(here.stdout, there.stdout.replace(b"\\", b"/") if b"\\" not in here.stdout else there.stdout, arguments)
        return here

    def same_file(self, name, *arguments):
        """Both write the same file. Returns its bytes."""
        for run in (native, windows):
            (self.folder / run.__name__).mkdir(exist_ok=True)
            done = run(*arguments, "-o", self.folder / run.__name__ / name)
            self.assertIn(done.returncode, (0, 1), (arguments, done.stderr))
        one, other = (self.folder / run.__name__ / name for run in (native, windows))
        self.assertEqual(one.read_bytes(), other.read_bytes(), arguments)
        self.assertFalse([p for p in other.parent.iterdir() if p.name.startswith(".teewire-")])
        return other.read_bytes()


class Outputs(Case):
    def test_reading(self):
        self.same("verify", FIXTURES / "demos")
        for demo in DEMOS[:3] + [YARD]:
            self.same("dump", demo)
        for verb in ("info", "events", "stats", "du"):
            self.same(verb, "--format", "ndjson", YARD)
        self.same("dump", CAPTURE)
        self.same("capture", CAPTURE)
        self.same("diff", YARD, DEMOS[0])
        self.same("types")
        self.same("play", YARD, "--speed", "1000")
        self.same("map", "info", *(FIXTURES / "maps").glob("*map"))
        self.same("map", "check", FIXTURES / "maps/ddnet.map")

    def test_writing(self):
        part = self.same_file("part.demo", "cut", YARD, "--from", "1s", "--to", "3s")
        self.assertTrue(part.startswith(b"TWDEMO"))
        self.same_file("around.demo", "cut", YARD, "--around", "chat:h.llo|bye", "--one")
        self.same_file("redacted.demo", "redact", YARD)
        self.same_file("repaired.demo", "repair", YARD)
        rest = self.folder / "rest.demo"
        self.assertEqual(native("cut", YARD, "--from", "3s", "-o", rest).returncode, 0)
        self.same_file("joined.demo", "join", self.folder / "native/part.demo", rest)
        self.same_file("merged.demo", "merge", YARD, YARD)
        packed = self.same_file("packed.demo.gz", "compress", YARD)
        self.assertEqual(gzip.decompress(packed), YARD.read_bytes())
        self.same("info", self.folder / "native/packed.demo.gz")
        self.same_file("drawn.png", "map", "render", FIXTURES / "maps/ddnet.map")
        ours = ("--data", self.folder, "--hud", "status", "--size", "320x180")  # no text, as there may be no font
        self.same_file("frame.png", "picture", YARD, "--at", "0:02", "--no-names", *ours)
        self.same_file("clip.y4m", "video", YARD, "--from", "0:01", "--to", "0:02", "--no-names", *ours)
        self.same_file("converted.map", "map", "convert", FIXTURES / "maps/ddnet.map", "--to", "0.7")

    def test_exporting(self):
        tables = {}
        for run in (native, windows):
            name = self.folder / f"{run.__name__}.db"
            done = run("export", YARD, DEMOS[0], "-o", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            with contextlib.closing(sqlite3.connect(name)) as opened:
                tables[run] = list(opened.iterdump())
        self.assertEqual(tables[native], tables[windows])
        for run in (native, windows):
            done = run("export", YARD, "-o", self.folder / f"{run.__name__}.arrows", "--format", "arrow")
            self.assertEqual(done.returncode, 0, done.stderr)
        one, other = (self.folder / f"{name}.arrows" for name in ("native", "windows"))
        self.assertEqual(sorted(p.name for p in one.iterdir()), sorted(p.name for p in other.iterdir()))
        for file in one.iterdir():
            self.assertEqual(file.read_bytes(), (other / file.name).read_bytes(), file.name)

    def test_index(self):
        for run in (native, windows):
            copy = self.folder / run.__name__ / "yard.demo"
            copy.parent.mkdir()
            copy.write_bytes(YARD.read_bytes())
            self.assertEqual(run("index", copy).returncode, 0)
        one, other = (sorted((self.folder / name).iterdir()) for name in ("native", "windows"))
        self.assertEqual([p.read_bytes() for p in one], [p.read_bytes() for p in other])


class Habits(Case):
    def test_streams_are_binary(self):
        done = windows("cut", "-", "--to", "2s", "-o", "-", input=YARD.read_bytes())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, native("cut", YARD, "--to", "2s", "-o", "-").stdout)
        self.assertEqual(windows("dump", "-", input=CAPTURE.read_bytes()).stdout, native("dump", CAPTURE).stdout)
        self.assertEqual(windows("dump", "--follow", "-", input=YARD.read_bytes()).stdout, native("dump", YARD).stdout)

    def test_names(self):
        """In any script, with backslashes, long; devices are devices."""
        name = self.folder / "дёмо 記録 🎮.demo"
        name.write_bytes(YARD.read_bytes())
        done = windows("info", name)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(name.name, done.stdout.decode())
        done = windows("cut", "-q", name.name, "--to", "1s", "-o", ".\\вырез.demo", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue((self.folder / "вырез.demo").exists())
        deep = self.folder / "/".join(["a" * 60] * 5)
        deep.mkdir(parents=True)
        done = windows("cut", "-q", name, "--to", "1s", "-o", deep / "long.demo")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual((deep / "long.demo").read_bytes(), (self.folder / "вырез.demo").read_bytes())
        self.assertEqual(windows("dump", YARD, "-o", "NUL").returncode, 0)

    def test_replacing(self):
        to = self.folder / "there.demo"
        to.write_text("there")
        done = windows("cut", YARD, "--to", "1s", "-o", to)
        self.assertEqual((done.returncode, to.read_text()), (2, "there"), done.stderr)
        self.assertEqual(windows("cut", YARD, "--to", "1s", "-o", to, "--force").returncode, 0)
        self.assertTrue(to.read_bytes().startswith(b"TWDEMO"))
        done = windows("cut", to, "--to", "1s", "-o", to, "--force")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is an input", done.stderr)
        self.assertEqual(windows("info", self.folder / "none").returncode, 3)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["there.demo"])

    def test_a_growing_file(self):
        demo, expected = YARD.read_bytes(), native("dump", YARD).stdout
        with open(self.folder / "growing.demo", "wb") as file:
            file.write(demo[:len(demo) // 2])
            file.flush()
            with subprocess.Popen([RUN, "dump", "--follow", file.name], stdout=subprocess.PIPE) as running:
                try:
                    shown = running.stdout.readline()  # it has come to the end
                    file.write(demo[len(demo) // 2:])
                    file.flush()
                    while len(shown) < len(expected):
                        shown += running.stdout.readline()
                finally:
                    running.kill()
        self.assertEqual(shown, expected)

    def in_console(self, *words, keys=b"", after=b""):
        """Runs it in a terminal, which Wine makes a console. Returns the exit code and what was shown."""
        process, terminal = pty.fork()
        if process == 0:
            os.environ["TERM"] = "xterm"
            os.execv(RUN, [RUN, *map(str, words)])
        shown = b""
        try:
            end = time.monotonic() + STUCK
            while time.monotonic() < end:
                if select.select([terminal], [], [], 0.1)[0]:
                    try:
                        more = os.read(terminal, 1 << 16)
                    except OSError:
                        break
                    if not more:
                        break
                    shown += more
                if keys and re.search(after, re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]|[\r\n]", b"", shown)):
                    os.write(terminal, keys)
                    keys = b""
        finally:
            with contextlib.suppress(ProcessLookupError):
                done, status = os.waitpid(process, os.WNOHANG)
                if done == 0:
                    time.sleep(1)
                    done, status = os.waitpid(process, os.WNOHANG)
                if done == 0:
                    os.kill(process, signal.SIGKILL)
                    status = os.waitpid(process, 0)[1]
            os.close(terminal)
        return os.waitstatus_to_exitcode(status), shown

    def test_terminal_view(self):
        code, shown = self.in_console("play", YARD, keys=b" q", after=rb"playing")
        self.assertEqual(code, 0)
        self.assertIn(b"bot 1", shown)

    def test_ctrl_c(self):
        """Ends a service in order."""
        code, shown = self.in_console("serve", YARD, "--port", free_port(), keys=b"\x03", after=rb"watching")
        self.assertEqual(code, 0)
        self.assertIn(b"joined", re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", shown))

    def test_ctrl_c_finishes_a_recording(self):
        port, to = free_port(), self.folder / "recorded.demo"
        with subprocess.Popen([NATIVE, "serve", YARD, "--port", str(port), "--loop"], stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as server:
            try:
                code, _ = self.in_console("record", f"127.0.0.1:{port}", "-o", to, keys=b"\x03", after=rb"snapshots")
            finally:
                server.terminate()
        self.assertEqual(code, 0)
        done = native("verify", to)
        self.assertEqual(done.returncode, 0, done.stderr)


class Services(Case):
    @contextlib.contextmanager
    def service(self, *words, says):
        """Until it says that. Yields the rest of the line."""
        with subprocess.Popen([RUN, *map(str, words)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            try:
                for line in running.stderr:
                    if says in line:
                        yield line.partition(says)[2].strip()
                        break
                else:
                    self.fail(f"{words} ended")
            finally:
                running.kill()

    def test_web(self):
        viewer = self.folder / "viewer"
        viewer.mkdir()
        (viewer / "index.html").write_text("the viewer")
        with self.service("web", FIXTURES / "demos", "--viewer", viewer, "--port", free_port(), "--no-open", says=" on ") as url:
            self.assertEqual(urllib.request.urlopen(url + "view.html", timeout=STUCK).read(), b"the viewer")
            at = url + "recordings/ddnet_yard.demo"
            self.assertEqual(urllib.request.urlopen(at, timeout=STUCK).read(), YARD.read_bytes())
            part = urllib.request.Request(at, headers={"Range": "bytes=100-199"})
            self.assertEqual(urllib.request.urlopen(part, timeout=STUCK).read(), YARD.read_bytes()[100:200])
            for outside in ("recordings/../MANIFEST.tsv", "recordings/..%5CMANIFEST.tsv", "recordings/CON", "recordings/C:%5Cx"):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(url + outside, timeout=STUCK)
                self.assertEqual(refused.exception.code, 404, outside)

    def test_serve_and_record(self):
        port, to = free_port(), self.folder / "recorded.demo"
        with self.service("serve", YARD, "--port", port, "--loop", says="serving"):
            done = native("record", f"127.0.0.1:{port}", "-o", to, "--duration", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(native("verify", to).returncode, 0)

    def test_relay(self):
        udp, http, folder = free_port(), free_port(), self.folder / "broadcast"
        with self.service("serve", YARD, "--port", udp, "--loop", says="serving"), \
                self.service("relay", f"127.0.0.1:{udp}", "--http", http, "--dir", folder, says="http"):
            end = time.monotonic() + STUCK
            while True:
                with contextlib.suppress(OSError):
                    sync = urllib.request.urlopen(f"http://127.0.0.1:{http}/sync", timeout=STUCK).read()
                    break
                self.assertLess(time.monotonic(), end, "never answered")
                time.sleep(0.2)
            self.assertTrue(sync)
            self.assertTrue((folder / "sync").exists())


if __name__ == "__main__":
    if not NATIVE:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
