#!/usr/bin/env python3
"""`teewire relay`: fragments that join to what the source had, whoever fetches them, whenever and however.
Usage: test_relay.py TEEWIRE FIXTURES"""
import contextlib
import functools
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

import demo_codec
from in_folder import InFolder
from limits import STUCK
from made_relay import Relay, Viewer
from made_server import CHAT, MapChanger, Server
from program import TEEWIRE, run

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
DEMOS = {name: FIXTURES / "demos" / f"{name}.demo" for name in ("ddnet_yard", "ddnet_dm1", "teeworlds07_dm1")}
FAST = ("--speed", "20")


def states(file, types=None):
    """The items of the snapshots by tick, whatever their order; only of these types."""
    code, out, err = run("dump", "--format", "ndjson", file)
    assert code == 0, err
    lines = (json.loads(line) for line in out.splitlines())
    return {one["tick"]: json.dumps({type: own for type, own in one["items"].items() if types is None or type in types},
                                    sort_keys=True) for one in lines if "items" in one}


# 0.7's clients record as items what its servers say in messages.
TYPES_07 = {"character", "player_info", "game_data", "projectile", "laser", "pickup", "flag", "game_data_team", "death",
            "game_data_flag", "sound_world", "spawn", "damage", "hammer_hit", "explosion", "spectator_info"}
TYPES = {"ddnet_yard": None, "ddnet_dm1": None, "teeworlds07_dm1": TYPES_07}


def until(event):
    deadline = time.monotonic() + STUCK
    while not event():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def over(index):
    return all(one["ended"] for one in index["recordings"])


class RelayTest(InFolder):
    def relay(self, source, *options, **more):
        relay = Relay(TEEWIRE, source, *options, folder=self.folder, **more)
        self.addCleanup(relay.end, "kill")
        return relay

    def watch(self, source, *options):
        relay = self.relay(source, *FAST, *options)
        viewer = Viewer(relay)
        viewer.look_until(over)
        return relay, viewer


