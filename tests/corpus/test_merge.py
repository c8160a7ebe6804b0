#!/usr/bin/env python3
"""teewire merge of recordings that real clients made at the same time: nothing is there that nobody saw, nothing is missing,
and the servers' own demos differ in nothing but what clients are not told. Usage: test_merge.py TEEWIRE"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import views  # noqa: E402

TEEWIRE = sys.argv[1]
DEMOS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS", "")) / "demos"

# Recordings of the same time, and the server's own.
GAMES = {
    "0.7": (["s2_client1_dm1_195426", "s2_client2_dm1_195433", "s2_client3_dm1_195439"],
            ["s2_server_dm1_195433", "s2_server_dm1_195541"]),
    "0.6": (["s9_client1_ctf5_201711", "s9_client2_ctf5_201717", "s9_client3-ddnet16.4_ctf5_201723"],
            ["s9_server_ctf5_201709"]),
    "0.6, without the server": (["s9_client1_dm1_201840", "s9_client2_dm1_201840", "s9_client3-ddnet16.4_dm1_201839"], []),
    "DDNet": (["s4_client1_Sunny_Side_Up_195940", "s4_client3-with-dummy_Sunny_Side_Up_200013"],
              ["s4_server_Sunny_Side_Up_195938"]),
    "DDNet 20": (["s6_client1_Tutorial_200224"], ["s6_server_Tutorial_200222"]),
    "DDNet, one client": (["s1_client1_Tutorial_195157"], ["s1_server_Tutorial_195154"]),
}


def merge(files, out):
    done = subprocess.run([TEEWIRE, "merge", *files, "-o", out, "--force"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    checked = subprocess.run([TEEWIRE, "verify", "--strict", out], capture_output=True, text=True, timeout=300)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    return views.read(TEEWIRE, out)


def check(folder, name, clients, servers):
    files = [DEMOS / f"{c}.demo" for c in clients]
    seen = [views.read(TEEWIRE, file) for file in files]
    own = {s: views.read(TEEWIRE, DEMOS / f"{s}.demo") for s in servers}
    for number, order in enumerate(itertools.permutations(range(len(files)))):
        if number % 2:  # half of them: it takes a while
            continue
        merged = merge([files[i] for i in order], folder / "merged.demo")
        common, items, alone, stayed = views.check(merged, [seen[i] for i in order])
        print(f"{name}: {len(merged)} ticks, {common} in several views; {items} items, in one view alone {alone}, "
              f"{stayed} stayed")
        if len(files) > 1:
            assert common > 500 and min(alone) > 500, (common, alone)
        for server, truth in own.items():
            differ, unknown, equal = views.compare(merged, truth)
            print(f"    {server}: {equal} items are the same, other fields: {differ}; not in it: {unknown}")
            assert not unknown and set(differ) <= views.TOLD_TO_SOME, (differ, unknown)
            assert equal > 10_000
    # With the server's own demo nothing that it has is missing, and it knows more than the clients.
    for server, truth in own.items():
        merged = merge([*files, DEMOS / f"{server}.demo"], folder / "merged.demo")
        views.check(merged, [*seen, truth])
        differ, unknown, _ = views.compare(merged, truth)
        assert not unknown and set(differ) <= {"player_info.latency"}, (differ, unknown)


def main():
    if not DEMOS.is_dir():
        print("SKIPPED: TEEWIRE_CORPUS names no folder of real demos")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name, (clients, servers) in GAMES.items():
            check(pathlib.Path(folder), name, clients, servers)
        # The same map and ticks, but another protocol; another map; another game.
        for a, b, words in (("s4_client1_Sunny_Side_Up_195940", "s4_client2-tw0.7.5_Sunny_Side_Up_195946", "by a client of 0.7"),
                            ("s1_client1_Tutorial_195157", "s6_client1_Tutorial_200224", "was recorded on"),
                            ("b1x_server_dm1_205124", "s9_client1_dm1_201840", "not of one game")):
            done = subprocess.run([TEEWIRE, "merge", DEMOS / f"{a}.demo", DEMOS / f"{b}.demo", "-o", f"{folder}/no"],
                                  capture_output=True, text=True, timeout=300)
            assert done.returncode == 2 and words in done.stderr, done
            assert not os.path.exists(f"{folder}/no")
    print("all good")


if __name__ == "__main__":
    main()
