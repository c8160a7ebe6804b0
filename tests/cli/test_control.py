#!/usr/bin/env python3
"""How `teewire play` and `teewire serve` are controlled, by keys and by lines, and what they show.
Usage: test_control.py TEEWIRE FIXTURES"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import termios
import time
import unittest

import demo_codec
from in_folder import InFolder
from made_terminal import STUCK, Terminal
from program import TEEWIRE, output_of, run

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
DEMO = FIXTURES / "demos/ddnet_dm1.demo"  # ticks 752 to 2252, every second one
MAP = FIXTURES / "maps/ddnet.map"
LEFT, RIGHT, PAGE_UP, PAGE_DOWN, HOME, END = b"\x1b[D", b"\x1b[C", b"\x1b[5~", b"\x1b[6~", b"\x1b[H", b"\x1b[F"


def with_markers(demo, *ticks):
    return demo[:176] + b"".join(n.to_bytes(4, "big") for n in (len(ticks), *ticks)) + demo[180 + 4 * len(ticks):]


class Play(InFolder):
    def keys(self, shown, *steps):
        for key, tick in steps:
            shown.type(key)
            shown.row(2, rf"^tick {tick} ")

    def test_keys(self):
        demo = self.save("marked.demo", with_markers(DEMO.read_bytes(), 1000, 1500, 100, 3000))
        with Terminal(TEEWIRE, "play", demo, "--from", "0:10", columns=100) as shown:
            shown.row(1, r"^marked\.demo   map dm1   protocol ddnet   server demo *$")
            shown.row(2, r"^tick 12\d\d   0:1\d / 0:30   speed 1x   playing")
            shown.type(b" ")
            tick = int(shown.row(2, r"^tick (\d+) .* paused")[1])
            self.assertTrue(shown.is_quiet(0.3))
            self.keys(shown, (LEFT, tick - 250), (RIGHT, tick), (PAGE_UP, 752), (RIGHT, 1002), (PAGE_DOWN, 2252),
                      (LEFT, 2002), (HOME, 752), (END, 2252), (LEFT, 2002), (PAGE_UP, 752), (b".", 754), (b".", 756),
                      (b"n", 1000), (b"n", 1500), (b"nn.", 1502), (b"p.", 1002), (b"pp.", 1004), (b"." * 10, 1024),
                      (b"p.", 1026), (b"p", 1000))
            shown.type(END)
            shown.row(2, "   end")
            shown.row(24, r"^space pause  .*n/p marker  q quit")
            for key, speed in ((b"+", "2"), (b"+" * 5, "64"), (b"+", "64"), (b"-", "32"), (b"-" * 5, "1"), (b"-", "1/2"),
                               (b"---", "1/16"), (b"-", "1/16"), (b"=", "1/8")):
                shown.type(key)
                shown.row(2, f"   speed {speed}x   ")
            shown.resize(10, 60)
            shown.row(10, "^space pause")
            shown.until(lambda rows: max(rows) == 10 and len(rows[1]) == 60, "it fills the window")
            shown.type(b"q")
            self.assertEqual(shown.ended(), 0)
        self.assertEqual(shown.raw.rstrip()[-8:], b"\x1b[?1049l")

    def test_a_step_is_one_snapshot(self):
        with Terminal(TEEWIRE, "play", DEMO) as shown:
            shown.type(b" " + END)
            self.keys(shown, (HOME + b".", 754))
            self.assertIn("paused", shown.rows[2])
            shown.type(b" ")
            shown.row(2, "playing")
            shown.type(b".")  # stops it
            shown.row(2, "paused")
            self.assertNotIn("n/p", shown.rows[24])
            shown.type(b"q")
            self.assertEqual(shown.ended(), 0)

    def test_events_since_the_last_jump(self):
        """Are shown, the newest ones below, and none from before."""
        with Terminal(TEEWIRE, "play", DEMO, rows=40) as shown:
            shown.type(b" " + HOME + b"++++++ ")
            shown.row(2, "   end")
            told = output_of("play", "--speed", "1000", DEMO)
            events = [(m[1], m[2]) for line in told.splitlines() if (m := re.match(r"(\d+:\d\d)\.\d  (?!tick )(.*)", line))]
            self.assertGreater(len(events), 3)

            def lines(rows):
                return [tuple(row.strip().split("  ", 1)) for n, row in sorted(rows.items()) if 11 < n < 40 and row.strip()]
            shown.until(lambda rows: lines(rows) == events, events)
            begin = sorted(clock for clock, _ in events)[len(events) // 2]
            steps = (30 - int(begin[2:]) + 4) // 5
            shown.type(LEFT * steps)
            shown.row(2, f"^tick {2252 - 250 * steps} ")
            shown.until(lambda rows: lines(rows) == [], "what came before is gone")
            shown.type(b" ")
            shown.row(2, "   end")
            after = f"0:{30 - 5 * steps:02}"
            shown.until(lambda rows: lines(rows) == [e for e in events if e[0] >= after], "what came since")
            shown.type(b"q")
            self.assertEqual(shown.ended(), 0)

    def test_stopped_and_continued(self):
        begin = time.monotonic()
        with Terminal(TEEWIRE, "play", DEMO) as shown:
            shown.row(2, r"^tick \d+ .* playing")
            os.kill(shown.pid, signal.SIGTSTP)
            while b"\x1b[?1049l" not in shown.raw:
                shown.take()
            left, stopped = len(shown.raw), time.monotonic()
            time.sleep(1)
            stopped = time.monotonic() - stopped
            os.kill(shown.pid, signal.SIGCONT)
            again = shown.until(lambda rows: b"\x1b[?1049h" in shown.raw[left:] and 24 in rows and
                                re.search(r"^tick (\d+) ", rows.get(2, "")), "it goes on")
            # That time is left out.
            self.assertLessEqual(int(again[1]), 752 + 50 * (time.monotonic() - begin - stopped) + 1)
            shown.type(b"q")
            self.assertEqual(shown.ended(), 0)

    def test_damage_counts_for_those_who_have_seen_it(self):
        file = self.save("cut.demo", DEMO.read_bytes()[:100_000])
        last = re.search(r"tick (\d+), byte", run("verify", file)[1])
        for keys, expected in ((b" ", 0), (b" " + END, 1)):
            with Terminal(TEEWIRE, "play", file) as shown:
                shown.type(keys)
                if expected:
                    shown.row(24, rf"tick {last[1]}, byte \d+: ")
                shown.row(2, "end" if expected else "paused")
                shown.type(b"q")
                self.assertEqual(shown.ended(), expected)
        with Terminal(TEEWIRE, "play", DEMO) as shown:
            shown.row(2, "playing")
            shown.type(b"\x03")
            self.assertEqual(shown.ended(), 130)

    def test_lines(self):
        def lines(*arguments):
            code, out, err = run("play", "--speed", "1000", *arguments, DEMO)
            self.assertEqual((code, err), (0, ""))
            states, events = [], []
            for line in out.splitlines():
                state = re.match(r"0:(\d\d)\.(\d)  tick (\d+): 6 players: ", line)
                if state:
                    states.append(int(state[3]))
                    self.assertEqual((states[-1] - 752) // 5, int(state[1]) * 10 + int(state[2]))
                else:
                    events.append(line)
            return states, events
        states, events = lines()
        self.assertEqual(states, list(range(752, 2253, 250)))
        self.assertEqual(events, sorted(events))
        for begin, first in ("0:10", 1252), ("-0:01", 2202), ("-0:00", 2252):
            late_states, late_events = lines("--from", begin)
            self.assertEqual(late_states, list(range(first, 2253, 250)))
            clock = f"0:{(first - 752) // 50:02}.{(first - 752) // 5 % 10}"
            self.assertEqual(late_events, [e for e in events if e >= clock])


class Serving:
    """A `teewire serve` that is controlled by lines; a context that ends it."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([TEEWIRE, "serve", *map(str, arguments), "--bind", "127.0.0.1", "--port", "0"],
                                        stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.said = self.line()
        if self.said.endswith("; serving it anyway"):  # MAP is not that of DEMO
            self.said = self.line()
        found = re.search(r" on 127\.0\.0\.1:(\d+) to ", self.said)
        self.port = found and int(found[1])

    def __enter__(self):
        return self

    def line(self):
        return self.process.stderr.readline().decode().rstrip("\n")

    def command(self, text):
        self.process.stdin.write(text.encode() + b"\n")

    def status(self):
        self.command("status")
        return re.sub(r"   +", " | ", self.line())

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(STUCK)
        for pipe in (self.process.stdin, self.process.stderr):
            pipe.close()

    def quit(self):
        self.command("quit")
        return self.process.stderr.read().decode(), self.process.wait(STUCK)


