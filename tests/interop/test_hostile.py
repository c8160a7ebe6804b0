#!/usr/bin/env python3
"""Peers that mean harm to `teewire serve` and `teewire record`, beside an honest one that must not notice.
usage: test_hostile.py TEEWIRE TRAFFIC FIXTURES SECONDS HOSTILE"""
import contextlib
import json
import pathlib
import re
import resource
import subprocess
import sys
import time

from real_servers import STUCK, ended, free_port, own_network, scratch, until_line
from test_serve import DEMOS, FIXTURES, SECONDS, TEEWIRE, TRAFFIC, Serving

HOSTILE = sys.argv[5]
CLIENT_ATTACKS = ("acknowledge", "map", "tokens", "chat", "crowd", "returns")
SERVER_ATTACKS = ("map_data", "map_changes", "parts", "names", "chat", "ticks")
# The loopback loses and delays nothing, but machines that run tests are busy. A client that is locked out sees nothing for
# longer than this.
LARGEST_GAP = 3000  # ms


@contextlib.contextmanager
def hostile(side, *arguments):
    """Means harm meanwhile."""
    enemy = subprocess.Popen([HOSTILE, side, *map(str, arguments), "600"], stdout=subprocess.DEVNULL)
    try:
        yield
        assert enemy.poll() is None, f"the enemy gave up: {enemy.returncode}"
    finally:
        enemy.kill()
        enemy.wait()


def watch(server, protocol):
    """A viewer, when it is there."""
    viewer = subprocess.Popen([TRAFFIC, "watch", f"127.0.0.1:{server.port}", protocol, "1", "0"], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until_line(viewer.stdout, "ready")
    return viewer


def test_clients(folder):
    """Viewers keep watching, and new ones can join during the attack."""
    for protocol, demo in DEMOS.items():
        for attack in CLIENT_ATTACKS:
            with Serving(folder, pathlib.Path(FIXTURES, "demos", demo), "--loop") as server:
                viewers = [watch(server, protocol)]
                before = server.memory()
                with hostile("client", attack, f"127.0.0.1:{server.port}", protocol):
                    time.sleep(SECONDS)
                    viewers.append(watch(server, protocol))
                    time.sleep(SECONDS)
                    grown = server.memory() - before
                    texts = []
                    for viewer in viewers:
                        code, text, error = ended(viewer)
                        assert code == 0, (attack, text, error)
                        texts.append(text)
            gap = max(int(re.search(r"largest gap is (\d+) ms", text)[1]) for text in texts)
            received = re.search(r"\d+ packets received, \d+ ignored", server.report)[0]
            print(f"{protocol} {attack}: {received}; largest gap {gap} ms; memory +{grown} KiB")
            assert gap < LARGEST_GAP, (attack, texts)
            assert grown < 16384, (attack, grown)


def test_servers(folder):
    """The recording of an honest server goes on beside that of the hostile one."""
    for attack in SERVER_ATTACKS:
        with Serving(folder, pathlib.Path(FIXTURES, "demos", DEMOS["0.6"]), "--loop") as honest:
            port = free_port()
            out = folder / attack
            out.mkdir()
            with hostile("server", attack, port):
                code, text, error = ended(subprocess.Popen(
                    [TEEWIRE, "record", f"127.0.0.1:{port}", f"127.0.0.1:{honest.port}", "-o", out / "r.demo",
                     "--duration", str(SECONDS), "--join-timeout", "5", "--protocol", "0.6", "--format", "ndjson"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        assert code in (0, 3), (attack, code, error)
        reports = [json.loads(line) for line in text.splitlines()]
        good = next(r for r in reports if r["server"] == f"127.0.0.1:{honest.port}")
        gap = 20 * max(map(int, good["steps"]))
        print(f"{attack}: the honest server's largest gap {gap} ms, {good['snapshots']} snapshots; "
              f"{len(reports) - 1} demos of the hostile one")
        assert good["bad_checksum"] == 0 and good["damaged"] == 0, good
        assert gap < LARGEST_GAP and good["snapshots"] > 10 * SECONDS, good
        assert "\x1b" not in error and "\u202e" not in error, (attack, error)
        names = [path.name for path in out.iterdir()]
        assert all(re.fullmatch(r"r_127\.0\.0\.1_\d+(_\d+)?\.demo", name) for name in names), (attack, names)
        for report in reports:
            checked = subprocess.run([TEEWIRE, "verify", report["file"]], capture_output=True, text=True, timeout=STUCK)
            assert checked.returncode == 0, (attack, checked.stdout, checked.stderr)


def main():
    own_network()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    for test in (test_clients, test_servers):
        with scratch() as folder:
            test(folder)


if __name__ == "__main__":
    main()