class Fragments(RelayTest):
    def test_joined_they_are_the_demo(self):
        for name, demo in DEMOS.items():
            with self.subTest(name):
                relay, viewer = self.watch(demo, "--record", f"{name}.demo")
                whole = self.save("joined.demo", viewer.joined())
                self.assertEqual(run("verify", whole)[0], 0)
                self.assertEqual(states(whole, TYPES[name]), states(demo, TYPES[name]))
                self.assertEqual(relay.end(), (0, relay.said))
                self.assertEqual(run("diff", whole, self.folder / f"{name}.demo")[:2], (0, ""))
                if name != "teeworlds07_dm1":
                    self.assertEqual(run("diff", demo, whole)[:2], (0, ""))

    def test_any_run_of_them_is_a_demo(self):
        demo = DEMOS["ddnet_yard"]
        _, viewer = self.watch(demo)
        expected = states(demo)
        numbers = sorted(viewer.fragments[viewer.order[0]])
        self.assertGreaterEqual(len(numbers), 5)
        found = {}
        for first, last in ((0, 1), (1, 2), (2, 5), (len(numbers) - 2, len(numbers))):
            part = self.save("part.demo", viewer.joined(0, numbers[first:last]))
            self.assertEqual(run("verify", part)[0], 0)
            of_part = states(part)
            self.assertEqual({tick: expected[tick] for tick in of_part}, of_part)
            found.update(of_part)
        # One second of ticks each, and each begins where the one before ends.
        for n in numbers:
            own = list(states(self.save("one.demo", viewer.joined(0, [n]))))
            self.assertLess(own[-1] - own[0], 50)
            found.update((tick, expected[tick]) for tick in own)
        self.assertEqual(found, expected)

    def test_start_and_map(self):
        demo = DEMOS["ddnet_yard"]
        relay, viewer = self.watch(demo)
        told = viewer.about[viewer.order[0]]["map"]
        status, headers, body = relay.get("/" + told["path"])
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, told["sha256"]))
        self.assertEqual((len(body), told["path"]), (told["size"], f"map/{told['sha256']}.map"))
        self.assertIn("immutable", headers["Cache-Control"])
        run("map", "extract", demo, "-o", self.folder / "own.map")
        self.assertEqual((self.folder / "own.map").read_bytes(), body)

    def test_each_round_is_another_recording(self):
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "50", "--loop", "--window", "30")
        viewer = Viewer(relay)
        viewer.look_until(lambda index: len(index["recordings"]) >= 3)
        self.assertEqual(len(set(viewer.order)), len(viewer.order))
        for which in 0, 1:
            self.assertEqual(run("diff", DEMOS["ddnet_yard"], self.save("x.demo", viewer.joined(which)))[:2], (0, ""))
        # The next one is announced with its first fragment.
        self.assertTrue(all(one["ended"] for one in relay.sync()["recordings"][:-1]))

    def test_each_round_is_another_demo(self):
        """Which is complete when the round is over, and costs nothing from then on."""
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "50", "--loop", "--record", "x.demo")
        def open_files():
            return len(os.listdir(f"/proc/{relay.process.pid}/fd"))
        Viewer(relay).look_until(lambda index: len(self.files()) >= 3)
        few = open_files()
        Viewer(relay).look_until(lambda index: len([f for f in self.files() if f.endswith(".demo")]) >= 12)
        self.assertLessEqual(open_files(), few + 2)
        self.assertEqual(run("diff", DEMOS["ddnet_yard"], self.folder / "x_5.demo")[:2], (0, ""))

    def test_old_ones_go(self):
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "50", "--loop", "--window", "1", "--dir", "live")
        viewer = Viewer(relay)
        viewer.look_until(lambda index: viewer.order[0] not in [one["id"] for one in index["recordings"]])
        first = viewer.order[0]
        self.assertEqual(relay.get(f"/{first}/start")[0], 404)
        self.assertEqual(relay.get(f"/{first}/0.frag")[0], 404)
        self.assertFalse((self.folder / "live" / first).exists())

    def test_what_was_left_behind_goes(self):
        old = self.folder / "live" / "0123456789abcdef"
        other = self.folder / "live" / "holiday"
        (self.folder / "live" / "map").mkdir(parents=True)
        old_map = self.folder / "live" / "map" / ("0" * 64 + ".map")
        for folder in old, other:
            folder.mkdir()
            (folder / "start").write_bytes(b"")
            (folder / "0.frag").write_bytes(b"")
        old_map.write_bytes(b"")
        for path in old / "start", old / "0.frag", old, old_map, other / "start", other:
            os.utime(path, (1, 1))
        relay = self.relay(DEMOS["ddnet_yard"], "--dir", "live", "--window", "5")
        Viewer(relay).look_until(lambda index: True)
        self.assertFalse(old.exists())
        self.assertFalse(old_map.exists())
        self.assertTrue((other / "0.frag").exists())

    def test_the_folder_holds_the_same(self):
        relay, viewer = self.watch(DEMOS["ddnet_yard"], "--dir", "live")
        name = viewer.order[0]
        folder = self.folder / "live"
        self.assertEqual((folder / name / "start").read_bytes(), viewer.starts[name])
        for n, body in viewer.fragments[name].items():
            self.assertEqual((folder / name / f"{n}.frag").read_bytes(), body)
        self.assertEqual(len(list((folder / name).iterdir())), 1 + len(viewer.fragments[name]))
        index = json.loads((folder / "sync").read_bytes())
        self.assertEqual(index["recordings"], relay.sync()["recordings"])
        self.assertTrue((folder / index["recordings"][0]["map"]["path"]).is_file())

    def test_a_folder_without_a_server(self):
        relay = self.relay(DEMOS["ddnet_yard"], *FAST, "--dir", "live", http=False)
        code, said = relay.process.wait(STUCK), relay.process.stderr.read()
        self.assertEqual(code, 0, said)
        index = json.loads((self.folder / "live/sync").read_bytes())
        [one] = index["recordings"]
        parts = [(self.folder / "live" / one["id"] / f"{n}.frag").read_bytes() for n in range(one["last"] + 1)]
        joined = self.save("x.demo", (self.folder / "live" / one["start"]).read_bytes() + b"".join(parts))
        self.assertEqual(run("diff", DEMOS["ddnet_yard"], joined)[:2], (0, ""))

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "live").mkdir()
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "5", "--dir", "live")
        viewer = Viewer(relay)
        viewer.look_until(lambda index: index["recordings"][0]["last"] >= 1)
        name = viewer.order[0]
        for file in (self.folder / "live" / name).iterdir():
            file.unlink()
        (self.folder / "live" / name).rmdir()
        (self.folder / "live" / name).write_bytes(b"") # in its place
        last = relay.sync()["recordings"][0]["last"]
        viewer.look_until(lambda index: index["recordings"][0]["last"] >= last + 2)
        failures = [line for line in relay.get("/metrics")[2].decode().splitlines() if line.startswith("teewire_relay_folder_f")]
        self.assertGreater(int(failures[0].split()[1]), 0)
        code, said = relay.end()
        self.assertEqual(code, 0)
        self.assertIn(f"live/{name}", said)


    def test_a_demo_that_cannot_be_written(self):
        relay = self.relay(DEMOS["ddnet_yard"], *FAST, "--record", "/dev/full")
        viewer = Viewer(relay)
        viewer.look_until(over)
        self.assertEqual(run("diff", DEMOS["ddnet_yard"], self.save("x.demo", viewer.joined()))[:2], (0, ""))
        code, said = relay.end()
        self.assertEqual(code, 3)
        self.assertEqual(said.count("No space left"), 1, said)


