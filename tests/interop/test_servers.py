#!/usr/bin/env python3
"""Real servers start with maps that the library wrote. Usage: test_servers.py REWRITE_MAP

Takes the maps of Debian's ddnet-server and teeworlds-server, and those of TEEWIRE_CORPUS when there are some. Servers run
on the loopback, as root in a network of their own. Exit code 77 (skipped) when there is no server."""
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

REWRITE = os.path.abspath(sys.argv[1])
SERVERS = {
    "ddnet": ("/usr/games/DDNet-Server", "/usr/share/games/ddnet/data/maps", ["sv_ipv4only 1"]),
    "teeworlds": ("/usr/games/teeworlds-server", "/usr/share/games/teeworlds/data/maps", []),
}
PRESENT = [name for name, (program, _, _) in SERVERS.items() if os.access(program, os.X_OK)]
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nonexistent")
# As it was; unpacked, in both versions; packed, as 0.7 has it. DDNet of Debian 12 (16.4) crashes on packed tiles, also on
# those of the maps that come with Teeworlds: it gets a map as it was if it starts with the original.
AS_IT_WAS = []
FORMS = {"ddnet": [["4", "06"], ["3", "06"]], "teeworlds": [AS_IT_WAS, ["3", "06"], ["4", "07"]]}
STARTED = "rcon password: "  # the last thing that both servers say when they are ready
FAILURES = ("failed to load map", "couldn't load", "error", "invalid", "wrong version", "wrong signature", "malloc")


def own_network():
    return ["unshare", "-n", "sh", "-c", 'ip link set lo up 2>/dev/null; exec "$@"', "sh"]


ISOLATED = os.geteuid() == 0 and shutil.which("unshare") is not None and \
    subprocess.run([*own_network(), "true"], capture_output=True).returncode == 0


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(server, folder, name):
    """Starts a server with FOLDER/maps/NAME.map until it is ready or gives up. Its log, and whether it got ready."""
    program, _, options = SERVERS[server]
    command = [program, *options, "stdout_output_level 3", "bindaddr 127.0.0.1", f"sv_port {free_port()}", "sv_register 0", f"sv_map {name}"]
    if ISOLATED:
        command = own_network() + command
    run = subprocess.Popen(command, cwd=folder, env={**os.environ, "HOME": str(folder)}, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    log = b""
    end = time.monotonic() + 30
    while time.monotonic() < end and STARTED.encode() not in log:
        if select.select([run.stdout], [], [], 0.5)[0]:
            piece = os.read(run.stdout.fileno(), 65536)
            if not piece:
                break
            log += piece
    ready = STARTED.encode() in log
    if ready:
        time.sleep(0.02)
        ready = run.poll() is None
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    return log.decode(errors="replace"), ready


def complaints(log):
    lines = [line for line in log.splitlines() if any(word in line.lower() for word in FAILURES)]
    return [line for line in lines if "maps/" in line or "datafile" in line or "failed to load map" in line]


class Servers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "maps").mkdir()
        # Each server needs its own data, and finds our maps first.
        (self.folder / "storage.cfg").write_text(f"add_path {self.folder}\nadd_path $DATADIR\n")

    def put(self, source, form):
        """The rewritten map as the map `again`. Gives what is wrong with the source."""
        target = self.folder / "maps/again.map"
        done = subprocess.run([REWRITE, source, target, *form], capture_output=True, text=True)
        self.assertTrue(done.returncode == 0 or "missing_version" in done.stderr, f"{source}: {done.stderr}")
        return done.stderr.split("\n")[0]

    def check(self, server, source, form):
        self.put(source, form)
        with self.subTest(server=server, map=source.name, form=form):
            log, ready = start(server, self.folder, "again")
            self.assertTrue(ready, log[-2000:])
            self.assertIn("loading done. datafile='maps/again.map'", log)
            self.assertEqual(complaints(log), [])
            if server == "teeworlds":
                checksum = zlib.crc32((self.folder / "maps/again.map").read_bytes())
                self.assertIn(f"maps/again.map crc is {checksum:08x}", log)
        return 1

    def check_all(self, server, maps):
        started = unfit = 0
        for source in maps:
            forms = FORMS[server]
            damage = self.put(source, AS_IT_WAS)
            if damage == "missing_version":  # older than both
                continue
            if damage or AS_IT_WAS not in forms:
                shutil.copyfile(source, self.folder / "maps/original.map")
                fit = start(server, self.folder, "original")[1]
                unfit += not fit
                if fit and AS_IT_WAS not in forms:
                    forms = [AS_IT_WAS, *forms]
                if damage and not fit:
                    continue
            for form in forms:
                started += self.check(server, source, form)
        print(f"{server}: {len(maps)} maps, started {started} times; {unfit} originals it does not start with",
              file=sys.stderr)
        return started

    def test_maps_of_the_servers(self):
        for server in PRESENT:
            maps = sorted(pathlib.Path(SERVERS[server][1]).glob("*.map"))
            self.assertGreater(len(maps), 10)
            self.assertEqual(self.check_all(server, maps), 3 * len(maps))

    def test_maps_of_the_corpus(self):
        maps = sorted([*CORPUS.glob("maps/*.map"), *CORPUS.glob("maps-handmade/*.map")])
        if "TEEWIRE_ALL_MAPS" not in os.environ:  # these take minutes
            maps = maps[::6]
        if not maps:
            self.skipTest("no folder of real maps (TEEWIRE_CORPUS names it)")
        for server in PRESENT:
            self.assertGreater(self.check_all(server, maps), 2 * len(maps))

    def test_what_is_damaged_is_noticed(self):
        """So that the other tests mean something."""
        for server in PRESENT:
            source = sorted(pathlib.Path(SERVERS[server][1]).glob("*.map"))[0]
            self.assertEqual(self.put(source, AS_IT_WAS), "")
            target = self.folder / "maps/again.map"
            whole = target.read_bytes()
            for damaged in (whole[:1000], b"ATAX" + whole[4:], whole[:4] + b"\5" + whole[5:]):
                target.write_bytes(damaged)
                log, ready = start(server, self.folder, "again")
                self.assertFalse(ready, log)
                self.assertNotEqual(complaints(log), [], log)


if __name__ == "__main__":
    if not PRESENT:
        print("SKIPPED: neither ddnet-server nor teeworlds-server is installed", file=sys.stderr)
        sys.exit(77)
    for missing in set(SERVERS) - set(PRESENT):
        print(f"SKIPPED: {missing}-server is not installed", file=sys.stderr)
    unittest.main(argv=sys.argv[:1], verbosity=2)
