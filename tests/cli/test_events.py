#!/usr/bin/env python3
"""events, stats and du as people run them. Usage: test_events.py TEEWIRE FOLDER, of demos. Without FOLDER, those of
TEEWIRE_CORPUS."""
import collections
import csv
import io
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from program import TEEWIRE, output_of
import real_demos

SECTIONS = ("keyframes", "deltas", "messages")


def objects(*arguments, **options):
    return [json.loads(line) for line in output_of(*arguments, **options).splitlines()]


def ticks_of(demo):
    """Those of all its markers, found without the program under test."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
    from real_servers import demo_ticks
    return demo_ticks(demo)


# ---- events --------------------------------------------------------------------------------------------------------


def check_forms(demo, events):
    """All formats have the same events."""
    rows = list(csv.DictReader(io.StringIO(output_of("events", "--format", "csv", "--raw", demo))))
    assert len(rows) == len(events), demo
    for row, event in zip(rows, events):
        for key, value in row.items():
            told = event.get(key, "")
            if isinstance(told, bool):
                told = int(told)
            elif isinstance(told, float):
                value, told = float(value), round(told, 2)
            assert value == str(told) if isinstance(value, str) else value == told, (demo, key, row, event)
    lines = output_of("events", "--format", "text", demo).splitlines()
    assert len(lines) == len(events), demo
    kinds = collections.Counter(e["kind"] for e in events)
    for kind in ("kill", "chat", "hook_attach"):
        assert len(objects("events", "--type", kind, demo)) == kinds[kind], (demo, kind)


def check_subtitles(demo, events):
    """A subtitle shows what was said and who was killed from the time at which that happened."""
    text = output_of("events", "--format", "srt", "--type", "kill,chat", demo)
    begins = set()
    for number, block in enumerate(filter(None, text.split("\n\n")), 1):
        first, times, *lines = block.strip("\n").split("\n")
        assert int(first) == number and lines, (demo, block)
        begin, end = ([int(n) for n in re.fullmatch(r"(\d\d+):(\d\d):(\d\d),(\d{3})", t).groups()] for t in times.split(" --> "))
        milliseconds = [((h * 60 + m) * 60 + s) * 1000 + ms for h, m, s, ms in (begin, end)]
        assert milliseconds[0] < milliseconds[1], (demo, block)
        begins.add(milliseconds[0])
    expected = {round(e["seconds"] * 1000) for e in events if e["kind"] in ("kill", "chat")}
    # An item that comes and goes while something else begins at its position.
    assert expected <= begins, (demo, sorted(expected - begins)[:3])
    if shutil.which("ffprobe") and text:
        done = subprocess.run(["ffprobe", "-v", "error", "-f", "srt", "-show_packets", "-of", "json", "-"],
                              input=text.encode(), capture_output=True, check=True)
        packets = json.loads(done.stdout)["packets"]
        assert {round(float(p["pts_time"]) * 1000) for p in packets} == begins, demo
        return True
    return False


def check_events(demo):
    info = objects("info", "--format", "ndjson", demo)[0]
    events = objects("events", demo)
    ticks = [e["tick"] for e in events]
    assert ticks == sorted(ticks), demo
    for event in events:
        if event["tick"] >= 0:
            assert abs(event["seconds"] - (event["tick"] - info["first_tick"]) / 50) < 1e-9, event
    assert [e["tick"] for e in events if e["kind"] == "marker"] == sorted(info["markers"]), demo
    # Shots are what the items say, found in another way.
    shots, last, tick = set(), {}, None
    for snapshot in objects("dump", "--type", "character", demo):
        now = {int(number): c["attack_tick"] for number, c in snapshot["items"].get("character", {}).items()}
        for number, attack in now.items():
            if tick is not None and last.get(number, tick) < attack and tick <= attack <= snapshot["tick"]:
                shots.add((max(attack, snapshot["tick"] - 50), number))  # earlier ones were given
        last, tick = now, snapshot["tick"]
    told = [(e["tick"], e["client"]) for e in events if e["kind"] == "shot"]
    assert sorted(told) == sorted(shots), (demo, set(told) ^ shots)
    if events:
        begin, end = sorted(RANDOM.choices(ticks, k=2))
        assert objects("events", "--from", max(begin, 0), "--to", max(end, 0), demo) == \
            [e for e in events if max(begin, 0) <= max(e["tick"], 0) <= max(end, 0)], (demo, begin, end)
        assert objects("events", "--from", "-0:00", demo) == [e for e in events if e["tick"] >= info["last_tick"]], demo
    check_forms(demo, events)
    probed = check_subtitles(demo, events)
    if events:
        name = collections.Counter(e["name"] for e in events if "name" in e).most_common(1)[0][0]
        assert objects("events", "--players", name, demo) == \
            [e for e in events if name in (e.get("name"), e.get("target_name"))], demo
    return collections.Counter(e["kind"] for e in events), probed


# ---- stats ---------------------------------------------------------------------------------------------------------


def check_stats(demo, folder):
    """Pieces add up to the whole, and some of it is what the events and items say."""
    whole = objects("stats", "--format", "ndjson", demo)
    ticks = sorted(set(ticks_of(demo)))
    if len(ticks) < 10:
        return 0
    info = objects("info", "--format", "ndjson", demo)[0]
    events = [e for e in objects("events", demo) if e["tick"] > info["first_tick"] or e["kind"] == "shot"]
    for player in whole:
        mine = [e for e in events if e.get("name") == player["name"] and e.get("client", -1) >= 0]
        assert sum(player["shots"].values()) == sum(e["kind"] == "shot" for e in mine), (demo, player)
        assert sum(player["hits"].values()) == sum(e["kind"] == "hit" for e in mine), (demo, player)
        assert player["finishes"] == sum(e["kind"] == "finish" for e in mine), (demo, player)
    places = sorted(RANDOM.sample(ticks[1:-1], 3))
    pieces = []
    for number, (first, last) in enumerate(zip([ticks[0], *places], [*places, ticks[-1]])):
        pieces.append(folder / f"{number}.demo")
        output_of("cut", "--from", first, "--to", last, "-o", pieces[-1], "--force", demo)
    names = {p["name"]: p for p in whole}
    summed = {p["name"]: p for p in objects("stats", "--sum", "--format", "ndjson", *pieces)}
    assert names == summed, (demo, places, [(names.get(n), summed.get(n)) for n in names.keys() | summed.keys()
                                            if names.get(n) != summed.get(n)][:2])
    # Sums that the program makes itself are left out here.
    parts = [p for piece in pieces for p in objects("stats", "--format", "ndjson", piece)]
    for name, player in names.items():
        for key in ("kills", "deaths", "chat", "played_seconds", "distance_tiles", "hook_seconds", "frozen_seconds"):
            total = sum(p[key] for p in parts if p["name"] == name)
            assert abs(total - player[key]) < 1e-6, (demo, name, key, total, player[key])
    return len(whole)


# ---- du ------------------------------------------------------------------------------------------------------------


def check_usage(demo, damaged=False):
    used = objects("du", "--format", "ndjson", demo, codes=(1,) if damaged else (0,))[0]
    for section in SECTIONS:
        assert used[section]["bytes"] == sum(p["bytes"] for p in used[section]["parts"].values()), (demo, section)
    total = sum(used[s]["bytes"] for s in (*SECTIONS, "ticks", "unused", "damaged")) + used["header"] + used["map"] + used["rest"]
    assert total == used["bytes"] == demo.stat().st_size, (demo, total, used["bytes"])
    table = output_of("du", demo, codes=(0, 1)).splitlines()
    assert table[-1].split() == ["all", str(total), "100.00", "%"], table[-1]
    for line in table[2:]:
        bytes_, share = re.fullmatch(r".*\s(\d+)\s+(\d+\.\d+) %", line).groups()
        assert abs(100 * int(bytes_) / total - float(share)) < 0.0051, line
    return used


def check_usage_by_info(demo):
    """Kinds of chunks as info counts them, and items as dump has them."""
    used = check_usage(demo)
    info = objects("info", "--format", "ndjson", demo)[0]
    for section, kind in zip((*SECTIONS, "ticks", "unused"), ("snapshots", "deltas", "messages", "ticks", "unused")):
        if kind in info["chunks"]:
            assert used[section]["count"] == info["chunks"][kind]["count"], (demo, section)
            assert used[section]["bytes"] == info["chunks"][kind]["bytes"], (demo, section)
    assert sum(p["count"] for p in used["messages"]["parts"].values()) == used["messages"]["count"], (demo, used["messages"])
    items, updates, before = collections.Counter(), collections.Counter(), {}
    for snapshot in objects("dump", demo):
        here = {(kind, number): item for kind, all_ in snapshot["items"].items() for number, item in all_.items()}
        if snapshot["keyframe"]:
            items.update(kind for kind, _ in here)
        else:
            updates.update(kind for kind, number in here if before.get((kind, number)) != here[kind, number])
            updates["(removed)"] += len(before.keys() - here.keys())
        before = here
    told = {section: {kind: p["count"] for kind, p in used[section]["parts"].items() if kind != "(head)"}
            for section in ("keyframes", "deltas")}
    assert told["keyframes"] == {k: n for k, n in items.items() if n}, (demo, told, items)
    # Servers send what has not changed as well; and what has no name at first gets one in the middle.
    if not any(kind.startswith("type_") for kind in updates):
        assert all(told["deltas"].get(kind, 0) >= n for kind, n in updates.items()), (demo, told, updates)


def check_damage(demo, folder):
    """Everything before damage is printed, counted and measured, and the damage reported."""
    cut = folder / "cut.demo"
    cut.write_bytes(demo.read_bytes()[:9 * demo.stat().st_size // 10])  # its map may be most of it
    before = objects("events", demo)
    after = objects("events", cut, codes=(1,))
    # At the end of a file nothing more is waited for.
    common = [e for e in after if e["tick"] < after[-1]["tick"] - 60]
    assert common and common == before[:len(common)], demo
    assert objects("stats", "--format", "ndjson", cut, codes=(1,)), demo
    check_usage(cut, damaged=True)


def check_following(demo):
    """A demo that is being written is told in the same words, from its first snapshot on: header and messages before it
    are not waited for."""
    with subprocess.Popen([TEEWIRE, "events", "--follow", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        told, _ = process.communicate(demo.read_bytes())
        assert process.returncode == 0, demo
    first = objects("dump", demo)[0]["tick"]
    followed = [json.loads(line) for line in told.splitlines()]
    plain = [e for e in objects("events", demo) if e["tick"] >= first]
    for e in followed + plain:
        del e["seconds"]  # from the first snapshot there, from the first tick here
    assert followed == plain and followed, (demo, len(followed), len(plain))
    # It ends by itself when what is wanted is over, though more could come.
    until = plain[len(plain) // 2]["tick"]
    followed = objects("events", "--follow", "--to", until, demo)
    assert [e["tick"] for e in followed] == [e["tick"] for e in plain if e["tick"] <= until], demo


def main():
    demos = real_demos.named_or_real(sys.argv[2:])
    kinds, players, probed, whole, hurt = collections.Counter(), 0, 0, 0, False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for demo in demos:
            if subprocess.run([TEEWIRE, "verify", demo], capture_output=True).returncode != 0:
                check_usage(demo, damaged=True)
                objects("events", demo, codes=(1,))
                continue
            whole += 1
            found, has_probe = check_events(demo)
            kinds += found
            probed += has_probe
            players += check_stats(demo, folder)
            check_usage_by_info(demo)
            if sum(found.values()) > 100 and not hurt:
                check_damage(demo, folder)
                check_following(demo)
                hurt = True
    assert whole > 0 and players > 0 and hurt
    print(f"{whole} demos, {players} players, {probed} subtitles probed:", dict(kinds))


RANDOM = random.Random(21)
main()
