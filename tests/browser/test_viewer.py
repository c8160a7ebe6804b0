#!/usr/bin/env python3
"""The viewer in Chromium: what it shows of recordings and broadcasts is what `teewire dump` says.
Usage: test_viewer.py BUNDLE TEEWIRE FIXTURES [FOLDER_FOR_SCREENSHOTS]. With TEEWIRE_CORPUS, real recordings are opened, too.
Exit code 77, where there is no Chromium, is a test that was skipped."""
import functools
import gzip
import http.server
import json
import math
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import zlib

import browsers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import demo_codec  # noqa: E402
from made_relay import Relay  # noqa: E402

BUNDLE = pathlib.Path(sys.argv[1]).resolve()
TEEWIRE = os.path.abspath(sys.argv[2])
FIXTURES = pathlib.Path(sys.argv[3]).resolve()
SHOTS = pathlib.Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else None
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nowhere")
HERE = pathlib.Path(__file__).resolve().parent
YARD = FIXTURES / "demos/ddnet_yard.demo"  # with its map
DM1 = FIXTURES / "demos/ddnet_dm1.demo"
SEVEN = FIXTURES / "demos/teeworlds07_dm1.demo"
MODULES = None
MOST_BYTES = 1_000_000
MOST_PACKED = 350_000
MOST_PROGRAM = 1_100_000  # compressed


def pages(*wanted, browser=None):
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x1200x24"] if browser else []
    done = subprocess.run([*screen, "node", HERE / "in_viewer.mjs", browser or browsers.chromium()], input=json.dumps(wanted), text=True,
                          capture_output=True, timeout=600, env={**os.environ, "NODE_PATH": str(MODULES)})
    if done.returncode != 0:
        raise AssertionError(done.stderr[-3000:])
    return json.loads(done.stdout)


def snapshots(demo):
    """Ticks and items of a recording, as far as it goes."""
    done = subprocess.run([TEEWIRE, "dump", demo, "--type", "character,client_info"], capture_output=True, text=True)
    return [(line["tick"], line["items"]) for line in map(json.loads, done.stdout.splitlines())]


