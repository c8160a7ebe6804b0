#!/usr/bin/env python3
"""What `play` shows against what the items of a demo prove: who died, and when.

Usage: test_timeline.py TEEWIRE FOLDER, of demos. Without FOLDER, those of TEEWIRE_CORPUS."""
import collections
import json
import re
import sys

from program import output_of, run
import real_demos

BROADCAST_SECONDS = 10
DEATH = re.compile(r"(?P<victim>.+?) (?:died(?: \([a-z 0-9]+\))?|was killed with [a-z 0-9]+)(?:, touched by .+)?$|"
                   r".+? killed (?P<killed>.+?) with [a-z 0-9]+(?:, touched by .+)?$")


def run(*arguments):
    """Damaged demos count too: everything before the damage is printed."""
    return output_of(*arguments, codes=(0, 1))


def proven_deaths(demo, first_tick):
    """[(seconds, name)] of the items that say so, each of which is in one snapshot."""
    names = {p["id"]: p["name"] for p in json.loads(run("info", "--format", "ndjson", demo))["players"]}
    last = {}
    for line in run("dump", "--type", "event_death,client_info", demo).splitlines():
        snapshot = json.loads(line)
        events = snapshot["items"].get("event_death", {})
        for number, event in events.items():
            if event != last.get(number):
                client = event["client_id"]
                yield (snapshot["tick"] - first_tick) // 5 / 10, names.get(client, f"#{client}")
        last = events
        names.update((int(i), c["name"]) for i, c in snapshot["items"].get("client_info", {}).items())


def told(demo):
    """[(seconds, line)], without the states of players."""
    for line in run("play", "--speed", "1000", demo).splitlines():
        minutes, seconds, text = re.fullmatch(r"(\d+):(\d\d\.\d)  (.*)", line).groups()
        if not text.startswith("tick "):
            yield int(minutes) * 60 + float(seconds), text


def take_nearest(deaths, name, at, distance):
    """Whether one of that name was there near that time. It is no more."""
    near = [d for d in deaths if d[1] == name and abs(d[0] - at) <= distance]
    if near:
        deaths.remove(near[0])
    return bool(near)


def check(demo):
    header = json.loads(run("info", "--format", "ndjson", demo))
    lines = list(told(demo))
    proven = list(proven_deaths(demo, header["first_tick"]))
    deaths, undecided = [], 0
    for at, text in lines:
        if text.startswith("? died"):
            undecided += 1
        elif (found := DEATH.match(text)) and not re.match(r"\*\*\*|[^ ]+: ", text):
            deaths.append((round(at, 1), found["victim"] or found["killed"]))

    repeated = [entry for entry, count in collections.Counter(lines).items() if count > 1]
    assert not repeated, f"{demo}: told twice: {repeated}"
    if header["type"] == "server":
        # The message comes a tick or two before the snapshot.
        rest = list(deaths)
        assert all([take_nearest(rest, name, at, 0.15) for at, name in proven]) and not rest, \
            f"{demo}: told {sorted(deaths)}, but the items prove {sorted(proven)}"
        shown = {}
        for at, text in lines:
            if text.startswith("message of the day: "):
                assert text not in shown, f"{demo}: told twice: {text}"
                shown[text] = at
            if text.startswith("broadcast: "):
                assert at - shown.get(text, -BROADCAST_SECONDS) >= BROADCAST_SECONDS - 0.1, \
                    f"{demo}: told again while it is on the screen: {text}"
                shown[text] = at
    else:
        # A client sees deaths near it, and gets messages about all.
        assert undecided == 0, f"{demo}: one client's recording leaves nothing open"
        rest = list(deaths)
        for at, name in proven:
            assert take_nearest(rest, name, at, 1.1), f"{demo}: {name} dies at {at} s, which is not told"
    return header["type"], len(deaths), len(proven), undecided


def main():
    demos = real_demos.named_or_real(sys.argv[2:])
    count = collections.Counter()
    for demo in demos:
        kind, deaths, proven, undecided = check(demo)
        count.update({kind: 1, f"deaths told of {kind}s": deaths, f"deaths proven of {kind}s": proven,
                      "undecided": undecided})
    assert count["deaths proven of servers"] > 0
    print(", ".join(f"{number} {what}" for what, number in count.items()))


main()
