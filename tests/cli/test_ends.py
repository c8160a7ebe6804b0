#!/usr/bin/env python3
"""The program ends: at signals wherever it is, within limits whatever it reads. Usage: test_ends.py TEEWIRE FIXTURES"""
import array
import fcntl
import json
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zlib

from limits import STUCK
from made_maps import VERSION, datafile, group, quads, tiles, zeros
from processes import catches_signals, until, until_it_works

TEEWIRE = sys.argv[1]
FIXTURES = pathlib.Path(sys.argv[2])
DEMO = FIXTURES / "demos/ddnet_dm1.demo"
MAP = FIXTURES / "maps/ddnet.map"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AT_ONCE, SOON = 0.2, 0.5  # seconds; measured on an otherwise idle machine

# The way each verb reads a file; FILE and OUT are put in. The last test of Waiting covers verbs that read none.
READING = (["info", "FILE"], ["dump", "FILE"], ["events", "FILE"], ["stats", "FILE"], ["du", "FILE"], ["verify", "FILE"],
           ["play", "FILE"],
           ["serve", "--port", "0", "--bind", "127.0.0.1", "FILE"], ["relay", "--http", "0", "--bind", "127.0.0.1", "FILE"],
           ["capture", "FILE"],
           ["capture", "--connection", "1", "FILE"], ["cut", "-o", "OUT", "FILE"], ["diff", "FILE", str(DEMO)],
           ["join", "-o", "OUT", DEMO, "FILE"], ["merge", "-o", "OUT", DEMO, "FILE"], ["redact", "-o", "OUT", "FILE"],
           ["repair", "-o", "OUT", "FILE"], ["export", "-o", "OUT", "FILE"], ["index", "FILE"],
           ["compress", "--method", "zstd", "-o", "OUT", "FILE"], ["compress", "--method", "tda", "-o", "OUT", "FILE"],
           ["decompress", "-o", "OUT", "FILE"], ["picture", "-o", "OUT", "FILE"], ["video", "--format", "y4m", "-o", "OUT", "FILE"],
           ["map", "info", "FILE"], ["map", "check", "FILE"], ["map", "extract", "-o", "OUT", "FILE"],
           ["map", "render", "-o", "OUT", "FILE"], ["map", "convert", "--level", "9", "-o", "OUT", "FILE"])


