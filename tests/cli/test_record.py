#!/usr/bin/env python3
"""`teewire record` with servers that say what they are told to: what it asks, counts and tells.
Usage: test_record.py TEEWIRE FIXTURES"""
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import unittest

from in_folder import InFolder
from limits import SLOWER, STUCK
from made_server import CHAT, SPECTATE, Server, unpack
from program import TEEWIRE, run, size_text

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
CHARACTER, PLAYER_INFO = 9, 10


def work_of_children():
    """Seconds of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def character(tick):
    return CHARACTER, 0, [tick] + [1] * 21


class Script(Server):
    """Does one step after the other, and then says good-bye. Steps get the server."""

    def __init__(self, *steps, reason=b"over"):
        super().__init__()
        self.steps, self.reason = steps, reason
        self.come = 0  # how often a client has come

    def begin(self):
        self.come += 1
        self.left = list(self.steps)
        self.change_map(b"dm1")

    def go_on(self):
        if self.left:
            self.left.pop(0)(self)
        else:
            self.close(self.reason)


class Record(InFolder):
    def start(self, *arguments, **more):
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        process = subprocess.Popen([TEEWIRE, "record", *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   text=True, **more)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def record(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=STUCK)
        return process.returncode, out, err

    def test_what_is_counted(self):
        """Each demo by itself."""
        def part(first, damage):
            yield from [lambda s, t=t: s.snapshot(t, [character(t)]) for t in range(first, first + 8, 2)]
            for i in range(damage):
                yield lambda s, i=i: s.snapshot(first + 8 + 4 * i, [character(1)], checksum=7)
                yield lambda s, i=i: s.snapshot(first + 10 + 4 * i, [(0, 0, [1])], base=first - 50)
            for i in range(damage + 1):
                yield lambda s, i=i: s.snapshot(first + 18 + 2 * i, [(CHARACTER, 0, [1])])  # too few ints
            yield lambda s: s.snapshot(first + 30, [character(first + 30)])
            yield lambda s: s.empty_snapshot(first + 32, first + 30)
            yield lambda s: s.snapshot(first + 34, [character(first + 34)])
            for _ in range(damage + 2):
                yield lambda s: s.say(CHAT, 0, -1, text=b"hello")
        with Script(*part(100, 1), lambda s: s.change_map(b"dm2"), *part(200, 2)) as server:
            code, out, err = self.record(server.address, "--protocol", "0.6", "-o", "x.demo", "--format", "ndjson")
            self.assertEqual(code, 3)
            self.assertIn(f"teewire: {server.address}: the server says: over\n", err)
        first, second = map(json.loads, out.splitlines())
        for told, name, begin, damage in (first, "x.demo", 100, 1), (second, "x_2.demo", 200, 2):
            self.assertEqual(told, {
                "file": name, "server": server.address, "protocol": "ddnet", "first_tick": begin, "last_tick": begin + 34,
                "snapshots": 7, "unchanged": 1, "messages": damage + 2, "bytes": (self.folder / name).stat().st_size,
                "refused": 0, "missed": 11, "bad_checksum": damage, "damaged": damage + 1, "missing_base": damage,
                "without_checksum": 1, "repeated": told["repeated"], "gaps": 0, "steps": {"2": 5, "24": 1}})
            self.assertLess(told["repeated"], 3)
            _, out, _ = run("verify", name, cwd=self.folder)
            self.assertIn(f"{name}: ok: 6 snapshots, {damage + 2} messages", out)
        # The same for people.
        with Script(*part(100, 1)) as server:
            code, out, err = self.record(server.address, "--protocol", "0.6", "-o", "y.demo")
        self.assertEqual(out, "y.demo: 0:00.6, ticks 100 to 134, 7 snapshots (1 of them unchanged and not stored), 3 messages, "
                              f"11 missed, 1 bad checksum, {size_text((self.folder / 'y.demo').stat().st_size)}\n")
        with Script(lambda s: s.snapshot(2, [character(2)])) as server:
            code, out, err = self.record(server.address, "--protocol", "0.6", "-o", "z.demo")
        self.assertIn("z.demo: 0:00.0, ticks 2 to 2, 1 snapshot, 0 messages, 0 missed, 0 bad checksums, ", out)

    def test_nothing_is_kept_of_a_map_without_snapshots(self):
        """And the next demo has the name."""
        with Script(lambda s: s.change_map(b"dm2"), lambda s: s.change_map(b"dm3"),
                    lambda s: s.snapshot(10, [character(10)])) as server:
            code, out, err = self.record(server.address, "--protocol", "0.6", "-o", "x.demo")
        self.assertEqual((code, out.count("\n"), self.files()), (3, 1, ["x.demo"]))
        self.assertEqual([line.partition(": ")[2] for line in err.splitlines()],
                         ["map dm1, 0 B", "map dm2, 0 B", "map dm3, 0 B", "recording to x.demo",
                          f"{server.address}: the server says: over"])

    def test_maps_are_announced_with_their_sizes(self):
        for size, text in (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 20, "5.0 MiB"):
            with Script(lambda s: s.change_map(b"big", size)) as server:
                code, out, err = self.record(server.address, "--protocol", "0.6", "-o", "x.demo")
                self.assertEqual((code, out), (3, ""))
                self.assertIn(f"{server.address}: map big, {text}\n", err)

    def test_protocols_are_tried_in_turn(self):
        v06, v07 = b"\x10\0\0\1TKEN", b"\4\0\0\xff"
        for protocol, within, expected in ("0.6", 0.8, [v06]), ("0.7", 0.8, [v07]), ("auto", 3.6, [v06, v07]):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
                silent.bind(("127.0.0.1", 0))
                process = self.start("127.0.0.1:%d" % silent.getsockname()[1], "-o", "x.demo", "--protocol", protocol)
                begins, last = [], time.monotonic() + within
                while select.select([silent], [], [], max(0, last - time.monotonic()))[0]:
                    begin = silent.recv(2048)[:8]
                    begin = v06 if begin == v06 else begin[:4]
                    if begin not in begins:
                        begins.append(begin)
                self.assertEqual(begins, expected, protocol)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=STUCK)
                self.assertEqual((process.returncode, self.files()), (130, []))

    def test_an_address_that_nothing_can_be_sent_to(self):
        begin = time.monotonic()
        self.assertEqual(self.record("255.255.255.255", "-o", "x.demo"),
                         (3, "", "teewire: 255.255.255.255: Permission denied\n"))
        self.assertLess(time.monotonic() - begin, 2.5)  # no answer is waited for

    def test_tries_are_further_and_further_apart(self):
        begin, worked = time.monotonic(), work_of_children()
        code, _, err = self.record("a..b", "-o", "x.demo", "--retry", "--duration", "1.5")
        self.assertEqual(code, 3)
        self.assertGreater(time.monotonic() - begin, 1.4)
        self.assertLess(work_of_children() - worked, 0.5 * SLOWER)  # it sleeps until something is due
        self.assertEqual([re.sub(r"^a..b: .*; ", "", line) for line in err.splitlines()],
                         ["next try in 1 s", "next try in 2 s", "a..b: nothing to record in 1.5 s"])
        code, _, err = self.record("a..b", "-o", "x.demo")
        self.assertEqual((code, err.count("\n")), (3, 1))
        # Not after a recording.
        snapshot = lambda s: s.snapshot(10, [character(10)])
        with Script(snapshot) as server:
            process = self.start(server.address, "--protocol", "0.6", "-o", "x.demo", "--retry")
            while server.come < 3:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=STUCK)
        self.assertEqual(process.returncode, 0)
        tries = re.findall(r"the server says: over; (next try in .*)\n", err)
        self.assertIn(tries, (["next try in 1 s"] * 2, ["next try in 1 s"] * 3))  # the third may be over already
        self.assertLessEqual({"x.demo", "x_2.demo"}, set(self.files()))

    def test_what_other_verbs_read(self):
        """A server, as if it were a recording."""
        steps = [lambda s, t=t: s.snapshot(t, [character(t)]) for t in range(10, 20, 2)]
        said = lambda s: s.say(CHAT, 0, -1, text=b"hello")
        for verb, lines in ((["dump"], [{"tick": t} for t in range(10, 20, 2)]), (["events"], [{"kind": "server_message", "text": "hello"}])):
            with Script(*steps[:3], said, *steps[3:]) as server:
                code, out, err = run(*verb, server.address, "--protocol", "0.6")
            got = [json.loads(line) for line in out.splitlines()]
            self.assertEqual((len(got), code), (len(lines), 3), err)
            for line, expected in zip(got, lines):
                self.assertLessEqual(expected.items(), line.items())

    def test_looks_where_players_are(self):
        """Once a second, as long as no character is in sight, at the next one of those who play."""
        class Crowd(Script):
            asked = []

            def receive(self, message):
                ints = unpack(message)
                if ints[:1] == [SPECTATE << 1]:
                    self.asked.append((self.tick, ints[1]))

            def show(self, tick, in_sight):
                self.tick = tick
                team = {1: 0, 3: 0, 4: -1, 5: 1}
                self.snapshot(tick, [(PLAYER_INFO, n, [0, n, team[n], 0, 20]) for n in team] +
                              [character(tick)] * in_sight)
        ticks = range(10, 510, 10)
        with Crowd(*[lambda s, t=t: s.show(t, 200 <= t < 300) for t in ticks]) as server:
            self.record(server.address, "--protocol", "0.6", "-o", "x.demo")
        self.assertEqual([who for _, who in server.asked], [1, 3, 5, 1, 3, 5, 1, 3][:len(server.asked)])
        self.assertIn(len(server.asked), (7, 8))
        self.assertFalse([tick for tick, _ in server.asked if 220 <= tick < 300])

    def test_several_servers(self):
        """Names without what no file name should have."""
        def serve(address):
            process = subprocess.Popen([TEEWIRE, "serve", FIXTURES / "demos/ddnet_yard.demo", "--bind", address, "--port", "0"],
                                       stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda: (process.communicate("quit\n", timeout=STUCK)))
            line = process.stderr.readline()
            found = re.search(r"on \[?[0-9.:]+?\]?:(\d+) to", line)
            return found and int(found[1])
        first, second = serve("::1"), serve("127.0.0.1")
        if first is None:
            self.skipTest("no IPv6 here")
        code, out, err = self.record(f"[::1]:{first}", f"127.0.0.1:{second}", "-o", "x.y.demo", "--duration", "0.3",
                                     "--protocol", "0.6")
        self.assertEqual((code, self.files()), (0, sorted([f"x.y_--1_{first}.demo", f"x.y_127.0.0.1_{second}.demo"])), err)
        self.assertEqual(out.count("\n"), 2)
        for host in f"[::1]:{first}", f"127.0.0.1:{second}":
            self.assertIn(f"{host}: map yard, 4.8 KiB\n", err)

    def test_a_terminal_shows_how_it_goes_on(self):
        terminal, theirs = pty.openpty()
        steps = [lambda s, t=t: s.snapshot(t, [character(t)]) for t in range(10, 1010, 10)]
        with Script(*[lambda s: None] * 150, *steps) as server:
            process = self.start(server.address, "--protocol", "0.6", "-o", "x.demo", stderr=theirs)
            os.close(theirs)
            shown = b""
            try:
                while block := os.read(terminal, 65536):
                    shown += block
            except OSError:
                pass
            process.wait(STUCK)
        os.close(terminal)
        lines = re.sub(r"\x1b\[[AK]", "", shown.decode()).replace("\r", "").splitlines()
        self.assertIn(f"{server.address}: waiting for the first snapshot", lines)
        states = [re.fullmatch(rf"{server.address}: 0:(\d+)\.(\d), (\d+) snapshots?, 0 missed, [\d.]+ (?:Ki)?B", line)
                  for line in lines]
        self.assertTrue(any(states), lines)
        for s in filter(None, states):
            self.assertEqual(int(s[1]) * 10 + int(s[2]), (int(s[3]) - 1) * 2, s[0])  # 10 ticks each
        # Drawn over each time, and gone at the end.
        self.assertEqual(shown.count(b"\x1b[A\r\x1b[K"), shown.count(b"\x1b[K\r\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
