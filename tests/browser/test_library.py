#!/usr/bin/env python3
"""lib/wasm in node and in Chromium: what it makes of demos, maps and broadcasts is what the program makes of them.
Usage: test_library.py PACKAGE TEEWIRE FIXTURES. With TEEWIRE_CORPUS, real recordings are read, too. Exit code 77, where there is no
node, is a test that was skipped."""
import functools
import http.server
import json
import os
import pathlib
import queue
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zlib

import browsers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import demo_codec  # noqa: E402
import made_maps  # noqa: E402

PACKAGE = pathlib.Path(sys.argv[1]).resolve()
TEEWIRE = os.path.abspath(sys.argv[2])
FIXTURES = pathlib.Path(sys.argv[3]).resolve()
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nowhere")
HERE = pathlib.Path(__file__).resolve().parent
YARD = FIXTURES / "demos/ddnet_yard.demo"
MODULES = None
CHROMIUM = browsers.chromium()
VITE = "vite@6"
TICKS = 50


def run(where, check, *arguments, plain=False):
    command = ["node", HERE / f"in_{where}.mjs", PACKAGE] + ([CHROMIUM] if where == "chromium" else [])
    request = {"check": check, "plain": plain, "arguments": json.loads(json.dumps(arguments, default=str))}
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, timeout=600,
                          env={**os.environ, "NODE_PATH": str(MODULES)})
    if done.returncode != 0:
        raise AssertionError(f"{check}: {done.stderr[-3000:]}")
    return json.loads(done.stdout)


def dump(demo):
    done = subprocess.run([TEEWIRE, "dump", "--format", "checksum", demo], capture_output=True, text=True)
    return done.stdout.splitlines()


