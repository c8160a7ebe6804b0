#!/usr/bin/env python3
"""Commands that edit demos, as users see them: options, files, messages. Usage: test_edit.py TEEWIRE FIXTURES"""
import hashlib
import json
import pathlib
import random
import re
import resource
import subprocess
import sys
import unittest

import demo_codec
from in_folder import InFolder
from limits import STUCK_AT_WORK
from program import TEEWIRE, run_bytes, size_text

DEMOS = pathlib.Path(sys.argv[2]).resolve() / "demos"
DEMO, YARD, SEVEN = DEMOS / "ddnet_dm1.demo", DEMOS / "ddnet_yard.demo", DEMOS / "teeworlds07_dm1.demo"


def ticks(demo, *more):
    code, out, err = run_bytes("dump", "--format", "checksum", *more, demo)
    assert code == 0, err
    return {int(line.split()[0]): line for line in out.decode().splitlines()}


def seconds(demo):
    """As given in the header."""
    return int.from_bytes(demo.read_bytes()[152:156], "big")


class Edit(InFolder):
    def edit(self, *arguments, code=0):
        got, out, err = run_bytes(*arguments, cwd=self.folder)
        self.assertEqual((got, out), (code, b""), err)
        return err

    def refuse(self, *arguments, code=2, words=""):
        before = self.files()
        err = self.edit(*arguments, code=code)
        self.assertRegex(err, r"\Ateewire: [^\n]+\n(see teewire [a-z ]*--help\n)?\Z")
        self.assertIn(words, err)
        self.assertEqual(self.files(), before)


