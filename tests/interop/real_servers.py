"""Debian's game servers on a loopback of their own, and demos compared."""
import collections
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
STUCK = 120  # seconds after which something never happens; nothing else is decided by the clock
PACKAGES = {"/usr/games/DDNet-Server": "ddnet-server", "/usr/games/teeworlds-server": "teeworlds-server"}


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def need(packages):
    """Installs Debian packages that programs are missing of, when root; otherwise the test is skipped."""
    missing = [package for program, package in packages.items() if not os.path.exists(program)]
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        skip("the packages " + " and ".join(missing) + " are missing")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
    if subprocess.run(["apt-get", "update", "-qq"], env=environment, stdout=subprocess.DEVNULL).returncode or \
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode:
        skip("the packages " + " and ".join(missing) + " could not be installed")


def own_network():
    """Goes on in a network namespace that has a loopback and nothing else, where that is allowed."""
    if os.environ.get("TEEWIRE_NETWORK") or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode:
        return
    os.environ["TEEWIRE_NETWORK"] = "own"
    os.execvp("unshare", ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv])


def free_port(kind=socket.SOCK_DGRAM):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(event, what, process=None):
    """Waits for an event, and gives what it gave."""
    end = time.monotonic() + STUCK
    while not (happened := event()):
        assert process is None or process.poll() is None, f"it ended before {what}"
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)
    return happened


def until_line(stream, words):
    """Reads lines until one has the words. All that was read."""
    read = ""
    while words not in read:
        line = stream.readline()
        assert line, f"ended without {words!r}: {read}"
        read += line
    return read


def is_bound(port):
    """Whether a program receives UDP there."""
    table = pathlib.Path("/proc/net/udp").read_text() + pathlib.Path("/proc/net/udp6").read_text()
    return f":{port:04X} " in table


class Server:
    """A running server; a context that ends it."""

    def __init__(self, folder, program, options):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log = open(self.folder / "log", "w")
        common = ["bindaddr 127.0.0.1", f"sv_port {self.port}", "sv_register 0", "sv_max_clients 64",
                  "sv_max_clients_per_ip 64"]
        self.arguments = [program, *common, *options]
        self.start()

    def start(self):
        # SIGPIPE is still ignored, as it is here: Teeworlds dies of it when it logs to a console that has gone.
        self.process = subprocess.Popen(self.arguments, stdout=self.log, stderr=self.log, cwd=self.folder,
                                        env=dict(os.environ, HOME=str(self.folder)), restore_signals=False)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        # Datagrams sent from then on wait for it.
        until(lambda: is_bound(self.port) or self.process.poll() is not None, "the server's port")
        if self.process.poll() is not None:
            print((self.folder / "log").read_text(), file=sys.stderr)
            sys.exit(f"{type(self).__name__} did not start")
        return self

    def said(self):
        return (self.folder / "log").read_text(errors="replace")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def demo(self, name):
        found = list(self.folder.rglob(f"{name}*.demo"))
        assert len(found) == 1, f"the server wrote {found}"
        return found[0]


class DDNet(Server):
    def __init__(self, folder, game_map="dm1", options=()):
        folder = pathlib.Path(folder)
        fifo = folder / "fifo"
        super().__init__(folder, "/usr/games/DDNet-Server",
                         ["sv_ipv4only 1", f"sv_map {game_map}", f"sv_input_fifo {fifo}", "sv_connlimit 100",
                          "sv_connlimit_time 1", "sv_vanilla_antispoof 0", "sv_inactivekick_time 0", *options])
        self.fifo = fifo
        self.commands = 0

    def __enter__(self):
        if not self.fifo.exists():
            with contextlib.suppress(FileExistsError):
                os.mkfifo(self.fifo)
        return super().__enter__()

    def command(self, text):
        """Returns when it was obeyed."""
        def opened():
            with contextlib.suppress(OSError):  # no one reads it yet
                return os.open(self.fifo, os.O_WRONLY | os.O_NONBLOCK)
        fd = until(opened, "the server reads commands", self.process)
        self.commands += 1
        done = f"obeyed-{self.commands}"
        os.write(fd, f"{text}\necho {done}\n".encode())
        os.close(fd)
        until(lambda: done in self.said(), f"obeyed: {text}", self.process)


