#!/usr/bin/env python3
"""teewire web and teewire index, as browsers and static hosts see them. Usage: test_web.py TEEWIRE FIXTURES"""
import contextlib
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import struct
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

import demo_codec
from in_folder import InFolder
from limits import STUCK
from made_relay import Relay
from program import TEEWIRE, run

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
DEMO = FIXTURES / "demos/ddnet_dm1.demo"  # without its map
YARD = FIXTURES / "demos/ddnet_yard.demo"  # with it
DEMOS = sorted((FIXTURES / "demos").glob("*.demo"))
PAGE = b"<!doctype html><title>a viewer</title>"


def read_index(file):
    return json.loads(gzip.decompress(pathlib.Path(file).read_bytes()))


def keyframes(index):
    """(tick, offset) of each."""
    tick = offset = 0
    for more_ticks, more_bytes in zip(index["keyframes"]["ticks"], index["keyframes"]["offsets"], strict=True):
        tick, offset = tick + more_ticks, offset + more_bytes
        yield tick, offset


def events(index):
    """(tick, kind, client, target, value, text) with names."""
    tick = max(0, index["first_tick"])
    for more, kind, *rest in index["events"]:
        tick += more
        client, target, value, text = (*rest, None, None, None, None)[:4]
        name = lambda person: None if person is None else index["people"][person][1]
        yield tick, index["kinds"][kind], name(client), name(target), value, text or ""