def waiting_bytes(pipe):
    size = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.running = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()

    def start(self, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
        process = subprocess.Popen([TEEWIRE, *map(str, arguments)], **options)
        self.running.append(process)
        return process

    def with_file(self, verb, file):
        return [{"FILE": file, "OUT": self.folder / "out/file"}.get(word, word) for word in verb]

    def run_limited(self, *arguments, limit=None, **options):
        done = subprocess.run([TEEWIRE, *map(str, arguments)], capture_output=True, timeout=STUCK,
                              preexec_fn=limit and limited(*limit), **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def check_end(self, process, number, within, what):
        """A signal ends it in time."""
        begin = time.monotonic()
        process.send_signal(number)
        try:
            code = process.wait(STUCK)
        except subprocess.TimeoutExpired:
            self.fail(f"{what}: {number.name} is ignored")
        took = time.monotonic() - begin
        self.assertEqual(code, 130, (what, number.name))
        self.assertLess(took, within, (what, number.name))
        self.assertEqual(list((self.folder / "out").glob("**/*")), [], what)
        return took


class Waiting(Ends):
    """For input that does not come, and for readers that are not there."""

    def setUp(self):
        super().setUp()
        (self.folder / "out").mkdir()

    def test_standard_input(self):
        slowest = 0
        for verb in READING:
            for number in SIGNALS:
                process = self.start(*self.with_file(verb, "-"), stdin=subprocess.PIPE)
                until(lambda: catches_signals(process), "signals are caught")
                process.stdin.write(b"TW")
                process.stdin.flush()
                until(lambda: waiting_bytes(process.stdin) == 0, "the first bytes are taken")
                slowest = max(slowest, self.check_end(process, number, AT_ONCE, verb))
        print(f"standard input: ends after {slowest * 1000:.0f} ms at most")

    def test_pipes_without_a_writer(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for verb in READING:
            process = self.start(*self.with_file(verb, fifo))
            until(lambda: catches_signals(process), "signals are caught")
            self.check_end(process, signal.SIGTERM, AT_ONCE, verb)

    def test_pipes_without_a_reader(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for verb in (["map", "extract", "--block", "0", MAP], ["map", "render", MAP], ["map", "convert", "--level", "9", MAP],
                     ["cut", DEMO], ["join", DEMO], ["merge", DEMO]):
            process = self.start(*verb, "-o", fifo)
            until(lambda: "S (sleeping)" in pathlib.Path(f"/proc/{process.pid}/status").read_text() and
                  catches_signals(process), "it waits")
            self.check_end(process, signal.SIGINT, SOON, verb)

    def test_readers_that_do_not_read(self):
        for verb in (["dump", DEMO], ["dump", "--jobs", "1", DEMO], ["map", "extract", long_map(), "-o", "-"]):
            taken, given = os.pipe()
            fcntl.fcntl(given, 1031, 4096)  # F_SETPIPE_SZ
            process = self.start(*verb, stdout=given)
            os.close(given)
            until(lambda: waiting_bytes(taken) == 4096 or process.poll() is not None, "the pipe is full")
            self.assertIsNone(process.poll(), verb)
            self.check_end(process, signal.SIGTERM, SOON, verb)
            os.close(taken)

    def test_every_verb_is_here(self):
        help_ = subprocess.run([TEEWIRE, "--help"], capture_output=True, text=True, timeout=STUCK).stdout
        verbs = set(re.findall(r"^  ([a-z]+)\s", help_.partition("\nOptions:")[0], re.MULTILINE))
        self.assertIn("info", verbs)
        self.assertEqual(verbs - {verb[0] for verb in READING} - {"record", "types", "web"}, set())


def make_once(make):
    """A large file, which all tests share."""
    made = []

    def get():
        if not made:
            made.append(SHARED / make.__name__)
            made[0].write_bytes(make())
        return made[0]
    return get


@make_once
def long_demo():
    whole = DEMO.read_bytes()
    first = whole.index(b"\xc0\x00\x00\x02\xf0")  # keyframe, tick 752
    return whole[:first] + whole[first:] * 400


@make_once
def long_noise():
    """A demo whose end is nothing that is found in it again: what repeats is compressed in no time."""
    return DEMO.read_bytes() + os.urandom(128 << 20)


@make_once
def long_capture():
    frame = bytes(12) + bytes.fromhex("0800 4500 0030") + bytes(5) + b"\x11" + bytes(10) + bytes(4) + \
        bytes.fromhex("0014 0000") + bytes(12)
    return struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) + \
        (struct.pack("<4I", 1, 0, len(frame), len(frame)) + frame) * 3_000_000


@make_once
def long_map():
    """A small file of four GiB, with a quad that covers everything many times."""
    corners = [-2**28, -2**28, 2**28, -2**28, -2**28, 2**28, 2**28, 2**28, 0, 0]
    quad = struct.pack("<38i", *corners, *[255, 255, 255, 100] * 4, *[0] * 8, -1, 0, -1, 0)
    content = zlib.compress(quad * 1000)
    size = 200 * 200 * 4
    game = zlib.compress(bytes(size))
    return datafile([VERSION, group(2), tiles(0, 200, 200, 0, flags=1), quads(1, 1000, 1)],
                    [(game, size), (content, len(quad) * 1000)] + [zeros(256 << 20)] * 16)


class LongWork(Ends):
    """In one file."""

    def setUp(self):
        super().setUp()
        (self.folder / "out").mkdir()

    def test_signals(self):
        slowest = 0, None
        out = self.folder / "out/file"
        for verb in (["verify", "--jobs", "1", long_demo()], ["info", long_demo()], ["dump", long_demo()],
                     ["dump", "--format", "checksum", long_demo()], ["play", "--speed", "1000", long_demo()],
                     ["serve", "--port", "0", "--map", MAP, long_demo()], ["cut", long_demo(), "--around", "kill", "-o", out],
                     ["join", *[DEMO] * 400, "-o", out], ["merge", *[DEMO] * 400, "-o", out],
                     ["export", long_demo(), "-o", out], ["export", "--format", "arrow", long_demo(), "-o", out],
                     ["events", long_demo()], ["stats", long_demo()], ["du", long_demo()], ["diff", long_demo(), long_demo()],
                     ["redact", long_demo(), "-o", out], ["repair", long_demo(), "-o", out], ["index", "--force", long_demo()],
                     ["compress", "--method", "zstd", long_noise(), "-o", out],
                     ["compress", "--method", "tda", long_noise(), "-o", out],
                     ["capture", long_capture()], ["dump", long_capture()],
                     ["capture", "--connection", "1", long_capture()], ["map", "info", long_map()],
                     ["map", "info", "--format", "ndjson", long_map()], ["map", "check", long_map()],
                     ["map", "render", long_map(), "--scale", "49", "-o", out],
                     ["map", "render", long_map(), "--scale", "49", "--layer", "game", "-o", out],
                     ["map", "convert", "--level", "9", long_map(), "-o", out],
                     ["map", "extract", "--block", "2", long_map(), "-o", out]):
            for number in (signal.SIGINT, signal.SIGTERM):
                process = self.start(*verb)
                until_it_works(process)
                self.assertIsNone(process.poll(), f"{verb} is too fast for this test")
                slowest = max(slowest, (self.check_end(process, number, SOON, verb), verb[:2]), key=lambda s: s[0])
        print(f"long work: ends after {slowest[0] * 1000:.0f} ms at most, {' '.join(map(str, slowest[1]))}")

    def test_two_signals(self):
        """The second one ends it where it is."""
        out = self.folder / "out/file"
        for verb in (["export", long_demo(), "-o", out], ["export", "--format", "arrow", long_demo(), "-o", out],
                     ["redact", long_demo(), "-o", out], ["compress", "--method", "zstd", long_noise(), "-o", out]):
            process = self.start(*verb)
            until_it_works(process)
            process.send_signal(signal.SIGINT)
            self.check_end(process, signal.SIGTERM, SOON, verb)

    def test_nohup(self):
        process = self.start("serve", "--port", "0", "--map", MAP, long_demo(), preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN))
        until(lambda: catches_signals(process), "signals are caught")
        process.send_signal(signal.SIGHUP)  # nohup
        until_it_works(process)
        self.assertIsNone(process.poll())
        self.check_end(process, signal.SIGTERM, SOON, "serve")


class Limits(Ends):
    def test_help_that_cannot_be_written(self):
        for arguments in ([], ["info"], ["record"], ["map"], ["map", "render"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TEEWIRE, *arguments, "--help"], stdout=full, stderr=subprocess.PIPE, timeout=STUCK)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertIn(b"standard output: cannot be written", done.stderr)
        with open("/dev/full", "wb") as full:
            self.assertEqual(subprocess.run([TEEWIRE, "--version"], stdout=full, stderr=full, timeout=STUCK).returncode, 3)

    def test_streams_without_end(self):
        for verb in (["info"], ["verify"], ["map", "info"], ["map", "check"]):
            code, out, err = self.run_limited(*verb, "/dev/zero", limit=(resource.RLIMIT_AS, 500 << 20))
            self.assertEqual(code, 3, verb)
            self.assertRegex(out + err, r"/dev/zero: not enough memory for more than \d+ bytes")
        code, _, err = self.run_limited("info", "/dev/zero")
        self.assertEqual(code, 3)
        self.assertIn("/dev/zero: more than 1 GiB", err)
        with open("/dev/zero", "rb") as zero:
            code, _, err = self.run_limited("map", "info", "-", stdin=zero)
        self.assertEqual(code, 3)
        self.assertIn("standard input: more than 1 GiB", err)

    def test_a_file_that_is_cut_while_it_is_read(self):
        file = self.folder / "cut.demo"
        for attempt in range(20):
            with open(file, "wb") as f:
                f.truncate(1 << 30)
            process = self.start("info", file, stderr=subprocess.PIPE)
            reads = lambda: int(re.search(r"rchar: (\d+)", pathlib.Path(f"/proc/{process.pid}/io").read_text())[1])
            until(lambda: process.poll() is not None or reads() > 2 << 20, "it reads")
            process.send_signal(signal.SIGSTOP)
            os.truncate(file, 1 << 20)
            process.send_signal(signal.SIGCONT)
            _, err = process.communicate(timeout=STUCK)
            if b"not a demo" in err:
                continue  # it was faster
            self.assertEqual(process.returncode, 3)
            self.assertRegex(err.decode(), r"cut.demo: byte \d+: the file was truncated while it was read, it had 1073741824 bytes")
            return
        self.fail("it could not be cut in time")

    def test_a_file_that_is_cut_during_the_work(self):
        file = self.folder / "cut.demo"
        whole = DEMO.read_bytes()
        file.write_bytes(whole)
        expected = self.run_limited("dump", DEMO)
        process = self.start("dump", file, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = os.read(process.stdout.fileno(), 1)
        os.truncate(file, 1000)
        out, err = process.communicate(timeout=STUCK)
        self.assertEqual((process.returncode, (first + out).decode(), err.decode()), expected)

    def test_threads_that_cannot_be_made(self):
        one = self.run_limited("verify", DEMO)
        for count in (1, 500):
            code, out, err = self.run_limited("verify", "--jobs", "1000", *[DEMO] * count,
                                              limit=(resource.RLIMIT_AS, 2_000_000 << 10))
            self.assertEqual((code, out, err), (0, one[1] * count, ""))
        # Not one: each would have a stack of 1 GiB.
        def no_room():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, resource.RLIM_INFINITY))
            resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))
        for verb in (["verify"], ["info"], ["dump"]):
            expected = self.run_limited(*verb, DEMO)
            done = subprocess.run([TEEWIRE, *verb, "--jobs", "4", DEMO], capture_output=True, timeout=STUCK,
                                  preexec_fn=no_room)
            self.assertEqual((done.returncode, done.stdout.decode(), done.stderr.decode()), expected, verb)


