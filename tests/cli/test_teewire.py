#!/usr/bin/env python3
"""The program as its users see it: output, exit codes, damaged files. Usage: test_teewire.py TEEWIRE FIXTURES"""
import csv
import hashlib
import io
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from limits import STUCK
from program import TEEWIRE, run
from real_demos import SHARE

FIXTURES = pathlib.Path(sys.argv[2])
DEMO = FIXTURES / "demos/ddnet_dm1.demo"


def first_chunk(demo):
    """Where the chunks begin, after header and map."""
    version = demo[7]
    header = 176 if version < 4 else 436 if version < 6 else 484
    return header + int.from_bytes(demo[136:140], "big")


class Program(unittest.TestCase):
    def test_help_and_usage(self):
        for arguments in (["--help"], ["info", "--help"], ["dump", "--help"], ["verify", "--help"], ["play", "--help"]):
            code, out, err = run(*arguments)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("--help", out)
        for arguments in ([], ["nothing"], ["dump"], ["dump", DEMO, "--format", "xml"], ["play", DEMO, "--speed", "0"],
                          ["dump", DEMO, "--type", "nonsense"], ["dump", DEMO, "--format", "csv"]):
            code, out, err = run(*arguments)
            self.assertEqual((code, out), (2, ""), arguments)
            self.assertNotEqual(err, "")

    def test_version(self):
        self.assertRegex(run("--version")[1], r"^\d+\.\d+\.\d+ \((scalar|sse2|avx2|avx512|neon)\)\n$")

    def test_missing_and_foreign_files(self):
        for verb in ("info", "dump", "verify", "play"):
            code, out, err = run(verb, FIXTURES / "no-such-file")
            self.assertEqual(code, 3, verb)
            self.assertIn("no such file", out + err)
            code, out, err = run(verb, FIXTURES / "vectors")
            self.assertEqual(code, 3 if verb == "play" else 2, verb)
            code, out, err = run(verb, FIXTURES / "MANIFEST.tsv")
            self.assertEqual(code, 2, verb)
            self.assertIn("not a demo", out + err)
            code, out, err = run(verb, "-")  # nothing at all
            self.assertEqual(code, 1, verb)


