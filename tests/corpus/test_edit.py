#!/usr/bin/env python3
"""teewire cut and join on every real demo: what comes of them shows what the demo shows, at every tick.
Usage: test_edit.py TEEWIRE"""
import bisect
import collections
import itertools
import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import demo_codec  # noqa: E402
from program import run  # noqa: E402
from real_demos import CORPUS, SHARE, WithRealDemos  # noqa: E402

RANGES = 200 // SHARE
HEADER = {3: 176, 4: 436, 5: 436, 6: 484}


def chunks(demo):
    """The ticks of all markers and the messages, still compressed, up to the end, read without the program under test."""
    data = demo.read_bytes()
    version, at, ticks, messages = data[7], HEADER[data[7]] + int.from_bytes(data[136:140], "big"), [], []
    while at < len(data):
        first, at = data[at], at + 1
        if first & 0x80:
            bits, relative = (0x3f, first & 0x3f) if version < 5 else (0x1f, first & 0x20)
            if relative:
                ticks.append(ticks[-1] + (first & bits))
            else:
                ticks.append(int.from_bytes(data[at:at + 4], "big"))
                at += 4
            continue
        size = first & 0x1f
        if size >= 30:
            more = size - 29
            size, at = int.from_bytes(data[at:at + more], "little"), at + more
        if first >> 5 == 2:
            messages.append(data[at:at + size])
        at += size
    return ticks, messages


def markers(demo):
    return chunks(demo)[0]


class Demo:
    """The snapshots of a demo by tick, as lines of `dump --format checksum`."""

    def __init__(self, path):
        code, out, self.said = run("dump", "--format", "checksum", path)
        changes = {int(line.split()[0]): line.split(" ", 1)[1] for line in out.splitlines()}
        self.whole = code == 0
        self.states, last = {}, None
        for tick in markers(path):
            last = changes.get(tick, last)
            if last is not None:
                self.states[tick] = last
        self.ticks = sorted(self.states)

    def between(self, first, last):
        return {t: self.states[t] for t in self.ticks[bisect.bisect_left(self.ticks, first):bisect.bisect_right(self.ticks, last)]}