def png(width, height):
    """All of it black, a bit a pixel, so that it may be large."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" * (1 + (width + 7) // 8)) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Served(unittest.TestCase):
    def serve(self, source, *options):
        server = subprocess.Popen([TEEWIRE, "web", source, "--viewer", BUNDLE, "--no-open", "--port", "0", *options],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def end():
            server.send_signal(signal.SIGINT)
            server.wait(20)
            server.stderr.close()

        self.addCleanup(end)
        for line in server.stderr:
            found = re.search(r"on (http://127\.0\.0\.1:\d+/)", line)
            if found:
                return found[1]
        raise AssertionError("it does not serve")

    def folder(self, *files):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        for file in files:
            shutil.copy(file, made.name)
        return pathlib.Path(made.name)

    @staticmethod
    def page(base, name, t=None, **more):
        url = f"{base}view.html?demo=recordings/{urllib.parse.quote(name)}"
        return {"url": url + (f"&t={t}" if t else ""), **more}


class Viewer(Served):
    def test_size(self):
        """Limits of the viewer, and of the tools, which are loaded when the first command starts."""
        tools = ("commands.js", "export.js", "export.wasm", "offline.js", "program.js", "program.wasm", "tools.html", "tools.js", "worker.js")
        files = {file.name: file.read_bytes() for file in BUNDLE.iterdir()}
        viewer = [content for name, content in files.items() if name not in tools]
        self.assertLessEqual(sum(map(len, viewer)), MOST_BYTES)
        self.assertLessEqual(sum(len(gzip.compress(content)) for content in viewer), MOST_PACKED)
        program = [content for name, content in files.items() if name in tools and not name.startswith("export.")]
        self.assertLessEqual(sum(len(gzip.compress(content)) for content in program), MOST_PROGRAM)

    def test_recordings(self):
        """Each opens, and at a moment has the players of the snapshot; every third from its archive."""
        demos = sorted((FIXTURES / "demos").glob("*.demo"))
        real = sorted((CORPUS / "demos").glob("*.demo"), key=lambda f: f.stat().st_size)
        demos += real[len(real) % 3::5][-8:]
        folder = self.folder(*demos)
        for demo in demos[::3]:
            subprocess.run([TEEWIRE, "compress", folder / demo.name, "--share-maps", "--remove"], check=True, stderr=subprocess.DEVNULL)
        base = self.serve(folder)
        asked, expected = [], []
        for n, demo in enumerate(demos):
            known = snapshots(demo)
            if len(known) < 3:
                continue
            first = known[0][0]
            tick, items = known[len(known) // 2]
            # Links are exact to a tenth of a second, pages to a tick.
            asked.append(self.page(base, demo.name + ("" if n % 3 else ".tda"), "0:00",
                                   steps=[f"teewire_viewer.seek({tick})", "wait:300"],
                                   shot=str(SHOTS / f"{demo.stem}.png") if SHOTS else None))
            expected.append((demo, first, known[-1][0], tick, items))
        for result, (demo, first, last, tick, items) in zip(pages(*asked), expected, strict=True):
            with self.subTest(demo.name):
                self.assertEqual(result["errors"], [])
                opened, sought = result["states"][0], result["states"][-1]
                self.assertEqual(opened["first"], first)
                self.assertGreaterEqual(opened["last"], last) # ticks without a change have no snapshot
                self.assertEqual(opened["tick"], first)
                self.assertIsNone(sought["problem"])
                self.assertEqual(sought["shown"], tick)
                self.assertEqual(sought["tick"], tick)
                characters = {int(number) for number in items.get("character", {})}
                self.assertLessEqual({tee["id"] for tee in sought["tees"]}, characters)
                if len(characters) > 2:
                    self.assertGreater(len(sought["tees"]), 0)
                names = {info["name"] for info in items.get("client_info", {}).values()}
                self.assertLessEqual(set(sought["names"]) - {""}, names)
        print(f"{len(asked)} recordings", file=sys.stderr)

    def test_picture(self):
        """Something is drawn; with the map, more than the ground."""
        base = self.serve(YARD)
        [result] = pages({"url": f"{base}?t=0:02", "shot": str(SHOTS / "yard_at_2s.png") if SHOTS else None})
        self.assertEqual(result["errors"], [])
        self.assertGreater(result["states"][0]["colors"], 50)
        self.assertEqual(result["states"][0]["map"], "yard")

    def test_place(self):
        """Between snapshots a tee is between its places; the camera is with who is followed."""
        demo = SEVEN
        known = snapshots(demo)
        [(before, old), (after, new)] = known[200:202]
        numbers = [n for n in old["character"] if n in new["character"] and old["character"][n]["tick"] in (0, before)
                   and new["character"][n]["tick"] in (0, after)]
        base = self.serve(self.folder(demo))
        middle = (before + after) / 2
        [result] = pages(self.page(base, demo.name, "0:00", steps=[f"teewire_viewer.seek({middle})", "wait:300", "key:n", "key:n"]))
        self.assertEqual(result["errors"], [])
        _, _, sought, followed, other = result["states"]
        self.assertEqual(sought["tick"], middle)
        tees = {str(tee["id"]): tee for tee in sought["tees"]}
        for number in numbers:
            for axis in "xy":
                self.assertAlmostEqual(tees[number][axis], (old["character"][number][axis] + new["character"][number][axis]) / 2)
        self.assertNotEqual(followed["selected"], other["selected"])
        tee = next(tee for tee in other["tees"] if tee["id"] == other["selected"])
        self.assertAlmostEqual(other["camera"]["x"], tee["x"], places=3)
        self.assertAlmostEqual(other["camera"]["y"], tee["y"], places=3)

    def test_keys(self):
        demo = SEVEN
        ticks = [tick for tick, _ in snapshots(demo)]
        base = self.serve(self.folder(demo))
        start = ticks[0] + 250
        [result] = pages(self.page(base, demo.name, "0:05", steps=["key:.", "key:.", "key:,", "key:ArrowRight", "key:ArrowLeft", "key: ",
                                                                   "wait:400", "key: "]))
        self.assertEqual(result["errors"], [])
        got = [state["tick"] for state in result["states"]]
        behind = [tick for tick in ticks if tick > start]
        self.assertEqual(got[:4], [start, behind[0], behind[1], behind[0]])
        self.assertEqual(got[4], behind[0] + 250)
        self.assertEqual(got[5], behind[0])
        self.assertFalse(result["states"][0]["playing"])
        self.assertTrue(result["states"][6]["playing"])
        self.assertGreater(got[7], got[5])
        self.assertFalse(result["states"][8]["playing"])

    def test_more_keys(self):
        """Full screen, and tenths of the recording."""
        base = self.serve(self.folder(SEVEN))
        full = "globalThis.asked = Number(document.fullscreenElement !== null)"
        [result] = pages(self.page(base, SEVEN.name, "0:05", steps=["key:5", "key:0", "key:9", "key:f", "wait:500", full, "key:f",
                                                                   "wait:500", full, "key:v"]))
        self.assertEqual(result["errors"], [])
        first, last = result["states"][0]["first"], result["states"][0]["last"]
        for state, n in zip(result["states"][1:], (5, 0, 9)):
            self.assertAlmostEqual(state["tick"], first + (last - first) * n / 10, delta=1)
        self.assertEqual([result["states"][n]["asked"] for n in (6, 9)], [1, 0])
        self.assertEqual(result["states"][-1]["selected"], -1)

    def test_phone(self):
        """A finger moves the camera, two zoom, a tap chooses; nothing is wider than the screen."""
        base = self.serve(self.folder(SEVEN))
        near = "(() => { const t = [...teewire_viewer.moment.tees.values()][0]; teewire_viewer.follow(-1); " \
               "teewire_viewer.camera.x = t.x; teewire_viewer.camera.y = t.y; })()"
        [result] = pages(self.page(base, SEVEN.name, "0:07", size=[390, 700], phone=True, shot=str(SHOTS / "phone.png") if SHOTS else None, steps=[
            "touch:195,300 195,320 255,300", "touch:150,300+240,300 140,300+250,300 105,300+285,300", near, "wait:200",
            "touch:195,281", "touch:150,300+240,300 130,300+260,300 105,300+300,300"]))
        self.assertEqual(result["errors"], [])
        opened, dragged, zoomed, _, placed, tapped, pinched = result["states"]
        self.assertFalse(opened["wide"])
        self.assertEqual(dragged["selected"], -1)
        self.assertLess(dragged["camera"]["x"], opened["camera"]["x"] - 50)
        self.assertLess(zoomed["camera"]["zoom"], dragged["camera"]["zoom"] * 0.8)
        self.assertEqual(pinched["selected"], tapped["selected"])
        self.assertLess(pinched["camera"]["zoom"], tapped["camera"]["zoom"] * 0.8)
        self.assertEqual(placed["selected"], -1)
        self.assertEqual(tapped["selected"], placed["tees"][0]["id"])

    def test_double_tap(self):
        """As on video sites: at the left back, at the right on, in the middle play and pause; a double click fills the screen."""
        base = self.serve(self.folder(SEVEN))
        [result] = pages(self.page(base, SEVEN.name, "0:10", size=[390, 700], phone=True, steps=[
            "touch:20,300|22,302", "touch:370,300|370,300", "touch:370,300", "wait:400", "touch:370,300", "wait:400", "touch:195,200|195,200"]))
        self.assertEqual(result["errors"], [])
        states = result["states"]
        start = states[0]["tick"]
        self.assertEqual([states[n]["tick"] - start for n in (1, 2, 3, 5)], [-250, 0, 0, 0])
        self.assertFalse(states[5]["playing"])
        self.assertTrue(states[-1]["playing"])
        full = "globalThis.asked = Number(document.fullscreenElement !== null)"
        [result] = pages(self.page(base, SEVEN.name, "0:10", steps=["double:240,100", "wait:500", full]))
        self.assertEqual((result["errors"], result["states"][-1]["asked"]), ([], 1))

    def test_failing_host(self):
        """A part that cannot be had for some seconds is asked for again, and leaves no hole."""
        real = sorted((CORPUS / "demos").glob("*.demo"), key=lambda f: f.stat().st_size)
        if not real:
            self.skipTest("no recording is long enough without TEEWIRE_CORPUS")
        demo = next(f for f in reversed(real) if len(snapshots(f)) > 2000)
        ticks = [tick for tick, _ in snapshots(demo)]
        last = ticks[-300]
        base = self.serve(self.folder(demo))
        [result] = pages(self.page(base, demo.name, "0:01", steps=["fail:5", f"teewire_viewer.seek({last})", "wait:5000", "wait:4000"]))
        self.assertEqual(result["errors"], [])
        self.assertIn("Failed to fetch", result["states"][3]["note"])
        self.assertEqual(result["states"][-1]["shown"], last)
        self.assertGreater(len(result["states"][-1]["tees"]), 0)

    def test_lost_graphics(self):
        """The browser takes the graphics card away and gives it back: the picture is there again."""
        base = self.serve(self.folder(YARD))
        lose = "(() => { const lost = teewire_viewer.root.getElementById('world').getContext('webgl2').getExtension('WEBGL_lose_context');" \
               "setTimeout(() => lost.restoreContext(), 500); lost.loseContext(); })()"
        [result] = pages(self.page(base, YARD.name, "0:02", steps=[lose, "wait:1500", "colors"]))
        self.assertEqual(result["errors"], [])
        first, *_, last = result["states"]
        self.assertEqual(last["camera"], first["camera"])
        self.assertGreater(last["colors"], first["colors"] // 2)

    def test_lost_while_opening(self):
        """The same while another recording opens, of another protocol: its picture is whole."""
        folder = self.folder(YARD, SEVEN)
        base = self.serve(folder)
        change = f"document.querySelector('teewire-player').setAttribute('src', 'recordings/{SEVEN.name}')"
        lose = "(() => { globalThis.lost = teewire_viewer.root.getElementById('world').getContext('webgl2').getExtension('WEBGL_lose_context');" \
               "const slow = globalThis.fetch; globalThis.fetch = async (...given) => { await new Promise((f) => setTimeout(f, 150)); return slow(...given); };" \
               f"{change}; setTimeout(() => lost.loseContext(), 200); setTimeout(() => lost.restoreContext(), 300); }})()"
        whole, again = pages(self.page(base, SEVEN.name, "0:02", steps=["wait:500", "colors"]),
                             self.page(base, YARD.name, "0:02", steps=[lose, "wait:3000", "colors"]))
        self.assertEqual(whole["errors"] + again["errors"], [])
        self.assertEqual(again["states"][-1]["shown"], whole["states"][-1]["shown"])
        self.assertGreater(again["states"][-1]["colors"], 0.9 * whole["states"][-1]["colors"])

    def test_lists(self):
        """After a choice in a list, keys are the viewer's."""
        base = self.serve(self.folder(SEVEN))
        [result] = pages(self.page(base, SEVEN.name, "0:05", steps=["choose:#speed 0.5", "key:ArrowRight", "key:n"]))
        self.assertEqual(result["errors"], [])
        opened, chosen, jumped, next_one = result["states"]
        self.assertEqual(jumped["tick"], chosen["tick"] + 5 * 50)
        self.assertNotEqual(next_one["selected"], chosen["selected"])

    def test_who_is_not_there(self):
        """A link to a player who is not there shows another one, and says so."""
        base = self.serve(self.folder(SEVEN))
        [result] = pages({"url": f"{base}view.html?demo=recordings/{SEVEN.name}&t=0m5s&player=nobody"})
        self.assertEqual(result["errors"], [])
        [state] = result["states"]
        self.assertEqual(state["note"], "nobody is not in the game at this moment.")
        self.assertGreaterEqual(state["selected"], 0)
        self.assertEqual(state["tick"], state["first"] + 250)

    def test_no_ghost(self):
        """A ghost that cannot be had leaves the recording, and the page says why."""
        base = self.serve(self.folder(SEVEN, YARD))
        none, missing = pages(*(self.page(base, SEVEN.name, f"0:05&ghost=recordings/{name}", steps=["wait:1500"]) for name in (YARD.name, "none.demo")))
        self.assertEqual(none["errors"] + missing["errors"], [])
        self.assertEqual(none["states"][-1]["note"], f"recordings/{YARD.name}: there is no race in it, or none whose clock it shows")
        self.assertRegex(missing["states"][-1]["note"], "recordings/none.demo: .*status 404")
        for result in (none, missing):
            self.assertGreater(len(result["states"][-1]["tees"]), 0)
            self.assertIn("&ghost=recordings/", result["states"][-1]["link"])

    def test_link(self):
        """A link that the page makes opens its moment and its player."""
        base = self.serve(self.folder(SEVEN))
        [first] = pages(self.page(base, SEVEN.name, "0:07.4", steps=["key:n", "key:n"]))
        state = first["states"][-1]
        self.assertIn("t=0:07.4", state["link"])
        self.assertIn("player=", state["link"])
        [second] = pages({"url": state["link"]})
        self.assertEqual(first["errors"] + second["errors"], [])
        again = second["states"][0]
        self.assertEqual(again["tick"], state["tick"])
        self.assertEqual(again["follows"], state["follows"])
        self.assertEqual(again["camera"], state["camera"])
        self.assertFalse(again["playing"])

    def test_link_to_a_place(self):
        """Camera, zoom and speed are in the link, too. Other texts than numbers do not count."""
        base = self.serve(self.folder(SEVEN))
        [first] = pages(self.page(base, SEVEN.name, "0:07", steps=["key:v", "teewire_viewer.camera.x = 800", "teewire_viewer.camera.y = 416",
                                                                   "key:+", "key:ArrowDown"]))
        state = first["states"][-1]
        self.assertIn("&at=25.0,13.0&zoom=0.85&speed=0.5", state["link"])
        self.assertNotIn("player=", state["link"])
        [second, odd] = pages({"url": state["link"]}, {"url": f"{base}view.html?demo=recordings/{SEVEN.name}&t=7&at=1e999,x&zoom=-3&speed=soon"})
        self.assertEqual(first["errors"] + second["errors"] + odd["errors"], [])
        again = second["states"][0]
        self.assertEqual((again["tick"], again["selected"]), (state["tick"], -1))
        self.assertEqual(again["camera"], {"x": 800, "y": 416, "zoom": 0.85})
        self.assertEqual(again["link"], state["link"])
        self.assertEqual(odd["states"][0]["camera"]["zoom"], 1)
        self.assertGreaterEqual(odd["states"][0]["selected"], 0)

    def test_events(self):
        """Chat and kills as a list: searched, jumped to, and the same as the program prints."""
        base = self.serve(self.folder(DM1))
        printed = [json.loads(line) for line in subprocess.run([TEEWIRE, "events", DM1, "--type", "kill,chat"], check=True, capture_output=True, text=True)
                   .stdout.splitlines()]
        kills = [event for event in printed if event["kind"] == "kill"]
        names = [kill["target_name"] for kill in kills]
        victim = max(names, key=names.count)
        wanted = [kill["tick"] for kill in kills if victim in (kill["target_name"], kill.get("client_name"))]
        self.assertGreater(len(wanted), 1)
        [result] = pages(self.page(base, DM1.name, "0:00", steps=[
            "key:/", "choose:#events_kinds kills", f"type:#events input {victim}", "key:Enter", "key:Enter", "key:Shift+Enter",
            "teewire_viewer.root.querySelector('#events li button').click()", "type:#events input nothinglikethat", "axe", "key:Escape"]))
        self.assertEqual(result["errors"], [])
        opened, listed, only_kills, named, one, two, back, clicked, none, _, closed = result["states"]
        self.assertEqual(opened["listed"], [])
        self.assertGreaterEqual(len(listed["listed"]), len(printed))
        self.assertEqual(len(only_kills["listed"]), len(kills))
        self.assertEqual(len(named["listed"]), len(wanted))
        self.assertTrue(all(victim in line for line in named["listed"]))
        self.assertEqual([one["tick"], two["tick"], back["tick"]], [wanted[0], wanted[1], wanted[0]])
        self.assertEqual(clicked["tick"], wanted[0])
        self.assertEqual((none["listed"], closed["tick"]), ([], wanted[0]))

    def test_inputs(self):
        """The keys that a player presses, and the speed."""
        base = self.serve(self.folder(YARD))
        ticks = [(tick, items["character"]) for tick, items in snapshots(YARD) if items.get("character")][20::25]
        [result] = pages(self.page(base, YARD.name, "0:00", steps=["key:i", *(f"teewire_viewer.seek({tick})" for tick, _ in ticks), "key:i"]))
        self.assertEqual(result["errors"], [])
        states = result["states"]
        self.assertEqual((states[0]["inputs"], states[-1]["inputs"]), (None, None))
        for (tick, characters), state in zip(ticks, states[2:-1], strict=True):
            c = characters[str(state["selected"])]
            known = [("left", c["direction"] < 0), ("right", c["direction"] > 0), ("jump", c["jumped"] & 1), ("hook", c["hook_state"] != 0),
                     ("fire", c["attack_tick"] > 0 and 0 <= tick - c["attack_tick"] < 6)]
            speed = math.hypot(c["vel_x"], c["vel_y"]) / 256 / 32 * 50
            self.assertEqual(state["inputs"], [name for name, down in known if down] + [f"{speed:.1f} tiles/s"], tick)

    def test_splits(self):
        """Below the clock, a race's time at a checkpoint, and the difference to the best run."""
        demo = demo_codec.Writer()
        for tick in range(1000, 3000, 2):
            if tick % 250 == 0:
                demo.snapshot(tick, [(4, 0, [tick, 0, 0, 0])])
            else:
                demo.delta(2, [(4, 0, 0, [2, 0, 0, 0])])
            if tick in (1400, 2000):
                demo.message(bytes([27 << 1]) + demo_codec.pack_ints([1234, -56 if tick == 1400 else 7, 0]))
        folder = self.folder()
        (folder / "run.demo").write_bytes(demo.out)
        base = self.serve(folder / "run.demo")
        ticks = [1398, 1450, 1700, 2100]
        [result] = pages({"url": f"{base}?t=0", "steps": [step for tick in ticks for step in (f"teewire_viewer.seek({tick})", "wait:300")]})
        self.assertEqual(result["errors"], [])
        said = [state["clock"] for state in result["states"][2::2]]
        self.assertEqual(said, ["0:27", "0:290:12.34 (−0.56)", "0:34", "0:420:12.34 (+0.07)"])

    def test_looks(self):
        """At the size of a phone and of a screen, with everything open: nothing is too wide, nothing is hard to use."""
        full = CORPUS / "demos/synth_ddnet64.demo"
        demo = full if full.exists() else DM1
        base = self.serve(self.folder(demo))
        asked = []
        for size in ((360, 740), (1440, 900)):
            name = f"{size[0]}x{size[1]}.png"
            asked.append(self.page(base, demo.name, "0:04", steps=["key:b", "axe"], size=size, shot=str(SHOTS / f"board_{name}") if SHOTS else None))
            asked.append(self.page(base, demo.name, "0:04", steps=["key:/", "axe"], size=size, shot=str(SHOTS / f"events_{name}") if SHOTS else None))
        for result in pages(*asked):
            self.assertEqual(result["errors"], [])
            self.assertFalse(result["states"][-1]["wide"])
        if demo == full:
            self.assertEqual(pages(self.page(base, demo.name, "0:04", steps=["key:b", "wait:400"]))[0]["states"][-1]["tables"], 3)

    @unittest.skipUnless(browsers.firefox() and shutil.which("xvfb-run"), "no Firefox, or no Xvfb")
    def test_firefox(self):
        """The same moments in Firefox as in Chromium, by the same keys."""
        if browsers.node_modules(browsers.PUPPETEER) is None:
            self.skipTest("no npm")
        base = self.serve(self.folder(YARD, DM1, SEVEN))
        asked = [self.page(base, demo.name, "0:03", steps=["key:n", "key:.", "key:ArrowRight", "key:+", "key:i", "key:b", "key:/", "wait:1500"])
                 for demo in (YARD, DM1, SEVEN)]
        for ours, theirs in zip(pages(*asked), pages(*asked, browser=browsers.firefox()), strict=True):
            self.assertEqual(theirs["errors"], [])
            for one, other in zip(ours["states"], theirs["states"], strict=True):
                for fact in ("tick", "shown", "selected", "follows", "tees", "camera", "names", "playing"):
                    self.assertEqual(one[fact], other[fact], fact)
            # Texts are written some times a second.
            for fact in ("listed", "inputs", "clock", "label"):
                self.assertEqual(ours["states"][-1][fact], theirs["states"][-1][fact], fact)
            self.assertGreater(theirs["states"][0]["colors"], 50)

    def test_damaged(self):
        """Everything before damage is shown, with the damage and its position; other files are refused in words."""
        folder = self.folder(YARD)
        whole = DM1.read_bytes()
        (folder / "cut.demo").write_bytes(whole[:len(whole) * 2 // 3])
        broken = bytearray(whole)
        broken[len(whole) // 2:len(whole) // 2 + 3000] = b"U" * 3000
        (folder / "broken.demo").write_bytes(broken)
        map_broken = bytearray(YARD.read_bytes())
        map_broken[4000:5000] = b"\x00" * 1000
        (folder / "map.demo").write_bytes(map_broken)
        subprocess.run([TEEWIRE, "compress", DM1, "-o", folder / "cut.tda"], check=True, stderr=subprocess.DEVNULL)
        os.truncate(folder / "cut.tda", (folder / "cut.tda").stat().st_size * 2 // 3)
        base = self.serve(folder)
        seek = "teewire_viewer.seek(teewire_viewer.show.last_tick)"
        cut, archive, broken, bad_map, none = pages(
            *(self.page(base, name, "0:00", steps=[seek, "wait:500"]) for name in ("cut.demo", "cut.tda")), self.page(base, "broken.demo", "0:00", steps=[
                f"teewire_viewer.seek({752 + tick})" for tick in range(0, 1500, 250)] + ["wait:300"]),
            self.page(base, "map.demo", "0:01"), self.page(base, "none.demo"))
        for result in (cut, archive, broken, bad_map, none):
            self.assertEqual(result["errors"], [], result["url"])
        self.assertGreater(len(cut["states"][0]["tees"]), 0)
        self.assertRegex(cut["states"][-1]["note"], r"byte \d+: ")
        self.assertGreater(len(archive["states"][0]["tees"]), 0)
        self.assertRegex(archive["states"][-1]["note"], r"byte \d+")
        self.assertRegex(broken["states"][-1]["note"], r"byte \d+: ")
        self.assertRegex(none["states"][0]["problem"], "none.demo cannot be shown\n+.*status 404")
        self.assertIsNone(bad_map["states"][0]["problem"])
        self.assertIn("map: ", bad_map["states"][0]["note"])

    def test_any_host(self):
        """A host without ranges and without an index is enough; other files are refused in words."""
        folder = self.folder(*BUNDLE.iterdir(), SEVEN)
        (folder / "text.demo").write_text("no demo at all\n" * 100)
        (folder / "empty.demo").write_bytes(b"")
        handler = functools.partial(Quiet, directory=folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        base = f"http://127.0.0.1:{server.server_port}/"
        kinds = "globalThis.asked = teewire_viewer.show.events.filter(({ kind }) => kind === 'chat').length"
        shown, text, empty, none = pages({"url": f"{base}?demo={SEVEN.name}&t=0:10", "steps": [kinds]}, {"url": f"{base}?demo=text.demo"},
                                         {"url": f"{base}?demo=empty.demo"}, {"url": base})
        for result in (shown, text, empty, none):
            self.assertEqual(result["errors"], [], result["url"])
        state = shown["states"][0]
        self.assertEqual(state["tick"], state["first"] + 500)
        self.assertGreater(len(state["tees"]), 0)
        self.assertGreater(shown["states"][-1]["asked"], 0)  # chat for all, which 0.7 numbers as teams are
        self.assertRegex(text["states"][0]["problem"], "text.demo cannot be shown\n+byte 0: this is not a demo")
        self.assertIn("empty.demo cannot be shown", empty["states"][0]["problem"])
        self.assertIn("No recording", none["states"][0]["problem"])

    def test_hostile(self):
        """Files that were made to do harm leave the page alive and able to say something."""
        found = [f for f in sorted((CORPUS.parent / "findings").glob("*.demo")) if f.stat().st_size < 3_000_000][::3][:12]
        if not found:
            self.skipTest("there are no such files")
        base = self.serve(self.folder(*found))
        for result in pages(*(self.page(base, f.name, steps=["wait:200"]) for f in found)):
            with self.subTest(result["url"]):
                self.assertEqual(result["errors"], [])
                state = result["states"][-1]
                self.assertTrue(state["problem"] or state["shown"] is not None)

    def test_hostile_pictures(self):
        """A skin or picture that cannot be used is as if it were not there."""
        skin = next(iter(snapshots(YARD)[0][1]["client_info"].values()))["skin"]
        good = png(256, 128)
        bad = {"text": b"no picture", "empty": b"", "cut": good[:len(good) // 2], "small": png(1, 1), "odd": png(7, 3),
               "long": png(30000, 1), "bomb": png(12000, 12000), "sizes": good[:16] + b"\xff" * 8 + good[24:]}
        urls = []
        for name, content in bad.items():
            data = self.folder()
            (data / "skins").mkdir()
            for path in ("game.png", "emoticons.png", f"skins/{skin}.png"):
                (data / path).write_bytes(content)
            urls.append(f"{self.serve(YARD, '--data', data)}?t=0:02#{name}")
        for result in pages(*({"url": url, "steps": ["globalThis.asked = teewire_viewer.settled", "wait:300"]} for url in urls)):
            with self.subTest(result["url"]):
                self.assertEqual(result["errors"], [])
                state = result["states"][-1]
                self.assertIsNone(state["problem"])
                self.assertGreater(len(state["tees"]), 0)

    def relay(self, source, *options):
        relay = Relay(TEEWIRE, source, *options)
        self.addCleanup(relay.process.stderr.close)
        self.addCleanup(relay.process.stdout.close)
        self.addCleanup(relay.process.wait)
        self.addCleanup(relay.process.send_signal, signal.SIGINT)
        return relay

    # The speed of grenades, as the viewer has it.
    SPEED = "asked = teewire_viewer.show.tuning_at(teewire_viewer.tick)?.[24] / 100 || -1"

    def tuned(self, ticks):
        """A recording of a minute whose grenades fly as fast as its ticks are high, from some of them on."""
        demo = demo_codec.Writer()
        for tick in range(1000, 4000, 2):
            demo.snapshot(tick, [(5, 0, [tick, 0, 0, 0])])
            if tick in ticks:
                demo.message(bytes([6 << 1]) + demo_codec.pack_ints([100 * tick] * 32))
        file = self.folder() / "tuned.demo"
        file.write_bytes(demo.out)
        return file

    def test_tuning(self):
        """After a seek, forward or back, projectiles fly as the last tuning before says."""
        file = self.tuned({1500, 2500})
        base = self.serve(file)
        ticks = [3500, 2000, 1200, 2600]
        steps = ["wait:500"] + [step for tick in ticks for step in (f"teewire_viewer.seek({tick})", "wait:300", self.SPEED)]
        [result] = pages({"url": base, "steps": steps})
        self.assertEqual(result["errors"], [])
        self.assertEqual([state["asked"] for state in result["states"][4::3]], [2500, 1500, -1, 2500])

    def test_live_tuning(self):
        """A viewer who comes late knows the tuning from before."""
        relay = self.relay(self.tuned({1000}), "--speed", "1")
        while relay.sync()["recordings"][0]["last"] < 3:
            time.sleep(0.2)
        [result] = pages({"url": self.serve(relay.address), "steps": ["wait:1500", self.SPEED]})
        self.assertEqual(result["errors"], [])
        self.assertGreater(result["states"][-1]["tick"], 1100)
        self.assertEqual(result["states"][-1]["asked"], 1000)

    def test_silent(self):
        """Where nothing comes any more, the page says so, and shows the last that there was."""
        relay = self.relay(YARD)
        base = self.serve(relay.address)
        [result] = pages({"url": base, "steps": ["wait:15000"]})
        self.assertEqual(result["errors"], [])
        self.assertIn("Nothing new comes", result["states"][-1]["note"])
        self.assertGreater(len(result["states"][-1]["tees"]), 0)

    def test_live(self):
        """A broadcast is followed, with a lag of at most three seconds."""
        relay = self.relay(YARD, "--loop")
        base = self.serve(relay.address)
        # The relay's data is at most a second old.
        ask = f"(async () => {{ asked = (await (await fetch('{relay.address}/sync')).json()).tick - teewire_viewer.tick; }})()"
        [result] = pages({"url": base, "steps": ["wait:1500", "wait:6000", ask], "shot": str(SHOTS / "live.png") if SHOTS else None})
        self.assertEqual(result["errors"], [])
        states = result["states"]
        self.assertTrue(all(state["live"] for state in states))
        for state in states[1:]:
            self.assertLess(state["last"] - state["tick"], 150, states)
            self.assertGreater(len(state["tees"]), 0)
        self.assertNotEqual(states[1]["tick"], states[2]["tick"])
        self.assertLess(states[3]["asked"], 100)
        self.assertNotIn("Nothing new comes", "".join(state["note"] for state in states))
        self.assertGreater(states[3]["asked"], -50)


if __name__ == "__main__":
    MODULES = browsers.needed(browsers.PLAYWRIGHT, browsers.AXE)
    if SHOTS:
        SHOTS.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[5:]])
