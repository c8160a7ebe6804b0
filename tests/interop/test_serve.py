#!/usr/bin/env python3
"""`teewire serve` to `teewire record` on the loopback: what arrives is what the demo holds.
usage: test_serve.py TEEWIRE TRAFFIC FIXTURES [SECONDS [DEMO_OF_64_PLAYERS]]
With 60 seconds it is the long form: bad connections, a flood of a million packets, and a crowd for as long."""
import collections
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from processes import cpu_seconds
from real_servers import STUCK, demo_ticks, ended, free_port, own_network, is_bound, scratch, snapshots, until, until_line

TEEWIRE, TRAFFIC, FIXTURES = sys.argv[1:4]
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 3
LONG = SECONDS >= 60
RELAY = pathlib.Path(__file__).with_name("relay.py")
DEMOS = {"0.6": "ddnet_dm1.demo", "0.7": "teeworlds07_dm1.demo"}
VIEWER = {"0.6": ("player_info", "client_info"), "0.7": ("player_info", "client_info")}


class Serving:
    """A `teewire serve`; a context that ends it. `report` is what it says at the end."""

    def __init__(self, folder, demo, *options):
        self.port = free_port()
        self.log = open(folder / "log", "w+")
        game_map = folder / "map"
        game_map.write_bytes(bytes(i * i >> 3 & 255 for i in range(30000 if LONG else 4000)))
        self.process = subprocess.Popen(
            [TEEWIRE, "serve", demo, "--port", str(self.port), "--bind", "127.0.0.1", "--map", game_map,
             *map(str, options)], stdin=subprocess.PIPE, stderr=self.log, text=True)

    def __enter__(self):
        until(lambda: "serving " in self.said(), "it serves", self.process)
        return self

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def command(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def memory(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(STUCK)
        self.report = self.said()
        if kind is None:
            assert code == 0, self.report


def record(folder, port, name, seconds, protocol):
    return subprocess.Popen([TEEWIRE, "record", f"127.0.0.1:{port}", "-o", folder / name, "--force", "--duration", str(seconds),
                             "--protocol", protocol, "--format", "ndjson"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def check_recording(recorder, folder, name):
    import json
    code, text, error = ended(recorder)
    assert code == 0, error
    report = json.loads(text)
    assert report["bad_checksum"] == 0 and report["damaged"] == 0 and report["refused"] == 0, report
    verified = subprocess.run([TEEWIRE, "verify", folder / name], capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    return report


def without_viewer(items, protocol):
    """The items that belong to the replay."""
    out = {}
    for kind, entries in items.items():
        if kind in ("spectator_info", "tune_params"):
            continue
        kept = {}
        for number, fields in entries.items():
            fields = dict(fields)
            fields.pop("local", None)
            kept[number] = fields
        out[kind] = kept
    return out


def compare_with_demo(folder, name, demo, protocol):
    ours, theirs = snapshots(TEEWIRE, folder / name), snapshots(TEEWIRE, demo)
    used = {n for s in theirs.values() for n in (s or {}).get("player_info", {})}
    viewer = next(str(i) for i in range(64) if str(i) not in used)
    common = sorted(ours.keys() & theirs.keys())
    for tick in common:
        mine, its = without_viewer(ours[tick], protocol), without_viewer(theirs[tick], protocol)
        for kind in VIEWER[protocol]:
            assert mine[kind].pop(viewer), (tick, kind)
        # The viewer may have been the only one of a kind.
        different = {k: (mine.get(k), its.get(k)) for k in mine.keys() | its.keys()
                     if mine.get(k, {}) != its.get(k, {})}
        assert not different, f"tick {tick}: {str(different)[:2000]}"
    return len(common)


def test_watch(folder):
    """Good connections: every tick of the demo that was sent, exactly."""
    for protocol, file in DEMOS.items():
        demo = pathlib.Path(FIXTURES, "demos", file)
        length = min(SECONDS, 20)
        with Serving(folder, demo) as server:
            report = check_recording(record(folder, server.port, "w.demo", length, protocol), folder, "w.demo")
        equal = compare_with_demo(folder, "w.demo", demo, protocol)
        print(f"{protocol}: {equal} ticks equal to the demo's, {report['missed']} missed")
        recorded = [t for t in demo_ticks(demo) if report["first_tick"] <= t <= report["last_tick"]]
        assert equal >= len(recorded) - 5, (equal, len(recorded))


def test_dump(folder):
    """What `dump` prints of a server is what a recording of it holds, and it is printed at once."""
    def parse(lines):
        return {int(line.split()[0]): line.split()[1:4] for line in lines}

    def dump(server, *options, **more):
        return subprocess.Popen([TEEWIRE, "dump", f"127.0.0.1:{server.port}", "--format", "checksum", *map(str, options)],
                                stderr=subprocess.PIPE, text=True, **more)

    for protocol, file in DEMOS.items():
        with Serving(folder, pathlib.Path(FIXTURES, "demos", file), "--loop") as server:
            recorder = record(folder, server.port, "d.demo", min(SECONDS, 20) + 2, protocol)
            until_line(recorder.stderr, "recording to")
            dumper = dump(server, "--protocol", protocol, "--to", "1s", stdout=subprocess.PIPE)
            lines = collections.deque()
            begin = time.monotonic()
            first = None
            for line in dumper.stdout:
                first = first or time.monotonic()
                lines.append(line)
            last = time.monotonic()
            assert dumper.wait(STUCK) == 0, dumper.stderr.read()
            dumper.stderr.close()
            # Ended by a signal, it has done what it was asked to.
            kept = folder / "kept"
            dumper = dump(server, "--protocol", protocol, "-o", kept, "--force")
            time.sleep(1.5)
            dumper.send_signal(signal.SIGINT)
            code, _, error = ended(dumper)
            assert code == 0, error
            check_recording(recorder, folder, "d.demo")
        done = subprocess.run([TEEWIRE, "dump", folder / "d.demo", "--format", "checksum"], capture_output=True, text=True)
        recorded, live = parse(done.stdout.splitlines()), parse(lines)
        common = recorded.keys() & live.keys()
        # Demos of 0.7 have items that the recorder adds.
        assert len(common) >= 20, (len(common), len(live), len(recorded))
        if protocol == "0.6":
            assert all(recorded[t] == live[t] for t in common)
        assert max(live) - min(live) <= 50, live.keys()
        assert last - first > 0.5, "what a second brought came at the same moment"
        assert kept.read_text().count("\n") > 5
        print(f"{protocol}: {len(common)} ticks printed live as they are in the recording, {first - begin:.2f} s after the start")


def test_control(folder):
    """Commands on standard input."""
    demo = pathlib.Path(FIXTURES, "demos", DEMOS["0.6"])
    with Serving(folder, demo, "--speed", 2) as server:
        recorder = record(folder, server.port, "c.demo", 3600, "0.6")
        until_line(recorder.stderr, "recording to")
        server.command("pause")
        server.command("seek 0:10")
        server.command("status")
        server.command("nonsense")
        until(lambda: "unknown command" in server.said(), "the commands are obeyed", server.process)
        server.command("play")
        def tick():
            server.command("status")
            return int(re.findall(r"tick (\d+) ", server.said())[-1])
        paused = tick()
        until(lambda: tick() > paused + 50, "it goes on", server.process)
        recorder.send_signal(signal.SIGINT)
        check_recording(recorder, folder, "c.demo")
        server.command("quit")
        server.process.wait(STUCK)
    error = server.report
    assert "0:10.0 / 0:30.0   speed 2x   paused   1 watching" in error and "unknown command" in error, error
    ticks = demo_ticks(folder / "c.demo")
    assert all(b > a for a, b in zip(ticks, ticks[1:]))
    print("control: seek, pause, speed and quit")


def test_bad_connection(folder):
    """Everything that arrives is right, whatever gets lost."""
    for protocol, file in list(DEMOS.items())[: None if LONG else 1]:
        demo = pathlib.Path(FIXTURES, "demos", file)
        length = SECONDS
        with Serving(folder, demo, "--loop") as server:
            port = free_port()
            relay = subprocess.Popen([sys.executable, RELAY, str(port), str(server.port), "20"])
            try:
                until(lambda: is_bound(port), "the relay's port", relay)
                bad = record(folder, port, "bad.demo", length + 2, protocol)
                joined = time.time()
                until_line(bad.stderr, "recording to")
                joined = time.time() - joined
                good = record(folder, server.port, "good.demo", length, protocol)
                check_recording(good, folder, "good.demo")
                report = check_recording(bad, folder, "bad.demo")
            finally:
                relay.kill()
                relay.wait()
        ours, theirs = snapshots(TEEWIRE, folder / "bad.demo"), snapshots(TEEWIRE, folder / "good.demo")
        common = ours.keys() & theirs.keys()
        wrong = [t for t in common if ours[t] != theirs[t]]
        if protocol == "0.6":  # in 0.7 the roster arrives by messages, at different times
            assert not wrong, wrong[:5]
        assert len(common) > 5 * length, (len(common), report)
        print(f"{protocol} through 20 % of everything bad: joined in {joined:.1f} s, {len(common)} ticks equal to those of a good connection, "
              f"{report['repeated']} repetitions, {report['gaps']} gaps, {report['missing_base']} missing bases")


def test_flood(folder):
    """Enemies change nothing for those who watch."""
    count = 1_000_000 if LONG else 60_000
    for protocol, file in DEMOS.items():
        demo = pathlib.Path(FIXTURES, "demos", file)
        with Serving(folder, demo, "--loop") as server:
            length = 15 if LONG else 3
            recorder = record(folder, server.port, "f.demo", length, protocol)
            until_line(recorder.stderr, "recording to")
            before = server.memory()
            flood = subprocess.run([TRAFFIC, "flood", f"127.0.0.1:{server.port}", protocol, str(count)], check=True,
                                   capture_output=True, text=True, timeout=STUCK).stdout
            report = check_recording(recorder, folder, "f.demo")
            after = server.memory()
        print(f"{protocol}: {flood.strip()}; the viewer has {report['snapshots']} snapshots of {length} s and missed "
              f"{report['missed']}; memory {before} KiB before, {after} KiB after")
        assert after - before < 512, (before, after)
        assert report["snapshots"] > 15 * length, report


def test_crowd(folder):
    """How many watch at once, on one core: the server on one, those who watch on the other."""
    count = 1000 if LONG else 50
    seconds = 60 if LONG else 4
    demo = sys.argv[5] if len(sys.argv) > 5 else pathlib.Path(FIXTURES, "demos", DEMOS["0.6"])
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    with Serving(folder, demo, "--loop", "--max-clients", count, "--max-clients-per-ip", count) as server:
        os.sched_setaffinity(server.process.pid, {min(os.sched_getaffinity(0))})
        empty = server.memory()
        begin, cpu = time.time(), cpu_seconds(server.process)
        crowd = subprocess.run([TRAFFIC, "watch", f"127.0.0.1:{server.port}", "0.6", str(count),
                                str(seconds + count * 0.008)], capture_output=True, text=True, timeout=300)
        share = (cpu_seconds(server.process) - cpu) / (time.time() - begin)
        full = server.memory()
    print(f"{count} viewers: {crowd.stdout.strip()}")
    print(f"  {share * 100:.0f} % of a core; memory {empty} KiB empty, {full} KiB full; {server.report.splitlines()[-1]}")
    assert crowd.returncode == 0, crowd.stdout + crowd.stderr


def test_wrong_usage(folder):
    """Clear words for what cannot be."""
    (folder / "no.demo").write_bytes(b"nothing")
    demo = pathlib.Path(FIXTURES, "demos", DEMOS["0.6"])
    for arguments, code, words in (
            (["record", "127.0.0.1:99999", "-o", folder / "x.demo"], 2, "99999 is not a port number"),
            (["record", "127.0.0.1"], 2, "--output is required"),
            (["record", f"127.0.0.1:{free_port()}", "-o", folder / "x.demo"], 3, "no answer"),
            (["record", "no.such.host.invalid", "-o", folder / "x.demo"], 3, "no.such.host.invalid: "),
            (["serve", folder / "no.demo"], 2, "not a demo"),
            (["serve", demo], 2, "has no map"),
            (["serve", "--map", demo, demo], 2, "this is a demo"),
            (["serve", "--bind", "nowhere", "--map", folder / "no.demo", demo], 2, "not an address")):
        done = subprocess.run([TEEWIRE, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == code and words in done.stdout + done.stderr, (arguments, done)
    assert {p.name for p in folder.iterdir()} == {"no.demo"}
    print("wrong usage: told in words")


def main():
    own_network()
    tests = (test_wrong_usage, test_watch, test_dump, test_control, test_bad_connection, test_flood, test_crowd)
    chosen = os.environ.get("TEEWIRE_SERVE_TEST")
    for test in tests:
        if chosen and chosen != test.__name__:
            continue
        with scratch() as folder:
            test(folder)
    print("all good")


if __name__ == "__main__":
    main()