class Dump(unittest.TestCase):
    def test_checksums_of_all_fixtures(self):
        for demo in sorted((FIXTURES / "demos").glob("*.demo")):
            code, out, err = run("dump", "--format", "checksum", demo)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(out, (FIXTURES / "expected" / f"{demo.stem}.txt").read_text(), demo)

    def test_standard_input(self):
        _, from_file, _ = run("dump", "--format", "checksum", DEMO)
        code, out, err = run("dump", "--format", "checksum", "-", stdin=DEMO.read_bytes())
        self.assertEqual((code, out, err), (0, from_file, ""))

    def test_ranges(self):
        _, whole, _ = run("dump", "--format", "checksum", DEMO)
        lines = whole.splitlines()
        ticks = [int(line.split()[0]) for line in lines]
        for first, last in ((ticks[0], ticks[5]), (1000, 1500), (1501, 1501), (0, 900), (2000, 10**6), (10**6, 10**7)):
            code, out, _ = run("dump", "--format", "checksum", "--from", first, "--to", last, DEMO)
            self.assertEqual(code, 0)
            self.assertEqual(out.splitlines(), [l for l, t in zip(lines, ticks) if first <= t <= last])

    def test_ranges_of_nothing(self):
        """It is reported and is not an error, because others of many files may have something."""
        capture = DEMO.parent.parent / "captures" / "ddnet_lossy.pcap"
        for verb in (("dump", "--format", "checksum"), ("events", "--format", "ndjson")):
            for file, ticks in ((DEMO, "752 to 2252"), (capture, "760 to 922")):
                for options, words in ((("--to", 20), f"0 to 20; it has ticks {ticks} (20 is a tick, 20s a time)"),
                                       (("--from", 5000), f"5000 on; it has ticks {ticks}")):
                    self.assertEqual(run(*verb, *options, file),
                                     (0, "", f"teewire: {file}: nothing to show from tick {words}\n"))
            for first, last in (("20s", "10s"), (1000, 999), ("-0:01", "-0:05")):
                self.assertEqual(run(*verb, "--from", first, "--to", last, DEMO, DEMO),
                                 (2, "", "teewire: --from is after --to\n"))
            # Where one counts from the end, that depends on the recording.
            self.assertEqual(run(*verb, "--from", "0:29", "--to", "-0:02", DEMO),
                             (0, "", f"teewire: {DEMO}: nothing to show from tick 2202 to 2152; it has ticks 752 to 2252\n"))
            self.assertNotEqual(run(*verb, "--from", "-0:05", "--to", "-0:01", DEMO)[1], "")
        # No event of a kind is something else.
        self.assertEqual(run("events", "--type", "finish", "--from", 800, DEMO), (0, "", ""))

    def test_from_before_the_first_keyframe(self):
        # The first tick of 0.6 servers may come long before the first keyframe. Here a marker is put before all chunks.
        whole = DEMO.read_bytes()
        first = whole.index(b"\xc0\x00\x00\x02\xf0")  # keyframe, tick 752
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "early.demo"
            file.write_bytes(whole[:first] + b"\x80\x00\x00\x02\x00" + whole[first:])
            _, expected, _ = run("dump", "--format", "checksum", DEMO)
            code, out, err = run("dump", "--format", "checksum", "--from", 700, file)
            self.assertEqual((code, out, err), (0, expected, ""))

    def test_ndjson(self):
        _, checksums, _ = run("dump", "--format", "checksum", DEMO)
        code, out, err = run("dump", DEMO)
        self.assertEqual((code, err), (0, ""))
        for line, checksum in zip(out.splitlines(), checksums.splitlines(), strict=True):
            snapshot = json.loads(line)
            tick, items, _, sum_, _ = checksum.split()
            self.assertEqual((snapshot["tick"], snapshot["checksum"]), (int(tick), sum_))
            self.assertEqual(sum(map(len, snapshot["items"].values())), int(items))
        items = snapshot["items"]
        self.assertEqual(items["client_info"]["0"]["name"], "bot00")
        self.assertIn(items["character"]["1"]["weapon"], ("hammer", "gun"))
        self.assertEqual(items["extended_type"]["32767"]["uuid"], "933dea6a-da79-30ea-a98f-8af03689a945")

    def test_types(self):
        _, out, _ = run("dump", "--type", "player_info,client_info", DEMO)
        self.assertEqual(set(json.loads(out.splitlines()[0])["items"]), {"player_info", "client_info"})
        _, out, _ = run("dump", FIXTURES / "demos/teeworlds07_dm1.demo", "--type", "game_data")
        self.assertEqual(set(json.loads(out.splitlines()[-1])["items"]), {"game_data"})

    def test_csv(self):
        _, ndjson, _ = run("dump", "--type", "character", DEMO)
        code, out, err = run("dump", "--format", "csv", "--type", "character", DEMO)
        self.assertEqual((code, err), (0, ""))
        rows = list(csv.DictReader(io.StringIO(out)))
        expected = [(str(s["tick"]), i, str(c["x"]), c["weapon"]) for s in map(json.loads, ndjson.splitlines())
                    for i, c in s["items"].get("character", {}).items()]
        self.assertEqual([(r["tick"], r["id"], r["character.x"], r["character.weapon"]) for r in rows], expected)
        self.assertGreater(len(rows), 1000)

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TEEWIRE, "dump", DEMO], stdout=full, stderr=subprocess.PIPE, timeout=STUCK)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"cannot be written", done.stderr)