class Cut(Edit):
    def test_ranges(self):
        err = self.edit("cut", DEMO, "--from", "0:10", "--to", "-0:10", "-o", "piece.demo")
        piece = self.folder / "piece.demo"
        self.assertEqual(err, f"teewire: piece.demo: 0:10.0 from tick 1252 to 1752, {size_text(piece.stat().st_size)}\n")
        self.assertEqual(ticks(piece), ticks(DEMO, "--from", 1252, "--to", 1752))
        self.assertEqual((seconds(piece), seconds(DEMO)), (10, 30))
        code, out, _ = run_bytes("cut", "-", "--from", 1252, "--to", 1752, "-o", "-", stdin=DEMO.read_bytes())
        self.assertEqual((code, out), (0, piece.read_bytes()))
        self.edit("cut", DEMO, "-o", "whole.demo")
        self.assertEqual((self.folder / "whole.demo").read_bytes(), DEMO.read_bytes())

    def test_several_pieces(self):
        (self.folder / "x_2.demo").write_bytes(b"mine")
        two = ["--from", "2000", "--to", "2100", "--from", "800", "--to", "2050"]
        err = self.edit("cut", DEMO, *two, "-o", "x.demo")
        self.assertEqual([line.split(": ")[1] for line in err.splitlines()], ["x.demo", "x_3.demo"])
        self.assertEqual(ticks(self.folder / "x.demo"), ticks(DEMO, "--from", 2000, "--to", 2100))
        self.assertEqual(ticks(self.folder / "x_3.demo"), ticks(DEMO, "--from", 800, "--to", 2050))
        self.assertEqual((self.folder / "x_2.demo").read_bytes(), b"mine")
        self.edit("cut", DEMO, *two, "-o", "x.demo", "--force")
        self.assertEqual(ticks(self.folder / "x_2.demo"), ticks(self.folder / "x_3.demo"))

        self.edit("cut", DEMO, "--one", "--from", 800, "--to", 900, "--from", 850, "--to", 1000, "--from", 2000,
                  "--to", 2100, "-o", "one.demo")
        self.assertEqual(ticks(self.folder / "one.demo"), ticks(DEMO, "--from", 800, "--to", 1000) |
                         ticks(DEMO, "--from", 2000, "--to", 2100))
        self.assertEqual(seconds(self.folder / "one.demo"), 26)
        self.refuse("cut", DEMO, "--one", *two, "-o", "y.demo", words="ticks cannot go back in a demo, from 2000 to 800")
        self.refuse("cut", DEMO, *two, "-o", "-", words="2 pieces, one demo for each")

    def test_around_a_finish_in_the_chat(self):
        """A finish that the server announces, but not one that a player claims."""
        demo = demo_codec.Writer()
        for tick in range(1000, 3000, 2):
            demo.snapshot(tick, [(5, 0, [tick, 0, 0, 0])])
            if tick in (1500, 2000, 2500):  # by the server, a player, the server with /me
                sender, name = {1500: (0x40, b"bob"), 2000: (1, b"bob"), 2500: (0x40, b"### bob")}[tick]
                demo.message(bytes([3 << 1, 0, sender]) + name + b" finished in: 0 minute(s)  1.50 second(s)\0")
        (self.folder / "all.demo").write_bytes(demo.out)
        err = self.edit("cut", "all.demo", "--around", "finish", "--before", 1, "--after", 1, "-o", "piece.demo")
        self.assertRegex(err, r"^teewire: piece\.demo: 0:02\.0 from tick 1450 to 1550, [^\n]*\n$")
        found = [json.loads(line) for line in run_bytes("events", "--type", "finish", self.folder / "all.demo")[1].splitlines()]
        self.assertEqual([(e["tick"], e["time_ms"]) for e in found], [(1500, 1500)])
        self.edit("cut", "all.demo", "--around", "chat:finished", "--before", 1, "--after", 1, "-o", "x.demo")
        self.assertEqual([f for f in self.files() if f[0] == "x"], ["x.demo", "x_2.demo", "x_3.demo"])

    def test_lasting_messages(self):
        """Every piece begins with the last of each lasting message, once."""
        types = [json.loads(line) for line in run_bytes("types", "--protocol", "ddnet", "--format", "ndjson")[1].splitlines()]
        heads = {t["name"]: demo_codec.pack_int(0) + bytes.fromhex(t["uuid"].replace("-", "")) if t["uuid"] else
                 demo_codec.pack_int(t["id"] << 1 | t["system"]) for t in types if t["kind"] == "message"}
        demo, told, seed = demo_codec.Writer(), {}, random.Random(1)
        for tick in range(100, 160, 2):
            demo.snapshot(tick, [(5, 0, [tick, 0, 0, 0])])
            for name in seed.sample(["teams_state", "tune_params", "record", "motd", "chat"], seed.choice((0, 1, 2))):
                body = {"motd": b"day %d\0" % tick, "chat": b"\0\1chat\0"}.get(name, demo_codec.pack_ints([tick] * 5))
                told.setdefault(tick, []).append((name, heads[name] + body))
                demo.message(heads[name] + body)
        (self.folder / "all.demo").write_bytes(demo.out)
        for begin in range(100, 160, 2):
            self.edit("cut", "all.demo", "--from", begin, "-o", "piece.demo", "--force")
            heard = []
            chunks = demo_codec.read_demo((self.folder / "piece.demo").read_bytes(), {5: 4})
            snapshots = 0
            for kind, content in chunks:
                if kind == demo_codec.MESSAGE:
                    heard.append(content)
                    continue
                snapshots += 1
                if snapshots == 2:
                    break
            expected = {}
            for tick in range(100, begin + 1, 2):
                expected |= {name: message for name, message in told.get(tick, ())
                             if name != "chat" or tick == begin}
            self.assertEqual(sorted(heard), sorted(m + bytes(-len(m) % 4) for m in expected.values()), begin)

    def test_wrong_ranges(self):
        for options, words in ((["--from", "1000", "--to", "999"], "--from (tick 1000) is after --to (tick 999)"),
                               (["--from", "3000"], "nothing to show from tick 3000 on; it has ticks 752 to 2252\n"),
                               (["--to", "0"], "nothing to show from tick 0 to 0; it has ticks 752 to 2252 (0 is a tick, 0s a time)\n"),
                               (["--from", "800", "--from", "900", "--to", "1000"], "each piece needs both"),
                               (["--from", "800", "--to", "810", "--from", "9000", "--to", "9001"], "nothing to show from tick 9000"),
                               (["--one", "--from", "800", "--to", "810", "--from", "9000", "--to", "9001"],
                                "nothing to show from tick 9000 to 9001"),
                               (["--from", "800", "--around", "kill"], "--around"),
                               (["--around", "kills"], "kills is not chat:REGEX, kill, "),
                               (["--around", "chat:[a"], "--around: chat:[a: "),
                               (["--around", "finish"], "nothing matches --around")):
            self.refuse("cut", DEMO, *options, "-o", "out.demo", words=words)

    def test_around(self):
        """In YARD, a player says hello at ticks 340 and 508, and dies in between."""
        err = self.edit("cut", YARD, "--around", "chat:h.llo$", "--before", "0.2", "--after", "0:01", "-o", "x.demo")
        self.assertEqual(self.files(), ["x.demo", "x_2.demo"])
        self.assertRegex(err, r"x.demo: 0:01\.2 from tick 330 to 390, .*\n.*x_2.demo: 0:01.2 from tick 498 to 558, ")
        self.assertEqual(ticks(self.folder / "x.demo"), ticks(YARD, "--from", 330, "--to", 390))
        self.edit("cut", YARD, "--around", "chat:hello", "--before", "2", "--after", "2", "-o", "y.demo")
        self.assertEqual([f for f in self.files() if f[0] == "y"], ["y.demo"])  # they overlap
        self.edit("cut", SEVEN, "--around", "join:bot02", "--around", "join:bot03", "--after", "1", "--one", "-o", "z.demo")
        self.assertEqual(ticks(self.folder / "z.demo").keys() - ticks(SEVEN).keys(), set())

    def test_maps(self):
        map_ = self.folder / "yard.map"
        self.assertEqual(run_bytes("map", "extract", YARD, "-o", map_)[0], 0)
        self.edit("cut", YARD, "--strip-map", "-o", "none.demo")
        none, with_ = (self.folder / "none.demo").read_bytes(), YARD.read_bytes()
        self.assertEqual(none, with_[:136] + bytes(4) + with_[140:484] + with_[484 + map_.stat().st_size:])
        self.edit("cut", "none.demo", "--map", map_, "-o", "again.demo")
        self.assertEqual((self.folder / "again.demo").read_bytes(), YARD.read_bytes())
        self.refuse("cut", DEMO, "--map", map_, "-o", "x.demo", words="was recorded on a dm1 with crc f2159e6e")
        self.refuse("cut", DEMO, "--map", YARD, "-o", "x.demo", words="this is a demo")
        self.refuse("cut", YARD, "--strip-map", "--map", map_, "-o", "x.demo")
        self.refuse("cut", YARD, "--map", "yard.map", "--force", "-o", "yard.map", words="is an input and cannot also be the output")

    def test_damage(self):
        """Everything before it is kept, and its position printed; before or after the wanted part it does not matter."""
        whole = DEMO.read_bytes()
        damaged = self.folder / "damaged.demo"
        damaged.write_bytes(whole[:len(whole) // 2 + 1])
        err = self.edit("cut", damaged, "-o", "a.demo", code=1)
        self.assertRegex(err, r"damaged.demo: tick \d+, byte \d+: the data ends too early; everything before it is kept\n"
                              r"teewire: a.demo: .* from tick 752 to \d+, [\d.]+ (Ki)?B\n$")
        last = max(ticks(self.folder / "a.demo"))
        self.assertGreater(last, 1200)
        self.assertEqual(ticks(self.folder / "a.demo"), ticks(DEMO, "--to", last))
        self.edit("cut", damaged, "--to", last - 2, "-o", "b.demo")
        err = self.edit("cut", damaged, "--from", 2000, "-o", "c.demo", code=1)
        self.assertRegex(err, r"the data ends too early; nothing after it can be found\n.*nothing to show from tick 2000 on; it has ticks 752 to \d+\n$")
        self.assertNotIn("c.demo", self.files())
        self.refuse("cut", damaged, "--around", "finish", "-o", "c.demo", "--one", code=1, words="nothing after it was searched")
        # A chunk that cannot be decoded, a little before the piece: its next full snapshot begins it.
        changed = bytearray(whole)
        begin = whole.index(b"\xc0\x00\x00\x04\xe8")  # keyframe, tick 1256
        for at in range(begin + 1000, begin + 1010):
            changed[at] ^= 0x55
        damaged.write_bytes(changed)
        err = self.edit("cut", damaged, "--from", 1480, "--to", 1600, "-o", "d.demo", code=1)
        self.assertRegex(err, r"tick 1\d+, byte \d+: .*; the piece from tick 1480 starts at tick 1508\n")
        self.assertEqual(ticks(self.folder / "d.demo"), ticks(DEMO, "--from", 1508, "--to", 1600))
        self.edit("cut", damaged, "--from", 1508, "--to", 1600, "-o", "e.demo")
        self.assertEqual((self.folder / "e.demo").read_bytes(), (self.folder / "d.demo").read_bytes())


class Join(Edit):
    def test_pieces(self):
        for number, range_ in enumerate(((752, 1000), (1001, 1500), (1501, 2252))):
            self.edit("cut", DEMO, "--from", range_[0], "--to", range_[1], "-o", f"{number}.demo")
        err = self.edit("join", "0.demo", "1.demo", "2.demo", "-o", "all.demo")
        all_ = self.folder / "all.demo"
        self.assertEqual(err, f"teewire: all.demo: 0:30.0 from tick 752 to 2252 of 3 recordings, {size_text(all_.stat().st_size)}\n")
        self.assertEqual(ticks(all_), ticks(DEMO))
        self.assertEqual(seconds(all_), 30)
        code, out, _ = run_bytes("join", "0.demo", "-", "2.demo", "-o", "-", stdin=(self.folder / "1.demo").read_bytes(),
                           cwd=self.folder)
        self.assertEqual((code, out), (0, all_.read_bytes()))
        self.edit("join", "2.demo", "0.demo", "1.demo", "-o", "turned.demo")
        self.assertEqual(list(ticks(self.folder / "turned.demo")), list(range(1502, 3003, 2)))
        self.assertEqual(run_bytes("verify", "--strict", self.folder / "turned.demo")[0], 0)

    def test_pieces_that_overlap(self):
        """Cut in any way and joined again, a demo is what it was, with all that was said."""
        for demo in (DEMO, YARD, SEVEN):
            all_ticks = sorted(ticks(demo))
            for number, overlap in ((2, 0), (2, 1), (2, 7), (5, 0), (5, 20)):
                length = len(all_ticks) // number
                pieces = []
                for i in range(number):
                    first = all_ticks[i * length]
                    last = all_ticks[-1] if i == number - 1 else all_ticks[(i + 1) * length - 1 + overlap]
                    pieces.append(f"{i}.demo")
                    self.edit("cut", demo, "--from", first, "--to", last, "-o", pieces[-1], "--force")
                with self.subTest(demo=demo.name, number=number, overlap=overlap):
                    self.edit("join", *pieces, "-o", "all.demo", "--force")
                    self.assertEqual(run_bytes("diff", demo, "all.demo", cwd=self.folder), (0, b"", ""))

    def test_clients_that_began_together(self):
        """Recordings of two clients from the same second are not pieces of one: all ticks of both are kept."""
        def client(name, begin, end, local):
            demo = demo_codec.Writer()
            for tick in range(begin, end + 1, 2):
                demo.snapshot(tick, [(10, n, [int(n == local), n, 0, tick, 0]) for n in range(2)])
            (self.folder / name).write_bytes(demo.out)

        client("one.demo", 1000, 1400, 0)
        client("two.demo", 1100, 1800, 1)
        err = self.edit("join", "one.demo", "two.demo", "-o", "both.demo")
        self.assertIn("two.demo: began in the same second as one.demo, but differs from it in ticks 1100 to 1400, so it is put "
                      "behind it\n", err)
        self.assertEqual(len(ticks(self.folder / "both.demo")), 201 + 351)
        # The same recording, from another tick on, with its items in another order.
        client("same.demo", 1100, 1800, 0)
        demo = demo_codec.Writer()
        for tick in range(1100, 1801, 2):
            demo.snapshot(tick, [(10, n, [int(n == 0), n, 0, tick, 0]) for n in (1, 0)])
        (self.folder / "turned.demo").write_bytes(demo.out)
        for name in ("same.demo", "turned.demo"):
            err = self.edit("join", "one.demo", name, "-o", "both.demo", "--force")
            self.assertNotIn("behind", err)
            self.assertEqual(list(ticks(self.folder / "both.demo")), list(range(1000, 1801, 2)))
        # Ticks that overlap without one in common prove nothing.
        client("odd.demo", 1101, 1801, 0)
        self.assertIn("odd.demo: began in the same second", self.edit("join", "one.demo", "odd.demo", "-o", "both.demo", "--force"))

    def test_what_does_not_belong_together(self):
        self.refuse("join", DEMO, SEVEN, "-o", "x.demo", words=f"{SEVEN}: has items of 0.7, but {DEMO} those of 0.6")
        self.refuse("join", DEMO, YARD, "-o", "x.demo", words="was recorded on yard with crc c3cbca94, but")
        self.refuse("join", DEMO, "none.demo", "-o", "x.demo", code=3, words="none.demo: no such file")
        self.refuse("join", "-", "-", "-o", "x.demo", words="can be read only once")
        self.assertEqual(run_bytes("join", DEMO, "-", "-o", "x.demo", cwd=self.folder)[0], 1)
        (self.folder / "mine").write_bytes(DEMO.read_bytes())
        self.refuse("join", DEMO, "mine", "--force", "-o", "mine", words="is an input and cannot also be the output")

    def test_maps(self):
        """The map is in it if anyone has it."""
        self.edit("cut", YARD, "--strip-map", "-o", "none.demo")
        for order in ((YARD, "none.demo"), ("none.demo", YARD), (YARD, YARD)):
            self.edit("join", *order, "--force", "-o", "both.demo")
            both, one = (self.folder / "both.demo").read_bytes(), YARD.read_bytes()
            size = int.from_bytes(one[136:140], "big")
            self.assertEqual(both[:152] + both[484:484 + size], one[:152] + one[484:484 + size])
            self.assertEqual(both[452:484], one[452:484])

    def test_damage(self):
        damaged = self.folder / "damaged.demo"
        damaged.write_bytes(DEMO.read_bytes()[:-1])
        err = self.edit("join", DEMO, damaged, DEMO, "-o", "all.demo", code=1)
        self.assertRegex(err, r"^teewire: .*damaged.demo: tick 2\d+, byte \d+: the data ends too early; everything before it is "
                              r"kept\nteewire: all.demo: .* of 3 recordings, [\d.]+ (Ki)?B\n$")
        self.assertEqual(run_bytes("verify", self.folder / "all.demo")[0], 0)
        self.assertGreater(len(ticks(self.folder / "all.demo")), 3 * 751 - 10)

    def test_many(self):
        """More files than can be open at once."""
        self.edit("cut", DEMO, "--from", 1000, "--to", 1010, "-o", "small.demo")
        number = 5000
        program = pathlib.Path(TEEWIRE).read_bytes()
        # Sanitizers and emulators take an address space of their own.
        own_space = b"__asan_" in program or not program.startswith(b"\x7fELF")

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
            if not own_space:
                resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
        err = self.edit_limited(limit, "join", *["small.demo"] * number, "-o", "many.demo")
        self.assertIn(f"of {number} recordings", err)
        self.assertEqual(len(ticks(self.folder / "many.demo")), 6 * number)

    def edit_limited(self, limit, *arguments):
        done = subprocess.run([TEEWIRE, *map(str, arguments)], capture_output=True, timeout=STUCK_AT_WORK, cwd=self.folder, preexec_fn=limit)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()


class Odd(Edit):
    """Demos that games play, but that are not in order: each is reported."""

    def verdict(self, demo):
        (self.folder / "odd.demo").write_bytes(demo)
        code, out, _ = run_bytes("verify", "odd.demo", cwd=self.folder)
        self.assertEqual(code, 0)
        self.assertEqual(run_bytes("verify", "--strict", "odd.demo", cwd=self.folder)[0], int(b"quirk" in out))
        return out.decode().partition("; ")[2].rstrip("\n")

    def test_headers(self):
        whole = bytearray(YARD.read_bytes())
        self.assertEqual(self.verdict(whole), "")
        name = whole.copy()
        name[72:78] = b"ab\xff\xfecd"
        self.assertEqual(self.verdict(name), "1 quirk, the first at byte 72: the name of the map is not UTF-8")
        crc = whole.copy()
        crc[140] ^= 1
        self.assertEqual(self.verdict(crc), "1 quirk, the first at byte 140: the header names another map than the embedded one")
        name[140] ^= 1
        self.assertEqual(self.verdict(name), "2 quirks, the first at byte 72: the name of the map is not UTF-8")

    def test_ticks_that_go_back(self):
        demo = demo_codec.Writer()
        for begin in (1000, 500, 900):
            demo.snapshot(begin, [(30, 0, [begin])])
            demo.delta(30, [(30, 0, 1, [1])])
        self.assertIn("tick does not increase", self.verdict(demo.out))
        told = json.loads(run_bytes("info", "--format", "ndjson", self.folder / "odd.demo")[1])
        self.assertEqual([told[k] for k in ("first_tick", "last_tick", "ticks_go_back", "seconds")], [500, 1030, True, 10.6])
        self.assertIn(b"500 to 1030, 0:10.6, but they go back\n", run_bytes("info", self.folder / "odd.demo")[1])
        self.assertNotIn(b"go_back", run_bytes("info", "--format", "ndjson", DEMO)[1])


class OtherMap(Edit):
    def test_every_verb(self):
        """A map in the file that is not the header's: both stay unchanged, whatever is done with the rest."""
        odd = bytearray(YARD.read_bytes())
        odd[140] ^= 1
        odd[452:484] = bytes(32)
        size = int.from_bytes(odd[136:140], "big")
        (self.folder / "odd.demo").write_bytes(odd)
        for arguments in (["cut", "odd.demo", "--from", "400"], ["join", "odd.demo", "odd.demo"], ["merge", "odd.demo", "odd.demo"],
                          ["redact", "odd.demo"], ["repair", "odd.demo"]):
            with self.subTest(verb=arguments[0]):
                err = self.edit(*arguments, "-o", "out.demo", "--force", code=int(arguments[0] == "repair"))
                made = (self.folder / "out.demo").read_bytes()
                self.assertEqual(made[136:144], odd[136:144])
                self.assertEqual(made[452:484 + size], odd[452:484 + size])
                if arguments[0] == "repair":
                    self.assertIn("map: it is another map than the header names, and in order; both are kept\n", err)
        # With a recording that has the right one, that one is taken, whichever is first.
        for order in (("odd.demo", "right.demo"), ("right.demo", "odd.demo")):
            right = odd.copy()
            right[452:484] = hashlib.sha256(YARD.read_bytes()[484:484 + size]).digest()
            right[140] ^= 1
            wrong = right.copy()
            wrong[484 + size - 1] ^= 1
            (self.folder / "right.demo").write_bytes(right)
            (self.folder / "odd.demo").write_bytes(wrong)
            for verb in ("join", "merge"):
                self.edit(verb, *order, "-o", "out.demo", "--force")
                self.assertEqual((self.folder / "out.demo").read_bytes()[452:484 + size], right[452:484 + size])


class Repair(Edit):
    def test_damage(self):
        """Every snapshot outside of the damage is unchanged, and losses are reported."""
        data = bytearray(DEMO.read_bytes())
        middle = len(data) // 2
        data[middle:middle + 3000] = bytes(3000)
        (self.folder / "damaged.demo").write_bytes(data)
        self.assertEqual(run_bytes("verify", self.folder / "damaged.demo")[0], 1)
        err = self.edit("repair", "damaged.demo", "-o", "good.demo", code=1)
        lost = re.search(r"nothing is kept after tick (\d+) and before tick (\d+), up to byte (\d+)", err)
        self.assertTrue(lost, err)
        after, before, end = map(int, lost.groups())
        self.assertTrue(middle < end < middle + 30000)
        self.assertEqual(run_bytes("verify", self.folder / "good.demo")[0], 0)
        expected, got = ticks(DEMO), ticks(self.folder / "good.demo")
        self.assertEqual(sorted(got), [t for t in sorted(expected) if t <= after or t >= before])
        # The order of items may change where segments are re-encoded.
        for tick, line in got.items():
            self.assertEqual(line.split()[1:4], expected[tick].split()[1:4])
        self.assertEqual(seconds(self.folder / "good.demo"), seconds(DEMO))
        code, out, _ = run_bytes("repair", "damaged.demo", "-o", "again.demo", "--format", "ndjson", cwd=self.folder)
        places = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((code, places[0]["after_tick"], places[0]["before_tick"], places[0]["end"]), (1, after, before, end))
        self.assertEqual((self.folder / "again.demo").read_bytes(), (self.folder / "good.demo").read_bytes())
        # A valid demo is not changed.
        self.edit("repair", "good.demo", "-o", "same.demo")
        self.assertEqual(ticks(self.folder / "same.demo"), got)

    def test_versions(self):
        for version in (3, 4, 5, 6):
            self.edit("repair", YARD, "--version", version, "-o", f"{version}.demo")
            self.assertEqual((self.folder / f"{version}.demo").read_bytes()[7], version)
            self.assertEqual(run_bytes("verify", self.folder / f"{version}.demo")[0], 0)
            self.assertEqual([line.split()[:4] for line in ticks(self.folder / f"{version}.demo").values()],
                             [line.split()[:4] for line in ticks(YARD).values()])
        self.refuse("repair", YARD, "--version", 7, "-o", "x.demo", words="--version")

    def test_repeated_keys(self):
        """Mods put items with the same key into a snapshot; games show them."""
        demo = demo_codec.Writer()
        for tick in range(1000, 1300, 100):
            demo.snapshot(tick, [(30, 0, [tick])])
            for number in range(1, 21):
                demo.delta(2, [(30, number, 1, [5]), (30, number, 1, [7])])
        (self.folder / "mod.demo").write_bytes(demo.out)
        self.assertIn(b"60 quirks, the first at byte ", run_bytes("verify", self.folder / "mod.demo")[1])
        err = self.edit("repair", "mod.demo", "-o", "same.demo")
        self.assertIn("63 snapshots", err)
        self.assertIn("nothing was damaged", err)
        self.assertEqual([l.split()[:4] for l in ticks(self.folder / "same.demo").values()],
                         [l.split()[:4] for l in ticks(self.folder / "mod.demo").values()])

    def test_more_than_the_header_says(self):
        """A demo that is longer than its header says, by a part that can be decoded."""
        def made(second):
            demo = demo_codec.Writer()
            for begin in (1000, second):
                demo.snapshot(begin, [(30, 0, [begin])])
                for _ in range(125):
                    demo.delta(2, [(30, 0, 1, [1])])
            (self.folder / "long.demo").write_bytes(demo.out)

        made(1500)  # 10 seconds by the header, 15 by its ticks
        err = self.edit("repair", "long.demo", "-o", "all.demo")
        self.assertIn("252 snapshots", err)
        self.assertEqual(list(ticks(self.folder / "all.demo")), list(ticks(self.folder / "long.demo")))
        made(5000)  # a marker that nothing else agrees with
        err = self.edit("repair", "long.demo", "-o", "first.demo", code=1)
        self.assertIn("tick 5000", err)
        self.assertIn("126 snapshots", err)

    def test_nothing_to_keep(self):
        (self.folder / "header.demo").write_bytes(DEMO.read_bytes()[:700])
        self.refuse("repair", "header.demo", "-o", "x.demo", code=1)
        (self.folder / "none.demo").write_bytes(b"nothing at all")
        self.refuse("repair", "none.demo", "-o", "x.demo", words="not a demo")
        self.refuse("repair", DEMO, "-o", DEMO, "--force", words="is an input and cannot also be the output")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