class Serve(InFolder):
    def test_lines(self):
        with Serving(DEMO, "--map", MAP) as server:
            self.assertRegex(server.said, r"^serving ddnet_dm1\.demo on 127\.0\.0\.1:\d+ to clients of DDNet and 0\.6\.5, at "
                                          r"most 64 with \d+\.\d KiB each$")
            self.assertEqual(server.status(), "tick 752 | 0:00.0 / 0:30.0 | speed 1x | playing | 0 watching")
            for command, expected in (
                    ("pause", "tick 752 | 0:00.0 / 0:30.0 | speed 1x | paused | 0 watching"),
                    ("seek 0:10", "tick 1252 | 0:10.0 / 0:30.0 | speed 1x | paused | 0 watching"),
                    ("seek 9:00", "tick 2252 | 0:30.0 / 0:30.0 | speed 1x | end | 0 watching"),
                    ("seek -0:05", "tick 2002 | 0:25.0 / 0:30.0 | speed 1x | paused | 0 watching"),
                    ("seek 1000", "tick 1000 | 0:04.9 / 0:30.0 | speed 1x | paused | 0 watching"),
                    ("play", "tick 1000 | 0:04.9 / 0:30.0 | speed 1x | playing | 0 watching"),
                    ("speed 64", "tick 1000 | 0:04.9 / 0:30.0 | speed 64x | playing | 0 watching"),
                    ("speed 0.0625", "tick 1000 | 0:04.9 / 0:30.0 | speed 0.0625x | playing | 0 watching"),
                    ("pause\nseek 752\nspeed 2", "tick 752 | 0:00.0 / 0:30.0 | speed 2x | paused | 0 watching")):
                server.command(command)
                self.assertEqual(server.status(), expected, command)
            before = server.status()
            for command in ("speed 64.1", "speed 0.0624", "speed -1", "speed nan", "speed x", "speed 2x", "speed", "seek", "seek x",
                            "pauses", "", "seek 0:10 "):
                server.command(command)
                self.assertTrue(server.line().startswith(
                    f"{command}: unknown command; expected one of pause, play, seek TIME, speed FACTOR, status, quit; TIME is "), command)
                self.assertEqual(server.status(), before, command)
            server.process.stdin.write(b"sta")
            time.sleep(0.1)
            server.process.stdin.write(b"tus\nstatus\npl")
            self.assertEqual([re.sub(r"   +", " | ", server.line()) for _ in range(2)], [before] * 2)
            server.process.stdin.write(b"ay\n")
            self.assertIn(" | playing | ", server.status())
            self.assertEqual(server.quit(), (
                "0 joined, 0 snapshots sent in 0 packets, 0 refused by the system; 0 packets received, 0 ignored; 0 ticks "
                "left out\n", 0))

    def test_lasting_messages(self):
        """A client that joins late, and one that watches while the replay jumps, get the lasting messages in force then."""
        demo = demo_codec.Writer()
        day = lambda number: demo_codec.pack_int(1 << 1) + b"day %d" % number
        records = demo_codec.pack_int(0) + bytes.fromhex("804f149f9b533b0a897f59663a1c4eb9")
        for tick in range(1000, 4000, 2):
            demo.snapshot(tick, [(5, 0, [tick, 0, 0, 0])])
            if tick in (1100, 1200, 3000):
                demo.message(day(tick) + b"\0")
                demo.message(records + demo_codec.pack_ints([tick, tick + 1]))
        source, recorded = self.folder / "source.demo", self.folder / "recorded.demo"
        source.write_bytes(demo.out)
        with Serving(source, "--map", MAP) as server:
            server.command("pause")
            server.command("seek 2000")
            address = f"127.0.0.1:{server.port}"
            with subprocess.Popen([TEEWIRE, "record", address, "-o", recorded], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as recorder, \
                    subprocess.Popen([TEEWIRE, "events", address, "--type", "motd"], stdout=subprocess.PIPE) as listener:
                self.assertTrue(any(b"recording to" in line for line in recorder.stderr))
                for tick in (1200, 3000):
                    self.assertEqual(json.loads(listener.stdout.readline())["text"], f"day {tick}")
                    time.sleep(0.5) # for the recorder, which has been sent the same
                    server.command("seek 3500")
                recorder.send_signal(signal.SIGINT)
                listener.send_signal(signal.SIGINT)
                recorder.stderr.read()
        messages = [content for kind, content in demo_codec.read_demo(recorded.read_bytes(), {}) if kind == demo_codec.MESSAGE]
        for n, tick in enumerate((1200, 3000)):
            self.assertTrue(messages[2 * n].startswith(day(tick) + b"\0"), messages)
            self.assertTrue(messages[2 * n + 1].startswith(records + demo_codec.pack_ints([tick, tick + 1])), messages)
        self.assertEqual(len(messages), 4)

    def test_who_watches_is_on_the_screen(self):
        """And nothing is written beside its rows."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        with Terminal(TEEWIRE, "serve", DEMO, "--map", MAP, "--loop", "--bind", "127.0.0.1", "--port", port, columns=100) as shown:
            shown.row(2, r"^tick \d+ .* 0 watching")
            before = len(shown.raw)
            output_of("dump", f"127.0.0.1:{port}", "--protocol", "0.6", "--duration", "0.3")
            shown.row(4, r"^teewire \(127\.0\.0\.1:\d+\) watches\s*$")
            shown.row(5, r"^teewire \(127\.0\.0\.1:\d+\) ")
            self.assertNotIn(b"\n", shown.raw[before:])
            shown.type(b"q")
            self.assertEqual(shown.ended(), 0)

    def test_no_more_lines(self):
        """It goes on."""
        with Serving(DEMO, "--map", MAP) as server:
            server.process.stdin.close()
            with self.assertRaises(subprocess.TimeoutExpired):
                server.process.wait(0.3)
            server.process.terminate()
            self.assertIn("0 joined", server.line())
            self.assertEqual(server.process.wait(STUCK), 0)

    def test_a_hangup_that_is_ignored(self):
        """As under nohup: it goes on, and other signals end it."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the program inherits
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        for number in (signal.SIGINT, signal.SIGTERM):
            with Serving(DEMO, "--map", MAP) as server:
                server.process.send_signal(signal.SIGHUP)
                for _ in range(2):
                    self.assertRegex(server.status(), "^tick 752 ")
                server.process.send_signal(number)
                self.assertIn("0 joined", server.line())
                self.assertEqual(server.process.wait(STUCK), 0)

    def test_a_hangup(self):
        with Serving(DEMO, "--map", MAP) as server:
            server.process.send_signal(signal.SIGHUP)
            self.assertIn("0 joined", server.line())
            self.assertEqual(server.process.wait(STUCK), 0)

    def test_two_signals(self):
        """The second one ends it where it is, and the terminal is as it was."""
        for command in (["serve", DEMO, "--map", MAP, "--bind", "127.0.0.1", "--port", "0"], ["play", DEMO]):
            with Terminal(TEEWIRE, *command) as shown:
                shown.row(1, r"^ddnet_dm1\.demo")
                for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
                    os.kill(shown.pid, number)
                self.assertEqual(shown.ended(), 130)
                self.assertTrue(shown.raw.endswith(b"\x1b[?1049l"), shown.raw[-40:])
                self.assertEqual(termios.tcgetattr(shown.end)[3] & (termios.ECHO | termios.ICANON),
                                 termios.ECHO | termios.ICANON)

    def test_addresses_that_cannot_be_had(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            at = ["--bind", "127.0.0.1", "--port", str(taken.getsockname()[1])]
            done = run("serve", DEMO, "--map", MAP, *at)
        self.assertEqual(done[:2], (3, ""))
        of_map, of_address = done[2].splitlines()
        self.assertRegex(of_map, r"ddnet\.map: has crc \w{8}, but .*ddnet_dm1\.demo was recorded on a dm1 with crc f2159e6e; serving "
                                 r"it anyway$")
        self.assertEqual(of_address, f"teewire: 127.0.0.1:{at[3]}: Address already in use")

    def test_what_the_browser_is_told(self):
        for more, name, most in ([], b"teewire replay: ddnet_dm1.demo", 64), (
                ["--title", "here", "--max-clients", "5"], b"here", 5), (["--max-clients", "1000"], None, 256):
            with Serving(DEMO, "--map", MAP, *more) as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                asking.settimeout(STUCK)
                asking.sendto(b"\xff" * 10 + b"gie3" + b"\x07", ("127.0.0.1", server.port))
                fields = asking.recv(2048)[14:].split(b"\0")
            # Token, version, name, map, game type, flags, players, most of them, clients, most of them
            self.assertEqual(fields[:2] + fields[3:5], [b"7", b"0.6.4", b"dm1", b"replay"])
            if name:
                self.assertEqual(fields[2], name)
            self.assertEqual([int(n) for n in fields[6:10]], [0, most, 0, most])

    def test_a_crowd_that_leaves_at_once(self):
        """No more than 20 lines at once are printed."""
        count = 42 # more than 20 even where the server prints twice before it has read all farewells
        with Serving(DEMO, "--map", MAP, "--loop", "--max-clients-per-ip", count) as server:
            recorders = [subprocess.Popen([TEEWIRE, "record", f"127.0.0.1:{server.port}", "--protocol", "0.6", "-o",
                                           self.folder / f"{i}.demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                         for i in range(count)]
            try:
                come = []
                while len(come) < count:
                    line = server.line()
                    if more := re.fullmatch(r"\.\.\. and (\d+) more", line):
                        come += [line] * int(more[1])
                        continue
                    self.assertRegex(line, r"^teewire \(127\.0\.0\.1:\d+\) watches$")
                    come.append(line)
                self.assertIn(f"{count} watching", server.status())
                for recorder in recorders: # has a snapshot
                    self.assertTrue(any(b"recording to" in line for line in iter(recorder.stderr.readline, b"")))
                server.process.send_signal(signal.SIGSTOP)
            finally:
                for recorder in recorders:
                    recorder.send_signal(signal.SIGINT)
                for recorder in recorders:
                    recorder.communicate(timeout=STUCK)
            server.process.send_signal(signal.SIGCONT)
            gone, at_once, left_out = 0, 0, 0
            while gone < count:
                line = server.line()
                if more := re.fullmatch(r"\.\.\. and (\d+) more", line):
                    self.assertGreaterEqual(at_once, 19)
                    gone, at_once, left_out = gone + int(more[1]), 0, left_out + int(more[1])
                    continue
                self.assertRegex(line, r"^teewire \(127\.0\.0\.1:\d+\) leaves$")
                gone, at_once = gone + 1, at_once + 1
            self.assertGreater(left_out, 0)
            said, code = server.quit()
        self.assertEqual(code, 0)
        report = re.fullmatch(rf"{count} joined, (\d+) snapshots? sent in (\d+) packets?, 0 refused by the system; (\d+) packets? "
                              r"received, \d+ ignored; \d+ ticks? left out\n", said)
        self.assertTrue(report, said)
        self.assertTrue(all(int(n) >= count for n in report.groups()), said)

    def test_keys(self):
        with Terminal(TEEWIRE, "serve", DEMO, "--map", MAP, "--bind", "127.0.0.1", "--port", "0", rows=12) as shown:
            shown.row(1, r"^ddnet_dm1\.demo *$")
            shown.row(2, r"^tick 752   0:00\.0 / 0:30\.0   speed 1x   playing   0 watching")
            shown.row(12, "^space pause .* q quit")
            for key, tick in ((RIGHT, 1002), (RIGHT, 1252), (LEFT, 1002), (PAGE_DOWN, 2252), (LEFT, 2002), (PAGE_UP, 752),
                              (END, 2252), (HOME, 752)):
                shown.type(key)
                shown.row(2, f"^tick {tick} ")
            for key, state in ((b" ", "speed 1x   paused"), (b"+", "speed 2x   paused"), (b"--", r"speed 0\.5x   paused"),
                               (b"+" * 20, "speed 64x"), (b"-" * 20, r"speed 0\.0625x"), (b" ", "playing")):
                shown.type(key)
                shown.row(2, f"   {state}")
            shown.type(b"q")
            self.assertEqual(shown.ended(), 0)
        self.assertIn(b"0 joined", shown.raw)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
