#!/usr/bin/env python3
"""`teewire merge` of what two clients of Debian's servers saw at opposite ends of a map, against the server's own demo.
usage: test_merge.py TEEWIRE TRAFFIC [SECONDS]"""
import subprocess
import sys
import time

import views
from real_servers import DDNet, PACKAGES, Teeworlds, ended, need, own_network, scratch, until_line

TEEWIRE, TRAFFIC = sys.argv[1:3]
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 8
PLAYERS = 12



def start(*arguments):
    return subprocess.Popen([TRAFFIC, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def end(process):
    process.stdin.close()
    process.stdin = None
    code, out, error = ended(process)
    assert code == 0, out + error
    return out


def ddnet_version():
    """The major version of the package."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "ddnet-server"], capture_output=True, text=True, check=True)
    return int(done.stdout.split(".")[0])


def check(folder, server, protocol, places, name):
    players = start("play", server.address, protocol, PLAYERS, 0)
    until_line(players.stdout, "ready")
    server.command("record own")
    files = [folder / f"{name}-{number}.demo" for number in range(len(places))]
    seers = [start("view", server.address, protocol, f"{x},{y}", file) for (x, y), file in zip(places, files)]
    for seer in seers:
        until_line(seer.stdout, "ready")
    time.sleep(SECONDS)  # of a game; everything else waits for what happens
    for seer in seers:
        end(seer)
    server.command("stoprecord")
    assert end(players).startswith(f"{PLAYERS} playing")

    out = folder / f"{name}.demo"
    done = subprocess.run([TEEWIRE, "merge", *files, "-o", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    checked = subprocess.run([TEEWIRE, "verify", "--strict", out], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    merged, own = views.read(TEEWIRE, out), views.read(TEEWIRE, server.demo("own"))
    seen = [views.read(TEEWIRE, file) for file in files]
    common, items, alone, stayed = views.check(merged, seen)
    # Where a client got no snapshot, its things stay as they were, and the server's do not.
    whole = {tick: merged[tick] for tick in merged if all(tick in view for view in seen)}
    differ, unknown, equal = views.compare(whole, own)
    print(f"{name}: {len(merged)} ticks, {common} in both views; {items} items, of which {alone} are in one view alone and "
          f"{stayed} stayed; {equal} are as in the server's demo, other fields: {differ}; not in it: {unknown}")
    assert common > 15 * SECONDS, common
    if min(alone) == 0 and name == "DDNet" and ddnet_version() >= 18:
        # The first one has some snapshots before the second one comes.
        print("DDNet 18 and later send all of the map to a spectator that does not say how much it shows")
    else:
        assert min(alone) > 2 * common, f"the two see the same: {alone}"
    assert equal > 10 * common
    assert not unknown, unknown
    assert set(differ) <= views.TOLD_TO_SOME, differ


def main():
    need(PACKAGES)
    own_network()
    with scratch() as folder:
        with Teeworlds(folder / "teeworlds", "ctf2") as server:  # 220 x 85 tiles
            check(folder, server, "0.7", ((1000, 1400), (6000, 1400)), "Teeworlds")
        with DDNet(folder / "ddnet", "ctf2") as server:
            check(folder, server, "0.6", ((1000, 1400), (6000, 1400)), "DDNet")
    print("all good")


if __name__ == "__main__":
    main()