class Damage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "damaged.demo"

    def test_truncation_delivers_what_came_before(self):
        whole = DEMO.read_bytes()
        _, lines, _ = run("dump", "--format", "checksum", DEMO)
        for size in (len(whole) - 1, len(whole) // 2, len(whole) // 3 + 1, 500):
            self.file.write_bytes(whole[:size])
            code, out, err = run("dump", "--format", "checksum", self.file)
            self.assertTrue(lines.startswith(out))
            if code == 0:
                continue  # cut between two chunks
            self.assertEqual(code, 1)
            self.assertRegex(err, r"damaged.demo: (tick \d+|before the first tick), byte \d+: ")
            verified, line, _ = run("verify", self.file)
            self.assertEqual(verified, 1)
            self.assertRegex(line, r": bad: .*byte \d+")
            code, out, _ = run("info", "--format", "ndjson", self.file)
            self.assertEqual(code, 1)
            self.assertTrue(json.loads(out)["error"])

    def test_broken_delta(self):
        whole = bytearray(DEMO.read_bytes())
        for at in range(100_000, 100_040):
            whole[at] ^= 0x55
        self.file.write_bytes(whole)
        code, out, err = run("dump", "--format", "checksum", self.file)
        self.assertEqual(code, 1)
        self.assertGreater(out.count("\n"), 100)
        self.assertRegex(err, r"tick \d+, byte \d+: (chunk|huffman|varint|snapshot|delta|the data)")

    def test_strict(self):
        data = bytearray(DEMO.read_bytes())
        data[8:8 + 64] = b"x" * 64  # text without an end
        self.file.write_bytes(data)
        code, out, _ = run("verify", self.file)
        self.assertEqual(code, 0)
        self.assertIn("1 quirk", out)
        code, out, _ = run("verify", "--strict", self.file)
        self.assertEqual(code, 1)

    def test_verify_goes_on_after_bad_files(self):
        self.file.write_bytes(DEMO.read_bytes()[:1000])
        code, out, _ = run("verify", "--jobs", 2, DEMO, self.file, FIXTURES / "demos/ddnet_v3.demo")
        self.assertEqual(code, 1)
        lines = out.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn(": ok: 751 snapshots", lines[0])
        self.assertIn(": bad: ", lines[1])
        self.assertIn(": ok: 175 snapshots", lines[2])
        self.assertEqual(run("verify", "--jobs", 1, *sorted((FIXTURES / "demos").glob("*.demo")))[0], 0)


class Jobs(unittest.TestCase):
    """The output does not depend on the number of threads."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "some.demo"

    def outputs(self, *arguments):
        alone, *others = (run(arguments[0], "--jobs", jobs, *arguments[1:]) for jobs in (1, 2, 5))
        for other in others:
            self.assertEqual(other, alone, arguments)
        return alone

    def test_whole_and_damaged_files(self):
        # Three of them, where the program is slow.
        demos = sorted((FIXTURES / "demos").glob("*.demo"))[::3 if SHARE > 8 else 1]
        for number, demo in enumerate(demos):
            whole = demo.read_bytes()
            begin = first_chunk(whole)
            at = lambda part: begin + int((len(whole) - begin) * part)
            copies = [whole, whole[:-1], whole[:at(0.7)], whole[:at(0.4)], whole[:at(0.1)], whole[:at(0)]]
            for part in (0, 0.05, 0.3, 0.5, 0.8, 0.99):
                copies.append(bytearray(whole))
                for k in range(at(part), min(at(part) + 3, len(whole))):
                    copies[-1][k] ^= 0x55
            codes = set()
            share = min(SHARE, 4)  # of each demo some that are damaged
            for copy in [whole, *copies[1 + number % share::share]]:
                self.file.write_bytes(copy)
                codes.add(self.outputs("verify", self.file)[0])
                self.outputs("verify", "--strict", self.file)
                self.outputs("info", self.file)
                self.outputs("info", "--format", "ndjson", self.file)
                _, out, _ = self.outputs("dump", "--format", "checksum", self.file)
                self.outputs("dump", "--format", "csv", "--type", "character", self.file)
                ticks = [int(line.split()[0]) for line in out.splitlines()] or [1]
                for tick in (ticks[0] + 1, ticks[len(ticks) // 2], ticks[-1] + 1):
                    self.outputs("dump", "--format", "checksum", "--from", tick, self.file)
                self.outputs("dump", "--from", ticks[0] + 400, "--to", ticks[0] + 600, self.file)
            self.assertEqual(codes, {0, 1}, demo)

    def test_several_files(self):
        self.file.write_bytes(DEMO.read_bytes()[:100_000])
        demos = [self.file, *sorted((FIXTURES / "demos").glob("*.demo")), self.file, FIXTURES / "no-such-file"]
        for arguments in (["verify"], ["info"], ["info", "--format", "ndjson"]):
            self.assertEqual(self.outputs(*arguments, *demos)[0], 3)

    def test_quirks_between_segments(self):
        whole = DEMO.read_bytes()
        # An unused chunk, and a keyframe of an earlier tick.
        self.file.write_bytes(whole + b"\x03abc" + whole[first_chunk(whole):])
        code, out, _ = self.outputs("verify", self.file)
        self.assertEqual(code, 0)
        self.assertIn(": ok: 1502 snapshots", out)
        self.assertIn("; 2 quirks, the first at byte ", out)

    def test_no_keyframes(self):
        whole = DEMO.read_bytes()
        self.file.write_bytes(whole[:first_chunk(whole)] + b"\x03abc" * 30_000)  # unused chunks
        _, out, _ = self.outputs("verify", self.file)
        self.assertIn(": ok: 0 snapshots, 0 messages; 30000 quirks", out)

    def test_interrupt(self):
        _, whole, _ = run("dump", DEMO)
        for jobs in (1, 2, 5):
            process = subprocess.Popen([TEEWIRE, "dump", "--jobs", str(jobs), str(DEMO)], stdout=subprocess.PIPE)
            begin = os.read(process.stdout.fileno(), 1)  # it is at it, and what it has to say does not fit into the pipe
            process.send_signal(signal.SIGINT)
            out = begin + process.communicate(timeout=STUCK)[0]
            self.assertEqual(process.returncode, 130)
            self.assertTrue(whole.startswith(out.decode()))
            self.assertLess(len(out), len(whole))

    def test_full_disk(self):
        for jobs in (1, 5):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TEEWIRE, "dump", "--jobs", str(jobs), DEMO], stdout=full,
                                      stderr=subprocess.PIPE, timeout=STUCK)
            self.assertEqual(done.returncode, 3)


class Info(unittest.TestCase):
    def test_json(self):
        code, out, err = run("info", "--format", "ndjson", DEMO, FIXTURES / "demos/teeworlds07_v5.demo")
        self.assertEqual((code, err), (0, ""))
        first, second = map(json.loads, out.splitlines())
        self.assertEqual((first["version"], first["protocol"], first["type"]), (6, "ddnet", "server"))
        self.assertEqual((first["first_tick"], first["last_tick"], first["snapshots"]), (752, 2252, 751))
        self.assertEqual(first["map"]["name"], "dm1")
        self.assertEqual({p["name"] for p in first["players"]}, {f"bot{i:02}" for i in range(6)})
        self.assertFalse(first["truncated"])
        self.assertEqual((second["version"], second["protocol"]), (5, "0.7"))

    def test_scores(self):
        """The last ones, also of those that never change."""
        for demo in (DEMO, FIXTURES / "demos/teeworlds07_dm1.demo", FIXTURES / "demos/ddnet_yard.demo"):
            players = json.loads(run("info", "--format", "ndjson", demo)[1])["players"]
            last = json.loads(run("dump", "--type", "player_info", demo)[1].splitlines()[-1])["items"]["player_info"]
            self.assertEqual({p["id"]: p["score"] for p in players}, {int(n): i["score"] for n, i in last.items()})

    def test_versions_that_are_not_supported(self):
        """A coming version is never read as one that is known."""
        demo = DEMO.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            file, out = pathlib.Path(folder) / "coming.demo", pathlib.Path(folder) / "out.demo"
            for version in (2, 7, 8):
                file.write_bytes(demo[:7] + bytes([version]) + demo[8:])
                for command in (["info"], ["verify"], ["dump"], ["events"], ["cut", "-o", out], ["join", "-o", out],
                                ["redact", "-o", out], ["repair", "-o", out], ["export", "-o", out.with_suffix(".sqlite")]):
                    if version == 2 and command[0] == "repair":
                        continue # takes that for damage
                    with self.subTest(version=version, command=command[0]):
                        code, _, err = run(*command, file)
                        self.assertEqual((code, out.exists()), (2, False), err)
                        self.assertIn(f"coming.demo: demo version {version} is not supported", err)

    def test_sha256_of_the_map(self):
        demo = DEMO.read_bytes()  # version 6, without the map
        said = demo[452:484].hex()
        shown = json.loads(run("info", "--format", "ndjson", DEMO)[1])["map"]
        self.assertEqual((shown["sha256"], "sha256_matches" in shown), (said, False))
        map_ = b"any bytes" * 1000
        expected = hashlib.sha256(map_).hexdigest()
        size = len(map_).to_bytes(4, "big")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "with_map.demo"
            for version, digest, matches in ((5, b"", None), (6, demo[436:452] + bytes.fromhex(expected), True),
                                             (6, demo[436:484], False)):
                head = demo[:7] + bytes([version]) + demo[8:136] + size + demo[140:436]
                file.write_bytes(head + digest + map_ + demo[484:])
                code, out, _ = run("info", "--format", "ndjson", file)
                shown = json.loads(out)["map"]
                self.assertEqual((code, shown["sha256"], shown.get("sha256_matches")), (0, expected, matches))
                code, out, _ = run("info", file)
                self.assertEqual((code, f"map sha256 {expected}\n" in out), (0, True))
                self.assertEqual(f"note       the header names another map, sha256 {said}\n" in out, matches is False)

    def test_text(self):
        yard, v07 = FIXTURES / "demos/ddnet_yard.demo", FIXTURES / "demos/teeworlds07_dm1.demo"
        pages = [run("info", file) for file in (yard, v07)]
        self.assertEqual({page[::2] for page in pages}, {(0, "")})
        self.assertEqual("\n".join(page[1] for page in pages), f"""\
file       {yard}
version    6, ddnet (0.6 626fce9a778df4d4)
recorded   2026-11-22_06-06-57, by a client
map        yard, 4.8 KiB, crc c3cbca94
map sha256 c79931e31676313e34d3672a1107c17a2eb2958506a0014ec312400181e4a367
ticks      310 to 558, 0:04.9
keyframes  1
chunks     125 ticks (129 B), 1 snapshot (654 B), 124 deltas (5.9 KiB), 3 messages (33 B)
players      0 bot 1
             1 bot 2
             2 watcher
state      complete

file       {v07}
version    4, 0.7 (0.7 802f1be60a05665f)
recorded   2026-11-21_07-59-23, by a server
map        dm1, not embedded, crc 64548818
ticks      216 to 1700, 0:29.6
keyframes  6
chunks     723 ticks (747 B), 6 snapshots (9.6 KiB), 717 deltas (33.2 KiB), 78 messages (1.1 KiB)
players      0 bot00  [bots]
             1 bot01  [bots]
             2 bot02  [bots]
             3 bot03  [bots]
             4 bot04  [bots]
state      complete
""")
        # Several in a table, with what is wrong on standard error.
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder, "cut.demo")
            cut.write_bytes(yard.read_bytes()[:-1])
            code, out, err = run("info", yard, v07, cut)
        self.assertEqual(code, 1)
        self.assertRegex(err, rf"^teewire: {cut}: tick 558, byte \d+: the data ends too early\n$")
        self.assertEqual(out, f"""\
recorded                length  map                   protocol  players  state      file
2026-11-22_06-06-57     0:04.9  yard                  ddnet           3  complete   {yard}
2026-11-21_07-59-23     0:29.6  dm1                   0.7             5  complete   {v07}
2026-11-22_06-06-57     0:04.9  yard                  ddnet           3  truncated  {cut}
""")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "odd.demo"
            whole = bytearray(yard.read_bytes())
            whole[140:144] = bytes(4)  # another checksum of the map
            whole[176:188] = bytes([0, 0, 0, 2, 0, 0, 1, 144, 0, 0, 1, 44])  # markers
            file.write_bytes(whole)
            out = run("info", file)[1]
            self.assertIn("map        yard, 4.8 KiB, crc 00000000 (but the embedded map has another one)\n", out)
            self.assertIn("keyframes  1\nmarkers    400 300\n", out)

    def test_what_the_header_says_of_a_file_without_the_rest(self):
        whole = (FIXTURES / "demos/ddnet_yard.demo").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "cut.demo"
            file.write_bytes(whole[:1000])
            code, out, err = run("info", file)
            self.assertEqual(code, 1)
            self.assertIn("yard, 4.8 KiB, crc c3cbca94\n", out)
            self.assertIn("truncated", out)
            self.assertNotIn("ticks  ", out)


class Play(unittest.TestCase):
    def test_plain_lines(self):
        code, out, err = run("play", "--speed", 1000, DEMO)
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("\x1b", out)
        self.assertIn("bot00", out)

    def test_pace(self):
        def seconds(*arguments):
            start = time.monotonic()
            self.assertEqual(run("play", *arguments, DEMO)[0], 0)
            return time.monotonic() - start
        self.assertGreater(seconds("--from", 2152, "--speed", 2), 0.8)  # 100 ticks: 1 s at double speed
        self.assertLess(seconds("--speed", 1000), 15)  # 30 s, which take 0.03

    def test_interrupt(self):
        process = subprocess.Popen([TEEWIRE, "play", str(DEMO)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.read(process.stdout.fileno(), 1)  # it plays
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=STUCK)
        self.assertEqual(process.returncode, 130)

    def test_terminal(self):
        child, terminal = pty.fork()
        if child == 0:
            os.environ["TERM"] = "xterm"
            os.execv(TEEWIRE, [TEEWIRE, "play", str(DEMO)])
        shown = b""

        def until(words):
            nonlocal shown
            while words not in shown:
                self.assertTrue(select.select([terminal], [], [], STUCK)[0], f"never: {words}")
                shown += os.read(terminal, 65536)
        until(b"playing")
        os.write(terminal, b" ")
        until(b"paused")
        os.write(terminal, b"q")
        try:
            while block := os.read(terminal, 65536):
                shown += block
        except OSError:
            pass
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertIn(b"bot00", shown)
        self.assertTrue(shown.rstrip().endswith(b"\x1b[?1049l") or b"\x1b[?1049l" in shown[-200:])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