class Http(RelayTest):
    def test_what_caches_may_keep(self):
        relay, viewer = self.watch(DEMOS["ddnet_yard"])
        name = viewer.order[0]
        for path, cache in ((f"/{name}/start", "immutable"), (f"/{name}/0.frag", "immutable"), ("/sync", "max-age=1"),
                            ("/metrics", "no-store"), ("/nothing", "no-store"), (f"/{name}/99999.frag", "no-store")):
            status, headers, body = relay.get(path)
            self.assertEqual(status, 404 if "no" in path or "9999" in path else 200)
            self.assertIn(cache, headers["Cache-Control"])
            self.assertEqual(headers["Access-Control-Allow-Origin"], "*")
            head = relay.get(path, "HEAD")
            self.assertEqual((head[0], head[2]), (status, b""))
            if status == 200:
                self.assertEqual(int(headers["Content-Length"]), len(body))
                self.assertEqual(relay.get(path + "?x=1")[0], 200)
        status, headers, body = relay.get("/sync", "OPTIONS")
        self.assertEqual((status, body, headers["Access-Control-Allow-Methods"], headers["Access-Control-Allow-Headers"]),
                         (204, b"", "GET, HEAD, OPTIONS", "*"))
        status, headers, body = relay.get("/sync", "DELETE")
        self.assertEqual((status, headers["Content-Type"], headers["Allow"]), (405, "text/plain", "GET, HEAD, OPTIONS"))
        self.assertNotEqual(body, b"")

    def test_names_that_are_not_there(self):
        relay, viewer = self.watch(DEMOS["ddnet_yard"])
        name = viewer.order[0]
        for path in ("//sync", "/../sync", f"/{name}", f"/{name}/", f"/{name}/00.frag", f"/{name}/-1.frag", f"/{name}/.frag",
                     f"/{name}/18446744073709551616.frag", f"/{name}/0.fragx", "/map/", "/map/.map", "/" + "a" * 4000):
            self.assertEqual(relay.get(path)[0], 404, path)

    def test_the_next_fragment_is_waited_for(self):
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "1")
        viewer = Viewer(relay)
        viewer.look_until(lambda index: True)
        name = viewer.order[0]
        began = time.monotonic()
        for n in range(1, 4):
            self.assertEqual(relay.get(f"/{name}/{n}.frag")[0], 200)
        self.assertGreater(time.monotonic() - began, 1.5)
        # The one after the next is not complete yet.
        last = relay.sync()["recordings"][0]["last"]
        self.assertEqual(relay.get(f"/{name}/{last + 3}.frag")[0], 404)

    def test_the_page_for_overlays(self):
        status, headers, body = self.relay(DEMOS["ddnet_yard"]).get("/")
        self.assertEqual((status, headers.get_content_type()), (200, "text/html"))
        self.assertEqual(body, (FIXTURES.parent / "replay/web/overlay.html").read_bytes())

    def test_strange_requests(self):
        relay, viewer = self.watch(DEMOS["ddnet_yard"])
        for request, status in ((b"nonsense\r\n\r\n", 400), (b"GET /sync HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431),
                                (b"POST /sync HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 413),
                                (b"DELETE /sync HTTP/1.1\r\n\r\n", 405),
                                (b"GET /sync HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 413),
                                # RFC 9112, 3.2: a host must be named once, and any server understands a whole address.
                                (b"GET /sync HTTP/1.1\r\n\r\n", 400), (b"GET /sync HTTP/1.0\r\n\r\n", 200),
                                (b"GET /sync HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
                                (b"GET http://a.example/sync HTTP/1.1\r\nHost: b\r\n\r\n", 200),
                                (b"GET HTTP://a.example?sync HTTP/1.1\r\nHost: b\r\n\r\n", 200)):
            with socket.create_connection(("127.0.0.1", relay.port), timeout=STUCK) as link:
                link.sendall(request)
                self.assertEqual(int(link.recv(4096).split()[1]), status, request[:40])
        self.assertEqual(relay.get("/sync")[0], 200)

    def test_head_of_a_feed(self):
        """Is a header and nothing else, as of any other page."""
        relay = self.relay(DEMOS["ddnet_yard"])
        status, headers, body = relay.get("/events", "HEAD")
        self.assertEqual((status, headers["Content-Type"], body), (200, "text/event-stream", b""))
        with socket.create_connection(("127.0.0.1", relay.port), timeout=STUCK) as link:
            link.sendall(b"HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n")
            everything = b"".join(iter(lambda: link.recv(4096), b""))
        self.assertTrue(everything.endswith(b"\r\n\r\n"))

    def test_limits(self):
        relay = self.relay(DEMOS["ddnet_yard"], *FAST, "--max-connections-per-ip", "3", "--max-requests-per-ip", "20")
        Viewer(relay).look_until(over)
        time.sleep(1.1)
        links = [socket.create_connection(("127.0.0.1", relay.port), timeout=STUCK) for _ in range(4)]
        self.assertEqual(links[3].recv(10), b"") # one too many
        for link in links:
            link.close()
        time.sleep(0.2)
        found = [relay.get("/metrics")[0] for _ in range(60)]
        self.assertIn(429, found)
        self.assertGreaterEqual(found.count(200), 15)

    def test_events(self):
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "4")
        link = http.client.HTTPConnection("127.0.0.1", relay.port, timeout=STUCK)
        self.addCleanup(link.close)
        link.request("GET", "/events")
        answer = link.getresponse()
        self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
        told, players = [], []
        kind = "message"
        while len(told) < 8 or len(players) < 2:
            line = answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                (told if kind == "message" else players).append(json.loads(line[6:]))
            else:
                kind = "message"
        expected = [json.loads(line) for line in run("events", DEMOS["ddnet_yard"], "--format", "ndjson")[1].splitlines()]
        known = [{k: v for k, v in one.items() if k not in ("file", "seconds")} for one in expected]
        for one in told:
            self.assertIn({k: v for k, v in one.items() if k != "seconds"}, known)
        self.assertTrue(all({"id", "name", "clan", "team"} <= set(one) for list in players for one in list["players"]))

    def test_who_reads_slowly_holds_up_nobody(self):
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "4", "--loop")
        slow = []
        for _ in range(20):
            link = socket.socket()
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            link.connect(("127.0.0.1", relay.port))
            self.addCleanup(link.close)
            link.sendall(b"GET /events HTTP/1.1\r\n\r\n" if len(slow) % 2 else b"GET /sy") # and no more
            slow.append(link)
        viewer = Viewer(relay)
        began = time.monotonic()
        viewer.look_until(lambda index: sum(len(all) for all in viewer.fragments.values()) >= 10)
        self.assertLess(time.monotonic() - began, 30)


class Sources(RelayTest):
    def test_a_relay_of_a_relay(self):
        for name, demo in DEMOS.items():
            with self.subTest(name):
                first = self.relay(demo, "--speed", "1", "--window", "600")
                second = self.relay(first.address, "--record", f"{name}.demo")
                third = self.relay(second.address)
                viewer = Viewer(third)
                viewer.look_until(lambda index: index["recordings"][0]["last"] >= 2)
                second.end()
                self.assertEqual(run("verify", self.folder / f"{name}.demo")[0], 0)
                expected = states(demo, TYPES[name])
                for file in self.folder / f"{name}.demo", self.save("third.demo", viewer.joined()):
                    found = states(file, TYPES[name])
                    ticks = sorted(found)
                    self.assertGreater(len(ticks), 40)
                    # Everything from the first to the last.
                    self.assertEqual(found, {t: s for t, s in expected.items() if ticks[0] <= t <= ticks[-1]})
                first.end(), third.end()

    def test_messages_that_still_hold(self):
        """A viewer who comes late has the message of the day from before, once."""
        demo = demo_codec.Writer()
        for tick in range(1000, 3000, 2):
            demo.snapshot(tick, [(5, 0, [tick, 0, 0, 0])])
            if tick == 1000:
                demo.message(bytes([1 << 1]) + b"remember this\0")
        made = self.save("made.demo", demo.out)
        first = self.relay(made, "--speed", "1", "--window", "600", "--dir", "live")
        early = Viewer(first)
        early.look_until(lambda index: index["recordings"][0]["last"] >= 1)
        second = self.relay(first.address, "--record", "seen.demo")
        late = Viewer(second)
        late.look_until(lambda index: index["recordings"] and index["recordings"][0]["last"] >= 1)
        second.end()
        first.end()
        days = [json.loads(line) for line in run("events", "--type", "motd", self.folder / "seen.demo")[1].splitlines()]
        self.assertEqual([e["text"] for e in days], ["remember this"])
        self.assertGreater(days[0]["tick"], 1000)
        # The folder has the same for each fragment but the first, which has the message itself.
        folder = self.folder / "live" / early.order[0]
        stated = {int(f.stem): f.read_bytes() for f in folder.glob("*.state")}
        self.assertEqual(sorted(stated), sorted({int(f.stem) for f in folder.glob("*.frag")} - {0}))
        self.assertEqual(len(set(stated.values())), 1)

    def test_a_folder_behind_any_web_server(self):
        """One that ends the connection after each answer."""
        demo = DEMOS["ddnet_yard"]
        self.relay(demo, "--loop", "--dir", "live", "--window", "600", http=False)
        until((self.folder / "live/sync").exists)

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.folder)) as web:
            threading.Thread(target=web.serve_forever).start()
            self.addCleanup(web.shutdown)
            relay = self.relay(f"http://127.0.0.1:{web.server_port}/live")
            viewer = Viewer(relay)
            viewer.look_until(lambda index: len(index["recordings"]) >= 2 and index["recordings"][1]["last"] >= 1)
            self.assertEqual(relay.end()[0], 0)
            web.shutdown()
        self.assertNotIn("trying again", relay.said)
        expected = states(demo)
        for which in 0, 1:
            found = states(self.save("x.demo", viewer.joined(which)))
            ticks = sorted(found)
            self.assertGreater(len(ticks), 20)
            self.assertEqual(found, {t: s for t, s in expected.items() if ticks[0] <= t <= ticks[-1]})

    def test_what_is_no_longer_there(self):
        """A fragment that is the oldest one is not lost; one that is older is."""
        source = self.relay(DEMOS["ddnet_yard"], *FAST, "--dir", "live", "--window", "600", http=False)
        folder = self.folder / "live"
        until(lambda: (folder / "sync").exists() and over(json.loads((folder / "sync").read_text())))
        source.end()
        index = json.loads((folder / "sync").read_text())
        only = index["recordings"][0]
        windows = [{"first": 0, "last": 0, "ended": False}, {"first": 1, "last": 2, "ended": False},
                   {"first": 4, "last": 4, "ended": True}]
        self.assertEqual((only["first"], only["last"]), (0, 4))
        expected = {}
        for number in 0, 1, 2, 4:
            here = folder / only["id"]
            expected |= states(self.save("one.demo", (here / "start").read_bytes() + (here / f"{number}.frag").read_bytes()))
        asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/sync":
                    if f"/{only['id']}/{windows[0]['last']}.frag" in asked and len(windows) > 1:
                        del windows[0]
                    text = json.dumps({**index, "recordings": [{**only, **windows[0]}]}).encode()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                elif self.path.endswith(".frag") and \
                        not windows[0]["first"] <= int(pathlib.Path(self.path).stem) <= windows[0]["last"]:
                    self.send_error(404)
                else:
                    asked.append(self.path)
                    super().do_GET()

            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as web:
            threading.Thread(target=web.serve_forever).start()
            self.addCleanup(web.shutdown)
            relay = self.relay(f"http://127.0.0.1:{web.server_port}", "--record", "seen.demo")
            until(lambda: f"teewire_relay_last_tick {max(expected)}\n" in relay.get("/metrics")[2].decode())
            said = relay.get("/metrics")[2].decode()
            relay.end()
            web.shutdown()
        self.assertEqual([pathlib.Path(path).name for path in asked if path.endswith(".frag")],
                         ["0.frag", "1.frag", "2.frag", "4.frag"])
        self.assertEqual(states(self.folder / "seen.demo"), expected)
        self.assertIn("teewire_relay_lost_snapshots_total 1\n", said)

    def test_a_source_that_comes_back(self):
        first = self.relay(DEMOS["ddnet_yard"], "--speed", "2")
        second = self.relay(first.address)
        viewer = Viewer(second)
        viewer.look_until(lambda index: True)
        port = first.port
        first.end("kill")
        again = Relay(TEEWIRE, DEMOS["ddnet_dm1"], "--speed", "2", "--http", str(port), "--bind", "127.0.0.1", http=False)
        self.addCleanup(again.end, "kill")
        viewer.look_until(lambda index: len(viewer.order) == 2)
        viewer.look_until(lambda index: index["recordings"][-1]["last"] >= 1)
        for which, name in enumerate(("ddnet_yard", "ddnet_dm1")):
            found, expected = states(self.save("x.demo", viewer.joined(which))), states(DEMOS[name])
            self.assertEqual(found, {tick: expected[tick] for tick in found})
        second.end()
        self.assertIn("trying again", second.said)
        self.assertIn("there again", second.said)

    def test_a_server_of_lies(self):
        """Whatever is there instead of a broadcast."""
        answers = [b"", b"\0" * 100, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                   b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"[" * 100000,
                   b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]
        id = "0123456789abcdef"
        for wrong in ({}, {"recordings": 1}, {"recordings": [1]}, {"recordings": [{"id": "../../etc"}]},
                      {"recordings": [{"id": id, "protocol": "ddnet", "first": -1, "last": 2, "ended": False}]},
                      {"recordings": [{"id": id, "protocol": "ddnet", "first": 5, "last": 2, "ended": False}]},
                      {"recordings": [{"id": id, "protocol": "ddnet", "first": 1, "last": 1, "ended": False,
                                       "map": {"sha256": "x", "size": 1e30, "name": 5}}]}):
            text = json.dumps(wrong).encode()
            answers.append(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
        with socket.create_server(("127.0.0.1", 0)) as server:
            relay = self.relay(f"http://127.0.0.1:{server.getsockname()[1]}")
            server.settimeout(30)
            for answer in answers[:6]: # its patience grows
                link, _ = server.accept()
                with link:
                    link.settimeout(10)
                    link.recv(4096)
                    link.sendall(answer)
            self.assertEqual(relay.get("/metrics")[0], 200)
            self.assertEqual(relay.end()[0], 0)

    @contextlib.contextmanager
    def upstream(self, page):
        """The address of a host whose answers are page(path); None is one that is not there."""
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                text = page(self.path)
                self.send_response(404 if text is None else 200)
                self.send_header("Content-Length", str(len(text or b"")))
                self.end_headers()
                self.wfile.write(text or b"")

            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
            threading.Thread(target=web.serve_forever).start()
            try:
                yield f"http://127.0.0.1:{web.server_port}"
            finally:
                web.shutdown()

    @staticmethod
    def index(last, **more):
        return json.dumps({"recordings": [{"id": "0123456789abcdef", "protocol": "ddnet", "first": 0, "last": last, "ended": False,
                                           **more}]}).encode()

    def test_a_map_with_another_sum(self):
        """Is not taken for the map that was announced."""
        start = demo_codec.Writer().out
        demo = demo_codec.Writer()
        demo.snapshot(1000, [(5, 0, [1, 0, 0, 0])])
        for sum, wrong in ((hashlib.sha256(b"hello").hexdigest(), False), ("0" * 64, True)):
            map = {"name": "made", "crc": "00000000", "size": 5, "sha256": sum, "path": f"map/{sum}.map"}
            pages = {"/sync": self.index(0, map=map), "/0123456789abcdef/start": start,
                     "/0123456789abcdef/0.frag": demo.out[len(start):], f"/map/{sum}.map": b"hello"}
            with self.upstream(pages.get) as address:
                relay = self.relay(address)
                until(lambda: (relay.sync() or {"recordings": []})["recordings"])
                self.assertEqual(relay.get(f"/map/{sum}.map")[0], 404 if wrong else 200)
                relay.end()
            self.assertEqual("the map made is missing, or is another one" in relay.said, wrong)

    def test_a_server_of_endless_answers(self):
        """Headers, trailers and extensions of chunks without end take no memory to speak of."""
        line = b"X: " + b"A" * 60000 + b"\r\n"
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for start, endless in ((b"HTTP/1.1 200 OK\r\n", line), (chunked + b"0\r\n", line), (chunked, b"1;" + b"A" * 60000),
                               (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)):
            with self.subTest(endless[:10]), socket.create_server(("127.0.0.1", 0)) as server:
                relay = self.relay(f"http://127.0.0.1:{server.getsockname()[1]}")
                server.settimeout(STUCK)
                link, _ = server.accept()
                with link, contextlib.suppress(OSError):
                    link.settimeout(5)
                    link.sendall(start)
                    for _ in range(3000):
                        link.sendall(endless)
                    self.fail("it takes everything")
                status = pathlib.Path(f"/proc/{relay.process.pid}/status").read_text()
                self.assertLess(int(re.search(r"VmHWM:\s*(\d+)", status)[1]) >> 10, 120)  # MiB, with sanitizers
                self.assertEqual(relay.end()[0], 0)
                self.assertIn("trying again", relay.said)

    def test_a_server_without_pace(self):
        """Ticks come no faster than in a game, whatever a server sends and however its ticks jump."""
        for step in 1, 10 ** 6:
            with self.subTest(step=step):
                self.follow_without_pace(step)

    def follow_without_pace(self, step):
        start = demo_codec.Writer().out

        def fragment(number):
            demo = demo_codec.Writer()
            for n in range(50):
                demo.snapshot(1000 + step * (50 * number + n), [(5, 0, [n, 0, 0, 0])])
            return demo.out[len(start):]

        def page(path):
            if path.endswith(".state"):
                return None
            number = re.search(r"(\d+)\.frag", path)
            return fragment(int(number[1]) % 30) if number else self.index(0) if path == "/sync" else start

        with self.upstream(page) as address:
            relay, begun = self.relay(address), time.monotonic()
            time.sleep(4)
            self.assertEqual(relay.end()[0], 0)
            took = time.monotonic() - begun
        shown = int(re.search(r"^(\d+) snapshots?, ", relay.said, re.MULTILINE)[1])
        self.assertGreater(shown, 50)
        self.assertLess(shown, 50 * took + 50)

    def test_a_server_of_endless_maps(self):
        """No more demos than ten in a minute; the relay itself goes on."""
        with MapChanger(10 ** 6) as server:
            relay = self.relay(server.address, "--protocol", "0.6", "--record", "x.demo")
            relay.process.stderr.readline()
            until(lambda: len([f for f in self.files() if f.endswith(".demo")]) >= 10)
            before = server.tick
            until(lambda: server.tick >= before + 40)
            self.assertEqual(relay.end()[0], 0)
        self.assertEqual(len([f for f in self.files() if f.endswith(".demo")]), 10)
        self.assertIn("x.demo: waiting, as the map changes too often: 10 demos in a minute\n", relay.said)
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "50", "--loop", "--record", "y.demo", "--max-demos", "2")
        until(lambda: (relay.sync() or {"recordings": []})["recordings"][2:])
        self.assertEqual(relay.end()[0], 0)
        self.assertEqual([f for f in self.files() if f.startswith("y")], ["y.demo", "y_2.demo"])
        self.assertIn("y.demo: recording has ended, as the limit of --max-demos is reached\n", relay.said)

    def test_a_server_of_endless_nothing(self):
        """Any number of fragments that are not part of a demo, as fast as they are requested."""
        asked = []

        def page(path):
            asked.append(path)
            return self.index(1 << 50) if path == "/sync" else b"nothing"

        with self.upstream(page) as address:
            relay = self.relay(address)
            until(lambda: len(asked) >= 5)
            begun, before = time.monotonic(), len(asked)
            time.sleep(3)
            count, took = len(asked) - before, time.monotonic() - begun
            self.assertEqual(relay.end()[0], 0)
        self.assertGreater(count, 2)
        self.assertLess(count, 5 * took + 5)
        self.assertIn("is damaged: it is not part of a demo", relay.said)
        self.assertLess(relay.said.count("is damaged"), took + 5)

    def test_a_game_server(self):
        class Talker(Server):
            def __init__(self):
                super().__init__()
                self.tick = 100

            def begin(self):
                self.change_map(b"dm1")

            def go_on(self):
                self.tick += 2
                self.snapshot(self.tick, [(9, 0, [self.tick] + [1] * 21)])
                if self.tick == 300:
                    self.change_map(b"dm1") # once more
        with Talker() as server:
            relay = self.relay(server.address, "--protocol", "0.6")
            viewer = Viewer(relay)
            viewer.look_until(lambda index: len(index["recordings"]) == 2 and index["recordings"][1]["last"] >= 1)
            code, said = relay.end()
            self.assertEqual(code, 0, said)
            for which in 0, 1:
                found = states(self.save("x.demo", viewer.joined(which)))
                ticks = sorted(found)
                self.assertEqual(ticks, list(range(ticks[0], ticks[-1] + 1, 2)))

    def test_clients_of_the_games_watch(self):
        demo = DEMOS["ddnet_yard"]
        relay = self.relay(demo, "--speed", "1", "--loop", "--udp", "0", "--viewer-password", "open")
        port = relay.udp_port
        second = self.relay(relay.address, "--udp", "0")
        code, _, err = run("record", f"127.0.0.1:{port}", "-o", self.folder / "no.demo", "--duration", "2")
        self.assertEqual(code, 3, err)
        self.assertIn("Wrong password", err)
        for number, name, more in (port, "first", ("--password", "open")), (second.udp_port, "second", ()):
            file = self.folder / f"{name}.demo"
            code, _, err = run("record", f"127.0.0.1:{number}", "-o", file, "--duration", "2", *more)
            self.assertEqual(code, 0, err)
            # But for the viewer's own items.
            types = {"character", "pickup", "projectile", "laser", "flag", "game_info"}
            found, expected = states(file, types), states(demo, types)
            self.assertGreater(len(found), 10) # of 50, on a machine that is slow
            self.assertLessEqual(set(found.values()), set(expected.values()))

    def test_clients_of_the_games_are_told_the_end(self):
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "1", "--loop", "--udp", "0")
        watching = subprocess.Popen([TEEWIRE, "dump", f"127.0.0.1:{relay.udp_port}"], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.kill)
        self.assertTrue(watching.stdout.readline())
        self.assertEqual(relay.end()[0], 0)
        self.assertIn("the server says: The relay ends", watching.communicate(timeout=STUCK)[1])

    def test_delay(self):
        began = time.monotonic()
        relay = self.relay(DEMOS["ddnet_yard"], "--speed", "1", "--delay", "3", "--record", "x.demo")
        viewer = Viewer(relay)
        viewer.look_until(lambda index: True)
        self.assertGreater(time.monotonic() - began, 3.9) # and a second for the first fragment
        self.assertEqual(relay.sync()["delay"], 3)
        relay.end()
        newest = max(states(self.folder / "x.demo"))
        self.assertLessEqual(newest - min(states(DEMOS["ddnet_yard"])), (time.monotonic() - began - 3) * 50)