class Teeworlds(Server):
    def __init__(self, folder, game_map="dm1", options=()):
        self.console = free_port(socket.SOCK_STREAM)
        super().__init__(folder, "/usr/games/teeworlds-server",
                         [f"sv_map {game_map}", "sv_gametype dm", "sv_player_slots 64", "sv_inactivekick 0",
                          "sv_spamprotection 0", "ec_bindaddr 127.0.0.1", f"ec_port {self.console}",
                          "ec_password secret", *options])

    def command(self, text):
        """Returns when it was obeyed."""
        def connected():
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", self.console), STUCK)
        with until(connected, "the server's console", self.process) as s:
            shown = b""
            for line, answer in ((b"secret", b"uthentication successful"), (text.encode() + b"\necho obeyed", b"obeyed")):
                s.sendall(line + b"\n")
                while answer not in shown:
                    piece = s.recv(4096)
                    assert piece, shown
                    shown += piece


# ---- demos ---------------------------------------------------------------------------------------------------------


def demo_ticks(path):
    """The ticks of all markers, read without the program under test. Chunks are only skipped."""
    data = pathlib.Path(path).read_bytes()
    version = data[7]
    at = {3: 176, 4: 436, 5: 436, 6: 484}[version] + int.from_bytes(data[136:140], "big")
    ticks = []
    while at < len(data):
        first = data[at]
        at += 1
        if first & 0x80:
            bits = 0x3f if version < 5 else 0x1f
            relative = first & 0x3f if version < 5 else first & 0x20
            if relative:
                ticks.append(ticks[-1] + (first & bits))
            else:
                ticks.append(int.from_bytes(data[at:at + 4], "big"))
                at += 4
        else:
            size = first & 0x1f
            if size == 30:
                size = data[at]
                at += 1
            elif size == 31:
                size = int.from_bytes(data[at:at + 2], "little")
                at += 2
            at += size
    return ticks


def snapshots(teewire, path):
    """The items at every tick that has a marker: {tick: {type: {id: fields}}}."""
    lines = subprocess.run([teewire, "dump", path], check=True, capture_output=True, text=True).stdout.splitlines()
    changes = {o["tick"]: o["items"] for o in map(json.loads, lines)}
    out, last = {}, None
    for tick in demo_ticks(path):
        last = changes.get(tick, last)
        out[tick] = last
    return out


def compare(ours, theirs, ticks, ignored=frozenset(), different=frozenset()):
    """Compares the items that both have at the ticks given. `ignored`: types that may be in one alone. `different`:
    type.field that may differ. Returns (equal items, {what differs: how often}, {type in one alone: how often})."""
    equal, wrong, alone = 0, collections.Counter(), collections.Counter()
    for tick in ticks:
        a, b = ours[tick], theirs[tick]
        for kind in a.keys() | b.keys():
            x, y = a.get(kind, {}), b.get(kind, {})
            for number in x.keys() | y.keys():
                if number not in x or number not in y:
                    if kind not in ignored:
                        alone[kind + (" (ours)" if number in x else " (theirs)")] += 1
                    continue
                fields = [f"{kind}.{f}" for f in x[number].keys() | y[number].keys()
                          if x[number].get(f) != y[number].get(f)]
                fields = [f for f in fields if f not in different]
                wrong.update(fields)
                equal += not fields
    return equal, wrong, alone


def ended(process):
    """Waits for a program and gives what it printed."""
    out, error = process.communicate(timeout=STUCK)
    return process.returncode, out, error


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="teewire-") as folder:
        yield pathlib.Path(folder)
