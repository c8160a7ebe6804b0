#!/usr/bin/env python3
"""`teewire record` ends, whoever answers or does not. Usage: test_record_ends.py TEEWIRE FIXTURES [RUNS]
RUNS: record that often from closed ports, 60 at a time, while all processors are busy."""
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from processes import catches_signals
from real_servers import free_port, own_network, scratch, until

TEEWIRE = sys.argv[1]
FIXTURES = pathlib.Path(sys.argv[2])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
DEMO, MAP = FIXTURES / "demos/ddnet_dm1.demo", FIXTURES / "maps/ddnet.map"
STUCK = 60
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the program inherits this, and under nohup it would go on at a hangup


def record(*arguments, **more):
    return subprocess.Popen([TEEWIRE, "record", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **more)


def ended(process):
    try:
        out, error = process.communicate(timeout=STUCK)
    except subprocess.TimeoutExpired:
        process.kill()
        out, error = process.communicate()
        raise AssertionError(f"it does not end: {error}")
    return process.returncode, out, error


def test_timers_that_are_due_together(folder):
    """The end comes when the handler that refreshes the display is queued already, and must not be kept off by it."""
    # Attempts end 3 and 6 seconds after the start, the display is refreshed each half second after the last time. A
    # pause moves that by a quarter of a second, another one makes both late, first the attempt.
    process = record(f"127.0.0.1:{free_port()}", "-o", folder / "none.demo")
    begin = time.monotonic()

    def pause(first, last):
        time.sleep(max(0, begin + first - time.monotonic()))
        process.send_signal(signal.SIGSTOP)
        time.sleep(max(0, begin + last - time.monotonic()))
        process.send_signal(signal.SIGCONT)
    pause(0.7, 1.25)
    pause(5.85, 6.6)
    code, _, error = ended(process)
    assert code == 3 and "no answer" in error, (code, error)
    print("two timers that are due together: it ends")


def test_duration_without_a_server(folder):
    begin = time.monotonic()
    code, _, error = ended(record(f"127.0.0.1:{free_port()}", "-o", folder / "none.demo", "--retry", "--duration", "2"))
    assert code == 3 and "nothing to record in 2 s" in error, (code, error)
    print(f"2 s without a server: {time.monotonic() - begin:.1f} s")


def test_signals_without_a_server(folder):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = record(f"127.0.0.1:{free_port()}", "-o", folder / "none.demo", "--protocol", "0.6")
        until(lambda: catches_signals(process), "signals are caught")
        process.send_signal(number)
        code, _, error = ended(process)
        assert code == 130, (number, code, error)
    print("signals without a server: 130")


class SmallDatagrams(threading.Thread):
    """Passes on the server's datagrams as long as they are small: neither maps nor snapshots come through."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind(("127.0.0.1", 0))
        self.back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.back.connect(("127.0.0.1", server))
        self.address = "127.0.0.1:%d" % self.front.getsockname()[1]

    def run(self):
        client = None
        while True:
            for s in select.select([self.front, self.back], [], [])[0]:
                try:
                    data, source = s.recvfrom(2048)
                except OSError:
                    continue
                if s is self.front:
                    client = source
                    self.back.send(data)
                elif len(data) < 300:
                    self.front.sendto(data, client)


def test_a_server_without_snapshots(folder):
    server = subprocess.Popen([TEEWIRE, "serve", "--port", "0", "--bind", "127.0.0.1", "--map", MAP, DEMO],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr.readline().endswith("serving it anyway\n")  # MAP is not that of DEMO
        port = int(server.stderr.readline().partition(" on 127.0.0.1:")[2].split()[0])
        between = SmallDatagrams(port)
        between.start()
        for more in ([], ["--duration", "1"], ["--duration", "1", "--retry"]):
            code, _, error = ended(record(between.address, "-o", folder / "none.demo", "--join-timeout", "2", *more))
            assert code == 3 and "map dm1" in error, (code, error)
            assert "no snapshot in 2 s" in error, error
        assert not list(folder.iterdir()), list(folder.iterdir())
    finally:
        server.terminate()
        server.wait()
    print("a server that completes no snapshot: it ends")


def test_a_name_server_that_does_not_answer(folder):
    """Looking up a name cannot be cancelled. In a mount namespace of its own."""
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        silent.bind(("127.0.0.1", 53))
    except OSError as e:
        return print(f"SKIPPED: a name server that does not answer: {e}")
    config = folder / "resolv.conf"
    config.write_text("nameserver 127.0.0.1\noptions timeout:25 attempts:2\n")
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "mount", "--bind", config, "/etc/resolv.conf"],
                                                     stderr=subprocess.DEVNULL).returncode:
        return print("SKIPPED: a name server that does not answer: no mount namespace")
    for more, expected in (["--duration", "1"], 3), ([], 130):
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", f'mount --bind "{config}" /etc/resolv.conf && exec "$@"',
                                    "sh", TEEWIRE, "record", "host.example", "-o", str(folder / "none.demo"), *more],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        silent.recv(2048)  # it asks
        begin = time.monotonic()
        if not more:
            process.send_signal(signal.SIGTERM)
        code, _, error = ended(process)
        assert code == expected, (code, error)
        assert time.monotonic() - begin < 20, "it waited for the name"
        while select.select([silent], [], [], 0)[0]:
            silent.recv(2048)
    silent.close()
    print("a name server that does not answer: it ends")


def test_many(folder):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    try:
        late, codes = 0, {}
        for first in range(0, RUNS, 60):
            running = [record(f"127.0.0.1:{20000 + i}", "-o", folder / f"{i}.demo") for i in range(min(60, RUNS - first))]
            end = time.monotonic() + 20
            for process in running:
                try:
                    process.communicate(timeout=max(0.01, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    late += 1
                    process.kill()
                    process.communicate()
                codes[process.returncode] = codes.get(process.returncode, 0) + 1
            print(f"{first + len(running)} runs, {late} alive after 20 s, codes {codes}", flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert late == 0 and set(codes) == {3}, (late, codes)


def main():
    own_network()
    tests = (test_timers_that_are_due_together, test_duration_without_a_server, test_signals_without_a_server,
             test_a_server_without_snapshots, test_a_name_server_that_does_not_answer)
    for test in (test_many,) if RUNS else tests:
        with scratch() as folder:
            test(folder)
    print("all good")


if __name__ == "__main__":
    main()