class Pieces(WithRealDemos):
    def cut(self, *arguments, code=0):
        out = self.folder / "out.demo"
        out.unlink(missing_ok=True)
        got, printed, said = run("cut", *arguments, "-o", out)
        self.assertEqual((got, printed), (code, ""), said)
        return out

    def check_header(self, piece, demo, ticks):
        """Everything but length and markers is that of the demo, and so is the map."""
        begin = HEADER[demo[7]]
        size = int.from_bytes(demo[136:140], "big")
        self.assertEqual(piece[:152] + piece[156:176], demo[:152] + demo[156:176])
        self.assertEqual(int.from_bytes(piece[152:156], "big"), (max(ticks) - min(ticks)) // 50)
        if demo[7] >= 4:
            numbers = lambda data: [int.from_bytes(data[at:at + 4], "big") for at in range(180, 436, 4)]
            kept = [t for t in numbers(demo)[:int.from_bytes(demo[176:180], "big")] if min(ticks) <= t <= max(ticks)]
            self.assertEqual(int.from_bytes(piece[176:180], "big"), len(kept))
            self.assertEqual(numbers(piece), kept + [0] * (64 - len(kept)))
        self.assertEqual(piece[436:begin + size], demo[436:begin + size])

    def test_random_ranges(self):
        chosen, done, late = random.Random(20), 0, 0
        for path in self.demos:
            whole = Demo(path)
            if not whole.ticks:
                self.assertEqual(run("cut", path, "-o", self.folder / "none")[0], 1)
                continue
            for _ in range(RANGES // len(self.demos) + 2):
                first, last = sorted(chosen.choice(whole.ticks) + chosen.randrange(-1, 2) for _ in range(2))
                first, last = max(first, 0), max(last, 0)
                expected = whole.between(first, last)
                if not expected:
                    self.assertEqual(run("cut", path, "--from", first, "--to", last, "-o", self.folder / "none")[0], 2)
                    continue
                with self.subTest(demo=path.name, first=first, last=last):
                    late += first > whole.ticks[0]
                    piece = self.cut(path, "--from", first, "--to", last, code=0 if whole.whole or last < whole.ticks[-1] else 1)
                    bytes_ = piece.read_bytes()
                    got = Demo(piece)
                    self.assertTrue(got.whole, got.said)
                    self.assertEqual(got.states, expected)
                    self.assertEqual(run("verify", piece)[0], 0)
                    self.check_header(bytes_, path.read_bytes(), [t for t in markers(path) if first <= t <= last])
                    again = self.folder / "again"
                    self.assertEqual(run("cut", piece, "-o", again)[0], 0)
                    self.assertEqual(again.read_bytes(), bytes_)
                    again.unlink()
                    done += 1
        self.assertGreaterEqual(done, RANGES)
        print(f"{done} pieces of {len(self.demos)} demos, {late} of them with another beginning")

    def test_whole_demos(self):
        """A demo that is in order is copied byte for byte, but for what recorders that crashed left out of the header."""
        same = 0
        for path in self.demos:
            whole = Demo(path)
            if not whole.whole or not whole.ticks:
                continue
            with self.subTest(demo=path.name):
                piece, demo = self.cut(path).read_bytes(), path.read_bytes()
                self.check_header(piece, demo, markers(path))
                begin = HEADER[demo[7]]
                self.assertEqual(piece[begin:], demo[begin:])
                same += 1
        print(f"{same} demos whole")


# The fields that are ticks, as the games' sources have them; the timer of a race is a negative one.
TICKS = {"projectile.start_tick", "ddnet_projectile.start_tick", "ddrace_projectile.start_tick", "laser.start_tick",
         "ddnet_laser.start_tick", "game_info.round_start_tick", "game_info.warmup_timer", "character.tick",
         "character.attack_tick", "game_data.game_start_tick", "game_data.game_state_end_tick",
         "game_data_flag.flag_drop_tick_red", "game_data_flag.flag_drop_tick_blue", "player_info_race.race_start_tick",
         "ddnet_character.freeze_start", "ddnet_character.freeze_end", "ddnet_character.ninja_activation_tick",
         "switch_state.end_ticks"}


def items(demo):
    """The snapshots of a demo by tick, in words."""
    code, out, err = run("dump", demo)
    assert code == 0, err
    changes, shown, last = {s["tick"]: s["items"] for s in map(json.loads, out.splitlines())}, {}, None
    for tick in markers(demo):
        last = shown[tick] = changes.get(tick, last)
    return shown


class Joins(WithRealDemos):
    def check_moved(self, got, expected, shift, counts):
        """Everything is the same but for ticks, which are so much later."""
        self.assertEqual(got.keys(), expected.keys())
        for kind, ids in expected.items():
            self.assertEqual(got[kind].keys(), ids.keys())
            for number, fields in ids.items():
                for name, before in fields.items():
                    now, field = got[kind][number][name], f"{kind}.{name}"
                    if field not in TICKS:
                        self.assertEqual(now, before, field)
                        continue
                    for value, moved in zip(*(v if isinstance(v, list) else [v] for v in (before, now)), strict=True):
                        racing = name == "warmup_timer" and "racetime" in str(fields["game_state_flags"])
                        step = -shift if racing and value < 0 else shift if value > 0 and name != "warmup_timer" else 0
                        self.assertEqual(moved, value + step, field)
                        counts[field] += step != 0

    def test_orders(self):
        counts, joined = collections.Counter(), 0
        for path in self.demos:
            ticks = Demo(path).ticks
            if len(ticks) < 20:
                continue
            length = min(len(ticks) // 3, 100)
            begins = (0, len(ticks) // 2)
            for order in (begins, begins[::-1]):
                pieces = []
                for number, begin in enumerate(order):
                    pieces.append(self.folder / f"{number}.demo")
                    self.assertEqual(run("cut", path, "--from", ticks[begin], "--to", ticks[begin + length], "--force",
                                         "-o", pieces[-1])[0], 0)
                out = self.folder / "both.demo"
                code, printed, said = run("join", *pieces, "--force", "-o", out)
                with self.subTest(demo=path.name, order=order):
                    self.assertEqual((code, printed), (0, ""), said)
                    self.assertRegex(run("verify", out)[1], ": ok: ")
                    both, parts = items(out), [items(p) for p in pieces]
                    times, first, second = list(both), list(parts[0]), list(parts[1])
                    self.assertEqual(len(times), len(first) + len(second))
                    steps = collections.Counter(b - a for a, b in zip(first, first[1:]))
                    gap, was = times[len(first)] - times[len(first) - 1], second[0] - first[-1]
                    if 0 < was <= 50:  # less than a second, in which nothing need have been cut out
                        self.assertEqual(gap, was)
                    else:
                        self.assertEqual(steps[gap], max(steps.values()))
                    for at, part in ((0, parts[0]), (len(first), parts[1])):
                        shift = times[at] - min(part)
                        self.assertGreaterEqual(shift, 0)
                        for now, (tick, expected) in zip(times[at:], part.items()):
                            self.assertEqual(now, tick + shift)
                            self.check_moved(both[now], expected, shift, counts)
                    self.check_messages(chunks(out)[1], *pieces)
                    joined += 1
        self.assertGreaterEqual(joined, 80 // SHARE)
        print(f"{joined} joined demos; moved: {dict(counts)}")

    def check_messages(self, joined, first, second):
        """All are there, in their order, except lasting messages at the begin of the second piece that are in force already."""
        early = sum(1 for _ in itertools.takewhile(lambda chunk: chunk[0] == demo_codec.MESSAGE,
                                                   demo_codec.read_chunks(second.read_bytes())))
        first, second = chunks(first)[1], chunks(second)[1]
        equal = lambda now, before: before in (now, now + b"\0")  # older recorders end it so
        left_out = len(first) + len(second) - len(joined)
        self.assertIn(left_out, range(early + 1))
        for now, before in zip(joined, first):
            self.assertTrue(equal(now, before))
        rest = joined[len(first):]
        for now, before in zip(rest[early - left_out:], second[early:], strict=True):
            self.assertTrue(equal(now, before))
        for now in rest[:early - left_out]:
            self.assertTrue(any(equal(now, before) for before in second[:early]))

    def test_pieces_of_one_demo(self):
        """Cut and joined again, a demo is what it was: there is no difference at all, wherever it was cut and in however many
        pieces, whether they overlap or not."""
        chosen, done, kinds = random.Random(5), 0, collections.Counter()
        for path in self.demos:
            whole = Demo(path)
            # A gap of more than a second is closed where a piece begins after it.
            places = [i for i in range(1, len(whole.ticks)) if whole.ticks[i] - whole.ticks[i - 1] <= 50]
            if len(places) < 20 or not whole.whole:
                continue
            for number, overlap in ((1, 0), (1, 3), (9, 0), (9, 10)):
                # A piece that lies within the one before is wanted twice.
                begins = [0]
                for place in sorted(chosen.sample(places, min(number, len(places)))):
                    if begins[-1] + overlap < place < len(whole.ticks) - overlap:
                        begins.append(place)
                pieces = []
                for i, begin in enumerate(begins):
                    last = begins[i + 1] - 1 + overlap if begin != begins[-1] else len(whole.ticks) - 1
                    pieces.append(self.folder / f"{i}.demo")
                    first = ["--from", whole.ticks[begin]] if i else []  # what is said before the first tick belongs to it
                    self.assertEqual(run("cut", path, *first, "--to", whole.ticks[min(last, len(whole.ticks) - 1)],
                                         "--force", "-o", pieces[-1])[0], 0)
                out = self.folder / "all.demo"
                with self.subTest(demo=path.name, pieces=len(pieces), overlap=overlap):
                    code, _, said = run("join", *pieces, "--force", "-o", out)
                    self.assertEqual(code, 0, said)
                    self.assertEqual(run("diff", path, out), (0, "", ""))
                    self.assertEqual(out.read_bytes()[152:156], ((whole.ticks[-1] - whole.ticks[0]) // 50).to_bytes(4, "big"))
                    done += 1
                    kinds[json.loads(run("info", "--format", "ndjson", path)[1])["protocol"]] += 1
        self.assertGreaterEqual(done, 150 // SHARE)
        self.assertGreaterEqual(min(kinds[k] for k in ("0.6", "0.7", "ddnet")), 20 // SHARE, kinds)
        print(f"{done} demos in pieces and joined again, without a difference: {dict(kinds)}")


if __name__ == "__main__":
    if not (CORPUS / "demos").is_dir():
        print("SKIPPED: TEEWIRE_CORPUS names no folder of real demos")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