class Places(unittest.TestCase):
    """In node, with both modules; in_chromium.mjs runs the same."""
    where = "node"

    def demos(self):
        found = sorted((FIXTURES / "demos").glob("*.demo"))
        # Recordings of all protocols, by their sizes.
        real = sorted((CORPUS / "demos").glob("*.demo"), key=lambda f: f.stat().st_size)
        return found + real[len(real) % 2::2][-24:]

    def test_states(self):
        chosen = random.Random(7)
        demos = []
        for demo in self.demos():
            lines = dump(demo)
            ticks = [int(line.split()[0]) for line in lines]
            if len(lines) > 1 and ticks == sorted(set(ticks)):
                demos.append({"name": demo, "expected": chosen.sample(lines, min(TICKS, len(lines)))})
        self.assertGreaterEqual(len(demos), 20 if CORPUS.is_dir() else 3)
        for plain in (False, True) if self.where == "node" else (False,):
            result = run(self.where, "states", demos, plain=plain)
            self.assertEqual(result["wrong"], [])
            self.assertEqual(result["checked"], sum(len(d["expected"]) for d in demos))
            print(f"{self.where}{', plain' if plain else ''}: {result['checked']} states of {len(demos)} demos by seeking",
                  file=sys.stderr)

    def test_archives(self):
        """What `compress` made is restored to the byte; damaged, up to the damage."""
        with tempfile.TemporaryDirectory() as name:
            pairs = []
            for n, demo in enumerate([*self.demos(), FIXTURES / "maps/ddnet.map"]):
                archive = pathlib.Path(name) / f"{demo.name}.tda"
                maps = pathlib.Path(name) / "maps" if n % 2 else None
                pairs.append({"archive": archive, "original": demo, "maps": maps})
                subprocess.run([TEEWIRE, "compress", demo, "-o", archive, *(["--share-maps"] if maps else [])], check=True,
                               stderr=subprocess.DEVNULL)
            pairs.append({"archive": FIXTURES / "archives/ddnet_yard.demo.tda", "original": YARD, "maps": None})
            result = run(self.where, "archives", pairs)
        self.assertEqual(result["wrong"], [])
        self.assertEqual(result["bytes"], sum(pathlib.Path(p["original"]).stat().st_size for p in pairs))
        result = run(self.where, "damaged_archives", FIXTURES / "archives/ddnet_yard.demo.tda", YARD, 400)
        self.assertEqual(result["wrong"], [])
        self.assertGreater(min(result[k] for k in ("damaged", "given")), 20, result)

    def test_damaged(self):
        files = [f for folder in (FIXTURES, CORPUS, CORPUS.parent / "findings") for f in sorted(folder.rglob("*"))
                 if f.is_file() and f.suffix in (".demo", ".map") and f.stat().st_size < 1_000_000]
        result = run(self.where, "damaged", files)
        self.assertEqual(result["wrong"], [])
        self.assertLess(result["memory"], 64 << 20)
        print(f"{self.where}: {result}", file=sys.stderr)
        for file, times in ((YARD, 200), (FIXTURES / "demos/teeworlds07_dm1.demo", 200), (FIXTURES / "maps/ddnet.map", 100)):
            result = run(self.where, "mutated", file, times)
            self.assertEqual(result["wrong"], [])
            self.assertGreater(result["refused"] + result["told"], times // 10)

    def test_bombs(self):
        """Files of some KB that stand for gigabytes give what can be had, and an error."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        side, many = 2000, 300
        skips = b"\1\0\xff\0" * (side * side // 256 + 1)
        text = zlib.compress(b"x" * (8 << 20) + b"\0"), (8 << 20) + 1
        kinds = {
            "skips": [made_maps.tiles(n, side, side, 0, int(n == 0), 4) for n in range(many)],
            "names": [(2, n, [1, 0, 0, 1, 1, -1]) for n in range(many)]}
        files = []
        for kind, items in kinds.items():
            items += [] if kind == "names" else [made_maps.group(many)]
            files.append(f"{folder}/{kind}.map")
            pathlib.Path(files[-1]).write_bytes(made_maps.datafile(
                [made_maps.VERSION, *items], [(zlib.compress(skips), len(skips)), text]))
        demo = demo_codec.Writer()
        demo.snapshot(1000, [(4, n, [n] * 4) for n in range(800)])
        for _ in range(20000):
            demo.delta(1, [(4, 0, 0, [1, 0, 0, 0])])
        files.append(f"{folder}/snapshots.demo")
        pathlib.Path(files[-1]).write_bytes(demo.out)
        for file, found in zip(files, run(self.where, "bombs", files), strict=True):
            with self.subTest(file):
                size = os.path.getsize(file)
                self.assertLess(size, 1_000_000)
                self.assertLess(found["bytes"], (32 << 20) + 1032 * size)
                self.assertRegex(found["problems"][-1], "are left|too much follows")

    def test_content(self):
        for demo in sorted((FIXTURES / "demos").glob("*.demo")):
            result = run(self.where, "content", demo)
            last = subprocess.run([TEEWIRE, "dump", "--format", "ndjson", demo], capture_output=True, text=True)
            expected = json.loads(last.stdout.splitlines()[-1])
            self.assertEqual(result["last_tick"], expected["tick"])
            for name, items in expected["items"].items():
                if name.startswith(("type_", "uuid_", "extended")):
                    continue
                got = {str(item["id"]): item for item in result["items"].get(name, [])}
                self.assertEqual(set(got), set(items), name)
                for number, fields in items.items():
                    for field, value in fields.items():
                        if isinstance(value, (int, str)) and field in got[number] and not isinstance(got[number][field], bool) and \
                                isinstance(value, int) == isinstance(got[number][field], int):
                            self.assertEqual(got[number][field], value, f"{name} {number} {field}")
            self.assertIn("hammer", result["words"])
            if result["layers"] is not None:
                self.assertEqual(result["problems"], [])
                self.assertTrue(any(layer[0] == "game" for group in result["layers"] for layer in group))

    def test_varints(self):
        """Ints are unpacked the same with SIMD and without."""
        found = run(self.where, "varints", 3000)
        self.assertEqual(found, run("node", "varints", 3000, plain=True))
        failed = sum(line.startswith("-") and " at " in line for line in found)
        self.assertGreater(failed, 300)
        self.assertGreater(len(found) - failed, 300)

    def test_envelopes(self):
        """Tangents that DDNet keeps apart are with their points; shared points cost no more than they may."""
        result = run(self.where, "envelopes", FIXTURES / "maps/ddnet.map")
        self.assertEqual(result["problems"], [])
        path = result["envelopes"][1]["points"]
        self.assertEqual([point["curve"] for point in path], [5, 0, 3])
        self.assertEqual((path[0]["out_time"], path[0]["out"]), ([300, 300, 300, 0], [0, 1024, 0, 0]))
        self.assertEqual((path[1]["in_time"], path[1]["in"]), ([-300, -300, -300, 0], [0, 0, 0, 0]))
        self.assertEqual(result["kept"], (1 << 20) // 20000)
        self.assertEqual(len(result["many"]), 200 - result["kept"])

    def test_broadcast(self):
        relay = subprocess.Popen([TEEWIRE, "relay", YARD, "--http", "0", "--bind", "127.0.0.1", "--loop"],
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(relay.stderr.close)
        self.addCleanup(relay.wait)
        self.addCleanup(relay.send_signal, signal.SIGINT)
        said = ""
        while "http" not in said:
            said = relay.stderr.readline()
            self.assertTrue(said)
        port = said.rsplit(":", 1)[1].split()[0].strip("/.")
        result = run(self.where, "broadcast", f"http://127.0.0.1:{port}/", 3)
        lines = dump(YARD)
        self.assertGreater(len(result["lines"]), 40)
        self.assertLessEqual(set(result["lines"]), set(lines))


@unittest.skipIf(CHROMIUM is None, "there is no Chromium")
class InChromium(Places):
    where = "chromium"

    def setUp(self):
        if MODULES is None:
            self.skipTest("npm's playwright-core cannot be had")


class Package(unittest.TestCase):
    def test_size(self):
        """The files that a page loads, and those that npm packs."""
        sizes = {f.name: f.stat().st_size for f in PACKAGE.iterdir() if f.suffix in (".js", ".wasm")}
        on_demand = sizes["teewire-plain.wasm"] + sizes["teewire-archive.wasm"]
        self.assertLess(sum(sizes.values()) - on_demand, 250_000, sizes)
        self.assertLess(sizes["teewire-archive.wasm"], 120_000)
        for packed in PACKAGE.glob("*.tgz"):
            with tarfile.open(packed) as archive:
                names = {pathlib.Path(n).name for n in archive.getnames()}
            self.assertLessEqual({*sizes, "teewire.d.ts", "items.d.ts", "package.json", "README.md"}, names)

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium")
    def test_bundled(self):
        """A page that Vite bundles finds the module in WebAssembly."""
        packed = sorted(PACKAGE.glob("*.tgz"))
        modules = browsers.node_modules(VITE)
        if not packed or modules is None:
            self.skipTest("npm's vite cannot be had")
        page = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        (page / "node_modules").mkdir()
        subprocess.run(["tar", "-xzf", packed[0], "-C", page / "node_modules"], check=True)
        (page / "node_modules/package").rename(page / "node_modules/teewire")
        (page / "public").mkdir()
        shutil.copy(YARD, page / "public/game.demo")
        (page / "index.html").write_text('<!doctype html><script type="module" src="/main.js"></script>')
        (page / "main.js").write_text(
            "import { start, Recording, url_source } from 'teewire';\n"
            "async function show() {\n"
            "  const recording = await Recording.open(await start(), await url_source('game.demo'));\n"
            "  const { previous } = await recording.at(recording.last_tick);\n"
            "  return `${previous.tick}/${previous.checksum()}`;\n"
            "}\nshow().catch(String).then((found) => fetch(`/found/${found}`));\n")
        subprocess.run(["node", modules / "vite/bin/vite.js", "build", "--logLevel", "warn"], cwd=page, check=True, timeout=120)
        self.assertEqual(len(list((page / "dist/assets").glob("*.wasm"))), 3)
        found = queue.Queue()

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                if self.path.startswith("/found/"):
                    found.put(self.path)
                super().do_GET()

            def log_message(self, *_):
                pass

        server = self.enterContext(http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=page / "dist")))
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.shutdown)
        browser = subprocess.Popen([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page / 'user'}",
                                    f"http://127.0.0.1:{server.server_port}/"], stderr=subprocess.DEVNULL)
        self.addCleanup(browser.wait)
        self.addCleanup(browser.kill)
        tick, _, _, checksum, _ = dump(YARD)[-1].split()
        self.assertEqual(found.get(timeout=60), f"/found/{tick}/{int(checksum, 16)}")

    def test_speed(self):
        """Printed, as it depends on the machine: snapshots, messages, and copies of them for JavaScript."""
        demo = CORPUS / "demos/ddnet-git_Multeasymap_bench.demo"
        if not demo.exists():
            demo = FIXTURES / "demos/ddnet_dm1.demo"
        for plain in (False, True):
            result = run("node", "speed", demo, plain=plain)
            print(f"{demo.name}{', plain' if plain else ''}: {result['snapshots']} snapshots in {result['milliseconds']:.1f} ms, "
                  f"of which decoding {result['decoding']:.1f} ms", file=sys.stderr)
            self.assertGreater(result["snapshots"], 100)


if __name__ == "__main__":
    if shutil.which("node") is None:
        print("SKIPPED: there is no node")
        sys.exit(77)
    MODULES = browsers.node_modules(browsers.PLAYWRIGHT) if CHROMIUM else None
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