class MapWork(Ends):
    """Follows what is in a map, not how often it is named."""

    def info(self, items, blocks, seconds=10, verbs=(["info"], ["check"])):
        file = self.folder / "work.map"
        file.write_bytes(datafile(items, blocks))
        for verb in (*verbs, ["info", "--format", "ndjson"]):
            code, out, err = self.run_limited("map", *verb, file, limit=(resource.RLIMIT_CPU, seconds))
            self.assertIn(code, (0, 1), f"{verb}: {err}")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_many_layers_of_one_block(self):
        block = zeros(16 << 20)
        layers = [tiles(0, 40, 40, 1, flags=1)] + [tiles(i, 2000, 2000, 0) for i in range(1, 5001)]
        shown = self.info([VERSION, group(len(layers)), *layers], [block, (zlib.compress(bytes(6400)), 6400)])
        self.assertEqual([l["tile_bytes"] for l in shown["layers"]], [6400] + [16 << 20] * 5000)

    def test_many_names_in_one_block(self):
        text = b"x" * (16 << 20)
        images = [(2, i, [1, 16, 16, 1, 0, -1]) for i in range(5000)]
        shown = self.info([VERSION, group(1), tiles(0, 40, 40, 1, flags=1), *images],
                          [(zlib.compress(text), len(text)), (zlib.compress(bytes(6400)), 6400)], verbs=())
        self.assertEqual({(i["name"], i["name_cut"]) for i in shown["images"]}, {("x" * 1024, True)})

    def test_the_limit_of_all_blocks(self):
        block = zeros(256 << 20)
        shown = self.info([VERSION, group(1), tiles(0, 40, 40, 0, flags=1)],
                          [(zlib.compress(bytes(6400)), 6400)] + [block] * 6, 60, verbs=())
        self.assertEqual(["error" in b for b in shown["data"]], [False] * 4 + [True] * 3)
        self.assertIn("larger than the limit", shown["data"][-1]["error"])

    def test_groups_of_the_same_layers(self):
        layers = [tiles(i, 40, 40, 0, flags=int(not i)) for i in range(1000)]
        self.info([VERSION, *(group(1000, i) for i in range(1000)), *layers], [(zlib.compress(bytes(6400)), 6400)])

    def test_envelopes_of_the_same_points(self):
        points = [n for i in range(30_000) for n in (i, 1, 0, 0, 0, 0)]
        envelopes = [(3, i, [2, 4, 0, 30_000, *[-2139062144] * 8, 0]) for i in range(10_000)]
        shown = self.info([VERSION, group(1), tiles(0, 40, 40, 0, flags=1), *envelopes, (6, 0, points)],
                          [(zlib.compress(bytes(6400)), 6400)])
        self.assertEqual(shown["envpoints"]["non_monotonic_envelopes"], 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="teewire-") as shared:
        SHARED = pathlib.Path(shared)
        unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
