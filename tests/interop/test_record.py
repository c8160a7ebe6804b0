#!/usr/bin/env python3
"""`teewire record` against Debian's servers, with moving players on them.
usage: test_record.py TEEWIRE TRAFFIC [SECONDS]
With 60 seconds it is the long form, which also waits for servers that come and go."""
import json
import re
import signal
import subprocess
import sys

from real_servers import (DDNet, PACKAGES, Teeworlds, compare, demo_ticks, ended, free_port, need, own_network, scratch,
                          snapshots, until_line)

TEEWIRE, TRAFFIC = sys.argv[1:3]
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 5
PLAYERS = 17

# Data that servers show to one viewer and not to another: the server's recording has all health and armour, and no latency or
# local player is the viewer's.
VIEWER_FIELDS = {"character.health", "character.armor", "character.ammo_count", "player_info.latency",
                 "player_info.local", "client_info.local"}
# Items that exist for one viewer: what is far away or not for the viewer's team, and the viewer's own place. The
# describing items come with the first item of their type.
VIEWER_ITEMS_DDNET = {"spectator_info", "ddnet_spectator_info", "extended_type"}


def run(*arguments, **more):
    return subprocess.Popen([TEEWIRE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            **more)


def check_verify(path):
    """The number of snapshots that the demo holds."""
    done = subprocess.run([TEEWIRE, "verify", path], capture_output=True, text=True)
    assert done.returncode == 0 and ": ok: " in done.stdout and "quirks" not in done.stdout, done.stdout + done.stderr
    return int(re.search(r": ok: (\d+) snapshots?", done.stdout)[1])


def check_equal(ours, theirs, what, may_be_alone):
    """Compares our recording with the server's of the same ticks."""
    mine, server = snapshots(TEEWIRE, ours), snapshots(TEEWIRE, theirs)
    # Every tenth tick is sent until the first acknowledgement, which may take a while on a busy machine.
    steady = min(t for t in mine if t + 2 in mine)
    begin, end = max(steady, min(server)), min(max(mine), max(server))
    missed = [t for t in demo_ticks(theirs) if begin <= t <= end and t not in mine]
    assert not missed, f"{what}: the server recorded ticks {missed[:10]}, we did not"
    common = sorted(mine.keys() & server.keys())
    assert len(common) > 20 * SECONDS, f"{what}: only {len(common)} ticks in common"
    equal, wrong, alone = compare(mine, server, common, different=VIEWER_FIELDS)
    characters = max(len(s.get("character", {})) for s in mine.values())
    print(f"{what}: {len(common)} ticks in common with the server's demo, {equal} equal items, up to {characters} "
          f"characters in view; in one alone: {dict(alone)}")
    assert not wrong, f"{what}: differ: {dict(wrong)}"
    assert equal > 10 * len(common)
    odd = [k for k in alone if not may_be_alone(k)]
    assert not odd, f"{what}: in one demo alone: {odd}"
    return characters


def check_reports(text, count):
    reports = [json.loads(line) for line in text.splitlines()]
    assert len(reports) == count, text
    for r in reports:
        assert r["bad_checksum"] == 0 and r["damaged"] == 0 and r["missing_base"] == 0 and r["refused"] == 0, r
        stored = check_verify(r["file"])
        assert stored == r["snapshots"] - r["unchanged"], (stored, r)
    return reports


def test_both(folder):
    """Both servers at once, DDNet through both of its sides, all with their own recordings beside."""
    with DDNet(folder / "ddnet", "Tutorial") as ddnet, Teeworlds(folder / "teeworlds") as teeworlds:
        players = [subprocess.Popen([TRAFFIC, "play", s.address, p, str(PLAYERS), "0"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for s, p in ((ddnet, "0.6"), (teeworlds, "0.7"))]
        for p in players:
            until_line(p.stdout, "ready")
        for server in (ddnet, teeworlds):
            server.command("record own")
        out = folder / "both.demo"
        both = run("record", ddnet.address, teeworlds.address, "-o", out, "--duration", SECONDS, "--format", "ndjson")
        side = run("record", ddnet.address, "-o", folder / "side.demo", "--duration", SECONDS, "--protocol", "0.7",
                   "--format", "ndjson", "--name", "side")
        code, text, error = ended(both)
        assert code == 0, error
        side_code, side_text, side_error = ended(side)
        assert side_code == 0, side_error
        for server in (ddnet, teeworlds):
            server.command("stoprecord")
        for p in players:
            p.stdin.close()
            p.stdin = None
            code, bots, error = ended(p)
            assert code == 0 and bots.startswith(f"{PLAYERS} playing"), bots + error

        reports = {r["protocol"]: r for r in check_reports(text, 2) + [dict(r, protocol="side") for r in
                                                                      check_reports(side_text, 1)]}
        for name, r in reports.items():
            print(name, r)
            assert r["snapshots"] >= 24 * SECONDS, r
        for name in ("ddnet", "side"): # a busy machine may lose a datagram
            assert reports[name]["missed"] <= reports[name]["snapshots"] / 100, reports[name]

        def ddnet_alone(what):  # events are for those whom they concern
            kind, who = what.split()
            return kind in VIEWER_ITEMS_DDNET or (who == "(theirs)" and kind.startswith(("event_", "type_", "my_own")))
        seen = check_equal(reports["ddnet"]["file"], ddnet.demo("own"), "DDNet", ddnet_alone)
        assert seen >= PLAYERS - 1, f"only {seen} characters"
        # An ordinary server shows the surroundings: only the viewer's position is ours.
        check_equal(reports["0.7"]["file"], teeworlds.demo("own"), "Teeworlds",
                    lambda what: what.endswith("(theirs)") or what == "spectator_info (ours)")
        check_protocols(reports)


def check_protocols(reports):
    for name, r in reports.items():
        info = json.loads(subprocess.run([TEEWIRE, "info", "--format", "ndjson", r["file"]], check=True,
                                         capture_output=True, text=True).stdout)
        text = json.dumps(info)
        assert "bot 1" in text and "bot 17" in text, (name, text)
        assert ("0.7" in text) == (name != "ddnet"), (name, text)


def test_map_change(folder):
    """A new map closes the file and opens the next; Ctrl-C leaves a complete demo."""
    with DDNet(folder / "change") as server:
        recorder = run("record", server.address, "-o", folder / "maps.demo", "--format", "ndjson")
        until_line(recorder.stderr, "recording to")
        server.command("change_map dm2")
        until_line(recorder.stderr, "recording to")
        recorder.send_signal(signal.SIGINT)
        code, text, error = ended(recorder)
        assert code == 0, error
        first, second = check_reports(text, 2)
        assert first["file"].endswith("maps.demo") and second["file"].endswith("maps_2.demo")
        names = [json.loads(subprocess.run([TEEWIRE, "info", "--format", "ndjson", r["file"]], check=True,
                                           capture_output=True, text=True).stdout)["map"]["name"]
                 for r in (first, second)]
        assert names == ["dm1", "dm2"], names
        assert not list(folder.glob("*.part"))
        print("map change: two demos,", first["snapshots"], "and", second["snapshots"], "snapshots")


def test_password(folder):
    with DDNet(folder / "password", options=["password secret"]) as server:
        recorder = run("record", server.address, "-o", folder / "no.demo", "--duration", 1, "--password", "wrong")
        code, _, error = ended(recorder)
        assert code == 3 and "assword" in error, (code, error)
        recorder = run("record", server.address, "-o", folder / "yes.demo", "--duration", 1, "--password", "secret")
        code, _, error = ended(recorder)
        assert code == 0, error
        check_verify(folder / "yes.demo")
        assert not (folder / "no.demo").exists() and not list(folder.glob("*.part"))
        print("password: a wrong one is refused, the right one taken")


def test_retry(folder):
    """No server at first, then one, which restarts."""
    port = free_port()
    recorder = run("record", f"127.0.0.1:{port}", "-o", folder / "retry.demo", "--protocol", "0.6", "--format", "ndjson",
                   "--retry")
    with DDNet(folder / "first", options=[f"sv_port {port}"]):
        said = until_line(recorder.stderr, "recording to")
    with DDNet(folder / "second", options=[f"sv_port {port}"]):
        said += until_line(recorder.stderr, "recording to")
        recorder.send_signal(signal.SIGTERM)
        code, text, error = ended(recorder)
    assert code == 0, error
    check_reports(text, 2)
    assert "next try in" in said, said
    print("retry: two demos of two runs of a server")


def main():
    need(PACKAGES)
    own_network()
    for test in (test_both, test_map_change, test_password) + ((test_retry,) if SECONDS >= 60 else ()):
        with scratch() as folder:
            test(folder)
    print("all good")


if __name__ == "__main__":
    main()