class CommandLine(RelayTest):
    def test_defaults(self):
        """The defaults that --help states."""
        code, out, err = run("relay", "--help")
        self.assertEqual((code, err), (0, ""))
        for option, default in (("delay", "0s"), ("window", "60s"), ("max-clients", "1024"), ("max-clients-per-ip", "16"),
                                ("bind", "0\\.0\\.0\\.0")):
            self.assertRegex(out, rf"--{option} [A-Z]+\s[^[]*\[default:\s+{default}\]")

    def test_wrong_usage(self):
        demo = DEMOS["ddnet_yard"]
        with socket.create_server(("127.0.0.1", 0)) as taken:
            for arguments, code, what in (
                    ([demo], 2, "--udp, --http, --dir or --record"),
                    ([demo, "--http", "0", "--bind", "nowhere"], 2, "not an address"),
                    ([demo, "--http", taken.getsockname()[1], "--bind", "127.0.0.1"], 3, "in use"),
                    ([demo, "--http", "0", "--delay", "2:00:00"], 2, "an hour"),
                    (["https://example.net/", "--http", "0"], 2, "HTTPS"),
                    (["http://", "--http", "0"], 2, "http://HOST"),
                    (["http://x:123456/", "--http", "0"], 2, "http://HOST"),
                    (["nothing.demo", "--http", "0"], 3, "no such file"),
                    (["nothing.demo", "--http", "65535", "--udp", "65535"], 3, "no such file"),
                    (["nothing.demo", "--http", "65536"], 2, "--http"), (["nothing.demo", "--udp", "65536"], 2, "--udp"),
                    ([FIXTURES / "maps/ddnet.map", "--http", "0"], 2, "this is a map"),
                    ([demo, "--record", demo], 2, "exists")):
                found, out, err = run("relay", *arguments)
                self.assertEqual((found, out), (code, ""), (arguments, err))
                self.assertIn(what, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
