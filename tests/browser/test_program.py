#!/usr/bin/env python3
"""The program in a page makes the same bytes, messages and exit codes as the program here.
Usage: test_program.py BUNDLE TEEWIRE FIXTURES [FOLDER_FOR_PICTURES]. With TEEWIRE_CORPUS, of real recordings, too. Exit code 77, where there is no
Chromium, is a test that was skipped."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import browsers

BUNDLE = pathlib.Path(sys.argv[1]).resolve()
TEEWIRE = os.path.abspath(sys.argv[2])
FIXTURES = pathlib.Path(sys.argv[3]).resolve()
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nowhere")
SHARE = max(1, int(os.environ.get("TEEWIRE_SHARE") or 4))
SHOTS = pathlib.Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else None
HERE = pathlib.Path(__file__).resolve().parent
MODULES = None


def in_page(commands, browser=None):
    """`commands`: (words, files by name)."""
    request = {"commands": [{"words": words, "files": {name: str(path) for name, path in files.items()}} for words, files in commands]}
    done = subprocess.run(["node", HERE / "in_page.mjs", BUNDLE, browser or browsers.chromium()], input=json.dumps(request), capture_output=True,
                          text=True, timeout=1200, env={**os.environ, "NODE_PATH": str(MODULES)})
    if done.returncode != 0:
        raise AssertionError(done.stderr[-3000:])
    return [{**one, "output": base64.b64decode(one["output"]), "files": {n: base64.b64decode(b) for n, b in one["files"].items()}}
            for one in json.loads(done.stdout)]


def here(words, files):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name, path in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place / name)
        # Nothing of this machine: no games, no terminal.
        done = subprocess.run([TEEWIRE, *words], cwd=place, capture_output=True, stdin=subprocess.DEVNULL,
                              env={"HOME": folder, "PATH": "/nowhere", "COLUMNS": "80", "TZ": "UTC"})
        made = {p.relative_to(place).as_posix(): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file() and
                p.relative_to(place).as_posix() not in files}
        return {"code": done.returncode, "messages": done.stderr.decode(), "output": done.stdout, "files": made}


def commands_for(demo):
    """Each verb for one demo."""
    name = "a.demo"
    one = {name: demo}
    middle = ["--from=0:01", "--to=0:03"]
    return [(words, one) for words in (
        ["info", name], ["info", name, "--format", "ndjson"], ["verify", name], ["verify", name, "--strict"],
        ["events", name, "--format", "text"], ["events", name], ["events", name, "--format", "csv"], ["events", name, "--format", "srt"],
        ["stats", name], ["stats", name, "--format", "csv"], ["du", name], ["dump", name, "--format", "checksum"],
        ["dump", name, *middle], ["cut", name, *middle, "-o", "cut.demo"], ["cut", name, "--around", "kill", "-o", "kills.demo"],
        ["redact", name, "-o", "redacted.demo"], ["repair", name, "-o", "repaired.demo"], ["join", name, name, "-o", "joined.demo"],
        ["compress", name, "-o", "a.tda"], ["compress", name, "--method", "zstd", "-o", "a.zst"],
        ["compress", name, "--method", "gzip", "-o", "a.gz"], ["diff", name, name], ["map", "extract", name, "-o", "a.map"],
        ["export", name, "-o", "arrow", "--format", "arrow"],
    )]


class Program(unittest.TestCase):
    browser = None

    def compare(self, commands):
        for (words, files), found in zip(commands, in_page(commands, self.browser), strict=True):
            with self.subTest(words=words, files={n: str(p) for n, p in files.items()}):
                expected = here(words, files)
                self.assertEqual((found["code"], found["messages"]), (expected["code"], expected["messages"]))
                self.assertEqual(sorted(found["files"]), sorted(expected["files"]))
                self.assertTrue(found["output"] == expected["output"], "standard output")
                for name, content in expected["files"].items():
                    self.assertTrue(found["files"][name] == content, name)

    def test_demos(self):
        demos = sorted((FIXTURES / "demos").glob("*.demo"))
        demos += [f for f in sorted((CORPUS / "demos").glob("*.demo"), key=lambda f: f.stat().st_size) if f.stat().st_size < 3 << 20][::4 * SHARE]
        self.compare([command for demo in demos for command in commands_for(demo)])

    def test_several(self):
        demos, races, captures = (FIXTURES / name for name in ("demos", "races", "captures"))
        two = {"first.demo": races / "ddnet_first.demo", "second.demo": races / "ddnet_second.demo"}
        v = {"3.demo": demos / "ddnet_v3.demo", "4.demo": demos / "ddnet_v4.demo"}
        pcap = {"a.pcap": captures / "ddnet_yard.pcap"}
        lossy = {"a.pcap": captures / "ddnet_lossy.pcap"}
        packed = {"a.demo.tda": FIXTURES / "archives/ddnet_yard.demo.tda"}
        self.compare([
            (["merge", "first.demo", "second.demo", "-o", "merged.demo"], two), (["diff", "first.demo", "second.demo"], two),
            (["join", "3.demo", "4.demo", "-o", "joined.demo"], v), (["stats", "3.demo", "4.demo", "--sum"], v),
            (["info", "folder"], {"folder/one.demo": demos / "ddnet_v3.demo", "folder/below/two.demo": demos / "ddnet_yard.demo"}),
            (["capture", "a.pcap"], pcap), (["capture", "a.pcap", "--format", "demo", "-o", "a.demo"], pcap), (["events", "a.pcap"], lossy),
            (["capture", "a.pcap", "--explain"], lossy), (["info", "a.demo.tda"], packed), (["decompress", "a.demo.tda"], packed),
            (["cut", "a.demo.tda", "--from", "0:02", "-o", "cut.demo"], packed), (["types"], {}), (["cut", "--help"], {}),
            (["--version-of"], {}), (["cut", "--form", "3"], {}), (["info", "nothing.demo"], {})])

    def test_maps(self):
        self.compare([(words, {"a.map": path}) for path in sorted((FIXTURES / "maps").glob("*.*map")) for words in (
            ["map", "info", "a.map"], ["map", "info", "a.map", "--format", "ndjson"], ["map", "check", "a.map"],
            ["map", "render", "a.map", "-o", "a.png", "--layer", "game"], ["map", "render", "a.map", "-o", "b.png"],
            ["map", "convert", "a.map", "--to", "0.7", "-o", "seven.map"], ["map", "convert", "a.map", "--datafile", "3", "-o", "three.map"])])

    def test_damage(self):
        with tempfile.TemporaryDirectory() as folder:
            commands = []
            whole = (FIXTURES / "demos/ddnet_dm1.demo").read_bytes()
            for n, size in enumerate((0, 3, 500, 20000, 60000)):
                bad = pathlib.Path(folder) / f"{n}.demo"
                bad.write_bytes(whole[:size])
                commands += [(words, {"a.demo": bad}) for words in (
                    ["info", "a.demo"], ["verify", "a.demo"], ["repair", "a.demo", "-o", "b.demo"], ["cut", "a.demo", "-o", "b.demo"])]
            self.compare(commands)

    def test_database(self):
        """The same tables; the file itself has the version of SQLite in it."""
        commands = [(["export", "a.demo", "-o", "a.sqlite"], {"a.demo": FIXTURES / f"demos/{name}.demo"}) for name in ("ddnet_yard", "teeworlds07_dm1")]
        for command, found in zip(commands, in_page(commands, self.browser), strict=True):
            expected = here(*command)
            self.assertEqual((found["code"], found["messages"]), (expected["code"], expected["messages"]))
            self.assertEqual(contents(found["files"]["a.sqlite"]), contents(expected["files"]["a.sqlite"]))


@unittest.skipUnless(browsers.firefox(), "no Firefox")
class InFirefox(Program):
    """The same, without what is the same code again."""
    browser = browsers.firefox()
    test_maps = None

    def setUp(self):
        if browsers.node_modules(browsers.PUPPETEER) is None:
            self.skipTest("no npm")

    def test_demos(self):
        self.compare(commands_for(FIXTURES / "demos/ddnet_dm1.demo"))


class Tools(unittest.TestCase):
    def test_page(self):
        """As `teewire web` serves it, which shows a folder meanwhile."""
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            files = [FIXTURES / "demos/ddnet_yard.demo", FIXTURES / "demos/ddnet_dm1.demo"]
            subprocess.run([TEEWIRE, "cut", files[0], "--from", "0:01", "--to=-0:01", "-o", place / "cut.demo", "-q"], check=True)
            subprocess.run([TEEWIRE, "join", *[files[1]] * 200, "-o", place / "large.demo", "-q"], check=True)
            server = subprocess.Popen([TEEWIRE, "web", place, "--port", "0"], stderr=subprocess.PIPE, text=True)
            try:
                address = next(word for line in server.stderr for word in line.split() if word.startswith("http"))
                request = {"files": [str(f) for f in files], "cut": str(place / "cut.demo"), "large": str(place / "large.demo")}
                done = subprocess.run(["node", HERE / "in_tools.mjs", f"{address.rstrip('/')}/tools.html", browsers.chromium(), SHOTS or place],
                                      input=json.dumps(request), capture_output=True, text=True, timeout=300,
                                      env={**os.environ, "NODE_PATH": str(MODULES)})
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            finally:
                server.terminate()
                server.wait(20)
                server.stderr.close()


def contents(database):
    import sqlite3
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(database)
        file.flush()
        return list(sqlite3.connect(file.name).iterdump())


if __name__ == "__main__":
    MODULES = browsers.node_modules(browsers.PLAYWRIGHT, browsers.AXE) if browsers.chromium() else None
    if MODULES is None or not (BUNDLE / "program.wasm").exists():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
