#!/usr/bin/env python3
"""`teewire relay` of Debian's servers with moving players: fragments against the server's own recording, clients that watch,
map changes, a server that is killed and comes back; and how late it all is.
Usage: test_relay_live.py TEEWIRE TRAFFIC [SECONDS]"""
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from made_relay import Relay, Viewer
from real_servers import (DDNet, PACKAGES, Teeworlds, compare, demo_ticks, ended, need, own_network, scratch, snapshots,
                          until_line)

TEEWIRE, TRAFFIC = map(os.path.abspath, sys.argv[1:3])
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 5
PLAYERS = 9
# Data that servers show to one viewer and not to another.
VIEWER_FIELDS = {"character.health", "character.armor", "character.ammo_count", "player_info.latency", "player_info.local",
                 "client_info.local"}


def play(server, version):
    bots = subprocess.Popen([TRAFFIC, "play", server.address, version, str(PLAYERS), "0"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    until_line(bots.stdout, "ready")
    return bots


class Arrivals:
    """When each tick is there, as `dump` of a server prints it."""

    def __init__(self, address, version):
        self.times = {}
        self.process = subprocess.Popen([TEEWIRE, "dump", address, "--format", "checksum", "--protocol", version, "--duration",
                                         str(SECONDS)],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.times.setdefault(int(line.split()[0]), time.monotonic())

    def end(self):
        self.thread.join()
        self.process.wait()


def check_delay(server, relay, version):
    direct, relayed = Arrivals(server.address, version), Arrivals(f"127.0.0.1:{relay.udp_port}", version)
    direct.end(), relayed.end()
    later = sorted(relayed.times[t] - direct.times[t] for t in relayed.times.keys() & direct.times.keys())
    assert len(later) > 10 * SECONDS, len(later)
    p50, p99 = later[len(later) // 2], later[len(later) * 99 // 100]
    print(f"clients of the relay see {len(later)} ticks {1000 * p50:.1f} ms later than those of the server, p99 {1000 * p99:.1f} ms")
    assert p50 < 0.5


def check_fragments(viewer, which, server, folder, what):
    joined = folder / f"joined_{which}.demo"
    joined.write_bytes(viewer.joined(which))
    subprocess.run([TEEWIRE, "verify", joined], check=True, stdout=subprocess.DEVNULL)
    if server is None:
        return
    mine, theirs = snapshots(TEEWIRE, joined), snapshots(TEEWIRE, server.demo("own"))
    common = sorted(mine.keys() & theirs.keys())
    begin, end = max(min(mine), min(theirs)), min(max(mine), max(theirs))
    missed = [t for t in demo_ticks(server.demo("own")) if begin <= t <= end and t not in mine]
    assert len(common) > 20 * SECONDS and not missed, (what, len(common), missed[:10])
    equal, wrong, alone = compare(mine, theirs, common, different=VIEWER_FIELDS)
    print(f"{what}: {len(common)} ticks in common with the server's demo, {equal} equal items, in one alone: {dict(alone)}")
    assert not wrong, wrong
    assert equal > 5 * len(common)


def check(kind, version, folder):
    name = kind.__name__
    options = ["--udp", "0", "--record", "own.demo", "--window", "600"]
    with kind(folder / "server") as server:
        bots = play(server, version)
        relay = Relay(TEEWIRE, server.address, *options, *(["--protocol", version]), folder=folder)
        try:
            viewer = Viewer(relay)
            viewer.look_until(lambda index: True)
            server.command("record own")
            check_delay(server, relay, version)
            viewer.look()
            server.command("stoprecord")
            server.command("change_map dm2")
            viewer.look_until(lambda index: len(index["recordings"]) == 2 and index["recordings"][1]["last"] >= 1)
            check_fragments(viewer, 0, server, folder, name)
            maps = [one["map"]["name"] for one in viewer.look()["recordings"]]
            assert maps == ["dm1", "dm2"], maps
            # Killed, it is found again at its place.
            bots.stdin.close()
            server.kill()
            server.start()
            viewer.look_until(lambda index: len(index["recordings"]) == 3 and index["recordings"][2]["last"] >= 1, 120)
            for which in 1, 2:
                check_fragments(viewer, which, None, folder, name)
            code, said = relay.end()
            assert code == 0, said
            for which, file in enumerate(("own.demo", "own_2.demo", "own_3.demo")):
                done = subprocess.run([TEEWIRE, "diff", "--common-ticks", folder / file, folder / f"joined_{which}.demo"],
                                      stdout=subprocess.PIPE, text=True)
                assert done.returncode == 0, done.stdout[:300]
        finally:
            relay.end("kill")
            bots.kill()


def main():
    need(PACKAGES)
    own_network()
    for kind, version in ((DDNet, "0.6"), (Teeworlds, "0.7")):
        with scratch() as folder:
            check(kind, version, folder)


main()