class Index(InFolder):
    def index(self, file, code=0, *options):
        done = run("index", *options, file)
        self.assertEqual(done[:2], (code, ""), done[2])
        return read_index(f"{file}.index")

    def test_what_it_says(self):
        for demo in DEMOS:
            with self.subTest(demo=demo.name):
                file = self.save(demo.name, demo.read_bytes())
                _, told, _ = run("info", "--format", "ndjson", file)
                told = json.loads(told)
                made = self.index(file, 1 if told["error"] else 0)
                self.assertEqual(made["version"], 1)
                self.assertEqual(made["file"], {"size": len(demo.read_bytes()),
                                                "sha256": hashlib.sha256(demo.read_bytes()).hexdigest(),
                                                "ends_sha256": self.ends(demo.read_bytes())})
                for name in ("protocol", "first_tick", "last_tick", "snapshots", "markers", "date", "type", "net_version", "error"):
                    self.assertEqual(made[name], told[name], name)
                self.assertEqual({k: made["map"][k] for k in ("name", "crc", "size", "sha256")},
                                 {k: told["map"][k] for k in ("name", "crc", "size", "sha256")})
                self.assertEqual(len(list(keyframes(made))), told["keyframes"])
                self.assertEqual([(*made["people"][p][:2], tick) for p, tick in made["players"]],
                                 [(p["id"], p["name"], p["first_tick"]) for p in told["players"]])
                self.assertLessEqual(os.path.getsize(f"{file}.index"), max(len(demo.read_bytes()) / 100, 4096))

    @staticmethod
    def ends(data):
        return hashlib.sha256(data if len(data) <= 131072 else data[:65536] + data[-65536:]).hexdigest()

    def test_tunings(self):
        """Each change of the tuning, without repetitions; none if there is no room."""
        for changes, expected in ((3, [[500, *[1500] * 32], [50, *[1550] * 32], [50, *[1600] * 32]]), (3000, None)):
            demo, numbers = demo_codec.Writer(), random.Random(3)
            for tick in range(1000, 1000 + 500 + 50 * changes):
                demo.snapshot(tick, [(5, 0, [tick, 0, 0, 0])])
                if tick >= 1500:
                    value = tick - tick % 50 if changes == 3 else numbers.randrange(10 ** 6)
                    demo.message(bytes([6 << 1]) + demo_codec.pack_ints([value] * 36))
            made = self.index(self.save("tuned.demo", demo.out))
            self.assertEqual(made.get("tunings"), expected)

    def test_events(self):
        """They are those of `events`."""
        for demo in DEMOS:
            made = self.index(self.save(demo.name, demo.read_bytes()))
            expected = []
            for line in run("events", "--type", ",".join(made["kinds"]), demo)[1].splitlines():
                expected.append((json.loads(line)["tick"], json.loads(line)["kind"]))
            self.assertEqual([(tick, kind) for tick, kind, *_ in events(made)], expected, demo.name)
            self.assertEqual(made["left_out"], [])
        kills = [e for e in events(read_index(self.folder / "ddnet_dm1.demo.index")) if e[1] == "kill"]
        lines = run("events", "--type", "kill", "--format", "text", DEMO)[1].splitlines()
        self.assertEqual(len(kills), len(lines))
        self.assertGreater(len(kills), 0)
        for (_, _, _, target, weapon, _), line in zip(kills, lines):
            self.assertIn(target, line)
            self.assertIsInstance(weapon, int)

    def test_keyframes_are_where_reading_may_begin(self):
        """A header and the data from a keyframe on are a demo of the rest."""
        whole = DEMO.read_bytes()
        made = self.index(self.save("x.demo", whole))
        all_states = run("dump", "--format", "checksum", DEMO)[1].splitlines()
        for tick, offset in list(keyframes(made))[1:]:
            rest = self.save("rest.demo", whole[:made["chunks"]] + whole[offset:])
            states = run("dump", "--format", "checksum", rest)[1].splitlines()
            self.assertTrue(states[0].startswith(f"{tick}"), (tick, states[0]))
            self.assertEqual(states, all_states[-len(states):])

    def test_damage(self):
        """Everything before it is in it."""
        whole = DEMO.read_bytes()
        file = self.save("cut.demo", whole[:2 * len(whole) // 3 + 1])
        code, _, err = run("index", file)
        self.assertEqual(code, 1)
        self.assertRegex(err, r"cut\.demo: tick \d+, byte \d+: .*; the index has everything before it\n")
        made = read_index(f"{file}.index")
        self.assertIn(made["error"], err)
        self.assertGreater(made["snapshots"], 100)
        for data, expected in ((b"", 1), (b"TWDEMO\0\6", 1), (b"nothing", 2)):
            self.assertEqual(run("index", self.save("no.demo", data))[0], expected)
            self.assertFalse((self.folder / "no.demo.index").exists())

    def test_again(self):
        """One that fits stays; one of another demo is replaced; anything else is not, unless --force is given."""
        file = self.save("x.demo", DEMO.read_bytes())
        self.index(file)
        index = self.folder / "x.demo.index"
        before = index.stat()
        self.index(file)
        self.assertEqual(index.stat().st_ino, before.st_ino)
        self.index(file, 0, "--force")
        self.assertNotEqual(index.stat().st_ino, before.st_ino)
        file.write_bytes(YARD.read_bytes())
        self.assertEqual(self.index(file)["file"]["size"], file.stat().st_size)
        changed = bytearray(file.read_bytes())
        changed[180] ^= 1  # in the header's spare bytes: the same size
        file.write_bytes(changed)
        self.assertEqual(self.index(file)["file"]["sha256"], hashlib.sha256(changed).hexdigest())
        index.write_bytes(b"my own notes")
        code, _, err = run("index", file)
        self.assertEqual((code, index.read_bytes()), (2, b"my own notes"))
        self.assertIn("exists; --force replaces it", err)
        self.index(file, 0, "--force")
        self.assertEqual(self.files(), ["x.demo", "x.demo.index"])

    def test_what_is_no_demo(self):
        packed = self.save("x.demo.gz", gzip.compress(DEMO.read_bytes()))
        code, _, err = run("index", packed)
        self.assertEqual(code, 2)
        self.assertIn("decompress it first", err)
        with DEMO.open("rb") as stdin:
            self.assertEqual(run("index", "-", stdin=stdin)[0], 2)
        code, _, err = run("index", FIXTURES / "maps/ddnet.map")
        self.assertEqual(code, 2)
        self.assertIn("this is a map, not a demo", err)
        code, _, err = run("index", self.folder / "none", self.save("a.demo", DEMO.read_bytes()))
        self.assertEqual((code, err), (3, f"teewire: {self.folder}/none: no such file\n"))
        self.assertEqual(self.files(), ["a.demo", "a.demo.index", "x.demo.gz"])


class Web:
    """A process; give it to addCleanup."""

    def __init__(self, folder, source, *options, viewer=True, env=None):
        page = pathlib.Path(folder) / ".viewer"
        page.mkdir(exist_ok=True)
        (page / "index.html").write_bytes(PAGE)
        (page / "viewer.js").write_text("'use strict';")
        (page / "teewire.wasm").write_bytes(b"\0asm")
        self.cache = pathlib.Path(folder) / ".cache"
        self.process = subprocess.Popen(
            [TEEWIRE, "web", str(source), "--port", "0", *(["--viewer", str(page)] if viewer else []), *map(str, options)],
            text=True, env={**os.environ, "XDG_CACHE_HOME": str(self.cache), "DISPLAY": "", "WAYLAND_DISPLAY": "", **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stderr.readline()
        found = re.search(r" on http://(?:127\.0\.0\.1|\[::1\]):(\d+)/$", line)
        self.said = line
        self.port = int(found[1]) if found else None

    def ask(self, path, method="GET", headers={}, timeout=STUCK):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(link):
            link.request(method, path, headers=headers)
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read()

    def get(self, path):
        status, _, body = self.ask(path)
        return body if status == 200 else status

    def list(self):
        """When it is complete."""
        for _ in range(600):
            told = json.loads(self.get("/recordings.json"))
            if told["complete"]:
                return told
            time.sleep(0.05)
        raise AssertionError("never complete")

    def end(self, how=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(STUCK)
        self.said += self.process.stderr.read()  # communicate() would not know what was read with the first line
        return self.process.returncode


class WebTest(InFolder):
    def web(self, source, *options, **more):
        web = Web(self.folder, source, *options, **more)
        self.addCleanup(web.end)
        self.assertIsNotNone(web.port, web.said)
        return web

    def demos(self):
        folder = self.folder / "demos"
        (folder / "sub folder").mkdir(parents=True)
        shutil.copy(DEMO, folder / "a.demo")
        shutil.copy(YARD, folder / "sub folder/ü #1?.demo")
        (folder / "notes.txt").write_text("not for others")
        return folder


class Served(WebTest):
    def test_one_file(self):
        web = self.web(DEMO)
        for path in ("/", "/index.html", "/view.html", "/?demo=x&t=1"):
            self.assertEqual(re.sub(rb"\n<meta [^>]*>", b"", web.get(path)), PAGE)
        self.assertEqual(web.ask("/viewer.js")[1]["Content-Type"], "text/javascript; charset=utf-8")
        self.assertEqual(web.ask("/teewire.wasm")[1]["Content-Type"], "application/wasm")
        told = web.list()
        self.assertEqual([r["path"] for r in told["recordings"]], ["recordings/ddnet_dm1.demo"])
        self.assertEqual(web.get("/recordings/ddnet_dm1.demo"), DEMO.read_bytes())
        index = json.loads(gzip.decompress(web.get("/recordings/ddnet_dm1.demo.index")))
        self.assertEqual(index["file"]["sha256"], hashlib.sha256(DEMO.read_bytes()).hexdigest())
        for demo in DEMOS:  # its neighbours were not named
            if demo != DEMO:
                self.assertEqual(web.get(f"/recordings/{demo.name}"), 404)
        self.assertFalse((DEMO.parent / "ddnet_dm1.demo.index").exists())
        self.assertEqual(web.end(), 0)

    def test_a_packed_file(self):
        """It is shown as the demo that it holds."""
        self.assertEqual(run("compress", DEMO, "-o", self.folder / "x.tda")[0], 0)
        self.save("x.demo.gz", gzip.compress(DEMO.read_bytes()))
        for name in "x.tda", "x.demo.gz":
            web = self.web(self.folder / name)
            self.assertEqual([r["path"] for r in web.list()["recordings"]], [f"recordings/{name}"])
            self.assertEqual(web.get(f"/recordings/{name}"), DEMO.read_bytes())
            index = json.loads(gzip.decompress(web.get(f"/recordings/{name}.index")))
            self.assertEqual(index["file"]["sha256"], hashlib.sha256(DEMO.read_bytes()).hexdigest())
            self.assertEqual(web.end(), 0)

    def test_a_folder(self):
        web = self.web(self.demos())
        self.assertIn(b"<title>Recordings</title>", web.get("/"))
        self.assertEqual(web.get("/view.html"), PAGE)
        told = web.list()
        self.assertEqual((told["version"], told["kind"], told["name"]), (1, "recordings", "demos"))
        first, second = told["recordings"]
        self.assertEqual((first["path"], second["path"]), ("recordings/a.demo", "recordings/sub%20folder/%C3%BC%20%231%3F.demo"))
        self.assertEqual((first["name"], second["name"]), ("a.demo", "sub folder/ü #1?.demo"))
        self.assertEqual((second["map"]["name"], second["protocol"], second["error"]), ("yard", "ddnet", None))
        info = json.loads(run("info", "--format", "ndjson", DEMO)[1])
        self.assertEqual(first["players"], [p["name"] for p in info["players"]])
        self.assertEqual(first["seconds"], info["seconds"])
        for r in told["recordings"]:
            whole = web.get("/" + r["path"])
            self.assertEqual(len(whole), r["bytes"])
            self.assertEqual(web.ask("/" + r["path"] + ".index")[0], 200)
            self.assertEqual(r["map"]["embedded"], r is second)
            if r is first:
                self.assertIsNone(r["picture"])
                continue
            status, headers, picture = web.ask("/" + r["picture"])
            self.assertEqual((status, headers["Content-Type"], picture[:8]), (200, "image/png", b"\x89PNG\r\n\x1a\n"))
        self.assertEqual(web.get("/recordings/notes.txt"), 404)
        self.assertEqual(web.get("/notes.txt"), 404)

    def test_what_others_show_beside_a_link(self):
        """Title, description and picture of a recording, whatever its link says."""
        folder = self.demos()
        web = self.web(folder)
        web.list()

        def about(query, headers={}):
            page = web.ask(f"/view.html?{query}", headers=headers)[2].decode()
            self.assertEqual(re.sub(r"\n<meta [^>]*>", "", page), PAGE.decode())
            return dict(re.findall(r'<meta (?:property|name)="([^"]*)" content="([^"]*)">', page))

        yard = "demo=recordings/sub%20folder/%C3%BC%20%231%3F.demo"
        tags = about(yard)
        self.assertEqual((tags["og:title"], tags["og:description"]), ("yard", "0:04.9, with bot 1, bot 2, watcher, recorded 2026-11-22 06:06"))
        self.assertEqual(tags["og:image"], f"http://127.0.0.1:{web.port}/previews/sub%20folder/%C3%BC%20%231%3F.demo.png")
        tags = about(yard + "&t=0:02.5&player=%22%3E%3Cscript%3E+%26")
        self.assertEqual((tags["og:title"], tags["og:description"][:20]), ("&quot;&gt;&lt;script&gt; &amp; on yard", "at 0:02.5 of 0:04.9,"))
        self.assertTrue(about(yard, {"X-Forwarded-Proto": "https"})["og:image"].startswith("https://127.0.0.1"))
        self.assertTrue(about("demo=recordings/a.demo")["og:description"].startswith("0:30.0, with bot00, bot01"))
        for query in ("", "demo=", "demo=recordings/none.demo", "demo=recordings/../a.demo", "demo=%ff", "demo", "&&=&demo=%"):
            self.assertEqual(about(query), {}, query)
        for name in ("a.demo", "sub%20folder/%C3%BC%20%231%3F.demo"):
            for _ in range(2):
                status, headers, picture = web.ask(f"/previews/{name}.png")
                self.assertEqual((status, headers["Content-Type"], struct.unpack(">II", picture[16:24])), (200, "image/png", (1200, 630)))
        for path in ("/previews/none.demo.png", "/previews/a.demo", "/previews/../a.demo.png"):
            self.assertEqual(web.get(path), 404)
        # One that has no picture.
        (folder / "empty.demo").write_bytes(demo_codec.Writer().out)
        self.assertEqual(self.web(folder).get("/previews/empty.demo.png"), 404)

    def test_archives_in_a_folder(self):
        """Browsers restore them: they are sent unchanged, with the index and the picture of the demo."""
        folder = self.demos()
        for demo, more in (("a.demo", ()), ("sub folder/ü #1?.demo", ("--share-maps",))):
            self.assertEqual(run("compress", folder / demo, "-o", folder / f"{demo}.tda", *more)[0], 0)
        shared, = (folder / "sub folder/maps").iterdir()
        (folder / "sub folder/maps" / ("0" * 63 + ".map")).write_bytes(b"other")
        run("compress", FIXTURES / "maps/ddnet.map", "-o", folder / "map.tda")
        cut = (folder / "a.demo.tda").read_bytes()
        (folder / "cut.tda").write_bytes(cut[:len(cut) // 2])
        (folder / "bad.tda").write_bytes(cut[:30])
        web = self.web(folder)
        told = {r["name"]: r for r in web.list()["recordings"]}
        self.assertEqual(sorted(told), ["a.demo", "a.demo.tda", "cut.tda", "sub folder/ü #1?.demo", "sub folder/ü #1?.demo.tda"])
        self.assertRegex(told["cut.tda"]["error"], r"^byte \d+ of the archive: ")
        self.assertEqual(web.get(f"/recordings/sub%20folder/maps/{shared.name}"), shared.read_bytes())
        for name in ("sub%20folder/maps/" + "0" * 63 + ".map", f"maps/{shared.name}", f"sub%20folder/maps/x/../{shared.name}"):
            self.assertEqual(web.get(f"/recordings/{name}"), 404, name)
        for name in "a.demo", "sub folder/ü #1?.demo":
            plain, packed = told[name], told[f"{name}.tda"]
            content = (folder / f"{name}.tda").read_bytes()
            self.assertEqual(web.get("/" + packed["path"]), content)
            self.assertEqual(packed["bytes"], len(content))
            differ = {key for key in plain if plain[key] != packed[key]}
            self.assertEqual(differ, {"name", "path", "bytes", "modified_ms"})
            self.assertEqual(web.get("/" + packed["path"] + ".index"), web.get("/" + plain["path"] + ".index"))
        picture = told["sub folder/ü #1?.demo.tda"]["picture"]
        (folder / "sub folder/ü #1?.demo").unlink()
        self.assertEqual(web.end(), 0)
        shutil.rmtree(web.cache)
        web = self.web(folder)
        web.list()
        self.assertEqual(web.get("/" + picture)[:8], b"\x89PNG\r\n\x1a\n")
        # Indexes of earlier times still fit, and so does one beside the archive.
        kept = sorted(f.name for f in web.cache.rglob("*.index"))
        self.assertEqual(len(kept), 4)
        self.assertEqual(run("index", folder / "a.demo.tda")[0], 0)

    def test_parts(self):
        web = self.web(DEMO)
        whole = DEMO.read_bytes()
        size, path = len(whole), "/recordings/ddnet_dm1.demo"
        def part(text, **more):
            return web.ask(path, headers={"Range": text, **more})
        for text, begin, end in (("bytes=0-0", 0, 1), ("bytes=10-19", 10, 20), ("bytes=100-", 100, size), ("bytes=-7", size - 7, size),
                                 (f"bytes={size - 1}-{size + 100}", size - 1, size), (f"bytes=-{size + 9}", 0, size),
                                 (f"bytes=5-{2**70}", 5, size), (f"bytes=-{2**70}", 0, size)):
            status, headers, body = part(text)
            self.assertEqual((status, body), (206, whole[begin:end]), text)
            self.assertEqual(headers["Content-Range"], f"bytes {begin}-{end - 1}/{size}")
            self.assertEqual(headers["Content-Length"], str(end - begin))
        for text in (f"bytes={size}-", f"bytes={size}-{size + 5}", "bytes=-0", f"bytes={2**64}-", f"bytes={2**70}-{2**71}"):
            status, headers, body = part(text)
            self.assertEqual((status, body, headers["Content-Range"]), (416, b"", f"bytes */{size}"), text)
        for text in ("bytes=5-4", "bytes=a-b", "bytes=--5", "bytes=", "bytes=-", "lines=0-1", "bytes=0-1,5-6", "bytes=+1-2",
                     "bytes= 1-2", "bytes=1-2x", "bytes=0x1-0x2"):
            status, headers, body = part(text)
            self.assertEqual((status, body, headers["Content-Range"]), (200, whole, None), text)
        status, headers, body = web.ask(path, "HEAD", {"Range": "bytes=0-1"})
        self.assertEqual((status, headers["Content-Length"], headers["Accept-Ranges"], body), (200, str(size), "bytes", b""))
        tag = headers["ETag"]
        self.assertRegex(tag, r'^"[^"]+"$')
        self.assertEqual(part("bytes=1-2", **{"If-Range": tag})[0], 206)
        self.assertEqual(part("bytes=1-2", **{"If-Range": '"another"'})[::2], (200, whole))
        self.assertEqual(web.ask(path, headers={"If-None-Match": f'"x", {tag}'})[::2], (304, b""))
        self.assertEqual(web.ask(path, headers={"If-None-Match": '"x"'})[::2], (200, whole))

    def test_one_connection(self):
        """Answers of all kinds follow each other without a byte between them."""
        web = self.web(DEMO)
        link = http.client.HTTPConnection("127.0.0.1", web.port, timeout=STUCK)
        with contextlib.closing(link):
            link.connect()
            number = link.sock.fileno()
            for path, headers, status in (("/recordings/ddnet_dm1.demo", {}, 200), ("/no", {}, 404),
                                          ("/recordings/ddnet_dm1.demo", {"Range": "bytes=9-"}, 206), ("/", {}, 200),
                                          ("/recordings/ddnet_dm1.demo", {"Range": "bytes=999999999-"}, 416),
                                          ("/recordings/ddnet_dm1.demo.index", {}, 200), ("/recordings.json", {}, 200)):
                link.request("GET", path, headers=headers)
                answer = link.getresponse()
                answer.read()
                self.assertEqual((answer.status, link.sock.fileno()), (status, number), path)

    def test_paths_of_strangers(self):
        folder = self.demos()
        secret = self.save("secret.demo", DEMO.read_bytes())
        (folder / "link.demo").symlink_to(secret)
        (folder / "inner.demo").symlink_to("a.demo")
        (folder / "up").symlink_to("..")
        (folder / ".hidden.demo").write_bytes(DEMO.read_bytes())
        (folder / ".git").mkdir()
        (folder / ".git/x.demo").write_bytes(DEMO.read_bytes())
        os.mkfifo(folder / "fifo.demo")
        data = self.folder / "data"
        (data / "skins").mkdir(parents=True)
        (data / "skins/default.png").write_bytes(b"\x89PNG")
        (data / "secret.cfg").write_text("password")
        (data / "link.png").symlink_to(data / "secret.cfg")
        web = self.web(folder, "--data", data)
        self.assertEqual({r["name"] for r in web.list()["recordings"]}, {"a.demo", "sub folder/ü #1?.demo"})
        for path in ("link.demo", "inner.demo", "up/secret.demo", "up/demos/a.demo", ".hidden.demo", ".git/x.demo", "fifo.demo", "",
                     "../secret.demo", "..%2fsecret.demo", "%2e%2e/secret.demo", "sub%20folder/../../secret.demo", "/a.demo", "a.demo/",
                     "a.demo%00.png", "a.demo%", "a.demo%4", "%", "./a.demo", str(secret), "a.demo.index.index", "link.demo.index",
                     "\\..\\secret.demo"):
            self.assertEqual(web.get("/recordings/" + path), 404, path)
        self.assertEqual(web.get("/data/skins/default.png"), b"\x89PNG")
        self.assertEqual(json.loads(web.get("/data/skins.json")), {"skins": ["default"]})
        for path in ("secret.cfg", "link.png", "../secret.demo", "skins/../secret.cfg", "skins", "skins/", "%2fetc/passwd", ""):
            self.assertEqual(web.get("/data/" + path), 404, path)
        for path in ("/.viewer/index.html", "/../secret.demo", "//etc/passwd", "/maps/x.map", "/maps/.map", "/pictures/x.png",
                     "/pictures/.png", "/pictures/" + "0" * 64 + ".png", "/maps/" + "0" * 64 + ".map", "/live/sync", "/pictures/..%2f..%2fx.png"):
            self.assertEqual(web.get(path), 404, path)

    def test_several_folders_of_games(self):
        """The first that has a file gives it; what a game fetched counts, and what is not for the viewer does not."""
        one, two = self.folder / "one", self.folder / "two"
        for path, content in ((one / "skins/a.png", b"1"), (two / "skins/a.png", b"2"), (two / "skins/b.png", b"2"),
                              (one / "downloadedskins/c.png", b"1"), (two / "mapres/m.png", b"2"), (two / "game.png", b"2"),
                              (one / "screenshots/s.png", b"1"), (one / "skins/body/x.png", b"1")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        web = self.web(DEMO, "--data", one, "--data", two)
        for path, content in (("skins/a.png", b"1"), ("skins/b.png", b"2"), ("skins/c.png", b"1"), ("mapres/m.png", b"2"),
                              ("game.png", b"2"), ("skins/body/x.png", b"1"), ("screenshots/s.png", 404), ("skins/d.png", 404)):
            self.assertEqual(web.get("/data/" + path), content, path)
        self.assertEqual(json.loads(web.get("/data/skins.json")), {"skins": ["a", "b", "c"]})
        self.assertEqual(web.end(), 0)
        self.assertEqual(run("web", DEMO, "--viewer", self.folder / ".viewer", "--data", one, "--data", two, "-o", self.folder / "out")[0], 0)
        written = {str(f.relative_to(self.folder / "out/data")) for f in (self.folder / "out/data").rglob("*.png")}
        self.assertEqual(written, {"game.png", "mapres/m.png", "skins/a.png", "skins/b.png", "skins/c.png", "skins/body/x.png"})

    def test_the_players_own_folder(self):
        """Without --data, what DDNet fetched for its player: skins, and maps that are not in demos."""
        game = self.folder / "home/.local/share/ddnet"
        (game / "downloadedskins").mkdir(parents=True)
        (game / "downloadedskins/mine.png").write_bytes(b"1")
        (game / "downloadedmaps").mkdir()
        whole = YARD.read_bytes()
        size = struct.unpack(">I", whole[136:140])[0]
        header = bytearray(whole[:484])
        header[136:140] = bytes(4)
        demos = self.folder / "demos"
        demos.mkdir()
        (demos / "x.demo").write_bytes(header + whole[484 + size:])
        (game / "downloadedmaps/yard_c3cbca94.map").write_bytes(whole[484:484 + size])
        web = self.web(demos, env={"HOME": str(self.folder / "home"), "XDG_DATA_HOME": ""})
        self.assertEqual(web.get("/data/skins/mine.png"), b"1")
        [told] = web.list()["recordings"]
        self.assertFalse(told["map"]["embedded"])
        self.assertEqual(web.get("/maps/c79931e31676313e34d3672a1107c17a2eb2958506a0014ec312400181e4a367.map"), whole[484:484 + size])

    def test_pages_of_strangers(self):
        """Another site's page must not read what is shown to this machine, under whatever name."""
        web = self.web(DEMO)
        for host in ("localhost", "127.0.0.1", f"localhost:{web.port}", f"[::1]:{web.port}", f"LocalHost:{web.port}"):
            status, headers, _ = web.ask("/recordings.json", headers={"Host": host})
            self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, None), host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", ""):
            self.assertEqual(web.ask("/recordings.json", headers={"Host": host})[0], 421, host)
        public = self.web(DEMO, "--bind", "0.0.0.0")
        status, headers, _ = public.ask("/recordings.json", headers={"Host": "demos.example"})
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, "*"))

    def test_requests_of_strangers(self):
        web = self.web(DEMO)
        for request, status in ((b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", b" 4"),
                                (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n", b" 431 "),
                                (b"DELETE /recordings/ddnet_dm1.demo HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 405 "),
                                (b"nonsense\r\n\r\n", b" 400 ")):
            with socket.create_connection(("127.0.0.1", web.port), timeout=STUCK) as link:
                link.sendall(request)
                self.assertIn(status, link.recv(100)[:20])
        self.assertEqual(re.sub(rb"\n<meta [^>]*>", b"", web.get("/")), PAGE)
        # A client that asks for much and reads nothing holds up no other.
        big = self.folder / "big"
        big.mkdir()
        with (big / "big.demo").open("wb") as file:
            file.write(DEMO.read_bytes())
            file.truncate(1 << 30)
        other = self.web(big)
        links = []
        for _ in range(20):
            link = socket.create_connection(("127.0.0.1", other.port), timeout=STUCK)
            self.addCleanup(link.close)
            link.sendall(b"GET /recordings/big.demo HTTP/1.1\r\nHost: localhost\r\n\r\n")
            links.append(link)
        for link in links:
            self.assertIn(b"200 OK", link.recv(20))
        self.assertEqual(other.ask("/recordings/big.demo", headers={"Range": f"bytes={(1 << 30) - 5}-"})[::2], (206, bytes(5)))
        memory = int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{other.process.pid}/status").read_text())[1]) >> 10
        self.assertLess(memory, 200)  # MiB: it is not read whole

    def test_a_folder_that_changes(self):
        folder = self.demos()
        web = self.web(folder)
        before = web.list()["recordings"][0]
        time.sleep(1.1)  # how seldom it looks
        shutil.copy(DEMO, folder / "new.demo")
        (folder / "sub folder/ü #1?.demo").unlink()
        (folder / "cut.demo").write_bytes(DEMO.read_bytes()[:50_000])
        self.assertEqual(web.get("/recordings/new.demo"), DEMO.read_bytes())
        self.assertEqual(web.get("/recordings/sub%20folder/%C3%BC%20%231%3F.demo"), 404)
        time.sleep(1.1)
        told = {r["name"]: r for r in web.list()["recordings"]}
        self.assertEqual(set(told), {"a.demo", "cut.demo", "new.demo"})
        self.assertEqual(told["a.demo"], before)
        self.assertRegex(told["cut.demo"]["error"], r"^tick \d+, byte \d+: ")
        # A file that is being written is not read again and again.
        with (folder / "cut.demo").open("ab") as file:
            file.write(b"x")
        time.sleep(1.1)
        told = {r["name"]: r for r in web.list()["recordings"]}
        self.assertEqual((told["cut.demo"]["bytes"], told["cut.demo"]["players"]), (50_001, None))
        # Another demo under the same name has another index, even before the list is requested.
        first = json.loads(gzip.decompress(web.get("/recordings/a.demo.index")))
        (folder / "a.demo").write_bytes(YARD.read_bytes())
        second = json.loads(gzip.decompress(web.get("/recordings/a.demo.index")))
        self.assertEqual((first["map"]["name"], second["map"]["name"]), ("dm1", "yard"))
        # One that is cut while it is sent ends early instead of being filled up.
        with (folder / "new.demo").open("r+b") as file:
            file.truncate(64 << 20)
        link = socket.create_connection(("127.0.0.1", web.port), timeout=STUCK)
        self.addCleanup(link.close)
        link.sendall(b"GET /recordings/new.demo HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = len(link.recv(1000))
        os.truncate(folder / "new.demo", 100_000)
        while more := len(link.recv(1 << 20)):
            got += more
        self.assertLess(got, 64 << 20)
        self.assertEqual(web.end(), 0)

    def test_indexes_are_kept(self):
        folder = self.demos()
        web = self.web(folder)
        web.list()
        kept = {f.name: f.stat().st_mtime_ns for f in web.cache.glob("teewire/*.index")}
        self.assertEqual(len(kept), 2)
        self.assertEqual(sorted(f.name for f in folder.iterdir()), ["a.demo", "notes.txt", "sub folder"])
        self.assertEqual(web.end(), 0)
        # One beside the demo is taken if it fits.
        run("index", folder / "a.demo")
        own = gzip.compress(json.dumps({**read_index(folder / "a.demo.index"), "mine": True}).encode())
        (folder / "a.demo.index").write_bytes(own)
        web = self.web(folder)
        web.list()
        self.assertEqual(web.get("/recordings/a.demo.index"), own)
        web.end()
        # One that does not fit, or is none, is not.
        for wrong in (b"nothing", gzip.compress(b"[" * 100_000), gzip.compress(b'{"version":1,"file":{"size":1}}'),
                      gzip.compress(json.dumps({**read_index(folder / "a.demo.index"), "file": {
                          "size": DEMO.stat().st_size, "sha256": "0" * 64, "ends_sha256": "0" * 64}}).encode())):
            (folder / "a.demo.index").write_bytes(wrong)
            shutil.rmtree(web.cache)
            web = self.web(folder)
            self.assertEqual(json.loads(gzip.decompress(web.get("/recordings/a.demo.index")))["snapshots"], 751)
            web.end()
        # Where nothing can be kept, it works all the same.
        web = self.web(folder, env={"XDG_CACHE_HOME": "/proc/none", "HOME": "/proc/none"})
        self.assertEqual(web.ask("/recordings/a.demo.index")[0], 200)
        self.assertEqual(web.ask("/" + web.list()["recordings"][1]["picture"])[0], 200)

    def test_maps_that_are_not_in_it(self):
        folder = self.folder / "demos"
        folder.mkdir()
        whole = YARD.read_bytes()
        file = self.save("demos/a.demo", whole)
        run("index", file)
        index = read_index(f"{file}.index")
        begin, size = index["map"]["offset"], index["map"]["size"]
        header = bytearray(whole[:begin])
        at = 8 + 64 + 64  # of the map's size
        self.assertEqual(int.from_bytes(header[at:at + 4], "big"), size)
        header[at:at + 4] = bytes(4)
        file.write_bytes(header + whole[begin + size:])
        the_map = whole[begin:begin + size]
        name, sha = index["map"]["name"], index["map"]["sha256"]
        (self.folder / "data").mkdir()
        web = self.web(folder, "--data", self.folder / "data")
        told = web.list()["recordings"][0]
        self.assertEqual((told["map"]["embedded"], told["map"]["sha256"], told["picture"]), (False, sha, None))
        self.assertEqual(web.get(f"/maps/{sha}.map"), 404)
        (folder / "maps").mkdir()
        (folder / f"maps/{name}.map").write_bytes(b"another map")
        self.assertEqual(web.get(f"/maps/{sha}.map"), 404)
        (folder / f"{name}_{sha}.map").write_bytes(the_map)
        self.assertEqual(web.get(f"/maps/{sha}.map"), the_map)

    def test_ends(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            web = self.web(self.demos() if how == signal.SIGINT else self.folder / "demos")
            waiting = socket.create_connection(("127.0.0.1", web.port))
            self.addCleanup(waiting.close)
            self.assertEqual(web.end(how), 0)
            self.assertRegex(web.said, r"\d+ requests answered, ")
        # In the middle of the work, too.
        whole = DEMO.read_bytes()
        first = whole.index(b"\xc0\x00\x00\x02\xf0")
        (self.folder / "demos/long.demo").write_bytes(whole[:first] + whole[first:] * 300)
        web = self.web(self.folder / "demos")
        link = socket.create_connection(("127.0.0.1", web.port))
        self.addCleanup(link.close)
        link.sendall(b"GET /recordings/long.demo.index HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.3)
        begin = time.monotonic()
        self.assertIn(web.end(), (0, 130))  # which it is when that work goes on for longer than a quarter of a second
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual([f.name for f in web.cache.rglob("*") if f.name.endswith(".part")], [])

    def test_a_broadcast(self):
        relay = Relay(TEEWIRE, YARD, "--loop")
        self.addCleanup(relay.end)
        web = self.web(relay.address)
        told = json.loads(web.get("/recordings.json"))
        self.assertEqual((told["kind"], told["live"], told["recordings"]), ("broadcast", "live/", []))
        self.assertEqual(told["from"], relay.address + "/")
        self.assertEqual(json.loads(urllib.request.urlopen(told["from"] + "sync", timeout=STUCK).read())["version"], 1)
        self.assertEqual(re.sub(rb"\n<meta [^>]*>", b"", web.get("/")), PAGE)
        status, headers, body = web.ask("/live/sync")
        for _ in range(10):
            if status == 200:
                break
            status, headers, body = web.ask("/live/sync")
        self.assertEqual(status, 200)
        sync = json.loads(body)
        last = sync["recordings"][-1]
        start = web.get("/live/" + last["start"])
        self.assertTrue(start.startswith(b"TWDEMO\0"))
        piece = web.get(f"/live/{last['id']}/{last['last']}.frag")
        moment = self.save("moment.demo", start + piece)
        self.assertEqual(run("verify", moment)[0], 0)
        self.assertEqual(web.get(f"/live/{last['id']}/{last['last'] + 1}.frag")[:1], piece[:1])
        self.assertEqual(hashlib.sha256(web.get("/live/" + last["map"]["path"])).hexdigest(), last["map"]["sha256"])
        self.assertEqual(web.get("/live/../recordings.json"), 404)
        with socket.create_connection(("127.0.0.1", web.port), timeout=STUCK) as link:
            link.sendall(b"GET /live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            told = b""
            while b"\n\n" not in told:
                told += link.recv(10_000)
        self.assertIn(b"text/event-stream", told)
        self.assertNotIn(b"Access-Control", told)  # as for browsers of this machine
        self.assertEqual(web.end(), 0)

    def test_a_browser_is_opened(self):
        bin_ = self.folder / "bin"
        bin_.mkdir()
        (bin_ / "xdg-open").write_text(f'#!/bin/sh\necho "$@" > {self.folder}/opened.part; mv {self.folder}/opened.part {self.folder}/opened\n')
        (bin_ / "xdg-open").chmod(0o755)
        path = {"PATH": f"{bin_}:{os.environ['PATH']}"}
        web = self.web(DEMO, env={**path, "DISPLAY": ":7"})
        for _ in range(200):
            if (self.folder / "opened").exists():
                break
            time.sleep(0.05)
        self.assertEqual((self.folder / "opened").read_text(), f"http://127.0.0.1:{web.port}/\n")
        (self.folder / "opened").unlink()
        for options, display in ((["--no-open"], ":7"), ([], "")):
            web = self.web(DEMO, *options, env={**path, "DISPLAY": display})
            self.assertEqual(re.sub(rb"\n<meta [^>]*>", b"", web.get("/")), PAGE)
            web.end()
        self.assertFalse((self.folder / "opened").exists())

    def test_until_closed(self):
        """It ends when no page is open any more, but not before one was."""
        web = self.web(DEMO, "--until-closed")
        feed = json.loads(web.get("/recordings.json"))["open"]
        for _ in range(2):  # a page, which is loaded again
            with urllib.request.urlopen(f"http://127.0.0.1:{web.port}/{feed}", timeout=STUCK) as page:
                self.assertEqual(page.headers["Content-Type"], "text/event-stream")
                time.sleep(1)  # the server looks ten times a second
            self.assertEqual(re.sub(rb"\n<meta [^>]*>", b"", web.get("/")), PAGE)
        self.assertEqual(web.process.wait(STUCK), 0)

    def test_a_file_without_a_command(self):
        """Is shown; what is not a demo is explained."""
        code, out, err = run(FIXTURES / "maps/ddnet.map")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("built without the viewer" if "built without" in err else "`teewire map info` reads it", err)
        self.assertIn("unknown command", run(self.folder / "none")[2])

    def test_errors(self):
        viewer = ["--viewer", self.folder / ".viewer"]
        self.web(DEMO).end()
        for arguments, code, words in (([self.folder / "none"], 3, "no such file"), (["-"], 2, "standard input"),
                                       ([FIXTURES / "maps/ddnet.map"], 2, "this is a map, not a demo"),
                                       ([self.save("x.demo.gz", gzip.compress(b"no"))], 2, "not a demo"),
                                       ([self.save("x", b"no")], 2, "not a demo"), ([self.save("y", b"")], 1, "not a demo"),
                                       ([self.save("z.demo", DEMO.read_bytes()[:100])], 1, "header ends too early"),
                                       ([DEMO, "--bind", "x"], 2, "not an address"), ([DEMO, "--data", "/none"], 2, "--data"),
                                       (["localhost:1", "-o", "out"], 2, "relay --dir")):
            done = run("web", "--no-open", *arguments, *viewer)
            self.assertEqual((done[0], done[1]), (code, ""), done)
            self.assertIn(words, done[2])
            self.assertEqual(done[2].count("\n"), 1)
        self.assertEqual(run("web", "--no-open", DEMO, "--viewer", self.folder)[0], 2)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.assertEqual(run("web", "--no-open", DEMO, *viewer, "--port", str(taken.getsockname()[1]))[0], 3)


class Written(WebTest):
    """-o: the same as files."""

    def write(self, source, *options, code=0):
        page = self.folder / ".viewer"
        if not page.exists():
            self.web(DEMO).end()
        done = run("web", source, "--viewer", page, "-o", self.folder / "out", *options)
        self.assertEqual(done[:2], (code, ""), done[2])
        return done[2]

    def tree(self):
        return {str(f.relative_to(self.folder / "out")): f.read_bytes() for f in (self.folder / "out").rglob("*") if f.is_file()}

    def test_a_folder(self):
        folder = self.demos()
        self.write(folder)
        tree = self.tree()
        web = self.web(folder)
        told = web.list()
        self.assertEqual({**json.loads(tree["recordings.json"]), "data": told["data"]}, told)
        for path in ("index.html", "view.html", "viewer.js", "teewire.wasm"):
            self.assertEqual(tree[path], web.get("/" + path), path)
        expected = {"index.html", "view.html", "viewer.js", "teewire.wasm", "recordings.json"}
        for r in told["recordings"]:
            name = "recordings/" + r["name"]
            self.assertEqual(tree[name], web.get("/" + r["path"]))
            self.assertEqual(tree[name + ".index"], web.get("/" + r["path"] + ".index"))
            expected |= {name, name + ".index"}
            if r["picture"]:
                self.assertEqual(tree[r["picture"]], web.get("/" + r["picture"]))
                expected.add(r["picture"])
        # A map of dm1 may be where the games are installed.
        self.assertEqual({path for path in tree if not path.startswith("maps/")}, expected)

    def test_one_file(self):
        data = self.folder / "data/skins"
        data.mkdir(parents=True)
        (data / "x.png").write_bytes(b"\x89PNG")
        (data / "x.cfg").write_bytes(b"no picture")
        self.write(DEMO, "--data", data.parent)
        tree = self.tree()
        self.assertEqual(tree["index.html"], PAGE)
        self.assertEqual(tree["recordings/ddnet_dm1.demo"], DEMO.read_bytes())
        self.assertEqual({p for p in tree if p.startswith("data/")}, {"data/skins/x.png", "data/skins.json"})
        self.assertTrue(json.loads(tree["recordings.json"])["data"])
        # Existing files are kept, unless they may be replaced.
        self.assertIn("--force", self.write(DEMO, code=2))
        (self.folder / "out/index.html").write_bytes(b"old")
        self.write(DEMO, "--force")
        self.assertEqual(self.tree()["index.html"], PAGE)

    def test_damage(self):
        folder = self.demos()
        (folder / "cut.demo").write_bytes(DEMO.read_bytes()[:50_000])
        (folder / "map.demo").write_bytes(YARD.read_bytes()[:2000])
        err = self.write(folder, code=1)
        self.assertRegex(err, r"cut\.demo: tick \d+, byte \d+: ")
        self.assertRegex(err, r"map\.demo: byte \d+: ")
        told = {r["name"]: r for r in json.loads(self.tree()["recordings.json"])["recordings"]}
        self.assertEqual(len(told), 4)
        self.assertRegex(told["cut.demo"]["error"], r"^tick \d+, byte \d+: ")
        self.assertRegex(told["map.demo"]["error"], r"^byte \d+: ")  # no path of this machine
        # The intact part of a packed one is shown as well.
        packed = gzip.compress(DEMO.read_bytes())
        err = self.write(self.save("cut.gz", packed[:len(packed) // 2]), "--force", code=1)
        self.assertRegex(err, r"cut\.gz: byte \d+ of the gzip data: it ends too early")
        shown = self.tree()["recordings/cut.gz"]
        self.assertGreater(len(shown), 10_000)
        self.assertTrue(DEMO.read_bytes().startswith(shown))

    def test_places(self):
        folder = self.demos()
        self.web(DEMO).end()
        for to in (folder, folder / "out", folder / "sub folder/../x"):
            done = run("web", folder, "--viewer", self.folder / ".viewer", "-o", to, "--force")
            self.assertEqual(done[0], 2, done)
        self.assertEqual(sorted(f.name for f in folder.iterdir()), ["a.demo", "notes.txt", "sub folder"])
        self.assertEqual(run("web", DEMO, "--viewer", self.folder / ".viewer", "-o", "/proc/none")[0], 3)


class Builtin(unittest.TestCase):
    def test_viewer(self):
        """It is there, or it is said how to get it."""
        process = subprocess.Popen([TEEWIRE, "web", str(DEMO), "--port", "0", "--no-open"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        line = process.stderr.readline()
        process.terminate()
        code = process.wait(STUCK)
        if code == 2:
            self.assertIn("-Dweb=true", line)
        else:
            self.assertIn("showing ", line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
